//! One answer of a mechanism that may abstain.

use super::noise::fill_noise;
use super::stream::Stream;
use crate::histogram::VoteHistogram;
use crate::law::{Noise, ThresholdForm, ThresholdTest};

/// Draws one answer of Confident-GNMax, or of the noisy argmax where there is no test: the class, or none where the
/// test failed. The noise of the test comes first; ties, which have probability 0, go to the first class.
///
/// ```
/// # use leakbound::*;
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
    let counts = histogram.counts();
    if let Some(test) = test {
        let mut draws = vec![0.0; if test.form() == ThresholdForm::Max { 1 } else { counts.len() }];
        fill_noise(Noise::Gaussian(test.sigma()), stream, &mut draws);
        let largest = match test.form() {
            ThresholdForm::Max => counts.iter().copied().max().unwrap_or(0) as f64 + draws[0],
            ThresholdForm::PerClass => {
                counts.iter().zip(&draws).map(|(&count, noise)| count as f64 + noise).fold(f64::NEG_INFINITY, f64::max)
            }
        };
        if !(largest >= test.threshold()) {
            return None;
        }
    }
    let mut draws = vec![0.0; counts.len()];
    fill_noise(noise, stream, &mut draws);
    let noisy = |class: usize| counts[class] as f64 + draws[class];
    Some((1..counts.len()).fold(0, |best, class| if noisy(class) > noisy(best) { class } else { best }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::confident_argmax_law;
    use crate::quantity::NoiseScale;
    use crate::simulate::{StreamId, World, p_value};

    /// A correct program fails one of the two with probability 2e-6.
    #[test]
    fn answers_follow_the_law() {
        let histogram = VoteHistogram::new(vec![7, 6, 2, 0]).unwrap();
        let noise: Noise = "gaussian:2".parse().unwrap();
        for form in [ThresholdForm::Max, ThresholdForm::PerClass] {
            let test = ThresholdTest::new(8.0, NoiseScale::new(3.0).unwrap(), form).unwrap();
            let law = confident_argmax_law(&histogram, &test, noise).unwrap();
            let mut stream = Stream::new(StreamId { seed: 5, query: 0, world: World::Dataset, block: 0 });
            let mut counts = [0u64; 5];
            for _ in 0..200_000 {
                let answer = draw_confident_answer(&histogram, Some(&test), noise, &mut stream);
                counts[answer.map_or(0, |class| class + 1)] += 1;
            }
            let p = p_value(&counts, law.p());
            println!("{form}: p = {p}");
            assert!(p > 1e-6, "{form}: {counts:?} {law:?}");
        }
    }
}
