//! How often the value of a property is inferred correctly.

use crate::bound::Interval;
use crate::error::{Error, Result};
use crate::interval::{BinomialCounts, clopper_pearson};
use crate::quantity::FailureProbability;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// The accuracy of an attack on networks whose property values are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InferenceAccuracy {
    /// Networks whose value was inferred.
    pub right: BinomialCounts,
    /// Clopper-Pearson interval of the accuracy.
    pub interval: Interval,
    /// Permutation p-value.
    pub p_value: f64,
}

impl InferenceAccuracy {
    /// right/networks.
    #[must_use]
    pub fn accuracy(&self) -> f64 {
        self.right.successes() as f64 / self.right.trials() as f64
    }
}

/// How many of the `inferred` values are the `truths`, with an interval and a p-value.
///
/// The interval is that of Clopper and Pearson for the rate of correct answers on networks drawn as these were, with
/// the attack as it was trained; networks must be drawn independently. With equal numbers of each value the count
/// varies less than that (Hoeffding 1956), so the interval errs on the safe side.
///
/// The p-value tests whether the inferred values have anything to do with the truth: the share, among the
/// `permutations` and the truth itself, of assignments of the truths to the networks under which no fewer answers are
/// right. It is exact if networks of different values are exchangeable to the attack, for any number of values and of
/// permutations. An attack that always gives the same answer has p = 1.
///
/// # Errors
/// [`Error::Length`] for another number of truths than inferred values; [`Error::Domain`] without networks.
///
/// # Example
/// ```
/// # use leakbound::property::inference_accuracy;
/// # use leakbound::quantity::FailureProbability;
/// let truths: Vec<usize> = (0..40).map(|network| network % 2).collect();
/// let accuracy = inference_accuracy(&truths, &truths, FailureProbability::new(0.05)?, 999, 0)?;
/// assert!(accuracy.accuracy() == 1.0 && accuracy.interval.lower > 0.91 && accuracy.p_value == 0.001);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Clopper and Pearson (1934); Hoeffding (1956), "On the distribution of the number of successes in independent trials",
/// theorem 5. Ojala and Garriga (2010), "Permutation tests for studying classifier performance", test 1.
pub fn inference_accuracy(
    inferred: &[usize],
    truths: &[usize],
    failure: FailureProbability,
    permutations: usize,
    seed: u64,
) -> Result<InferenceAccuracy> {
    same_length(inferred, truths)?;
    let right = |truths: &[usize]| inferred.iter().zip(truths).filter(|(inferred, truth)| inferred == truth).count();
    let observed = right(truths);
    let counts = BinomialCounts::new(observed as u64, truths.len() as u64)?;
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    let mut shuffled = truths.to_vec();
    let as_many = (0..permutations).filter(|_| {
        shuffled.shuffle(&mut stream);
        right(&shuffled) >= observed
    });
    let p_value = (1 + as_many.count()) as f64 / (1 + permutations) as f64;
    Ok(InferenceAccuracy { right: counts, interval: clopper_pearson(counts, failure)?, p_value })
}

pub(super) fn same_length(inferred: &[usize], truths: &[usize]) -> Result<()> {
    if inferred.len() == truths.len() {
        return Ok(());
    }
    let expected = format!("{}, one for each network", truths.len());
    Err(Error::length("inferred values", inferred.len(), expected))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    fn failure(value: f64) -> FailureProbability {
        FailureProbability::new(value).unwrap()
    }

    /// With two values of equally many networks the number of right answers is twice a hypergeometric number, up to a
    /// constant.
    #[test]
    fn the_p_value_is_that_of_fisher() {
        let truths = [0, 0, 0, 0, 1, 1, 1, 1];
        let inferred = [0, 0, 0, 1, 1, 1, 1, 0];
        // Tea tasting: 17 of the 70 assignments have at least 3 of 4.
        let found = inference_accuracy(&inferred, &truths, failure(0.05), 99_999, 3).unwrap();
        println!("{found:?}");
        // Six standard errors: false alarms in 2e-9 of seeds.
        assert!((found.p_value - 17.0 / 70.0).abs() < 6.0 * (0.243 * 0.757 / 1e5_f64).sqrt());
        assert_eq!(found.right.successes(), 6);
        let same = inference_accuracy(&[1; 8], &truths, failure(0.05), 99, 3).unwrap();
        assert_eq!((same.p_value, same.accuracy()), (1.0, 0.5));
    }

    /// At most 10% of attacks that guess have a p-value of at most 0.1, up to five standard errors (false alarms in
    /// 3e-7 of seeds), for three values that are not equally frequent.
    #[test]
    fn guesses_have_no_small_p_values() {
        const ATTACKS: u32 = 600;
        let mut stream = ChaCha8Rng::seed_from_u64(8);
        let small = (0..ATTACKS).filter(|&attack| {
            let truths: Vec<usize> = (0..50).map(|_| stream.random_range(0..4usize).min(2)).collect();
            let inferred: Vec<usize> = (0..50).map(|_| stream.random_range(0..3)).collect();
            inference_accuracy(&inferred, &truths, failure(0.05), 99, attack.into()).unwrap().p_value <= 0.1
        });
        let small = small.count() as f64;
        println!("{small} of {ATTACKS}");
        assert!(small < f64::from(ATTACKS) * 0.1 + 5.0 * (f64::from(ATTACKS) * 0.09).sqrt());
    }

    #[test]
    fn what_cannot_be_compared_is_rejected() {
        let rejected = |inferred: &[usize], truths: &[usize]| {
            inference_accuracy(inferred, truths, failure(0.05), 9, 0).unwrap_err().to_string()
        };
        assert_eq!(rejected(&[0], &[0, 1]), "inferred values has length 1; expected 2, one for each network");
        assert_eq!(rejected(&[], &[]), "trials = 0 is not in [1, 2^53]");
    }
}
