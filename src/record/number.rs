//! Whole numbers and probabilities from text, strictly.

use crate::counts::MAX_COUNT;

/// What a count must be, for messages.
pub(super) const COUNT: &str = "a whole number from 0 to 2^53";

/// What a probability must be, for messages.
pub(super) const PROBABILITY: &str = "a probability from 0 to 1";

/// A count written with digits only; otherwise a hint, if one is known.
///
/// `1e3` and `2.0` are rejected although they are whole: a file that holds them has been through a program that may
/// have rounded its counts.
pub(super) fn count(text: &str) -> Result<u64, Option<&'static str>> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        let number = text.parse::<f64>();
        return Err(match number {
            Ok(value) if value < 0.0 => Some("counts are never negative"),
            Ok(value) if value.is_finite() => Some("counts are written with digits only"),
            _ => None,
        });
    }
    match text.parse::<u64>() {
        Ok(value) if value <= MAX_COUNT => Ok(value),
        _ => Err(Some("above 2^53 a double no longer holds every whole number")),
    }
}

/// A probability.
pub(super) fn probability(text: &str) -> Result<f64, Option<&'static str>> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        Ok(value) if value > 1.0 => Err(Some("counts go in the columns count and count_neighbor of a counts file")),
        _ => Err(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_digits_are_counts() {
        assert_eq!(count("0"), Ok(0));
        assert_eq!(count("007"), Ok(7));
        assert_eq!(count("9007199254740992"), Ok(MAX_COUNT));
        for text in
            ["", "-3", "+3", "2.5", "1e3", "NaN", "inf", "9007199254740993", "99999999999999999999999", "0x1", "١"]
        {
            assert!(count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn probabilities_lie_in_the_unit_interval() {
        assert_eq!(probability("1"), Ok(1.0));
        assert_eq!(probability("2.5e-3"), Ok(0.0025));
        for text in ["", "NaN", "-0.1", "1.0000001", "inf", "a"] {
            assert!(probability(text).is_err(), "{text}");
        }
    }
}
