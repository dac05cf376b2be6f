//! Options of `leakbound membership`.

mod names;

use super::{failure_probability, number};
use crate::audit::FailurePer;
use crate::quantity::{FailureProbability, Probability};
use clap::{Args, Subcommand};
pub use names::{ComparedName, LevelName, ModeName, ScoreName, VarianceName, VariantName, VictimList, ViewsName};
use names::{bins, probability, resamples_or_none, score, top, variant, victims};
use serde::Serialize;
use std::path::PathBuf;

/// The attacks.
#[derive(Debug, Subcommand)]
pub enum MembershipCommand {
    /// The likelihood ratio attack: how the answers of models with a sample differ from those of models without
    #[command(
        after_help = "Examples:\n  leakbound membership lira fashion_lira_mislabelled.npz --report lira.html\n  \
                            leakbound membership lira exp/cifar10 --variant carlini-2022 --victims 0,1\n  \
                            leakbound membership lira 'shadow_*.npz' --mode offline --variance pooled\n\n\
                            Files: npz with `logits` [model, sample, view, class] and `labels` [sample], or `scores` \
                            [model, sample, view], and `keep` [model, sample]; a folder with the same as .npy; a \
                            folder of experiment_I_of_N; CSV with model,sample,view,score,member."
    )]
    Lira(LiraOptions),
    /// Logistic regression on which views are answered correctly, nothing else
    #[command(after_help = "Example:\n  leakbound membership label-only fashion_lira_mislabelled.npz")]
    LabelOnly(LabelOnlyOptions),
    /// One threshold for the answers on all samples
    #[command(after_help = "Example:\n  leakbound membership threshold shadow.npz --score modified-entropy")]
    Threshold(ThresholdAttackOptions),
    /// The relative attack: confidences against those of other models, held against other samples
    #[command(after_help = "Example:\n  leakbound membership rmia shadow.npz --mode offline --slope 0.3")]
    Rmia(RmiaOptions),
    /// The privacy-risk score: the probability of membership given the answer, from the other models
    #[command(after_help = "Example:\n  leakbound membership risk shadow.npz --bins 15")]
    Risk(RiskOptions),
    /// A small network trained on the sorted confidences of other models
    #[command(after_help = "Example:\n  leakbound membership attacker shadow.npz --seed 1")]
    Attacker(AttackerOptions),
    /// Several attacks on one recording, side by side
    #[command(
        after_help = "Examples:\n  leakbound membership compare fashion_lira_mislabelled.npz --report attacks.html\n  \
                            leakbound membership compare shadow.npz --attacks lira,threshold,label-only\n\nEach attack \
                            runs with the defaults of its own command. What a recording cannot feed is left out, with the \
                            reason as a warning. The best of several attacks is chosen after the fact: its figures are \
                            optimistic."
    )]
    Compare(CompareOptions),
}

/// What every attack is told: what was recorded, and what is to be measured.
#[derive(Debug, Args, Serialize)]
pub struct StudyOptions {
    /// The recording
    #[command(flatten)]
    #[serde(flatten)]
    pub recording: RecordingOptions,
    /// What to measure
    #[command(flatten)]
    #[serde(flatten)]
    pub measure: MeasureOptions,
}

/// Who is attacked.
#[derive(Debug, Args, Serialize)]
pub struct VictimOptions {
    /// Victims: loo (each model, the others are shadow models), or models that are held out, such as 0,5
    #[arg(long, value_name = "loo|I,J", value_parser = victims, default_value = "loo", allow_hyphen_values = true)]
    pub victims: VictimList,
}

/// What was recorded.
#[derive(Debug, Args, Serialize)]
pub struct RecordingOptions {
    /// Recorded answers: .npz, .csv, folders, patterns; several are more models on the same samples
    #[arg(required_unless_present_any = ["logits", "scores"], value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Logits [model, sample, view, class] in a file of their own (.npy)
    #[arg(long, value_name = "FILE.npy", conflicts_with_all = ["files", "scores"], requires_all = ["keep", "labels"])]
    pub logits: Option<PathBuf>,
    /// Scores [model, sample, view] in a file of their own (.npy); high means member
    #[arg(long, value_name = "FILE.npy", conflicts_with = "files", requires = "keep")]
    pub scores: Option<PathBuf>,
    /// The class of each sample, beside --logits or --scores
    #[arg(long, value_name = "FILE.npy")]
    pub labels: Option<PathBuf>,
    /// Which model was trained on which sample, beside --logits or --scores
    #[arg(long, value_name = "FILE.npy")]
    pub keep: Option<PathBuf>,
}

/// What is measured of the guesses.
#[derive(Debug, Args, Serialize)]
pub struct MeasureOptions {
    /// False positive rates at which the true positive rate is wanted
    #[arg(long, value_name = "P,...", value_delimiter = ',', value_parser = probability, default_value = "0,0.001,0.01", allow_hyphen_values = true)]
    pub fpr: Vec<Probability>,
    /// Guesses that are pooled: all of them, those of single samples, or both
    #[arg(long, value_enum, default_value = "both")]
    pub level: LevelName,
    /// Also each class on its own
    #[arg(long)]
    pub per_class: bool,
    /// Numbers of most vulnerable samples to pool
    #[arg(long, value_name = "K,...", value_delimiter = ',', value_parser = top, default_value = "10", allow_hyphen_values = true)]
    pub top: Vec<usize>,
    /// The probability that a limit is wrong
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", allow_hyphen_values = true)]
    pub failure_probability: FailureProbability,
    /// Resamples of the victims behind the bootstrap bands; 0 for no bands
    #[arg(long, value_name = "N", value_parser = resamples_or_none, default_value = "1000", allow_hyphen_values = true)]
    pub resamples: usize,
}

