//! The trade-off curve of two distributions: the power of the best test between them.

use crate::distribution::OutcomeDistribution;
use crate::error::Result;
use crate::order;
use crate::quantity::Probability;
use crate::special::CompensatedSum;

/// The largest true-positive rate of any test at each false-positive rate: T(f) = max {P(φ) : Q(φ) ≤ f} over
/// randomized tests φ, which call an output positive with probability φ.
///
/// By the lemma of Neyman and Pearson the best test takes outcomes by decreasing P/Q, the last one with a probability.
/// T is concave and piecewise linear; 1 - T is the trade-off function of Q and P.
///
/// # Example
/// ```
/// # use leakbound::distribution::OutcomeDistribution;
/// # use leakbound::divergence::TestPower;
/// # use leakbound::quantity::Probability;
/// let distribution = OutcomeDistribution::from_probabilities;
/// let power = TestPower::new(&distribution(&[0.5, 0.5])?, &distribution(&[0.25, 0.75])?)?;
/// assert_eq!(power.at(Probability::new(0.25)?), 0.5);
/// // Half of the first outcome.
/// assert_eq!(power.at(Probability::new(0.125)?), 0.25);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Neyman and Pearson (1933); Dong, Roth and Su (2022), "Gaussian differential privacy", Definition 2.1.
#[derive(Debug, Clone, PartialEq)]
pub struct TestPower {
    /// [false-positive rate, true-positive rate] after each number of outcomes taken, from none to all.
    corners: Vec<[f64; 2]>,
}

/// An outcome: its probabilities under P and Q, and ln P/Q.
type Outcome = ([f64; 2], f64);

impl TestPower {
    /// The curve of tests that distinguish P from Q; positive means P.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) when the distributions have different numbers of outcomes.
    pub fn new(p: &OutcomeDistribution, q: &OutcomeDistribution) -> Result<Self> {
        super::same_outcomes(p, q)?;
        Ok(Self::of_same_outcomes(p, q))
    }

    /// The same for two distributions known to have the same outcomes.
    pub(super) fn of_same_outcomes(p: &OutcomeDistribution, q: &OutcomeDistribution) -> Self {
        Self::of_outcomes((0..p.outcomes()).map(|i| ([p.p()[i], q.p()[i]], [p.ln_p()[i], q.ln_p()[i]])))
    }

    /// The same from the probabilities of each outcome under P and Q, and their logarithms.
    pub fn of_outcomes(outcomes: impl Iterator<Item = ([f64; 2], [f64; 2])>) -> Self {
        let possible = outcomes.filter(|(_, logs)| logs.iter().any(|ln| *ln > f64::NEG_INFINITY));
        let mut sorted: Vec<Outcome> = possible.map(|(rates, [ln_p, ln_q])| (rates, ln_p - ln_q)).collect();
        order::sort(&mut sorted, |a, b| b.1.total_cmp(&a.1));
        let (mut positives, mut false_positives) = (CompensatedSum::default(), CompensatedSum::default());
        let mut corners = vec![[0.0, 0.0]];
        corners.extend(sorted.into_iter().map(|([p, q], _)| {
            positives.add(p);
            false_positives.add(q);
            [false_positives.value(), positives.value()]
        }));
        Self { corners }
    }

    /// The largest true-positive rate at this false-positive rate.
    #[must_use]
    pub fn at(&self, false_positive_rate: Probability) -> f64 {
        let rate = false_positive_rate.get();
        let next = self.corners.partition_point(|corner| corner[0] <= rate);
        let [from, power] = self.corners[next.saturating_sub(1)];
        // A proportional part of the next outcome; if none is left, all outcomes are taken.
        let more = self.corners.get(next).map_or(0.0, |[to, full]| (full - power) * ((rate - from) / (to - from)));
        (power + more).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn distribution(weights: &[f64]) -> OutcomeDistribution {
        let sum: f64 = weights.iter().sum();
        OutcomeDistribution::from_probabilities(&weights.iter().map(|weight| weight / sum).collect::<Vec<_>>()).unwrap()
    }

    fn rate(value: f64) -> Probability {
        Probability::new(value).unwrap()
    }

    #[test]
    fn the_ends_and_impossible_outcomes() {
        // The first outcome is impossible under Q, the last one under P, another one under both.
        let power = TestPower::new(&distribution(&[0.3, 0.0, 0.7, 0.0]), &distribution(&[0.0, 0.0, 0.6, 0.4])).unwrap();
        assert_eq!(power.at(rate(0.0)), 0.3);
        assert!((power.at(rate(0.3)) - 0.65).abs() < 1e-15);
        assert!((power.at(rate(0.6)) - 1.0).abs() < 1e-15 && (power.at(rate(1.0)) - 1.0).abs() < 1e-15);
        assert!(TestPower::new(&distribution(&[1.0]), &distribution(&[1.0, 1.0])).is_err());
    }

    proptest! {
        /// T(f) = min over ε of δ(ε) + e^ε f, the lines by which the privacy profile bounds the curve.
        #[test]
        fn the_privacy_profile_is_the_dual(
            weights in prop::collection::vec((1e-6f64..1.0, 1e-6f64..1.0), 1..12), f in 0.0f64..1.0,
        ) {
            let [p, q] = [|row: &(f64, f64)| row.0, |row: &(f64, f64)| row.1]
                .map(|side| distribution(&weights.iter().map(side).collect::<Vec<_>>()));
            let power = TestPower::new(&p, &q).unwrap().at(rate(f));
            let slopes = (0..p.outcomes()).map(|i| p.p()[i] / q.p()[i]).chain([0.0, f64::INFINITY]);
            let line = |slope: f64| {
                let delta: f64 = (0..p.outcomes()).map(|i| (p.p()[i] - slope * q.p()[i]).max(0.0)).sum();
                delta + slope * f
            };
            let least = slopes.filter(|slope| slope.is_finite()).map(line).fold(f64::INFINITY, f64::min);
            prop_assert!((power - least).abs() < 1e-12, "{power} {least}");
            prop_assert!(power >= f * (1.0 - 1e-12), "no better than guessing");
        }
    }
}
