//! Options of `leakbound membership`.

mod names;
mod text;

use super::{failure_probability, number};
use clap::{Args, Subcommand};
use leakbound::audit::FailurePer;
use leakbound::quantity::{FailureProbability, Probability};
pub use names::{
    AnswersName, ComparedName, LevelName, ModeName, PairsName, ScoreName, VarianceName, VariantName, VictimList,
    ViewsName,
};
use names::{bins, probability, resamples_or_none, score, top, variant, victims};
use serde::Serialize;
use std::path::PathBuf;
pub use text::TextOptions;

/// The attacks.
#[derive(Debug, Subcommand)]
pub enum MembershipCommand {
    /// The likelihood-ratio attack (LiRA)
    #[command(
        after_help = "Examples:\n  leakbound membership lira fashion_lira_mislabelled.npz --report lira.html\n  \
                            leakbound membership lira exp/cifar10 --variant carlini-2022 --victims 0,1\n  \
                            leakbound membership lira 'shadow_*.npz' --mode offline --variance pooled\n  \
                            leakbound membership lira simclr.npz --answers encoder\n  \
                            leakbound membership lira selena.npz --answers neighbor\n\n\
                            Files: npz with `logits` [model, sample, view, class] and `labels` [sample], or `scores` \
                            [model, sample, view], or `embeddings` [model, sample, view, dimension] of an encoder, \
                            also beside the others, and `neighbor_logits` like `logits` beside these, and `keep` [model, sample]; a folder with the same as .npy; a \
                            folder of experiment_I_of_N; CSV with model,sample,view,score,member."
    )]
    Lira(LiraOptions),
    /// Label-only attack: logistic regression on which augmented views are classified correctly
    #[command(after_help = "Example:\n  leakbound membership label-only fashion_lira_mislabelled.npz")]
    LabelOnly(LabelOnlyOptions),
    /// Threshold attack: one threshold for all samples
    #[command(after_help = "Example:\n  leakbound membership threshold shadow.npz --score modified-entropy")]
    Threshold(ThresholdAttackOptions),
    /// The robust membership inference attack (RMIA)
    #[command(after_help = "Example:\n  leakbound membership rmia shadow.npz --mode offline --slope 0.3")]
    Rmia(RmiaOptions),
    /// The privacy-risk score: posterior probability of membership, estimated on the other models
    #[command(after_help = "Example:\n  leakbound membership risk shadow.npz --bins 15")]
    Risk(RiskOptions),
    /// Trained attacker: a small network on the sorted confidences of the other models
    #[command(after_help = "Example:\n  leakbound membership attacker shadow.npz --seed 1")]
    Attacker(AttackerOptions),
    /// Membership of the private images of PATE students, budget by budget
    #[command(
        after_help = "File: npz as `leakbound torch student` writes it, or with the same arrays: `private_logits` and \
                      `test_logits` [student, image, class], `private_label` and `test_label` [image], `budget` \
                      [student]; also `baseline_private_logits` and `baseline_test_logits` [model, image, class] of \
                      models that were trained on the private images without privacy.\n\nExample:\n  leakbound \
                      membership students students.npz --report students.html"
    )]
    Students(StudentMembershipOptions),
    /// Membership of texts in the training data of a language model, from log-probabilities of their tokens
    #[command(
        after_help = "Examples:\n  leakbound membership text tokens.jsonl --report text.html\n  leakbound membership \
                      text tokens.npz --scores min-k-plus-plus,reference --fpr 0.01\n\nFiles: npz with `offsets` \
                      [sequence + 1], `log_probabilities` [token] and `member` [sequence]; also \
                      `log_probability_mean`, `log_probability_deviation`, `entropy` and \
                      `reference_log_probabilities` [token], `reference_loss`, `zlib_bytes` and `document` [sequence], \
                      `neighbor_losses` [sequence, neighbor], `candidate_losses` [sequence, candidate]. Or one JSON \
                      object for each sequence, a line each, with keys of the same names, and `text`, of which \
                      sizes are computed that differ by some bytes from those of zlib: record `zlib_bytes` for numbers \
                      to publish; or a Parquet table with a row for each sequence and columns of these names. Candidates have as many tokens as the text and are other texts. Logarithms are \
                      natural; losses are mean negative log-probabilities of a token.\n\nSequences of one document \
                      are not independent: with `document`, documents are what limits count. All limits of all scores \
                      hold at once, those of the score that looks best too: of the area of the distributions, of TPR \
                      and FPR of the rule \"member where score > above\", and of the ROC."
    )]
    Text(TextOptions),
    /// Compare several attacks on one recording
    #[command(
        after_help = "Examples:\n  leakbound membership compare fashion_lira_mislabelled.npz --report attacks.html\n  \
                            leakbound membership compare shadow.npz --attacks lira,threshold,label-only\n\nEach attack \
                            runs with the defaults of its own command. Without --attacks all run that look at what is \
                            recorded. What a recording cannot feed is left out, with the reason as a warning. The best of several attacks is chosen after the fact: its figures are \
                            optimistic."
    )]
    Compare(CompareOptions),
    /// Compare defenses: train the shadow models that are missing, attack the original samples and canaries of each
    /// defense, and test the published findings
    #[command(
        after_help = "A file has the options of `leakbound torch shadow` that all defenses share, and a table for each \
                      defense:\n\n  seed = 1\n  fprs = [0.001, 0.01]\n\n  [shadow]\n  data = \"fashion-mnist\"\n  \
                      models = 16\n  fixed = 4000\n\n  [[defense]]\n  name = \"hamp\"\n  defense = \"hamp\"\n  \
                      attack = \"label-only\"\n  canaries = \"mislabeled\"\n  views = 18\n\n  [[recording]]\n  name = \
                      \"dp-sgd\"\n  defense = \"dp-sgd\"\n  canaries = [{ kind = \"mislabeled\", file = \
                      \"private.npz\" }]\n\nPaths are relative to the folder of the file. A run that was interrupted goes \
                      on when it is repeated. Without the feature `torch` all recordings must be there.\n\nExample:\n  \
                      leakbound membership defenses study.toml --recordings recordings --report defenses.html"
    )]
    Defenses(DefensesOptions),
}

