//! Numbers that decide a verdict. None of them is NaN, and none can be compared with a bare double, so a comparison
//! that NaN could reverse does not compile.

use crate::error::{Error, Result};
use crate::quantity::Epsilon;
use serde::Serialize;
use std::cmp::Ordering;

/// Defines numbers that are never NaN and have no signed zero, with their order.
macro_rules! ordered {
    ($($name:ident),*) => {$(
        impl $name {
            /// The number itself, never NaN.
            #[must_use]
            pub const fn get(self) -> f64 {
                self.0
            }
        }

        impl Eq for $name {}

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                self.0.total_cmp(&other.0)
            }
        }
    )*};
}
ordered!(AtLeast, AtMost, Claimed);

/// A lower bound on a leakage (ε, δ, μ or a divergence). NaN and negative values become 0, which bounds nothing.
///
/// ```
/// # use leakbound::bound::{AtLeast, Claimed};
/// let claim = Claimed::new(0.5)?;
/// assert!(AtLeast::new(0.6).refutes(claim) && !AtLeast::new(0.5).refutes(claim));
/// assert_eq!(AtLeast::new(f64::NAN), AtLeast::NOTHING);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// It cannot be compared with a double, which may be NaN:
/// ```compile_fail,E0308
/// # use leakbound::bound::AtLeast;
/// assert!(AtLeast::new(0.6) > 0.5);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AtLeast(f64);

impl AtLeast {
    /// Nothing is known.
    pub const NOTHING: Self = Self(0.0);

    /// This number; NaN and negative values become 0.
    #[must_use]
    pub const fn new(value: f64) -> Self {
        if value > 0.0 { Self(value) } else { Self::NOTHING }
    }

    /// Whether this bound refutes the claim that the leakage is at most this much.
    #[must_use]
    pub fn refutes(self, claim: Claimed) -> bool {
        self.0 > claim.0
    }
}

/// An upper bound on a leakage. NaN becomes infinite, which bounds nothing.
///
/// ```
/// # use leakbound::bound::AtMost;
/// assert_eq!(AtMost::new(f64::NAN), AtMost::NOTHING);
/// assert_eq!(AtMost::new(2.0).min(AtMost::new(f64::NAN)).get(), 2.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AtMost(f64);

impl AtMost {
    /// Nothing is known.
    pub const NOTHING: Self = Self(f64::INFINITY);

    /// This number; NaN becomes infinite.
    #[must_use]
    pub const fn new(value: f64) -> Self {
        if value.is_nan() { Self::NOTHING } else { Self(value + 0.0) }
    }
}

/// A claimed upper bound on a leakage: any number, even one below every possible leakage.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Claimed(f64);

impl Claimed {
    /// A claim with this value.
    ///
    /// # Errors
    /// [`Error::Domain`] for NaN, which claims nothing.
    pub fn new(value: f64) -> Result<Self> {
        Error::check_domain(!value.is_nan(), "claim", value, "[-inf, inf]")?;
        Ok(Self(value + 0.0))
    }

    /// The claim, increased by the possible rounding error of double precision: a share of its size and an absolute
    /// amount. Infinite claims stay as they are.
    #[must_use]
    pub fn loosened(self, share: f64, least: f64) -> Self {
        // A finite claim stays finite: an infinite lower bound refutes the largest double.
        let looser = (self.0 + share * self.0.abs() + least).min(f64::MAX);
        if self.0.is_finite() && looser > self.0 { Self(looser) } else { self }
    }
}

impl From<Epsilon> for Claimed {
    fn from(epsilon: Epsilon) -> Self {
        Self(epsilon.get() + 0.0)
    }
}

/// A value computed without sampling, with a bound on its error.
///
/// ```
/// # use leakbound::bound::Exact;
/// let third = Exact { value: 1.0 / 3.0, error: 1e-16 };
/// assert!(third.at_least().get() < 1.0 / 3.0 && third.at_most().get() > 1.0 / 3.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Exact {
    /// The value.
    pub value: f64,
    /// An upper bound on the absolute error.
    pub error: f64,
}

impl Exact {
    /// The lower end. Every value that is printed as "at least" or compared with a claim is rounded down here, and by
    /// its own error. A value is infinite only when an outcome is impossible, and then it has no error.
    #[must_use]
    pub fn at_least(self) -> AtLeast {
        // Without an error nothing is subtracted or rounded.
        let is_certain = self.value == f64::INFINITY || self.error == 0.0;
        AtLeast::new(if is_certain { self.value } else { (self.value - self.error).next_down() })
    }

    /// The upper end.
    #[must_use]
    pub fn at_most(self) -> AtMost {
        AtMost::new((self.value + self.error).next_up())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_bounds_nothing() {
        for value in [f64::NAN, -1.0, -0.0, f64::NEG_INFINITY] {
            assert_eq!(AtLeast::new(value).get().to_bits(), 0.0f64.to_bits());
            assert_eq!(AtLeast::new(value).max(AtLeast::new(2.0)).get(), 2.0);
        }
        assert_eq!(AtMost::new(f64::NAN).get(), f64::INFINITY);
        assert!(Claimed::new(f64::NAN).is_err());
        for exact in [Exact { value: f64::NAN, error: 0.0 }, Exact { value: 1.0, error: f64::NAN }] {
            assert_eq!((exact.at_least(), exact.at_most()), (AtLeast::NOTHING, AtMost::NOTHING), "{exact:?}");
        }
    }

    #[test]
    fn claims_below_everything_are_refuted_and_infinite_ones_are_not() {
        let claim = |value: f64| Claimed::new(value).unwrap();
        let refutes = |value: f64, error: f64, claimed: f64| {
            Exact { value, error }.at_least().refutes(claim(claimed).loosened(1e-10, 1e-15))
        };
        assert!(refutes(0.0, 0.0, f64::NEG_INFINITY) && refutes(f64::INFINITY, f64::NAN, f64::NEG_INFINITY));
        assert!(refutes(f64::INFINITY, f64::NAN, f64::MAX) && !refutes(f64::INFINITY, 0.0, f64::INFINITY));
        assert!(refutes(1.0, 1e-12, 0.999) && refutes(0.0, 1.0, -1.0));
        assert!(!refutes(1.0, 1e-12, 1.0) && !refutes(1.0, 1e-12, 1.0 - 1e-13) && !refutes(1.0, 0.0, f64::INFINITY));
        let exact = Exact { value: 2.0, error: 0.5 };
        assert_eq!((exact.at_least().get(), exact.at_most().get()), (1.5f64.next_down(), 2.5f64.next_up()));
        assert_eq!(Claimed::from(Epsilon::new(-0.0).unwrap()).get().to_bits(), 0);
        assert_eq!(claim(2.0).loosened(0.25, 0.5).get(), 3.0);
        assert_eq!(claim(0.0).loosened(0.25, 0.5).get(), 0.5);
        // Nothing overflows.
        assert_eq!(claim(f64::MAX).loosened(1e-10, 0.0).get(), f64::MAX);
    }
}
