//! Mechanisms as data: parameters, neighboring relation, output distributions, samplers, and the theorems that bound
//! them.
//!
//! [`RELEASES`] is the registry of all mechanisms. A mechanism is one file that implements [`Mechanism`] and describes
//! itself, including its theorems, by a [`MechanismKind`], plus one line of the registry.
//!
//! Every mechanism has a text form, which is read by [`parse`] and written by its `Display`:
//!
//! ```
//! # use leakbound::mechanism::parse;
//! let mechanism = parse("subsampled-gaussian:sigma=2,rate=0.01")?;
//! assert_eq!(mechanism.kind().name, "subsampled-gaussian");
//! assert_eq!(mechanism.to_string(), "subsampled-gaussian:sigma=2,rate=0.01");
//! let error = parse("gnmax:sigma=-1").unwrap_err().to_string();
//! assert!(error.contains("noise scale = -1 is not in (0, inf)"), "{error}");
//! # Ok::<(), leakbound::Error>(())
//! ```
//!
//! # Losses
//! The privacy losses of a mechanism are enclosed, composed and amplified by [`divergence`](crate::divergence).
//!
//! One loss:
//!
//! ```
//! # use leakbound::histogram::VoteHistogram;
//! # use leakbound::mechanism::parse;
//! // Laplace noise of scale 2: no loss is above 1/2, and half of the outputs have it.
//! let [without, with] = [vec![0], vec![1]].map(|count| VoteHistogram::new(count).unwrap());
//! let [forward, _] = parse("laplace:sigma=2")?.enclosed_losses(&without, &with, 100)?;
//! let (lower, upper) = (forward.at_least.largest(), forward.at_most.largest());
//! assert!(lower <= 0.5 && 0.5 <= upper && upper - lower < 1e-13);
//! # Ok::<(), leakbound::Error>(())
//! ```
//!
//! A mechanism that seldom sees the record:
//!
//! ```
//! # use leakbound::histogram::VoteHistogram;
//! # use leakbound::mechanism::parse;
//! # use leakbound::quantity::Probability;
//! let [without, with] = [vec![0], vec![1]].map(|count| VoteHistogram::new(count).unwrap());
//! let [removed, added] = parse("laplace:sigma=1")?.enclosed_losses(&without, &with, 100)?;
//! let rate = Probability::new(0.1)?;
//! let largest = [added.with_seldom(rate).at_most.largest(), removed.against_seldom(rate).at_most.largest()];
//! // ln(1 - γ + γ e), and -ln(1 - γ + γ/e).
//! assert!((largest[0] - 0.158_565_079).abs() < 1e-9 && (largest[1] - 0.065_298_336).abs() < 1e-9, "{largest:?}");
//! # Ok::<(), leakbound::Error>(())
//! ```
//!
//! Many of one mechanism, in one direction:
//!
//! ```
//! # use leakbound::divergence::ComposedDirection;
//! # use leakbound::histogram::VoteHistogram;
//! # use leakbound::mechanism::parse;
//! # use leakbound::prelude::*;
//! // DP-SGD with noise 0.8 at a rate of 1 %, a thousand steps, the record removed; the published accountants are 0.5 % apart here.
//! let [without, with] = [vec![0], vec![1]].map(|count| VoteHistogram::new(count).unwrap());
//! let [_, remove] = parse("subsampled-gaussian:sigma=0.8,rate=0.01")?.enclosed_losses(&without, &with, 2_000)?;
//! let delta = Delta::new(1e-5)?;
//! let epsilon = ComposedDirection::of_enclosed(&[(&remove, 1_000)], delta, 1e-3)?.epsilon(delta);
//! assert!(epsilon.lower > 3.139 && epsilon.upper < 3.143, "{epsilon:?}");
//! # Ok::<(), Error>(())
//! ```
//!
//! Many of several mechanisms, in both directions:
//!
//! ```
//! # use leakbound::divergence::compose_losses;
//! # use leakbound::histogram::VoteHistogram;
//! # use leakbound::mechanism::parse;
//! # use leakbound::prelude::*;
//! // A thousand steps of DP-SGD, and a count with Laplace noise.
//! let [without, with] = [vec![0], vec![1]].map(|count| VoteHistogram::new(count).unwrap());
//! let losses = |text: &str| parse(text)?.enclosed_losses(&without, &with, 2_000);
//! let (step, count) = (losses("subsampled-gaussian:sigma=1,rate=0.01")?, losses("laplace:sigma=2")?);
//! let delta = Delta::new(1e-5)?;
//! let composed = compose_losses(&[(&step, 1_000), (&count, 1)], delta, 1e-3)?;
//! let epsilon = composed.epsilon(delta);
//! assert!(epsilon.lower > 2.243 && epsilon.upper < 2.247, "{epsilon:?}");
//! // One direction alone is not a privacy parameter.
//! assert!(composed.in_direction(Direction::Forward).epsilon(delta).upper < 1.87);
//! # Ok::<(), Error>(())
//! ```

