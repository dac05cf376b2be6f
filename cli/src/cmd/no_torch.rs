//! What needs libtorch, in a program that was built without it.

use super::planned_recording::{Planned, PlannedLabels};
use super::recorded_plan::{PlannedFile, complete_recordings};
use crate::args::Common;
use clap::Args;
use leakbound::record::{DefenseFile, LabelStudyFile};
use leakbound::{Error, Result};
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::path::Path;

/// Whatever was asked.
#[derive(Debug, Args)]
pub struct TorchCommand {
    /// The recipe and its options
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    pub rest: Vec<OsString>,
}

pub fn run(_: &Common, _: &TorchCommand) -> Result<bool> {
    Err(Error::Unavailable {
        operation: "torch",
        reason: "this program was built without the feature `torch`; in a clone, `cargo xtask libtorch && cargo build \
                 --release --features torch` makes one that has it"
            .into(),
    })
}

/// Nothing is trained. Recordings that are there must have been trained with the seed and the sizes of the study; what
/// else in their plan cannot be compared without the code that trains.
pub fn complete_defenses(common: &Common, study: &DefenseFile, planned: &[Planned<'_>], seed: u64) -> Result<()> {
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
    complete(common, planned.iter().map(|planned| PlannedFile { path: &planned.path, plan: plan(planned) }).collect())
}

/// The same of a study of label privacy, of whose recordings the seed and the images are compared.
pub fn complete_labels(common: &Common, _: &LabelStudyFile, planned: &[PlannedLabels<'_>], seed: u64) -> Result<()> {
    let plan = json!({ "seed": seed });
    complete(common, planned.iter().map(|planned| PlannedFile { path: &planned.path, plan: plan.clone() }).collect())
}

fn complete(common: &Common, files: Vec<PlannedFile<'_>>) -> Result<()> {
    complete_recordings(common.memory(), &files, &mut |file| Err(cannot_train(files[file].path)))
}

/// What to say of a recording that is missing.
fn cannot_train(path: &Path) -> Error {
    let reason = format!(
        "{} is missing, and this program was built without the feature `torch`; in a clone, `cargo xtask libtorch && \
         cargo build --release --features torch` makes one that trains it",
        path.display()
    );
    Error::Unavailable { operation: "training", reason }
}
