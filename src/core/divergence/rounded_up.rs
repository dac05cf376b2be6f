//! A Rényi divergence rounded up by the possible error of the probabilities.

use super::Pair;
use crate::bound::Direction;
use crate::bound::outward::up;
use crate::distribution::{OutcomeDistribution, OutputPair};
use crate::quantity::Order;

/// Units of 2^-52 by which the divergence itself may be off, relative: it is a sum of positive terms, each a difference
/// of two that are at most a hundred times as large.
const UNITS: f64 = 1024.0;

impl OutputPair {
    /// An upper bound on D_α in a direction, for every pair of distributions whose probabilities match these within the
    /// stated relative errors: e_i = e + 2^-52 (4 + |ln p_i| + |ln q_i|), with e from
    /// [`OutputPair::error`](OutputPair::error). An outcome above one half is known from the others, and impossible
    /// ones are taken as impossible.
    ///
    /// The smaller of two margins is added. With F = e^{(α-1)D} = Σ p^α q^{1-α},
    /// ```text
    /// Σ (p(1+e))^α (q(1-e))^{1-α} = F (1+e)^α (1-e)^{1-α},
    /// ```
    /// which is off by about (2α-1)/(α-1) times the largest e. Close distributions have a smaller margin: F - 1 = Σ q
    /// f(r), f(r) = r^α - 1 - α(r-1) ≥ 0, r = p/q. A ratio that is off by a share η = 2.1 e_i moves f, which is convex,
    /// by at most its slope at the new place,
    /// ```text
    /// α r η |r'^{α-1} - 1| ≤ α r η (|r^{α-1} - 1| + r^{α-1} ((1+η)^{α-1} - 1)),
    /// ```
    /// and q by e_i of its term.
    ///
    /// ```
    /// # use leakbound::bound::Direction;
    /// # use leakbound::distribution::{OutcomeDistribution, OutputPair};
    /// # use leakbound::quantity::Order;
    /// let [p, q] = [[0.5, 0.5], [0.25, 0.75]].map(|p| OutcomeDistribution::from_probabilities(&p).unwrap());
    /// let pair = OutputPair::new(p, q)?;
    /// let order = Order::new(2.0)?;
    /// let [value, bound] = [pair.renyi(Direction::Forward, order), pair.renyi_up(Direction::Forward, order)];
    /// assert!(value < bound && bound < value * (1.0 + 1e-12));
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    #[must_use]
    pub fn renyi_up(&self, direction: Direction, order: Order) -> f64 {
        let value = self.renyi(direction, order);
        if value.is_infinite() {
            return value;
        }
        let [p, q] = self.in_direction(direction);
        let a = order.get();
        let possible = |i: &usize| p.ln_p()[*i] > f64::NEG_INFINITY;
        let error = |i: usize| (self.error() + f64::EPSILON * (4.0 + logs(p, q, i))) * of_others(p, q, i);
        let largest = (0..p.outcomes()).filter(possible).map(error).fold(0.0, f64::max);
        let everywhere = (a * libm::log1p(largest) - (a - 1.0) * libm::log1p(-largest.min(0.5))) / (a - 1.0)
            + p.outcomes() as f64 * f64::EPSILON / (a - 1.0);
        let moved: f64 = (0..p.outcomes()).filter(possible).map(|i| moved(p, q, i, (a, 2.1 * error(i)))).sum();
        // The error of F over F; its own terms lose the largest share of F - 1, which is at most (α-1) F D.
        let by_terms = 1.01 * moved * libm::exp(-(a - 1.0) * value) / (a - 1.0) + 2.0 * largest * value;
        let margin = if by_terms < everywhere { by_terms } else { everywhere };
        up(value + margin, UNITS + p.outcomes() as f64)
    }
}

/// The share of its error that applies to an outcome: the larger sum of the others if both are above one half.
fn of_others(p: &OutcomeDistribution, q: &OutcomeDistribution, i: usize) -> f64 {
    let others = p.complement()[i].max(q.complement()[i]);
    if others < 0.5 { others } else { 1.0 }
}