mod additive_noise;
mod binned;
mod categorical;
mod data_kind;
mod discrete_laplace_sum;
mod discrete_noise;
#[doc(hidden)]
pub mod draw;
mod family;
mod kind;
mod largest_loss;
mod local;
mod local_rule;
mod local_sampler;
mod loss_lattice;
mod losses;
mod noisy_argmax;
mod one_by_one;
mod poisson;
mod pure;
mod random_votes;
mod randomized_response;
mod replaced_gaussian;
mod selection;
mod shuffled;
mod smooth_release;
mod sparse_vector;
mod staircase;
mod subsampled_gaussian;
#[cfg(test)]
mod tests;
mod truncated_geometric;
mod vector_noise;
mod without_replacement;
mod wrapped;

pub use additive_noise::AdditiveNoise;
pub use categorical::Categorical;
pub use data_kind::DataKind;
pub use discrete_laplace_sum::LaplaceSum;
pub use discrete_noise::{DiscreteNoise, DiscreteRule};
pub use family::NoiseFamily;
pub use kind::{MechanismKind, Parameter, Parameters, Role, Value};
pub use largest_loss::LargestLoss;
pub use local::LocalProtocol;
pub use local_rule::LocalRule;
pub use losses::BothLosses;
pub use noisy_argmax::NoisyArgmax;
pub use poisson::PoissonSubsample;
pub use random_votes::RandomVotes;
pub use randomized_response::RandomizedResponse;
pub use replaced_gaussian::ReplacedGaussian;
pub use selection::{Selection, SelectionRule};
pub use shuffled::ShuffledResponse;
pub use smooth_release::{SmoothPair, SmoothRelease};
pub use sparse_vector::{SparseVector, ThresholdNoise};
pub use staircase::Staircase;
pub use subsampled_gaussian::SubsampledGaussian;
pub use truncated_geometric::TruncatedGeometric;
pub use vector_noise::VectorNoise;
pub use without_replacement::SampledVoters;

#[doc(hidden)]
pub use self::{
    additive_noise::{GAUSSIAN, LAPLACE},
    categorical::CATEGORICAL,
    discrete_laplace_sum::DISCRETE_LAPLACE_SUM,
    discrete_noise::{DISCRETE_GAUSSIAN, DISCRETE_LAPLACE},
    kind::{rejected, required, rounder},
    local::{LOCAL_HASHING, OPTIMIZED_UNARY, SUBSET_SELECTION, SYMMETRIC_UNARY},
    noisy_argmax::{CONFIDENT_GNMAX, CONFIDENT_LNMAX, GNMAX, LNMAX},
    poisson::POISSON,
    randomized_response::RANDOMIZED_RESPONSE,
    replaced_gaussian::SUBSAMPLED_GAUSSIAN_REPLACE,
    selection::{EXPONENTIAL, PERMUTE_AND_FLIP},
    shuffled::SHUFFLED_RESPONSE,
    smooth_release::GNSS,
    sparse_vector::{ABOVE_THRESHOLD, SPARSE_VECTOR},
    staircase::STAIRCASE,
    subsampled_gaussian::SUBSAMPLED_GAUSSIAN,
    truncated_geometric::TRUNCATED_GEOMETRIC,
    vector_noise::{GAUSSIAN_VECTOR, LAPLACE_VECTOR},
    without_replacement::WITHOUT_REPLACEMENT,
};

