//! The keys of a scenario file, as they are written.

use super::fault::{fault, hinted, shortened};
use super::scalar::{number, scalar};
use super::toml_text::TomlText;
use crate::counts::MAX_COUNT;
use crate::error::InputError;
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Unexpected, Visitor, value::SeqAccessDeserializer};
use std::fmt;
use std::ops::Range;
use toml::Spanned;

/// A value and its place; `None` if the key is not written.
pub(super) type Key<T> = Option<Spanned<T>>;

/// The keys of the outermost table and of a `[[query]]`; the reader checks which of them may appear where.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Keys {
    pub(super) samples: Key<Whole>,
    pub(super) seed: Key<Whole>,
    pub(super) composition: Key<String>,
    pub(super) query: Option<Vec<Spanned<Self>>>,
    pub(super) name: Key<String>,
    pub(super) model: Key<String>,
    pub(super) noise: Key<String>,
    pub(super) k: Key<Whole>,
    pub(super) p: Key<Distributions>,
    pub(super) p_marked: Key<Distribution>,
    pub(super) changed: Key<Whole>,
    pub(super) parties: Key<Vec<Group>>,
    pub(super) histogram: Key<Vec<Whole>>,
    pub(super) histogram_neighbor: Key<Vec<Whole>>,
    pub(super) p_last: Key<Distribution>,
    pub(super) inclusion: Key<Real>,
    pub(super) rank: Key<Whole>,
    pub(super) rate: Key<Real>,
    pub(super) label: Key<Whole>,
    pub(super) points: Key<Whole>,
}

/// A number of parties with the same distribution.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Group {
    pub(super) count: Whole,
    pub(super) p: Distribution,
}

/// The names of all keys, for hints.
const NAMES: &str = "samples seed composition query name model noise k p p_marked changed parties count histogram \
                     histogram_neighbor p_last inclusion rank rate label points";

/// What is wrong with a list of both kinds.
const MIXED: &str = "numbers mixed with rows";

impl Keys {
    /// The keys of models that are written here, with the places of their values.
    pub(super) fn of_models(&self) -> Vec<(&'static str, Range<usize>)> {
        fn place<T>(key: &Key<T>) -> Option<Range<usize>> {
            key.as_ref().map(Spanned::span)
        }
        let all = [
            ("k", place(&self.k)),
            ("p", place(&self.p)),
            ("p_marked", place(&self.p_marked)),
            ("changed", place(&self.changed)),
            ("parties", place(&self.parties)),
            ("histogram", place(&self.histogram)),
            ("histogram_neighbor", place(&self.histogram_neighbor)),
            ("p_last", place(&self.p_last)),
            ("inclusion", place(&self.inclusion)),
            ("rank", place(&self.rank)),
            ("rate", place(&self.rate)),
            ("label", place(&self.label)),
            ("points", place(&self.points)),
        ];
        all.into_iter().filter_map(|(name, place)| Some((name, place?))).collect()
    }
}

/// Reads the text of a scenario.
pub(super) fn parse(text: &TomlText<'_>) -> Result<Keys, InputError> {
    toml::from_str(text.text).map_err(|error| explain(text, &error))
}

/// Turns a sentence such as `unknown field FOUND, expected one of EXPECTED` into an input error.
fn explain(text: &TomlText<'_>, error: &toml::de::Error) -> InputError {
    let (file, place) = (text.file, text.place(error));
    let sentence = error.message().trim();
    let shown = |text: &str| shortened(text.trim(), 300);
    if let Some(unknown) = sentence.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next()) {
        let expected = sentence.split_once(", expected ").map_or("a key of a scenario", |(_, expected)| expected);
        let error = fault(file, place, format!("the key `{}`", shortened(unknown, 60)), shown(expected));
        let near = |name: &&str| strsim::osa_distance(name, unknown);
        let best = NAMES.split(' ').min_by_key(near).filter(|best| near(best) <= 1 + unknown.len() / 4);
        return match best {
            Some(best) => hinted(error, format!("did you mean `{best}`?")),
            None => error,
        };
    }
    if let Some(missing) = sentence.strip_prefix("missing field ") {
        return fault(file, place, format!("no key {missing}"), "every key of this table");
    }
    let of_value = ["invalid type: ", "invalid value: "].iter().find_map(|start| sentence.strip_prefix(start));
    if let Some((found, expected)) = of_value.and_then(|rest| rest.split_once(", expected ")) {
        return fault(file, place, shown(found), shown(expected));
    }
    if let Some((found, expected)) = sentence.split_once(", expected ").filter(|_| sentence.starts_with(MIXED)) {
        return fault(file, place, found, expected);
    }
    let rest = error.span().and_then(|span| text.text.get(span.start..)).unwrap_or_default();
    let here = rest.lines().next().unwrap_or_default();
    let found = if here.is_empty() { "the end of a line".into() } else { format!("`{}`", shortened(here, 30)) };
    fault(file, place, found, format!("TOML ({})", shown(sentence)))
}

/// A whole number of at least 0, also written with a power of ten: `1e8`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whole(pub(super) u64);

scalar!(Whole, deserialize_any, "a whole number of at least 0, powers of ten up to 2^53", |value| match value {
    Unexpected::Unsigned(number) => Ok(Whole(number)),
    Unexpected::Signed(number) => u64::try_from(number).map(Whole).map_err(|_| value),
    // Above 2^53 a double need not be the number that was written.
    Unexpected::Float(number) if (0.0..=MAX_COUNT as f64).contains(&number) && number.fract() == 0.0 => {
        Ok(Whole(number as u64))
    }
    other => Err(other),
});

/// A number; `1` is also one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Real(pub(super) f64);

scalar!(Real, deserialize_any, "a number", |value| number(value).map(Real));

/// One probability per class.
#[derive(Debug, Clone)]
pub(super) struct Distribution(pub(super) Vec<f64>);

impl<'de> Deserialize<'de> for Distribution {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let numbers = Vec::<Real>::deserialize(deserializer)?;
        Ok(Self(numbers.into_iter().map(|Real(value)| value).collect()))
    }
}

/// One distribution, or one for each party.
#[derive(Debug, Clone)]
pub(super) enum Distributions {
    One(Vec<f64>),
    Rows(Vec<Vec<f64>>),
}

/// A number or a row of them.
enum Entry {
    Number(f64),
    Row(Vec<f64>),
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Expect;
        impl<'de> Visitor<'de> for Expect {
            type Value = Entry;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a probability or a row of probabilities")
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Entry, E> {
                Ok(Entry::Number(value))
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Entry, E> {
                Ok(Entry::Number(value as f64))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Entry, E> {
                Ok(Entry::Number(value as f64))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<Entry, A::Error> {
                Distribution::deserialize(SeqAccessDeserializer::new(sequence)).map(|Distribution(row)| Entry::Row(row))
            }
        }
        deserializer.deserialize_any(Expect)
    }
}

impl<'de> Deserialize<'de> for Distributions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (mut numbers, mut rows) = (Vec::new(), Vec::new());
        for entry in Vec::<Entry>::deserialize(deserializer)? {
            match entry {
                Entry::Number(value) => numbers.push(value),
                Entry::Row(row) => rows.push(row),
            }
        }
        match (numbers.is_empty(), rows.is_empty()) {
            (_, true) => Ok(Self::One(numbers)),
            (true, false) => Ok(Self::Rows(rows)),
            (false, false) => {
                Err(de::Error::custom(format!("{MIXED}, expected one distribution or one row per party")))
            }
        }
    }
}
