//! A request to an accountant: a mechanism, its votes, and one question. The JSON form is a contract.

use super::known_rdp::CONVERSION;
use super::smooth_cost::SMOOTH_SENSITIVITY;
use super::token_ensemble::ENSEMBLES;
use crate::error::{Error, Result, echo};
use crate::histogram::VoteHistogram;
use crate::json;
use crate::mechanism::{Mechanism, MechanismKind, Parameters, RELEASES, Value};
use crate::quantity::{Delta, Epsilon, Order};
use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What an accountant may be queried on: all mechanisms that release something, answers of ensembles of language models,
/// one Rényi divergence to convert, and a smooth sensitivity.
#[must_use]
pub fn subjects() -> Vec<&'static MechanismKind> {
    [RELEASES, ENSEMBLES, &[CONVERSION, SMOOTH_SENSITIVITY]].concat()
}

/// The mechanism in a request: its name and its parameters, alongside the other fields.
mod flat {
    use super::*;
    use serde::ser::SerializeMap;

    pub(super) fn serialize<S: Serializer>(
        mechanism: &Arc<dyn Mechanism>,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        let parameters = mechanism.parameters();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("mechanism", mechanism.kind().name)?;
        for (name, value) in parameters.iter() {
            match value {
                Value::Number(number) => map.serialize_entry(name, number)?,
                Value::Word(word) => map.serialize_entry(name, word)?,
                Value::List(numbers) => map.serialize_entry(name, numbers)?,
            }
        }
        map.end()
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(
        deserializer: D,
    ) -> std::result::Result<Arc<dyn Mechanism>, D::Error> {
        let fields = serde_json::Map::<String, serde_json::Value>::deserialize(deserializer)?;
        let name = fields.get("mechanism").ok_or_else(|| D::Error::missing_field("mechanism"))?;
        let kind = name.as_str().and_then(|name| subjects().into_iter().find(|kind| kind.name == name));
        let kind = kind.ok_or_else(|| {
            let names: Vec<&str> = subjects().iter().map(|kind| kind.name).collect();
            D::Error::custom(format!("unknown mechanism {name}; known: {}", names.join(", ")))
        })?;
        let mut parameters = Parameters::default();
        for parameter in kind.parameters {
            let value = match fields.get(parameter.name) {
                None if parameter.optional => continue,
                None => return Err(D::Error::missing_field(parameter.name)),
                Some(value) => value_of(value).ok_or_else(|| {
                    D::Error::custom(format!(
                        "{} = {value} is neither a number nor a word nor a list of numbers",
                        parameter.name
                    ))
                })?,
            };
            parameters.set(parameter.name, value);
        }
        (kind.read)(&parameters).map_err(D::Error::custom)
    }

    fn value_of(json: &serde_json::Value) -> Option<Value> {
        match json {
            serde_json::Value::String(word) => Some(Value::Word(word.clone())),
            serde_json::Value::Array(numbers) => {
                numbers.iter().map(serde_json::Value::as_f64).collect::<Option<_>>().map(Value::List)
            }
            other => other.as_f64().map(Value::Number),
        }
    }
}

/// What is asked; the others of order, ε and δ are absent from the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// `order`: the Rényi divergence at this order.
    Order(Order),
    /// `delta`: the ε at this δ.
    Delta(Delta),
    /// `epsilon`: the δ at this ε.
    Epsilon(Epsilon),
}

/// One question to an accountant, in its JSON form:
/// ```json
/// {"mechanism": "gnmax", "sigma": 2.0, "histogram": [3, 1], "repetitions": 1, "order": 8.0}
/// ```
/// The answer `{"value": 0.5}` claims, by the question: D_α ≤ 0.5 at `order`; (0.5, δ)-differential privacy at `delta`;
/// (ε, 0.5)-differential privacy at `epsilon`. It is about `repetitions` independent outputs for the same votes, and
/// about their distribution under `histogram` against that under every neighbor (against `neighbor` only, if there is
/// one). `{"error": "reason"}` declines.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Request {
    /// `mechanism` and its parameters.
    #[serde(flatten, with = "flat")]
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    pub mechanism: Arc<dyn Mechanism>,
    /// Votes per class, or the single count, as the mechanism's relation requires.
    pub histogram: VoteHistogram,
    /// The one neighbor in question, if not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbor: Option<VoteHistogram>,
    /// Independent outputs for the same votes.
    #[serde(default = "once")]
    pub repetitions: u32,
    /// `order`, `delta` or `epsilon`.
    #[serde(flatten)]
    pub question: Question,
}

