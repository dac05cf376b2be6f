//! The votes of every model, a batch of samples or one sample at a time.

use super::alias::{AliasTables, whole};
use super::argmax::batch_size;
use super::halves::Halves;
use super::parties::PartyVotes;
use super::stream::{Stream, World};
use super::votes::MultinomialVotes;
use crate::model::{PateModel, PrivateKnnModel, VoteModel};
use rand::Rng;
use std::sync::Arc;

/// A sampler of the votes in both worlds.
#[derive(Debug, Clone)]
pub(super) enum Votes {
    /// Random votes of `voters`, with the change under the neighbor.
    Multinomial { voters: u64, votes: MultinomialVotes, change: Change },
    /// Every party by its own distribution.
    Parties(PartyVotes),
    /// (H_c - max H)/s in both worlds.
    Fixed([Vec<f64>; 2]),
}

/// The change under the neighbor, with an alias table.
#[derive(Debug, Clone)]
pub(super) enum Change {
    /// This many of the voters vote by this distribution.
    Marked { changed: u64, distribution: Arc<AliasTables> },
    /// Each of this many points, if it is included, adds a vote for its label and takes one away by this distribution.
    Added { points: u64, inclusion: f64, label: usize, last: Arc<AliasTables> },
}

impl Change {
    /// The largest number of points that a model adds.
    const MAX_POINTS: u64 = 64;
}

/// Whether a point is included, given the first half of a random word and a way to generate the second one: with a
/// probability rounded to 2^-53.
#[inline(always)]
fn includes(inclusion: f64, half: u32, rest: impl FnOnce() -> u32) -> bool {
    let most = inclusion * 4_294_967_296.0;
    let near = f64::from(half);
    if near + 1.0 <= most {
        true
    } else if near >= most {
        false
    } else {
        (whole(half, rest()) >> 11) as f64 * 2f64.powi(-53) < inclusion
    }
}

impl Votes {
    /// The votes of a model, given 1/s for fixed ones.
    pub(super) fn new(model: &VoteModel, inverse_scale: f64) -> Self {
        match model {
            VoteModel::Pate(model) => Self::of_teachers(model),
            VoteModel::Capc(model) => Self::Parties(PartyVotes::new(model)),
            VoteModel::PrivateKnn(model) => Self::of_neighbors(model),
            VoteModel::PromptPate(model) => {
                let worlds = [model.histogram(), model.histogram_neighbor()];
                Self::Fixed(worlds.map(|histogram| deficits(histogram.counts(), inverse_scale)))
            }
        }
    }

    fn of_teachers(model: &PateModel) -> Self {
        let (voters, changed) = (model.teachers(), model.changed_teachers());
        Self::Multinomial {
            voters,
            votes: MultinomialVotes::new(voters, changed, model.probabilities()),
            change: Change::Marked { changed, distribution: Arc::new(AliasTables::of(model.probabilities_marked())) },
        }
    }

    fn of_neighbors(model: &PrivateKnnModel) -> Self {
        Self::Multinomial {
            voters: model.neighbors(),
            votes: MultinomialVotes::new(model.neighbors(), 0, model.probabilities()),
            change: Change::Added {
                points: model.points(),
                inclusion: model.inclusion(),
                label: model.label(),
                last: Arc::new(AliasTables::of(model.probabilities_last())),
            },
        }
    }

    /// Number of samples drawn together: more if many large tables are read for them, each from distant memory.
    pub(super) fn batch(&self, classes: usize) -> usize {
        batch_size(classes) * if matches!(self, Self::Parties(parties) if parties.are_grouped()) { 4 } else { 1 }
    }

    /// Number of entries used by the votes of a sample while they are drawn.
    pub(super) fn room(&self, classes: usize) -> usize {
        match self {
            Self::Multinomial { votes, .. } => votes.room(),
            Self::Parties(_) => classes,
            Self::Fixed(_) => 0,
        }
    }

    /// Whether samples are drawn one at a time, for the large number of voters.
    pub(super) fn one_by_one(&self) -> bool {
        matches!(self, Self::Multinomial { voters, .. } if *voters + Change::MAX_POINTS >= 1 << 31)
    }

