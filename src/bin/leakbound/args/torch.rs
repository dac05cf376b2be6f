//! Options of `leakbound torch`.

use clap::{Args, Subcommand};
use leakbound::torch::DeviceChoice;
use serde::Serialize;

/// Training of models whose outputs are audited.
#[derive(Debug, Subcommand)]
pub enum TorchCommand {
    /// Say which device would be used
    #[command(after_help = "Example:\n  leakbound torch device --device cuda")]
    Device(DeviceOptions),
}

impl TorchCommand {
    /// The device that the recipe was asked to use.
    pub fn device(&self) -> DeviceChoice {
        match self {
            Self::Device(options) => options.device,
        }
    }
}

/// Where networks are trained.
#[derive(Debug, Clone, Args, Serialize)]
pub struct DeviceOptions {
    /// cpu, cuda, or auto: a GPU if there is one that can be used
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub device: DeviceChoice,
}
