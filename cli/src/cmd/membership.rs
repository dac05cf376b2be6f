//! `leakbound membership`: attacks on recorded answers of shadow models, and what they show.

use super::compared::{COMPARED, Compared, wanted};
use super::conclude::{Asked, publish, watched};
use super::shadow_answers::RecordingOptions;
use super::{defenses, shadow_answers, student_membership, text_membership};
use crate::args::Common;
use crate::args::values::{
    Choice, Names, Parsed, choice, failure_probability, listed, named, number, probability, resamples, whole,
};
use crate::output::Output;
use clap::{Args, Subcommand};
use leakbound::Result;
use leakbound::audit::FailurePer;
use leakbound::membership::{
    LabelOnlyPlan, LiraMode, LiraPlan, LiraVariance, LiraVariant, LiraViews, MembershipPlan, MembershipScore, RmiaPlan,
    Victims, ViewPairs,
};
use leakbound::quantity::{FailureProbability, Probability};
use leakbound::record::ShadowRecording;
use leakbound::study::{
    Attack, ComparisonStudy, Levels, LooksAt, Measures, MembershipAnswer, MembershipStudy, RecordedAnswers, Verdict,
};
use serde::{Serialize, Serializer};
use std::path::Path;

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
                            also together with the others, and `neighbor_logits` like `logits` together with these, \
                            and `keep` [model, sample]; a folder with the same as .npy; a \
                            folder of experiment_I_of_N; CSV with model,sample,view,score,member."
    )]
    Lira(AttackOptions<LiraOptions>),
    /// Label-only attack: logistic regression on which augmented views are classified correctly
    #[command(after_help = "Example:\n  leakbound membership label-only fashion_lira_mislabelled.npz")]
    LabelOnly(AttackOptions<LabelOnlyOptions>),
    /// Threshold attack: one threshold for all samples
    #[command(after_help = "Example:\n  leakbound membership threshold shadow.npz --score modified-entropy")]
    Threshold(AttackOptions<ThresholdAttackOptions>),
    /// The robust membership inference attack (RMIA)
    #[command(after_help = "Example:\n  leakbound membership rmia shadow.npz --mode offline --slope 0.3")]
    Rmia(AttackOptions<RmiaOptions>),
    /// The privacy-risk score: posterior probability of membership, estimated on the other models
    #[command(after_help = "Example:\n  leakbound membership risk shadow.npz --bins 15")]
    Risk(AttackOptions<RiskOptions>),
    /// Trained attacker: a small network on the sorted confidences of the other models
    #[command(after_help = "Example:\n  leakbound membership attacker shadow.npz --seed 1")]
    Attacker(AttackOptions<NoOptions>),
    /// Membership of the private images of PATE students, budget by budget
    #[command(
        after_help = "File: npz as `leakbound torch student` writes it, or with the same arrays: `private_logits` and \
                      `test_logits` [student, image, class], `private_label` and `test_label` [image], `budget` \
                      [student]; also `baseline_private_logits` and `baseline_test_logits` [model, image, class] of \
                      models that were trained on the private images without privacy.\n\nExample:\n  leakbound \
                      membership students students.npz --report students.html"
    )]
    Students(student_membership::StudentMembershipOptions),
    /// Membership of texts in the training data of a language model, from log-probabilities of their tokens
    #[command(
        after_help = "Examples:\n  leakbound membership text tokens.jsonl --report text.html\n  leakbound membership \
                      text tokens.npz --scores min-k-plus-plus,reference --fpr 0.01\n\nFiles: npz with `offsets` \
                      [sequence + 1], `log_probabilities` [token] and `member` [sequence]; also \
                      `log_probability_mean`, `log_probability_deviation`, `entropy` and \
                      `reference_log_probabilities` [token], `reference_loss`, `zlib_bytes` and `document` [sequence], \
                      `neighbor_losses` [sequence, neighbor], `candidate_losses` [sequence, candidate]. Or one JSON \
                      object for each sequence, a line each, with keys of the same names, and `text`, from which sizes \
                      are computed that differ by some bytes from those of zlib: record `zlib_bytes` for numbers to \
                      publish; or a Parquet table with a row for each sequence and columns of these names. Candidates \
                      have as many tokens as the text and are other texts. Logarithms are \
                      natural; losses are mean negative log-probabilities of a token.\n\nSequences of one document \
                      are not independent: with `document`, documents are what limits count. All limits of all scores \
                      hold simultaneously, including those of the score that looks best: of the area of the \
                      distributions, of TPR and FPR of the rule \"member where score > above\", and of the ROC."
    )]
    Text(text_membership::TextOptions),
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
                      \"private.npz\" }]\n\nPaths are relative to the folder of the file. An interrupted run continues \
                      when it is repeated. Without the feature `torch` all recordings must exist.\n\nExample:\n  \
                      leakbound membership defenses study.toml --recordings recordings --report defenses.html"
    )]
    Defenses(defenses::DefensesOptions),
}

