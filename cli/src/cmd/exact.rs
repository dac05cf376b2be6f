//! `leakbound exact`.

use super::conclude::{Asked, conclude};
use crate::args::values::{Orders, Parsed, changes, delta, epsilon, histogram, listed, orders};
use crate::args::{ClaimOptions, Common, ThresholdOptions};
use crate::output::Output;
use clap::Args;
use leakbound::distribution::Noise;
use leakbound::histogram::{Changes, VoteHistogram};
use leakbound::mechanism::{DataKind, Mechanism, NoisyArgmax, parse};
use leakbound::quantity::{Delta, Epsilon};
use leakbound::study::{ExactStudy, Searched, Verdict};
use leakbound::{Error, Result};
use serde::{Serialize, Serializer};
use std::sync::Arc;

/// Exact leakage of one answer of a mechanism between two datasets
#[derive(Debug, Args, Serialize)]
#[command(after_help = "Examples:\n  leakbound exact --histogram 14,12,10,8,6 --neighbor 13,13,10,8,6 \
                        --noise gaussian:2 --orders 2,10\n  leakbound exact --mechanism exponential:sigma=2 \
                        --histogram 3,1,4,1,5 --worst-neighbor moved\n  leakbound exact --mechanism \
                        subsampled-gaussian:sigma=2,rate=0.01 --deltas 1e-5\n\nA mechanism whose output is a \
                        number, such as gaussian, has the data 0 without a record and 1 with it. Its outputs are \
                        cut into bins, so that all values are lower ends, at most those of the numbers \
                        themselves.\n\nTheorems are listed next to the exact values if the two datasets are neighbors \
                        as the mechanism defines them.")]
#[command(mut_arg("delta", |delta| delta.help_heading("Advanced")))]
pub struct ExactOptions {
    /// Votes per class of the dataset, such as 14,12,10,8,6 [default if the mechanism releases a number: 0, without the
    /// record]
    #[arg(long, value_parser = histogram, allow_hyphen_values = true)]
    pub histogram: Option<VoteHistogram>,
    /// Votes per class of the neighbor [default if the mechanism releases a number: 1, with the record; 0 if the
    /// histogram is 1]
    #[arg(long, value_parser = histogram, conflicts_with = "worst_neighbor", allow_hyphen_values = true)]
    pub neighbor: Option<VoteHistogram>,
    /// Search all neighbors for the worst instead: one vote moved, added or removed, or shifted (every count changes by
    /// at most 1)
    #[arg(long, value_name = "ADJACENCY")]
    #[arg(hide_possible_values = true, value_parser = listed(changes, Changes::ALL.map(Changes::name)))]
    pub worst_neighbor: Option<Changes>,
    /// A mechanism with its parameters, such as exponential:sigma=2
    #[arg(long, value_name = "NAME:PARAMETER=VALUE,...", value_parser = as_written)]
    #[arg(conflicts_with_all = ["noise", "threshold", "threshold_noise", "threshold_form"])]
    pub mechanism: Option<MechanismText>,
    /// Noise on every count of a noisy argmax: gaussian:sigma=S or laplace:scale=B
    #[arg(long, allow_hyphen_values = true)]
    pub noise: Option<Noise>,
    #[command(flatten)]
    #[serde(flatten)]
    pub threshold: ThresholdOptions,
    /// Rényi orders, such as 2,5 or 2..64
    #[arg(long, value_parser = orders, default_value = "2,4,8,16,32,64", allow_hyphen_values = true, help_heading = "Bounds")]
    pub orders: Orders,
    /// Values of epsilon at which to compute delta
    #[arg(long, value_delimiter = ',', value_parser = epsilon, allow_hyphen_values = true, help_heading = "Bounds")]
    pub epsilons: Vec<Epsilon>,
    /// Values of delta at which to compute epsilon
    #[arg(long, value_name = "D,...", value_delimiter = ',', value_parser = delta, allow_hyphen_values = true, help_heading = "Bounds")]
    pub deltas: Vec<Delta>,
    #[command(flatten)]
    #[serde(flatten)]
    pub claims: ClaimOptions,
}

