//! Outputs of a program.

use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// One output of a program: any value that JSON can write, and numbers that it cannot.
///
/// Two outputs are equal if no program could tell them apart: 0 and -0 are different outputs, all NaN are the same one.
/// A list of numbers only is a [`Vector`](Self::Vector). In JSON NaN and infinities are the strings `nan`, `inf` and
/// `-inf`.
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
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// A list of numbers.
    Vector(Vec<f64>),
    /// Any other list.
    List(Vec<Self>),
    /// Named outputs, by name.
    Object(Vec<(String, Self)>),
}

impl Output {
    /// The number, if it is one.
    #[must_use]
    pub const fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    const fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(_) => 1,
            Self::Number(_) => 2,
            Self::Text(_) => 3,
            Self::Vector(_) => 4,
            Self::List(_) => 5,
            Self::Object(_) => 6,
        }
    }
}

/// The bits of a number, the same ones for every NaN.
const fn bits(number: f64) -> u64 {
    if number.is_nan() { f64::NAN.to_bits() } else { number.to_bits() }
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
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
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
            Self::Text(text) => text.hash(state),
            Self::Vector(numbers) => numbers.iter().for_each(|&number| state.write_u64(bits(number))),
            Self::List(parts) => parts.hash(state),
            Self::Object(parts) => parts.hash(state),
        }
    }
}

/// A number as it is written in JSON: what JSON has no words for is a string.
fn write_number<S: Serializer>(number: f64, serializer: S) -> Result<S::Ok, S::Error> {
    // Whole numbers are written without a point, as programs print counts.
    let whole = number as i64;
    if number.is_nan() {
        serializer.serialize_str("nan")
    } else if number.is_infinite() {
        serializer.serialize_str(if number > 0.0 { "inf" } else { "-inf" })
    } else if whole as f64 == number && whole.unsigned_abs() < 1 << 53 && bits(whole as f64) == bits(number) {
        serializer.serialize_i64(whole)
    } else {
        serializer.serialize_f64(number)
    }
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
            Self::Text(text) => serializer.serialize_str(text),
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
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Output;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number, string, boolean, null, or an array or object of them")
    }

    fn visit_unit<E>(self) -> Result<Output, E> {
        Ok(Output::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Output, E> {
        Ok(Output::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Output, E> {
        Ok(Output::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Output, E> {
        Ok(Output::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Output, E> {
        Ok(Output::Number(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Output, E> {
        Ok(match text {
            "nan" => Output::Number(f64::NAN),
            "inf" => Output::Number(f64::INFINITY),
            "-inf" => Output::Number(f64::NEG_INFINITY),
            _ => Output::Text(text.to_owned()),
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Output, A::Error> {
        let mut numbers = Vec::with_capacity(parts.size_hint().unwrap_or(0).min(1 << 16));
        while let Some(part) = parts.next_element::<Output>()? {
            let Output::Number(number) = part else {
                let mut list: Vec<Output> = numbers.into_iter().map(Output::Number).collect();
                list.push(part);
                while let Some(part) = parts.next_element()? {
                    list.push(part);
                }
                return Ok(Output::List(list));
            };
            numbers.push(number);
        }
        Ok(Output::Vector(numbers))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut parts: A) -> Result<Output, A::Error> {
        let mut object = Vec::new();
        while let Some(part) = parts.next_entry::<String, Output>()? {
            object.push(part);
        }
        object.sort();
        Ok(Output::Object(object))
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
            "-0.0",
            "0",
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
    fn outputs_are_equal_if_nobody_can_tell_them_apart() {
        assert_ne!(read("0"), read("-0.0"));
        assert_eq!(Output::Number(f64::NAN), Output::Number(-f64::NAN));
        assert_eq!(read("3"), read("3.0"));
        assert_ne!(read("[1,2]"), read("[1,2,3]"));
        assert!(read("[1,2]") < read("[1,3]") && read("[]") < read("[1]"));
    }
}
