//! `leakbound audit confusion`: two outcomes, one declared output set.

use super::conclude::{Asked, conclude};
use crate::args::values::count;
use crate::args::{BoundOptions, Common, FurtherOptions};
use crate::output::Output;
use clap::Args;
use leakbound::Result;
use leakbound::study::{ConfusionStudy, Verdict};
use serde::Serialize;

#[derive(Debug, Args, Serialize)]
pub struct ConfusionOptions {
    /// Members called members
    #[arg(long = "tp", value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub true_positives: u64,
    /// Members called non-members
    #[arg(long = "fn", value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub false_negatives: u64,
    /// Non-members called members
    #[arg(long = "fp", value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub false_positives: u64,
    /// Non-members called non-members
    #[arg(long = "tn", value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub true_negatives: u64,
    #[command(flatten)]
    #[serde(flatten)]
    pub bound: BoundOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub further: FurtherOptions,
}

pub fn run(common: &Common, options: &ConfusionOptions) -> Result<Verdict> {
    let output = Output::open(common, &[])?;
    let study = ConfusionStudy {
        true_positives: options.true_positives,
        false_negatives: options.false_negatives,
        false_positives: options.false_positives,
        true_negatives: options.true_negatives,
        bounds: options.bound.bounds(),
        epsilons: options.further.epsilons.clone(),
        trade_off: options.further.trade_off,
        forecasts: !output.has_bounds_alone(),
        seed: common.seed,
    };
    let title = format!(
        "Confusion matrix of an attack: TP {}, FN {}, FP {}, TN {}; forward is members against non-members",
        options.true_positives, options.false_negatives, options.false_positives, options.true_negatives
    );
    conclude(common, output, &study, Asked { options, inputs: Vec::new(), title, warnings: Vec::new() })
}
