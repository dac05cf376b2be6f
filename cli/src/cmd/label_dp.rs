//! `leakbound label-dp`: ε of label privacy from memorized wrong labels.

use super::conclude::{Asked, conclude};
use super::planned_recording::{PlannedLabels, beside};
use super::torch::complete_labels;
use crate::args::Common;
use crate::args::values::{Parsed, delta, epsilon, failure_probability, number};
use crate::output::Output;
use clap::{Args, Subcommand};
use leakbound::Result;
use leakbound::label_dp::{LabelFamily, LabelThreshold};
use leakbound::quantity::{Delta, Epsilon, FailureProbability};
use leakbound::record::{LabelEntry, LabelSource, read_label_canaries, read_label_recording, read_label_study};
use leakbound::study::{LabelComparisonStudy, LabelStudy, StudiedLabels, Verdict, significant};
use serde::{Serialize, Serializer};
use std::path::{Path, PathBuf};
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
                      \"alibi\"\n  file = \"theirs.npz\"\n\nPaths are relative to the folder of the file. An \
                      interrupted run continues when it is repeated. Without the feature `torch` all recordings must \
                      exist.\n\nExample:\n  leakbound label-dp mechanisms study.toml --report mechanisms.html"
    )]
    Mechanisms(LabelMechanismsOptions),
}

#[derive(Debug, Args, Serialize)]
pub struct LabelMechanismsOptions {
    /// The study (TOML)
    #[arg(value_name = "STUDY.toml")]
    pub file: PathBuf,
    /// Folder of the recordings; missing ones are trained and kept there [default: STUDY-recordings next to the study]
    #[arg(long, value_name = "DIR", alias = "out")]
    pub recordings: Option<PathBuf>,
}

#[derive(Debug, Args, Serialize)]
pub struct LabelCompareOptions {
    /// Recordings with their mechanisms; a mechanism may appear several times
    #[arg(value_name = "MECHANISM=FILE.npz", required = true)]
    pub recordings: Vec<NamedRecording>,
    /// Failure probability of all bounds together, and of each band of accuracies
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", allow_hyphen_values = true, help_heading = "Bounds")]
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

impl Serialize for NamedRecording {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}={}", self.mechanism, self.file.display()))
    }
}

#[derive(Debug, Args, Serialize)]
pub struct MemorizationOptions {
    /// Canaries
    pub file: PathBuf,
    /// Confidence above which to guess, fixed in advance [default: chosen on a random half of the canaries]
    #[arg(long, value_name = "TAU", value_parser = confidence, allow_hyphen_values = true)]
    pub threshold: Option<f64>,
    /// Delta of the bound and of --claim-epsilon
    #[arg(long, value_name = "D", value_parser = delta, default_value = "0", allow_hyphen_values = true, help_heading = "Bounds")]
    pub delta: Delta,
    /// Failure probability of the bound
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", allow_hyphen_values = true, help_heading = "Bounds")]
    pub failure_probability: FailureProbability,
    /// Claim: training is (E, delta)-label-differentially private
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true, help_heading = "Bounds")]
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

pub fn run(common: &Common, options: &MemorizationOptions) -> Result<Verdict> {
    let output = Output::open(common, &[&options.file])?;
    let (canaries, input) = read_label_canaries(&options.file, common.memory())?;
    let title = format!("{} canaries with wrong labels, {} classes", canaries.len(), canaries.classes());
    let study = LabelStudy {
        canaries,
        threshold: options.threshold.map_or(LabelThreshold::Split, LabelThreshold::Declared),
        delta: options.delta,
        failure_probability: options.failure_probability,
        claim_epsilon: options.claim_epsilon,
        seed: common.seed,
    };
    conclude(common, output, &study, Asked { options, inputs: vec![input], title, warnings: Vec::new() })
}

pub fn compare(common: &Common, options: &LabelCompareOptions) -> Result<Verdict> {
    let files: Vec<_> = options.recordings.iter().map(|recording| recording.file.as_path()).collect();
    let output = Output::open(common, &files)?;
    let (mut recordings, mut inputs) = (Vec::new(), Vec::new());
    for named in &options.recordings {
        let (recording, input) = read_label_recording(&named.file, common.memory())?;
        let family = LabelFamily::of_name(&named.mechanism);
        let name = format!("{}, ε = {}", named.mechanism, significant(recording.epsilon.get(), 4));
        recordings.push(StudiedLabels { name, family, recording });
        inputs.push(input);
    }
    let study =
        LabelComparisonStudy { recordings, failure_probability: options.failure_probability, seed: common.seed };
    conclude(common, output, &study, Asked { options, inputs, title: String::new(), warnings: Vec::new() })
}

pub fn mechanisms(common: &Common, options: &LabelMechanismsOptions) -> Result<Verdict> {
    let study = read_label_study(&options.file)?;
    let seed = if common.seed_given { common.seed } else { study.seed.unwrap_or(common.seed) };
    let folder = options.recordings.clone().unwrap_or_else(|| beside(&options.file));
    let place = |entry: &LabelEntry| match &entry.source {
        LabelSource::Trained(_) => folder.join(format!("{}.npz", entry.name)),
        LabelSource::Recorded(file) => file.clone(),
    };
    let places: Vec<PathBuf> = study.entries.iter().map(place).collect();
    let read: Vec<&Path> = places.iter().map(PathBuf::as_path).chain([options.file.as_path()]).collect();
    let output = Output::open(common, &read)?;
    let mut planned = Vec::new();
    for (entry, path) in study.entries.iter().zip(&places) {
        match &entry.source {
            LabelSource::Trained(options) => planned.push(PlannedLabels { entry, options, path: path.clone() }),
            // What was recorded elsewhere is looked at before hours of training.
            LabelSource::Recorded(_) => drop(read_label_recording(path, common.memory())?),
        }
    }
    complete_labels(common, &study, &planned, seed)?;
    let (mut recordings, mut inputs) = (Vec::new(), vec![study.input.clone()]);
    for (entry, path) in study.entries.iter().zip(&places) {
        let (recording, input) = read_label_recording(path, common.memory())?;
        recordings.push(StudiedLabels { name: entry.name.clone(), family: entry.family, recording });
        inputs.push(input);
    }
    let study = LabelComparisonStudy { recordings, failure_probability: study.failure, seed };
    conclude(common, output, &study, Asked { options, inputs, title: String::new(), warnings: Vec::new() })
}
