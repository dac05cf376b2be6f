//! Validated numbers: each legal range is defined once, here, so functions of these types have no range errors.

use crate::error::{Error, Result, readable};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Defines a newtype of a private `f64` with its domain; no domain contains NaN.
macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $words:literal, $domain:literal, |$value:ident| $legal:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(try_from = "f64", into = "f64")]
        pub struct $name(f64);

        impl $name {
            #[doc = concat!("Checks that `value` lies in ", $domain, ".\n\n# Errors\n[`Error::Domain`] otherwise, NaN included.")]
            pub fn new($value: f64) -> Result<Self> {
                if $legal {
                    Ok(Self($value))
                } else {
                    Err(Error::Domain { quantity: $words, value: $value, domain: $domain })
                }
            }

            /// The number itself.
            #[must_use]
            pub const fn get(self) -> f64 {
                self.0
            }
        }

        impl TryFrom<f64> for $name {
            type Error = Error;
            fn try_from(value: f64) -> Result<Self> {
                Self::new(value)
            }
        }

        impl From<$name> for f64 {
            fn from(quantity: $name) -> f64 {
                quantity.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.pad(&readable(self.0))
            }
        }
    };
}

quantity! {
    /// The ε of (ε, δ)-differential privacy, in natural-log units; `inf` means no guarantee.
    ///
    /// ```
    /// # use leakbound::quantity::Epsilon;
    /// assert_eq!(Epsilon::new(0.5)?.get(), 0.5);
    /// assert!(Epsilon::new(-0.1).is_err() && Epsilon::new(f64::NAN).is_err());
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    Epsilon, "epsilon", "[0, inf]", |value| value >= 0.0
}
quantity! {
    /// The δ of (ε, δ)-differential privacy.
    ///
    /// ```
    /// # use leakbound::quantity::Delta;
    /// assert!(Delta::new(0.0).is_ok() && Delta::new(1.0).is_err());
    /// ```
    Delta, "delta", "[0, 1)", |value| (0.0..1.0).contains(&value)
}
quantity! {
    /// The order α of a Rényi divergence.
    ///
    /// ```
    /// # use leakbound::quantity::Order;
    /// assert!(Order::new(1.5).is_ok() && Order::new(1.0).is_err() && Order::new(f64::INFINITY).is_err());
    /// ```
    Order, "Rényi order", "(1, inf)", |value| value > 1.0 && value < f64::INFINITY
}
quantity! {
    /// The probability with which a statistical bound may be wrong: 1 minus its confidence. Confidence levels are not
    /// used, because 1 - (1 - 1e-12) has a relative error of 9e-5.
    ///
    /// ```
    /// # use leakbound::quantity::FailureProbability;
    /// assert!(FailureProbability::new(1e-15).is_ok() && FailureProbability::new(0.0).is_err());
    /// ```
    FailureProbability, "failure probability", "(0, 1)", |value| value > 0.0 && value < 1.0
}
quantity! {
    /// A probability.
    ///
    /// ```
    /// # use leakbound::quantity::Probability;
    /// assert!(Probability::new(1.0).is_ok() && Probability::new(1.1).is_err());
    /// ```
    Probability, "probability", "[0, 1]", |value| (0.0..=1.0).contains(&value)
}
quantity! {
    /// The scale of additive noise, in votes: the standard deviation of a Gaussian, the b of a Laplace density
    /// exp(-|x|/b)/(2b).
    ///
    /// ```
    /// # use leakbound::quantity::NoiseScale;
    /// assert!(NoiseScale::new(40.0).is_ok() && NoiseScale::new(0.0).is_err() && NoiseScale::new(f64::INFINITY).is_err());
    /// ```
    NoiseScale, "noise scale", "(0, inf)", |value| value > 0.0 && value < f64::INFINITY
}

impl Epsilon {
    /// No leakage.
    pub const ZERO: Self = Self(0.0);
    /// No guarantee.
    pub const INFINITE: Self = Self(f64::INFINITY);
}

impl FailureProbability {
    /// The share that each of `parts` events may use so that their union keeps this failure probability (Bonferroni).
    ///
    /// ```
    /// # use leakbound::quantity::FailureProbability;
    /// assert_eq!(FailureProbability::new(0.05)?.split(4).get(), 0.0125);
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    #[must_use]
    pub fn split(self, parts: usize) -> Self {
        // The smallest positive double keeps the guarantee of the type even for absurd numbers of parts.
        Self((self.0 / parts.max(1) as f64).max(f64::from_bits(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_in_no_domain() {
        assert!(Epsilon::new(f64::NAN).is_err());
        assert!(Delta::new(f64::NAN).is_err());
        assert!(Order::new(f64::NAN).is_err());
        assert!(FailureProbability::new(f64::NAN).is_err());
        assert!(Probability::new(f64::NAN).is_err());
        assert!(NoiseScale::new(f64::NAN).is_err());
    }

    #[test]
    fn a_share_is_positive_and_never_above_the_whole() {
        let smallest = FailureProbability::new(f64::from_bits(1)).unwrap();
        assert_eq!(smallest.split(1), smallest);
        assert_eq!(smallest.split(usize::MAX), smallest);
        assert_eq!(FailureProbability::new(0.3).unwrap().split(0).get(), 0.3);
    }

    #[test]
    fn deserialization_checks_the_domain() {
        assert!(serde_json::from_str::<Delta>("0.5").is_ok());
        assert!(serde_json::from_str::<Delta>("1.5").is_err());
    }
}
