//! The mechanism that most private prediction ends with: noise on the votes, and the class with the most.

use super::alias;
use super::engine::Mechanism;
use super::noise::{UnitGaussian, UnitLaplace, UnitNoise};
use super::stream::{Stream, World};
use super::votes::MultinomialVotes;
use crate::law::Noise;
use crate::model::{CapcModel, PateModel, PrivateKnnModel, VoteModel};
use rand::{Rng, RngExt};
use std::sync::Arc;

/// argmax_c (H_c + Z_c): votes of a [`VoteModel`] with independent [`Noise`] on each class.
///
/// One sample draws, in this order, the votes under P (class by class, most likely first), under the neighbour the
/// vote of the changed voter under P', and the noise of the classes 0 to C-1. Votes are compared as differences from
/// the largest, in units of the noise: (H_c - max H)/s + Z_c/s, so that nothing is lost where the noise is far smaller
/// than the votes. Two classes tie only where their noise agrees to the last bits of a double, with probability below
/// 1e-13 for ten classes; then the first wins.
///
/// Building one makes the tables of the vote sampler: a few milliseconds and 2 MB for 250 voters and 10 classes, at
/// most 32 MB. Copies share them.
///
/// # Example
/// ```
/// use leakbound::{NoisyArgmax, PateModel, Simulation, simulate};
///
/// let model = PateModel::new(10, &[0.1492, 0.5883, 0.2625], &[0.5036, 0.1086, 0.3878])?;
/// let mechanism = NoisyArgmax::new(&model.into(), "gaussian:4".parse()?);
/// let counts = simulate(&mechanism, Simulation::new(100_000)?.seed(1), |_| ())?;
/// // The exact laws give class 0 a probability of 0.15952 and, under the neighbour, 0.18899.
/// assert!((counts.counts()[0] as f64 / 1e5 - 0.15952).abs() < 0.004);
/// assert!((counts.counts_neighbor()[0] as f64 / 1e5 - 0.18899).abs() < 0.004);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2018), "Scalable private learning with PATE", section 4.1 (GNMax); Chadha et al. (2024), "Auditing
/// Private Prediction", section 5.
#[derive(Debug, Clone)]
pub struct NoisyArgmax {
    votes: Votes,
    classes: usize,
    noise: Noise,
    /// 1/s, finite.
    inverse_scale: f64,
}

#[derive(Debug, Clone)]
enum Votes {
    /// Random votes of `voters`, of whom `changed` are `marked` under the neighbour: an alias table of P'.
    Multinomial { voters: u64, votes: MultinomialVotes, marked: Arc<[u64]>, changed: u64 },
    /// One alias table per party, the same size each; that of the changed party last.
    Parties { tables: Arc<[u64]> },
    /// Random labels of `neighbors`; each of `points` is included with probability `inclusion` and displaces a label
    /// drawn from the alias table `last`.
    Neighbors { neighbors: u64, votes: MultinomialVotes, last: Arc<[u64]>, inclusion: f64, label: usize, points: u64 },
    /// (H_c - max H)/s in both worlds.
    Fixed([Vec<f64>; 2]),
}

impl NoisyArgmax {
    /// The mechanism of one query.
    #[must_use]
    pub fn new(model: &VoteModel, noise: Noise) -> Self {
        // The inverse of a subnormal scale is infinite, and 0 times that is no number.
        let inverse_scale = noise.scale().recip().min(f64::MAX);
        let votes = match model {
            VoteModel::Pate(model) => Votes::multinomial(model),
            VoteModel::Capc(model) => Votes::parties(model),
            VoteModel::PrivateKnn(model) => Votes::neighbors(model),
            VoteModel::PromptPate(model) => {
                let worlds = [model.histogram(), model.histogram_neighbor()];
                Votes::Fixed(worlds.map(|histogram| deficits(histogram.counts(), inverse_scale).collect()))
            }
        };
        Self { votes, classes: model.classes(), noise, inverse_scale }
    }