// Not derived: a derive moves out of the `Arc` of a trait object.
impl PartialEq for Request {
    fn eq(&self, other: &Self) -> bool {
        let key = |request: &Self| (request.repetitions, request.question);
        *self.mechanism == *other.mechanism
            && self.histogram == other.histogram
            && self.neighbor == other.neighbor
            && key(self) == key(other)
    }
}

const fn once() -> u32 {
    1
}

/// A request with the factor by which properties that compare two requests change the order or the noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Case {
    /// The first request.
    #[serde(flatten)]
    pub request: Request,
    /// A factor above 1.
    #[serde(default = "double")]
    pub factor: f64,
}

const fn double() -> f64 {
    2.0
}

impl Case {
    /// Reads a case from its JSON form.
    ///
    /// # Errors
    /// [`Error::Rejected`](crate::Error::Rejected) when the text is not a case.
    ///
    /// # Example
    /// ```
    /// # use leakbound::verify::Case;
    /// let case = Case::from_json(r#"{"mechanism": "gnmax", "sigma": 2, "histogram": [3, 1], "order": 8}"#)?;
    /// assert_eq!(case.request.repetitions, 1);
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    pub fn from_json(text: &str) -> Result<Self> {
        let reject = |reason: String| Error::Rejected { operation: "case", reason };
        let case: Self = json::from_str(text).map_err(|error| reject(error.to_string()))?;
        // Anything that is not part of it would be dropped: a misspelled key, a second question.
        if let Some(key) = case.dropped(text) {
            let kind = case.request.mechanism.kind();
            let reason = format!(
                "the key `{}` is not used; in addition to mechanism, histogram, neighbor, repetitions, factor and one \
                 of order, delta and epsilon, a case of {} has {}",
                echo(&key),
                kind.name,
                kind.parameters.iter().map(|parameter| parameter.name).collect::<Vec<_>>().join(", ")
            );
            return Err(reject(reason));
        }
        let (factor, repetitions) = (case.factor, case.request.repetitions);
        let reason = format_args!("factor = {factor} is not in (1, inf)");
        Error::check_possible(factor > 1.0 && factor.is_finite(), "case", reason)?;
        let reason = format_args!("repetitions = {repetitions} is not in [1, 1e6]");
        Error::check_possible((1..=MAX_REPETITIONS).contains(&repetitions), "case", reason)?;
        Ok(case)
    }

    /// A key of the text that this case was read from that is not part of the case.
    fn dropped(&self, text: &str) -> Option<String> {
        let keys = |text: &str| json::from_str::<BTreeMap<String, IgnoredAny>>(text).unwrap_or_default();
        let (own, parameters) = (keys(&self.json()), self.request.mechanism.kind().parameters);
        let known = |key: &String| {
            own.contains_key(key) || key == "neighbor" || parameters.iter().any(|parameter| parameter.name == key)
        };
        keys(text).into_keys().find(|key| !known(key))
    }

    /// The case as one line of JSON.
    #[must_use]
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The same case with another question.
    #[must_use]
    pub fn asking(&self, question: Question) -> Request {
        Request { question, ..self.request.clone() }
    }
}

