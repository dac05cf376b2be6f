//! One answer of a mechanism that may abstain.

use super::engine::Sampler;
use super::noise::fill_noise;
use super::stream::{Stream, World};
use crate::distribution::{Noise, ThresholdForm, ThresholdTest};
use crate::histogram::VoteHistogram;

/// Draws one answer of Confident-GNMax, or of the noisy argmax if there is no test: the class, or `None` if the test
/// failed. The noise of the test comes first; ties, which have probability 0, go to the first class.
///
/// ```
/// # use leakbound::distribution::{ThresholdForm, ThresholdTest};
/// # use leakbound::prelude::*;
/// # use leakbound::simulate::{Stream, StreamId, World, draw_confident_answer};
/// let test = ThresholdTest::new(5.0, NoiseScale::new(0.1)?, ThresholdForm::Max)?;
/// let mut stream = Stream::new(StreamId { seed: 0, query: 0, world: World::Dataset, block: 0 });
/// let mut draw = |counts: [u64; 2]| -> Result<_> {
///     Ok(draw_confident_answer(&VoteHistogram::new(counts.to_vec())?, Some(&test), "gaussian:0.1".parse()?, &mut stream))
/// };
/// assert_eq!([draw([2, 9])?, draw([2, 3])?], [Some(1), None]);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[must_use]
pub fn draw_confident_answer(
    histogram: &VoteHistogram,
    test: Option<&ThresholdTest>,
    noise: Noise,
    stream: &mut Stream,
) -> Option<usize> {
    answer(histogram.counts(), test, noise, stream, &mut vec![0.0; histogram.classes()])
}

/// One answer; `draws` is scratch space for one draw per class.
fn answer(
    counts: &[u64],
    test: Option<&ThresholdTest>,
    noise: Noise,
    stream: &mut Stream,
    draws: &mut [f64],
) -> Option<usize> {
    if let Some(test) = test {
        let draws = if test.form() == ThresholdForm::Max { &mut draws[..1] } else { &mut *draws };
        fill_noise(Noise::Gaussian(test.sigma()), stream, draws);
        let largest = match test.form() {
            ThresholdForm::Max => counts.iter().copied().max().unwrap_or(0) as f64 + draws[0],
            ThresholdForm::PerClass => {
                counts.iter().zip(draws).map(|(&count, noise)| count as f64 + *noise).fold(f64::NEG_INFINITY, f64::max)
            }
        };
        if !(largest >= test.threshold()) {
            return None;
        }
    }
    fill_noise(noise, stream, draws);
    let noisy = |class: usize| counts[class] as f64 + draws[class];
    Some((1..counts.len()).fold(0, |best, class| if noisy(class) > noisy(best) { class } else { best }))
}

/// The noisy argmax after a threshold test, in both worlds; its first outcome is abstention.
///
/// ```
/// # use leakbound::distribution::{ThresholdForm, ThresholdTest};
/// # use leakbound::prelude::*;
/// # use leakbound::simulate::ConfidentSampler;
/// let votes = [[7, 6], [6, 7]].map(|counts| VoteHistogram::new(counts.to_vec()).unwrap());
/// let test = ThresholdTest::new(5.0, NoiseScale::new(1.0)?, ThresholdForm::Max)?;
/// let sampler = ConfidentSampler::new(votes, test, "gaussian:2".parse()?);
/// let counts = simulate(&sampler, Simulation::new(1_000)?, |_| ())?;
/// assert_eq!(counts.counts().len(), 3);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ConfidentSampler {
    votes: [VoteHistogram; 2],
    test: ThresholdTest,
    noise: Noise,
}

impl ConfidentSampler {
    /// With the votes of both worlds, which have the same classes.
    ///
    /// # Panics
    /// If the votes have different numbers of classes.
    #[must_use]
    pub fn new(votes: [VoteHistogram; 2], test: ThresholdTest, noise: Noise) -> Self {
        assert_eq!(votes[0].classes(), votes[1].classes(), "votes of different numbers of classes");
        Self { votes, test, noise }
    }
}

impl Sampler for ConfidentSampler {
    fn outcomes(&self) -> usize {
        self.votes[0].classes() + 1
    }

    fn sample_block(&self, world: World, stream: &mut Stream, samples: u64, counts: &mut [u64]) {
        let votes = self.votes[world.index()].counts();
        let mut draws = vec![0.0; votes.len()];
        for _ in 0..samples {
            let answer = answer(votes, Some(&self.test), self.noise, stream, &mut draws);
            counts[answer.map_or(0, |class| class + 1)] += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::confident_argmax_distribution;
    use crate::quantity::NoiseScale;
    use crate::simulate::StreamId;
    use crate::variate::p_value;

    /// A correct program fails one of the two with probability 2e-6.
    #[test]
    fn answers_follow_the_distribution() {
        let histogram = VoteHistogram::new(vec![7, 6, 2, 0]).unwrap();
        let noise: Noise = "gaussian:2".parse().unwrap();
        for form in [ThresholdForm::Max, ThresholdForm::PerClass] {
            let test = ThresholdTest::new(8.0, NoiseScale::new(3.0).unwrap(), form).unwrap();
            let distribution = confident_argmax_distribution(&histogram, &test, noise).unwrap();
            let mut stream = Stream::new(StreamId { seed: 5, query: 0, world: World::Dataset, block: 0 });
            let mut counts = [0u64; 5];
            for _ in 0..200_000 {
                let answer = draw_confident_answer(&histogram, Some(&test), noise, &mut stream);
                counts[answer.map_or(0, |class| class + 1)] += 1;
            }
            let p = p_value(&counts, distribution.p());
            println!("{form}: p = {p}");
            assert!(p > 1e-6, "{form}: {counts:?} {distribution:?}");
        }
    }
}
