//! The finished part of a simulation of several queries: what checkpoints and documents of simulations hold.

use super::fault::{fault, hinted, quoted};
use super::json::Name;
use crate::error::{Error, InputError, Result, readable};
use crate::simulate::{BLOCK_SAMPLES, BlockSet, PartialCounts, SAMPLER_VERSION, Simulation};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::Path;

/// Everything that determines the counts of a simulation: parts with equal plans may be added up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SimulationPlan {
    /// Identity of what is simulated: the [SHA-256 of the scenario](super::Scenario::sha256), 64 hexadecimal digits.
    pub scenario_sha256: String,
    /// How counts are drawn: `monte-carlo`, whose parts can be added up, or `exact-distribution`.
    pub sampling: String,
    /// [`SAMPLER_VERSION`] of the program that drew them.
    pub sampler: u32,
    /// [`BLOCK_SAMPLES`] of that program.
    pub block_samples: u64,
    /// The seed.
    pub seed: u64,
    /// Samples per query and world of the whole simulation.
    pub samples: u64,
}

const MONTE_CARLO: &str = "monte-carlo";

impl SimulationPlan {
    /// The plan of this program for a scenario.
    #[must_use]
    pub fn new(scenario_sha256: impl Into<String>, simulation: Simulation) -> Self {
        Self {
            scenario_sha256: scenario_sha256.into(),
            sampling: MONTE_CARLO.into(),
            sampler: SAMPLER_VERSION,
            block_samples: BLOCK_SAMPLES,
            seed: simulation.get_seed(),
            samples: simulation.samples(),
        }
    }

    /// The same for counts that are [drawn directly from distributions](crate::simulate::sample_distributions).
    #[must_use]
    pub fn from_distributions(self) -> Self {
        Self { sampling: "exact-distribution".into(), ..self }
    }

    /// Rejects a plan that this program cannot continue.
    pub(super) fn check(&self, file: &Path) -> Result<Simulation> {
        if self.sampling != MONTE_CARLO {
            let error = fault(file, "plan.sampling", quoted(&self.sampling), quoted(MONTE_CARLO));
            return Err(hinted(error, "counts that are drawn directly from a distribution have no parts").into());
        }
        let of_program = [
            ("sampler", &self.sampler.to_string(), SAMPLER_VERSION.to_string()),
            ("block_samples", &self.block_samples.to_string(), BLOCK_SAMPLES.to_string()),
        ];
        for (name, found, expected) in of_program {
            if *found != expected {
                let error = fault(file, format!("plan.{name}"), quoted(found), quoted(&expected));
                return Err(hinted(error, "another version of the program drew these counts in another way").into());
            }
        }
        if self.scenario_sha256.len() != 64 || !self.scenario_sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let found = quoted(&self.scenario_sha256);
            return Err(fault(file, "plan.scenario_sha256", found, "64 hexadecimal digits").into());
        }
        let samples = |error| match error {
            Error::Domain { value, domain, .. } => {
                fault(file, "plan.samples", readable(value), format!("a number in {domain}")).into()
            }
            other => other,
        };
        Ok(Simulation::new(self.samples).map_err(samples)?.seed(self.seed))
    }

    /// Rejects the plan found in `file` unless it is this one; `origin` names the source of this one.
    pub(super) fn expect(&self, file: &Path, found: &Self, origin: &str) -> Result<()> {
        let pairs = [
            ("scenario_sha256", &found.scenario_sha256, &self.scenario_sha256),
            ("seed", &found.seed.to_string(), &self.seed.to_string()),
            ("samples", &found.samples.to_string(), &self.samples.to_string()),
        ];
        for (name, found, expected) in pairs {
            if found != expected {
                let expected = format!("{}, as {origin}", quoted(expected));
                let error = fault(file, format!("plan.{name}"), quoted(found), expected);
                return Err(hinted(error, "only parts of one simulation belong together").into());
            }
        }
        Ok(())
    }
}

