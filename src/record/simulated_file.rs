//! Documents of `leakbound simulate`, read again to be added up.

use super::counts_json::Query;
use super::fault::{fault, quoted};
use super::input_file::{Digested, InputFile, InputReader, open};
use super::json::{Bounded, parse};
use super::rows::same_length;
use super::simulated::{PartialSimulation, SimulationPlan, query_of};
use super::text::read_whole_json;
use crate::error::{Error, Result};
use crate::simulate::BlockSet;
use serde::Deserialize;
use std::path::Path;

/// Name and version of the form of the document.
pub const SIMULATE_SCHEMA: &str = "leakbound.simulate/1";

/// A document of `leakbound simulate` or `leakbound merge` in its JSON form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulatedFile {
    /// The file.
    pub input: InputFile,
    /// The simulation in the file.
    pub simulation: PartialSimulation,
}

/// The outermost object; unknown members are ignored, since documents carry a version, options, warnings.
#[derive(Deserialize)]
#[serde(expecting = "a document of simulated outputs")]
struct Document {
    schema: String,
    plan: SimulationPlan,
    blocks: BlockSet,
    queries: Bounded<Query>,
}

/// Reads a document of `leakbound simulate` in its JSON form; [`read_counts`](super::read_counts) reads only its
/// counts.
///
/// # Errors
/// [`Error::Io`] when the file cannot be read; otherwise [`Error::Input`], one line that names file, place, what was
/// found and what was expected: among others for another schema, for a sampler of another version, and for counts that
/// do not sum to the samples of the blocks.
pub fn read_simulated(path: impl AsRef<Path>) -> Result<SimulatedFile> {
    let path = path.as_ref();
    read(path, open(path)?)
}

/// Reads what [`read_simulated`] reads from bytes in memory; `name` is the file's name in messages.
///
/// # Errors
/// As [`read_simulated`].
pub fn simulated_from_bytes(name: impl AsRef<Path>, bytes: &[u8]) -> Result<SimulatedFile> {
    read(name.as_ref(), InputReader::of_bytes(bytes.to_vec()))
}

fn read(file: &Path, reader: InputReader) -> Result<SimulatedFile> {
    let mut digested = Digested::new(reader);
    let expected = "a document of simulated outputs";
    let text = read_whole_json(file, &mut digested, expected, "write it as JSON")?;
    let Document { schema, plan, blocks, queries } = parse(file, &text)?;
    if schema != SIMULATE_SCHEMA {
        return Err(fault(file, "schema", quoted(&schema), quoted(SIMULATE_SCHEMA)).into());
    }
    let simulation = plan.check(file)?;
    if queries.0.is_empty() {
        return Err(fault(file, "queries", "no query", "at least 1 query").into());
    }
    let mut read = Vec::with_capacity(queries.0.len());
    for (index, query) in queries.0.into_iter().enumerate() {
        let name = |member: &str| format!("queries[{index}].{member}");
        let place = super::place::Place { file, name: format!("queries[{index}]") };
        let [counts, neighbor]: [Vec<u64>; 2] =
            [query.counts, query.counts_neighbor].map(|Bounded(counts)| counts.iter().map(|count| count.0).collect());
        same_length(&place, query.labels.0.len(), [("counts", counts.len()), ("counts_neighbor", neighbor.len())])?;
        if let Some(wrong) = query.labels.0.iter().enumerate().position(|(at, label)| label.0 != at.to_string()) {
            let found = quoted(&query.labels.0[wrong].0);
            return Err(fault(file, name("labels"), found, format!("`{wrong}`, its position")).into());
        }
        let place = |member: &str, found: String, expected: String| fault(file, name(member), found, expected);
        let counts = [counts, neighbor];
        read.push(query_of(place, simulation.query(index as u64), query.query, blocks.clone(), counts)?);
    }
    drop(text);
    Ok(SimulatedFile { input: digested.finish_unchanged(file)?, simulation: PartialSimulation { plan, queries: read } })
}

/// Adds up documents of parts of one simulation.
///
/// # Errors
/// [`Error::Length`] without documents; [`Error::Input`], with the name of the file that does not fit, for another
/// scenario, seed, number of samples or other queries, and for blocks that an earlier file also has.
pub fn merge_simulated(files: &[SimulatedFile]) -> Result<PartialSimulation> {
    let Some((first, rest)) = files.split_first() else {
        return Err(Error::length("list of simulations", 0, "at least 1"));
    };
    let mut merged = first.simulation.clone();
    for (index, file) in rest.iter().enumerate() {
        let (path, found) = (&file.input.path, &file.simulation);
        let origin = format!("in {}", quoted(&first.input.path.to_string_lossy()));
        merged.plan.expect(path, &found.plan, &origin)?;
        merged.expect_queries(path, found, &origin)?;
        for (sum, more) in merged.queries.iter_mut().zip(&found.queries) {
            sum.part = match sum.part.merge(&more.part) {
                Ok(part) => part,
                Err(Error::Rejected { reason, .. }) => {
                    let other = files[..=index].iter().find(|earlier| overlap(&earlier.simulation, found));
                    let other = other.map_or_else(String::new, |earlier| {
                        format!(" with {}", quoted(&earlier.input.path.to_string_lossy()))
                    });
                    let expected = "blocks that no other file holds";
                    return Err(fault(path, "blocks", format!("an overlap{other}: {reason}"), expected).into());
                }
                Err(other) => return Err(other),
            };
        }
    }
    Ok(merged)
}

fn overlap(first: &PartialSimulation, second: &PartialSimulation) -> bool {
    let pairs = first.queries.iter().zip(&second.queries);
    pairs.into_iter().any(|(first, second)| first.part.blocks().union(second.part.blocks()).is_err())
}
