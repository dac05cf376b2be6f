//! From an RDP curve that is a function of the order to ε: the order is optimized continuously.

use super::convert::{classic_epsilon_of_rdp, epsilon_of_rdp, order_grid};
use crate::named::named;
use crate::quantity::{Delta, Epsilon, Order};
use crate::solve::maximize;
use serde::{Deserialize, Serialize};

/// How RDP is turned into (ε, δ).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Conversion {
    /// [`epsilon_of_rdp`]: Balle et al. (2020), Theorem 21.
    Improved,
    /// [`classic_epsilon_of_rdp`]: Mironov (2017), Proposition 3; never smaller, kept for older tables.
    Classic,
}

named!(Conversion, "conversion", [Improved "improved", Classic "classic"]);

impl Conversion {
    /// ε at δ of an (α, ρ)-RDP mechanism.
    #[must_use]
    pub fn epsilon(self, rdp: f64, order: Order, delta: Delta) -> Epsilon {
        match self {
            Self::Improved => epsilon_of_rdp(rdp, order, delta),
            Self::Classic => classic_epsilon_of_rdp(rdp, order, delta),
        }
    }
}

/// The largest error of the best order in ln(α-1): ε changes with its square.
const TOLERANCE: f64 = 1e-8;
/// The largest number of costs that are computed.
const EVALUATIONS: u64 = 40;

/// The smallest ε at δ over all orders of a mechanism whose RDP is the function `rdp` of the order, and that order.
///
/// The orders of [`order_grid`](crate::divergence::order_grid) bracket the minimum, and Brent's method in ln(α-1)
/// narrows it. Every order gives a valid ε, so a curve with several minima costs only tightness.
///
/// ```
/// # use leakbound::divergence::{Conversion, order_grid, smallest_epsilon};
/// # use leakbound::prelude::*;
/// // A thousand answers of GNMax at σ = 40.
/// let delta = Delta::new(1e-5)?;
/// let rdp = |order: Order| 1000.0 * order.get() / (40.0 * 40.0);
/// let (epsilon, _) = smallest_epsilon(rdp, delta, Conversion::Improved);
/// assert!((epsilon.get() - 5.378).abs() < 1e-3);
/// let grid = RdpCurve::from_fn(&order_grid(), rdp).epsilon(delta).0;
/// assert!(epsilon <= grid && grid.get() < epsilon.get() * 1.001);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[must_use]
pub fn smallest_epsilon(rdp: impl Fn(Order) -> f64, delta: Delta, conversion: Conversion) -> (Epsilon, Order) {
    let at = |order: Order| {
        let value = rdp(order);
        // A cost of NaN guarantees nothing.
        conversion.epsilon(if value.is_nan() { f64::INFINITY } else { value }, order, delta)
    };
    let grid = order_grid();
    let values: Vec<Epsilon> = grid.iter().map(|&order| at(order)).collect();
    let index = (1..grid.len()).fold(0, |best, index| if values[index] < values[best] { index } else { best });
    let log = |order: Order| (order.get() - 1.0).ln();
    let of_log = |ln: f64| Order::new(1.0 + libm::exp(ln)).ok();
    let bracket = [log(grid[index.saturating_sub(1)]), log(grid[(index + 1).min(grid.len() - 1)])];
    let found = maximize(bracket, TOLERANCE, EVALUATIONS, |ln| of_log(ln).map_or(f64::NAN, |order| -at(order).get()));
    let found = found.and_then(|(ln, _)| of_log(ln)).map(|order| (at(order), order));
    found.filter(|found| found.0 < values[index]).unwrap_or((values[index], grid[index]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// α ρ + ln(1/δ)/(α-1) is smallest at α = 1 + √(ln(1/δ)/ρ), where it is ρ + 2 √(ρ ln(1/δ)).
    #[test]
    fn the_classic_minimum_of_a_gaussian_is_known() {
        for (rho, delta) in [(1e-4, 1e-5), (0.3125, 1e-5), (2.0, 1e-9), (0.01, 1e-300)] {
            let rdp = |order: Order| rho * order.get();
            let (epsilon, order) = smallest_epsilon(rdp, Delta::new(delta).unwrap(), Conversion::Classic);
            let ln = -f64::ln(delta);
            assert!((epsilon.get() / (rho + 2.0 * (rho * ln).sqrt()) - 1.0).abs() < 1e-12, "{rho} {delta}");
            assert!((order.get() / (1.0 + (ln / rho).sqrt()) - 1.0).abs() < 1e-5, "{rho} {delta}: {order}");
        }
    }

    #[test]
    fn what_promises_nothing_is_infinite() {
        let delta = Delta::new(1e-5).unwrap();
        for value in [f64::INFINITY, f64::NAN] {
            assert_eq!(smallest_epsilon(|_| value, delta, Conversion::Improved).0.get(), f64::INFINITY);
        }
        let none = Delta::new(0.0).unwrap();
        assert_eq!(smallest_epsilon(|_| 0.0, none, Conversion::Improved).0.get(), f64::INFINITY);
    }
}
