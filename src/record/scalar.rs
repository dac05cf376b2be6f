//! Values of JSON and TOML that may be written in one of several ways, and lists of them.

use serde::de::{self, Deserialize, SeqAccess, Unexpected, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// Reads one number, text or truth value.
pub(super) struct Scalar<T> {
    /// What is expected, for messages.
    pub(super) expected: &'static str,
    /// What is made of the value; if it is unsuitable, what was found.
    pub(super) read: for<'a> fn(Unexpected<'a>) -> Result<T, Unexpected<'a>>,
}

/// Reads a type by one method of the deserializer: what is expected, and what is made of a value.
macro_rules! scalar {
    ($type:ident, $method:ident, $expected:expr, $read:expr) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                deserializer.$method($crate::record::scalar::Scalar { expected: $expected, read: $read })
            }
        }
    };
}
pub(super) use scalar;

impl<T> Scalar<T> {
    fn of<E: de::Error>(self, value: Unexpected<'_>) -> Result<T, E> {
        (self.read)(value).map_err(|found| E::invalid_value(found, &self.expected))
    }
}

impl<T> Visitor<'_> for Scalar<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.expected)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<T, E> {
        self.of(Unexpected::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<T, E> {
        self.of(Unexpected::Signed(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<T, E> {
        self.of(Unexpected::Unsigned(value))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<T, E> {
        self.of(Unexpected::Float(value))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        self.of(Unexpected::Str(text))
    }
}

/// Any number as a double.
pub(super) fn number(value: Unexpected<'_>) -> Result<f64, Unexpected<'_>> {
    match value {
        Unexpected::Float(value) => Ok(value),
        Unexpected::Signed(value) => Ok(value as f64),
        Unexpected::Unsigned(value) => Ok(value as f64),
        other => Err(other),
    }
}

/// Reads a list with at most this many entries.
pub(super) struct List<T> {
    most: usize,
    expected: String,
    entry: PhantomData<T>,
}

impl<T> List<T> {
    pub(super) fn new(most: usize, expected: impl Into<String>) -> Self {
        Self { most, expected: expected.into(), entry: PhantomData }
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for List<T> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.expected)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Vec<T>, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = sequence.next_element()? {
            if entries.len() == self.most {
                return Err(de::Error::invalid_length(entries.len() + 1, &self));
            }
            entries.push(entry);
        }
        Ok(entries)
    }
}
