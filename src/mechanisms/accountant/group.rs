//! Groups: datasets that differ in several points.

use crate::bound::outward::product_up;
use crate::quantity::Order;

/// RDP of any mechanism for datasets that differ in m points, from its RDP curve `rdp` for one point:
/// ```text
/// D(α) ≤ 3^c ρ(2^c α)   for α ≥ 2,   c = ⌈log₂ m⌉,
/// ```
/// where ρ is the curve. Rounded up. Orders below 2 get the value of order 2, since divergences do not decrease with
/// the order.
///
/// The proposition states: if a change of 2^c points is a chain of 2^c changes of one point and the mechanism has RDP
/// (α', ρ), α' ≥ 2^{c+1}, then a change of 2^c points has RDP (α'/2^c, 3^c ρ). Set α = α'/2^c. Here c counts
/// *doublings*, not points. It is a fallback: for Gaussian noise it gives 6^c α s²/(2σ²), whereas the true value is 4^c
/// α s²/(2σ²), the mechanism with m times the sensitivity.
///
/// `rdp` must hold for every pair of neighbors: a data-dependent cost holds at one dataset only and does not cover the
/// other links of the chain.
///
/// ```
/// # use leakbound::accountant::{gnmax_data_independent, group_rdp};
/// # use leakbound::quantity::{NoiseScale, Order};
/// let (order, sigma) = (Order::new(2.0)?, NoiseScale::new(40.0)?);
/// let rdp = |order| gnmax_data_independent(order, sigma);
/// assert!((group_rdp(order, 4, rdp) / (36.0 * rdp(order)) - 1.0).abs() < 1e-15);
/// assert_eq!(group_rdp(order, 1, rdp), rdp(order));
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Mironov (2017), "Rényi differential privacy", Proposition 2. Chadha et al. (2024), appendix C, print it with m
/// instead of c.
#[must_use]
pub fn group_rdp(order: Order, points: u64, rdp: impl Fn(Order) -> f64) -> f64 {
    if points <= 1 {
        return if points == 0 { 0.0 } else { rdp(order) };
    }
    let doublings = (points - 1).ilog2() as i32 + 1;
    match Order::new(order.get().max(2.0) * 2f64.powi(doublings)) {
        Ok(raised) => product_up(power_of_three(doublings), rdp(raised)),
        // An order beyond the range of doubles: there is no guarantee.
        Err(_) => f64::INFINITY,
    }
}

/// 3^c, rounded up; exact up to c = 33.
fn power_of_three(doublings: i32) -> f64 {
    (0..doublings).fold(1.0, |power, _| product_up(power, 3.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::bernoulli_renyi;

    #[test]
    fn doublings_are_counted_not_points() {
        let identity = |order: Order| order.get();
        let at = |a: f64, points| group_rdp(Order::new(a).unwrap(), points, identity);
        assert_eq!([at(3.0, 0), at(3.0, 1), at(3.0, 2), at(3.0, 3), at(3.0, 4)], [0.0, 3.0, 18.0, 108.0, 108.0]);
        assert_eq!([at(2.0, 5), at(1.5, 5), at(2.0, 8)], [27.0 * 16.0; 3]);
        assert_eq!(at(1e300, u64::MAX), f64::INFINITY);
    }

    /// Chains of Bernoulli distributions: the ends are no further apart than the largest step allows.
    #[test]
    fn ends_of_a_chain_are_bounded_by_its_steps() {
        for step in [1e-4, 0.02, 0.05] {
            for points in [2u64, 3, 4, 8] {
                for start in [0.02, 0.2, 0.4] {
                    let p = |i: u64| start + step * i as f64;
                    let distribution = |i: u64| (p(i), 1.0 - p(i));
                    let largest = |order: Order| {
                        let ways = (0..points).flat_map(|i| [(i, i + 1), (i + 1, i)]);
                        ways.map(|(i, j)| bernoulli_renyi(distribution(i), distribution(j), order)).fold(0.0, f64::max)
                    };
                    for a in [1.1, 2.0, 3.5, 20.0] {
                        let order = Order::new(a).unwrap();
                        let ends = bernoulli_renyi(distribution(points), distribution(0), order);
                        assert!(ends <= group_rdp(order, points, largest), "{step} {points} {start} {a}");
                    }
                }
            }
        }
    }
}
