//! `leakbound self-check audit counts`.

use super::conclude::{Asked, conclude};
use super::output_sets::choose_sets;
use crate::args::{Common, SelfCheckOptions};
use crate::output::Output;
use leakbound::Result;
use leakbound::audit::SetSource;
use leakbound::record::read_counts;
use leakbound::report::one_line;
use leakbound::study::{CheckedAudit, SelfCheckStudy, Verdict};
use std::path::{Path, PathBuf};

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
