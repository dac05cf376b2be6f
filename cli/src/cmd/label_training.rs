//! Training of the models that a study of label privacy has no recordings of.

use super::planned_recording::PlannedLabels;
use super::recorded_plan::{PlannedFile, complete_recordings, plan_value};
use super::study_training::{self, Wanted};
use super::{torch, torch_label_dp, torch_pate_fm};
use crate::args::{Cli, Command, Common, LabelDpOptions, PateFmOptions, TorchCommand};
use crate::options::Schema;
use leakbound::label_dp::LabelFamily;
use leakbound::record::{InputFile, LabelStudyFile, read_label_recording};
use leakbound::{Error, Result};
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A recording with the command that makes it.
struct Work<'a> {
    planned: &'a PlannedLabels<'a>,
    common: Common,
    recipe: Recipe,
    plan: Value,
}

enum Recipe {
    LabelDp(Box<LabelDpOptions>),
    PateFm(Box<PateFmOptions>),
}

/// Trains what is missing, one recording after the other. Those that are there must be of the same plan and images.
/// Everything is checked before the first training. Students of the same teachers share the votes of these.
pub fn complete(common: &Common, study: &LabelStudyFile, planned: &[PlannedLabels<'_>], seed: u64) -> Result<()> {
    let mut schema = Schema::new();
    let works = planned.iter().map(|planned| work(common, study, planned, &mut schema, seed));
    let works = works.collect::<Result<Vec<Work<'_>>>>()?;
    let files: Vec<PlannedFile<'_>> = works.iter().map(Work::file).collect();
    complete_recordings(common.memory(), &files, &mut |work| works[work].train())?;
    works.iter().filter_map(Work::votes).try_for_each(study_training::remove)
}

impl Work<'_> {
    fn file(&self) -> PlannedFile<'_> {
        PlannedFile { path: &self.planned.path, plan: self.plan.clone() }
    }

    fn train(&self) -> Result<()> {
        let (common, path) = (&self.common, self.planned.path.as_path());
        match &self.recipe {
            Recipe::LabelDp(options) => study_training::train(common, path, options.data.checkpoint.file(), || {
                torch_label_dp::record(common, options, torch::open(options.data.device.device)?).map(|_| ())
            }),
            // Its votes are kept for the students that come after it.
            Recipe::PateFm(options) => study_training::train(common, path, None, || {
                torch_pate_fm::record(common, options, torch::open(options.data.device.device)?).map(|_| ())
            }),
        }?;
        // What cannot be compared is known before the next training.
        read_label_recording(path, common.memory()).map(|_| ())
    }

    /// The checkpoint that other recordings may share.
    fn votes(&self) -> Option<&Path> {
        match &self.recipe {
            Recipe::LabelDp(_) => None,
            Recipe::PateFm(options) => options.data.checkpoint.file(),
        }
    }
}

/// The options of the command that trains one recording.
fn work<'a>(
    common: &Common,
    study: &LabelStudyFile,
    planned: &'a PlannedLabels<'a>,
    schema: &mut Schema,
    seed: u64,
) -> Result<Work<'a>> {
    let entry = planned.entry;
    let is_pate_fm = entry.family == LabelFamily::PateFm;
    let mut decided: Vec<(&'static str, Value)> = vec![("seed", seed.into())];
    if !is_pate_fm {
        decided.push(("mechanism", entry.family.name().into()));
    }
    let wanted = Wanted {
        command: if is_pate_fm { "torch pate-fm" } else { "torch label-dp" },
        name: &entry.name,
        line: entry.line,
        options: planned.options.iter().collect(),
        decided,
        folder: study.input.path.parent(),
        fault: &|line, found, expected| study.fault(line, found, expected),
    };
    let Cli { common, command } = wanted.parsed(common, schema)?;
    let rejected = |error: Error| wanted.reject(error.to_string(), schema);
    let (recipe, plan) = match command {
        Command::Torch(TorchCommand::LabelDp(mut options)) => {
            let plan = plan_value(&options.plan(seed).map_err(rejected)?);
            options.data.recording.clone_from(&planned.path);
            options.data.checkpoint = study_training::checkpoint_beside(&planned.path);
            (Recipe::LabelDp(Box::new(options)), plan)
        }
        Command::Torch(TorchCommand::PateFm(mut options)) => {
            let plan = options.plan(seed).map_err(rejected)?;
            options.data.recording.clone_from(&planned.path);
            let votes = shared_votes(&planned.path, &(&options.data.data, plan.votes()));
            options.data.checkpoint = study_training::checkpoint_beside(&votes);
            (Recipe::PateFm(options), plan_value(&plan))
        }
        _ => {
            let reason = "its options are another command".into();
            return Err(Error::Rejected { operation: "study of label privacy", reason });
        }
    };
    Ok(Work { planned, common, recipe, plan })
}

/// Where students of the same teachers find their votes: a file named after what these depend on.
fn shared_votes(recording: &Path, teachers: &impl Serialize) -> PathBuf {
    let digest = InputFile::of_bytes("votes", plan_value(teachers).to_string().as_bytes()).sha256;
    recording.with_file_name(format!("votes-{}", digest.get(..8).unwrap_or_default()))
}
