//! Any protocol of one voter, with only a sample of the voters, drawn without replacement, answering.

use super::randomized_response::only_vote;
use super::wrapped::{CELLS, OF, SeldomSampler, base_of, drawn_of, least, mixed, of_subsample};
use super::{
    Bins, BothLosses, DataKind, LargestLoss, Mechanism, MechanismKind, OPTIMIZED_UNARY, Parameter, Parameters,
    RANDOMIZED_RESPONSE, SUBSAMPLED_GAUSSIAN_REPLACE, SYMMETRIC_UNARY, draw, rejected, required,
};
use crate::accountant::{Statement, Theorem, WorstCases, rdp_of_profiles, without_replacement_rdp};
use crate::bound::Direction;
use crate::distribution::OutcomeDistribution;
use crate::divergence::{EnclosedLoss, PrivacyLoss};
use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::quantity::{Order, Probability};
use crate::simulate::Sampler;
use std::sync::{Arc, OnceLock};

/// A mechanism of one voter's vote, with a share of the voters drawn without replacement. Neighbors differ in one vote.
///
/// The exact distribution is that of one answer of a drawn voter, if all other voters vote for the first class: with
/// R_v the outputs for the vote v, (1-γ) R_1 + γ R_v. The theorems hold for a sample of any size and any other votes.
/// Given the other drawn voters, and the one drawn instead of the voter who is not, the outputs are (1-γ) A + γ B
/// against (1-γ) A + γ B', where A, B and B' are outputs for neighbors. With P against Q the worst pair of neighbors,
/// at ε ≥ 0 no profile is above that of (1-γ) Q + γ P against Q (advanced joint convexity), and at ε < 0 none is above
/// that of P against (1-γ) P + γ Q. The enclosure from above is one loss with the larger of the two at every ε. No
/// single pair of datasets needs to attain it.
///
/// If the outputs are those of [`subsampled-gaussian-replace`](super::SUBSAMPLED_GAUSSIAN_REPLACE) with rate 1, this is
/// a sum of vectors over a sample of fixed size with Gaussian noise.
///
/// ```
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::mechanism::parse;
/// let [first, other] = [vec![1, 0], vec![0, 1]].map(|vote| VoteHistogram::new(vote).unwrap());
/// let sampled = parse("without-replacement:rate=0.1,of=[randomized-response:sigma=1]")?;
/// let [_, reverse] = sampled.enclosed_losses(&first, &other, 100)?;
/// // ln(1 + γ (e^ε - 1)) with ε = 1.
/// assert!((reverse.at_least.largest() - (0.9 + 0.1 * 1f64.exp()).ln()).abs() < 1e-9);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Balle, Barthe and Gaboardi (2018), "Privacy amplification by subsampling: tight analyses via couplings and
/// divergences", Theorem 2 and the one for sampling without replacement; Zhu, Dong and Wang (2022), "Optimal accounting
/// of differential privacy via characteristic function", Theorem 11; Lebeda, Regehr, Kamath and Steinke (2024),
/// "Avoiding pitfalls for privacy accounting of subsampled mechanisms under composition".
#[derive(Debug, Clone)]
pub struct SampledVoters {
    rate: Probability,
    base: Arc<dyn Mechanism>,
}

/// A mechanism of one voter, who is drawn without replacement.
pub const WITHOUT_REPLACEMENT: &MechanismKind = &MechanismKind {
    name: "without-replacement",
    example: "without-replacement:rate=0.5,of=[randomized-response:sigma=1]",
    data: DataKind::OneVoter,
    parameters: &[Parameter::number("rate", &[0.5, 0.1]), Parameter::word(OF)],
    releases: Some(
        "a mechanism of the one vote, where a share of the voters is drawn without replacement and all others vote \
         for the first class",
    ),
    theorems: &[&SAMPLED],
    noise_hides: false,
    read: |parameters| {
        let rate = parameters.probability("rate")?;
        let base = base_of(parameters, DataKind::OneVoter)?;
        required(base.treats_classes_alike(), format_args!("{OF} = {} does not treat all classes alike", base.kind()))?;
        Ok(Arc::new(SampledVoters { rate, base }))
    },
    draw_data: draw::one_of_two,
    draw: |stream, _| {
        let rate = draw::rate(stream)?;
        let kinds = [RANDOMIZED_RESPONSE, SYMMETRIC_UNARY, OPTIMIZED_UNARY, SUBSAMPLED_GAUSSIAN_REPLACE];
        Some(Arc::new(SampledVoters { rate, base: drawn_of(&kinds, stream)? }))
    },
};

