//! `leakbound self-check audit counts`.

use super::audit_scores::SelfCheckScoresOptions;
use super::conclude::{Asked, conclude};
use super::output_sets::choose_sets;
use crate::args::values::whole;
use crate::args::{Common, CountsOptions};
use crate::output::Output;
use clap::{Args, Subcommand};
use leakbound::Result;
use leakbound::audit::SetSource;
use leakbound::error::one_line;
use leakbound::record::read_counts;
use leakbound::study::{CheckedAudit, SelfCheckStudy, Verdict};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The audits that can be checked.
#[derive(Debug, Subcommand)]
pub enum SelfCheckCommand {
    /// Check an audit
    #[command(subcommand)]
    Audit(SelfCheckAudit),
}

/// The audits that can be checked.
#[derive(Debug, Subcommand)]
pub enum SelfCheckAudit {
    /// Check the bounds of `leakbound audit counts` on simulated counts of the same sizes
    #[command(after_help = "Example:\n  leakbound self-check audit counts counts.csv --orders 2,10 --delta 1e-5 \
                            --pilot-fraction 0.1 --repetitions 1000\n\nExit status 1 if a finite-sample method is \
                            wrong more often than it states.")]
    Counts(SelfCheckOptions),
    /// Check the bounds of `leakbound audit scores` on simulated scores of as many canaries
    #[command(after_help = "Example:\n  leakbound self-check audit scores canaries.csv --repetitions 1000\n\nExit \
                            status 1 if a finite-sample selection is wrong more often than it states.")]
    Scores(SelfCheckScoresOptions),
}

#[derive(Debug, Args, Serialize)]
pub struct SelfCheckOptions {
    #[command(flatten)]
    #[serde(flatten)]
    pub audit: CountsOptions,
    /// Simulated audits of each query, on null and on known data
    #[arg(long, value_name = "R", default_value = "1000", value_parser = whole::<u64>(1, 1_000_000_000, "1e9"), allow_hyphen_values = true)]
    pub repetitions: u64,
}

pub fn run(common: &Common, options: &SelfCheckOptions) -> Result<Verdict> {
    let audit = &options.audit;
    let chosen_from = audit.pilot.iter().chain(&audit.distribution);
    let paths: Vec<&Path> = std::iter::once(&audit.file).chain(chosen_from).map(PathBuf::as_path).collect();
    let output = Output::open(common, &paths)?;
    let file = read_counts(&audit.file)?;
    let mut inputs = vec![file.input.clone()];
    let queries = choose_sets(common, audit, &file, &mut inputs)?;
    let checked = queries.into_iter().zip(file.queries).map(|(query, recorded)| CheckedAudit {
        pilot_split: audit.pilot.is_none() && query.guide.sets.source == SetSource::Pilot,
        query,
        recorded: recorded.counts,
    });
    let study = SelfCheckStudy {
        queries: checked.collect(),
        bounds: audit.bound.bounds(),
        repetitions: options.repetitions,
        seed: common.seed,
    };
    let title = format!(
        "Self-check on {} ({} quer{}): {} simulated audits on null and on known data, seed {}",
        one_line(&audit.file.to_string_lossy()),
        study.queries.len(),
        if study.queries.len() == 1 { "y" } else { "ies" },
        options.repetitions,
        common.seed
    );
    conclude(common, output, &study, Asked { options, inputs, title, warnings: Vec::new() })
}
