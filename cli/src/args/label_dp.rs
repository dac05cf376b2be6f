//! Options of `leakbound label-dp`.

use super::{Parsed, delta, epsilon, failure_probability, number};
use clap::{Args, Subcommand};
use leakbound::quantity::{Delta, Epsilon, FailureProbability};
use serde::Serialize;
use std::path::PathBuf;

/// Audits of label privacy.
#[derive(Debug, Subcommand)]
pub enum LabelDpCommand {
    /// Lower bound of the label-privacy epsilon from wrong labels that a model memorized
    #[command(
        after_help = "Files: npz with `probabilities` or `logits` [canary, class], `labels_true` and `labels_trained` \
                      [canary], of several models with one more axis in front, or CSV with columns label_true,label_trained,p_0,p_1,...\n\nEvery canary was trained on \
                      with a wrong label, drawn uniformly and by itself.\n\nExample:\n  leakbound label-dp memorization \
                      canaries.npz --threshold 0.9 --delta 0"
    )]
    Memorization(MemorizationOptions),
}

/// Options of `leakbound label-dp memorization`.
#[derive(Debug, Args, Serialize)]
pub struct MemorizationOptions {
    /// Canaries
    pub file: PathBuf,
    /// Confidence above which to guess, fixed in advance [default: chosen on a random half of the canaries]
    #[arg(long, value_name = "TAU", value_parser = confidence, allow_hyphen_values = true)]
    pub threshold: Option<f64>,
    /// Delta of the bound and of --claim-epsilon
    #[arg(long, value_name = "D", value_parser = delta, default_value = "0", allow_hyphen_values = true)]
    pub delta: Delta,
    /// Failure probability of the bound
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", allow_hyphen_values = true)]
    pub failure_probability: FailureProbability,
    /// Claim: training is (E, delta)-label-differentially private
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true)]
    pub claim_epsilon: Option<Epsilon>,
}

fn confidence(text: &str) -> Parsed<f64> {
    let value = number(text)?;
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(format!("confidence threshold = {value} is not in [0, 1]"))
    }
}
