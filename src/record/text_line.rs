//! What one line of JSON says of a sequence.

use super::json::Name;
use serde::de::{self, Deserialize, Deserializer, Unexpected, Visitor};
use std::fmt;

/// One sequence.
#[derive(serde::Deserialize)]
#[serde(expecting = "an object with `log_probabilities` and `member`")]
pub(super) struct TextLine {
    pub(super) log_probabilities: Vec<f64>,
    pub(super) log_probability_mean: Option<Vec<f64>>,
    pub(super) log_probability_deviation: Option<Vec<f64>>,
    pub(super) entropy: Option<Vec<f64>>,
    pub(super) reference_log_probabilities: Option<Vec<f64>>,
    pub(super) reference_loss: Option<f64>,
    pub(super) zlib_bytes: Option<f64>,
    pub(super) neighbor_losses: Option<Vec<f64>>,
    pub(super) candidate_losses: Option<Vec<f64>>,
    pub(super) member: Truth,
    pub(super) document: Option<Name>,
    pub(super) text: Option<String>,
}

/// The keys from which a number may come, the one that is taken first.
pub(super) const REFERENCE_KEYS: [&str; 2] = ["reference_loss", "reference_log_probabilities"];
/// The same of sizes of texts.
pub(super) const SIZE_KEYS: [&str; 2] = ["zlib_bytes", "text"];

impl TextLine {
    /// Which of the keys the loss of the reference model and the size of the text come from.
    pub(super) fn sources(&self) -> [Option<usize>; 2] {
        let first = |present: [bool; 2]| present.into_iter().position(|present| present);
        [
            first([self.reference_loss.is_some(), self.reference_log_probabilities.is_some()]),
            first([self.zlib_bytes.is_some(), self.text.is_some()]),
        ]
    }
}

/// A truth value, or 0 or 1.
pub(super) struct Truth(pub(super) bool);

impl<'de> Deserialize<'de> for Truth {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Expect;
        impl Visitor<'_> for Expect {
            type Value = Truth;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("true or false")
            }
            fn visit_bool<E: de::Error>(self, value: bool) -> std::result::Result<Truth, E> {
                Ok(Truth(value))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> std::result::Result<Truth, E> {
                match value {
                    0 => Ok(Truth(false)),
                    1 => Ok(Truth(true)),
                    other => Err(E::invalid_value(Unexpected::Unsigned(other), &self)),
                }
            }
        }
        deserializer.deserialize_any(Expect)
    }
}
