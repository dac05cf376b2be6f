//! The sum of the privacy losses of many counts with Laplace noise, on a lattice.

use crate::divergence::LossCell;
use crate::quadrature::LogIntegral;

/// d independent counts, each 0 or 1, with Laplace noise of scale 1/t. The outputs distinguish counts 0 and 1 only
/// through the sum of ln P/Q, which for one output is t below 0, -t above 1 and linear in between.
///
/// Between 0 and 1 are b bins of equal width, each with a step of 2w in the loss, w = t/b. Let P be the distribution for
/// counts of 0, Q that for counts of 1, and M = P e^{-L/2} the measure between them, of the loss L.
///
/// *From below*, a bin is one outcome, which is post-processing. Bin i of 0 to b-1 has probability (1-e^{-w}) e^{-wi}/2
/// and loss w (b-1-2i), so up to the factor e^{-t/2}/2
/// ```text
/// M = 1 at L = ±wb,   M = 2 sinh(w/2) at L = w (b-1-2i).
/// ```
///
/// *From above*, it is two outcomes at the ends w (b-2i) and w (b-2i-2) of its losses with the same total P and Q;
/// merging them gives the bin ([`EnclosedLoss`](crate::divergence::EnclosedLoss)). Their shares of P are 1/(1+e^{-w})
/// and the rest, so up to the same factor
/// ```text
/// M = 1 + tanh(w/2) at L = ±wb,   M = 2 tanh(w/2) at L = w (b-2m), 0 < m < b.
/// ```
///
/// The sum of the losses of d counts has the d-fold convolution of M, which is also on the lattice: no term is
/// negative, and M is symmetric, so no probability is lost next to a larger one.
#[derive(Debug, Clone, Copy)]
pub(super) struct LossLattice {
    /// d.
    pub counts: u32,
    /// t.
    pub shift: f64,
    /// b.
    pub bins: u32,
}

/// Outcomes by the sum of their losses, from the largest on, in units of w.
#[derive(Debug)]
pub(super) struct Sums {
    pub losses: Vec<i64>,
    /// ln P.
    pub rows: Vec<LogIntegral>,
}

impl LossLattice {
    /// The step w.
    pub(super) fn step(self) -> f64 {
        self.shift / f64::from(self.bins)
    }

    /// The losses from below, by the bins.
    pub(super) fn below(self) -> Sums {
        let inner = 2.0 * libm::sinh(0.5 * self.step());
        let mut single = vec![0.0; 2 * self.bins as usize + 1];
        single.iter_mut().skip(1).step_by(2).for_each(|mass| *mass = inner);
        self.sums(single, [1.0, 1.0])
    }

    /// The losses from above.
    pub(super) fn above(self) -> Sums {
        let share = libm::tanh(0.5 * self.step());
        let mut single = vec![0.0; 2 * self.bins as usize + 1];
        single.iter_mut().skip(2).step_by(2).for_each(|mass| *mass = 2.0 * share);
        self.sums(single, [1.0 + share, 1.0 + share])
    }

    /// d times M of one count, given for the losses wb, w(b-1), ..., -wb, together with that of both ends.
    fn sums(self, mut single: Vec<f64>, ends: [f64; 2]) -> Sums {
        let last = single.len() - 1;
        (single[0], single[last]) = (ends[0], ends[1]);
        // Scaled so that the ends are as far below 1 as the sum is above.
        let total: f64 = single.iter().sum();
        let scale = (total * ends[0]).sqrt().recip();
        single.iter_mut().for_each(|mass| *mass *= scale);
        let (mut masses, error) = power(&single, self.counts);
        // Sums in another order round differently; symmetry is restored.
        for place in 0..masses.len() / 2 {
            let mirrored = masses.len() - 1 - place;
            masses[mirrored] = masses[place];
        }
        let (d, w) = (f64::from(self.counts), self.step());
        let factor = d * (-std::f64::consts::LN_2 - 0.5 * self.shift - scale.ln());
        let most = i64::from(self.counts) * i64::from(self.bins);
        let mut sums = Sums { losses: Vec::new(), rows: Vec::new() };
        for (place, mass) in masses.into_iter().enumerate().filter(|(_, mass)| *mass > 0.0) {
            let loss = most - place as i64;
            let ln_value = mass.ln() + factor + 0.5 * w * loss as f64;
            let size = d * (8.0 + self.shift + scale.ln().abs()) + mass.ln().abs() + ln_value.abs();
            sums.losses.push(loss);
            sums.rows.push(LogIntegral { ln_value, error: error + 4.0 * f64::EPSILON * size });
        }
        sums
    }