/// Options of every attack: the recording, and what to measure.
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

/// What an attack looks at.
#[derive(Debug, Args, Serialize)]
pub struct AnswerOptions {
    /// Recorded answers that the attack looks at: those on the samples, those at their nearest neighbors, or how alike
    /// the encoder's embeddings of the views of a sample are [default: sample, or encoder where only embeddings are
    /// recorded]
    #[arg(long, value_enum)]
    pub answers: Option<AnswersName>,
    /// With --answers encoder: views that are compared
    #[arg(long, value_enum, default_value = "all")]
    pub pairs: PairsName,
}

/// Victims.
#[derive(Debug, Args, Serialize)]
pub struct VictimOptions {
    /// Victims: loo (leave one out: each model, with all others as shadow models), or held-out models, such as 0,5
    #[arg(long, value_name = "loo|I,J", value_parser = victims, default_value = "loo", allow_hyphen_values = true)]
    pub victims: VictimList,
}

/// What was recorded.
#[derive(Debug, Args, Serialize)]
pub struct RecordingOptions {
    /// Recorded answers: .npz, .csv, folders or glob patterns; several files are more models on the same samples
    #[arg(required_unless_present_any = ["logits", "scores"], value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Logits [model, sample, view, class] in a separate file (.npy)
    #[arg(long, value_name = "FILE.npy", conflicts_with_all = ["files", "scores"], requires_all = ["keep", "labels"])]
    pub logits: Option<PathBuf>,
    /// Scores [model, sample, view] in a separate file (.npy); high means member
    #[arg(long, value_name = "FILE.npy", conflicts_with = "files", requires = "keep")]
    pub scores: Option<PathBuf>,
    /// Class of each sample, with --logits or --scores
    #[arg(long, value_name = "FILE.npy")]
    pub labels: Option<PathBuf>,
    /// Membership [model, sample], with --logits or --scores
    #[arg(long, value_name = "FILE.npy")]
    pub keep: Option<PathBuf>,
}

