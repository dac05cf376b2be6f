//! What the registry knows of a kind of mechanism, and how parameters are written and read.

use super::Mechanism;
use crate::accountant::Statement;
use crate::error::{Error, Result, echo};
use crate::histogram::{Adjacency, Changes, Neighbor, VoteHistogram};
use crate::quantity::{NoiseScale, Probability};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// Which datasets are neighbors. Data are votes per class, counts that answer queries, or one count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// Votes per class; one vote moves to another class.
    MovedVote,
    /// The vote of one voter, who may vote for any class.
    OneVoter,
    /// A count: `[0]` without a record, `[1]` with it.
    OneRecord,
    /// Answers to queries that are counts, one after the other; every answer changes by at most 1, in any direction.
    EveryCount,
}

impl Relation {
    /// The changes that lead from data to a neighbor.
    ///
    /// ```
    /// # use leakbound::histogram::{Adjacency, Changes};
    /// # use leakbound::mechanism::Relation;
    /// assert_eq!(Relation::MovedVote.changes(), [Changes::OneVote(Adjacency::Moved)]);
    /// assert_eq!(Relation::OneRecord.changes(), [Adjacency::Added, Adjacency::Removed].map(Changes::OneVote));
    /// ```
    #[must_use]
    pub const fn changes(self) -> &'static [Changes] {
        match self {
            // The vote of one voter moves, too.
            Self::MovedVote | Self::OneVoter => &[Changes::OneVote(Adjacency::Moved)],
            Self::OneRecord => &[Changes::OneVote(Adjacency::Added), Changes::OneVote(Adjacency::Removed)],
            Self::EveryCount => &[Changes::EveryCount],
        }
    }

    /// Whether all of these changes lead to neighbors.
    ///
    /// ```
    /// # use leakbound::histogram::{Adjacency, Changes};
    /// # use leakbound::mechanism::Relation;
    /// assert!(Relation::EveryCount.covers(Changes::OneVote(Adjacency::Moved)));
    /// assert!(!Relation::MovedVote.covers(Changes::EveryCount));
    /// ```
    #[must_use]
    pub fn covers(self, changes: Changes) -> bool {
        self == Self::EveryCount || self.changes().contains(&changes)
    }

    /// Whether two histograms are equal or neighbors. Equal data are a change that did not matter.
    ///
    /// ```
    /// # use leakbound::histogram::VoteHistogram;
    /// # use leakbound::mechanism::Relation;
    /// let [votes, moved, more] = [vec![3, 1], vec![2, 2], vec![4, 2]].map(|votes| VoteHistogram::new(votes).unwrap());
    /// assert!(Relation::MovedVote.holds(&votes, &moved) && Relation::MovedVote.holds(&votes, &votes));
    /// assert!(!Relation::MovedVote.holds(&votes, &more));
    /// assert!(Relation::EveryCount.holds(&votes, &more));
    /// ```
    #[must_use]
    pub fn holds(self, data: &VoteHistogram, other: &VoteHistogram) -> bool {
        if self == Self::EveryCount {
            return data.is_within_one_of(other);
        }
        let related = |change| self.changes().contains(&Changes::OneVote(change));
        data == other || data.adjacency_to(other).is_some_and(related)
    }

    /// The changes of these data that lead to a neighbor, at most `most`: with `alike` one for those that only swap
    /// classes of equal counts.
    ///
    /// ```
    /// # use leakbound::histogram::VoteHistogram;
    /// # use leakbound::mechanism::Relation;
    /// let answers = VoteHistogram::new(vec![3, 1])?;
    /// assert_eq!(Relation::EveryCount.neighbors(&answers, false, 100)?.len(), 8);
    /// let error = Relation::EveryCount.neighbors(&answers, false, 7).unwrap_err().to_string();
    /// assert_eq!(error, "neighbors: a histogram has 8 neighbors; 7 different ones are looked at");
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Rejected`] where there are more.
    pub fn neighbors(self, data: &VoteHistogram, alike: bool, most: usize) -> Result<Vec<Neighbor>> {
        let changes: &[Changes] = match (self, data.counts()) {
            // A count of 2 is that of no data.
            (Self::OneRecord, [0]) => &[Changes::OneVote(Adjacency::Added)],
            (Self::OneRecord, [1]) => &[Changes::OneVote(Adjacency::Removed)],
            (Self::OneRecord, _) => &[],
            _ => self.changes(),
        };
        let number = |alike| changes.iter().fold(0u64, |sum, &all| sum.saturating_add(data.number_of(all, alike)));
        if number(alike) > most as u64 {
            let found = match number(false) {
                u64::MAX => "too many".to_owned(),
                number => number.to_string(),
            };
            let reason = format!("a histogram has {found} neighbors; {most} different ones are looked at");
            return Err(Error::Rejected { operation: "neighbors", reason });
        }
        Ok(changes.iter().flat_map(|&changes| data.changes(changes, alike)).collect())
    }

    /// Whether neighbors of some data are further apart than those of others: then a figure for all neighbors of given
    /// data says nothing of other data.
    #[must_use]
    pub const fn depends_on_data(self) -> bool {
        matches!(self, Self::MovedVote | Self::EveryCount)
    }

    /// What the data are called, with an example.
    #[must_use]
    pub const fn data_in_words(self) -> (&'static str, &'static [u64]) {
        match self {
            Self::MovedVote => ("votes per class", &[3, 1]),
            Self::OneVoter => ("vote of one voter", &[1, 0, 0]),
            Self::OneRecord => ("number of records", &[0]),
            Self::EveryCount => ("answers to the queries", &[3, 1, 4]),
        }
    }

    /// What makes data neighbors.
    #[must_use]
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::MovedVote => "one vote moves to another class",
            Self::OneVoter => "the voter votes for another class",
            Self::OneRecord => "one record is added or removed",
            Self::EveryCount => "every answer changes by at most 1",
        }
    }
}

/// What a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A scale of noise: more of it hides more.
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
    /// What it is.
    pub role: Role,
    /// Round values that a counterexample is tried with, the simplest first; none where it is not changed alone.
    pub round: &'static [f64],
    /// Whether it may be missing; the mechanism then has a value for it.
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

    /// The same, which may be missing.
    #[must_use]
    pub const fn optional(self) -> Self {
        Self { optional: true, ..self }
    }

    /// A value of it from its text form; what is no number, or no list of them, is a word.
    pub(super) fn value(&self, text: &str) -> Value {
        let word = |_| Value::Word(text.into());
        if self.role == Role::List {
            let numbers: std::result::Result<Vec<f64>, _> = text.split('/').map(|one| one.trim().parse()).collect();
            return numbers.map_or_else(word, Value::List);
        }
        text.parse().map_or_else(word, Value::Number)
    }
}

/// A kind of mechanism: everything that is known of it without its parameters.
///
/// Kinds are equal when their names are.
#[derive(Debug)]
pub struct MechanismKind {
    /// The name in the text form, in JSON and on the command line.
    pub name: &'static str,
    /// A text form of it; the name alone where none would fit on a line.
    pub example: &'static str,
    /// Which data it has, and which are neighbors.
    pub relation: Relation,
    /// Its parameters, in the order in which they are written.
    pub parameters: &'static [Parameter],
    /// What an output of it is, in words; None where it has none and only asks an accountant.
    pub releases: Option<&'static str>,
    /// The theorems that bound an output of it, each perhaps for some parameters and data only.
    pub theorems: &'static [&'static Statement],
    /// Whether its Rényi divergences are at most 2α/s², s the smallest scale of its noise.
    pub noise_hides: bool,
    /// The mechanism with these parameters.
    pub read: fn(&Parameters) -> Result<Arc<dyn Mechanism>>,
    /// Data that look for trouble: ties, consensus, one vote. With `true` of few classes.
    pub draw_data: fn(&mut ChaCha8Rng, bool) -> Vec<u64>,
    /// Parameters that look for trouble: tiny and huge noise. The number is the largest count of the data.
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
    /// Numbers, in the text form with slashes between them.
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
    /// The same with a number.
    #[must_use]
    pub fn with(mut self, name: &str, number: f64) -> Self {
        self.set(name, Value::Number(number));
        self
    }

    /// The same with a word.
    #[must_use]
    pub fn with_word(mut self, name: &str, word: &str) -> Self {
        self.set(name, Value::Word(word.into()));
        self
    }

    /// The same with a list of numbers.
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

    /// The numbers, also those of lists.
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

    /// Whether there is a value of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_ok()
    }

    /// A number.
    ///
    /// # Errors
    /// [`Error::Rejected`] when it is missing or a word.
    pub fn number(&self, name: &str) -> Result<f64> {
        match self.get(name)? {
            Value::Number(number) => Ok(*number),
            other => Err(rejected(format!("{name} = `{}` is no number", echo(&other.to_string())))),
        }
    }

    /// A list of numbers, which may have one member.
    ///
    /// # Errors
    /// [`Error::Rejected`] when it is missing or a word.
    pub fn list(&self, name: &str) -> Result<&[f64]> {
        match self.get(name)? {
            Value::Number(number) => Ok(std::slice::from_ref(number)),
            Value::List(numbers) => Ok(numbers),
            Value::Word(word) => {
                Err(rejected(format!("{name} = `{}` is no list of numbers, such as 0.5/0.5", echo(word))))
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

    /// A number that some type checks; its error names the parameter.
    ///
    /// # Errors
    /// Those of [`Self::number`] and of `check`.
    pub fn in_domain<T>(&self, name: &str, check: impl Fn(f64) -> Result<T>) -> Result<T> {
        check(self.number(name)?).map_err(|error| rejected(format!("{name}: {error}")))
    }

    /// A whole number of a range.
    ///
    /// # Errors
    /// Those of [`Self::number`], and [`Error::Rejected`] for another number.
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

    /// A finite number that is not negative.
    ///
    /// # Errors
    /// Those of [`Self::number`], and [`Error::Rejected`] for another number.
    pub fn not_negative(&self, name: &str) -> Result<f64> {
        let value = self.number(name)?;
        required((0.0..f64::INFINITY).contains(&value), format_args!("{name} = {value} is not in [0, inf)"))?;
        Ok(value)
    }

    /// A word.
    ///
    /// # Errors
    /// [`Error::Rejected`] when it is missing or a number.
    pub fn word(&self, name: &str) -> Result<&str> {
        match self.get(name)? {
            Value::Word(word) => Ok(word),
            other => Err(rejected(format!("{name} = {} is no word", echo(&other.to_string())))),
        }
    }
}

/// The error for what no mechanism is.
pub const fn rejected(reason: String) -> Error {
    Error::Rejected { operation: "mechanism", reason }
}

/// Nothing if something holds that a mechanism needs, else [`rejected`].
pub fn required(holds: bool, reason: impl fmt::Display) -> Result<()> {
    Error::check_possible(holds, "mechanism", reason)
}

/// Rounder numbers nearby, and a few that are round.
pub fn rounder(value: f64, round: &[f64]) -> Vec<f64> {
    let digits = |digits: usize| format!("{value:.*e}", digits - 1).parse::<f64>().ok();
    round.iter().copied().chain([1, 2, 3].into_iter().filter_map(digits)).filter(|v| *v != value).collect()
}