/// The most repetitions of a case.
const MAX_REPETITIONS: u32 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_read_back_as_they_are_written() {
        let texts = [
            r#"{"mechanism":"gnmax","sigma":2.0,"histogram":[3,1],"repetitions":1,"order":8.0,"factor":2.0}"#,
            r#"{"mechanism":"subsampled-gaussian","sigma":2.0,"rate":0.1,"histogram":[3],"repetitions":4,"delta":1e-5,"factor":1.5}"#,
            r#"{"mechanism":"randomized-response","sigma":2.0,"histogram":[0,1,0],"repetitions":1,"order":8.0,"factor":2.0}"#,
            r#"{"mechanism":"conversion","rdp":0.5,"rdp_order":8.0,"histogram":[0],"repetitions":1,"delta":1e-5,"factor":2.0}"#,
            r#"{"mechanism":"smooth-sensitivity","sigma":2.0,"beta":0.1,"histogram":[3,1],"repetitions":1,"order":8.0,"factor":2.0}"#,
            r#"{"mechanism":"gnss","sigma":5.0,"beta":0.02,"step":0.98,"width":1.0,"neighbor_width":0.981,"histogram":[0],"repetitions":1,"order":8.0,"factor":2.0}"#,
            r#"{"mechanism":"confident-gnmax","sigma":2.0,"threshold":3.5,"threshold_sigma":1.0,"threshold_form":"per-class","histogram":[3,1],"neighbor":[2,2],"repetitions":1,"epsilon":0.5,"factor":2.0}"#,
        ];
        for text in texts {
            let case = Case::from_json(text).unwrap();
            let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(value(&case.json()), value(text));
        }
        let short = Case::from_json(r#"{"mechanism":"gnmax","sigma":2,"histogram":[3,1],"order":8}"#).unwrap();
        assert_eq!(short, Case::from_json(texts[0]).unwrap());
        let case = Case::from_json(r#"{"mechanism":"staircase","sigma":0.5,"histogram":[0],"order":2}"#).unwrap();
        let default = crate::mechanism::parse("staircase:sigma=0.5").unwrap();
        assert_eq!(case.request.mechanism.to_string(), default.to_string());
    }

    #[test]
    fn what_is_no_case_is_rejected() {
        for text in [
            "",
            "[]",
            r#"{"mechanism":"gnmax","sigma":0,"histogram":[3,1],"order":8}"#,
            r#"{"mechanism":"gnmax","sigma":1,"histogram":[3,1]}"#,
            r#"{"mechanism":"gnmax","sigma":1,"histogram":[],"order":8}"#,
            r#"{"mechanism":"gnmax","sigma":1,"histogram":[3,1],"order":1}"#,
            r#"{"mechanism":"gnmax","sigma":1,"histogram":[3,1],"order":2,"repetitions":0}"#,
            r#"{"mechanism":"gnmax","sigma":1,"histogram":[3,1],"order":2,"factor":1}"#,
            r#"{"mechanism":"other","sigma":1,"histogram":[3,1],"order":2}"#,
            r#"{"mechanism":"conversion","rdp":-1,"rdp_order":2,"histogram":[0],"delta":0.1}"#,
            r#"{"mechanism":"smooth-sensitivity","sigma":1,"beta":-1,"histogram":[3,1],"order":2}"#,
        ] {
            assert!(Case::from_json(text).is_err(), "{text}");
        }
        let rejected = |text: &str| Case::from_json(text).unwrap_err().to_string();
        for (more, words) in [
            (r#""order":8,"sigma":3"#, "duplicate key `sigma` at line 1 column"),
            (r#""order":8,"order":9"#, "duplicate"),
            (r#""order":8,"delta":1e-5"#, "the key `delta` is not used"),
            (r#""order":8,"repetition":5"#, "the key `repetition` is not used; in addition to mechanism, histogram,"),
            (r#""order":8,"rate":0.5"#, "a case of gnmax has sigma"),
        ] {
            let error = rejected(&format!(r#"{{"mechanism":"gnmax","sigma":2,"histogram":[3,1],{more}}}"#));
            assert!(error.starts_with("case: ") && error.contains(words), "{error}");
        }
        let text = r#"{"mechanism":"gnmax","sigma":2,"histogram":[3,1],"neighbor":null,"order":8,"factor":3}"#;
        assert_eq!(Case::from_json(text).unwrap().factor, 3.0);
    }
}
