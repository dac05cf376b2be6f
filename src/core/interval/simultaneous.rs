//! Simultaneous ranges of all proportions of a multinomial.

use super::binomial::{BinomialCounts, ProportionLimit, clopper_pearson_lower, clopper_pearson_upper};
use crate::counts::checked_total;
use crate::error::{Error, Result};
use crate::quantity::FailureProbability;

/// A range for one proportion, each end with its complement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProportionRange {
    /// Lower end.
    pub lower: ProportionLimit,
    /// Upper end.
    pub upper: ProportionLimit,
}

/// Clopper-Pearson ranges of all C proportions that hold simultaneously except with probability `failure`, for every n.
///
/// Each of the 2C tails gets `failure`/(2C) (union bound). Two classes need only two tails, because p_1 ≥ x and p_2 ≤
/// 1 - x are the same event; a single class certainly has proportion 1.
///
/// # Errors
/// [`Error::Length`] for no classes, [`Error::Domain`] for a total of 0 or above 2^53; as [`clopper_pearson_lower`].
///
/// # Example
/// ```
/// # use leakbound::interval::clopper_pearson_simultaneous;
/// # use leakbound::quantity::FailureProbability;
/// let ranges = clopper_pearson_simultaneous(&[25, 25], FailureProbability::new(0.2)?)?;
/// // Two classes: each tail at 0.1, as in the example of `clopper_pearson_lower`.
/// assert!((ranges[0].lower.value - 0.400_860_210_426_686_8).abs() < 1e-13);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn clopper_pearson_simultaneous(counts: &[u64], failure: FailureProbability) -> Result<Vec<ProportionRange>> {
    let trials = total(counts)?;
    if counts.len() == 1 {
        let one = ProportionLimit::ONE;
        return Ok(vec![ProportionRange { lower: one, upper: one }]);
    }
    let tail = failure.split(if counts.len() == 2 { 2 } else { 2 * counts.len() });
    let range = |&count: &u64| {
        let counts = BinomialCounts::new(count, trials)?;
        Ok(ProportionRange { lower: clopper_pearson_lower(counts, tail)?, upper: clopper_pearson_upper(counts, tail)? })
    };
    counts.iter().map(range).collect()
}

/// The sum of the counts, between 1 and 2^53.
pub(super) fn total(counts: &[u64]) -> Result<u64> {
    Error::check_length(!counts.is_empty(), "counts", 0, "at least 1 outcome")?;
    checked_total(counts, "trials")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::MAX_COUNT;

    fn failure(f: f64) -> FailureProbability {
        FailureProbability::new(f).unwrap()
    }

    #[test]
    fn two_classes_share_their_tails_and_one_class_is_certain() {
        let [first, second] = clopper_pearson_simultaneous(&[3, 7], failure(0.1)).unwrap()[..] else { panic!() };
        assert_eq!(first.lower.value, second.upper.complement);
        let alone = clopper_pearson_lower(BinomialCounts::new(3, 10).unwrap(), failure(0.05)).unwrap();
        assert_eq!(first.lower, alone);
        let three = clopper_pearson_simultaneous(&[3, 7, 0], failure(0.1)).unwrap();
        assert_eq!(
            three[1].upper,
            clopper_pearson_upper(BinomialCounts::new(7, 10).unwrap(), failure(0.1 / 6.0)).unwrap()
        );
        assert_eq!(clopper_pearson_simultaneous(&[5], failure(0.1)).unwrap()[0].lower.value, 1.0);
    }

    #[test]
    fn impossible_totals_are_named() {
        assert!(matches!(total(&[]), Err(Error::Length { .. })));
        assert!(matches!(total(&[0, 0]), Err(Error::Domain { .. })));
        assert!(matches!(total(&[u64::MAX, 1]), Err(Error::Domain { .. })));
        assert_eq!(total(&[MAX_COUNT, 0]).unwrap(), MAX_COUNT);
    }
}
