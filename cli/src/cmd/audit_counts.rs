//! `leakbound audit counts`.

use super::binned;
use super::conclude::{Asked, conclude};
use super::output_sets::{choose_sets, few_repeats, unasked_pilot};
use crate::args::{AuditCountsOptions, Common};
use crate::output::Output;
use leakbound::Result;
use leakbound::audit::SetSource;
use leakbound::record::read_counts;
use leakbound::report::one_line;
use leakbound::study::{CountsStudy, Verdict, Warning, short};
use std::path::{Path, PathBuf};

pub fn run(common: &Common, all: &AuditCountsOptions) -> Result<Verdict> {
    let options = &all.audit;
    let chosen_from = options.pilot.iter().chain(&options.distribution);
    let inputs: Vec<&Path> = std::iter::once(&options.file).chain(chosen_from).map(PathBuf::as_path).collect();
    let output = Output::open(common, &inputs)?;
    let (mut inputs, mut warnings) = (Vec::new(), Vec::new());
    let (file, queries) = match &all.bins {
        Some(rule) => binned::queries(common, options, rule, &mut inputs, &mut warnings)?,
        None => {
            let file = read_counts(&options.file)?;
            inputs.push(file.input.clone());
            let queries = choose_sets(common, options, &file, &mut inputs)?;
            warnings.extend(few_repeats(&file).filter(|_| options.distribution.is_none() && options.pilot.is_none()));
            (file, queries)
        }
    };
    if queries.iter().any(|query| query.guide.sets.source == SetSource::FixedList && query.guide.sets.sets.len() > 1) {
        let most = queries.iter().map(|query| query.guide.sets.sets.len()).max().unwrap_or(0);
        warnings.push(Warning {
            code: "fixed-list",
            message: format!("without a pilot or a distribution each of {most} outcomes is an output set of its own"),
            hint: "sharper bounds: --pilot-fraction 0.1, --pilot FILE or --distribution FILE".into(),
        });
    }
    let chosen = options.pilot.is_some() || options.distribution.is_some() || options.pilot_fraction.is_some();
    if let Some(fraction) = unasked_pilot(options, &file).filter(|_| !chosen) {
        warnings.push(Warning {
            code: "pilot-set-aside",
            message: format!("{} of the outputs were set aside as a pilot, and not bounded", short(fraction)),
            hint: "choose yourself: --pilot-fraction F, --pilot FILE, --distribution FILE or --methods NAME".into(),
        });
    }
    let title = format!(
        "Audit of {} ({} quer{}); forward is D(P‖Q) with P the column count",
        one_line(&options.file.to_string_lossy()),
        queries.len(),
        if queries.len() == 1 { "y" } else { "ies" }
    );
    let study = CountsStudy {
        queries,
        bounds: options.bound.bounds(),
        epsilons: all.further.epsilons.clone(),
        trade_off: all.further.trade_off,
        composition: all.composition,
        // CSV has the bounds alone.
        forecasts: !output.has_bounds_alone(),
        seed: common.seed,
    };
    conclude(common, output, &study, Asked { options: all, inputs, title, warnings })
}
