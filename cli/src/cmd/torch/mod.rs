//! `leakbound torch`: the device first, then a recipe.

use self::data::DeviceOptions;
use self::training_run::Recorded;
use crate::args::{Common, Format};
use crate::output::print;
use clap::Subcommand;
use leakbound::{Error, Result};
use leakbound_train::{DeviceChoice, TrainingDevice, cuda_library};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

mod contrastive;
mod data;
mod defense;
mod defense_training;
mod dpsgd;
mod dpsgd_runs;
mod fixmatch;
mod kept_networks;
mod label_dp;
mod label_training;
mod meta_classifier;
mod network;
mod noise;
mod numbers;
mod pate_fm;
mod prompt_pate;
mod property;
mod recipe;
mod shadow;
mod shadow_figures;
mod student;
mod study_training;
mod teachers;
mod tokens;
mod training;
mod training_run;
pub mod weight_attacks;

pub use self::defense_training::complete_defenses;
pub use self::label_training::complete_labels;

/// Training of models whose outputs are audited.
#[derive(Debug, Subcommand)]
pub enum TorchCommand {
    /// Show which device would be used
    #[command(after_help = "Example:\n  leakbound torch device --device cuda")]
    Device(DeviceOptions),
    LabelDp(label_dp::LabelDpOptions),
    Dpsgd(dpsgd::DpsgdOptions),
    DpsgdRuns(dpsgd_runs::DpsgdRunsOptions),
    PateFm(Box<pate_fm::PateFmOptions>),
    PromptPate(Box<prompt_pate::PromptPateOptions>),
    MetaClassifier(Box<meta_classifier::MetaClassifierOptions>),
    Property(property::TorchPropertyOptions),
    Teachers(teachers::TeachersOptions),
    Shadow(Box<shadow::ShadowOptions>),
    Student(student::StudentOptions),
    Tokens(Box<tokens::TorchTokensOptions>),
}

impl TorchCommand {
    /// The device that the recipe requests.
    pub fn device(&self) -> DeviceChoice {
        match self {
            Self::Device(options) => options.device,
            Self::Dpsgd(options) => options.data.device.device,
            Self::DpsgdRuns(options) => options.data.device.device,
            Self::LabelDp(options) => options.data.device.device,
            Self::PateFm(options) => options.data.device.device,
            Self::PromptPate(options) => options.data.device.device,
            Self::MetaClassifier(options) => options.data.device.device,
            Self::Property(options) => options.data.device.device,
            Self::Teachers(options) => options.data.device.device,
            Self::Shadow(options) => options.data.device.device,
            Self::Student(options) => options.data.device.device,
            Self::Tokens(options) => options.device.device,
        }
    }
}

/// Set in the process that has loaded the CUDA library, so that it is started once and not for ever.
const LOADED: &str = "LEAKBOUND_CUDA_LOADED";

pub fn run(common: &Common, command: &TorchCommand) -> Result<bool> {
    let device = open(command.device())?;
    if let Some((output, document)) = record(common, command, device)? {
        output.write(&document)?;
    }
    Ok(false)
}

/// Trains what the command wants. Its document is left to be written but where it says more than what was trained.
pub fn record(common: &Common, command: &TorchCommand, device: TrainingDevice) -> Result<Option<Recorded>> {
    let recorded = match command {
        TorchCommand::Device(_) => {
            print(common, &[Format::Text], format!("{device}\n").as_bytes())?;
            return Ok(None);
        }
        TorchCommand::MetaClassifier(options) => {
            return meta_classifier::run(common, options, device).map(|()| None);
        }
        TorchCommand::Student(options) => return student::run(common, options, device).map(|()| None),
        TorchCommand::Dpsgd(options) => dpsgd::record(common, options, device)?,
        TorchCommand::DpsgdRuns(options) => dpsgd_runs::record(common, options, device)?,
        TorchCommand::LabelDp(options) => label_dp::record(common, options, device)?,
        TorchCommand::PateFm(options) => pate_fm::record(common, options, device)?,
        TorchCommand::PromptPate(options) => prompt_pate::record(common, options, device)?,
        TorchCommand::Property(options) => property::record(common, options, device)?,
        TorchCommand::Teachers(options) => teachers::record(common, options, device)?,
        TorchCommand::Shadow(options) => shadow::record(common, options, device)?,
        TorchCommand::Tokens(options) => tokens::record(common, options, device)?,
    };
    Ok(Some(recorded))
}

/// The device, with the library that it needs.
pub fn open(choice: DeviceChoice) -> Result<TrainingDevice> {
    load_cuda(choice)?;
    TrainingDevice::open(choice)
}

/// Starts this program again with the CUDA library where that is needed; comes back where it is not.
fn load_cuda(choice: DeviceChoice) -> Result<()> {
    if std::env::var_os(LOADED).is_some() {
        return Ok(());
    }
    let Some(library) = cuda_library(choice)? else { return Ok(()) };
    let failed = |source| Error::Io { path: library.clone(), action: "load", source };
    let program = std::env::current_exe().map_err(failed)?;
    let mut again = Command::new(program);
    again.args(std::env::args_os().skip(1)).env(LOADED, "1").env("LD_PRELOAD", before("LD_PRELOAD", &library));
    if let Some(folder) = library.parent() {
        // Both halves of libtorch must come from one folder.
        again.env("LD_LIBRARY_PATH", before("LD_LIBRARY_PATH", folder));
    }
    Err(failed(again.exec()))
}

/// A path in front of those that a variable lists.
fn before(variable: &str, path: &Path) -> OsString {
    let mut list = path.as_os_str().to_owned();
    if let Some(others) = std::env::var_os(variable).filter(|others| !others.is_empty()) {
        list.push(":");
        list.push(others);
    }
    list
}
