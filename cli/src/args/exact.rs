//! Options of `leakbound exact`.

use super::values::{Parsed, changes, delta, epsilon, histogram, orders};
use super::{ClaimOptions, Orders, ThresholdOptions};
use clap::Args;
use leakbound::distribution::Noise;
use leakbound::histogram::{Changes, VoteHistogram};
use leakbound::mechanism::{Mechanism, parse};
use leakbound::quantity::{Delta, Epsilon};
use serde::{Serialize, Serializer};
use std::sync::Arc;

/// Options of `leakbound exact`.
#[derive(Debug, Args, Serialize)]
pub struct ExactOptions {
    /// Votes per class of the dataset, such as 14,12,10,8,6 [default: 0, without the record, for a mechanism of a
    /// number]
    #[arg(long, value_parser = histogram, required_unless_present = "mechanism", allow_hyphen_values = true)]
    pub histogram: Option<VoteHistogram>,
    /// Votes per class of the neighbor [default: 1, with the record, for a mechanism of a number; 0 if the histogram is
    /// 1]
    #[arg(long, value_parser = histogram, required_unless_present_any = ["worst_neighbor", "mechanism"])]
    #[arg(conflicts_with = "worst_neighbor", allow_hyphen_values = true)]
    pub neighbor: Option<VoteHistogram>,
    /// Search all one-vote changes instead: moved, added or removed; or shifted: all changes of every count by at most 1
    #[arg(long, value_name = "ADJACENCY", value_parser = changes)]
    pub worst_neighbor: Option<Changes>,
    /// A mechanism with its parameters, such as exponential:sigma=2
    #[arg(long, value_name = "NAME:PARAMETER=VALUE,...", value_parser = mechanism)]
    #[arg(conflicts_with_all = ["noise", "threshold", "threshold_noise", "threshold_form"])]
    pub mechanism: Option<MechanismText>,
    /// Noise on every count of a noisy argmax: gaussian:SIGMA or laplace:B
    #[arg(long, required_unless_present = "mechanism", allow_hyphen_values = true)]
    pub noise: Option<Noise>,
    /// A test before the argmax
    #[command(flatten)]
    #[serde(flatten)]
    pub threshold: ThresholdOptions,
    /// Rényi orders, such as 2,5 or 2..64
    #[arg(long, value_parser = orders, default_value = "2,4,8,16,32,64", allow_hyphen_values = true)]
    pub orders: Orders,
    /// Values of epsilon at which to compute delta
    #[arg(long, value_delimiter = ',', value_parser = epsilon, allow_hyphen_values = true)]
    pub epsilons: Vec<Epsilon>,
    /// Values of delta at which to compute epsilon
    #[arg(long, value_name = "D,...", value_delimiter = ',', value_parser = delta, allow_hyphen_values = true)]
    pub deltas: Vec<Delta>,
    /// Claims to test
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
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

fn mechanism(text: &str) -> Parsed<MechanismText> {
    let mechanism = parse(text).map_err(|error| error.to_string())?;
    Ok(MechanismText { text: text.trim().to_owned(), mechanism })
}
