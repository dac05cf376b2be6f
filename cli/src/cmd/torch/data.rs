//! Options of every training: what it reads and writes, and where it trains.

use super::device::DeviceOptions;
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What a recipe reads and writes, and where it trains.
#[derive(Debug, Clone, Args, Serialize)]
pub struct DataOptions {
    /// Images: a folder of idx files (MNIST, Fashion-MNIST, EMNIST), of CIFAR's binary files or of x_train.npy,
    /// y_train.npy, x_test.npy, y_test.npy, or an npz with these four arrays
    #[arg(long, value_name = "PATH")]
    pub data: PathBuf,
    /// Recording to write (.npz); replaced only once it is complete
    #[arg(long, value_name = "FILE.npz")]
    pub recording: PathBuf,
    #[command(flatten)]
    #[serde(flatten)]
    pub device: DeviceOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub checkpoint: CheckpointOptions,
}

/// Where what is trained is kept until all is there.
#[derive(Debug, Clone, Args, Serialize)]
pub struct CheckpointOptions {
    /// Save finished networks in this file, so that an interrupted run can continue
    #[arg(long, value_name = "FILE", help_heading = "Advanced")]
    pub checkpoint: Option<PathBuf>,
    /// Resume from the checkpoint; start over if there is none
    #[arg(long, requires = "checkpoint", help_heading = "Advanced")]
    pub resume: bool,
}

impl CheckpointOptions {
    /// The file, if there is one.
    pub fn file(&self) -> Option<&Path> {
        self.checkpoint.as_deref()
    }
}
