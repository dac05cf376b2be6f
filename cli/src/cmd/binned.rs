//! Outputs that are numbers, counted in bins that were fixed before.

use super::output_sets::{choose_sets, missing};
use crate::args::{Common, CountsOptions};
use leakbound::audit::{BinRule, Guide, OutputBins, RealOutputs};
use leakbound::record::{CountsFile, InputFile, RecordedCounts, RecordedValues, ValueFile, read_value_file};
use leakbound::study::{CountedQuery, Warning};
use leakbound::{Error, Result};
use std::path::Path;

/// The bins of a query and the size of the pilot that chose them.
struct Binned {
    query: CountedQuery,
    bins: OutputBins,
    pilot: [u64; 2],
}

/// The queries of a file of numbers as counts of bins, with their output sets.
pub fn queries(
    common: &Common,
    options: &CountsOptions,
    rule: &BinRule,
    inputs: &mut Vec<InputFile>,
    warnings: &mut Vec<Warning>,
) -> Result<(CountsFile, Vec<CountedQuery>)> {
    let file = read_value_file(&options.file)?;
    inputs.push(file.input.clone());
    if let (BinRule::Edges(bins), None) = (rule, &options.pilot) {
        let counts = |query: &RecordedValues| {
            Ok(RecordedCounts { query: query.query.clone(), counts: query.outputs.binned(bins)? })
        };
        let counts = CountsFile { input: file.input, queries: file.queries.iter().map(counts).collect::<Result<_>>()? };
        let queries = choose_sets(common, options, &counts, inputs)?;
        return Ok((counts, queries));
    }
    let (orders, directions) = (&options.bound.orders.0, options.bound.direction.value);
    let recorded = options.pilot.as_ref().map(read_value_file).transpose()?;
    inputs.extend(recorded.iter().map(|pilot| pilot.input.clone()));
    let mut found = Vec::new();
    for (place, query) in file.queries.iter().enumerate() {
        let name = query.query.clone();
        let (pilot, rest) = match (&recorded, options.pilot_fraction) {
            (Some(recorded), _) => (of_query(recorded, options, name.as_deref())?, query.outputs.clone()),
            (None, Some(fraction)) => query.outputs.split(fraction, common.seed.wrapping_add(place as u64))?,
            (None, None) => {
                return Err(Error::Rejected {
                    operation: "binning",
                    reason: format!(
                        "the edges of {rule} come from outputs that are not bounded; add --pilot-fraction 0.1, or \
                         declare the edges: --bins edges:A,B,..."
                    ),
                });
            }
        };
        let bins = match rule {
            BinRule::Quantiles(wanted) => OutputBins::quantiles(&pilot, *wanted)?,
            BinRule::Edges(bins) => bins.clone(),
        };
        let guide = Guide::from_pilot(&pilot.binned(&bins)?, orders, directions)?;
        let query = CountedQuery { name: name.unwrap_or_default(), counts: rest.binned(&bins)?, guide };
        found.push(Binned { query, bins, pilot: pilot.totals() });
    }
    warnings.push(chosen(&found));
    let counts = |found: &Binned| RecordedCounts {
        query: Some(found.query.name.clone()).filter(|name| !name.is_empty()),
        counts: found.query.counts.clone(),
    };
    let counts = CountsFile { input: file.input, queries: found.iter().map(counts).collect() };
    Ok((counts, found.into_iter().map(|found| found.query).collect()))
}

/// Which bins were chosen, from how many outputs.
fn chosen(found: &[Binned]) -> Warning {
    let message = match found {
        [only] => format!(
            "{} outputs of s and {} of s_prime chose {} bins and are not bounded: {}",
            only.pilot[0],
            only.pilot[1],
            only.bins.bins(),
            only.bins.labels().join(" ")
        ),
        _ => {
            let outputs: u64 = found.iter().map(|found| found.pilot[0] + found.pilot[1]).sum();
            format!("{outputs} outputs of {} queries chose the bins of each and are not bounded", found.len())
        }
    };
    Warning { code: "bins-chosen", message, hint: "declare the bins `edges:A,B,...` to bound all outputs".into() }
}

/// The pilot of one query.
fn of_query(pilots: &ValueFile, options: &CountsOptions, name: Option<&str>) -> Result<RealOutputs> {
    let found = pilots.queries.iter().find(|pilot| pilot.query.as_deref() == name);
    let file = options.pilot.as_deref().unwrap_or(Path::new(""));
    found.map(|pilot| pilot.outputs.clone()).ok_or_else(|| missing(file, name, "pilot outputs"))
}
