//! The registry entry of a kind of mechanism, and how parameters are written and read.

use super::Mechanism;
use super::data_kind::DataKind;
use crate::accountant::Statement;
use crate::error::{Error, Result, echo};
use crate::quantity::{NoiseScale, Probability};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// The role of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A scale of noise: a larger scale hides more.
    Noise,
    /// A number of votes, which moves with the votes.
    Votes,
    /// Another number.
    Number,
    /// A word, one of a few.
    Word,
    /// A list of numbers.
    List,
}

/// A parameter of a kind of mechanism.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name in the text form and in JSON.
    pub name: &'static str,
    /// Its role.
    pub role: Role,
    /// Round values for simplifying counterexamples, the simplest first; empty if it is not changed alone.
    pub round: &'static [f64],
    /// Whether it may be missing; the mechanism then has a default for it.
    pub optional: bool,
}

impl Parameter {
    /// A scale of noise.
    #[must_use]
    pub const fn noise(name: &'static str) -> Self {
        Self { role: Role::Noise, ..Self::number(name, &[1.0, 2.0, 0.5, 5.0, 10.0, 0.2, 0.1, 40.0, 100.0]) }
    }

    /// A number of votes.
    #[must_use]
    pub const fn votes(name: &'static str) -> Self {
        Self { role: Role::Votes, ..Self::number(name, &[1.0, 0.0, 2.0]) }
    }

    /// A number with its round values.
    #[must_use]
    pub const fn number(name: &'static str, round: &'static [f64]) -> Self {
        Self { name, role: Role::Number, round, optional: false }
    }

    /// A word.
    #[must_use]
    pub const fn word(name: &'static str) -> Self {
        Self { role: Role::Word, ..Self::number(name, &[]) }
    }

    /// A list of numbers.
    #[must_use]
    pub const fn list(name: &'static str) -> Self {
        Self { role: Role::List, ..Self::number(name, &[]) }
    }

    /// The same parameter, made optional.
    #[must_use]
    pub const fn optional(self) -> Self {
        Self { optional: true, ..self }
    }

    /// A value of it from its text form; anything that is not a number or a list of numbers is a word.
    pub(super) fn value(&self, text: &str) -> Value {
        let word = |_| Value::Word(text.into());
        if self.role == Role::List {
            let numbers: std::result::Result<Vec<f64>, _> = text.split('/').map(|one| one.trim().parse()).collect();
            return numbers.map_or_else(word, Value::List);
        }
        text.parse().map_or_else(word, Value::Number)
    }
}

/// A kind of mechanism: its complete description except for parameters.
///
/// Kinds are equal when their names are.
#[derive(Debug)]
pub struct MechanismKind {
    /// The name in the text form, in JSON and on the command line.
    pub name: &'static str,
    /// A text form of it; only the name if none would fit on a line.
    pub example: &'static str,
    /// The kind of its data, which determines the neighbors.
    pub data: DataKind,
    /// Its parameters, in the order in which they are written.
    pub parameters: &'static [Parameter],
    /// Its output in words; `None` if it has none and only evaluates an accountant.
    pub releases: Option<&'static str>,
    /// The theorems that bound one of its outputs, each possibly for some parameters and data only.
    pub theorems: &'static [&'static Statement],
    /// Whether its Rényi divergences are at most 2α/s², s the smallest scale of its noise.
    pub noise_hides: bool,
    /// The mechanism with these parameters.
    pub read: fn(&Parameters) -> Result<Arc<dyn Mechanism>>,
    /// Data that provoke errors: ties, consensus, one vote. With `true`, few classes.
    pub draw_data: fn(&mut ChaCha8Rng, bool) -> Vec<u64>,
    /// Parameters that provoke errors: tiny and huge noise. The number is the largest count of the data.
    pub draw: fn(&mut ChaCha8Rng, u64) -> Option<Arc<dyn Mechanism>>,
}

impl PartialEq for MechanismKind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for MechanismKind {}

impl fmt::Display for MechanismKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name)
    }
}

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
    /// Numbers, separated by slashes in the text form.
    List(Vec<f64>),
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Word(word) => formatter.write_str(word),
            Self::List(numbers) => {
                for (place, number) in numbers.iter().enumerate() {
                    write!(formatter, "{}{number}", if place == 0 { "" } else { "/" })?;
                }
                Ok(())
            }
        }
    }
}

/// Parameters by name, in the order in which they are written.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parameters(Vec<(String, Value)>);

impl Parameters {
    /// The same parameters with a number.
    #[must_use]
    pub fn with(mut self, name: &str, number: f64) -> Self {
        self.set(name, Value::Number(number));
        self
    }

    /// The same parameters with a word.
    #[must_use]
    pub fn with_word(mut self, name: &str, word: &str) -> Self {
        self.set(name, Value::Word(word.into()));
        self
    }