/// Options of every attack: the recording, and what to measure.
#[derive(Debug, Args, Serialize)]
pub struct StudyOptions {
    #[command(flatten)]
    #[serde(flatten)]
    pub recording: RecordingOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub measure: MeasureOptions,
}

/// Options of one attack.
#[derive(Debug, Args, Serialize)]
pub struct AttackOptions<T: Args> {
    #[command(flatten)]
    #[serde(flatten)]
    pub own: T,
    #[command(flatten)]
    #[serde(flatten)]
    pub answers: AnswerOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub study: StudyOptions,
}

/// What an attack looks at.
#[derive(Debug, Args, Serialize)]
pub struct AnswerOptions {
    /// What the attack looks at: answers on the samples, answers at their nearest neighbors, or the similarity of the
    /// encoder's embeddings of a sample's views [default: sample, or encoder if only embeddings are recorded]
    #[arg(long, value_parser = choice(ANSWERS))]
    pub answers: Option<Choice<LooksAt>>,
    /// With --answers encoder: which views are compared
    #[arg(long, value_parser = choice(PAIRS), default_value = "all", help_heading = "Advanced")]
    pub pairs: Choice<ViewPairs>,
}

/// Victims.
#[derive(Debug, Args, Serialize)]
pub struct VictimOptions {
    /// Victims: loo (leave one out: each model, with all others as shadow models), or held-out models, such as 0,5
    #[arg(long, value_name = "loo|I,J", value_parser = victims, default_value = "loo", allow_hyphen_values = true, help_heading = "Advanced")]
    pub victims: VictimList,
}

/// What to measure.
#[derive(Debug, Args, Serialize)]
pub struct MeasureOptions {
    /// False-positive rates at which to report the true-positive rate
    #[arg(long, value_name = "P,...", value_delimiter = ',', value_parser = probability, default_value = "0,0.001,0.01", allow_hyphen_values = true)]
    pub fpr: Vec<Probability>,
    /// Level of the metrics: all guesses pooled, each sample by itself, or both
    #[arg(long, value_parser = choice(LEVELS), default_value = "both", help_heading = "Advanced")]
    pub level: Choice<Levels>,
    /// Also report each class separately
    #[arg(long)]
    pub per_class: bool,
    /// Also report the N most vulnerable samples
    #[arg(long, value_name = "K,...", value_delimiter = ',', value_parser = whole::<usize>(1, 1_000_000_000, "1e9"), default_value = "10", allow_hyphen_values = true)]
    pub top: Vec<usize>,
    /// Failure probability of each confidence limit
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", allow_hyphen_values = true, help_heading = "Bounds")]
    pub failure_probability: FailureProbability,
    /// Bootstrap resamples of the victims; 0 for no bands
    #[arg(long, value_name = "N", value_parser = resamples_or_none, default_value = "1000", allow_hyphen_values = true, help_heading = "Advanced")]
    pub resamples: usize,
}

