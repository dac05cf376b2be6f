//! Tangents of the Rényi sum: linear lower bounds that hold for every pair of distributions.

use crate::quantity::Order;

/// Beyond this exponent e^{α l} would overflow; logarithmic ratios are cut there.
const MOST_EXPONENT: f64 = 650.0;

/// A linear lower bound of F(P, Q) = Σ P^α Q^{1-α} for all distributions P, Q: F - 1 ≥ Σ P_c gain_c - Σ Q_c cost_c.
///
/// For every ratio r_c ≥ 0, F ≥ Σ [α r^{α-1} P - (α-1) r^α Q], with equality where r = P/Q.
/// *Proof.* x^α is convex, so x^α ≥ α r^{α-1} x - (α-1) r^α; put x = P_c/Q_c, multiply by Q_c and add. ∎
/// Since Σ P = Σ Q = 1, 1 can be subtracted on both sides: gain = α (r^{α-1} - 1), cost = (α-1)(r^α - 1), which keep
/// their digits if the ratios are close to 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tangent {
    /// α (r^{α-1} - 1), rounded down.
    pub(super) gain: Vec<f64>,
    /// (α-1)(r^α - 1), rounded up.
    pub(super) cost: Vec<f64>,
}

impl Tangent {
    /// The tangent at the ratios r = e^l.
    ///
    /// Rounding: the exponent x = α l is off by 2ε|x|, expm1 by ε of itself and by the error of its argument times e^x;
    /// each value is moved by twice that, so the inequality holds for the computed doubles.
    pub(super) fn new(log_ratios: impl Iterator<Item = f64> + Clone, order: Order) -> Self {
        let a = order.get();
        let most = MOST_EXPONENT / a;
        let ratios = log_ratios.map(|ratio| ratio.clamp(-most, most));
        let part = |factor: f64, exponent: f64| {
            let change = libm::expm1(exponent);
            let error = 4.0 * f64::EPSILON * factor * (change.abs() + exponent.abs() * (1.0 + change));
            (factor * change, error)
        };
        let gain = |ratio: f64| {
            let (value, error) = part(a, (a - 1.0) * ratio);
            if value < f64::INFINITY { value - error } else { f64::NEG_INFINITY }
        };
        let cost = |ratio: f64| {
            let (value, error) = part(a - 1.0, a * ratio);
            if value < f64::INFINITY { value + error } else { f64::INFINITY }
        };
        Self { gain: ratios.clone().map(gain).collect(), cost: ratios.map(cost).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// No tangent exceeds F - 1, and the one at the ratios themselves reaches it.
        #[test]
        fn tangents_are_below_and_touch(
            distributions in prop::collection::vec((0.05f64..1.0, 0.05f64..1.0, -1.0f64..1.0), 2..6), a in 1.01f64..30.0,
        ) {
            let total = |pick: fn(&(f64, f64, f64)) -> f64| distributions.iter().map(pick).sum::<f64>();
            let (p_total, q_total) = (total(|distribution| distribution.0), total(|distribution| distribution.1));
            let pairs: Vec<(f64, f64)> = distributions.iter().map(|distribution| (distribution.0 / p_total, distribution.1 / q_total)).collect();
            let order = Order::new(a).unwrap();
            let excess: f64 = pairs.iter().map(|(p, q)| p.powf(a) * q.powf(1.0 - a)).sum::<f64>() - 1.0;
            let at = |ratios: Vec<f64>| {
                let tangent = Tangent::new(ratios.into_iter(), order);
                pairs.iter().enumerate().map(|(c, (p, q))| p * tangent.gain[c] - q * tangent.cost[c]).sum::<f64>()
            };
            let slack = 1e-13 * a * a * (1.0 + excess);
            let exact = at(pairs.iter().map(|(p, q)| (p / q).ln()).collect());
            prop_assert!((exact - excess).abs() <= slack, "{exact} {excess}");
            prop_assert!(at(distributions.iter().map(|distribution| distribution.2).collect()) <= excess + slack);
        }
    }

    #[test]
    fn impossible_ratios_stay_finite() {
        for a in [1.000001, 2.0, 1e6, 1e300] {
            let tangent = Tangent::new([f64::INFINITY, f64::NEG_INFINITY, 0.0].into_iter(), Order::new(a).unwrap());
            assert!(tangent.gain.iter().chain(&tangent.cost).all(|value| !value.is_nan()), "{a}: {tangent:?}");
        }
    }
}
