//! `leakbound bench`.

use super::conclude::{Asked, conclude};
use crate::args::{BenchOptions, Common};
use crate::output::Output;
use leakbound::Result;
use leakbound::study::{BenchStudy, Verdict};
use std::time::Duration;

pub fn run(common: &Common, options: &BenchOptions) -> Result<Verdict> {
    let output = Output::open(common, &[])?;
    let all = BenchStudy::default();
    let study = BenchStudy {
        works: if options.work.is_empty() { all.works } else { options.work.clone() },
        threads: common.threads.unwrap_or(all.threads),
        // The command line bounds the seconds.
        time: Duration::try_from_secs_f64(options.seconds).unwrap_or_default(),
    };
    let asked = Asked { options, inputs: Vec::new(), title: String::new(), warnings: Vec::new() };
    conclude(common, output, &study, asked)
}
