//! The smallest parameters for which a pair of distributions satisfies differential privacy.

use super::{hockey_stick, same_outcomes};
use crate::distribution::OutcomeDistribution;
use crate::error::Result;
use crate::order;
use crate::quantity::{Delta, Epsilon};
use crate::special::{log_sum_exp, ndtri, ndtri_exp};

/// The smallest ε ≥ 0 with δ(ε) ≤ δ in this direction, solved exactly: δ(ε) = Σ max(0, p - e^ε q) is linear in e^ε
/// between consecutive ratios p/q.
///
/// # Errors
/// [`Error::Length`](crate::Error::Length) when the distributions have different numbers of outcomes.
///
/// # Example
/// ```
/// # use leakbound::divergence::epsilon_at_delta;
/// # use leakbound::distribution::OutcomeDistribution;
/// # use leakbound::quantity::Delta;
/// let (p, q) = (OutcomeDistribution::from_probabilities(&[0.75, 0.25])?, OutcomeDistribution::from_probabilities(&[0.25, 0.75])?);
/// assert!((epsilon_at_delta(&p, &q, Delta::new(0.0)?)?.get() - 3f64.ln()).abs() < 1e-15);
/// assert!((epsilon_at_delta(&p, &q, Delta::new(0.25)?)?.get() - 2f64.ln()).abs() < 1e-15);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn epsilon_at_delta(p: &OutcomeDistribution, q: &OutcomeDistribution, delta: Delta) -> Result<Epsilon> {
    same_outcomes(p, q)?;
    Ok(of_same_outcomes(p, q, delta))
}

/// The same for two distributions known to have the same outcomes.
pub(super) fn of_same_outcomes(p: &OutcomeDistribution, q: &OutcomeDistribution, delta: Delta) -> Epsilon {
    if delta.get() == 0.0 {
        // The largest ratio, which logarithms keep where probabilities underflow.
        let possible = (0..p.outcomes()).filter(|&i| p.ln_p()[i] > f64::NEG_INFINITY);
        return epsilon(possible.map(|i| log_ratio(p, q, i)).fold(0.0, f64::max));
    }
    if hockey_stick::of_same_outcomes(p, q, Epsilon::ZERO) <= delta.get() {
        return Epsilon::ZERO;
    }
    let order = by_falling_ratio(p, q);
    let (mut inside, mut inside_neighbor) = (Mass::default(), Mass::default());
    for (rank, &outcome) in order.iter().enumerate() {
        inside.add(p, outcome);
        inside_neighbor.add(q, outcome);
        // On this stretch δ(ε) = mass_p - e^ε mass_q; it reaches down to the next ratio.
        let next = order.get(rank + 1).map_or(f64::NEG_INFINITY, |&outcome| log_ratio(p, q, outcome));
        let beyond = inside.ln_beyond(delta.get());
        let found = beyond - inside_neighbor.ln();
        if beyond > f64::NEG_INFINITY && found >= next {
            return epsilon(found);
        }
    }
    Epsilon::ZERO
}

/// The ε found, at least 0.
fn epsilon(found: f64) -> Epsilon {
    Epsilon::new(found.max(0.0)).unwrap_or(Epsilon::INFINITE)
}

/// The probability of some outcomes. Below the normal doubles, a sum of probabilities has lost some or all of its
/// digits, but its logarithm has not.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mass {
    sum: f64,
    /// ln of a sum below the normal doubles.
    ln: f64,
}

impl Default for Mass {
    fn default() -> Self {
        Self { sum: 0.0, ln: f64::NEG_INFINITY }
    }
}

impl Mass {
    /// Adds an outcome.
    pub(super) fn add(&mut self, distribution: &OutcomeDistribution, outcome: usize) {
        self.sum += distribution.p()[outcome];
        if self.sum < f64::MIN_POSITIVE {
            self.ln = log_sum_exp([self.ln, distribution.ln_p()[outcome]].into_iter());
        }
    }

    /// Its logarithm.
    pub(super) fn ln(self) -> f64 {
        if self.sum < f64::MIN_POSITIVE { self.ln } else { self.sum.ln() }
    }

    /// Reduced by a share of itself.
    pub(super) fn reduced(self, share: f64) -> Self {
        Self { sum: self.sum * (1.0 - share), ln: self.ln - 2.0 * share }
    }

    /// ln of what remains after subtracting δ > 0; -inf if nothing remains.
    pub(super) fn ln_beyond(self, delta: f64) -> f64 {
        if self.sum >= f64::MIN_POSITIVE {
            return (self.sum - delta).max(0.0).ln();
        }
        let less = delta.ln() - self.ln;
        if less < 0.0 { self.ln + (-libm::expm1(less)).ln() } else { f64::NEG_INFINITY }
    }

    /// Φ⁻¹ of the probability.
    fn quantile(self) -> f64 {
        if self.sum < f64::MIN_POSITIVE { ndtri_exp(self.ln) } else { ndtri(self.sum) }
    }
}

/// The smallest μ for which the pair is μ-GDP: the largest Φ⁻¹(P(O)) - Φ⁻¹(Q(O)) over the likelihood-ratio sets O,
/// the corners of the trade-off curve. Infinite when an outcome is impossible in one distribution only.
///
/// # Errors
/// [`Error::Length`](crate::Error::Length) when the distributions have different numbers of outcomes.
///
/// # References
/// Dong, Roth and Su (2022), "Gaussian differential privacy", section 2.
///
/// # Example
/// ```
/// # use leakbound::divergence::gdp_of_distributions;
/// # use leakbound::distribution::OutcomeDistribution;
/// # use leakbound::special::ndtr;
/// let distribution = |x: f64| OutcomeDistribution::from_probabilities(&[ndtr(x), ndtr(-x)]);
/// assert!((gdp_of_distributions(&distribution(0.7)?, &distribution(-0.3)?)? - 1.0).abs() < 1e-14);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn gdp_of_distributions(p: &OutcomeDistribution, q: &OutcomeDistribution) -> Result<f64> {
    same_outcomes(p, q)?;
    Ok(mu_of_same_outcomes(p, q))
}

