//! Studies of label privacy in a program that was built without libtorch: all recordings must be there.

use super::planned_recording::{PlannedLabels, cannot_train};
use super::recorded_plan::{PlannedFile, complete_recordings};
use crate::args::Common;
use leakbound::Result;
use leakbound::record::LabelStudyFile;
use serde_json::json;

/// Nothing is trained. Recordings that are there must have been trained with the seed of the study and on the same
/// images; what else their plan says cannot be compared without the code that trains.
pub fn complete(common: &Common, _: &LabelStudyFile, planned: &[PlannedLabels<'_>], seed: u64) -> Result<()> {
    let plan = json!({ "seed": seed });
    let files: Vec<PlannedFile<'_>> =
        planned.iter().map(|planned| PlannedFile { path: &planned.path, plan: plan.clone() }).collect();
    complete_recordings(common.memory(), &files, &mut |file| Err(cannot_train(&planned[file].path)))
}
