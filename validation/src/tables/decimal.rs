//! Expected values: decimal strings of 40 digits, kept as an unevaluated sum of two doubles.

use serde::{Deserialize, Deserializer, de::Error as _};

/// Decimal digits that a `u128` holds.
const DIGITS: usize = 38;

/// A decimal number as its nearest double and the rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decimal {
    /// The nearest double.
    pub value: f64,
    /// The number minus `value`.
    rest: f64,
    /// True where the number is not zero although `value` is, or has lost digits by underflow.
    pub underflows: bool,
}

impl Decimal {
    /// Reads a decimal string.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let value: f64 = text.parse().ok()?;
        if !value.is_finite() {
            return Some(Self { value, rest: 0.0, underflows: false });
        }
        let number = Digits::parse(text)?;
        if value.abs() < f64::MIN_POSITIVE {
            return Some(Self { value, rest: 0.0, underflows: number.mantissa != 0 });
        }
        let nearest = Digits::parse(&format!("{value:.*e}", DIGITS - 1))?;
        let (distance, exponent) = number.minus(nearest);
        let sign = if value < 0.0 { -1.0 } else { 1.0 };
        // 10^-37 apart, so that small numbers do not underflow on the way.
        let rest = sign * (distance as f64 * 1e-37) * 10f64.powi(exponent);
        Some(Self { value, rest, underflows: false })
    }

    /// `x` minus this number, to the precision of a double.
    #[must_use]
    pub fn error_of(self, x: f64) -> f64 {
        if x == self.value { -self.rest } else { (x - self.value) - self.rest }
    }

    /// The error of `x` relative to this number; 0 where both are zero or equally infinite.
    #[must_use]
    pub fn relative_error_of(self, x: f64) -> f64 {
        if x == self.value && self.rest == 0.0 { 0.0 } else { self.error_of(x) / self.value.abs() }
    }
}

impl From<f64> for Decimal {
    fn from(value: f64) -> Self {
        Self { value, rest: 0.0, underflows: false }
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is no decimal number")))
    }
}

/// |x| = mantissa · 10^(exponent - 37), the first digit of the mantissa not 0.
#[derive(Debug, Clone, Copy)]
struct Digits {
    mantissa: u128,
    exponent: i32,
}

impl Digits {
    fn parse(text: &str) -> Option<Self> {
        let (number, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let number = number.trim_start_matches(['-', '+']);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits: String = whole.chars().chain(fraction.chars()).collect();
        let leading = digits.len() - digits.trim_start_matches('0').len();
        let mut significant: String = digits[leading..].chars().take(DIGITS).collect();
        while significant.len() < DIGITS {
            significant.push('0');
        }
        let exponent = power.parse::<i32>().ok()? + whole.len() as i32 - 1 - leading as i32;
        Some(Self { mantissa: significant.parse().ok()?, exponent })
    }

    /// The difference in units of 10^(exponent - 37) with the larger exponent; exponents differ by at most 1 here.
    fn minus(self, other: Self) -> (i128, i32) {
        let exponent = self.exponent.max(other.exponent);
        let scaled = |digits: Self| (digits.mantissa / 10u128.pow((exponent - digits.exponent) as u32)) as i128;
        (scaled(self) - scaled(other), exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_far_below_a_double_are_seen() {
        let third = Decimal::parse("0.3333333333333333333333333333333333333333").unwrap();
        // 1/3 - fl(1/3) = 2^-54/3.
        assert!((third.error_of(1.0 / 3.0) + 2f64.powi(-54) / 3.0).abs() < 1e-32);
        assert!(Decimal::parse("1.25e-2").unwrap().relative_error_of(0.0125).abs() < 1e-16);
        assert_eq!(Decimal::parse("-0.5").unwrap().error_of(-0.5), 0.0);
        let above = Decimal::parse("-3.000000000000000000000000000001e+2").unwrap();
        assert!((above.error_of(-300.0) - 1e-28).abs() < 1e-40);
        assert!((Decimal::parse("9.99999999999999999999999e-1").unwrap().error_of(1.0) / 1e-24 - 1.0).abs() < 1e-9);
        assert!(Decimal::parse("3.2e-4346").unwrap().underflows);
        assert!(!Decimal::parse("0").unwrap().underflows);
        assert_eq!(Decimal::parse("-inf").unwrap().value, f64::NEG_INFINITY);
    }
}
