//! Outputs of a program.

use super::decimal::Decimal;
use crate::order;
use crate::program::quoted;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// How deep lists and objects may lie in each other.
const DEEPEST: usize = 128;
/// The name under which JSON has bytes that are not UTF-8: each byte as the character of this number.
const BYTES: &str = "latin-1";

/// One output of a program: any value that JSON can write, and numbers and bytes that it cannot.
///
/// Outputs are equal if they have the same value: 1, 1.0 and 1e0 are one number, 0 and -0 are equal, and so are all NaN.
/// Numbers are read in all their digits, so that two of them never become one. A list of numbers only is a
/// [`Vector`](Self::Vector). In JSON NaN and infinities are the strings `nan`, `inf` and `-inf`, and bytes that are not
/// UTF-8 are `{"latin-1": "..."}`, with a character for each byte. A key that an object has twice is rejected.
///
/// ```
/// # use leakbound::black_box::Output;
/// let output: Output = serde_json::from_str(r#"{"sum": 1.5, "items": [1, "inf", 3]}"#)?;
/// assert_eq!(output.to_string(), r#"{"items":[1,"inf",3],"sum":1.5}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone)]
pub enum Output {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number that is a double.
    Number(f64),
    /// A number of more digits, or beyond the range of doubles.
    Decimal(Decimal),
    /// A text.
    Text(String),
    /// Bytes that are not UTF-8.
    Bytes(Vec<u8>),
    /// A list of doubles.
    Vector(Vec<f64>),
    /// Any other list.
    List(Vec<Self>),
    /// Named outputs, sorted by name, each name once.
    Object(Vec<(String, Self)>),
}

impl Output {
    /// A text, or the number that the texts `nan`, `inf` and `-inf` mean.
    #[must_use]
    pub fn of_text(text: String) -> Self {
        match &*text {
            "nan" => Self::Number(f64::NAN),
            "inf" => Self::Number(f64::INFINITY),
            "-inf" => Self::Number(f64::NEG_INFINITY),
            _ => Self::Text(text),
        }
    }

    /// The number that is written so in JSON, in all its digits.
    ///
    /// # Errors
    /// The text of anything else.
    pub fn of_number(text: &str) -> Result<Self, String> {
        match serde_json::from_str(text) {
            Ok(number @ (Self::Number(_) | Self::Decimal(_))) if !text.contains('"') => Ok(number),
            _ => Err(format!("`{text}` is not a number")),
        }
    }

    /// A list, which is a vector if these are doubles only.
    #[must_use]
    pub fn of_parts(parts: Vec<Self>) -> Self {
        let double = |part: &Self| if let Self::Number(number) = part { Some(*number) } else { None };
        let vector: Option<Vec<f64>> = parts.iter().map(double).collect();
        vector.map_or(Self::List(parts), Self::Vector)
    }

    /// Named outputs.
    ///
    /// # Errors
    /// A name that occurs twice.
    pub fn of_names(mut parts: Vec<(String, Self)>) -> Result<Self, String> {
        order::sort(&mut parts, |a, b| a.0.cmp(&b.0));
        if let Some(pair) = parts.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(format!("the key `{}` comes twice in an object", pair[0].0));
        }
        Ok(match &*parts {
            [(name, Self::Text(text))] if name == BYTES => bytes_of(text).map_or(Self::Object(parts), Self::Bytes),
            _ => Self::Object(parts),
        })
    }

    /// The number, if it is one: of a longer one the nearest double.
    #[must_use]
    pub const fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Decimal(decimal) => Some(decimal.nearest()),
            Self::Null
            | Self::Bool(_)
            | Self::Text(_)
            | Self::Bytes(_)
            | Self::Vector(_)
            | Self::List(_)
            | Self::Object(_) => None,
        }
    }

    /// The numbers of a list of numbers.
    pub(super) fn numbers(&self) -> Option<Cow<'_, [f64]>> {
        match self {
            Self::Vector(numbers) => Some(numbers.into()),
            Self::List(parts) => parts.iter().map(Self::number).collect::<Option<Vec<f64>>>().map(Cow::Owned),
            Self::Null
            | Self::Bool(_)
            | Self::Number(_)
            | Self::Decimal(_)
            | Self::Text(_)
            | Self::Bytes(_)
            | Self::Object(_) => None,
        }
    }

    /// Reads JSON without spaces around it, so deep in lists and objects.
    fn read(text: &str, depth: usize) -> Result<Self, String> {
        let told = |error: serde_json::Error| format!("{}: {error}", quoted(text));
        if depth > DEEPEST {
            return Err(format!("lists or objects lie in each other more than {DEEPEST} deep"));
        }
        Ok(match text.bytes().next() {
            Some(b'n') => Self::Null,
            Some(b't') => Self::Bool(true),
            Some(b'f') => Self::Bool(false),
            Some(b'"') => Self::of_text(serde_json::from_str(text).map_err(told)?),
            Some(b'[') => {
                let parts: Vec<&RawValue> = serde_json::from_str(text).map_err(told)?;
                let parts = parts.into_iter().map(|part| Self::read(part.get(), depth + 1));
                Self::of_parts(parts.collect::<Result<_, _>>()?)
            }
            Some(b'{') => {
                let Entries(parts) = serde_json::from_str(text).map_err(told)?;
                let part = |(name, part): (String, &RawValue)| Ok((name, Self::read(part.get(), depth + 1)?));
                Self::of_names(parts.into_iter().map(part).collect::<Result<_, String>>()?)?
            }
            _ => Decimal::read(text).map_or_else(Self::Decimal, Self::Number),
        })
    }

    const fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(_) => 1,
            Self::Number(_) => 2,
            Self::Decimal(_) => 3,
            Self::Text(_) => 4,
            Self::Bytes(_) => 5,
            Self::Vector(_) => 6,
            Self::List(_) => 7,
            Self::Object(_) => 8,
        }
    }
}

