//! What one line of JSON says of a sequence.

use super::json::Name;
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Unexpected, Visitor};
use std::fmt;

/// One sequence.
#[derive(serde::Deserialize)]
#[serde(expecting = "an object with `log_probabilities` and `member`")]
pub(super) struct TextLine {
    #[serde(deserialize_with = "tokens")]
    pub(super) log_probabilities: Vec<f64>,
    pub(super) log_probability_mean: Option<Vec<f64>>,
    pub(super) log_probability_deviation: Option<Vec<f64>>,
    pub(super) entropy: Option<Vec<f64>>,
    #[serde(default, deserialize_with = "known_tokens")]
    pub(super) reference_log_probabilities: Option<Vec<f64>>,
    pub(super) reference_loss: Option<f64>,
    pub(super) zlib_bytes: Option<f64>,
    pub(super) neighbor_losses: Option<Vec<f64>>,
    pub(super) candidate_losses: Option<Vec<f64>>,
    pub(super) member: Truth,
    pub(super) document: Option<Name>,
    pub(super) text: Option<String>,
}

/// The names of what a recording has beside the parts, which have their own.
pub(super) const OTHERS: [&str; 4] = ["member", "document", "text", "reference_log_probabilities"];

/// A log-probability of a token. Serving APIs write more than that: objects of each token, and null for the first one.
struct Token(f64);

impl<'de> Deserialize<'de> for Token {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Expect;
        impl Visitor<'_> for Expect {
            type Value = Token;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a number, the `logprob` of each token; leave a first token out that has null")
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> std::result::Result<Token, E> {
                Ok(Token(value))
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> std::result::Result<Token, E> {
                Ok(Token(value as f64))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> std::result::Result<Token, E> {
                Ok(Token(value as f64))
            }
        }
        deserializer.deserialize_f64(Expect)
    }
}

/// One log-probability of each token.
struct Tokens(Vec<f64>);

impl<'de> Deserialize<'de> for Tokens {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Expect;
        impl<'de> Visitor<'de> for Expect {
            type Value = Tokens;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of numbers, `token_logprobs` or each `logprob` of what serving APIs return")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> std::result::Result<Tokens, A::Error> {
                let mut values = Vec::new();
                while let Some(Token(value)) = sequence.next_element()? {
                    values.push(value);
                }
                Ok(Tokens(values))
            }
        }
        deserializer.deserialize_seq(Expect)
    }
}

fn tokens<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Vec<f64>, D::Error> {
    Tokens::deserialize(deserializer).map(|Tokens(values)| values)
}

fn known_tokens<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<Vec<f64>>, D::Error> {
    Ok(Option::<Tokens>::deserialize(deserializer)?.map(|Tokens(values)| values))
}

/// The keys from which a loss of the reference model and a size may come, of each the one that is taken first.
const KEYS: [[&str; 2]; 2] = [["reference_loss", "reference_log_probabilities"], ["zlib_bytes", "text"]];

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

/// The key of which a line differs from the first, if any, and whether it is the line that has it.
pub(super) fn changed_source(first: [Option<usize>; 2], own: [Option<usize>; 2]) -> Option<(&'static str, bool)> {
    KEYS.into_iter().zip(first.into_iter().zip(own)).find_map(|(keys, pair)| match pair {
        (first, own) if first == own => None,
        // A key that would have been taken before the one that was is not there.
        (Some(first), own) if own.is_none_or(|own| own > first) => Some((keys[first], false)),
        (_, own) => Some((keys[own?], true)),
    })
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

#[cfg(test)]
mod tests {
    use super::super::budget::{MemoryBudget, Room};
    use super::super::text_lines::read_lines;
    use std::path::Path;

    /// What serving APIs return, and what is to be done with it.
    #[test]
    fn numbers_of_serving_apis_are_explained() {
        let found = |keys: &str| {
            let mut room = Room::new(MemoryBudget::of_bytes(1 << 20));
            let text = format!("{{\"member\": true, {keys}}}");
            read_lines(Path::new("t.jsonl"), text.as_bytes(), &mut room).map(drop).unwrap_err().to_string()
        };
        insta::assert_snapshot!(
            [
                found("\"log_probabilities\": [null, -1.5]"),
                found("\"log_probabilities\": [{\"token\": \"a\", \"logprob\": -0.1}]"),
                found("\"log_probabilities\": [[\"a\", -0.1]]"),
                found("\"log_probabilities\": [\"-0.1\"]"),
                found("\"log_probabilities\": {\"tokens\": [\"a\"], \"token_logprobs\": [-0.1]}"),
                found("\"log_probabilities\": null"),
                found("\"log_probabilities\": [-1], \"reference_log_probabilities\": [null]"),
                found("\"log_probabilities\": [-1], \"log_probabilities\": [-2]"),
            ]
            .join("\n"),
            @r#"
            t.jsonl: line 1, character 43: found null, expected a number, the `logprob` of each token; leave a first token out that has null
            t.jsonl: line 1, character 39: found map, expected a number, the `logprob` of each token; leave a first token out that has null
            t.jsonl: line 1, character 39: found sequence, expected a number, the `logprob` of each token; leave a first token out that has null
            t.jsonl: line 1, character 45: found string "-0.1", expected a number, the `logprob` of each token; leave a first token out that has null
            t.jsonl: line 1, character 38: found map, expected a list of numbers, `token_logprobs` or each `logprob` of what serving APIs return
            t.jsonl: line 1, character 42: found null, expected a list of numbers, `token_logprobs` or each `logprob` of what serving APIs return
            t.jsonl: line 1, character 80: found null, expected a number, the `logprob` of each token; leave a first token out that has null
            t.jsonl: line 1, character 45: found duplicate key `log_probabilities`, expected each key once
            "#
        );
    }

    #[test]
    fn a_number_comes_from_the_same_key_in_every_line() {
        let of = |first: &str, second: &str| {
            let line = |keys: &str, member| format!("{{\"log_probabilities\": [-1], \"member\": {member}{keys}}}\n");
            let text = line(first, true) + &line(second, false);
            let mut room = Room::new(MemoryBudget::of_bytes(1 << 20));
            read_lines(Path::new("t.jsonl"), text.as_bytes(), &mut room).map(drop).map_err(|error| error.to_string())
        };
        let [text, bytes] = [", \"text\": \"abc\"", ", \"zlib_bytes\": 9"];
        let [tokens, loss] = [", \"reference_log_probabilities\": [-1]", ", \"reference_loss\": 1"];
        let both = format!("{text}{bytes}");
        let rejected = |first: &str, second: &str, key: &str, found: &str| {
            let error = of(first, second).unwrap_err();
            assert!(error.starts_with(&format!("t.jsonl: line 2, {key}: found {found}, expected the same")), "{error}");
        };
        rejected(text, bytes, "zlib_bytes", "a key that the first line lacks");
        rejected(text, &both, "zlib_bytes", "a key that the first line lacks");
        rejected(bytes, text, "zlib_bytes", "no such key");
        rejected(&both, text, "zlib_bytes", "no such key");
        rejected(text, "", "text", "no such key");
        rejected("", text, "text", "a key that the first line lacks");
        rejected(tokens, loss, "reference_loss", "a key that the first line lacks");
        rejected(loss, tokens, "reference_loss", "no such key");
        rejected(tokens, "", "reference_log_probabilities", "no such key");
        assert_eq!([of(text, text), of(&both, bytes), of(loss, loss), of("", "")], [const { Ok(()) }; 4]);
    }
}
