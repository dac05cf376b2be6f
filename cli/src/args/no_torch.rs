//! `leakbound torch` in a program that was built without libtorch.

use clap::Args;
use std::ffi::OsString;

/// Whatever was asked.
#[derive(Debug, Args)]
pub struct TorchCommand {
    /// The recipe and its options
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    pub rest: Vec<OsString>,
}