    /// The largest number of votes that [`Votes::draw`] can give a class.
    pub(super) fn most(&self) -> u64 {
        match self {
            Self::Multinomial { voters, .. } => voters + 2 * self.raised(),
            Self::Parties(parties) => parties.parties(),
            Self::Fixed(_) => 0,
        }
    }

    /// The number added to every class of the neighbor in Private-kNN, so that no vote is negative.
    pub(super) fn raised(&self) -> u64 {
        match self {
            Self::Multinomial { change: Change::Added { points, .. }, .. } => *points,
            _ => 0,
        }
    }

    /// Draws the random votes of one sample; in Private-kNN, with the same number added to every class.
    pub(super) fn draw_one(&self, world: World, stream: &mut Stream, histogram: &mut [u64]) {
        let Self::Multinomial { voters, votes, change } = self else { return };
        match (change, world) {
            (_, World::Dataset) => votes.draw_one(*voters, stream, histogram),
            (Change::Marked { changed, distribution }, World::Neighbor) => {
                votes.draw_one(voters - changed, stream, histogram);
                for _ in 0..*changed {
                    histogram[distribution.draw(stream.next_u64())] += 1;
                }
            }
            (Change::Added { points, inclusion, label, last }, World::Neighbor) => {
                votes.draw_one(*voters, stream, histogram);
                histogram.iter_mut().for_each(|votes| *votes += points);
                for _ in 0..*points {
                    let word = stream.next_u64();
                    if includes(*inclusion, (word >> 32) as u32, || word as u32) {
                        histogram[*label] += 1;
                        histogram[last.draw(stream.next_u64())] -= 1;
                    }
                }
            }
        }
    }

    /// Draws the votes of a batch, those of class c in sample s at `batch` c + s; in Private-kNN, with the same number
    /// added to every class.
    pub(super) fn draw(&self, world: World, stream: &mut Stream, words: &mut Halves, histogram: &mut [u32]) {
        let batch = words.len();
        match (self, world) {
            (Self::Multinomial { voters, votes, .. }, World::Dataset) => {
                votes.draw(*voters as u32, stream, words, histogram);
            }
            (
                Self::Multinomial { voters, votes, change: Change::Marked { changed, distribution } },
                World::Neighbor,
            ) => {
                votes.draw((voters - changed) as u32, stream, words, histogram);
                for _ in 0..*changed {
                    words.renew(stream);
                    let (distribution, rest) = (distribution.reader(), words.rest());
                    for (sample, &half) in words.first().iter().enumerate() {
                        histogram[batch * distribution.draw(half, || rest.half(sample)) + sample] += 1;
                    }
                }
            }
            (
                Self::Multinomial { voters, votes, change: Change::Added { points, inclusion, label, last } },
                World::Neighbor,
            ) => {
                votes.draw(*voters as u32, stream, words, histogram);
                // Room for the displaced labels of a class that has no vote.
                histogram.iter_mut().for_each(|votes| *votes += *points as u32);
                for _ in 0..*points {
                    words.renew(stream);
                    let rest = words.rest();
                    let included = words.first().iter().enumerate();
                    let included: Vec<u32> = included
                        .map(|(sample, &half)| includes(*inclusion, half, || rest.half(sample)).into())
                        .collect();
                    words.renew(stream);
                    let (last, rest) = (last.reader(), words.rest());
                    for ((sample, &half), included) in words.first().iter().enumerate().zip(included) {
                        histogram[batch * label + sample] += included;
                        histogram[batch * last.draw(half, || rest.half(sample)) + sample] -= included;
                    }
                }
            }
            (Self::Parties(parties), _) => parties.draw(world, stream, words, histogram),
            (Self::Fixed(_), _) => {}
        }
    }
}

/// (H_c - max H)/s for every class; `-inf` if it overflows.
pub(super) fn deficits(votes: &[u64], inverse_scale: f64) -> Vec<f64> {
    let most = votes.iter().copied().max().unwrap_or(0);
    votes.iter().map(|&votes| -((most - votes) as i64 as f64) * inverse_scale).collect()
}