static SAMPLED: Statement = Statement::for_any_data(
    "without-replacement",
    "a mechanism on a sample without replacement",
    "Balle, Barthe and Gaboardi (2018) and Zhu, Dong and Wang (2022), Theorem 11, by the moments of the privacy loss, \
     and leakbound, without_replacement_rdp",
)
.certified(1e-3);

impl SampledVoters {
    /// The share of the voters that is drawn.
    #[must_use]
    pub const fn rate(&self) -> Probability {
        self.rate
    }

    /// The mechanism that runs on the sample.
    #[must_use]
    pub fn base(&self) -> &dyn Mechanism {
        &*self.base
    }

    /// The losses with the largest profile at ε ≥ 0 and at ε < 0.
    fn profiles(&self, classes: usize, bins: usize) -> Result<[PrivacyLoss; 2]> {
        let [worst, _] = self.base.enclosed_losses(&vote(classes, 0)?, &vote(classes, 1)?, bins)?;
        Ok([worst.with_seldom(self.rate).at_most, worst.against_seldom(self.rate).at_most])
    }

    /// A loss that dominates those of all data and neighbors. All votes are alike, so one pair is the worst.
    fn dominating(&self, classes: usize, bins: usize) -> Result<PrivacyLoss> {
        PrivacyLoss::dominating(&self.profiles(classes, bins)?).ok_or_else(|| rejected("there are no losses".into()))
    }

    fn theorem(&self, data: &VoteHistogram, known: &WorstCases) -> Theorem {
        let (theorems, mechanism, classes) = (self.base.theorems_for(data, known), self.clone(), data.classes());
        let profiles: OnceLock<Option<[PrivacyLoss; 2]>> = OnceLock::new();
        Theorem::alike(&SAMPLED, move |order| {
            let profiles = profiles.get_or_init(|| mechanism.profiles(classes, CELLS).ok());
            let bound = |order: Order| of_subsample(&theorems, mechanism.rate, order);
            let moments = profiles
                .as_ref()
                .map_or(f64::INFINITY, |[above, below]| rdp_of_profiles(order, [above, below], &bound));
            moments.min(without_replacement_rdp(order, mechanism.rate, mechanism.of_base(&theorems, order)))
        })
    }

    fn of_base(&self, theorems: &[Theorem], order: Order) -> f64 {
        Direction::BOTH.map(|direction| least(theorems, order, direction)).into_iter().fold(0.0, f64::max)
    }
}

/// The vote of one voter.
fn vote(classes: usize, class: usize) -> Result<VoteHistogram> {
    let mut counts = vec![0; classes];
    *counts.get_mut(class).ok_or_else(|| rejected("there is one class only".into()))? = 1;
    VoteHistogram::new(counts)
}

