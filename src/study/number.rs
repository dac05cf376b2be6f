//! Numbers in documents: JSON keeps every digit, infinity is the string `inf`; text keeps the digits one reads.

use serde::{Serialize, Serializer};

/// A number of a document: finite numbers as shortest JSON numbers that read back exactly, infinity as `"inf"`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number(pub f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // A zero has no sign.
        if self.0.is_finite() { serializer.serialize_f64(self.0 + 0.0) } else { serializer.serialize_str(&self.text()) }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Number {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A finite number, or infinity as a string.",
            "anyOf": [{ "type": "number" }, { "enum": ["inf", "-inf", "nan"] }],
        })
    }
}

impl Number {
    /// All digits, as in JSON.
    #[must_use]
    pub fn text(self) -> String {
        match self.0 {
            value if value.is_nan() => "nan".into(),
            f64::INFINITY => "inf".into(),
            f64::NEG_INFINITY => "-inf".into(),
            value => {
                serde_json::Number::from_f64(value + 0.0).map_or_else(|| value.to_string(), |number| number.to_string())
            }
        }
    }
}

/// A number with this many significant digits, in powers of ten if it is small or large.
///
/// ```
/// # use leakbound::study::significant;
/// assert_eq!(significant(0.000123456, 3), "1.23e-4");
/// assert_eq!(significant(0.0123456, 3), "0.0123");
/// assert_eq!(significant(f64::INFINITY, 3), "inf");
/// ```
#[must_use]
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !value.is_finite() {
        return Number(value).text();
    }
    let scientific = format!("{value:.*e}", digits.saturating_sub(1));
    let exponent: i32 = scientific.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0);
    if (-3..digits as i32).contains(&exponent) {
        format!("{value:.*}", (digits as i32 - 1 - exponent).max(0) as usize)
    } else {
        scientific
    }
}

/// The nearest number with this many digits.
pub(crate) fn nearest_digits(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits.saturating_sub(1)).parse().unwrap_or(value)
}

/// The largest number with this many digits that is not above another.
pub(crate) fn digits_below(value: f64, digits: usize) -> f64 {
    -digits_above(-value, digits)
}

/// The smallest number with this many digits that is not below another.
pub(crate) fn digits_above(value: f64, digits: usize) -> f64 {
    let near = nearest_digits(value, digits);
    if near >= value || !value.is_finite() { near } else { nearest_digits(near + last_digit(value, digits), digits) }
}

/// One unit in the last of this many digits.
fn last_digit(value: f64, digits: usize) -> f64 {
    10f64.powi(value.abs().log10().floor() as i32 + 1 - digits as i32)
}

/// A lower bound with this many significant digits, rounded down.
///
/// ```
/// # use leakbound::study::{significant_above, significant_below};
/// assert_eq!((significant_below(0.499_999_999, 6), significant_above(1.000_000_01, 3)), ("0.499999".into(), "1.01".into()));
/// ```
#[must_use]
pub fn significant_below(value: f64, digits: usize) -> String {
    significant(digits_below(value, digits), digits)
}

/// An upper bound with this many significant digits, rounded up unless it exceeds a number with these digits by less than
/// a relative 2^-40: bounds are already rounded up as doubles, and 1.5 must not become 1.50001.
#[must_use]
pub fn significant_above(value: f64, digits: usize) -> String {
    const IN_DOUBLES: f64 = 1.0 / (1u64 << 40) as f64;
    significant(digits_above(value * (1.0 - IN_DOUBLES.copysign(value)), digits), digits)
}

/// The digits on which both ends of a value agree; few if they agree on fewer or an end is unknown, as with a lower end
/// that is rounded down.
///
/// ```
/// # use leakbound::study::certain_digits;
/// assert_eq!([certain_digits(0.999_98, 1.0), certain_digits(0.5, 0.5), certain_digits(1.0, f64::INFINITY)], [4, 15, 3]);
/// ```
#[must_use]
pub fn certain_digits(at_least: f64, at_most: f64) -> usize {
    const MOST: f64 = 15.0;
    const FEW: f64 = 3.0;
    if at_least == at_most {
        return MOST as usize;
    }
    let share = -((at_most - at_least) / at_most).log10();
    // NaN where the upper end is infinite.
    if share.is_finite() { share.floor().clamp(FEW, MOST) as usize } else { FEW as usize }
}

/// A number given by a user, in the fewest digits that read back exactly: in powers of ten if it is small or large.
///
/// ```
/// # use leakbound::study::short;
/// assert_eq!((short(1e-5), short(0.05), short(1e6)), ("1e-5".into(), "0.05".into(), "1e6".into()));
/// ```
#[must_use]
pub fn short(value: f64) -> String {
    let size = value.abs();
    if value != 0.0 && !(1e-3..1e5).contains(&size) { format!("{value:e}") } else { value.to_string() }
}

/// A number above 0 with at most three significant digits, rounded up: a computed failure probability must not look
/// smaller than it is.
///
/// ```
/// # use leakbound::study::rounded_up;
/// assert_eq!([0.05, 0.05 / 13.0, 0.05 / 15.0].map(rounded_up), ["0.05", "0.00385", "0.00334"]);
/// ```
#[must_use]
pub fn rounded_up(value: f64) -> String {
    short(digits_above(value, 3))
}

/// A share in percent with up to three significant digits.
///
/// ```
/// # use leakbound::study::percent;
/// assert_eq!([0.0, 0.001, 1.0, 0.12345].map(percent), ["0%", "0.1%", "100%", "12.3%"]);
/// assert_eq!(percent(1e-7), "1.00e-5%");
/// ```
#[must_use]
pub fn percent(share: f64) -> String {
    let value = 100.0 * share;
    if value == 0.0 {
        return "0%".into();
    }
    // 0.1 and 100 keep no empty digits.
    let text = significant(value, 3);
    let text = if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    format!("{text}%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_up_and_down() {
        for value in [1.0, 1.234_567_8, 9.999_999_9, 1.000_000_1e-9, 123_456.7, 2.0 / 3.0, 1.0 - 1e-12, 1e-320] {
            let round = digits_above(value, 6);
            assert!(round >= value && round <= value * (1.0 + 1.1e-5) + 1e-322, "{value}: {round}");
            let down = digits_below(value, 6);
            assert!(down <= value && down >= value * (1.0 - 1.1e-5) - 1e-322, "{value}: {down}");
        }
        assert_eq!([significant_below(-0.1234, 3), significant_above(-0.1234, 3)], ["-0.124", "-0.123"]);
        assert_eq!(
            [1.5f64.next_up(), f64::INFINITY, 1.5 + 1e-9].map(|x| significant_above(x, 3)),
            ["1.50", "inf", "1.51"]
        );
        assert_eq!([significant_below(0.0, 3), significant_above(f64::NEG_INFINITY, 3)], ["0", "-inf"]);
        assert_eq!([digits_below(1.0 - 1e-12, 6), digits_below(f64::INFINITY, 6)], [0.999_999, f64::INFINITY]);
    }
}
