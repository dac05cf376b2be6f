//! Training of the shadow models that a study of defenses has no recordings of.

use super::planned_recording::Planned;
use super::recorded_plan::{PlannedFile, complete_recordings, plan_value};
use super::study_training::{self, Wanted};
use super::{torch, torch_shadow};
use crate::args::{Cli, Command, Common, ShadowOptions, TorchCommand};
use crate::options::Schema;
use leakbound::record::{DefenseFile, StudyOption};
use leakbound::{Error, Result};
use leakbound_train::ShadowPlan;

/// A recording with the options that it is trained with.
struct Work<'a> {
    planned: &'a Planned<'a>,
    common: Common,
    options: ShadowOptions,
    plan: ShadowPlan,
}

/// Trains what is missing, one recording after the other. Those that are there must be of the same plan and images.
/// Everything is checked before the first training.
pub fn complete(common: &Common, study: &DefenseFile, planned: &[Planned<'_>], seed: u64) -> Result<()> {
    let mut schema = Schema::new();
    let works = planned.iter().map(|planned| work(common, study, planned, &mut schema, seed));
    let works = works.collect::<Result<Vec<Work<'_>>>>()?;
    let files: Vec<PlannedFile<'_>> = works.iter().map(Work::file).collect();
    complete_recordings(common.memory(), &files, &mut |work| works[work].train())
}

impl Work<'_> {
    fn file(&self) -> PlannedFile<'_> {
        PlannedFile { path: &self.planned.path, plan: plan_value(&self.plan) }
    }

    fn train(&self) -> Result<()> {
        let Self { planned, common, options, .. } = self;
        study_training::train(common, &planned.path, options.data.checkpoint.file(), || {
            let device = torch::open(options.data.device.device)?;
            torch_shadow::record(common, options, device).map(|_| ())
        })
    }
}

/// The options of `leakbound torch shadow` for one recording.
fn work<'a>(
    common: &Common,
    study: &DefenseFile,
    planned: &'a Planned<'a>,
    schema: &mut Schema,
    seed: u64,
) -> Result<Work<'a>> {
    // Images of another data set are for the canaries that are made of them.
    let used = |option: &&StudyOption| option.name != "others" || planned.canaries.needs_others();
    let wanted = Wanted {
        command: "torch shadow",
        name: &planned.entry.name,
        line: planned.entry.line,
        options: study.options(&planned.options).into_iter().filter(used).collect(),
        decided: vec![("canaries", planned.canaries.name().into()), ("seed", seed.into())],
        folder: study.input.path.parent(),
        fault: &|line, found, expected| study.fault(line, found, expected),
    };
    let cli = wanted.parsed(common, schema)?;
    let Cli { common, command: Command::Torch(TorchCommand::Shadow(mut options)) } = cli else {
        return Err(Error::Rejected {
            operation: "study of defenses",
            reason: "its options are another command".into(),
        });
    };
    options.data.recording.clone_from(&planned.path);
    options.data.checkpoint = study_training::checkpoint_beside(&planned.path);
    let plan = options.plan(seed).map_err(|error| wanted.reject(error.to_string(), schema))?;
    Ok(Work { planned, common, options: *options, plan })
}
