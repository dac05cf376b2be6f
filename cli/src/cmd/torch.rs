//! `leakbound torch`: the device first, then a recipe.

use super::training_run::Recorded;
use crate::args::{Common, Format, TorchCommand};
use crate::output::print;
use leakbound::{Error, Result};
use leakbound_train::{DeviceChoice, TrainingDevice, cuda_library};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

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
            return super::torch_meta_classifier::run(common, options, device).map(|()| None);
        }
        TorchCommand::Student(options) => return super::torch_student::run(common, options, device).map(|()| None),
        TorchCommand::Dpsgd(options) => super::torch_dpsgd::record(common, options, device)?,
        TorchCommand::DpsgdRuns(options) => super::torch_dpsgd_runs::record(common, options, device)?,
        TorchCommand::LabelDp(options) => super::torch_label_dp::record(common, options, device)?,
        TorchCommand::PateFm(options) => super::torch_pate_fm::record(common, options, device)?,
        TorchCommand::PromptPate(options) => super::torch_prompt_pate::record(common, options, device)?,
        TorchCommand::Property(options) => super::torch_property::record(common, options, device)?,
        TorchCommand::Teachers(options) => super::torch_teachers::record(common, options, device)?,
        TorchCommand::Shadow(options) => super::torch_shadow::record(common, options, device)?,
        TorchCommand::Tokens(options) => super::torch_tokens::record(common, options, device)?,
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
