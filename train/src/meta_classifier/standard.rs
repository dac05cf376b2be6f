//! Weights in units of their own.

use leakbound::property::LayerWeights;
use tch::{Kind, Tensor};

/// Smaller deviations count as 1: a part that is the same in all networks stays the same.
const LEAST: f64 = 1e-12;

/// Weights [N, P] of which each kernel and each vector has mean 0 and variance 1 over all its numbers in the networks of
/// these rows: biases are not lost beside kernels. Which unit is which makes no difference.
pub(super) fn standardized(weights: &Tensor, layers: &[LayerWeights], rows: &Tensor) -> Tensor {
    let mut start = 0;
    let mut parts = Vec::new();
    for layer in layers {
        for part in layer.parts(start) {
            let part = weights.narrow(1, part.start as i64, part.len() as i64);
            let learned = part.index_select(0, rows);
            let mean = learned.mean(Kind::Float);
            let variance = (learned - &mean).square().mean(Kind::Float);
            let deviation = f64::try_from(variance.sqrt()).unwrap_or(0.0);
            parts.push((part - mean) / if deviation > LEAST { deviation } else { 1.0 });
        }
        start += layer.parameters();
    }
    Tensor::cat(&parts, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_mean_0_and_variance_1_where_it_is_learned_from() {
        let layers = [LayerWeights { places: 1, inputs: 2, outputs: 1, vectors: 1 }];
        let weights = Tensor::from_slice(&[1.0f32, 3.0, 5.0, -1.0, 1.0, 5.0, 9.0, 9.0, 9.0]).view([3, 3]);
        let rows = Tensor::from_slice(&[0i64, 1]);
        let standard: Vec<Vec<f32>> = standardized(&weights, &layers, &rows).try_into().unwrap();
        // Of 1, 3, -1, 1: mean 1, variance 2. The bias is 5 in both.
        let root = 2f32.sqrt();
        let expected = [[0.0, root, 0.0], [-root, 0.0, 0.0], [4.0 * root, 4.0 * root, 4.0]];
        for (found, expected) in standard.iter().flatten().zip(expected.iter().flatten()) {
            assert!((found - expected).abs() < 1e-5, "{standard:?}");
        }
    }
}
