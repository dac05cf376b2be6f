//! The noisy argmax of the random votes of a model of private prediction.

use super::{NoisyArgmax, SubsampledGaussian};
use crate::accountant::{FlipProbability, Theorem, WorstCases, log_flip_probability_of_parties};
use crate::distribution::{Noise, OutputPair};
use crate::error::Result;
use crate::model::{CapcModel, PateModel, PrivateKnnModel, VoteModel};
use crate::quantity::Probability;

/// The largest number of parties whose votes are convolved: seconds of work for ten classes.
const MOST_PARTIES: usize = 10_000;

/// A noisy argmax whose votes are random: one query of a vote model.
///
/// ```
/// # use leakbound::accountant::WorstCases;
/// # use leakbound::bound::Direction;
/// # use leakbound::mechanism::RandomVotes;
/// # use leakbound::model::PateModel;
/// # use leakbound::quantity::Order;
/// let model = PateModel::new(10, &[0.1492, 0.5883, 0.2625], &[0.5036, 0.1086, 0.3878])?.into();
/// let mechanism = RandomVotes { model: &model, noise: "gaussian:4".parse()?, rate: None };
/// let pair = mechanism.output_pair()?;
/// let order = Order::new(2.0)?;
/// for theorem in mechanism.theorems(&pair, &WorstCases::default()) {
///     assert!(pair.renyi(Direction::Reverse, order) <= theorem.at(order, Direction::Reverse).unwrap().value);
/// }
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Chadha et al. (2024), "Auditing Private Prediction".
#[derive(Debug, Clone, Copy)]
pub struct RandomVotes<'a> {
    /// The votes under the dataset and under its neighbor.
    pub model: &'a VoteModel,
    /// The noise on every count.
    pub noise: Noise,
    /// The rate of the Poisson subsample of Private-kNN. Without it, the bounds ignore the amplification.
    pub rate: Option<Probability>,
}

impl RandomVotes<'_> {
    /// The distributions of the answer under the dataset and under its neighbor.
    ///
    /// # Errors
    /// Those of [`VoteModel::output_pair`].
    pub fn output_pair(&self) -> Result<OutputPair> {
        self.model.output_pair(self.noise)
    }

    /// The theorems that bound one answer; `pair` contains the distributions of [`Self::output_pair`].
    ///
    /// For random votes, q is the probability, under each dataset, that the likeliest class is not printed: the theorem
    /// holds for any mechanism with the RDP of the argmax, including training. For fixed votes, q is the union bound of
    /// the literature. The distribution of CaPC is a series, not a bound, so there q is also a union bound. All changed
    /// points of CaPC belong to one party, which has one vote.
    #[must_use]
    pub fn theorems(&self, pair: &OutputPair, known: &WorstCases) -> Vec<Theorem> {
        let argmax = NoisyArgmax::new(self.noise);
        match self.model {
            VoteModel::PromptPate(model) => {
                argmax.theorems_for_pair(model.histogram(), model.histogram_neighbor(), known)
            }
            VoteModel::Pate(model) => self.pate(model, pair, known),
            VoteModel::Capc(model) => argmax.theorems_for_random_votes(self.capc_flip(model), 1, known),
            VoteModel::PrivateKnn(model) => self.private_knn(model, known),
        }
    }

    fn pate(&self, model: &PateModel, pair: &OutputPair, known: &WorstCases) -> Vec<Theorem> {
        let argmax = NoisyArgmax::new(self.noise);
        // The possible error of the distribution is added, because q must not be too small.
        let [p, q] = [pair.dataset(), pair.neighbor()].map(|distribution| {
            (distribution.complement()[distribution.mode()] * (1.0 + 2.0 * distribution.error())).ln().min(0.0)
        });
        let points = model.changed_teachers();
        let mut theorems = argmax.theorems_for_random_votes(Some(FlipProbability::new(p, q)), points, known);
        theorems.extend(group(argmax.any_votes(), points));
        theorems
    }

    fn capc_flip(&self, model: &CapcModel) -> Option<FlipProbability> {
        let Noise::Gaussian(sigma) = self.noise else { return None };
        if model.parties() > MOST_PARTIES {
            return None;
        }
        let mut marked = model.probabilities().to_vec();
        marked[0] = model.probabilities_marked().to_vec();
        let [p, q] =
            [model.probabilities(), &marked[..]].map(|parties| log_flip_probability_of_parties(parties, sigma));
        Some(FlipProbability::new(p, q))
    }

    fn private_knn(&self, model: &PrivateKnnModel, known: &WorstCases) -> Vec<Theorem> {
        let (argmax, points) = (NoisyArgmax::new(self.noise), model.points());
        match (self.noise, self.rate) {
            (Noise::Gaussian(sigma), Some(rate)) => {
                let subsample = SubsampledGaussian { sigma, rate };
                let mut theorems = vec![subsample.of_votes(points)];
                theorems.extend(group(subsample.of_votes(1), points));
                theorems
            }
            // Without the subsampling, which only helps.
            _ => {
                let mut theorems = argmax.theorems_for_random_votes(None, points, known);
                theorems.extend(group(argmax.any_votes(), points));
                theorems
            }
        }
    }
}

/// Group privacy, from the theorem for one point.
fn group(one: Theorem, points: u64) -> Option<Theorem> {
    if points > 1 { one.of_group(points) } else { None }
}
