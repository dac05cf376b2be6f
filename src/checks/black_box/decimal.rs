//! Numbers as they are written.

/// A number that is written in more digits, or beyond the range, of the double nearest to it.
///
/// ```
/// # use leakbound::black_box::Output;
/// let outputs: Vec<Output> = serde_json::from_str("[18446744073709551617, 18446744073709551618]")?;
/// assert_ne!(outputs[0], outputs[1]);
/// assert_eq!(outputs[0].number(), outputs[1].number());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Decimal {
    text: String,
    nearest: f64,
}

/// Significant digits that identify every double, and significant digits up to which no two decimals share a double.
const MOST: usize = 17;
const SAFE: usize = 15;
/// The longest whole number that is written without an exponent.
const WHOLE: i64 = 60;
/// Zeros after the point that are written without an exponent.
const ZEROS: i64 = 5;

impl Decimal {
    /// The number of a text in the grammar of JSON: the double whose shortest form has the same value, if there is one.
    ///
    /// If two shortest forms are equally near, as for 2005355888218165.25, the one with an even last digit counts: JSON
    /// and Python write that one, Rust may write the other.
    pub(super) fn read(text: &str) -> Result<f64, Self> {
        // The grammar is a part of that of Rust.
        let nearest: f64 = text.parse().unwrap_or(f64::NAN);
        let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
        let few = mantissa.bytes().filter(u8::is_ascii_digit).count() <= SAFE;
        if few && nearest.is_finite() && nearest.abs() >= f64::MIN_POSITIVE {
            return Ok(nearest);
        }
        let digits = Digits::of(text);
        if nearest.is_finite() && digits.is_some() && digits == Digits::of(&shortest(nearest)) {
            return Ok(nearest);
        }
        Err(Self { text: canonical(text).unwrap_or_else(|| text.to_ascii_lowercase()), nearest })
    }

    /// The number in canonical form, however it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The double that is nearest to it, which may be infinite.
    #[must_use]
    pub const fn nearest(&self) -> f64 {
        self.nearest
    }
}

/// The shortest form of a finite double, as this library writes it into JSON.
fn shortest(number: f64) -> String {
    serde_json::Number::from_f64(number).map(|number| number.to_string()).unwrap_or_default()
}

/// The value of a number of few digits: a whole number that is not a multiple of ten, and the power of ten.
#[derive(PartialEq)]
struct Digits {
    negative: bool,
    digits: u64,
    power: i64,
}

impl Digits {
    /// None for more digits than a double needs.
    fn of(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let negative = whole.starts_with('-');
        let (mut digits, mut length, mut zeros) = (0u64, 0, 0);
        for digit in whole.bytes().chain(fraction.bytes()).filter(u8::is_ascii_digit) {
            if digit == b'0' {
                zeros += usize::from(length > 0);
                continue;
            }
            length += zeros + 1;
            if length > MOST {
                return None;
            }
            digits = digits * 10u64.pow(zeros as u32 + 1) + u64::from(digit - b'0');
            zeros = 0;
        }
        if digits == 0 {
            return Some(Self { negative, digits, power: 0 });
        }
        let exponent: i64 = exponent.parse().ok()?;
        let power = exponent.checked_add(zeros as i64)?.checked_sub(fraction.len() as i64)?;
        Some(Self { negative, digits, power })
    }
}

/// The canonical form of a number; none if its exponent is out of range.
fn canonical(text: &str) -> Option<String> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let digits = all.trim_start_matches('0');
    let exponent: i64 = exponent.parse().ok()?;
    // The value is 0.DIGITS times this power of ten.
    let point = exponent.checked_add(whole.len() as i64)?.checked_sub((all.len() - digits.len()) as i64)?;
    let digits = digits.trim_end_matches('0');
    let length = digits.len() as i64;
    let zeros = |number: i64| "0".repeat(number as usize);
    Some(if point > -ZEROS && point <= 0 {
        format!("{sign}0.{}{digits}", zeros(-point))
    } else if point > 0 && point < length {
        let (whole, fraction) = digits.split_at(point as usize);
        format!("{sign}{whole}.{fraction}")
    } else if point >= length && point <= WHOLE {
        format!("{sign}{digits}{}", zeros(point - length))
    } else {
        let (first, rest) = digits.split_at(digits.len().min(1));
        let dot = if rest.is_empty() { "" } else { "." };
        format!("{sign}{first}{dot}{rest}e{}", point.checked_sub(1)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_that_differ_stay_apart_and_equal_ones_are_one() {
        let plain = |text: &str| Decimal::read(text).unwrap();
        let long = |text: &str| Decimal::read(text).unwrap_err().text().to_owned();
        for text in ["1", "1.0", "1e0", "10E-1", "0.1e+1", "1.00000000000000000000000000000"] {
            assert_eq!(plain(text), 1.0, "{text}");
        }
        assert_eq!([plain("0"), plain("-0.0"), plain("0e999999999999999999999")], [0.0; 3]);
        assert_eq!(plain("9007199254740992"), 9_007_199_254_740_992.0);
        assert_eq!([plain("5e-324"), plain("1.7976931348623157e308")], [f64::from_bits(1), f64::MAX]);
        for (text, expected) in [
            ("9007199254740993", "9007199254740993"),
            ("-18446744073709551616", "-18446744073709551616"),
            ("0.10000000000000001", "0.10000000000000001"),
            ("1.50000000000000000000e400", "1.5e400"),
            ("15e399", "1.5e400"),
            ("1e-400", "1e-400"),
            ("2e-324", "2e-324"),
            ("0.000123456789012345678901", "0.000123456789012345678901"),
            ("0.0000000123456789012345678901", "1.23456789012345678901e-8"),
            ("1e99999999999999999999", "1e99999999999999999999"),
        ] {
            assert_eq!(long(text), expected);
            assert_eq!(long(expected), expected);
        }
        // Halfway between its two shortest forms.
        assert_eq!(plain("2005355888218165.2"), 2_005_355_888_218_165.25);
        assert_eq!(long("2005355888218165.3"), "2005355888218165.3");
        assert_eq!(Decimal::read("1e400").unwrap_err().nearest(), f64::INFINITY);
    }

    proptest! {
        /// Every double has a form, and another last digit is another number.
        #[test]
        fn every_double_reads_back(bits: u64, power in -30i32..30, digits in 1u64..1 << 53) {
            let number = f64::from_bits(bits);
            prop_assume!(number.is_finite());
            for text in [shortest(number), format!("{number:e}"), format!("{number}")] {
                let read = Decimal::read(&text);
                let same = Digits::of(&text) == Digits::of(&shortest(number));
                prop_assert_eq!(read.as_ref().is_ok(), same, "{}", text);
                let nearest = read.unwrap_or_else(|decimal| decimal.nearest());
                prop_assert_eq!(nearest.to_bits(), number.to_bits());
            }
            let (low, high) = (format!("{digits}1e{power}"), format!("{digits}2e{power}"));
            let text = |text: &str| match Decimal::read(text) {
                Ok(number) => format!("{number:e}"),
                Err(decimal) => decimal.text().to_owned(),
            };
            prop_assert_ne!(text(&low), text(&high));
            prop_assert_eq!(text(&low), text(&format!("{digits}10e{}", power - 1)));
        }
    }
}