/// The bytes that these characters represent, if they are bytes that are not UTF-8.
fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let bytes: Vec<u8> = text.chars().map(|character| u8::try_from(character).ok()).collect::<Option<_>>()?;
    std::str::from_utf8(&bytes).is_err().then_some(bytes)
}

/// The bits of a number, the same ones for every NaN and for both zeros.
const fn bits(number: f64) -> u64 {
    if number.is_nan() {
        f64::NAN.to_bits()
    } else if number == 0.0 {
        0
    } else {
        number.to_bits()
    }
}

impl PartialEq for Output {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Output {}

impl PartialOrd for Output {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Output {
    fn cmp(&self, other: &Self) -> Ordering {
        let number = |a: &f64, b: &f64| f64::from_bits(bits(*a)).total_cmp(&f64::from_bits(bits(*b)));
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Number(a), Self::Number(b)) => number(a, b),
            (Self::Decimal(a), Self::Decimal(b)) => a.text().cmp(b.text()),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            (Self::Vector(a), Self::Vector(b)) => {
                let different = a.iter().zip(b).map(|(a, b)| number(a, b)).find(|order| order.is_ne());
                different.unwrap_or_else(|| a.len().cmp(&b.len()))
            }
            (Self::List(a), Self::List(b)) => a.cmp(b),
            (Self::Object(a), Self::Object(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl Hash for Output {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(self.rank());
        match self {
            Self::Null => {}
            Self::Bool(value) => value.hash(state),
            Self::Number(number) => state.write_u64(bits(*number)),
            Self::Decimal(decimal) => decimal.text().hash(state),
            Self::Text(text) => text.hash(state),
            Self::Bytes(bytes) => bytes.hash(state),
            Self::Vector(numbers) => numbers.iter().for_each(|&number| state.write_u64(bits(number))),
            Self::List(parts) => parts.hash(state),
            Self::Object(parts) => parts.hash(state),
        }
    }
}

/// A number as it is written in JSON: what JSON cannot express is a string.
fn write_number<S: Serializer>(number: f64, serializer: S) -> Result<S::Ok, S::Error> {
    // Whole numbers are written without a point, as programs print counts.
    let whole = number as i64;
    if number.is_nan() {
        serializer.serialize_str("nan")
    } else if number.is_infinite() {
        serializer.serialize_str(if number > 0.0 { "inf" } else { "-inf" })
    } else if whole as f64 == number && whole.unsigned_abs() < 1 << 53 {
        serializer.serialize_i64(whole)
    } else {
        serializer.serialize_f64(number)
    }
}

/// A decimal is already JSON.
fn written(decimal: &Decimal) -> Option<Box<RawValue>> {
    RawValue::from_string(decimal.text().to_owned()).ok()
}

/// A number in a list.
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_number(self.0, serializer)
    }
}

impl Serialize for Output {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => write_number(*number, serializer),
            Self::Decimal(decimal) => written(decimal).serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Bytes(bytes) => {
                let characters: String = bytes.iter().map(|&byte| char::from(byte)).collect();
                serializer.collect_map([(BYTES, characters)])
            }
            Self::Vector(numbers) => serializer.collect_seq(numbers.iter().map(|&number| Number(number))),
            Self::List(parts) => {
                let mut list = serializer.serialize_seq(Some(parts.len()))?;
                parts.iter().try_for_each(|part| list.serialize_element(part))?;
                list.end()
            }
            Self::Object(parts) => {
                let mut map = serializer.serialize_map(Some(parts.len()))?;
                parts.iter().try_for_each(|(name, part)| map.serialize_entry(name, part))?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Output {
    /// From the text itself: a reader of numbers has rounded them before anyone can see their digits.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        Self::read(text.get(), 0).map_err(D::Error::custom)
    }
}

/// The entries of an object in their order, however often a key comes.
struct Entries<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Entries<'de>;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut parts: A) -> Result<Entries<'de>, A::Error> {
                std::iter::from_fn(|| parts.next_entry().transpose()).collect::<Result<_, _>>().map(Entries)
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

impl fmt::Display for Output {
    /// As JSON on one line.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Output {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn every_value_reads_back() {
        for text in [
            "null",
            "true",
            "3",
            "0",
            "18446744073709551617",
            "-9223372036854775809",
            "0.12345678901234567891",
            "[1,1e400]",
            "{\"latin-1\":\"\u{ff}\"}",
            "{\"latin-1\":\"a\"}",
            "1.5",
            "\"nan\"",
            "\"-inf\"",
            "\"\"",
            "[]",
            "[1,2.5]",
            "[1,\"a\"]",
            "[[1,2],[3]]",
            "{}",
            "{\"a\":{\"b\":[null]}}",
            "1e300",
        ] {
            let output = read(text);
            assert_eq!(read(&output.to_string()), output, "{text}");
        }
        assert_eq!(read("3.0").to_string(), "3");
        assert_eq!(read("{\"b\":1,\"a\":2}"), read("{\"a\":2,\"b\":1}"));
    }

