//! Training of the shadow models that a study of defenses has no recordings of.

use super::TorchCommand;
use super::study_training::{self, Training, Wanted, Work};
use crate::args::Common;
use crate::cmd::planned_recording::Planned;
use crate::cmd::recorded_plan::plan_value;
use crate::options::Schema;
use leakbound::record::{DefenseFile, StudyOption};
use leakbound::{Error, Result};

/// Trains what is missing, one recording after the other. Those that are there must be of the same plan and images.
/// Everything is checked before the first training.
pub fn complete_defenses(common: &Common, study: &DefenseFile, planned: &[Planned<'_>], seed: u64) -> Result<()> {
    let mut schema = Schema::new();
    let works = planned.iter().map(|planned| work(common, study, planned, &mut schema, seed));
    study_training::complete(common, &works.collect::<Result<Vec<_>>>()?, |_| Ok(()))
}

/// The options of `leakbound torch shadow` for one recording.
fn work<'a>(
    common: &Common,
    study: &DefenseFile,
    planned: &'a Planned<'a>,
    schema: &mut Schema<Training>,
    seed: u64,
) -> Result<Work<'a>> {
    // Images of another data set are for the canaries that are made of them.
    let used = |option: &&StudyOption| option.name != "others" || planned.canaries.needs_others();
    let wanted = Wanted {
        command: "shadow",
        name: &planned.entry.name,
        line: planned.entry.line,
        options: study.options(&planned.options).into_iter().filter(used).collect(),
        decided: vec![("canaries", planned.canaries.name().into()), ("seed", seed.into())],
        folder: study.input.path.parent(),
        fault: &|line, found, expected| study.fault(line, found, expected),
    };
    let Training { common, command: TorchCommand::Shadow(mut options) } = wanted.parsed(common, schema)? else {
        return Err(Error::Rejected {
            operation: "study of defenses",
            reason: "its options are another command".into(),
        });
    };
    let checkpoint = study_training::place(&mut options.data, &planned.path, &planned.path);
    let plan = plan_value(&options.plan(seed).map_err(|error| wanted.reject(error.to_string(), schema))?);
    let command = TorchCommand::Shadow(options);
    Ok(Work { path: &planned.path, common, command, plan, checkpoint, shared: false })
}
