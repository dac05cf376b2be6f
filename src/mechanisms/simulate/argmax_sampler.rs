//! The mechanism that ends most private predictions: noise on the votes, and the class with the most.

use super::argmax::Argmax;
use super::coarse::Coarse;
use super::deficits::{Few, Fixed, Random};
use super::engine::Sampler;
use super::halves::Halves;
use super::model_votes::{Votes, deficits};
use super::noise::{UnitGaussian, UnitLaplace, UnitNoise};
use super::stream::{Stream, World};
use crate::distribution::Noise;
use crate::model::VoteModel;
use rand::Rng;

/// argmax_c (H_c + Z_c): votes of a [`VoteModel`] with independent [`Noise`] on each class.
///
/// Votes are compared as differences from the largest, in units of the noise: (H_c - max H)/s + Z_c/s, so nothing is
/// lost if the noise is far smaller than the votes. The noise is drawn by inversion, and for each draw only the random
/// bits that the comparison needs are computed: 32 for most, and 96 in double precision with tails down to 2^-97 if
/// those leave it open. Two classes tie only if their noise agrees to the last bits of a double, with probability below
/// 1e-13 for ten classes; then the first one wins.
///
/// Construction builds the tables of the vote sampler: a few milliseconds and 1 MB for 250 voters and 10 classes, at
/// most 192 MiB for many voters and classes; the part that does not fit is drawn without tables. Copies share them.
/// With 2^31 or more voters, samples are drawn one at a time.
///
/// # Example
/// ```
/// use leakbound::model::PateModel;
/// use leakbound::simulate::{ArgmaxSampler, Simulation, simulate};
///
/// let model = PateModel::new(10, &[0.1492, 0.5883, 0.2625], &[0.5036, 0.1086, 0.3878])?;
/// let mechanism = ArgmaxSampler::new(&model.into(), "gaussian:4".parse()?);
/// let counts = simulate(&mechanism, Simulation::new(100_000)?.seed(1), |_| ())?;
/// // The exact distributions give class 0 a probability of 0.15952 and, under the neighbor, 0.18899.
/// assert!((counts.counts()[0] as f64 / 1e5 - 0.15952).abs() < 0.004);
/// assert!((counts.counts_neighbor()[0] as f64 / 1e5 - 0.18899).abs() < 0.004);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2018), "Scalable private learning with PATE", section 4.1 (GNMax); Chadha et al. (2024), "Auditing
/// Private Prediction", sections 5 and 6.
#[derive(Debug, Clone)]
pub struct ArgmaxSampler {
    votes: Votes,
    classes: usize,
    noise: Noise,
    coarse: Coarse,
    /// 1/s, finite.
    inverse_scale: f64,
}

impl ArgmaxSampler {
    /// The mechanism of one query.
    #[must_use]
    pub fn new(model: &VoteModel, noise: Noise) -> Self {
        // The inverse of a subnormal scale is infinite, and 0 times that is NaN.
        let inverse_scale = noise.scale().recip().min(f64::MAX);
        let coarse = match noise {
            Noise::Gaussian(_) => Coarse::of::<UnitGaussian>(),
            Noise::Laplace(_) => Coarse::of::<UnitLaplace>(),
        };
        Self { votes: Votes::new(model, inverse_scale), classes: model.classes(), noise, coarse, inverse_scale }
    }

    fn sample<N: UnitNoise>(&self, world: World, stream: &mut Stream, samples: u64, counts: &mut [u64]) {
        if self.votes.one_by_one() {
            return self.sample_one_by_one::<N>(world, stream, samples, counts);
        }
        let batch = self.votes.batch(self.classes);
        let mut words = Halves::new(stream, batch);
        let mut argmax = Argmax::<N>::new(self.classes, batch, &self.coarse);
        let mut votes = vec![0; batch * self.votes.room(self.classes)];
        let (mut most, mut tally) = (vec![0; batch], Tally::new(self.classes));
        let fixed = match &self.votes {
            Votes::Fixed(worlds) => Some(Fixed::new(&worlds[world.index()])),
            Votes::Multinomial { .. } | Votes::Parties(_) => None,
        };
        let few = Few::are(self.votes.most(), self.inverse_scale);
        let mut left = samples;
        while left > 0 {
            let winners = if let Some(fixed) = &fixed {
                argmax.winners(fixed, &mut words.lanes, stream)
            } else {
                self.votes.draw(world, stream, &mut words, &mut votes);
                let votes = &votes[..batch * self.classes];
                if few {
                    argmax.winners(&Few::new(votes, batch, self.inverse_scale), &mut words.lanes, stream)
                } else {
                    argmax.winners(&Random::new(votes, &mut most, self.inverse_scale), &mut words.lanes, stream)
                }
            };
            let used = left.min(batch as u64);
            tally.add(&winners[..used as usize]);
            left -= used;
        }
        tally.add_to(counts);
    }

    /// The same for any number of voters.
    fn sample_one_by_one<N: UnitNoise>(&self, world: World, stream: &mut Stream, samples: u64, counts: &mut [u64]) {
        let mut histogram = vec![0; self.classes];
        for _ in 0..samples {
            self.votes.draw_one(world, stream, &mut histogram);
            let (mut winner, mut most) = (0, f64::NEG_INFINITY);
            for (class, deficit) in deficits(&histogram, self.inverse_scale).into_iter().enumerate() {
                let sum = deficit + N::exact(stream.next_u32(), stream.next_u64());
                if sum > most {
                    (winner, most) = (class, sum);
                }
            }
            counts[winner] += 1;
        }
    }
}

/// Counts of winners: four of each class, used in turn, because a count that was written must be read back before it
/// can be incremented again.
struct Tally(Vec<[u64; 4]>);

impl Tally {
    fn new(classes: usize) -> Self {
        Self(vec![[0; 4]; classes])
    }

    fn add(&mut self, winners: &[u32]) {
        let (fours, rest) = winners.as_chunks::<4>();
        for four in fours {
            for (turn, &winner) in four.iter().enumerate() {
                self.0[winner as usize][turn] += 1;
            }
        }
        for &winner in rest {
            self.0[winner as usize][0] += 1;
        }
    }

    fn add_to(&self, counts: &mut [u64]) {
        counts.iter_mut().zip(&self.0).for_each(|(count, turns)| *count += turns.iter().sum::<u64>());
    }
}

impl Sampler for ArgmaxSampler {
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

#[cfg(test)]
mod tests {
    use super::super::stream::StreamId;
    use super::*;
    use crate::histogram::VoteHistogram;
    use crate::model::PateModel;
    use crate::model::PromptPateModel;
    use proptest::prelude::*;

    fn prompts(counts: [u64; 3], noise: &str) -> ArgmaxSampler {
        let histogram = VoteHistogram::new(counts.to_vec()).unwrap();
        let model = PromptPateModel::new(histogram.clone(), histogram).unwrap();
        ArgmaxSampler::new(&model.into(), noise.parse().unwrap())
    }

    fn counts(mechanism: &ArgmaxSampler, samples: u64) -> Vec<u64> {
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
                let mechanism = ArgmaxSampler::new(&model, noise);
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
