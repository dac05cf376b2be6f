//! A privacy budget that is spent query by query.

use crate::bound::outward::{product_up, sum_up};
use crate::divergence::{Conversion, RdpCurve};
use crate::error::Result;
use crate::quantity::{Delta, Epsilon, Order};

/// A budget of ε at δ, and the RDP curve spent so far.
///
/// Costs are added as curves and converted only to be compared with the budget, at the best order after each charge. A
/// charge that would exceed the budget is rejected and changes nothing, so the loop of a labeling campaign stops
/// *before* its budget is exceeded.
///
/// If no cost depends on an output, the result is a theorem for any number of orders (Mironov 2017, Proposition 1). If
/// a cost depends on what happened, such as the charge for an answer withheld by a threshold test, or if a release is
/// chosen after earlier outputs, the order must be fixed beforehand for the sum to be a theorem (Feldman and Zrnic
/// 2021): pass that single order, or use a [`PrivacyFilter`](super::PrivacyFilter). With many orders and the best one
/// taken at the end, the result is then the figure reported in the literature, not a theorem.
///
/// ```
/// # use leakbound::accountant::{PrivacyBudget, gnmax_data_independent};
/// # use leakbound::divergence::{Conversion, order_grid};
/// # use leakbound::prelude::*;
/// let orders = order_grid();
/// let cost = RdpCurve::from_fn(&orders, |order| gnmax_data_independent(order, NoiseScale::new(40.0).unwrap()));
/// let mut budget = PrivacyBudget::new(Epsilon::new(5.4)?, Delta::new(1e-5)?, Conversion::Improved, orders)?;
/// assert_eq!(budget.queries_left(&cost)?, 1006);
/// let mut queries = 0;
/// while budget.spend(&cost)? {
///     queries += 1;
/// }
/// assert_eq!(queries, 1006);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2018), "Scalable private learning with PATE", and Ihrig (2021), section 2.4.3, for the loop.
#[derive(Debug, Clone, PartialEq)]
pub struct PrivacyBudget {
    epsilon: Epsilon,
    delta: Delta,
    conversion: Conversion,
    curve: RdpCurve,
}

impl PrivacyBudget {
    /// An unspent budget, on the orders of the costs to come.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) if there are no orders.
    pub fn new(epsilon: Epsilon, delta: Delta, conversion: Conversion, orders: Vec<Order>) -> Result<Self> {
        let nothing = vec![0.0; orders.len()];
        Ok(Self { epsilon, delta, conversion, curve: RdpCurve::new(orders, nothing)? })
    }

    /// The ε that may be spent.
    #[must_use]
    pub const fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// The δ at which it is measured.
    #[must_use]
    pub const fn delta(&self) -> Delta {
        self.delta
    }

    /// Spends a cost if the budget allows it; otherwise spends nothing and returns false.
    ///
    /// # Errors
    /// [`Error::Rejected`](crate::Error::Rejected) if the cost is on other orders.
    pub fn spend(&mut self, cost: &RdpCurve) -> Result<bool> {
        let after = self.curve.composed(cost)?;
        let fits = self.convert(&after).0 <= self.epsilon;
        if fits {
            self.curve = after;
        }
        Ok(fits)
    }

    /// ε of the spent part at the budget's δ, and the order that gives it. 0 if nothing is spent.
    #[must_use]
    pub fn spent(&self) -> (Epsilon, Order) {
        self.convert(&self.curve)
    }

    /// The RDP curve of the spent part.
    #[must_use]
    pub const fn curve(&self) -> &RdpCurve {
        &self.curve
    }

    /// How often a cost can still be spent: the maximum over the orders, rounded down; 2^64 - 1 if the number is too
    /// large.
    ///
    /// # Errors
    /// [`Error::Rejected`](crate::Error::Rejected) if the cost is on other orders.
    pub fn queries_left(&self, cost: &RdpCurve) -> Result<u64> {
        self.curve.composed(cost)?;
        let left =
            self.curve.orders().iter().zip(self.curve.values()).zip(cost.values()).map(|((&order, &spent), &each)| {
                // Both conversions add to the RDP a term that depends only on the order, and stop at 0.
                let fits = |times: f64| {
                    let rdp = if times == 0.0 { spent } else { sum_up(product_up(times, each), spent) };
                    self.conversion.epsilon(rdp, order, self.delta) <= self.epsilon
                };
                let (mut low, mut high) = (0u64, u64::MAX);
                if each == 0.0 && fits(1.0) {
                    return high;
                }
                while low < high {
                    let middle = low + (high - low).div_ceil(2);
                    if fits(middle as f64) { low = middle } else { high = middle - 1 }
                }
                low
            });
        Ok(left.max().unwrap_or(0))
    }

    fn convert(&self, curve: &RdpCurve) -> (Epsilon, Order) {
        let all = curve.orders().iter().zip(curve.values());
        let first = (Epsilon::INFINITE, curve.orders()[0]);
        if curve.values().iter().all(|value| *value == 0.0) {
            // Nothing was spent, so a conversion would only add its own slack.
            return (Epsilon::ZERO, first.1);
        }
        all.map(|(&order, &value)| (self.conversion.epsilon(value, order, self.delta), order))
            .fold(first, |best, candidate| if candidate.0 < best.0 { candidate } else { best })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::order_grid;

    fn budget(epsilon: f64, conversion: Conversion) -> PrivacyBudget {
        let delta = Delta::new(1e-6).unwrap();
        PrivacyBudget::new(Epsilon::new(epsilon).unwrap(), delta, conversion, order_grid()).unwrap()
    }

    #[test]
    fn the_loop_and_the_count_agree_and_stop_in_time() {
        for conversion in [Conversion::Improved, Conversion::Classic] {
            for (epsilon, per_order) in [(1.0, 1e-3), (2.5, 4e-4), (0.3, 1e-5), (0.01, 1e-3)] {
                let cost = RdpCurve::from_fn(&order_grid(), |order| per_order * order.get());
                let mut budget = budget(epsilon, conversion);
                let count = budget.queries_left(&cost).unwrap();
                let mut queries = 0;
                while budget.spend(&cost).unwrap() {
                    queries += 1;
                }
                // The loop adds rounding errors, and the count multiplies.
                assert!(count.abs_diff(queries) <= 1, "{epsilon}: {count} {queries}");
                assert!(budget.spent().0.get() <= epsilon);
                assert_eq!(budget.queries_left(&cost).unwrap(), 0);
            }
        }
    }

    #[test]
    fn costs_of_nothing_and_of_everything() {
        let mut budget = budget(1.0, Conversion::Improved);
        let free = RdpCurve::from_fn(&order_grid(), |_| 0.0);
        let ruinous = RdpCurve::from_fn(&order_grid(), |_| f64::INFINITY);
        assert_eq!(budget.queries_left(&free).unwrap(), u64::MAX);
        assert_eq!(budget.queries_left(&ruinous).unwrap(), 0);
        assert!(budget.spend(&free).unwrap() && !budget.spend(&ruinous).unwrap());
        assert_eq!(budget.spent().0.get(), 0.0);
        assert!(budget.spend(&RdpCurve::from_fn(&[Order::new(2.0).unwrap()], |_| 0.0)).is_err());
        assert!(PrivacyBudget::new(budget.epsilon, budget.delta, Conversion::Classic, Vec::new()).is_err());
    }
}