/// Options of `leakbound membership lira`.
#[derive(Debug, Args, Serialize)]
pub struct LiraOptions {
    /// Recording and measures
    #[command(flatten)]
    #[serde(flatten)]
    pub study: StudyOptions,
    /// Score of an answer: logit, hinge, loss, confidence, top-confidence, entropy, modified-entropy or correct; logit if
    /// logits are recorded
    #[arg(long, value_parser = score)]
    pub score: Option<ScoreName>,
    /// Whose formulas: leakbound, carlini-2022, tf-amia, tf-offset, aerni-2024 or leakpro
    #[arg(long, value_parser = variant, default_value = "leakbound")]
    pub variant: VariantName,
    /// Models that a victim is held against
    #[arg(long, value_enum, default_value = "online")]
    pub mode: ModeName,
    /// Where variances come from
    #[arg(long, value_enum, default_value = "per-sample")]
    pub variance: VarianceName,
    /// How views are taken together
    #[arg(long, value_enum, default_value = "independent")]
    pub views: ViewsName,
    /// Who is attacked
    #[command(flatten)]
    #[serde(flatten)]
    pub victims: VictimOptions,
}

/// Options of `leakbound membership label-only`.
#[derive(Debug, Args, Serialize)]
pub struct LabelOnlyOptions {
    /// Recording and measures
    #[command(flatten)]
    #[serde(flatten)]
    pub study: StudyOptions,
    /// Strength C of the loss against the penalty
    #[arg(long, value_name = "C", value_parser = number, default_value = "1", allow_hyphen_values = true)]
    pub strength: f64,
    /// Who is attacked
    #[command(flatten)]
    #[serde(flatten)]
    pub victims: VictimOptions,
}

/// Options of `leakbound membership threshold`.
#[derive(Debug, Args, Serialize)]
pub struct ThresholdAttackOptions {
    /// Recording and measures
    #[command(flatten)]
    #[serde(flatten)]
    pub study: StudyOptions,
    /// Score of an answer: logit, hinge, loss, confidence, top-confidence, entropy, modified-entropy or correct; loss if
    /// logits are recorded
    #[arg(long, value_parser = score)]
    pub score: Option<ScoreName>,
}

/// Options of `leakbound membership rmia`.
#[derive(Debug, Args, Serialize)]
pub struct RmiaOptions {
    /// Recording and measures
    #[command(flatten)]
    #[serde(flatten)]
    pub study: StudyOptions,
    /// Models that a victim is held against
    #[arg(long, value_enum, default_value = "online")]
    pub mode: ModeName,
    /// How many times larger the ratio must be than that of another sample
    #[arg(long, value_name = "G", value_parser = number, default_value = "2", allow_hyphen_values = true)]
    pub gamma: f64,
    /// Offline: slope of the line from confidences outside to those inside
    #[arg(long, value_name = "A", value_parser = number, default_value = "0.3", allow_hyphen_values = true)]
    pub slope: f64,
    /// Who is attacked
    #[command(flatten)]
    #[serde(flatten)]
    pub victims: VictimOptions,
}

/// Options of `leakbound membership risk`.
#[derive(Debug, Args, Serialize)]
pub struct RiskOptions {
    /// Recording and measures
    #[command(flatten)]
    #[serde(flatten)]
    pub study: StudyOptions,
    /// Score of an answer: logit, hinge, loss, confidence, top-confidence, entropy, modified-entropy or correct;
    /// modified-entropy if logits are recorded
    #[arg(long, value_parser = score)]
    pub score: Option<ScoreName>,
    /// Bins with equally many scores
    #[arg(long, value_name = "N", value_parser = bins, default_value = "15", allow_hyphen_values = true)]
    pub bins: usize,
    /// Who is attacked
    #[command(flatten)]
    #[serde(flatten)]
    pub victims: VictimOptions,
}

/// Options of `leakbound membership attacker`.
#[derive(Debug, Args, Serialize)]
pub struct AttackerOptions {
    /// Recording and measures
    #[command(flatten)]
    #[serde(flatten)]
    pub study: StudyOptions,
}

/// Options of `leakbound membership compare`.
#[derive(Debug, Args, Serialize)]
pub struct CompareOptions {
    /// Recording and measures
    #[command(flatten)]
    #[serde(flatten)]
    pub study: StudyOptions,
    /// Attacks, most important first; all of them if not given
    #[arg(long, value_enum, value_name = "NAME,...", value_delimiter = ',')]
    pub attacks: Vec<ComparedName>,
    /// What the failure probability of the limits of all samples is for: all attacks together, or each by itself
    /// (answer, query)
    #[arg(long, value_name = "answer|query", default_value = "answer")]
    pub failure_per: FailurePer,
    /// Who is attacked
    #[command(flatten)]
    #[serde(flatten)]
    pub victims: VictimOptions,
}