#[derive(Debug, Args, Serialize)]
pub struct LiraOptions {
    /// Score of an answer [default: logit, if logits are recorded]
    #[arg(long, value_parser = listed(named::<MembershipScore>, MembershipScore::ALL.map(MembershipScore::name)))]
    #[serde(serialize_with = "crate::args::values::some_written")]
    pub score: Option<MembershipScore>,
    /// Implementation whose formulas to use
    #[arg(long, value_parser = listed(named::<LiraVariant>, LiraVariant::ALL.map(LiraVariant::name)))]
    #[arg(default_value = "leakbound")]
    #[serde(serialize_with = "crate::args::values::written")]
    pub variant: LiraVariant,
    /// Shadow models: online (with and without the sample) or offline (without it)
    #[arg(long, value_parser = choice(MODES), default_value = "online")]
    pub mode: Choice<LiraMode>,
    /// How variances are estimated
    #[arg(long, value_parser = choice(VARIANCES), default_value = "per-sample")]
    pub variance: Choice<LiraVariance>,
    /// How augmented views are combined
    #[arg(long, value_parser = choice(VIEWS), default_value = "independent", help_heading = "Advanced")]
    pub views: Choice<LiraViews>,
    #[command(flatten)]
    #[serde(flatten)]
    pub victims: VictimOptions,
}

#[derive(Debug, Args, Serialize)]
pub struct LabelOnlyOptions {
    /// Inverse regularization strength C
    #[arg(long, value_name = "C", value_parser = number, default_value = "1", allow_hyphen_values = true)]
    pub strength: f64,
    /// Give the models trained on a sample the same total weight as the others. For few models: without it the attack
    /// guesses the wrong side where answers show nothing
    #[arg(long)]
    pub balanced: bool,
    #[command(flatten)]
    #[serde(flatten)]
    pub victims: VictimOptions,
}

#[derive(Debug, Args, Serialize)]
pub struct ThresholdAttackOptions {
    /// Score of an answer [default: loss, if logits are recorded]
    #[arg(long, value_parser = listed(named::<MembershipScore>, MembershipScore::ALL.map(MembershipScore::name)))]
    #[serde(serialize_with = "crate::args::values::some_written")]
    pub score: Option<MembershipScore>,
}

#[derive(Debug, Args, Serialize)]
pub struct RmiaOptions {
    /// Shadow models: online (with and without the sample) or offline (without it)
    #[arg(long, value_parser = choice(RMIA_MODES), default_value = "online")]
    pub mode: Choice<bool>,
    /// Threshold gamma of the pairwise likelihood ratio
    #[arg(long, value_name = "G", value_parser = number, default_value = "2", allow_hyphen_values = true)]
    pub gamma: f64,
    /// Offline: slope of the line from confidences outside to those inside
    #[arg(long, value_name = "A", value_parser = number, default_value = "0.3", allow_hyphen_values = true)]
    pub slope: f64,
    #[command(flatten)]
    #[serde(flatten)]
    pub victims: VictimOptions,
}

#[derive(Debug, Args, Serialize)]
pub struct RiskOptions {
    /// Score of an answer [default: modified-entropy, if logits are recorded]
    #[arg(long, value_parser = listed(named::<MembershipScore>, MembershipScore::ALL.map(MembershipScore::name)))]
    #[serde(serialize_with = "crate::args::values::some_written")]
    pub score: Option<MembershipScore>,
    /// Number of equal-count bins
    #[arg(long, value_name = "N", value_parser = whole::<usize>(1, 10_000, "10000"), default_value = "15", allow_hyphen_values = true)]
    pub bins: usize,
    #[command(flatten)]
    #[serde(flatten)]
    pub victims: VictimOptions,
}

/// An attack with nothing to choose but what it looks at.
#[derive(Debug, Args, Serialize)]
pub struct NoOptions {}

