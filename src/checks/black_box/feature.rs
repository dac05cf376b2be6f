//! Numbers that describe an output.

use super::output::Output;
use crate::order;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Outputs in which features are searched for, of both worlds together.
const LOOKED_AT: usize = 400;
/// Entries of a list that are separate features.
const MOST_ENTRIES: usize = 256;
/// Entries whose last binary place is also a feature.
const MOST_BITS: usize = 16;
/// Texts, or other values, whose equality is a feature, for each place.
const MOST_VALUES: usize = 8;
/// Characters of a text that are looked at, each in its place, and which ones.
const MOST_CHARACTERS: usize = 64;
const CODE: &str = "0123456789";
/// All features together.
const MOST_FEATURES: usize = 1024;
/// How deeply lists and objects are inspected.
const DEPTH: usize = 4;

/// A step from an output to a part of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
enum Step {
    Entry(usize),
    Name(String),
}

/// What is measured at a place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Measure {
    /// The number itself.
    Value,
    /// The place of the last binary 1 of the number: it is an odd multiple of this power of two.
    LowestBit,
    /// Characters of a text, entries of a list.
    Length,
    /// 1 if the value is this one.
    Equals(Output),
    /// 1 if this character is at this place of a text.
    Character(usize, char),
    /// How often a character occurs in a text.
    Count(char),
    Sum,
    Smallest,
    Largest,
    SumOfMagnitudes,
    Norm,
    /// The place of the largest entry.
    Arg,
    /// Neighboring entries that are equal.
    Repeats,
}

/// Which features tell outputs apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Features {
    /// All that the outputs have, and scores of them that are learned.
    #[default]
    Auto,
    /// The output itself: its value, or the number that it is.
    Identity,
}

/// A number that describes an output: a part of it, or something of a list. NaN if the output has no such part.
///
/// ```
/// # use leakbound::black_box::{Feature, Output};
/// let outputs: Vec<Output> = serde_json::from_str(r#"[{"sum": 1.5}, {"sum": 2.5}]"#)?;
/// let features = Feature::of_outputs(outputs.iter());
/// let sum = features.iter().find(|feature| feature.to_string() == "output.sum").unwrap();
/// assert_eq!(sum.measure(&outputs[1]), 2.5);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Feature {
    path: Vec<Step>,
    measure: Measure,
}

impl Feature {
    /// The features of these outputs, which should be a pilot of both worlds.
    #[must_use]
    pub fn of_outputs<'a>(outputs: impl Iterator<Item = &'a Output>) -> Vec<Self> {
        let mut found = BTreeSet::new();
        let mut values = BTreeMap::new();
        for output in outputs.take(LOOKED_AT) {
            collect(output, &mut Vec::new(), &mut found, &mut values);
        }
        for (path, seen) in values {
            let mut seen: Vec<(Output, usize)> = seen.into_iter().collect();
            order::sort(&mut seen, |a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            // Equality with a value that came only once tells nothing about other outputs.
            let usual = seen.into_iter().filter(|(_, count)| *count > 1).take(MOST_VALUES);
            found.extend(usual.map(|(value, _)| Self { path: path.clone(), measure: Measure::Equals(value) }));
        }
        found.into_iter().take(MOST_FEATURES).collect()
    }

    /// Whether it is the output itself.
    pub(super) fn is_identity(&self) -> bool {
        self.path.is_empty() && self.measure == Measure::Value
    }

    /// Whether it looks at how a number is written in binary, and not at how large it is.
    pub(super) fn is_of_bits(&self) -> bool {
        self.measure == Measure::LowestBit
    }

    /// How hard it is to describe what is measured.
    pub(super) fn difficulty(&self) -> usize {
        1 + self.path.len() + usize::from(self.measure != Measure::Value)
    }

    /// The number.
    #[must_use]
    pub fn measure(&self, output: &Output) -> f64 {
        match (&*self.path, output) {
            // The usual case, without a copy.
            ([Step::Entry(entry)], Output::Vector(numbers)) => {
                numbers.get(*entry).map_or(f64::NAN, |&number| self.of_number(number))
            }
            _ => self.of_part(output, &self.path),
        }
    }

    fn of_part(&self, output: &Output, path: &[Step]) -> f64 {
        let Some((step, rest)) = path.split_first() else { return self.of_whole(output) };
        match (step, output) {
            (Step::Entry(entry), Output::Vector(numbers)) if rest.is_empty() => {
                numbers.get(*entry).map_or(f64::NAN, |&number| self.of_number(number))
            }
            (Step::Entry(entry), Output::List(parts)) => {
                parts.get(*entry).map_or(f64::NAN, |part| self.of_part(part, rest))
            }
            (Step::Name(name), Output::Object(parts)) => {
                parts.iter().find(|(other, _)| other == name).map_or(f64::NAN, |(_, part)| self.of_part(part, rest))
            }
            _ => f64::NAN,
        }
    }

    fn of_number(&self, number: f64) -> f64 {
        match &self.measure {
            Measure::Value => number,
            Measure::LowestBit => lowest_bit(number),
            Measure::Equals(value) => truth(*value == Output::Number(number)),
            _ => f64::NAN,
        }
    }

    fn of_whole(&self, output: &Output) -> f64 {
        if let Measure::Equals(value) = &self.measure {
            return truth(value == output);
        }
        match output {
            Output::Number(number) => self.of_number(*number),
            Output::Decimal(decimal) => self.of_number(decimal.nearest()),
            Output::Text(text) => match self.measure {
                Measure::Length => text.chars().count() as f64,
                Measure::Character(place, character) => truth(text.chars().nth(place) == Some(character)),
                Measure::Count(character) => text.chars().filter(|other| *other == character).count() as f64,
                _ => f64::NAN,
            },
            Output::Bytes(bytes) if self.measure == Measure::Length => bytes.len() as f64,
            Output::List(parts) if self.measure == Measure::Length => parts.len() as f64,
            _ => output.numbers().map_or(f64::NAN, |numbers| of_vector(&self.measure, &numbers)),
        }
    }
}

