//! One voter who answers at random.

use super::one_by_one::one_by_one;
use super::pure::finite;
use super::{
    Bins, BothLosses, DataKind, LargestLoss, Mechanism, MechanismKind, Parameter, Parameters, draw, rejected, required,
};
use crate::accountant::{Statement, Theorem, WorstCases, k_ary_randomized_response_rdp, randomized_response_rdp};
use crate::distribution::OutcomeDistribution;
use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::quadrature::LogIntegral;
use crate::quantity::{Epsilon, NoiseScale, Probability};
use crate::simulate::Sampler;
use rand::RngExt;
use std::sync::Arc;

/// The true answer is e^ε times as likely as each other answer. The data are the vote of one voter, who has one
/// possible answer per class; neighbors differ in the true answer.
///
/// ```
/// # use leakbound::bound::Direction;
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::mechanism::{Bins, Mechanism, RandomizedResponse};
/// # use leakbound::quantity::{Epsilon, Order};
/// let mechanism = RandomizedResponse::new(Epsilon::new(1.0)?)?;
/// let order = Order::new(2.0)?;
/// let [truth, other] = [vec![1, 0, 0], vec![0, 1, 0]].map(|votes| VoteHistogram::new(votes).unwrap());
/// let pair = (&mechanism as &dyn Mechanism).output_pair(&truth, &other, Bins::at(None))?;
/// let exact = pair.renyi(Direction::Forward, order);
/// for theorem in mechanism.theorems(3) {
///     let bound = theorem.at(order, Direction::Forward).unwrap().value;
///     assert!(exact <= bound && bound < exact * (1.0 + 1e-12));
/// }
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Warner (1965); Kairouz, Oh and Viswanath (2016), "Extremal mechanisms for local differential privacy".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomizedResponse {
    /// 1/ε.
    scale: NoiseScale,
}

/// The class of the only voter, e^{1/sigma} times as likely as each other class.
pub const RANDOMIZED_RESPONSE: &MechanismKind = &MechanismKind {
    name: "randomized-response",
    example: "randomized-response:sigma=1",
    data: DataKind::OneVoter,
    // 1/ε, as Laplace noise of this scale gives ε.
    parameters: &[Parameter::noise("sigma")],
    releases: Some("the one vote, e^(1/`sigma`) times as likely as each other class"),
    theorems: &[&K_ARY, &BINARY],
    noise_hides: true,
    read: |parameters| Ok(Arc::new(RandomizedResponse { scale: parameters.scale("sigma")? })),
    draw_data: draw::one_vote,
    draw: |stream, _| Some(Arc::new(RandomizedResponse { scale: draw::scale(stream)? })),
};

static K_ARY: Statement = Statement::for_any_data(
    "k-ary-randomized-response",
    "one answer of several, by randomized response",
    "Mironov (2017), Proposition 5, for any number of answers",
);
static BINARY: Statement = Statement::for_any_data(
    "randomized-response",
    "a yes or no, by randomized response",
    "Mironov (2017), Proposition 5",
);

impl RandomizedResponse {
    /// With this ε.
    ///
    /// # Errors
    /// [`Error::Domain`](crate::Error::Domain) for an infinite ε and for 0.
    pub fn new(epsilon: Epsilon) -> Result<Self> {
        Ok(Self { scale: NoiseScale::new(epsilon.get().recip())? })
    }

    /// ε; infinite if the scale is so small that 1/ε overflows.
    fn epsilon(self) -> f64 {
        self.scale.get().recip()
    }

    /// The theorem for any number of answers, and the one for two.
    #[must_use]
    pub fn theorems(&self, answers: usize) -> Vec<Theorem> {
        // An infinite ε gives no guarantee.
        let Some(epsilon) = finite(self.epsilon()) else { return Vec::new() };
        let mut theorems = Vec::new();
        if answers >= 2 {
            theorems.push(Theorem::alike(&K_ARY, move |order| {
                k_ary_randomized_response_rdp(order, epsilon, answers as u64).unwrap_or(f64::INFINITY)
            }));
        }
        // The probability of the rare answer, whose digits are those of ε. It underflows to 0 from ε = 745 on.
        let rare = libm::exp(-epsilon.get());
        if let (2, Ok(rare)) = (answers, Probability::new(rare / (1.0 + rare))) {
            theorems.push(Theorem::alike(&BINARY, move |order| randomized_response_rdp(order, rare)));
        }
        theorems
    }

    /// ln of the probability of the truth.
    fn ln_truth(self, answers: usize) -> f64 {
        -libm::log1p((answers as f64 - 1.0) * libm::exp(-self.epsilon()))
    }
}

/// The class of the one voter.
pub(super) fn only_vote(data: &VoteHistogram) -> Result<usize> {
    let counts = data.counts();
    let one = counts.iter().fold(0u64, |sum, &count| sum.saturating_add(count)) == 1;
    let voted = counts.iter().position(|&count| count == 1).filter(|_| one);
    voted.ok_or_else(|| rejected("the data are the vote of one voter".into()))
}

impl Mechanism for RandomizedResponse {
    fn kind(&self) -> &'static MechanismKind {
        RANDOMIZED_RESPONSE
    }

    fn parameters(&self) -> Parameters {
        Parameters::default().with("sigma", self.scale.get())
    }

    fn theorems_for(&self, data: &VoteHistogram, _: &WorstCases) -> Vec<Theorem> {
        self.theorems(data.classes())
    }

    fn is_local(&self) -> bool {
        true
    }

    fn treats_classes_alike(&self) -> bool {
        true
    }

    fn largest_loss(&self, _: &VoteHistogram) -> LargestLoss {
        LargestLoss::over(1.0, self.scale)
    }

    fn output_distribution(&self, data: &VoteHistogram, _: Bins) -> Result<OutcomeDistribution> {
        let truth = only_vote(data)?;
        required(self.epsilon() < f64::INFINITY, "an infinite epsilon always answers the truth")?;
        let ln_truth = self.ln_truth(data.classes());
        let row = |answer: usize| {
            let ln_value = if answer == truth { ln_truth } else { ln_truth - self.epsilon() };
            LogIntegral { ln_value, error: 4.0 * f64::EPSILON * (1.0 + ln_value.abs()) }
        };
        OutcomeDistribution::from_integrals(&(0..data.classes()).map(row).collect::<Vec<_>>())
    }

    fn sampler(&self, data: &VoteHistogram, neighbor: &VoteHistogram, _: Bins) -> Result<Box<dyn Sampler>> {
        let reason = format_args!("{} answers, and {} of the neighbor", data.classes(), neighbor.classes());
        required(data.classes() == neighbor.classes(), reason)?;
        let truths = [only_vote(data)?, only_vote(neighbor)?];
        let (answers, honest) = (data.classes(), libm::exp(self.ln_truth(data.classes())));
        Ok(one_by_one(answers, move |world, stream| {
            let truth = truths[world.index()];
            if answers == 1 || stream.random_bool(honest) {
                return truth;
            }
            // One of the others.
            let answer = stream.random_range(0..answers - 1);
            answer + usize::from(answer >= truth)
        }))
    }

    fn enclosed_losses(&self, data: &VoteHistogram, neighbor: &VoteHistogram, _: usize) -> Result<BothLosses> {
        (self as &dyn Mechanism).known_losses(data, neighbor)
    }
}
