//! One line of JSON about a sequence.

use super::json::Name;
use super::scalar::{List, number, scalar};
use serde::de::{Deserialize, Deserializer, Unexpected};

/// One sequence.
#[derive(Default, serde::Deserialize)]
#[serde(expecting = "an object with `log_probabilities` and `member`")]
pub(super) struct TextLine {
    pub(super) log_probabilities: Tokens,
    pub(super) log_probability_mean: Option<Vec<f64>>,
    pub(super) log_probability_deviation: Option<Vec<f64>>,
    pub(super) entropy: Option<Vec<f64>>,
    pub(super) reference_log_probabilities: Option<Tokens>,
    pub(super) reference_loss: Option<f64>,
    pub(super) zlib_bytes: Option<f64>,
    pub(super) neighbor_losses: Option<Vec<f64>>,
    pub(super) candidate_losses: Option<Vec<f64>>,
    pub(super) member: Truth,
    pub(super) document: Option<Name>,
    pub(super) text: Option<String>,
}

/// The names of the contents of a recording besides the parts, which have their own names.
pub(super) const OTHERS: [&str; 4] = ["member", "document", "text", "reference_log_probabilities"];

/// A log-probability of a token. Serving APIs write more than that: objects of each token, and null for the first one.
struct Token(f64);

const TOKEN: &str = "a number, the `logprob` of each token; leave a first token out that has null";

scalar!(Token, deserialize_f64, TOKEN, |value| number(value).map(Token));

/// One log-probability of each token.
#[derive(Default)]
pub(super) struct Tokens(pub(super) Vec<f64>);

impl<'de> Deserialize<'de> for Tokens {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let expected = "a list of numbers, `token_logprobs` or each `logprob` of what serving APIs return";
        let tokens = deserializer.deserialize_seq(List::new(usize::MAX, expected))?;
        Ok(Self(tokens.into_iter().map(|Token(value)| value).collect()))
    }
}

/// The keys from which a loss of the reference model and a size may come, the preferred one first.
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

/// The key in which a line differs from the first, if any, and whether it is the line that has it.
pub(super) fn changed_source(first: [Option<usize>; 2], own: [Option<usize>; 2]) -> Option<(&'static str, bool)> {
    KEYS.into_iter().zip(first.into_iter().zip(own)).find_map(|(keys, pair)| match pair {
        (first, own) if first == own => None,
        // A key that would have been taken before the one that was is not there.
        (Some(first), own) if own.is_none_or(|own| own > first) => Some((keys[first], false)),
        (_, own) => Some((keys[own?], true)),
    })
}

/// A truth value, or 0 or 1.
#[derive(Default)]
pub(super) struct Truth(pub(super) bool);

scalar!(Truth, deserialize_any, "true or false", |value| match value {
    Unexpected::Bool(truth) => Ok(Truth(truth)),
    Unexpected::Unsigned(number @ (0 | 1)) => Ok(Truth(number == 1)),
    other => Err(other),
});

#[cfg(test)]
mod tests {
    use super::super::budget::{MemoryBudget, Room};
    use super::super::text_lines::read_lines;
    use std::path::Path;

    /// What serving APIs return, and how to handle it.
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