/// A mechanism as it was written.
#[derive(Debug, Clone)]
pub struct MechanismText {
    text: String,
    pub mechanism: Arc<dyn Mechanism>,
}

impl Serialize for MechanismText {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

fn as_written(text: &str) -> Parsed<MechanismText> {
    let mechanism = parse(text).map_err(|error| error.to_string())?;
    Ok(MechanismText { text: text.trim().to_owned(), mechanism })
}

pub fn run(common: &Common, options: &ExactOptions) -> Result<Verdict> {
    let output = Output::open(common, &[])?;
    let mechanism = mechanism(options)?;
    let kind = mechanism.kind().data;
    let histogram = match &options.histogram {
        Some(histogram) => histogram.clone(),
        None if kind == DataKind::OneRecord => VoteHistogram::new(vec![0])?,
        None => {
            let (words, example) = kind.data_in_words();
            let example = VoteHistogram::new(example.to_vec())?;
            return Err(missing("--histogram", &format!("the {words}, such as {example}"), &*mechanism));
        }
    };
    let searched = match (&options.neighbor, options.worst_neighbor) {
        (Some(neighbor), _) => Searched::Neighbor(neighbor.clone()),
        (None, Some(changes)) => {
            searchable(options, &histogram, changes)?;
            Searched::All(changes)
        }
        (None, None) if kind == DataKind::OneRecord => Searched::Neighbor(other_count(&histogram)?),
        (None, None) => {
            let (data, change) = (kind.data_in_words().0, words(kind.changes()));
            let expected = format!("the {data} of the neighbor, or --worst-neighbor {change}");
            return Err(missing("--neighbor", &expected, &*mechanism));
        }
    };
    let study = ExactStudy {
        mechanism,
        histogram,
        searched,
        orders: options.orders.0.clone(),
        epsilons: options.epsilons.clone(),
        deltas: options.deltas.clone(),
        claims: options.claims.claims(),
    };
    conclude(common, output, &study, Asked { options, inputs: Vec::new(), title: String::new(), warnings: Vec::new() })
}

/// How a mechanism is named.
const NAMED: &str = "name a mechanism: --noise gaussian:sigma=40 is a noisy argmax of votes, --mechanism \
                     exponential:sigma=2 any other; `leakbound mechanisms` lists them all";

fn mechanism(options: &ExactOptions) -> Result<Arc<dyn Mechanism>> {
    match (&options.mechanism, options.noise) {
        (Some(named), _) => Ok(Arc::clone(&named.mechanism)),
        (None, Some(noise)) => Ok(Arc::new(NoisyArgmax { noise, test: options.threshold.test()? })),
        (None, None) => Err(Error::rejected("exact", NAMED)),
    }
}

/// With the record where it is missing, and without it where it is not.
fn other_count(histogram: &VoteHistogram) -> Result<VoteHistogram> {
    VoteHistogram::new(vec![u64::from(histogram.counts() != [1])])
}

/// Rejects the search of a named mechanism where there is no such neighbor, with what there may be.
fn searchable(options: &ExactOptions, histogram: &VoteHistogram, changes: Changes) -> Result<()> {
    let Some(named) = &options.mechanism else { return Ok(()) };
    if histogram.number_of(changes, false) > 0 {
        return Ok(());
    }
    let kind = named.mechanism.kind();
    let of_kind = words(kind.data.changes());
    let reason = format!("no vote of this histogram can be {changes}; neighbors of {kind} have a vote {of_kind}");
    Err(Error::Rejected { operation: "--worst-neighbor", reason })
}

fn words(changes: &[Changes]) -> String {
    changes.iter().map(|changes| changes.name()).collect::<Vec<_>>().join(" or ")
}

fn missing(operation: &'static str, expected: &str, mechanism: &dyn Mechanism) -> Error {
    Error::rejected(operation, format_args!("{} needs {expected}", mechanism.kind()))
}