    /// The same parameters with a list of numbers.
    #[must_use]
    pub fn with_list(mut self, name: &str, numbers: &[f64]) -> Self {
        self.set(name, Value::List(numbers.to_vec()));
        self
    }

    /// Adds or replaces a value.
    pub fn set(&mut self, name: &str, value: Value) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.into(), value)),
        }
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// The numbers, including those in lists.
    pub fn numbers(&self) -> impl Iterator<Item = (&str, f64)> {
        self.iter().flat_map(|(name, value)| {
            let numbers = match value {
                Value::Number(number) => std::slice::from_ref(number),
                Value::Word(_) => &[],
                Value::List(numbers) => numbers,
            };
            numbers.iter().map(move |number| (name, *number))
        })
    }

    fn get(&self, name: &str) -> Result<&Value> {
        let found = self.iter().find(|(known, _)| *known == name).map(|(_, value)| value);
        found.ok_or_else(|| rejected(format!("{name} is missing")))
    }

    /// Whether there is a value with this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_ok()
    }

    /// A number.
    ///
    /// # Errors
    /// [`Error::Rejected`] if it is missing or a word.
    pub fn number(&self, name: &str) -> Result<f64> {
        match self.get(name)? {
            Value::Number(number) => Ok(*number),
            other => Err(rejected(format!("{name}: `{}` is not a number", echo(&other.to_string())))),
        }
    }

    /// A list of numbers, which may have a single member.
    ///
    /// # Errors
    /// [`Error::Rejected`] if it is missing or a word.
    pub fn list(&self, name: &str) -> Result<&[f64]> {
        match self.get(name)? {
            Value::Number(number) => Ok(std::slice::from_ref(number)),
            Value::List(numbers) => Ok(numbers),
            Value::Word(word) => {
                Err(rejected(format!("{name}: `{}` is not a list of numbers, such as 0.5/0.5", echo(word))))
            }
        }
    }

    /// A scale of noise.
    ///
    /// # Errors
    /// Those of [`Self::number`] and [`NoiseScale::new`].
    pub fn scale(&self, name: &str) -> Result<NoiseScale> {
        self.in_domain(name, NoiseScale::new)
    }

    /// A probability.
    ///
    /// # Errors
    /// Those of [`Self::number`] and [`Probability::new`].
    pub fn probability(&self, name: &str) -> Result<Probability> {
        self.in_domain(name, Probability::new)
    }

    /// A number checked by its type; the error names the parameter.
    ///
    /// # Errors
    /// Those of [`Self::number`] and of `check`.
    pub fn in_domain<T>(&self, name: &str, check: impl Fn(f64) -> Result<T>) -> Result<T> {
        check(self.number(name)?).map_err(|error| rejected(format!("{name}: {error}")))
    }

    /// A whole number in a range.
    ///
    /// # Errors
    /// Those of [`Self::number`], and [`Error::Rejected`] for any other number.
    pub fn whole(&self, name: &str, [least, most]: [u64; 2]) -> Result<u64> {
        let value = self.number(name)?;
        let reason = format_args!("{name} = {value} is not in [{least}, {most}]");
        required(value >= least as f64 && value <= most as f64, reason)?;
        if value.fract() == 0.0 {
            Ok(value as u64)
        } else {
            Err(rejected(format!("{name} = {value} is not a whole number")))
        }
    }

    /// A finite non-negative number.
    ///
    /// # Errors
    /// Those of [`Self::number`], and [`Error::Rejected`] for any other number.
    pub fn not_negative(&self, name: &str) -> Result<f64> {
        let value = self.number(name)?;
        required((0.0..f64::INFINITY).contains(&value), format_args!("{name} = {value} is not in [0, inf)"))?;
        Ok(value)
    }

    /// A word.
    ///
    /// # Errors
    /// [`Error::Rejected`] if it is missing or a number.
    pub fn word(&self, name: &str) -> Result<&str> {
        match self.get(name)? {
            Value::Word(word) => Ok(word),
            other => Err(rejected(format!("{name}: `{}` is not a word", echo(&other.to_string())))),
        }
    }
}

/// The error for parameters that no mechanism has.
pub const fn rejected(reason: String) -> Error {
    Error::Rejected { operation: "mechanism", reason }
}

/// Returns [`rejected`] unless a condition required by a mechanism holds.
pub fn required(holds: bool, reason: impl fmt::Display) -> Result<()> {
    Error::check_possible(holds, "mechanism", reason)
}

/// Rounder numbers nearby, and a few round ones.
pub fn rounder(value: f64, round: &[f64]) -> Vec<f64> {
    let digits = |digits: usize| format!("{value:.*e}", digits - 1).parse::<f64>().ok();
    round.iter().copied().chain([1, 2, 3].into_iter().filter_map(digits)).filter(|v| *v != value).collect()
}
