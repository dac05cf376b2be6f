//! Checkpoints: a simulation that was interrupted, as a file.

use super::atomic_file::write_atomically;
use super::fault::{fault, hinted, quoted};
use super::input_file::{InputFile, read_up_to};
use super::json::{Bounded, Count, Name, parse};
use super::simulated::{PartialSimulation, SimulationPlan, query_of};
use crate::error::Result;
use crate::simulate::{BlockSet, Shard};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// First words of a checkpoint; the number rises when the form of the content changes.
const MARK: &str = "leakbound checkpoint 1, sha256 ";
/// First words of every version.
const FAMILY: &str = "leakbound checkpoint ";
/// The largest checkpoint read: 2^20 outcomes in both worlds need far less.
const MAX_BYTES: u64 = 256 << 20;

/// The finished part of a simulation.
///
/// The file has a first line with the SHA-256 of all that follows, and then one line of JSON: `plan`, `shard`, and for
/// each query its name, its `blocks` as ranges from the first to the one after the last, `counts` and
/// `counts_neighbor`. It is written next to its place and renamed, so that either the old or the new checkpoint is
/// there, complete, at every moment; a file with a single byte changed, or cut off anywhere, is rejected.
///
/// # Example
/// ```
/// # use leakbound::record::{Checkpoint, PartialSimulation, SimulationPlan};
/// # use leakbound::simulate::{Shard, Simulation};
/// let plan = SimulationPlan::new("0".repeat(64), Simulation::new(1_000_000)?);
/// let simulation = PartialSimulation::new(plan, [(Some("q".to_owned()), 10)])?;
/// let checkpoint = Checkpoint { shard: Shard::WHOLE, simulation };
/// let mut bytes = checkpoint.to_bytes();
/// assert_eq!(Checkpoint::from_bytes("a.checkpoint", &bytes)?, checkpoint);
/// bytes.pop();
/// assert!(Checkpoint::from_bytes("a.checkpoint", &bytes).is_err());
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Which part of the simulation is requested.
    pub shard: Shard,
    /// The part that is done.
    pub simulation: PartialSimulation,
}

#[derive(Serialize)]
struct BodyOut<'a> {
    plan: &'a SimulationPlan,
    shard: Shard,
    queries: Vec<QueryOut<'a>>,
}

#[derive(Serialize)]
struct QueryOut<'a> {
    query: Option<&'a str>,
    blocks: &'a BlockSet,
    counts: &'a [u64],
    counts_neighbor: &'a [u64],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "the content of a checkpoint")]
struct Body {
    plan: SimulationPlan,
    shard: Shard,
    queries: Bounded<Query>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a query of a checkpoint")]
struct Query {
    query: Option<Name>,
    blocks: BlockSet,
    counts: Bounded<Count>,
    counts_neighbor: Bounded<Count>,
}

impl Checkpoint {
    /// The content of the file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let queries = self.simulation.queries.iter().map(|query| QueryOut {
            query: query.query.as_deref(),
            blocks: query.part.blocks(),
            counts: &query.part.worlds()[0],
            counts_neighbor: &query.part.worlds()[1],
        });
        let body = BodyOut { plan: &self.simulation.plan, shard: self.shard, queries: queries.collect() };
        // Whole numbers, texts and lists can always be written as JSON.
        let body = serde_json::to_string(&body).unwrap_or_default() + "\n";
        format!("{}\n{body}", first_line(body.as_bytes())).into_bytes()
    }

    /// Writes the file next to its place and renames it.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) when it cannot be written; an existing file is kept.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        write_atomically(path, &self.to_bytes())
    }

    /// Reads a file that [`write`](Self::write) wrote.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) when it cannot be read; otherwise [`Error::Input`](crate::Error::Input), one
    /// line that states what is wrong: not a checkpoint, changed or cut off since it was written, written by a program
    /// that draws other numbers, or counts that do not belong to the blocks.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::from_bytes(path, &read_up_to(path, MAX_BYTES)?)
    }

    /// Reads what [`read`](Self::read) reads from bytes in memory; `name` is the file's name in messages.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn from_bytes(name: impl AsRef<Path>, bytes: &[u8]) -> Result<Self> {
        let file = name.as_ref();
        let text = content(file, bytes)?;
        let Body { plan, shard, queries } = parse(file, text)?;
        let simulation = plan.check(file)?;
        let blocks = shard
            .blocks(simulation)
            .map_err(|error| fault(file, "shard", quoted(&error.to_string()), "a shard of the simulation"))?;
        if queries.0.is_empty() {
            return Err(fault(file, "queries", "no query", "at least 1 query").into());
        }
        let mut read = Vec::with_capacity(queries.0.len());
        for (index, query) in queries.0.into_iter().enumerate() {
            let place = |member: &str, found: String, expected: String| {
                fault(file, format!("queries[{index}].{member}"), found, expected)
            };
            let strange = |range: &std::ops::Range<u64>| range.start < blocks.start || range.end > blocks.end;
            if query.blocks.ranges().iter().any(strange) {
                let expected = format!("blocks of the shard {shard}");
                return Err(place("blocks", query.blocks.to_string(), expected).into());
            }
            let counts = [query.counts, query.counts_neighbor]
                .map(|Bounded(counts)| counts.iter().map(|count| count.0).collect());
            read.push(query_of(place, simulation.query(index as u64), query.query, query.blocks, counts)?);
        }
        Ok(Self { shard, simulation: PartialSimulation { plan, queries: read } })
    }

    /// This checkpoint, read from `file`, as the start of the work that `wanted` describes.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) when it is of another scenario, seed, number of samples or shard.
    pub fn resume(self, file: impl AsRef<Path>, wanted: &Self) -> Result<PartialSimulation> {
        let file = file.as_ref();
        wanted.simulation.plan.expect(file, &self.simulation.plan, "requested")?;
        if self.shard != wanted.shard {
            let expected = format!("`{}`, as requested", wanted.shard);
            return Err(fault(file, "shard", format!("`{}`", self.shard), expected).into());
        }
        wanted.simulation.expect_queries(file, &self.simulation, "requested")?;
        Ok(self.simulation)
    }
}

fn first_line(body: &[u8]) -> String {
    format!("{MARK}{}", InputFile::of_bytes("", body).sha256)
}

/// What follows the first line, once that line confirms it.
fn content<'a>(file: &Path, bytes: &'a [u8]) -> Result<&'a str> {
    let wanted = "a checkpoint of a simulation";
    if bytes.len() as u64 > MAX_BYTES {
        return Err(fault(file, "whole file", "more than 256 MiB", wanted).into());
    }
    let reject = |found: &str, expected: &str, hint: &str| {
        let error = fault(file, "whole file", found, expected);
        Err(if hint.is_empty() { error } else { hinted(error, hint) }.into())
    };
    let broken = || {
        reject(
            "a checkpoint that was changed or cut off after it was written",
            "it as it was written",
            "start over without it",
        )
    };
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let (first, rest) = (&bytes[..end], bytes.get(end + 1..).unwrap_or_default());
    match std::str::from_utf8(rest) {
        Ok(text) if first == first_line(rest).as_bytes() => Ok(text),
        _ if bytes.is_empty() => reject("an empty file", wanted, "remove it to start over"),
        _ if first.starts_with(MARK.as_bytes()) || MARK.as_bytes().starts_with(bytes) => broken(),
        _ if first.starts_with(FAMILY.as_bytes()) => reject(
            "a checkpoint of another form, or one that was changed",
            MARK,
            "another version of the program may have written it",
        ),
        _ => reject("another kind of file", wanted, ""),
    }
}
