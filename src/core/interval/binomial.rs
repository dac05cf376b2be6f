//! Clopper-Pearson limits of a proportion.

use crate::bound::{Interval, Validity};
use crate::counts::MAX_COUNT;
use crate::error::{Error, Result, count_above};
use crate::quantity::FailureProbability;
use crate::special::binomial_tail_root;

/// Successes among trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BinomialCounts {
    successes: u64,
    trials: u64,
}

impl BinomialCounts {
    /// Checks 0 ≤ `successes` ≤ `trials` and 1 ≤ `trials` ≤ 2^53.
    ///
    /// # Errors
    /// [`Error::Domain`] naming the count that is out of range.
    pub fn new(successes: u64, trials: u64) -> Result<Self> {
        Error::check_domain((1..=MAX_COUNT).contains(&trials), "trials", count_above(trials), "[1, 2^53]")?;
        Error::check_domain(successes <= trials, "successes", successes as f64, "[0, trials]")?;
        Ok(Self { successes, trials })
    }

    /// Number of successes.
    #[must_use]
    pub const fn successes(self) -> u64 {
        self.successes
    }

    /// Number of trials.
    #[must_use]
    pub const fn trials(self) -> u64 {
        self.trials
    }

    /// The same trials with success and failure exchanged.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        Self { successes: self.trials - self.successes, trials: self.trials }
    }
}

/// A limit of a proportion with its complement; both are stored because either may be tiny.
///
/// A lower limit has `value` rounded down and `complement` rounded up; an upper limit, the reverse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProportionLimit {
    /// The limit x.
    pub value: f64,
    /// 1 - x, to full relative precision.
    pub complement: f64,
}

impl ProportionLimit {
    /// The trivial lower limit.
    #[doc(hidden)]
    pub const ZERO: Self = Self { value: 0.0, complement: 1.0 };
    /// The trivial upper limit.
    #[doc(hidden)]
    pub const ONE: Self = Self { value: 1.0, complement: 0.0 };

    /// A lower limit at a value.
    #[doc(hidden)]
    pub const fn at_least(value: f64) -> Self {
        Self { value, complement: (1.0 - value).next_up().min(1.0) }
    }

    /// The limit of the complement.
    #[doc(hidden)]
    #[must_use]
    pub const fn mirrored(self) -> Self {
        Self { value: self.complement, complement: self.value }
    }

    /// A lower limit at x, moved outwards by this share of the smaller of x and 1 - x, which determines the other.
    pub(super) fn rounded_down((x, y): (f64, f64), share: f64) -> Self {
        if x <= y {
            Self::at_least(x * (1.0 - share))
        } else {
            let complement = (y * (1.0 + share)).min(1.0);
            Self { value: (1.0 - complement).next_down().max(0.0), complement }
        }
    }

    /// Whether this limit is above `other`, judged by the exact sides: the smaller of x and 1 - x is exact; the other
    /// was rounded, perhaps past its neighbor.
    pub fn is_above(self, other: Self) -> bool {
        let low = |limit: Self| limit.value <= limit.complement;
        match (low(self), low(other)) {
            (true, true) => self.value > other.value,
            (false, false) => self.complement < other.complement,
            _ => self.value > other.value && self.complement < other.complement,
        }
    }
}

/// Outward margin, relative to the smaller of x and 1 - x: four times the largest error found in a comparison with the
/// tabulated roots of `validation/reference`.
const MARGIN: f64 = 1.0 / (1u64 << 46) as f64;
/// The same per unit of |ln f| or |ln(1-f)|, the size of the logarithms in the equation: this is larger from f = 1e-7
/// on.
const MARGIN_OF_LOGARITHM: f64 = 4.0 * f64::EPSILON;

/// The lower limit from an accurate root (x, 1 - x).
fn round_down(root: (f64, f64), f: f64) -> ProportionLimit {
    let margin = MARGIN.max(MARGIN_OF_LOGARITHM * f.ln().abs().max(libm::log1p(-f).abs()));
    ProportionLimit::rounded_down(root, margin)
}