fn truth(value: bool) -> f64 {
    f64::from(u8::from(value))
}

/// e if the number is an odd multiple of 2^e; infinite for 0, which is a multiple of all.
fn lowest_bit(number: f64) -> f64 {
    if number == 0.0 || !number.is_finite() {
        return f64::INFINITY;
    }
    let exponent = ((number.to_bits() >> 52) & 0x7ff) as i32;
    let significand = number.to_bits() & ((1 << 52) - 1) | if exponent == 0 { 0 } else { 1 << 52 };
    f64::from(exponent.max(1) - 1075 + significand.trailing_zeros() as i32)
}

fn of_vector(measure: &Measure, numbers: &[f64]) -> f64 {
    match measure {
        Measure::Length => numbers.len() as f64,
        Measure::Sum => numbers.iter().sum(),
        Measure::Smallest => numbers.iter().copied().fold(f64::INFINITY, f64::min),
        Measure::Largest => numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        Measure::SumOfMagnitudes => numbers.iter().map(|number| number.abs()).sum(),
        Measure::Norm => numbers.iter().map(|number| number * number).sum::<f64>().sqrt(),
        Measure::Arg => {
            // Adding 0 makes -0 the same number as 0.
            let value = |place: usize| numbers[place] + 0.0;
            let largest = (0..numbers.len()).max_by(|&a, &b| value(a).total_cmp(&value(b)).then(b.cmp(&a)));
            largest.map_or(f64::NAN, |place| place as f64)
        }
        Measure::Repeats => numbers.windows(2).filter(|pair| pair[0] == pair[1]).count() as f64,
        _ => f64::NAN,
    }
}

