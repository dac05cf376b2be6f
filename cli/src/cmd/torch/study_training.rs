//! What studies that train share: options of a file as those of `leakbound torch`, and recordings that are trained where
//! they are missing.

use super::data::{CheckpointOptions, DataOptions};
use super::device::open;
use super::training_run::say;
use super::{TorchCommand, record};
use crate::args::Common;
use crate::cmd::recorded_plan::{PlannedFile, complete_recordings};
use crate::command_line::CommandLine;
use crate::options::{Origin, Schema};
use crate::usage::is_usage;
use clap::Parser;
use leakbound::record::{StudyOption, remove_leftovers};
use leakbound::{Error, InputError, Result};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A command line of `leakbound torch`.
#[derive(Debug, Parser)]
pub struct Training {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: TorchCommand,
}

impl CommandLine for Training {
    fn common(&self) -> &Common {
        &self.common
    }

    fn common_mut(&mut self) -> &mut Common {
        &mut self.common
    }
}

/// A training that an entry of a study file wants.
pub struct Wanted<'a> {
    /// The command of `leakbound torch`: `shadow`, `label-dp`.
    pub command: &'static str,
    /// The entry.
    pub name: &'a str,
    pub line: usize,
    /// Its options, as the file has them.
    pub options: Vec<&'a StudyOption>,
    /// Those that the study itself decides.
    pub decided: Vec<(&'static str, Value)>,
    /// The folder of the study, from which paths go.
    pub folder: Option<&'a Path>,
    /// What is wrong at a line of the file: found, and expected.
    pub fault: &'a dyn Fn(usize, String, String) -> InputError,
}

impl Wanted<'_> {
    /// The command with these options, and with what this whole run is told about itself.
    /// Fails with [`Error::Input`] at the line of the option that is to blame.
    pub fn parsed(&self, common: &Common, schema: &mut Schema<Training>) -> Result<Training> {
        let mut map = StudyOption::map(&self.options);
        map.extend(self.decided.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        // Its place is relative to the folder of the study only while it is read.
        map.insert("recording".into(), "recording.npz".into());
        let arguments = schema.arguments(self.command, &map, Origin::File(self.folder));
        let arguments = arguments.map_err(|unusable| unusable.to_string());
        let mut training = match arguments.and_then(|arguments| schema.parsed(&arguments.words)) {
            Ok(training) => training,
            Err(found) => return Err(self.reject(found, schema).into()),
        };
        let own = &mut training.common;
        own.session = common.session.clone();
        (own.quiet, own.no_color, own.max_memory) = (common.quiet, common.no_color, common.max_memory);
        own.command.clone_from(&common.command);
        Ok(training)
    }

    /// What is wrong with the options, at the line of the first one that is to blame, or of the entry.
    pub fn reject(&self, found: String, schema: &Schema<Training>) -> InputError {
        let alone = |option: &&&StudyOption| {
            schema.arguments(self.command, &StudyOption::map(&[option]), Origin::File(None)).is_err()
        };
        let named = |option: &&&StudyOption| {
            let (dashed, quantity) = (format!("--{}", option.name), option.name.replace('-', " "));
            [" ", ":", "'"].iter().any(|end| found.contains(&format!("{dashed}{end}")))
                || found.starts_with(&format!("{quantity} = "))
        };
        let to_blame = self.options.iter().find(alone).or_else(|| self.options.iter().find(named));
        let line = to_blame.map_or(self.line, |option| option.line);
        let expected = format!("options of `leakbound torch {}` for {}", self.command, self.name);
        let hint = format!("`leakbound torch {} --help` lists the options", self.command);
        InputError { hint: Some(hint), ..(self.fault)(line, found, expected) }
    }
}

/// A recording with the command that trains its networks.
pub struct Work<'a> {
    pub path: &'a Path,
    pub common: Common,
    pub command: TorchCommand,
    /// What it is trained by.
    pub plan: Value,
    /// Where the answers of its networks are kept until all are there.
    pub checkpoint: PathBuf,
    /// Whether other recordings go on from them.
    pub shared: bool,
}

/// Trains what is missing, one recording after the other, and checks each where it was trained. Those that are there
/// must be of the same plan and images.
pub fn complete(common: &Common, works: &[Work<'_>], check: impl Fn(&Work<'_>) -> Result<()>) -> Result<()> {
    let files: Vec<_> = works.iter().map(|work| PlannedFile { path: work.path, plan: work.plan.clone() }).collect();
    complete_recordings(common.memory(), &files, &mut |work| {
        works[work].train()?;
        check(&works[work])
    })?;
    works.iter().filter(|work| work.shared).try_for_each(|work| remove(&work.checkpoint))
}

impl Work<'_> {
    /// Trains the networks and keeps their answers in the checkpoint; an interrupted run continues where it ends.
    /// A checkpoint that is not shared is removed where all is trained.
    fn train(&self) -> Result<()> {
        let Self { path, common, command, .. } = self;
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(failed(folder, "create"))?;
        remove_leftovers(path);
        say(common, &format!("{}:", path.display()));
        let recorded = open(command.device()).and_then(|device| record(common, command, device));
        let recorded = recorded.map(drop);
        // What is rejected would be rejected again: nothing is worth keeping. A run that was interrupted goes on.
        if recorded.as_ref().err().is_none_or(is_usage) {
            if !self.shared {
                remove(&self.checkpoint)?;
            }
            // Empty only where nothing was trained.
            let _ = fs::remove_dir(folder);
        }
        recorded
    }
}

/// Tells a command where its recording is, and that it keeps answers in a file next to it, from which it may resume: `kept`,
/// but for the extension. Returns that file.
pub fn place(data: &mut DataOptions, path: &Path, kept: &Path) -> PathBuf {
    let checkpoint = kept.with_extension("checkpoint");
    data.recording = path.to_path_buf();
    data.checkpoint = CheckpointOptions { checkpoint: Some(checkpoint.clone()), resume: true };
    checkpoint
}

/// Removes a file where there is one.
fn remove(file: &Path) -> Result<()> {
    if file.exists() { fs::remove_file(file).map_err(failed(file, "remove")) } else { Ok(()) }
}

fn failed(path: &Path, action: &'static str) -> impl FnOnce(std::io::Error) -> Error {
    let path: PathBuf = path.to_path_buf();
    move |source| Error::Io { path, action, source }
}
