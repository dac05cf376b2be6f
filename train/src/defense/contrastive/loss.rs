//! Contrastive losses.

use tch::{Kind, Tensor};

/// Norms below this count as this, so that a vector of zeros stays one.
const LEAST_NORM: f64 = 1e-12;

/// Vectors [..., D] divided by their norms.
pub(super) fn unit(vectors: &Tensor) -> Tensor {
    vectors / vectors.norm_scalaropt_dim(2, [-1i64].as_slice(), true).clamp_min(LEAST_NORM)
}

/// NT-Xent of vectors [M, 2 B, D], summed over the networks: vector i and vector i + B are of two views of one image.
///
/// With unit vectors ẑ_i, temperature τ and the other view j(i) = (i + B) mod 2 B, the loss of a network is the mean over
/// i of -ln(exp(ẑ_i · ẑ_j(i) / τ) / Σ_{k ≠ i} exp(ẑ_i · ẑ_k / τ)), in nats.
///
/// # References
/// Chen et al. (2020), "A simple framework for contrastive learning of visual representations", (1) and algorithm 1.
pub(super) fn nt_xent(vectors: &Tensor, temperature: f64) -> Tensor {
    let (both, kind) = (vectors.size()[1], vectors.kind());
    let (batch, units) = (both / 2, unit(vectors));
    let itself = Tensor::eye(both, (Kind::Float, vectors.device())).to_kind(Kind::Bool);
    let similarities = units.bmm(&units.transpose(1, 2)) / temperature;
    let logs = similarities.masked_fill(&itself, f64::NEG_INFINITY).log_softmax(-1, kind);
    let pairs = |first: i64| logs.narrow(1, first, batch).narrow(2, batch - first, batch).diagonal(0, 1, 2).sum(kind);
    -(pairs(0) + pairs(batch)) / both as f64
}

