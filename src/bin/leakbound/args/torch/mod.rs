//! Options of `leakbound torch`.

mod network;
mod teachers;
mod training;

pub use teachers::TeachersOptions;
pub use training::CheckpointOptions;

use super::{Parsed, number, whole};
use clap::{Args, Subcommand};
use leakbound::torch::DeviceChoice;
use serde::Serialize;

/// Training of models whose outputs are audited.
#[derive(Debug, Subcommand)]
pub enum TorchCommand {
    /// Say which device would be used
    #[command(after_help = "Example:\n  leakbound torch device --device cuda")]
    Device(DeviceOptions),
    /// Train PATE teachers and CaPC parties, with and without one more point, and record their votes
    #[command(after_help = "Example:\n  leakbound torch teachers --data fashion-mnist --recording votes.npz \
                            --instantiations 4\n  leakbound audit votes votes.npz --model pate --noise gaussian:40")]
    Teachers(Box<TeachersOptions>),
}

impl TorchCommand {
    /// The device that the recipe was asked to use.
    pub fn device(&self) -> DeviceChoice {
        match self {
            Self::Device(options) => options.device,
            Self::Teachers(options) => options.device.device,
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

pub(super) fn any_count(text: &str) -> Parsed<usize> {
    if text.trim() == "0" { Ok(0) } else { count(text) }
}

pub(super) fn count(text: &str) -> Parsed<usize> {
    whole(text, 1_000_000, "1e6").map(|count| count as usize)
}

pub(super) fn rate(text: &str) -> Parsed<f64> {
    let rate = number(text)?;
    if rate > 0.0 && rate <= 1e3 { Ok(rate) } else { Err(format!("{rate} is not in (0, 1000]")) }
}
