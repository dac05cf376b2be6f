//! Studies of label privacy in a program that was built without libtorch: all recordings must be there.

use super::planned_recording::{PlannedLabels, cannot_train};
use super::recorded_plan::RecordedPlan;
use crate::args::Common;
use leakbound::Result;
use leakbound::record::LabelStudyFile;
use serde_json::json;

/// Nothing is trained. Recordings that are there must have been trained with the seed of the study and on the same
/// images; what else their plan says cannot be compared without the code that trains.
pub fn complete(common: &Common, _: &LabelStudyFile, planned: &[PlannedLabels<'_>], seed: u64) -> Result<()> {
    if let Some(planned) = planned.iter().find(|planned| !planned.path.exists()) {
        return Err(cannot_train(&planned.path));
    }
    let mut first: Option<(&PlannedLabels<'_>, RecordedPlan)> = None;
    for planned in planned {
        let recorded = RecordedPlan::of_file(&planned.path, common.memory())?;
        recorded.check(&planned.path, &json!({ "seed": seed }))?;
        match &first {
            Some((other, images)) => recorded.check_images(&planned.path, (&other.path, images))?,
            None => first = Some((planned, recorded)),
        }
    }
    Ok(())
}