#[derive(Debug, Args, Serialize)]
pub struct CompareOptions {
    /// Attacks, most important first [default: all that the recording can feed]
    #[arg(long, value_parser = choice(&COMPARED), value_name = "NAME,...", value_delimiter = ',')]
    pub attacks: Vec<Choice<Compared>>,
    /// Scope of the failure probability of the simultaneous limits: all attacks together, or each attack
    #[arg(long, value_name = "SCOPE", default_value = "answer", help_heading = "Advanced")]
    #[arg(value_parser = listed(named::<FailurePer>, FailurePer::ALL.map(FailurePer::name)))]
    pub failure_per: FailurePer,
    #[command(flatten)]
    #[serde(flatten)]
    pub victims: VictimOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub study: StudyOptions,
}

/// Victims as they are written.
#[derive(Debug, Clone)]
pub struct VictimList(pub Victims);

impl Serialize for VictimList {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match &self.0 {
            Victims::LeaveOneOut => serializer.serialize_str("loo"),
            Victims::HeldOut(victims) => victims.serialize(serializer),
        }
    }
}

fn victims(text: &str) -> Parsed<VictimList> {
    named(text).map(VictimList)
}

fn resamples_or_none(text: &str) -> Parsed<usize> {
    if text.trim() == "0" { Ok(0) } else { resamples(text) }
}

const LEVELS: Names<Levels> = &[
    ("population", "All samples, and classes", Levels::Population),
    ("sample", "The most vulnerable samples", Levels::Sample),
    ("both", "Both", Levels::Both),
];

const MODES: Names<LiraMode> = &[
    ("online", "Those with the sample and those without", LiraMode::Online),
    ("offline", "Those without the sample", LiraMode::Offline),
    ("in-only", "Those with the sample (LiRA as tf-amia)", LiraMode::InOnly),
];

/// Whether the attack is offline.
const RMIA_MODES: Names<bool> =
    &[("online", "Those with the sample and those without", false), ("offline", "Those without the sample", true)];

const VARIANCES: Names<LiraVariance> = &[
    ("per-sample", "The models on the sample itself; for 64 models and more", LiraVariance::PerSample),
    ("pooled", "All samples; for few models", LiraVariance::Pooled),
];

const VIEWS: Names<LiraViews> = &[
    ("independent", "Log densities are added up", LiraViews::Independent),
    ("multivariate", "One normal vector with a shrunk covariance", LiraViews::Multivariate),
];

const ANSWERS: Names<LooksAt> = &[
    ("sample", "Logits or scores on the samples", LooksAt::Sample),
    ("neighbor", "Logits at the nearest neighbor of each sample", LooksAt::Neighbor),
    ("encoder", "Embeddings of views by an encoder (white box)", LooksAt::Encoder),
];

const PAIRS: Names<ViewPairs> = &[
    ("all", "Every view with every other one", ViewPairs::All),
    ("disjoint", "The first with the second, the third with the fourth, and so on, as published", ViewPairs::Disjoint),
];

pub fn run(common: &Common, command: &MembershipCommand) -> Result<Verdict> {
    match command {
        MembershipCommand::Lira(options) => attack(common, options, lira(&options.own)),
        MembershipCommand::LabelOnly(options) => {
            let &LabelOnlyOptions { strength, balanced, ref victims } = &options.own;
            let plan = LabelOnlyPlan { strength, balanced, victims: victims.victims.0.clone() };
            attack(common, options, Attack::new(plan))
        }
        MembershipCommand::Threshold(options) => attack(common, options, Attack::threshold(options.own.score)),
        MembershipCommand::Rmia(options) => {
            let &RmiaOptions { mode, gamma, slope, ref victims } = &options.own;
            let plan = RmiaPlan { offline: mode.value, gamma, slope, victims: victims.victims.0.clone() };
            attack(common, options, Attack::new(plan))
        }
        MembershipCommand::Risk(options) => {
            let &RiskOptions { score, bins, ref victims } = &options.own;
            attack(common, options, Attack::risk(score, bins, victims.victims.0.clone()))
        }
        MembershipCommand::Attacker(options) => attack(common, options, Attack::trained(common.seed)),
        MembershipCommand::Compare(options) => compare(common, options),
        MembershipCommand::Students(options) => student_membership::run(common, options),
        MembershipCommand::Text(options) => text_membership::run(common, options),
        MembershipCommand::Defenses(options) => defenses::run(common, options),
    }
}

