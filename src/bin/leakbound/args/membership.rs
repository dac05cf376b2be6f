//! Options of `leakbound membership`.

use super::{Parsed, failure_probability, number, resamples, whole};
use clap::{Args, Subcommand, ValueEnum};
use leakbound::{FailureProbability, LiraVariant, MembershipScore, Probability, Victims};
use serde::{Serialize, Serializer};
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

/// Whose guesses are pooled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LevelName {
    /// All samples, and classes
    Population,
    /// The most vulnerable samples
    Sample,
    /// Both
    Both,
}

/// Options of `leakbound membership lira`.
#[derive(Debug, Args, Serialize)]
pub struct LiraOptions {
    /// The recording
    #[command(flatten)]
    #[serde(flatten)]
    pub recording: RecordingOptions,
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
    /// Victims: loo (each model, the others are shadow models), or models that are held out, such as 0,5
    #[arg(long, value_name = "loo|I,J", value_parser = victims, default_value = "loo", allow_hyphen_values = true)]
    pub victims: VictimList,
    /// What to measure
    #[command(flatten)]
    #[serde(flatten)]
    pub measure: MeasureOptions,
}

/// Options of `leakbound membership label-only`.
#[derive(Debug, Args, Serialize)]
pub struct LabelOnlyOptions {
    /// The recording
    #[command(flatten)]
    #[serde(flatten)]
    pub recording: RecordingOptions,
    /// Strength C of the loss against the penalty
    #[arg(long, value_name = "C", value_parser = number, default_value = "1", allow_hyphen_values = true)]
    pub strength: f64,
    /// Victims: loo (each model, the others are shadow models), or models that are held out, such as 0,5
    #[arg(long, value_name = "loo|I,J", value_parser = victims, default_value = "loo", allow_hyphen_values = true)]
    pub victims: VictimList,
    /// What to measure
    #[command(flatten)]
    #[serde(flatten)]
    pub measure: MeasureOptions,
}

/// Options of `leakbound membership threshold`.
#[derive(Debug, Args, Serialize)]
pub struct ThresholdAttackOptions {
    /// The recording
    #[command(flatten)]
    #[serde(flatten)]
    pub recording: RecordingOptions,
    /// Score of an answer: logit, hinge, loss, confidence, top-confidence, entropy, modified-entropy or correct; loss if
    /// logits are recorded
    #[arg(long, value_parser = score)]
    pub score: Option<ScoreName>,
    /// What to measure
    #[command(flatten)]
    #[serde(flatten)]
    pub measure: MeasureOptions,
}

/// Options of `leakbound membership rmia`.
#[derive(Debug, Args, Serialize)]
pub struct RmiaOptions {
    /// The recording
    #[command(flatten)]
    #[serde(flatten)]
    pub recording: RecordingOptions,
    /// Models that a victim is held against
    #[arg(long, value_enum, default_value = "online")]
    pub mode: ModeName,
    /// How many times larger the ratio must be than that of another sample
    #[arg(long, value_name = "G", value_parser = number, default_value = "2", allow_hyphen_values = true)]
    pub gamma: f64,
    /// Offline: slope of the line from confidences outside to those inside
    #[arg(long, value_name = "A", value_parser = number, default_value = "0.3", allow_hyphen_values = true)]
    pub slope: f64,
    /// Victims: loo (each model, the others are shadow models), or models that are held out, such as 0,5
    #[arg(long, value_name = "loo|I,J", value_parser = victims, default_value = "loo", allow_hyphen_values = true)]
    pub victims: VictimList,
    /// What to measure
    #[command(flatten)]
    #[serde(flatten)]
    pub measure: MeasureOptions,
}

/// Options of `leakbound membership risk`.
#[derive(Debug, Args, Serialize)]
pub struct RiskOptions {
    /// The recording
    #[command(flatten)]
    #[serde(flatten)]
    pub recording: RecordingOptions,
    /// Score of an answer: logit, hinge, loss, confidence, top-confidence, entropy, modified-entropy or correct;
    /// modified-entropy if logits are recorded
    #[arg(long, value_parser = score)]
    pub score: Option<ScoreName>,
    /// Bins with equally many scores
    #[arg(long, value_name = "N", value_parser = bins, default_value = "15", allow_hyphen_values = true)]
    pub bins: usize,
    /// Victims: loo (each model, the others are shadow models), or models that are held out, such as 0,5
    #[arg(long, value_name = "loo|I,J", value_parser = victims, default_value = "loo", allow_hyphen_values = true)]
    pub victims: VictimList,
    /// What to measure
    #[command(flatten)]
    #[serde(flatten)]
    pub measure: MeasureOptions,
}

/// Options of `leakbound membership attacker`.
#[derive(Debug, Args, Serialize)]
pub struct AttackerOptions {
    /// The recording
    #[command(flatten)]
    #[serde(flatten)]
    pub recording: RecordingOptions,
    /// What to measure
    #[command(flatten)]
    #[serde(flatten)]
    pub measure: MeasureOptions,
}

/// Models that a victim is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModeName {
    /// Those with the sample and those without
    Online,
    /// Those without the sample
    Offline,
    /// Those with the sample (LiRA as tf-amia)
    InOnly,
}

/// Where variances come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum VarianceName {
    /// The models on the sample itself; for 64 models and more
    PerSample,
    /// All samples; for few models
    Pooled,
}

/// How views are taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ViewsName {
    /// Log densities are added up
    Independent,
    /// One normal vector with a shrunk covariance
    Multivariate,
}

/// A score by its name.
#[derive(Debug, Clone, Copy)]
pub struct ScoreName(pub MembershipScore);

/// A variant by its name.
#[derive(Debug, Clone, Copy)]
pub struct VariantName(pub LiraVariant);

/// Victims as they are written.
#[derive(Debug, Clone)]
pub struct VictimList(pub Victims);

impl Serialize for ScoreName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl Serialize for VariantName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl Serialize for VictimList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Victims::LeaveOneOut => serializer.serialize_str("loo"),
            Victims::HeldOut(victims) => victims.serialize(serializer),
        }
    }
}

fn score(text: &str) -> Parsed<ScoreName> {
    text.trim().parse().map(ScoreName).map_err(|error: leakbound::Error| error.to_string())
}

fn variant(text: &str) -> Parsed<VariantName> {
    text.trim().parse().map(VariantName).map_err(|error: leakbound::Error| error.to_string())
}

fn victims(text: &str) -> Parsed<VictimList> {
    text.trim().parse().map(VictimList).map_err(|error: leakbound::Error| error.to_string())
}

fn probability(text: &str) -> Parsed<Probability> {
    Probability::new(number(text)?).map_err(|error| error.to_string())
}

fn top(text: &str) -> Parsed<usize> {
    whole(text, 1_000_000_000, "1e9").map(|count| count as usize)
}

fn bins(text: &str) -> Parsed<usize> {
    whole(text, 10_000, "10000").map(|bins| bins as usize)
}

fn resamples_or_none(text: &str) -> Parsed<usize> {
    if text.trim() == "0" { Ok(0) } else { resamples(text) }
}