    fn sample<N: UnitNoise>(&self, world: World, stream: &mut Stream, samples: u64, counts: &mut [u64]) {
        match &self.votes {
            Votes::Multinomial { voters, votes, marked, changed } => {
                let mut histogram = vec![0; self.classes];
                for _ in 0..samples {
                    match world {
                        World::Dataset => votes.draw(*voters, stream, &mut histogram),
                        World::Neighbor => {
                            votes.draw(voters - changed, stream, &mut histogram);
                            for _ in 0..*changed {
                                histogram[alias::draw(marked, stream.next_u64())] += 1;
                            }
                        }
                    }
                    counts[winner::<N>(deficits(&histogram, self.inverse_scale), stream)] += 1;
                }
            }
            Votes::Parties { tables } => {
                let mut rows: Vec<&[u64]> = tables.chunks_exact(self.classes).collect();
                let changed = rows.pop().unwrap_or(&[]);
                if world == World::Neighbor {
                    rows[0] = changed;
                }
                let mut histogram = vec![0; self.classes];
                for _ in 0..samples {
                    histogram.fill(0);
                    for row in &rows {
                        histogram[alias::draw(row, stream.next_u64())] += 1;
                    }
                    counts[winner::<N>(deficits(&histogram, self.inverse_scale), stream)] += 1;
                }
            }
            Votes::Neighbors { neighbors, votes, last, inclusion, label, points } => {
                let mut histogram = vec![0; self.classes];
                let points = if world == World::Dataset { 0 } else { *points };
                for _ in 0..samples {
                    votes.draw(*neighbors, stream, &mut histogram);
                    // Room for the displaced labels of a class that has no vote.
                    histogram.iter_mut().for_each(|votes| *votes += points);
                    for _ in 0..points {
                        if stream.random_bool(*inclusion) {
                            histogram[*label] += 1;
                            histogram[alias::draw(last, stream.next_u64())] -= 1;
                        }
                    }
                    counts[winner::<N>(deficits(&histogram, self.inverse_scale), stream)] += 1;
                }
            }
            Votes::Fixed(worlds) => {
                let deficits = &worlds[world.index()];
                for _ in 0..samples {
                    counts[winner::<N>(deficits.iter().copied(), stream)] += 1;
                }
            }
        }
    }
}

impl Votes {
    fn multinomial(model: &PateModel) -> Self {
        let mut marked = Vec::with_capacity(model.classes());
        alias::append_table(&mut marked, model.probabilities_marked());
        let (k, p) = (model.teachers(), model.probabilities());
        // The tables of the first class hold k and k - 1 voters only.
        let votes =
            if model.changed_teachers() > 1 { MultinomialVotes::by_formula(p) } else { MultinomialVotes::new(k, p) };
        Self::Multinomial { voters: model.teachers(), votes, marked: marked.into(), changed: model.changed_teachers() }
    }

    fn parties(model: &CapcModel) -> Self {
        let mut tables = Vec::with_capacity((model.parties() + 1) * model.classes());
        for p in model.probabilities() {
            alias::append_table(&mut tables, p);
        }
        alias::append_table(&mut tables, model.probabilities_marked());
        Self::Parties { tables: tables.into() }
    }

    fn neighbors(model: &PrivateKnnModel) -> Self {
        let mut last = Vec::with_capacity(model.classes());
        alias::append_table(&mut last, model.probabilities_last());
        Self::Neighbors {
            neighbors: model.neighbors(),
            votes: MultinomialVotes::new(model.neighbors(), model.probabilities()),
            last: last.into(),
            inclusion: model.inclusion(),
            label: model.label(),
            points: model.points(),
        }
    }
}

impl Mechanism for NoisyArgmax {
    fn outcomes(&self) -> usize {
        self.classes
    }

    fn sample_block(&self, world: World, stream: &mut Stream, samples: u64, counts: &mut [u64]) {
        match self.noise {
            Noise::Gaussian(_) => self.sample::<UnitGaussian>(world, stream, samples, counts),
            Noise::Laplace(_) => self.sample::<UnitLaplace>(world, stream, samples, counts),
        }
    }
}

/// (H_c - max H)/s for every class; `-inf` where that is beyond all doubles.
#[inline]
fn deficits(votes: &[u64], inverse_scale: f64) -> impl Iterator<Item = f64> {
    let most = votes.iter().copied().max().unwrap_or(0);
    votes.iter().map(move |&votes| -((most - votes) as i64 as f64) * inverse_scale)
}