/// One query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulatedQuery {
    /// Its name; `None` for the only query of a file that names none.
    pub query: Option<String>,
    /// Its counts so far.
    pub part: PartialCounts,
}

/// The finished parts of all queries of a simulation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialSimulation {
    /// What is simulated.
    pub plan: SimulationPlan,
    /// At least one query; the i-th, from 0, has the random streams of query i.
    pub queries: Vec<SimulatedQuery>,
}

impl PartialSimulation {
    /// A simulation of queries, given as names and numbers of outcomes, with nothing drawn yet.
    ///
    /// # Errors
    /// [`Error::Domain`] for a plan without samples or with more than 2^53; [`Error::Length`] for a query without
    /// outcomes or with more than 2^20.
    pub fn new(plan: SimulationPlan, queries: impl IntoIterator<Item = (Option<String>, usize)>) -> Result<Self> {
        let simulation = Simulation::new(plan.samples)?.seed(plan.seed);
        let query = |(position, (query, outcomes))| {
            let part = PartialCounts::new(simulation.query(position as u64), outcomes)?;
            Ok(SimulatedQuery { query, part })
        };
        let queries = queries.into_iter().enumerate().map(query).collect::<Result<_>>()?;
        Ok(Self { plan, queries })
    }

    /// Whether every block of every query is there.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.queries.iter().all(|query| query.part.missing().is_empty())
    }

    /// Samples drawn so far, of both worlds and all queries together.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.queries.iter().map(|query| query.part.samples().saturating_mul(2)).fold(0, u64::saturating_add)
    }

    /// Samples of some blocks of every query, of both worlds together.
    #[must_use]
    pub fn samples_of(&self, blocks: &Range<u64>) -> u64 {
        let before = |block: u64| block.saturating_mul(self.plan.block_samples).min(self.plan.samples);
        let one = before(blocks.end) - before(blocks.start.min(blocks.end));
        one.saturating_mul(2).saturating_mul(self.queries.len() as u64)
    }

    /// Rejects queries other than these in `found`.
    pub(super) fn expect_queries(&self, file: &Path, found: &Self, origin: &str) -> Result<()> {
        let shape = |all: &Self| -> Vec<(Option<String>, usize)> {
            all.queries.iter().map(|query| (query.query.clone(), query.part.outcomes())).collect()
        };
        let (ours, theirs) = (shape(self), shape(found));
        if ours.len() != theirs.len() {
            let expected = format!("{}, as {origin}", ours.len());
            return Err(fault(file, "queries", format!("{} queries", theirs.len()), expected).into());
        }
        match ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs) {
            None => Ok(()),
            Some(index) => {
                let words = |(name, outcomes): &(Option<String>, usize)| match name {
                    Some(name) => format!("{} with {outcomes} outcomes", quoted(name)),
                    None => format!("a query without a name with {outcomes} outcomes"),
                };
                let expected = format!("{}, as {origin}", words(&ours[index]));
                Err(fault(file, format!("queries[{index}]"), words(&theirs[index]), expected).into())
            }
        }
    }
}

/// Reads the counts of one query from the members of its object.
pub(super) fn query_of(
    place: impl Fn(&str, String, String) -> InputError,
    simulation: Simulation,
    query: Option<Name>,
    blocks: BlockSet,
    counts: [Vec<u64>; 2],
) -> Result<SimulatedQuery> {
    let [counts, neighbor] = counts;
    let part = PartialCounts::from_counts(simulation, blocks, counts, neighbor).map_err(|error| match error {
        Error::Rejected { reason, .. } => place("counts", reason, "the counts of its blocks".into()).into(),
        Error::Length { quantity, found, expected } => {
            place("counts", format!("{quantity} of length {found}"), expected).into()
        }
        other => other,
    })?;
    Ok(SimulatedQuery { query: query.map(|Name(name)| name), part })
}
