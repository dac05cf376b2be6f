//! Studies of defenses in a program that was built without libtorch: all recordings must be there.

use super::planned_recording::{Planned, cannot_train};
use super::recorded_plan::{PlannedFile, complete_recordings};
use crate::args::Common;
use leakbound::Result;
use leakbound::record::DefenseFile;
use serde_json::{Map, Value};

/// Nothing is trained. Recordings that are there must have been trained with the seed and the sizes of the study; what
/// else their plan says cannot be compared without the code that trains.
pub fn complete(common: &Common, study: &DefenseFile, planned: &[Planned<'_>], seed: u64) -> Result<()> {
    let plan = |planned: &Planned<'_>| {
        let mut wanted = Map::from_iter([
            ("seed".to_owned(), Value::from(seed)),
            ("canaries".to_owned(), planned.canaries.name().into()),
        ]);
        let sizes = study.options(&planned.options).into_iter();
        let sizes = sizes.filter(|option| ["models", "audit", "fixed"].contains(&option.name.as_str()));
        wanted.extend(sizes.map(|option| (option.name.clone(), option.value.clone())));
        Value::Object(wanted)
    };
    let files: Vec<PlannedFile<'_>> =
        planned.iter().map(|planned| PlannedFile { path: &planned.path, plan: plan(planned) }).collect();
    complete_recordings(common.memory(), &files, &mut |file| Err(cannot_train(&planned[file].path)))
}
