//! `leakbound torch`: the device first, then a recipe.

use self::device::{DeviceOptions, open};
use self::training_run::Recorded;
use crate::args::{Common, Format};
use crate::output::print;
use clap::Subcommand;
use leakbound::Result;
use leakbound_train::{DeviceChoice, TrainingDevice};

mod contrastive;
mod data;
mod defense;
mod defense_training;
mod device;
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

pub fn run(common: &Common, command: &TorchCommand) -> Result<bool> {
    let device = open(command.device())?;
    if let Some((output, document)) = record(common, command, device)? {
        output.write(&document)?;
    }
    Ok(false)
}

/// Trains what the command wants. Its document remains to be written, unless it holds more than what was trained.
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