use crate::accountant::{MIRONOV_GROUP, Scope, Statement, Theorem, WorstCases};
use crate::bound::{Direction, Validity};
use crate::distribution::{OutcomeDistribution, OutputPair};
use crate::divergence::EnclosedLoss;
use crate::error::{Result, echo};
use crate::histogram::VoteHistogram;
use crate::quantity::Order;
use crate::simulate::Sampler;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// The registry: all mechanisms that release something.
pub const RELEASES: &[&MechanismKind] = &[
    GNMAX,
    LNMAX,
    GAUSSIAN,
    LAPLACE,
    SUBSAMPLED_GAUSSIAN,
    CONFIDENT_GNMAX,
    CONFIDENT_LNMAX,
    RANDOMIZED_RESPONSE,
    GNSS,
    EXPONENTIAL,
    PERMUTE_AND_FLIP,
    SYMMETRIC_UNARY,
    OPTIMIZED_UNARY,
    LOCAL_HASHING,
    SUBSET_SELECTION,
    DISCRETE_LAPLACE,
    DISCRETE_GAUSSIAN,
    CATEGORICAL,
    TRUNCATED_GEOMETRIC,
    DISCRETE_LAPLACE_SUM,
    STAIRCASE,
    GAUSSIAN_VECTOR,
    LAPLACE_VECTOR,
    ABOVE_THRESHOLD,
    SPARSE_VECTOR,
    SUBSAMPLED_GAUSSIAN_REPLACE,
    POISSON,
    WITHOUT_REPLACEMENT,
    SHUFFLED_RESPONSE,
];

/// Theorems of no single mechanism: about several records, and about votes that differ by more than one vote.
#[doc(hidden)]
pub const OTHER_THEOREMS: &[&Statement] =
    &[&MIRONOV_GROUP, &noisy_argmax::CONFIDENT_GAUSSIAN, &noisy_argmax::CONFIDENT_LAPLACE];

/// How real-valued outputs are cut into outcomes. Cutting is post-processing: no divergence of the outcomes exceeds
/// that of the outputs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bins {
    /// The Rényi order at which the divergence should be resolved, if any.
    pub order: Option<Order>,
    /// Number of bins for each place where an integrand is large.
    pub count: usize,
}

impl Bins {
    /// Enough bins to keep nearly all of a divergence.
    pub const MANY: usize = 150;

    /// Bins that resolve a Rényi divergence of this order, or hockey-stick divergences.
    #[must_use]
    pub const fn at(order: Option<Order>) -> Self {
        Self { order, count: Self::MANY }
    }
}

/// A mechanism with its parameters.
///
/// Data are votes per class, the answers to queries, or one count, according to its [`DataKind`].
pub trait Mechanism: Any + fmt::Debug + Send + Sync {
    /// Its kind.
    fn kind(&self) -> &'static MechanismKind;

    /// Its parameters, in the order of the kind.
    fn parameters(&self) -> Parameters;

    /// The theorems that bound one output for these data against all neighbors: those of [`MechanismKind::theorems`]
    /// that hold for them.
    fn theorems_for(&self, data: &VoteHistogram, known: &WorstCases) -> Vec<Theorem>;

    /// The distribution of one output for these data; a real number is replaced by its bin.
    ///
    /// # Errors
    /// [`Error::Rejected`](crate::Error::Rejected) for data that the mechanism does not accept, and those of the
    /// computation.
    fn output_distribution(&self, data: &VoteHistogram, bins: Bins) -> Result<OutcomeDistribution>;

    /// Draws outputs for these data and for a neighbor, as outcomes of [`Self::output_distribution`].
    ///
    /// # Errors
    /// As [`Self::output_distribution`].
    fn sampler(&self, data: &VoteHistogram, neighbor: &VoteHistogram, bins: Bins) -> Result<Box<dyn Sampler>>;

