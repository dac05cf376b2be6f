//! Options of `leakbound calibrate`.

use super::values::{Parsed, delta, epsilon, histogram, mu, number, quantity, samples};
use clap::{ArgGroup, Args};
use leakbound::histogram::VoteHistogram;
use leakbound::mechanism::NoiseFamily;
use leakbound::quantity::{Delta, Epsilon, Probability};
use serde::{Serialize, Serializer};

/// Options of `leakbound calibrate`.
#[derive(Debug, Args, Serialize)]
#[command(group = ArgGroup::new("goal").required(true).args(["epsilon", "mu", "tpr", "advantage", "posterior"]))]
pub struct CalibrateOptions {
    /// A mechanism whose scale of noise is a question mark, such as subsampled-gaussian:sigma=?,rate=0.01
    #[arg(long, value_name = "NAME:PARAMETER=?,...", value_parser = family)]
    pub mechanism: FamilyText,
    /// How often the mechanism is run, such as the steps of a training
    #[arg(long, value_name = "N", value_parser = samples, default_value = "1", allow_hyphen_values = true)]
    pub times: u64,
    /// Votes per class, of mechanisms on votes: how many classes there are; of one voter its vote, such as 1,0,0
    #[arg(long, value_parser = histogram, allow_hyphen_values = true)]
    pub histogram: Option<VoteHistogram>,
    /// Goal: (epsilon, delta)-differential privacy
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true)]
    pub epsilon: Option<Epsilon>,
    /// Delta of the goal for epsilon
    #[arg(long, value_name = "D", value_parser = delta, default_value = "1e-5", allow_hyphen_values = true)]
    pub delta: Delta,
    /// Goal: mu-Gaussian differential privacy
    #[arg(long, value_name = "MU", value_parser = mu, allow_hyphen_values = true)]
    pub mu: Option<f64>,
    /// Goal: the largest true-positive rate of any attacker, at --fpr
    #[arg(long, value_name = "RATE", value_parser = share, allow_hyphen_values = true)]
    pub tpr: Option<Probability>,
    /// Goal: the largest difference of any attacker's true- and false-positive rate
    #[arg(long, value_name = "SHARE", value_parser = share, allow_hyphen_values = true)]
    pub advantage: Option<Probability>,
    /// Goal: the largest share of members among those that any attacker accuses, at --fpr and with --prior
    #[arg(long, value_name = "SHARE", value_parser = share, allow_hyphen_values = true)]
    pub posterior: Option<Probability>,
    /// False-positive rate of the goals for TPR and posterior
    #[arg(long, value_name = "RATE", value_parser = share, default_value = "0.01", allow_hyphen_values = true)]
    pub fpr: Probability,
    /// Share of members among all whom the attacker looks at, for the goal for posterior
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "0.5", allow_hyphen_values = true)]
    pub prior: Probability,
}

/// A mechanism with an open scale, as it was written.
#[derive(Debug, Clone)]
pub struct FamilyText(pub NoiseFamily);

impl Serialize for FamilyText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

fn family(text: &str) -> Parsed<FamilyText> {
    NoiseFamily::parse(text).map(FamilyText).map_err(|error| error.to_string())
}

fn share(text: &str) -> Parsed<Probability> {
    number(text)?;
    quantity(text, Probability::new)
}
