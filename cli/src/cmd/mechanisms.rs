//! `leakbound mechanisms`.

use super::conclude::{Asked, conclude};
use crate::args::Common;
use crate::output::Output;
use clap::Args;
use leakbound::Result;
use leakbound::study::{CatalogStudy, Verdict};
use serde::Serialize;

/// List the mechanisms with their data, neighbors, parameters and an example of their text form
#[derive(Debug, Args, Serialize)]
#[command(after_help = "Example:\n  leakbound mechanisms --format json\n\nThe JSON has the theorems, too.")]
pub struct MechanismsOptions {}

pub fn run(common: &Common, options: &MechanismsOptions) -> Result<Verdict> {
    let asked = Asked { options, inputs: Vec::new(), title: String::new(), warnings: Vec::new() };
    conclude(common, Output::open(common, &[])?, &CatalogStudy, asked)
}