    /// The privacy losses between these data and a neighbor, forward and reverse, each enclosed from both sides.
    ///
    /// If outputs are outcomes, the losses are known exactly, as in `known_losses`. Real outputs are cut into about
    /// `bins` cells; see [`EnclosedLoss`].
    ///
    /// # Errors
    /// [`Error::Rejected`](crate::Error::Rejected) if no enclosure is known, which is the default, because binned
    /// outputs would only bound from below. Otherwise those of [`Self::output_distribution`].
    fn enclosed_losses(&self, _: &VoteHistogram, _: &VoteHistogram, _bins: usize) -> Result<BothLosses> {
        Err(rejected(format!("no privacy-loss distribution of {} is known", self.kind())))
    }

    /// The theorems that bound one output if up to `members` records are all added or all removed, or if that number of
    /// votes move. The default is the theorems for one record with Mironov's proposition for groups.
    fn group_theorems(&self, data: &VoteHistogram, members: u64, known: &WorstCases) -> Vec<Theorem> {
        self.theorems_for(data, known).into_iter().filter_map(|theorem| theorem.of_group(members)).collect()
    }

    /// The privacy losses between no record and `members` records, forward and reverse, each enclosed from both sides.
    /// They dominate those of fewer records.
    ///
    /// # Errors
    /// [`Error::Rejected`](crate::Error::Rejected) if no enclosure is known, which is the default.
    fn group_losses(&self, _members: u64, _bins: usize) -> Result<BothLosses> {
        Err(rejected(format!("no privacy-loss distribution of {} is known for groups", self.kind())))
    }

    /// The RDP of one output that holds for any data, as in the literature: the loosest exact theorem for any data.
    fn data_independent(&self, data: &VoteHistogram, order: Order) -> f64 {
        let theorems = self.theorems_for(data, &WorstCases::default());
        let exact = theorems.iter().filter(|theorem| {
            let statement = theorem.statement();
            statement.scope == Scope::AnyData && (statement.validity == Validity::Exact || statement.gap < 1e-6)
        });
        let values = exact.flat_map(|theorem| {
            Direction::BOTH.into_iter().filter_map(|direction| Some(theorem.at(order, direction)?.value))
        });
        values.reduce(f64::max).unwrap_or(f64::INFINITY)
    }

    /// The largest privacy loss of one output, over all data with the same number of classes and all neighbors.
    fn largest_loss(&self, _: &VoteHistogram) -> LargestLoss {
        LargestLoss::Unknown
    }

    /// Whether each person sends a separate output, so that the outputs of a group of people are independent releases.
    /// False for outputs computed from the data of several people together.
    fn is_local(&self) -> bool {
        false
    }

    /// Whether it treats all classes equally: renaming the classes only renames the outputs, so no divergence changes.
    /// False if not determined.
    fn treats_classes_alike(&self) -> bool {
        false
    }

    /// The name of an outcome of [`Self::output_distribution`]; for a class, its number.
    fn label(&self, _: &VoteHistogram, outcome: usize) -> String {
        outcome.to_string()
    }

    /// A mechanism whose single output is equivalent to this many outputs of this one, if there is one.
    fn repeated(&self, _times: u32) -> Option<Arc<dyn Mechanism>> {
        None
    }

    /// The μ for which outputs with and without a record are exactly as distinguishable as N(0, 1) and N(μ, 1), if
    /// there is one. Then every profile has a closed form, also for compositions, whose μ² add up.
    fn gaussian_mu(&self) -> Option<f64> {
        None
    }

    /// The μ for which E_Q (P/Q)^k = e^{k(k-1)μ²/2} for every whole number k, as for P = N(μ, 1) and Q = N(0, 1), if
    /// there is one, and if a one-to-one map of the outputs exchanges the two.
    fn gaussian_moments(&self) -> Option<f64> {
        self.gaussian_mu()
    }

    /// Whether it covers only data with and without a record, not data in which a record is replaced by another: true
    /// for subsamples of varying size.
    fn is_of_added_records(&self) -> bool {
        false
    }

    /// Simpler mechanisms nearby that differ in several parameters together.
    fn simpler(&self) -> Vec<Arc<dyn Mechanism>> {
        Vec::new()
    }
}