/// The same for two distributions known to have the same outcomes.
pub(super) fn mu_of_same_outcomes(p: &OutcomeDistribution, q: &OutcomeDistribution) -> f64 {
    quantiles_of_sets(p, q).filter(|[of_p, of_q]| of_p > of_q).map(|[of_p, of_q]| of_p - of_q).fold(0.0, f64::max)
}

/// Φ⁻¹(P(O)) and Φ⁻¹(Q(O)) of the likelihood-ratio sets O, which contain all outcomes with the same ratio or none.
pub(super) fn quantiles_of_sets(p: &OutcomeDistribution, q: &OutcomeDistribution) -> impl Iterator<Item = [f64; 2]> {
    let order = by_falling_ratio(p, q);
    let cumulated = |distribution: &OutcomeDistribution, outcomes: &mut dyn Iterator<Item = usize>| -> Vec<Mass> {
        let add = |mass: &mut Mass, outcome| {
            mass.add(distribution, outcome);
            Some(*mass)
        };
        outcomes.scan(Mass::default(), add).collect()
    };
    let masses = [p, q].map(|distribution| {
        let [inside, mut outside] = [
            cumulated(distribution, &mut order.iter().copied()),
            cumulated(distribution, &mut order.iter().rev().copied()),
        ];
        outside.reverse();
        [inside, outside]
    });
    let ratios: Vec<f64> = order.iter().map(|&outcome| log_ratio(p, q, outcome)).collect();
    let ends = (1..order.len()).filter(move |&split| ratios[split - 1] > ratios[split]);
    ends.map(move |split| {
        masses.each_ref().map(|[inside, outside]| {
            let (inside, outside) = (inside[split - 1], outside[split]);
            // From the smaller side, which has the digits.
            if inside.sum <= outside.sum { inside.quantile() } else { -outside.quantile() }
        })
    })
}

pub(super) fn log_ratio(p: &OutcomeDistribution, q: &OutcomeDistribution, outcome: usize) -> f64 {
    let (ln_p, ln_q) = (p.ln_p()[outcome], q.ln_p()[outcome]);
    if ln_p == ln_q { 0.0 } else { ln_p - ln_q }
}

pub(super) fn by_falling_ratio(p: &OutcomeDistribution, q: &OutcomeDistribution) -> Vec<usize> {
    order::positions(p.outcomes(), |a, b| log_ratio(p, q, b).total_cmp(&log_ratio(p, q, a)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quadrature::LogIntegral;
    use proptest::prelude::*;

    /// ln(0.5 - 0.1) + 2000, and with the mass of two such outcomes.
    #[test]
    fn probabilities_that_no_double_holds_have_an_epsilon() {
        let row = |ln_value: f64| LogIntegral { ln_value, error: 0.0 };
        let half = 0.5f64.ln();
        let distribution = |logs: &[f64]| {
            OutcomeDistribution::from_integrals(&logs.iter().map(|&ln| row(ln)).collect::<Vec<_>>()).unwrap()
        };
        let at = |p: &[f64], q: &[f64]| {
            epsilon_at_delta(&distribution(p), &distribution(q), Delta::new(0.1).unwrap()).unwrap().get()
        };
        let one = at(&[half, half], &[-2000.0, 0.0]);
        assert!((one - (0.4f64.ln() + 2000.0)).abs() < 1e-11, "{one}");
        let quarter = 0.25f64.ln();
        let two = at(&[quarter, quarter, half], &[-2000.0, -2000.0, 0.0]);
        assert!((two - (0.2f64.ln() + 2000.0)).abs() < 1e-11, "{two}");
    }

    proptest! {
        #[test]
        fn epsilon_at_delta_inverts_the_hockey_stick(
            weights in prop::collection::vec((0.01f64..1.0, 0.01f64..1.0), 2..9), delta in 0.0f64..0.3,
        ) {
            let distribution = |pick: fn(&(f64, f64)) -> f64| {
                let total: f64 = weights.iter().map(pick).sum();
                OutcomeDistribution::from_probabilities(&weights.iter().map(|w| pick(w) / total).collect::<Vec<_>>()).unwrap()
            };
            let (p, q) = (distribution(|w| w.0), distribution(|w| w.1));
            let epsilon = epsilon_at_delta(&p, &q, Delta::new(delta).unwrap()).unwrap();
            let at = hockey_stick(&p, &q, epsilon).unwrap();
            prop_assert!(at <= delta + 1e-12);
            prop_assert!(epsilon.get() == 0.0 || at >= delta - 1e-12);
        }
    }

    /// μ of two normal distributions a distance apart that are cut at one point, including if an outcome is impossible.
    #[test]
    fn mu_is_the_distance_at_the_corner() {
        let distribution = |p: &[f64]| OutcomeDistribution::from_probabilities(p).unwrap();
        let cut = |x: f64| distribution(&[crate::special::ndtr(x), crate::special::ndtr(-x)]);
        for (a, b) in [(0.7, -0.3), (2.0, 1.5), (-1.0, -1.0), (-3.0, 4.0)] {
            let found = gdp_of_distributions(&cut(a), &cut(b)).unwrap();
            assert!((found - f64::abs(a - b)).abs() < 1e-12, "{a} {b}: {found}");
        }
        assert_eq!(
            gdp_of_distributions(&distribution(&[0.5, 0.5]), &distribution(&[1.0, 0.0])).unwrap(),
            f64::INFINITY
        );
    }
}