impl Mechanism for SampledVoters {
    fn kind(&self) -> &'static MechanismKind {
        WITHOUT_REPLACEMENT
    }

    fn parameters(&self) -> Parameters {
        Parameters::default().with("rate", self.rate.get()).with_word(OF, &self.base.to_string())
    }

    fn theorems_for(&self, data: &VoteHistogram, known: &WorstCases) -> Vec<Theorem> {
        vec![self.theorem(data, known)]
    }

    fn largest_loss(&self, data: &VoteHistogram) -> LargestLoss {
        self.base.largest_loss(data).of_subsample(self.rate)
    }

    fn output_distribution(&self, data: &VoteHistogram, bins: Bins) -> Result<OutcomeDistribution> {
        let own = self.base.output_distribution(data, bins)?;
        if only_vote(data)? == 0 {
            return Ok(own);
        }
        mixed(&self.base.output_distribution(&vote(data.classes(), 0)?, bins)?, &own, self.rate)
    }

    fn sampler(&self, data: &VoteHistogram, neighbor: &VoteHistogram, bins: Bins) -> Result<Box<dyn Sampler>> {
        let others = vote(data.classes(), 0)?;
        let worlds = [self.base.sampler(&others, data, bins)?, self.base.sampler(&others, neighbor, bins)?];
        Ok(Box::new(SeldomSampler { worlds, rate: self.rate.get() }))
    }

    /// At least the losses of this pair, at most those of any other.
    fn enclosed_losses(&self, data: &VoteHistogram, neighbor: &VoteHistogram, bins: usize) -> Result<BothLosses> {
        let at_most = self.dominating(data.classes(), bins)?;
        let votes = [only_vote(data)?, only_vote(neighbor)?];
        let lower = if votes[0] == votes[1] || !votes.contains(&0) {
            // Bins are post-processing.
            (self as &dyn Mechanism).known_losses(data, neighbor)?
        } else {
            let [forward, reverse] = self.base.enclosed_losses(data, neighbor, bins)?;
            if votes[0] == 0 {
                [forward.against_seldom(self.rate), reverse.with_seldom(self.rate)]
            } else {
                [forward.with_seldom(self.rate), reverse.against_seldom(self.rate)]
            }
        };
        Ok(lower.map(|loss| EnclosedLoss { at_least: loss.at_least, at_most: at_most.clone() }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use crate::quantity::Epsilon;

    /// δ of an enclosure at ε, from below and from above.
    fn deltas(loss: &EnclosedLoss, epsilon: f64) -> [f64; 2] {
        super::super::tests::deltas(loss.clone(), 1, 1e-4, epsilon)
    }

    /// γ δ at ln(1 + γ (e^ε - 1)): the theorem of Balle, Barthe and Gaboardi, written out for randomized response.
    #[test]
    fn the_profile_of_a_sample_is_that_of_the_theorem() {
        let [first, other] = [0, 1].map(|class| vote(3, class).unwrap());
        for (epsilon, rate) in [(1.0, 0.1), (3.0, 0.5), (0.2, 0.9)] {
            let text = format!("without-replacement:rate={rate},of=[randomized-response:sigma={}]", 1.0 / epsilon);
            let [forward, reverse] = parse(&text).unwrap().enclosed_losses(&first, &other, 100).unwrap();
            for at in [0.0, 0.2, 0.7] {
                // δ of randomized response with three answers.
                let (e, total) = (libm::exp(epsilon), libm::exp(epsilon) + 2.0);
                let own = at * epsilon;
                let truth = rate * (e - libm::exp(own)) / total;
                let place = libm::log1p(rate * libm::expm1(own));
                let [_, upper] = deltas(&forward, place);
                let [lower, _] = deltas(&reverse, place);
                assert!(lower <= truth + 1e-12 && truth <= upper + 1e-12, "{text} {at}: {lower} {truth} {upper}");
                assert!(upper - lower < 1e-3 * truth + 1e-9, "{text} {at}: {lower} {truth} {upper}");
            }
        }
    }

    /// No votes of the others and of the voter leak more than the theorem.
    #[test]
    fn no_mixture_of_three_votes_is_above_the_theorem() {
        let text = "without-replacement:rate=0.3,of=[subset-selection:sigma=0.8,size=2]";
        let mechanism = parse(text).unwrap();
        let data = [0, 1, 2, 3].map(|class| vote(4, class).unwrap());
        let base = mechanism.downcast::<SampledVoters>().unwrap().base();
        let [a, b, c] = [1, 2, 3].map(|class| base.output_distribution(&data[class], Bins::at(None)).unwrap());
        let rate = Probability::new(0.3).unwrap();
        let (one, other) = (mixed(&a, &b, rate).unwrap(), mixed(&a, &c, rate).unwrap());
        let pair = crate::distribution::OutputPair::new(one, other).unwrap();
        let loss = &mechanism.enclosed_losses(&data[2], &data[3], 100).unwrap()[0];
        for epsilon in [0.0, 0.1, 0.3] {
            let found = pair.delta(Direction::Forward, Epsilon::new(epsilon).unwrap());
            assert!(found <= deltas(loss, epsilon)[1] + 1e-12, "{epsilon}: {found}");
        }
        let theorem = &mechanism.theorems_for(&data[0], &WorstCases::default())[0];
        for a in [1.5, 2.0, 20.0] {
            let order = Order::new(a).unwrap();
            let bound = theorem.at(order, Direction::Forward).unwrap().value;
            assert!(pair.renyi(Direction::Forward, order) <= bound);
        }
    }

    #[test]
    fn what_has_no_votes_is_rejected() {
        let error = |text: &str| parse(text).unwrap_err().to_string();
        assert!(
            error("without-replacement:rate=0.1,of=[laplace:sigma=1]")
                .contains("not one of the mechanisms of the vote")
        );
        let mechanism = parse("without-replacement:rate=0.1,of=[randomized-response:sigma=1]").unwrap();
        let one = VoteHistogram::new(vec![1]).unwrap();
        assert!(mechanism.enclosed_losses(&one, &one, 100).is_err());
    }
}