impl dyn Mechanism {
    /// The mechanism as its concrete type.
    #[must_use]
    pub fn downcast<M: Mechanism>(&self) -> Option<&M> {
        (self as &dyn Any).downcast_ref()
    }

    /// The distributions of one output for these data and for a neighbor.
    ///
    /// # Errors
    /// Those of [`Mechanism::output_distribution`].
    pub fn output_pair(&self, data: &VoteHistogram, neighbor: &VoteHistogram, bins: Bins) -> Result<OutputPair> {
        OutputPair::new(self.output_distribution(data, bins)?, self.output_distribution(neighbor, bins)?)
    }

    /// The privacy losses between two datasets whose outputs are outcomes: [`Mechanism::enclosed_losses`] for
    /// mechanisms without binning.
    ///
    /// # Errors
    /// Those of [`Mechanism::output_distribution`].
    pub fn known_losses(&self, data: &VoteHistogram, neighbor: &VoteHistogram) -> Result<BothLosses> {
        let pair = self.output_pair(data, neighbor, Bins::at(None))?;
        Ok(Direction::BOTH.map(|direction| EnclosedLoss::known(pair.privacy_loss(direction))))
    }

    /// Whether outputs are cut into bins, so that divergences of [`Mechanism::output_distribution`] are below those of
    /// the outputs.
    ///
    /// ```
    /// # use leakbound::histogram::VoteHistogram;
    /// # use leakbound::mechanism::parse;
    /// assert!(parse("gaussian:sigma=2")?.is_cut(&VoteHistogram::new(vec![0])?)?);
    /// assert!(!parse("exponential:sigma=2")?.is_cut(&VoteHistogram::new(vec![3, 1])?)?);
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Mechanism::output_distribution`].
    pub fn is_cut(&self, data: &VoteHistogram) -> Result<bool> {
        let outputs = self.output_distribution(data, Bins::at(None))?;
        // Outputs that are not cut do not depend on the bins.
        let fewer = Bins { order: None, count: Bins::MANY / 2 };
        for other in [fewer, Bins::at(Some(Order::new(2.0)?))] {
            if self.output_distribution(data, other)? != outputs {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The same mechanism with another number for a parameter; `None` if that is not a mechanism.
    #[must_use]
    pub fn with(&self, name: &str, number: f64) -> Option<Arc<Self>> {
        (self.kind().read)(&self.parameters().with(name, number)).ok()
    }

    /// Values of the parameters of a role.
    pub fn numbers(&self, role: Role) -> Vec<(&'static str, f64)> {
        let parameters = self.parameters();
        let of_role = self.kind().parameters.iter().filter(|parameter| parameter.role == role);
        of_role.filter_map(|parameter| Some((parameter.name, parameters.number(parameter.name).ok()?))).collect()
    }

    /// The same with all noise `factor` times as large; `None` if that is not a mechanism, or without noise.
    #[must_use]
    pub fn with_noise_times(&self, factor: f64) -> Option<Arc<Self>> {
        self.changed(Role::Noise, |scale| scale * factor)
    }

    /// The same after adding this number of votes to every class; `None` if no parameter moves with the votes.
    #[must_use]
    pub fn translated(&self, votes: f64) -> Option<Arc<Self>> {
        self.changed(Role::Votes, |value| value + votes)
    }

    fn changed(&self, role: Role, change: impl Fn(f64) -> f64) -> Option<Arc<Self>> {
        let old = self.numbers(role);
        if old.is_empty() {
            return None;
        }
        let new = old.iter().fold(self.parameters(), |all, &(name, value)| all.with(name, change(value)));
        (self.kind().read)(&new).ok()
    }
}

impl PartialEq for dyn Mechanism {
    fn eq(&self, other: &Self) -> bool {
        self.kind() == other.kind() && self.parameters() == other.parameters()
    }
}

impl fmt::Display for dyn Mechanism {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_text(formatter, self.kind().name, &self.parameters())
    }
}

/// Writes the text form of a mechanism.
pub(crate) fn write_text(formatter: &mut fmt::Formatter<'_>, name: &str, parameters: &Parameters) -> fmt::Result {
    formatter.write_str(name)?;
    for (place, (name, value)) in parameters.iter().enumerate() {
        let before = if place == 0 { ':' } else { ',' };
        match value {
            // The text form of another mechanism.
            Value::Word(word) if word.contains([':', ',']) => write!(formatter, "{before}{name}=[{word}]")?,
            value => write!(formatter, "{before}{name}={value}")?,
        }
    }
    Ok(())
}

/// Letters by which a name may differ from what is taken for a typing error of it.
const NEAR: usize = 2;

/// Reads the text form of a mechanism of the registry, such as `gnmax:sigma=40`. A value in brackets may contain
/// commas, such as that of another mechanism: `poisson:rate=0.1,of=[subsampled-gaussian:sigma=1,rate=0.5]`.
///
/// # Errors
/// [`Error::Rejected`](crate::Error::Rejected) for an unknown mechanism or parameter, for one that is missing or
/// repeated, and for a value outside its domain.
pub fn parse(text: &str) -> Result<Arc<dyn Mechanism>> {
    let (kind, rest) = named(text, RELEASES, |kind| kind.name)?;
    (kind.read)(&read_parameters(kind.name, kind.parameters, rest)?)
}

/// The kind of a text form, and the text of its parameters.
pub(crate) fn named<'a, K>(
    text: &'a str,
    kinds: &[&'static K],
    name_of: impl Fn(&K) -> &'static str,
) -> Result<(&'static K, &'a str)> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let kind = kinds.iter().find(|kind| name_of(kind) == name.trim()).ok_or_else(|| {
        let name = name.trim();
        let abbreviates = |known: &str| name.len() > NEAR && known.starts_with(name);
        let far = |known: &str| if abbreviates(known) { 0 } else { strsim::damerau_levenshtein(known, name) };
        let mut names: Vec<&str> = kinds.iter().map(|kind| name_of(kind)).collect();
        names.sort_by_key(|known| far(known));
        let known = match &names[..] {
            [nearest, ..] if far(nearest) <= NEAR => format!("did you mean `{nearest}`?"),
            known => format!("known: {}", known.join(", ")),
        };
        rejected(format!("unknown mechanism `{}`; {known}", echo(name)))
    })?;
    Ok((kind, rest))
}

/// Parameters of a kind of mechanism from their text form.
pub(crate) fn read_parameters(kind: &str, known: &[Parameter], text: &str) -> Result<Parameters> {
    let mut parameters = Parameters::default();
    for entry in entries(text)?.into_iter().map(str::trim).filter(|entry| !entry.is_empty()) {
        let (name, value) = entry
            .split_once('=')
            .ok_or_else(|| rejected(format!("`{}` is not of the form name=value", echo(entry))))?;
        let (name, value) = (name.trim(), value.trim());
        // The field's word for the noise of Laplace; documents hold `sigma` for every kind.
        let name = if name == "scale" { "sigma" } else { name };
        let Some(parameter) = known.iter().find(|parameter| parameter.name == name) else {
            let names: Vec<&str> = known.iter().map(|parameter| parameter.name).collect();
            return Err(rejected(format!("{kind} has no parameter `{}`; it takes: {}", echo(name), names.join(", "))));
        };
        required(!parameters.iter().any(|(known, _)| known == name), format_args!("{name} comes twice"))?;
        let value = value.strip_prefix('[').and_then(|value| value.strip_suffix(']')).map_or(value, str::trim);
        parameters.set(name, parameter.value(value));
    }
    Ok(parameters)
}

/// The parts between commas outside brackets.
fn entries(text: &str) -> Result<Vec<&str>> {
    let (mut all, mut start, mut open) = (Vec::new(), 0, 0u32);
    for (place, letter) in text.char_indices() {
        match letter {
            '[' => open += 1,
            ']' => open = open.checked_sub(1).ok_or_else(|| rejected("a bracket is not opened".into()))?,
            ',' if open == 0 => {
                all.push(&text[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    required(open == 0, "a bracket is not closed")?;
    all.push(&text[start..]);
    Ok(all)
}