/// The one-sided lower Clopper-Pearson limit: the p with P(Bin(n, p) ≥ k) = f.
///
/// For k successes in n trials and failure probability f, P(p ≥ limit) ≥ 1 - f for every true p and every n.
/// The result is rounded toward 0 by a relative 2^-46 of the smaller of p and 1 - p, or by 2^-50 of |ln f| or |ln(1-f)|
/// if that is more; it is 0 for k = 0.
///
/// # Errors
/// [`Error::NoConvergence`] if an iteration limit is reached (never seen for n up to 2^53).
///
/// # Example
/// ```
/// # use leakbound::interval::{BinomialCounts, clopper_pearson_lower};
/// # use leakbound::quantity::FailureProbability;
/// let limit = clopper_pearson_lower(BinomialCounts::new(25, 50)?, FailureProbability::new(0.1)?)?;
/// assert!((limit.value - 0.400_860_210_426_686_8).abs() < 1e-13);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Clopper and Pearson (1934), "The use of confidence or fiducial limits illustrated in the case of the binomial".
pub fn clopper_pearson_lower(counts: BinomialCounts, failure: FailureProbability) -> Result<ProportionLimit> {
    let BinomialCounts { successes: k, trials: n } = counts;
    let f = failure.get();
    let trials = n as f64;
    let root = if k == 0 {
        return Ok(ProportionLimit::ZERO);
    } else if k == n {
        let log_x = f.ln() / trials; // x^n = f
        (libm::exp(log_x), -libm::expm1(log_x))
    } else if k == 1 {
        let log_y = libm::log1p(-f) / trials; // 1 - (1-x)^n = f
        (-libm::expm1(log_y), libm::exp(log_y))
    } else if f <= 0.5 {
        binomial_tail_root(k, n, f)?
    } else {
        // P(Bin(n, x) ≥ k) = f is P(Bin(n, 1-x) ≥ n-k+1) = 1-f, and 1-f is exact here.
        let (y, x) = binomial_tail_root(n - k + 1, n, 1.0 - f)?;
        (x, y)
    };
    Ok(round_down(root, f))
}

/// The one-sided upper Clopper-Pearson limit: the p with P(Bin(n, p) ≤ k) = f, the mirror image of the lower one.
///
/// Rounded toward 1; 1 for k = n.
///
/// # Errors
/// As [`clopper_pearson_lower`].
///
/// # Example
/// ```
/// # use leakbound::interval::{BinomialCounts, clopper_pearson_upper};
/// # use leakbound::quantity::FailureProbability;
/// let limit = clopper_pearson_upper(BinomialCounts::new(0, 1000)?, FailureProbability::new(0.05)?)?;
/// assert!((limit.value - 0.002_991_249_545_095_295).abs() < 1e-15);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn clopper_pearson_upper(counts: BinomialCounts, failure: FailureProbability) -> Result<ProportionLimit> {
    Ok(clopper_pearson_lower(counts.mirrored(), failure)?.mirrored())
}

/// The two-sided Clopper-Pearson interval: half the failure probability on each side.
///
/// # Errors
/// As [`clopper_pearson_lower`].
pub fn clopper_pearson(counts: BinomialCounts, failure: FailureProbability) -> Result<Interval> {
    let half = failure.split(2);
    Ok(Interval {
        lower: clopper_pearson_lower(counts, half)?.value,
        upper: clopper_pearson_upper(counts, half)?.value,
        failure_probability: failure,
        validity: Validity::FiniteSample,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Below one half the proportions are compared, above it their complements, and across it both.
    #[test]
    fn a_limit_is_above_another_by_the_side_that_has_the_digits() {
        let limit = |value: f64, complement: f64| ProportionLimit { value, complement };
        let rising = [
            limit(1e-20, 1.0),
            limit(2e-20, 1.0),
            limit(0.3, 0.7),
            limit(0.8, 0.2),
            limit(1.0, 2e-20),
            limit(1.0, 1e-20),
        ];
        for (i, one) in rising.iter().enumerate() {
            for (j, other) in rising.iter().enumerate() {
                assert_eq!(one.is_above(*other), i > j, "{one:?} {other:?}");
            }
        }
    }
}
