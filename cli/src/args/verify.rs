//! Options of `leakbound verify`.

use super::simulate::seconds;
use super::{Parsed, failure_probability, samples, whole};
use clap::{Args, ValueEnum};
use leakbound::mechanism::MechanismKind;
use leakbound::quantity::FailureProbability;
use leakbound::verify::{Case, ClaimScope, Property, subjects};
use serde::{Serialize, Serializer};

/// Options of `leakbound verify`.
#[derive(Debug, Args, Serialize)]
pub struct VerifyOptions {
    /// A built-in accountant, such as gnmax-data-dependent, or a deliberately wrong one, such as broken:gnmax-half;
    /// `list` prints all names
    #[arg(long, value_name = "NAME", required_unless_present = "program", conflicts_with = "program")]
    pub accountant: Option<String>,
    /// A program that reads one JSON request and writes one JSON answer per line: split into arguments as by a shell,
    /// run without one
    #[arg(long, value_name = "COMMAND")]
    pub program: Option<String>,
    /// Properties to test [default: all]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = property)]
    pub property: Vec<PropertyName>,
    /// Number of cases per property
    #[arg(long, value_name = "N", default_value = "2000", value_parser = cases, allow_hyphen_values = true)]
    pub cases: u64,
    /// Time limit in seconds for all properties together
    #[arg(long, value_name = "S", value_parser = seconds, allow_hyphen_values = true)]
    pub time_limit: Option<f64>,
    /// Test only this case, as printed with a counterexample
    #[arg(long, value_name = "JSON", value_parser = case, allow_hyphen_values = true)]
    pub case: Option<CaseText>,
    /// Test Rényi divergences on this many simulated outputs per case and world instead of exact distributions
    #[arg(long, value_name = "SAMPLES", value_parser = samples, conflicts_with = "property", allow_hyphen_values = true)]
    pub simulate: Option<u64>,
    /// Failure probability of all refutations by simulation together
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", requires = "simulate", allow_hyphen_values = true)]
    pub failure_probability: FailureProbability,
    /// Mechanisms to test the program on [default: all that release something]; `gnss` is the release of one pair
    /// of datasets, `conversion` is epsilon and delta of one Rényi divergence, `smooth-sensitivity` a sensitivity
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = mechanism, requires = "program")]
    pub mechanism: Vec<MechanismName>,
    /// What the claims of the program depend on, and the directions in which they are tested: both, unless it says
    /// forward
    #[arg(long, value_enum, default_value = "data-dependent", requires = "program")]
    pub scope: ScopeName,
    /// Time limit in seconds for each answer
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds, requires = "program", allow_hyphen_values = true)]
    pub answer_timeout: f64,
    /// Time limit in seconds for the first answer; a program that does not give one is not started again
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds, requires = "program", allow_hyphen_values = true)]
    pub start_timeout: f64,
}

/// A property by its name.
#[derive(Debug, Clone)]
pub struct PropertyName(pub &'static Property);

impl Serialize for PropertyName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name)
    }
}

/// A mechanism by its name.
#[derive(Debug, Clone, Copy)]
pub struct MechanismName(pub &'static MechanismKind);

impl Serialize for MechanismName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name)
    }
}

/// A case in JSON.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct CaseText(pub Case);

/// What claims depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::enum_variant_names, reason = "the names of the scopes on the command line")]
pub enum ScopeName {
    /// The mechanism alone
    DataIndependent,
    /// The votes too, in both directions
    DataDependent,
    /// The votes too, S against S' only: not an ε of differential privacy
    DataDependentForward,
}

impl From<ScopeName> for ClaimScope {
    fn from(name: ScopeName) -> Self {
        match name {
            ScopeName::DataIndependent => Self::DataIndependent,
            ScopeName::DataDependent => Self::DataDependent,
            ScopeName::DataDependentForward => Self::DataDependentForward,
        }
    }
}

fn property(text: &str) -> Parsed<PropertyName> {
    Property::of_name(text.trim()).map(PropertyName).ok_or_else(|| {
        let names: Vec<&str> = leakbound::verify::PROPERTIES.iter().map(|property| property.name).collect();
        format!("`{text}` is no property; there are {}", names.join(", "))
    })
}

fn mechanism(text: &str) -> Parsed<MechanismName> {
    let found = subjects().into_iter().find(|kind| kind.name == text.trim());
    found.map(MechanismName).ok_or_else(|| {
        let names: Vec<&str> = subjects().iter().map(|kind| kind.name).collect();
        format!("`{text}` is no mechanism; there are {}", names.join(", "))
    })
}

fn case(text: &str) -> Parsed<CaseText> {
    Case::from_json(text).map(CaseText).map_err(|error| error.to_string())
}

fn cases(text: &str) -> Parsed<u64> {
    whole(text, 1_000_000_000, "1e9")
}