/// Collects the features of one output, and values whose equality may be one.
fn collect(
    output: &Output,
    path: &mut Vec<Step>,
    found: &mut BTreeSet<Feature>,
    values: &mut BTreeMap<Vec<Step>, BTreeMap<Output, usize>>,
) {
    let mut add = |measure: Measure| _ = found.insert(Feature { path: path.clone(), measure });
    match output {
        Output::Null | Output::Bool(_) | Output::Text(_) | Output::Bytes(_) => {
            if let Output::Bytes(_) = output {
                add(Measure::Length);
            }
            if let Output::Text(text) = output {
                add(Measure::Length);
                for (place, character) in text.chars().take(MOST_CHARACTERS).enumerate() {
                    // Words are told apart by their equality, codes of few characters by these.
                    if CODE.contains(character) {
                        add(Measure::Character(place, character));
                        add(Measure::Count(character));
                    }
                }
            }
            *values.entry(path.clone()).or_default().entry(output.clone()).or_default() += 1;
        }
        Output::Number(_) | Output::Decimal(_) => {
            add(Measure::Value);
            let number = output.number().unwrap_or(f64::NAN);
            if number.fract() != 0.0 {
                add(Measure::LowestBit);
            }
            // What the nearest double does not show.
            if !number.is_finite() || matches!(output, Output::Decimal(_)) {
                *values.entry(path.clone()).or_default().entry(output.clone()).or_default() += 1;
            }
        }
        Output::Vector(_) | Output::List(_) => {
            add(Measure::Length);
            if output.numbers().is_some_and(|numbers| numbers.len() > 1) {
                let whole = [
                    Measure::Sum,
                    Measure::Smallest,
                    Measure::Largest,
                    Measure::SumOfMagnitudes,
                    Measure::Norm,
                    Measure::Arg,
                    Measure::Repeats,
                ];
                whole.into_iter().for_each(&mut add);
            }
            if let Output::Vector(numbers) = output {
                for (entry, number) in numbers.iter().take(MOST_ENTRIES).enumerate() {
                    path.push(Step::Entry(entry));
                    found.insert(Feature { path: path.clone(), measure: Measure::Value });
                    if entry < MOST_BITS && number.fract() != 0.0 {
                        found.insert(Feature { path: path.clone(), measure: Measure::LowestBit });
                    }
                    path.pop();
                }
            }
            if let (Output::List(parts), true) = (output, path.len() < DEPTH) {
                for (entry, part) in parts.iter().take(MOST_ENTRIES).enumerate() {
                    path.push(Step::Entry(entry));
                    collect(part, path, found, values);
                    path.pop();
                }
            }
        }
        Output::Object(parts) => {
            if path.len() < DEPTH {
                for (name, part) in parts {
                    path.push(Step::Name(name.clone()));
                    collect(part, path, found, values);
                    path.pop();
                }
            }
        }
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut place = "output".to_owned();
        for step in &self.path {
            match step {
                Step::Entry(entry) => place += &format!("[{entry}]"),
                Step::Name(name) => place += &format!(".{name}"),
            }
        }
        match &self.measure {
            Measure::Value => formatter.write_str(&place),
            Measure::LowestBit => write!(formatter, "binary place of the last one of {place}"),
            Measure::Length => write!(formatter, "length of {place}"),
            Measure::Equals(value) => write!(formatter, "{place} = {value}"),
            Measure::Character(at, character) => write!(formatter, "{place} has {character} at {at}"),
            Measure::Count(character) => write!(formatter, "how often {character} appears in {place}"),
            Measure::Sum => write!(formatter, "sum of {place}"),
            Measure::Smallest => write!(formatter, "smallest entry of {place}"),
            Measure::Largest => write!(formatter, "largest entry of {place}"),
            Measure::SumOfMagnitudes => write!(formatter, "sum of magnitudes of {place}"),
            Measure::Norm => write!(formatter, "Euclidean norm of {place}"),
            Measure::Arg => write!(formatter, "index of the largest entry of {place}"),
            Measure::Repeats => write!(formatter, "equal neighboring entries of {place}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(text: &str) -> (Vec<Output>, Vec<Feature>) {
        let outputs: Vec<Output> = serde_json::from_str(text).unwrap();
        let features = Feature::of_outputs(outputs.iter());
        (outputs, features)
    }

    fn named<'a>(features: &'a [Feature], name: &str) -> &'a Feature {
        let names: Vec<String> = features.iter().map(ToString::to_string).collect();
        features.iter().find(|feature| feature.to_string() == name).unwrap_or_else(|| panic!("{name}: {names:?}"))
    }

    #[test]
    fn every_kind_of_output_has_features() {
        let (outputs, found) = features("[1.5, 0.1, 2, \"inf\", \"inf\"]");
        assert_eq!(named(&found, "output").measure(&outputs[0]), 1.5);
        let bit = named(&found, "binary place of the last one of output");
        assert_eq!(outputs[..3].iter().map(|output| bit.measure(output)).collect::<Vec<_>>(), [-1.0, -55.0, 1.0]);
        assert_eq!([lowest_bit(f64::from_bits(1)), lowest_bit(3.0 * 2f64.powi(-9))], [-1074.0, -9.0]);
        assert_eq!(named(&found, "output = \"inf\"").measure(&outputs[3]), 1.0);
        let (outputs, found) = features("[[1, 0.1], [4]]");
        assert_eq!(named(&found, "binary place of the last one of output[1]").measure(&outputs[0]), -55.0);
        let (outputs, found) = features("[[1, 3, 3], [4]]");
        for (name, value) in [
            ("output[1]", 3.0),
            ("length of output", 3.0),
            ("sum of output", 7.0),
            ("largest entry of output", 3.0),
            ("index of the largest entry of output", 1.0),
            ("equal neighboring entries of output", 1.0),
            ("Euclidean norm of output", 19f64.sqrt()),
        ] {
            assert_eq!(named(&found, name).measure(&outputs[0]), value, "{name}");
        }
        assert!(named(&found, "output[1]").measure(&outputs[1]).is_nan());
        let (outputs, found) = features("[{\"a\": \"x\", \"b\": [1, \"y\"]}, {\"a\": \"x\"}, null, null, true]");
        assert_eq!(named(&found, "output.a = \"x\"").measure(&outputs[0]), 1.0);
        assert_eq!(named(&found, "output.b[0]").measure(&outputs[0]), 1.0);
        assert!(named(&found, "output.b[0]").measure(&outputs[1]).is_nan());
        assert_eq!(named(&found, "output = null").measure(&outputs[2]), 1.0);
    }
}
