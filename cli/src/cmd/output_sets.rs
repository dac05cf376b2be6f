//! The output sets of an audit of counts: from a pilot, given distributions, or each outcome alone.

use crate::args::{Common, CountsOptions};
use crate::output::fault;
use leakbound::audit::{Guide, SetSource, split_pilot};
use leakbound::counts::PairedCounts;
use leakbound::distribution::OutcomeDistribution;
use leakbound::error::one_line;
use leakbound::record::{CountsFile, InputFile, RecordedCounts, RecordedDistribution, read_counts, read_distribution};
use leakbound::study::{CountedQuery, Methods, Warning};
use leakbound::{Error, InputError, Result};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// What `--methods auto` sets aside by default, from this many outputs of each world on.
const PILOT_FRACTION: f64 = 0.1;
const PILOT_FROM: u64 = 1000;

/// The output sets of every query, and the counts that are left to bound.
pub fn choose_sets(
    common: &Common,
    options: &CountsOptions,
    file: &CountsFile,
    inputs: &mut Vec<InputFile>,
) -> Result<Vec<CountedQuery>> {
    let (orders, directions) = (&options.bound.orders.0, options.bound.direction.value);
    if let Some(path) = &options.pilot {
        let pilot = read_counts(path)?;
        inputs.push(pilot.input.clone());
        let pilots: HashMap<Option<&str>, &RecordedCounts> =
            pilot.queries.iter().map(|query| (query.query.as_deref(), query)).collect();
        return each_query(file, |name, counts| {
            let pilot = pilots.get(&name).ok_or_else(|| missing(path, name, "pilot counts"))?;
            let position = positions(path, name, pilot.counts.labels(), counts.labels())?;
            let pick = |world: &[u64]| position.iter().map(|at| at.map_or(0, |at| world[at])).collect();
            let aligned = PairedCounts::new(
                counts.labels().to_vec(),
                pick(pilot.counts.counts()),
                pick(pilot.counts.counts_neighbor()),
            )?;
            Ok((counts.clone(), Guide::from_pilot(&aligned, orders, directions)?))
        });
    }
    if let Some(path) = &options.distribution {
        let distribution = read_distribution(path)?;
        inputs.push(distribution.input.clone());
        let distributions: HashMap<Option<&str>, &RecordedDistribution> = distribution
            .distributions
            .iter()
            .map(|distribution| (distribution.query.as_deref(), distribution))
            .collect();
        return each_query(file, |name, counts| {
            let distribution = distributions.get(&name).ok_or_else(|| missing(path, name, "a distribution"))?;
            // Outcomes that were never printed may be missing from the counts: they join with count 0.
            let position = positions(path, name, counts.labels(), &distribution.labels)?;
            let pick = |world: &[u64]| position.iter().map(|at| at.map_or(0, |at| world[at])).collect();
            let all =
                PairedCounts::new(distribution.labels.clone(), pick(counts.counts()), pick(counts.counts_neighbor()))?;
            let (p, q) = (
                OutcomeDistribution::from_probabilities(&distribution.p)?,
                OutcomeDistribution::from_probabilities(&distribution.q)?,
            );
            Ok((all, Guide::from_distributions(&p, &q, orders, directions, SetSource::ExactDistribution)?))
        });
    }
    for query in &file.queries {
        provable(&options.file, query)?;
    }
    if let Some(fraction) = options.pilot_fraction.or_else(|| unasked_pilot(options, file)) {
        let mut seed = common.seed;
        return each_query(file, |_, counts| {
            let (pilot, rest) = split_pilot(counts, fraction, seed)?;
            seed = seed.wrapping_add(1);
            Ok((rest, Guide::from_pilot(&pilot, orders, directions)?))
        });
    }
    each_query(file, |_, counts| Ok((counts.clone(), Guide::fixed_list(counts.outcomes()))))
}

/// What to do about outputs that are numbers.
const BIN: &str = "count them in bins: --bins quantile:20 --pilot-fraction 0.1";

/// Whether every outcome that was seen is a number.
fn numbers(counts: &PairedCounts) -> bool {
    counts.labels().iter().all(|label| label.parse::<f64>().is_ok())
}