    #[test]
    fn outputs_are_equal_if_they_have_the_same_value() {
        let equal = [("0", "-0.0"), ("3", "3.0"), ("1e0", "1"), ("[0, 1]", "[-0.0, 1.0]"), ("\"a\"", "\"\\u0061\"")];
        for (a, b) in equal {
            assert_eq!(read(a), read(b));
            let mut seen = std::collections::HashSet::from([read(a)]);
            assert!(!seen.insert(read(b)) && read(a).to_string() == read(b).to_string(), "{a} {b}");
        }
        assert_eq!(Output::Number(f64::NAN), Output::Number(-f64::NAN));
        let different = [
            "18446744073709551616",
            "18446744073709551617",
            "1.8446744073709552e19",
            "-18446744073709551616",
            "9007199254740992",
            "9007199254740993",
            "0.1",
            "0.10000000000000001",
            "0.100000000000000012",
            "1e400",
            "1e401",
            "\"inf\"",
            "true",
            "\"true\"",
            "1",
            "\"1\"",
            "null",
            "\"null\"",
            "[]",
            "[1]",
            "[1,2]",
            "[[1],2]",
            "[18446744073709551616]",
            "[18446744073709551617]",
            "{}",
            "{\"a\":1}",
            "{\"a\":18446744073709551617}",
            "{\"latin-1\":\"\u{ff}\"}",
            "{\"latin-1\":\"\u{fe}\"}",
            "\"\u{ff}\"",
        ];
        let found: std::collections::BTreeSet<Output> = different.into_iter().map(read).collect();
        assert_eq!(found.len(), different.len());
        assert!(read("[1,2]") < read("[1,3]") && read("[]") < read("[1]"));
    }

    #[test]
    fn what_cannot_be_told_apart_is_rejected() {
        let rejected = |text: &str| serde_json::from_str::<Output>(text).unwrap_err().to_string();
        assert!(rejected("{\"a\":1,\"b\":2,\"a\":1}").contains("the key `a` comes twice in an object"));
        assert!(rejected("[{\"a\":1,\"\\u0061\":2}]").contains("the key `a` comes twice"));
        assert!(rejected("[\"\\ud800\"]").contains("`\"\\ud800\"`: "));
        assert!(rejected(&("[".repeat(200) + &"]".repeat(200))).contains("more than 128 deep"));
        for text in ["", "[1,]", "nul", "01", "{\"a\"}", "1 2", "[1", "NaN"] {
            rejected(text);
        }
        assert_eq!(Output::of_number("1e1"), Ok(Output::Number(10.0)));
        assert!(["\"nan\"", "x", "[1]", ""].into_iter().all(|text| Output::of_number(text).is_err()));
    }
}
