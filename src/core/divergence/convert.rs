//! From Rényi to (ε, δ): an RDP guarantee is a curve over orders, converted only after composition.

use crate::bound::outward::{product_up, sum_up, up};
use crate::error::{Error, Result};
use crate::quantity::{Delta, Epsilon, Order};

/// An RDP curve on a grid of orders: `values()[i]` at `orders()[i]`.
///
/// ```
/// # use leakbound::divergence::RdpCurve;
/// # use leakbound::quantity::Order;
/// let orders: Vec<Order> = [2.0, 10.0].into_iter().map(Order::new).collect::<Result<_, _>>()?;
/// let gaussian = RdpCurve::from_fn(&orders, |order| order.get() / 1024.0);
/// assert_eq!(gaussian.repeated(512.0).values(), [1.0, 5.0]);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RdpCurve {
    orders: Vec<Order>,
    values: Vec<f64>,
}

impl RdpCurve {
    /// A curve from its values, one per order, each in [0, inf].
    ///
    /// # Errors
    /// [`Error::Length`] when the lengths differ or are zero, [`Error::Domain`] for a negative value or NaN.
    pub fn new(orders: Vec<Order>, values: Vec<f64>) -> Result<Self> {
        let (found, expected) = (values.len(), format_args!("{} values, one per order, at least 1", orders.len()));
        Error::check_length(found > 0 && orders.len() == found, "RDP curve", found, expected)?;
        Error::check_domain_of_all(&values, |value| value >= 0.0, "Rényi divergence", "[0, inf]")?;
        Ok(Self { orders, values })
    }

    /// A curve from a function of the order; negative values, which come from rounding, become 0.
    ///
    /// # Panics
    /// When `orders` is empty.
    #[must_use]
    pub fn from_fn(orders: &[Order], value: impl Fn(Order) -> f64) -> Self {
        assert!(!orders.is_empty(), "an RDP curve needs an order");
        Self { orders: orders.to_vec(), values: orders.iter().map(|&order| value(order).max(0.0)).collect() }
    }

    /// The orders.
    #[must_use]
    pub fn orders(&self) -> &[Order] {
        &self.orders
    }

    /// The divergence at each order.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Order-wise sum: the guarantee of running both mechanisms (Mironov 2017, Proposition 1). Rounded up.
    ///
    /// # Errors
    /// [`Error::Rejected`] when the curves are on different orders.
    pub fn composed(&self, other: &Self) -> Result<Self> {
        let reason = "the two RDP curves are on different orders";
        Error::check_possible(self.orders == other.orders, "composition", reason)?;
        let values = self.values.iter().zip(&other.values).map(|(&a, &b)| sum_up(a, b)).collect();
        Ok(Self { orders: self.orders.clone(), values })
    }

    /// The guarantee of `times` runs of the mechanism. Rounded up.
    #[must_use]
    pub fn repeated(&self, times: f64) -> Self {
        let values = self.values.iter().map(|&value| product_up(value, times)).collect();
        Self { orders: self.orders.clone(), values }
    }

    /// The smallest ε over the orders of the curve by the improved conversion, and the order that gives it.
    ///
    /// ```
    /// # use leakbound::divergence::RdpCurve;
    /// # use leakbound::quantity::{Delta, Order};
    /// let orders: Vec<Order> = [1.5, 2.0, 3.0, 5.0, 8.0, 16.0, 32.0, 64.0].map(|a| Order::new(a).unwrap()).to_vec();
    /// let curve = RdpCurve::from_fn(&orders, |order| order.get() / 32.0);
    /// let (epsilon, order) = curve.epsilon(Delta::new(1e-5)?);
    /// assert!((epsilon.get() - 1.018_150_595_044_458_5).abs() < 1e-14 && order.get() == 16.0);
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    #[must_use]
    pub fn epsilon(&self, delta: Delta) -> (Epsilon, Order) {
        self.smallest(|value, order| epsilon_of_rdp(value, order, delta))
    }

    /// The same with the classic conversion, for comparison with older tables.
    #[must_use]
    pub fn classic_epsilon(&self, delta: Delta) -> (Epsilon, Order) {
        self.smallest(|value, order| classic_epsilon_of_rdp(value, order, delta))
    }

    /// The smallest δ over the orders of the curve at a given ε, and the order that gives it.
    #[must_use]
    pub fn delta(&self, epsilon: Epsilon) -> (f64, Order) {
        best(&self.orders, &self.values, |value, order| delta_of_rdp(value, order, epsilon))
    }

    fn smallest(&self, convert: impl Fn(f64, Order) -> Epsilon) -> (Epsilon, Order) {
        let (epsilon, order) = best(&self.orders, &self.values, |value, order| convert(value, order).get());
        (Epsilon::new(epsilon).unwrap_or_else(|_| unreachable!("the minimum of epsilons")), order)
    }
}

/// The orders on which curves are composed before they are converted: steps of 5% of α-1 from 1.05 to 100,000.
///
/// Refining the grid changes the ε of a Gaussian curve by less than 0.1%.
#[must_use]
pub fn order_grid() -> Vec<Order> {
    let steps = (0..).map(|step| 1.0 + 0.05 * 1.05f64.powi(step)).take_while(|order| *order < 1e5);
    steps.filter_map(|order| Order::new(order).ok()).collect()
}