/// What to measure.
#[derive(Debug, Args, Serialize)]
pub struct MeasureOptions {
    /// False-positive rates at which to report the true-positive rate
    #[arg(long, value_name = "P,...", value_delimiter = ',', value_parser = probability, default_value = "0,0.001,0.01", allow_hyphen_values = true)]
    pub fpr: Vec<Probability>,
    /// Level of the metrics: all guesses pooled, each sample by itself, or both
    #[arg(long, value_enum, default_value = "both")]
    pub level: LevelName,
    /// Also report each class separately
    #[arg(long)]
    pub per_class: bool,
    /// Also report the N most vulnerable samples
    #[arg(long, value_name = "K,...", value_delimiter = ',', value_parser = top, default_value = "10", allow_hyphen_values = true)]
    pub top: Vec<usize>,
    /// Failure probability of each confidence limit
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", allow_hyphen_values = true)]
    pub failure_probability: FailureProbability,
    /// Bootstrap resamples of the victims; 0 for no bands
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
    /// What the attack looks at
    #[command(flatten)]
    #[serde(flatten)]
    pub answers: AnswerOptions,
    /// Score of an answer: logit, hinge, loss, confidence, top-confidence, entropy, modified-entropy or correct; logit
    /// if logits are recorded
    #[arg(long, value_parser = score)]
    pub score: Option<ScoreName>,
    /// Implementation whose formulas to use: leakbound, carlini-2022, tf-amia, tf-offset, aerni-2024 or leakpro
    #[arg(long, value_parser = variant, default_value = "leakbound")]
    pub variant: VariantName,
    /// Shadow models: online (with and without the sample) or offline (without it)
    #[arg(long, value_enum, default_value = "online")]
    pub mode: ModeName,
    /// How variances are estimated
    #[arg(long, value_enum, default_value = "per-sample")]
    pub variance: VarianceName,
    /// How augmented views are combined
    #[arg(long, value_enum, default_value = "independent")]
    pub views: ViewsName,
    /// Victims
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
    /// What the attack looks at
    #[command(flatten)]
    #[serde(flatten)]
    pub answers: AnswerOptions,
    /// Inverse regularization strength C
    #[arg(long, value_name = "C", value_parser = number, default_value = "1", allow_hyphen_values = true)]
    pub strength: f64,
    /// Give the models trained on a sample together the same weight as all others. For few models: without it the
    /// attack guesses the wrong side where answers say nothing
    #[arg(long)]
    pub balanced: bool,
    /// Victims
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
    /// What the attack looks at
    #[command(flatten)]
    #[serde(flatten)]
    pub answers: AnswerOptions,
    /// Score of an answer: logit, hinge, loss, confidence, top-confidence, entropy, modified-entropy or correct; loss
    /// if logits are recorded
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
    /// What the attack looks at
    #[command(flatten)]
    #[serde(flatten)]
    pub answers: AnswerOptions,
    /// Shadow models: online (with and without the sample) or offline (without it)
    #[arg(long, value_enum, default_value = "online")]
    pub mode: ModeName,
    /// Threshold gamma of the pairwise likelihood ratio
    #[arg(long, value_name = "G", value_parser = number, default_value = "2", allow_hyphen_values = true)]
    pub gamma: f64,
    /// Offline: slope of the line from confidences outside to those inside
    #[arg(long, value_name = "A", value_parser = number, default_value = "0.3", allow_hyphen_values = true)]
    pub slope: f64,
    /// Victims
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
    /// What the attack looks at
    #[command(flatten)]
    #[serde(flatten)]
    pub answers: AnswerOptions,
    /// Score of an answer: logit, hinge, loss, confidence, top-confidence, entropy, modified-entropy or correct;
    /// modified-entropy if logits are recorded
    #[arg(long, value_parser = score)]
    pub score: Option<ScoreName>,
    /// Number of equal-count bins
    #[arg(long, value_name = "N", value_parser = bins, default_value = "15", allow_hyphen_values = true)]
    pub bins: usize,
    /// Victims
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
    /// What the attack looks at
    #[command(flatten)]
    #[serde(flatten)]
    pub answers: AnswerOptions,
}

/// Options of `leakbound membership students`.
#[derive(Debug, Args, Serialize)]
pub struct StudentMembershipOptions {
    /// Answers of the students
    pub file: PathBuf,
    /// False-positive rate at which to count the private images that are found
    #[arg(long, value_name = "F", value_parser = probability, default_value = "0.01", allow_hyphen_values = true)]
    pub fpr: Probability,
    /// Bins of the privacy-risk score
    #[arg(long, value_name = "N", value_parser = bins, default_value = "15", allow_hyphen_values = true)]
    pub bins: usize,
    /// Failure probability of all AUC intervals together, and of all TPR intervals together
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", allow_hyphen_values = true)]
    pub failure_probability: FailureProbability,
}

/// Options of `leakbound membership defenses`.
#[derive(Debug, Args, Serialize)]
pub struct DefensesOptions {
    /// The study (TOML)
    #[arg(value_name = "STUDY.toml")]
    pub file: PathBuf,
    /// Folder of the recordings NAME-original.npz and NAME-KIND.npz; those that are missing are trained and kept there
    /// [default: STUDY-recordings beside the study]
    #[arg(long, value_name = "DIR", alias = "out")]
    pub recordings: Option<PathBuf>,
}

/// Options of `leakbound membership compare`.
#[derive(Debug, Args, Serialize)]
pub struct CompareOptions {
    /// Recording and measures
    #[command(flatten)]
    #[serde(flatten)]
    pub study: StudyOptions,
    /// Attacks, most important first [default: all that look at what is recorded]
    #[arg(long, value_enum, value_name = "NAME,...", value_delimiter = ',')]
    pub attacks: Vec<ComparedName>,
    /// Scope of the failure probability of the simultaneous limits: all attacks together, or each attack
    /// (answer, query)
    #[arg(long, value_name = "answer|query", default_value = "answer")]
    pub failure_per: FailurePer,
    /// Victims
    #[command(flatten)]
    #[serde(flatten)]
    pub victims: VictimOptions,
}
