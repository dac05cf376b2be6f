//! `leakbound merge`.

use super::conclude::{Asked, conclude};
use crate::args::{Common, MergeOptions};
use crate::output::Output;
use leakbound::Result;
use leakbound::record::read_simulated;
use leakbound::study::{MergeStudy, Verdict, short};
use std::path::Path;

pub fn run(common: &Common, options: &MergeOptions) -> Result<Verdict> {
    let paths: Vec<&Path> = options.files.iter().map(|path| &**path).collect();
    let output = Output::open(common, &paths)?;
    let parts = options.files.iter().map(read_simulated).collect::<Result<Vec<_>>>()?;
    let inputs = parts.iter().map(|part| part.input.clone()).collect();
    let title = parts.first().map_or_else(String::new, |first| {
        let plan = &first.simulation.plan;
        format!(
            "{} of {} outputs per query and world, seed {}",
            if parts.len() == 1 { "1 part".to_owned() } else { format!("{} parts", parts.len()) },
            short(plan.samples as f64),
            plan.seed
        )
    });
    let study = MergeStudy { parts, partial: options.partial };
    conclude(common, output, &study, Asked { options, inputs, title, warnings: Vec::new() })
}
