//! Training of the models that a study of label privacy has no recordings of.

use super::TorchCommand;
use super::study_training::{self, Training, Wanted, Work};
use crate::args::Common;
use crate::cmd::planned_recording::PlannedLabels;
use crate::cmd::recorded_plan::plan_value;
use crate::options::Schema;
use leakbound::label_dp::LabelFamily;
use leakbound::record::{InputFile, LabelStudyFile, read_label_recording};
use leakbound::{Error, Result};
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Trains what is missing, one recording after the other. Those that are there must be of the same plan and images.
/// Everything is checked before the first training. Students of the same teachers share the votes of these.
pub fn complete_labels(
    common: &Common,
    study: &LabelStudyFile,
    planned: &[PlannedLabels<'_>],
    seed: u64,
) -> Result<()> {
    let mut schema = Schema::new();
    let works = planned.iter().map(|planned| work(common, study, planned, &mut schema, seed));
    let works = works.collect::<Result<Vec<_>>>()?;
    // What cannot be compared is known before the next training.
    study_training::complete(common, &works, |work| read_label_recording(work.path, work.common.memory()).map(drop))
}

/// The options of the command that trains one recording.
fn work<'a>(
    common: &Common,
    study: &LabelStudyFile,
    planned: &'a PlannedLabels<'a>,
    schema: &mut Schema<Training>,
    seed: u64,
) -> Result<Work<'a>> {
    let entry = planned.entry;
    let is_pate_fm = entry.family == LabelFamily::PateFm;
    let mut decided: Vec<(&'static str, Value)> = vec![("seed", seed.into())];
    if !is_pate_fm {
        decided.push(("mechanism", entry.family.name().into()));
    }
    let wanted = Wanted {
        command: if is_pate_fm { "pate-fm" } else { "label-dp" },
        name: &entry.name,
        line: entry.line,
        options: planned.options.iter().collect(),
        decided,
        folder: study.input.path.parent(),
        fault: &|line, found, expected| study.fault(line, found, expected),
    };
    let Training { common, command } = wanted.parsed(common, schema)?;
    let rejected = |error: Error| wanted.reject(error.to_string(), schema);
    let path = planned.path.as_path();
    let (command, plan, checkpoint, shared) = match command {
        TorchCommand::LabelDp(mut options) => {
            let plan = plan_value(&options.plan(seed).map_err(rejected)?);
            let checkpoint = study_training::place(&mut options.data, path, path);
            (TorchCommand::LabelDp(options), plan, checkpoint, false)
        }
        // Its votes are kept for the students that come after it.
        TorchCommand::PateFm(mut options) => {
            let plan = options.plan(seed).map_err(rejected)?;
            let votes = shared_votes(path, &(&options.data.data, plan.votes()));
            let checkpoint = study_training::place(&mut options.data, path, &votes);
            (TorchCommand::PateFm(options), plan_value(&plan), checkpoint, true)
        }
        _ => {
            let reason = "its options are another command".into();
            return Err(Error::Rejected { operation: "study of label privacy", reason });
        }
    };
    Ok(Work { path, common, command, plan, checkpoint, shared })
}

/// Where students of the same teachers find their votes: a file named after what these depend on.
fn shared_votes(recording: &Path, teachers: &impl Serialize) -> PathBuf {
    let digest = InputFile::of_bytes("votes", plan_value(teachers).to_string().as_bytes()).sha256;
    recording.with_file_name(format!("votes-{}", digest.get(..8).unwrap_or_default()))
}
