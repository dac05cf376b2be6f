//! Pairs of distributions that have one Rényi divergence.

use super::distribution_pair::DistributionPair;
use crate::distribution::{OutcomeDistribution, OutputPair};
use crate::divergence::bernoulli_renyi_of_logs;
use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::quadrature::LogIntegral;
use crate::quantity::Order;
use crate::special::softplus;

/// Logits of P at which a pair is formed.
const LOGITS: std::ops::RangeInclusive<i32> = -36..=12;
/// Halvings of the interval of ln q.
const HALVINGS: u32 = 60;
/// The relative error that the divergence of a pair may have: a pair must have the RDP that it is given for.
const ROUNDING: f64 = 1e-12;

/// ln(1 - e^x) for x < 0: one form keeps the digits near 0, the other far from it.
fn ln_one_minus_exp(x: f64) -> f64 {
    if x > -std::f64::consts::LN_2 { (-libm::expm1(x)).ln() } else { libm::log1p(-libm::exp(x)) }
}

/// Pairs of distributions of two outcomes with D_α = ρ in the larger direction, from rare outcomes to likely ones.
///
/// Each of them is a mechanism with this RDP, so no conversion may promise a better (ε, δ) than that of the pair. For δ
/// given ε the best pair has two outcomes or is a mixture of two such (Asoodeh et al. 2021).
pub(super) fn extreme_pairs(rdp: f64, order: Order) -> Result<Vec<DistributionPair>> {
    let neighbor = VoteHistogram::new(vec![1])?;
    LOGITS
        .map(|logit| {
            let logit = f64::from(logit);
            let ln_p = [-softplus(-logit), -softplus(logit)];
            // In logarithms: next to order 1 an outcome may have a probability of e^-60000 under the other
            // distribution.
            let of_q = |ln_q: f64| [ln_q, ln_one_minus_exp(ln_q)];
            let fits = |ln_q: f64| {
                let ln_q = of_q(ln_q);
                let divergence = |p, q| bernoulli_renyi_of_logs(p, q, order);
                divergence(ln_p, ln_q).max(divergence(ln_q, ln_p)) <= rdp * (1.0 - ROUNDING)
            };
            // q below p, as far as it goes: at the lower end p^α q^{1-α} alone is e^{(α-1)ρ}.
            let a = order.get();
            let (mut low, mut high) = (ln_p[0] * a / (a - 1.0) - rdp, ln_p[0]);
            for _ in 0..HALVINGS {
                let middle = 0.5 * (low + high);
                if fits(middle) { high = middle } else { low = middle }
            }
            let distribution = |logs: [f64; 2]| {
                OutcomeDistribution::from_integrals(
                    &logs.map(|ln_value| LogIntegral { ln_value, error: 4.0 * f64::EPSILON * (1.0 + ln_value.abs()) }),
                )
            };
            Ok(DistributionPair {
                distributions: OutputPair::new(distribution(ln_p)?, distribution(of_q(high))?)?,
                neighbor: neighbor.clone(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::Direction;
    use crate::divergence::delta_of_rdp;
    use crate::quantity::Epsilon;

    /// The pairs have the divergence and no more, and come close to what the conversion promises.
    #[test]
    fn pairs_have_the_divergence_and_nearly_the_delta() {
        let mut closest = 0.0f64;
        for (rdp, a, epsilon) in
            [(0.5, 2.0, 3.0), (0.1, 8.0, 0.5), (3.0, 20.0, 3.5), (1e-3, 1.5, 0.1), (20.0, 400.0, 20.0)]
        {
            let (order, epsilon) = (Order::new(a).unwrap(), Epsilon::new(epsilon).unwrap());
            let promised = delta_of_rdp(rdp, order, epsilon);
            for pair in extreme_pairs(rdp, order).unwrap() {
                for direction in Direction::BOTH {
                    assert!(pair.distributions.renyi(direction, order) <= rdp * (1.0 + 1e-9) + 1e-14);
                    let share = pair.distributions.delta(direction, epsilon) / promised;
                    assert!(share <= 1.0 + 1e-9, "{rdp} {a}: {share}");
                    closest = closest.max(share);
                }
            }
        }
        assert!(closest > 0.9, "{closest}");
    }
}