fn attack<T: Args + Serialize>(common: &Common, options: &AttackOptions<T>, attack: Attack) -> Result<Verdict> {
    let measures = measures(&options.study.measure, common.seed);
    on_recording(common, options, &options.study, |recording| {
        let attack = looking_at(&options.answers, recording, attack);
        // Only in a recording of confidences a score outside of [0, 1] is a fault of the file.
        let confidences = match recording {
            ShadowRecording::Scores(scores) if attack.is_of_confidences() => Some(scores.confidences()),
            ShadowRecording::Logits(_) | ShadowRecording::Scores(_) | ShadowRecording::Embeddings(_) => None,
        };
        let answers = match &confidences {
            Some(scores) => RecordedAnswers::scores(scores, recording.labels()),
            None => recording.into(),
        };
        watched(common, &MembershipStudy { answers, attack, measures })
    })
}

/// The attack on what the options name, or on what there is.
fn looking_at(options: &AnswerOptions, recording: &ShadowRecording, attack: Attack) -> Attack {
    let usual = match recording {
        ShadowRecording::Embeddings(_) => LooksAt::Encoder,
        ShadowRecording::Logits(_) | ShadowRecording::Scores(_) => LooksAt::Sample,
    };
    match options.answers.map_or(usual, |answers| answers.value) {
        LooksAt::Sample => attack,
        LooksAt::Neighbor => attack.at_neighbors(),
        LooksAt::Encoder => attack.on_encoder(options.pairs.value),
    }
}

fn compare(common: &Common, options: &CompareOptions) -> Result<Verdict> {
    let victims = &options.victims.victims.0;
    on_recording(common, options, &options.study, |recording| {
        let answers = RecordedAnswers::from(recording);
        let attacks = wanted(&options.attacks).into_iter();
        let attacks = attacks.map(|(name, build)| (name.to_owned(), build(victims, common.seed)));
        // It depends on which arrays there are and on no number in them, so that it costs no failure probability.
        let possible = attacks.filter(|(_, attack)| !options.attacks.is_empty() || answers.has(attack.looks_at()));
        let study = ComparisonStudy {
            answers,
            attacks: possible.collect(),
            victims: victims.clone(),
            failure_per: options.failure_per,
            measures: measures(&options.study.measure, common.seed),
        };
        watched(common, &study)
    })
}

/// Reads the recording, has it studied and writes the document.
fn on_recording(
    common: &Common,
    options: &impl Serialize,
    study: &StudyOptions,
    run: impl FnOnce(&ShadowRecording) -> Result<MembershipAnswer>,
) -> Result<Verdict> {
    let recording = shadow_answers::read(&study.recording, common.memory())?;
    let files: Vec<&Path> = recording.files().iter().map(AsRef::as_ref).collect();
    let output = Output::open(common, &files)?;
    let answer = run(&recording)?;
    // What the files are is known once they were read.
    let inputs = recording.inputs()?;
    drop(recording);
    publish(common, output, answer, Asked { options, inputs, title: String::new(), warnings: Vec::new() })
}

fn measures(options: &MeasureOptions, seed: u64) -> Measures {
    let usual = MembershipPlan::default();
    let plan = MembershipPlan {
        fprs: options.fpr.clone(),
        ranked_by: options.fpr.iter().copied().find(|fpr| fpr.get() > 0.0).unwrap_or(usual.ranked_by),
        top: options.top.clone(),
        failure: options.failure_probability,
        resamples: Some(options.resamples).filter(|&resamples| resamples > 0),
        seed,
        ..usual
    };
    Measures { plan, levels: options.level.value, per_class: options.per_class }
}

fn lira(options: &LiraOptions) -> Attack {
    let plan = LiraPlan {
        variant: options.variant,
        mode: options.mode.value,
        variance: options.variance.value,
        views: options.views.value,
        victims: options.victims.victims.0.clone(),
    };
    Attack::lira(plan, options.score)
}