/// |ln p_i| + |ln q_i|, of the possible ones.
fn logs(p: &OutcomeDistribution, q: &OutcomeDistribution, i: usize) -> f64 {
    [p.ln_p()[i], q.ln_p()[i]].into_iter().filter(|ln| ln.is_finite()).map(f64::abs).sum()
}

/// The change of F when the ratio of an outcome is off by a share.
fn moved(p: &OutcomeDistribution, q: &OutcomeDistribution, i: usize, (a, share): (f64, f64)) -> f64 {
    let pair = Pair::of(p, q, i);
    let power = (a - 1.0) * pair.log_ratio();
    let weight = libm::exp(power + pair.ln_p);
    let change = if power.abs() < 1.0 { pair.p * libm::expm1(power).abs() } else { (weight - pair.p).abs() };
    a * share * (change + weight * libm::expm1((a - 1.0) * libm::log1p(share)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Probabilities that are off by the stated errors never have a larger divergence, and the margin is small.
    #[test]
    fn no_pair_within_the_errors_has_more() {
        let mut stream = ChaCha8Rng::seed_from_u64(8);
        for _ in 0..2_000 {
            let outcomes = stream.random_range(2..6);
            let draw = |stream: &mut ChaCha8Rng| -> Vec<f64> {
                let weights: Vec<f64> = (0..outcomes).map(|_| stream.random::<f64>().powi(6) + 1e-9).collect();
                let total: f64 = weights.iter().sum();
                weights.iter().map(|weight| weight / total).collect()
            };
            let p = draw(&mut stream);
            let mut q = draw(&mut stream);
            if stream.random_bool(0.4) {
                // Close to p.
                let near = stream.random_range(-9..-2);
                for (q, p) in q.iter_mut().zip(&p) {
                    *q = p * (1.0 + 10f64.powi(near) * (*q - 0.5));
                }
                let total: f64 = q.iter().sum();
                q.iter_mut().for_each(|q| *q /= total);
            }
            let of = |p: &[f64]| OutcomeDistribution::from_probabilities(p).unwrap();
            let pair = OutputPair::new(of(&p), of(&q)).unwrap();
            let order = Order::new(1.0 + 10f64.powf(stream.random_range(-3.0..3.0))).unwrap();
            let (value, bound) = (pair.renyi(Direction::Forward, order), pair.renyi_up(Direction::Forward, order));
            assert!(value <= bound && bound <= value * (1.0 + 1e-6) + 1e-12, "{p:?} {q:?} {order}: {value} {bound}");
            // One unit in the last place each, which leaves the sums at 1 to within the same.
            let other = |p: &[f64], stream: &mut ChaCha8Rng| -> Vec<f64> {
                p.iter().map(|p| if stream.random_bool(0.5) { p.next_up() } else { p.next_down() }).collect()
            };
            let near = OutputPair::new(of(&other(&p, &mut stream)), of(&other(&q, &mut stream))).unwrap();
            assert!(near.renyi(Direction::Forward, order) <= bound, "{p:?} {q:?} {order}");
        }
    }

    #[test]
    fn equal_and_impossible_outcomes() {
        let of = |p: &[f64]| OutcomeDistribution::from_probabilities(p).unwrap();
        let order = Order::new(3.0).unwrap();
        let up = |p: &[f64], q: &[f64]| OutputPair::new(of(p), of(q)).unwrap().renyi_up(Direction::Forward, order);
        assert!(up(&[0.3, 0.7, 0.0], &[0.3, 0.7, 0.0]) < 1e-28);
        assert_eq!(up(&[0.5, 0.5], &[1.0, 0.0]), f64::INFINITY);
        let half = up(&[1.0, 0.0], &[0.5, 0.5]);
        let above = half / std::f64::consts::LN_2 - 1.0;
        assert!((0.0..1e-12).contains(&above), "{half}");
    }
}