    /// The sums as cells of one loss.
    pub(super) fn cells(self, sums: &Sums) -> Vec<LossCell> {
        let slack = 4.0 * f64::EPSILON * f64::from(self.counts) * self.shift;
        let cell = |(&loss, &p): (&i64, &LogIntegral)| {
            let loss = self.step() * loss as f64;
            let q = LogIntegral { ln_value: p.ln_value - loss, error: p.error + slack };
            LossCell { p, q, losses: [loss - slack, loss + slack] }
        };
        sums.losses.iter().zip(&sums.rows).map(cell).collect()
    }
}

/// The d-fold convolution of masses that are not negative, and the relative error of every one.
fn power(single: &[f64], times: u32) -> (Vec<f64>, f64) {
    let own = 4.0 * f64::EPSILON;
    let mut result: Option<(Vec<f64>, f64)> = None;
    // From the highest bit on: squares, and one more factor.
    for bit in (0..u32::BITS - times.leading_zeros()).rev() {
        result = result.map(|result| convolved(&result, &result));
        if times >> bit & 1 == 1 {
            let one = (single.to_vec(), own);
            result = Some(result.map_or(one.clone(), |result| convolved(&result, &one)));
        }
    }
    result.unwrap_or_else(|| (vec![1.0], 0.0))
}

fn convolved(first: &(Vec<f64>, f64), second: &(Vec<f64>, f64)) -> (Vec<f64>, f64) {
    let (long, short) = if first.0.len() > second.0.len() { (&first.0, &second.0) } else { (&second.0, &first.0) };
    let mut all = vec![0.0; long.len() + short.len() - 1];
    for (place, mass) in short.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
        all[place..place + long.len()].iter_mut().zip(long).for_each(|(sum, other)| *sum += mass * other);
    }
    (all, first.1 + second.1 + 0.5 * f64::EPSILON * (short.len() + 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums over all combinations of bins of three counts.
    #[test]
    fn sums_are_over_all_combinations() {
        let lattice = LossLattice { counts: 3, shift: 1.5, bins: 4 };
        let w = lattice.step();
        let mut single = vec![(4i64, 0.5), (-4, 0.5 * libm::exp(-1.5))];
        single.extend((0..4).map(|i| (3 - 2 * i, -0.5 * libm::expm1(-w) * libm::exp(-w * i as f64))));
        let mut expected = std::collections::BTreeMap::new();
        for (a, p) in &single {
            for (b, q) in &single {
                for (c, r) in &single {
                    *expected.entry(a + b + c).or_insert(0.0) += p * q * r;
                }
            }
        }
        let below = lattice.below();
        assert_eq!(below.losses.len(), expected.len());
        for (loss, row) in below.losses.iter().zip(&below.rows) {
            assert!((row.ln_value - expected[loss].ln()).abs() < 1e-14, "{loss}: {row:?} {}", expected[loss].ln());
        }
    }

    /// Both sides are distributions together with the infinite loss, even if most of the mass is at one end.
    #[test]
    fn both_sides_sum_to_one() {
        for (counts, shift, bins) in [(1, 1.0, 10), (7, 0.1, 3), (50, 20.0, 4), (1000, 1.0, 1), (100, 0.01, 9)] {
            let lattice = LossLattice { counts, shift, bins };
            for sums in [lattice.below(), lattice.above()] {
                let total = |world: f64| -> f64 {
                    let terms = sums.losses.iter().zip(&sums.rows);
                    terms.map(|(&loss, row)| libm::exp(row.ln_value - world * lattice.step() * loss as f64)).sum()
                };
                assert!((total(0.0) - 1.0).abs() < 1e-11 && (total(1.0) - 1.0).abs() < 1e-11, "{lattice:?}");
                assert!(sums.rows.iter().all(|row| row.ln_value.is_finite() && row.error < 1e-10), "{lattice:?}");
            }
        }
    }
}
