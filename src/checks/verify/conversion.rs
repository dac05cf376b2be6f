//! Accountants that convert one Rényi divergence.

use super::accountant::{Accountant, AccountantAnswer, ClaimScope};
use super::curve::{ToDelta, ToEpsilon};
use super::known_rdp::{CONVERSION, KnownRdp};
use super::request::{Question, Request};
use crate::divergence::{classic_epsilon_of_rdp, delta_of_rdp, epsilon_of_rdp};
use crate::mechanism::MechanismKind;

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

    fn answer(&self, request: &Request) -> AccountantAnswer {
        let Some(&KnownRdp { rdp, order }) = request.mechanism.downcast() else {
            return AccountantAnswer::Declined(format!("{} is not a conversion", request.mechanism.kind()));
        };
        let rdp = rdp * f64::from(request.repetitions);
        match request.question {
            Question::Delta(delta) => AccountantAnswer::Value((self.to_epsilon)(rdp, order, delta)),
            Question::Epsilon(epsilon) => AccountantAnswer::Value((self.to_delta)(rdp, order, epsilon)),
            Question::Order(_) => AccountantAnswer::Declined("a conversion has no Rényi divergence of its own".into()),
        }
    }

    fn mechanisms(&self) -> Vec<&'static MechanismKind> {
        vec![CONVERSION]
    }

    fn scope(&self) -> ClaimScope {
        ClaimScope::DataIndependent
    }
}
