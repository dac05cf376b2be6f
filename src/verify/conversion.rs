//! What follows from one Rényi divergence: accountants that convert it, and pairs of laws that have it.

use super::accountant::{Accountant, Answer, Scope};
use super::curve::{ToDelta, ToEpsilon};
use super::laws::LawPair;
use super::request::{Mechanism, MechanismKind, Question, Request};
use crate::divergence::{bernoulli_renyi, classic_epsilon_of_rdp, delta_of_rdp, epsilon_of_rdp};
use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::law::OutcomeLaw;
use crate::quadrature::LogIntegral;
use crate::quantity::Order;
use crate::special::softplus;

/// By Balle et al. (2020), Theorem 21.
pub(super) const NAME: &str = "rdp-conversion";
/// By Mironov (2017), Proposition 3.
pub(super) const CLASSIC_NAME: &str = "rdp-conversion-classic";

/// ε and δ of an RDP value at one order.
#[derive(Clone, Copy)]
pub(super) struct ConversionAccountant {
    pub name: &'static str,
    pub to_epsilon: ToEpsilon,
    pub to_delta: ToDelta,
}

pub(super) const IMPROVED: ConversionAccountant = ConversionAccountant {
    name: NAME,
    to_epsilon: |rdp, order, delta| epsilon_of_rdp(rdp, order, delta).get(),
    to_delta: delta_of_rdp,
};

pub(super) const CLASSIC: ConversionAccountant = ConversionAccountant {
    name: CLASSIC_NAME,
    to_epsilon: |rdp, order, delta| classic_epsilon_of_rdp(rdp, order, delta).get(),
    // ρ + ln(1/δ)/(α-1) = ε solved for δ.
    to_delta: |rdp, order, epsilon| libm::exp((order.get() - 1.0) * (rdp - epsilon.get())).min(1.0),
};

impl Accountant for ConversionAccountant {
    fn name(&self) -> String {
        self.name.into()
    }

    fn answer(&self, request: &Request) -> Answer {
        let Mechanism::Conversion { rdp, rdp_order } = request.mechanism else {
            return Answer::Declined(format!("{} is no conversion", request.mechanism.kind().name()));
        };
        let rdp = rdp * f64::from(request.repetitions);
        match request.question {
            Question::Delta(delta) => Answer::Value((self.to_epsilon)(rdp, rdp_order, delta)),
            Question::Epsilon(epsilon) => Answer::Value((self.to_delta)(rdp, rdp_order, epsilon)),
            Question::Order(_) => Answer::Declined("a conversion has no Rényi divergence of its own".into()),
        }
    }

    fn mechanisms(&self) -> Vec<MechanismKind> {
        vec![MechanismKind::Conversion]
    }

    fn scope(&self) -> Scope {
        Scope::DataIndependent
    }
}

/// Logits of P at which a pair is formed.
const LOGITS: std::ops::RangeInclusive<i32> = -36..=12;
/// Halvings of the interval of ln q.
const HALVINGS: u32 = 60;

/// Pairs of laws of two outcomes with D_α = ρ in the larger direction, from rare outcomes to likely ones.
///
/// Each of them is a mechanism with this RDP, so that its (ε, δ) is one that no conversion may promise to improve. For δ
/// given ε the best pair has two outcomes or is a mixture of two such (Asoodeh et al. 2021).
pub(super) fn extreme_pairs(rdp: f64, order: Order) -> Result<Vec<LawPair>> {
    let neighbor = VoteHistogram::new(vec![1])?;
    LOGITS
        .map(|logit| {
            let logit = f64::from(logit);
            let (ln_p, ln_not_p) = (-softplus(-logit), -softplus(logit));
            let p = (libm::exp(ln_p), libm::exp(ln_not_p));
            let fits = |ln_q: f64| {
                let q = (libm::exp(ln_q), -libm::expm1(ln_q));
                bernoulli_renyi(p, q, order).max(bernoulli_renyi(q, p, order)) <= rdp
            };
            // q below p, as far as it goes: at the lower end p^α q^{1-α} alone is e^{(α-1)ρ}.
            let a = order.get();
            let (mut low, mut high) = (ln_p * a / (a - 1.0) - rdp, ln_p);
            for _ in 0..HALVINGS {
                let middle = 0.5 * (low + high);
                if fits(middle) { high = middle } else { low = middle }
            }
            let law = |ln_value: f64, ln_other: f64| {
                let row = |ln_value: f64| LogIntegral { ln_value, error: 4.0 * f64::EPSILON * (1.0 + ln_value.abs()) };
                OutcomeLaw::from_integrals(&[row(ln_value), row(ln_other)])
            };
            let ln_not_q = libm::log1p(-libm::exp(high));
            Ok(LawPair { p: law(ln_p, ln_not_p)?, q: law(high, ln_not_q)?, neighbor: neighbor.clone() })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::{hockey_stick, renyi_divergence};
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
                for (p, q) in [(&pair.p, &pair.q), (&pair.q, &pair.p)] {
                    assert!(renyi_divergence(p, q, order).unwrap() <= rdp * (1.0 + 1e-9) + 1e-14);
                    let share = hockey_stick(p, q, epsilon).unwrap() / promised;
                    assert!(share <= 1.0 + 1e-9, "{rdp} {a}: {share}");
                    closest = closest.max(share);
                }
            }
        }
        assert!(closest > 0.9, "{closest}");
    }
}
