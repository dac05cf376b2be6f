//! Options of `leakbound label-dp`.

use super::{Parsed, delta, epsilon, failure_probability, number};
use clap::{Args, Subcommand};
use leakbound::quantity::{Delta, Epsilon, FailureProbability};
use serde::{Serialize, Serializer};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Audits of label privacy.
#[derive(Debug, Subcommand)]
pub enum LabelDpCommand {
    /// Lower bound of the label-privacy epsilon from wrong labels that a model memorized
    #[command(
        after_help = "Files: npz with `probabilities` or `logits` [canary, class], `labels_true` and `labels_trained` \
                      [canary], of several models with one more axis in front, or CSV with columns \
                      label_true,label_trained,p_0,p_1,...\n\nEvery canary was trained on \
                      with a wrong label, drawn uniformly and by itself.\n\nExample:\n  leakbound label-dp memorization \
                      canaries.npz --threshold 0.9 --delta 0"
    )]
    Memorization(MemorizationOptions),
    /// Mechanisms of label privacy side by side: accuracy, claimed epsilon, and what memorized labels show
    #[command(
        after_help = "Recordings: npz files of `torch label-dp` and `torch pate-fm`, or with the same arrays: those of \
                      `label-dp memorization`, `test_accuracy` [model], `epsilon` and `delta`.\n\nMechanisms with \
                      published findings: alibi, randomized-response, lp-2st, pate-fm; others are compared without \
                      findings.\n\nExample:\n  leakbound label-dp compare alibi=alibi.npz lp-2st=stages.npz"
    )]
    Compare(LabelCompareOptions),
    /// Train mechanisms of label privacy at several epsilons where recordings are missing, and compare them
    #[command(
        after_help = "A study (TOML):\n  seed = 1\n  [label-dp]                    # options of `torch label-dp`\n  data \
                      = \"fashion-mnist\"\n  models = 4\n  [pate-fm]                     # options of `torch \
                      pate-fm`\n  data = \"fashion-mnist\"\n  [[mechanism]]\n  name = \"alibi\"                \
                      # recordings alibi-1.npz, alibi-2.npz\n  mechanism = \"alibi\"\n  vary = { epsilon = [1, 2] \
                      }\n  [[mechanism]]\n  name = \"pate\"\n  mechanism = \"pate-fm\"\n  teachers = 100\n  \
                      [[recording]]                 # recorded elsewhere\n  name = \"theirs\"\n  mechanism = \
                      \"alibi\"\n  file = \"theirs.npz\"\n\nPaths are relative to the folder of the file. A run that \
                      was interrupted goes on when it is repeated. Without the feature `torch` all recordings must be \
                      there.\n\nExample:\n  leakbound label-dp mechanisms study.toml --report mechanisms.html"
    )]
    Mechanisms(LabelMechanismsOptions),
}

/// Options of `leakbound label-dp mechanisms`.
#[derive(Debug, Args, Serialize)]
pub struct LabelMechanismsOptions {
    /// The study (TOML)
    #[arg(value_name = "STUDY.toml")]
    pub file: PathBuf,
    /// Folder of the recordings; those that are missing are trained and kept there [default: STUDY-recordings beside the
    /// study]
    #[arg(long, value_name = "DIR", alias = "out")]
    pub recordings: Option<PathBuf>,
}

/// Options of `leakbound label-dp compare`.
#[derive(Debug, Args, Serialize)]
pub struct LabelCompareOptions {
    /// Recordings with their mechanisms; a mechanism may come several times
    #[arg(value_name = "MECHANISM=FILE.npz", required = true)]
    pub recordings: Vec<NamedRecording>,
    /// Failure probability of all bounds together, and of each band of accuracies
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", allow_hyphen_values = true)]
    pub failure_probability: FailureProbability,
}

/// A file, and which mechanism it is a recording of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedRecording {
    /// The mechanism.
    pub mechanism: String,
    /// The file.
    pub file: PathBuf,
}

impl FromStr for NamedRecording {
    type Err = String;

    fn from_str(text: &str) -> Parsed<Self> {
        match text.split_once('=') {
            Some((mechanism, file)) if !mechanism.is_empty() && !file.is_empty() => {
                Ok(Self { mechanism: mechanism.into(), file: file.into() })
            }
            _ => Err("expected MECHANISM=FILE.npz, such as alibi=canaries.npz".into()),
        }
    }
}

impl fmt::Display for NamedRecording {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}={}", self.mechanism, self.file.display())
    }
}

impl Serialize for NamedRecording {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
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
