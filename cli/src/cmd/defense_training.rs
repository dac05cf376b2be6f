//! Training of the shadow models that a study of defenses has no recordings of.

use super::planned_recording::Planned;
use super::recipe::say;
use super::recorded_plan::RecordedPlan;
use super::{torch, torch_shadow};
use crate::args::{Cli, Command, Common, ShadowOptions, TorchCommand};
use crate::options::Schema;
use crate::usage::is_usage;
use leakbound::record::{DefenseFile, StudyOption, remove_leftovers};
use leakbound::{Error, InputError, Result};
use leakbound_train::ShadowPlan;
use std::fs;
use std::path::Path;

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
    let mut first: Option<(&Path, RecordedPlan)> = None;
    let (there, missing): (Vec<_>, Vec<_>) = works.iter().partition(|work| work.planned.path.exists());
    for work in there.iter().chain(&missing) {
        let path = work.planned.path.as_path();
        if !path.exists() {
            train(work, path)?;
        }
        let recorded = RecordedPlan::of_file(path, common.memory())?;
        recorded.check(path, &serde_json::to_value(&work.plan).unwrap_or_default())?;
        match &first {
            Some((other, images)) => recorded.check_images(path, (other, images))?,
            None => first = Some((path, recorded)),
        }
    }
    Ok(())
}

/// Trains the models of one recording; a run that was interrupted goes on where its checkpoint ends.
fn train(work: &Work<'_>, path: &Path) -> Result<()> {
    let Work { common, options, .. } = work;
    let folder = path.parent().unwrap_or(Path::new("."));
    let failed = |path: &Path, action| {
        let path = path.to_path_buf();
        move |source| Error::Io { path, action, source }
    };
    fs::create_dir_all(folder).map_err(failed(folder, "create"))?;
    remove_leftovers(path);
    say(common, &format!("{}:", path.display()));
    let device = torch::open(options.data.device.device)?;
    let recorded = torch_shadow::record(common, options, device);
    // What is rejected would be rejected again: nothing is worth keeping. A run that was interrupted goes on.
    let ended = recorded.as_ref().err().is_none_or(is_usage);
    if let Some(checkpoint) = options.checkpoint.checkpoint.as_ref().filter(|checkpoint| ended && checkpoint.exists()) {
        fs::remove_file(checkpoint).map_err(failed(checkpoint, "remove"))?;
        // Empty only where nothing was trained.
        let _ = fs::remove_dir(folder);
    }
    recorded.map(|_| ())
}

/// The options of `leakbound torch shadow` for one recording.
fn work<'a>(
    common: &Common,
    study: &DefenseFile,
    planned: &'a Planned<'a>,
    schema: &mut Schema,
    seed: u64,
) -> Result<Work<'a>> {
    let options = study.options(&planned.options);
    // Images of another data set are for the canaries that are made of them.
    let wanted = |option: &&&StudyOption| option.name != "others" || planned.canaries.needs_others();
    let options: Vec<&StudyOption> = options.iter().filter(wanted).copied().collect();
    let folder = study.input.path.parent();
    let mut map = DefenseFile::map(&options);
    map.insert("canaries".into(), planned.canaries.name().into());
    map.insert("seed".into(), seed.into());
    // Its place is relative to the folder of the study only while it is read.
    map.insert("recording".into(), "recording.npz".into());
    let cli = match schema.arguments(COMMAND, &map, folder).and_then(|arguments| schema.parsed(&arguments)) {
        Ok(cli) => cli,
        Err(found) => return Err(fault(study, planned, &options, found, schema).into()),
    };
    let Cli { common: mut own, command: Command::Torch(TorchCommand::Shadow(mut options)) } = cli else {
        return Err(Error::Rejected {
            operation: "study of defenses",
            reason: "its options are another command".into(),
        });
    };
    own.session = common.session.clone();
    (own.quiet, own.no_color, own.max_memory) = (common.quiet, common.no_color, common.max_memory);
    own.command.clone_from(&common.command);
    options.data.recording.clone_from(&planned.path);
    options.checkpoint.checkpoint = Some(planned.path.with_extension("checkpoint"));
    options.checkpoint.resume = true;
    let plan = options.plan(seed).map_err(|error| fault(study, planned, &[], error.to_string(), schema))?;
    Ok(Work { planned, common: own, options: *options, plan })
}

const COMMAND: &str = "torch shadow";

/// What is wrong with the options of a defense, at the line of the first option that is to blame, or of the defense.
fn fault(
    study: &DefenseFile,
    planned: &Planned<'_>,
    options: &[&StudyOption],
    found: String,
    schema: &Schema,
) -> InputError {
    let alone = |option: &&&StudyOption| schema.arguments(COMMAND, &DefenseFile::map(&[option]), None).is_err();
    let named = |option: &&&StudyOption| {
        found.contains(&format!("--{} ", option.name)) || found.contains(&format!("--{}'", option.name))
    };
    let to_blame = options.iter().find(alone).or_else(|| options.iter().find(named));
    let line = to_blame.map_or(planned.entry.line, |option| option.line);
    InputError {
        hint: Some("`leakbound torch shadow --help` lists the options".into()),
        ..study.fault(line, found, format!("options of `leakbound torch shadow` for {}", planned.entry.name))
    }
}