/// Rejects outputs of which nearly every one is different: no outcome has a probability that they could show.
fn provable(path: &Path, query: &RecordedCounts) -> Result<()> {
    let counts = &query.counts;
    if !counts.hardly_repeats() {
        return Ok(());
    }
    let numbers = numbers(counts);
    Err(Error::from(InputError {
        file: path.to_owned(),
        place: query.query.as_ref().map_or_else(|| "whole file".into(), |query| format!("query `{}`", one_line(query))),
        found: format!(
            "{} different outcomes in {} outputs",
            counts.seen(),
            counts.trials() + counts.trials_neighbor()
        ),
        expected: "outcomes that repeat: what is seen once or never in a world shows nothing of its probability".into(),
        hint: Some(
            if numbers { BIN } else { "group the outputs by a rule that was fixed before, or give --distribution" }
                .into(),
        ),
    }))
}

/// Numbers with few repeats: valid, and most of what differs between the worlds is lost.
pub fn few_repeats(file: &CountsFile) -> Option<Warning> {
    let few = |query: &&RecordedCounts| {
        let counts = &query.counts;
        let outputs = counts.trials().saturating_add(counts.trials_neighbor());
        counts.seen() > 50 && outputs / 10 < counts.seen() as u64 && numbers(counts)
    };
    let found: Vec<&RecordedCounts> = file.queries.iter().filter(few).collect();
    let first = found.first()?;
    let outputs = first.counts.trials().saturating_add(first.counts.trials_neighbor());
    let more =
        if found.len() > 1 { format!(", and in {} more queries as few", found.len() - 1) } else { String::new() };
    Some(Warning {
        code: "few-repeats",
        message: format!(
            "{outputs} outputs have {} different values{more}: each value shows little",
            first.counts.seen()
        ),
        hint: BIN.into(),
    })
}

/// With `--methods auto` and nothing else to go by, a tenth of the outputs is worth more as a pilot than in the counts,
/// unless there are few. The number of outputs decides, never what they are.
pub fn unasked_pilot(options: &CountsOptions, file: &CountsFile) -> Option<f64> {
    let enough = |query: &RecordedCounts| query.counts.trials().min(query.counts.trials_neighbor()) >= PILOT_FROM;
    (options.bound.methods == Methods::Auto && file.queries.iter().all(enough)).then_some(PILOT_FRACTION)
}

fn each_query(
    file: &CountsFile,
    mut choose: impl FnMut(Option<&str>, &PairedCounts) -> Result<(PairedCounts, Guide)>,
) -> Result<Vec<CountedQuery>> {
    file.queries
        .iter()
        .map(|query| {
            let (counts, guide) = choose(query.query.as_deref(), &query.counts)?;
            Ok(CountedQuery { name: query.query.clone().unwrap_or_default(), counts, guide })
        })
        .collect()
}

/// Where each of `wanted` stands among `given`; every one of `given` must be wanted.
fn positions(path: &Path, query: Option<&str>, given: &[String], wanted: &[String]) -> Result<Vec<Option<usize>>> {
    let at: HashMap<&str, usize> = given.iter().enumerate().map(|(index, label)| (label.as_str(), index)).collect();
    let position: Vec<Option<usize>> = wanted.iter().map(|label| at.get(label.as_str()).copied()).collect();
    let known: HashSet<&str> = wanted.iter().map(String::as_str).collect();
    if let Some(label) = given.iter().find(|label| !known.contains(label.as_str())) {
        let place = query.map_or_else(|| "whole file".into(), |query| format!("query `{query}`"));
        let found = format!("an outcome `{label}` that appears in only one of the two files");
        let expected = "the same outcomes in the counts and in the file that chooses the sets";
        return Err(fault(path, &place, found, expected));
    }
    Ok(position)
}

/// A file that does not have a query.
pub fn missing(path: &Path, query: Option<&str>, what: &str) -> Error {
    let expected =
        query.map_or_else(|| format!("{what} without a query"), |query| format!("{what} of query `{query}`"));
    fault(path, "whole file", "no such query", expected)
}