/// The smallest converted value with its order; the first one in a tie.
fn best(orders: &[Order], values: &[f64], convert: impl Fn(f64, Order) -> f64) -> (f64, Order) {
    orders
        .iter()
        .zip(values)
        .map(|(&order, &value)| (convert(value, order), order))
        .fold((f64::INFINITY, orders[0]), |best, candidate| if candidate.0 < best.0 { candidate } else { best })
}

/// ε at δ of an (α, ρ)-RDP mechanism: ρ + ln((α-1)/α) - (ln δ + ln α)/(α-1), never below 0; infinite at δ = 0.
///
/// Rounded up by four units of 2^-52 of every logarithm in it, which is the error of the sum where they cancel: near
/// order 1 with δ near 1.
///
/// # References
/// Balle, Barthe, Gaboardi, Hsu and Sato (2020), "Hypothesis testing interpretations and Rényi differential privacy",
/// Theorem 21; Canonne, Kamath and Steinke (2020), Proposition 12.
#[must_use]
pub fn epsilon_of_rdp(rdp: f64, order: Order, delta: Delta) -> Epsilon {
    let (a, d) = (order.get(), delta.get());
    let ([shift, ln_order], ln_delta) = (logarithms(a), d.ln());
    let value = rdp + shift - (ln_delta + ln_order) / (a - 1.0);
    let size = rdp.abs() + shift.abs() + (ln_delta.abs() + ln_order) / (a - 1.0);
    // The added rounding must not lift it above the classic conversion, which is never smaller.
    at_least_zero((value + UNITS * size).min(classic_value(rdp, a, ln_delta)), d)
}

/// Rounding of a logarithm or of a term that is one of few, generously.
const UNITS: f64 = 4.0 * f64::EPSILON;

/// ln((α-1)/α) and ln α: α - 1 is exact up to 2, where the quotient would lose its digits next to 1.
fn logarithms(a: f64) -> [f64; 2] {
    if a <= 2.0 {
        let ln_order = libm::log1p(a - 1.0);
        [libm::log(a - 1.0) - ln_order, ln_order]
    } else {
        [libm::log1p(-1.0 / a), a.ln()]
    }
}

/// ε at δ by the classic conversion ρ + ln(1/δ)/(α-1), rounded up.
///
/// # References
/// Mironov (2017), "Rényi differential privacy", Proposition 3.
#[must_use]
pub fn classic_epsilon_of_rdp(rdp: f64, order: Order, delta: Delta) -> Epsilon {
    at_least_zero(classic_value(rdp, order.get(), delta.get().ln()), delta.get())
}

fn classic_value(rdp: f64, a: f64, ln_delta: f64) -> f64 {
    up(rdp - ln_delta / (a - 1.0), 4.0)
}

fn at_least_zero(epsilon: f64, delta: f64) -> Epsilon {
    let value = if delta == 0.0 || epsilon.is_nan() { f64::INFINITY } else { epsilon.max(0.0) };
    Epsilon::new(value).unwrap_or_else(|_| unreachable!("clamped above"))
}

/// δ at ε of an (α, ρ)-RDP mechanism: exp((α-1)(ρ-ε)) (1-1/α)^{α-1}/α, at most 1.
///
/// Rounded up by the rounding errors of the exponent, which are 1e-15 of α (ρ + ε): a δ below the doubles is the
/// smallest of them.
///
/// # References
/// The same theorem solved for δ.
#[must_use]
pub fn delta_of_rdp(rdp: f64, order: Order, epsilon: Epsilon) -> f64 {
    let (a, e) = (order.get(), epsilon.get());
    if rdp == f64::INFINITY || e == f64::INFINITY {
        return if rdp == f64::INFINITY { 1.0 } else { 0.0 };
    }
    let [shift, ln_order] = logarithms(a);
    let exponent = (a - 1.0) * (rdp - e + shift) - ln_order;
    let size = (a - 1.0) * (rdp.abs() + e + shift.abs()) + ln_order;
    let value = libm::exp(exponent + UNITS * size);
    // Exponents that overflow give NaN, and 1 always holds.
    if value < 1.0 { up(value, 4.0).min(1.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_grid_is_dense_enough_for_a_gaussian_curve() {
        for (steps, sigma, delta) in [(1.0, 1.0, 1e-5), (1000.0, 40.0, 1e-6), (60.0, 40.0, 1e-9), (10.0, 0.5, 1e-3)] {
            let rdp = |order: Order| steps * order.get() / (sigma * sigma);
            let delta = Delta::new(delta).unwrap();
            let coarse = RdpCurve::from_fn(&order_grid(), rdp).epsilon(delta).0.get();
            let fine: Vec<Order> = (1..400_000).map(|i| Order::new(1.0 + 0.005 * f64::from(i)).unwrap()).collect();
            let fine = RdpCurve::from_fn(&fine, rdp).epsilon(delta).0.get();
            assert!(coarse >= fine && coarse < fine * 1.001, "{coarse} {fine}");
        }
    }

    #[test]
    fn a_curve_has_its_orders_and_values() {
        let orders: Vec<Order> = [2.0, 3.0].map(|order| Order::new(order).unwrap()).to_vec();
        let curve = RdpCurve::new(orders.clone(), vec![0.5, 0.75]).unwrap();
        assert_eq!((curve.orders(), curve.values()), (&orders[..], &[0.5, 0.75][..]));
    }
}
