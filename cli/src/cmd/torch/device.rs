//! Where networks are trained.

use crate::args::values::{listed, named};
use clap::Args;
use leakbound::{Error, Result};
use leakbound_train::{DeviceChoice, TrainingDevice, cuda_library};
use serde::Serialize;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Where networks are trained.
#[derive(Debug, Clone, Args, Serialize)]
pub struct DeviceOptions {
    /// Device of the training; auto is a GPU if there is one that can be used
    #[arg(long, value_name = "DEVICE", default_value = "auto", help_heading = "Advanced")]
    #[arg(value_parser = listed(named::<DeviceChoice>, DeviceChoice::ALL.map(DeviceChoice::name)))]
    pub device: DeviceChoice,
}

/// Set in the process that has loaded the CUDA library, so that it is started once and not for ever.
const LOADED: &str = "LEAKBOUND_CUDA_LOADED";

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