/// InfoNCE of queries and keys [M, B, D] and a queue of other keys [M, Q, D], all of them unit vectors, summed over the
/// networks: key b is of another view of the image of query b.
///
/// The loss of a network is the mean over its queries q with their keys k of
/// -ln(exp(q · k / τ) / (exp(q · k / τ) + Σ_i exp(q · n_i / τ))), in nats, with the keys n_i of the queue.
///
/// # References
/// He et al. (2020), "Momentum contrast for unsupervised visual representation learning", (1) and algorithm 1.
pub(super) fn info_nce(queries: &Tensor, keys: &Tensor, queue: &Tensor, temperature: f64) -> Tensor {
    let kind = queries.kind();
    let positive = (queries * keys).sum_dim_intlist([-1i64].as_slice(), true, kind);
    let negative = queries.bmm(&queue.transpose(1, 2));
    let logs = (Tensor::cat(&[positive, negative], 2) / temperature).log_softmax(-1, kind);
    -logs.select(2, 0).sum(kind) / queries.size()[1] as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::Device;

    /// Networks, vectors of each, their dimension.
    type Shape = [i64; 3];
    /// A loss of tensors, and of a loop.
    type Losses<'a> = (&'a dyn Fn(&Tensor) -> Tensor, &'a dyn Fn(&Tensor) -> f64);

    fn vectors(shape: Shape, phase: f64) -> Tensor {
        let count = shape.iter().product::<i64>();
        let angles = Tensor::linspace(0.0, 0.7 * count as f64, count, (Kind::Double, Device::Cpu)) + phase;
        (angles.sin() * 2.0 + angles.square().cos()).view(shape)
    }

    /// The vectors of each network, divided by their norms.
    fn units(tensor: &Tensor) -> Vec<Vec<Vec<f64>>> {
        let all = Vec::<Vec<Vec<f64>>>::try_from(tensor).unwrap();
        let unit = |vector: Vec<f64>| {
            let norm = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
            vector.into_iter().map(|x| x / norm).collect()
        };
        all.into_iter().map(|vectors| vectors.into_iter().map(unit).collect()).collect()
    }

    fn dot(one: &[f64], other: &[f64]) -> f64 {
        one.iter().zip(other).map(|(x, y)| x * y).sum()
    }

    fn nt_xent_by_hand(vectors: &Tensor, temperature: f64) -> f64 {
        let of_network = |z: Vec<Vec<f64>>| {
            let both = z.len();
            let losses = (0..both).map(|i| {
                let weight = |k: usize| (dot(&z[i], &z[k]) / temperature).exp();
                let all: f64 = (0..both).filter(|&k| k != i).map(weight).sum();
                -(weight((i + both / 2) % both) / all).ln()
            });
            losses.sum::<f64>() / both as f64
        };
        units(vectors).into_iter().map(of_network).sum()
    }

    fn info_nce_by_hand([queries, keys, queue]: [&Tensor; 3], temperature: f64) -> f64 {
        let [queries, keys, queue] = [queries, keys, queue].map(units);
        let mut sum = 0.0;
        for network in 0..queries.len() {
            let pairs = queries[network].iter().zip(&keys[network]);
            for (query, key) in pairs {
                let weight = |key: &[f64]| (dot(query, key) / temperature).exp();
                let others: f64 = queue[network].iter().map(|key| weight(key)).sum();
                sum -= (weight(key) / (weight(key) + others)).ln() / queries[network].len() as f64;
            }
        }
        sum
    }

    fn close(found: &Tensor, expected: f64, bound: f64) {
        let error = (f64::try_from(found.to_kind(Kind::Double)).unwrap() / expected - 1.0).abs();
        assert!(error < bound, "{error:e} of {expected}");
    }

    #[test]
    fn nt_xent_is_that_of_a_loop() {
        for (shape, temperature) in [([1, 4, 2], 0.5), ([3, 10, 7], 0.1), ([2, 64, 128], 1.0), ([2, 2, 5], 0.5)] {
            let vectors = vectors(shape, 0.3);
            let expected = nt_xent_by_hand(&vectors, temperature);
            if shape[1] == 2 {
                // Two views of one image alone have nothing to be told apart from.
                assert!(expected.abs() < 1e-15 && f64::try_from(nt_xent(&vectors, temperature)).unwrap() == 0.0);
                continue;
            }
            close(&nt_xent(&vectors, temperature), expected, 1e-12);
            close(&nt_xent(&vectors.to_kind(Kind::Float), temperature), expected, 1e-6);
        }
    }

    #[test]
    fn info_nce_is_that_of_a_loop() {
        for (networks, batch, queue, dimension, temperature) in
            [(1, 1, 1, 2, 0.5), (3, 5, 9, 7, 0.07), (2, 4, 300, 128, 0.2)]
        {
            let [queries, keys] = [0.2, 1.4].map(|phase| vectors([networks, batch, dimension], phase));
            let queue = vectors([networks, queue, dimension], 4.0);
            let expected = info_nce_by_hand([&queries, &keys, &queue], temperature);
            let found = |kind| {
                let [queries, keys, queue] = [&queries, &keys, &queue].map(|vectors| unit(&vectors.to_kind(kind)));
                info_nce(&queries, &keys, &queue, temperature)
            };
            close(&found(Kind::Double), expected, 1e-12);
            close(&found(Kind::Float), expected, 1e-6);
        }
    }

    /// Central differences of the loops; and a loss of directions has a gradient at right angles to every vector.
    #[test]
    fn gradients_are_those_of_differences() {
        let (keys, queue) = (unit(&vectors([2, 3, 4], 2.0)), unit(&vectors([2, 5, 4], 3.0)));
        let losses: [(Losses<'_>, Shape); 2] = [
            ((&|z| nt_xent(z, 0.5), &|z| nt_xent_by_hand(z, 0.5)), [2, 6, 4]),
            ((&|q| info_nce(&unit(q), &keys, &queue, 0.3), &|q| info_nce_by_hand([q, &keys, &queue], 0.3)), [2, 3, 4]),
        ];
        for ((loss, by_hand), shape) in losses {
            let leaf = vectors(shape, 0.9).set_requires_grad(true);
            let gradient = &Tensor::run_backward(&[&loss(&leaf)], &[&leaf], false, false)[0];
            let point = Vec::<f64>::try_from(leaf.detach().flatten(0, -1)).unwrap();
            let found = Vec::<f64>::try_from(gradient.flatten(0, -1)).unwrap();
            for (place, found) in found.iter().enumerate() {
                let at = |step: f64| {
                    let mut point = point.clone();
                    point[place] += step;
                    by_hand(&Tensor::from_slice(&point).view(shape))
                };
                let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((found - expected).abs() < 1e-8, "{place}: {found} {expected}");
            }
            for (gradient, vector) in found.chunks(4).zip(point.chunks(4)) {
                assert!(dot(gradient, vector).abs() < 1e-12 && dot(gradient, gradient) > 1e-6);
            }
        }
    }

    #[test]
    fn zeros_have_no_direction_and_no_gradient_that_is_not_finite() {
        let leaf = Tensor::zeros([1, 4, 3], (Kind::Float, Device::Cpu)).set_requires_grad(true);
        let gradient = &Tensor::run_backward(&[&nt_xent(&leaf, 0.5)], &[&leaf], false, false)[0];
        assert!(bool::try_from(gradient.isfinite().all()).unwrap());
    }
}