/// The first class of those with the largest sum of deficit and noise.
#[inline]
fn winner<N: UnitNoise>(deficits: impl Iterator<Item = f64>, stream: &mut Stream) -> usize {
    let (mut winner, mut most) = (0, f64::NEG_INFINITY);
    for (class, deficit) in deficits.enumerate() {
        let sum = deficit + N::draw(stream);
        if sum > most {
            (winner, most) = (class, sum);
        }
    }
    winner
}

#[cfg(test)]
mod tests {
    use super::super::stream::StreamId;
    use super::*;
    use crate::histogram::VoteHistogram;
    use crate::model::PromptPateModel;
    use proptest::prelude::*;

    fn prompts(counts: [u64; 3], noise: &str) -> NoisyArgmax {
        let histogram = VoteHistogram::new(counts.to_vec()).unwrap();
        let model = PromptPateModel::new(histogram.clone(), histogram).unwrap();
        NoisyArgmax::new(&model.into(), noise.parse().unwrap())
    }

    fn counts(mechanism: &NoisyArgmax, samples: u64) -> Vec<u64> {
        let mut counts = vec![0; mechanism.outcomes()];
        let mut stream = Stream::new(StreamId { seed: 5, query: 0, world: World::Dataset, block: 0 });
        mechanism.sample_block(World::Dataset, &mut stream, samples, &mut counts);
        counts
    }

    /// Leaders share the wins however small the noise: five standard deviations, 6e-7 per count.
    #[test]
    fn noise_decides_between_leaders_at_every_scale() {
        let even = |counts: Vec<u64>| counts[0] == 0 && counts[1].abs_diff(5000) < 250;
        for noise in ["gaussian:1e-20", "laplace:1e-20", "gaussian:5e-324", "laplace:1e-308"] {
            assert!(even(counts(&prompts([0, 1 << 53, 1 << 53], noise), 10_000)), "{noise}");
        }
        let thirds = |counts: Vec<u64>| counts.iter().all(|count| count.abs_diff(3333) < 236);
        for noise in ["gaussian:1e300", "laplace:1.7976931348623157e308"] {
            assert!(thirds(counts(&prompts([0, 0, 1 << 53], noise), 10_000)), "{noise}");
        }
    }

    struct Silence;

    impl UnitNoise for Silence {
        fn draw(_: &mut Stream) -> f64 {
            0.0
        }
    }

    #[test]
    fn the_first_of_equals_wins() {
        let mut stream = Stream::new(StreamId { seed: 0, query: 0, world: World::Dataset, block: 0 });
        assert_eq!(winner::<Silence>([-1.0, 0.0, 0.0].into_iter(), &mut stream), 1);
        assert_eq!(winner::<Silence>([f64::NEG_INFINITY, -1.0].into_iter(), &mut stream), 1);
    }

    proptest! {
        #[test]
        fn every_sample_is_counted(
            votes in prop::collection::vec(0..1u64 << 53, 1..6),
            changed in prop::collection::vec(0..1u64 << 53, 1..6),
            k in prop_oneof![1..300u64, Just(1u64 << 53)],
            scale in prop_oneof![Just(f64::MIN_POSITIVE), Just(f64::MAX), 1e-3..1e3f64],
            laplace: bool,
        ) {
            let noise = format!("{}:{scale:e}", if laplace { "laplace" } else { "gaussian" }).parse().unwrap();
            let mut models: Vec<VoteModel> = Vec::new();
            models.extend(PateModel::from_votes(k, &votes, &changed).ok().map(VoteModel::from));
            let histograms = [votes, changed].map(|votes| VoteHistogram::new(votes).unwrap());
            let [first, second] = histograms;
            models.extend(PromptPateModel::new(first, second).ok().map(VoteModel::from));
            for model in models {
                let mechanism = NoisyArgmax::new(&model, noise);
                for world in World::ALL {
                    let mut counts = vec![0; model.classes()];
                    let mut stream = Stream::new(StreamId { seed: 0, query: 0, world, block: 0 });
                    mechanism.sample_block(world, &mut stream, 20, &mut counts);
                    prop_assert_eq!(counts.iter().sum::<u64>(), 20);
                }
            }
        }
    }
}
