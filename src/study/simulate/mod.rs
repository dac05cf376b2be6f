//! Counts of simulated outputs, and the distributions that they converge to.

mod draw;
mod request;

pub use request::{Checkpoints, SaveMoment, SimulateStudy};

use super::number::Number;
use super::progress::Progress;
use super::votes::Sampling;
use super::{Study, Warning};
use crate::distribution::OutputPair;
use crate::error::{Error, Result};
use crate::model::{Composition, VoteModel};
use crate::parallel;
use crate::record::{PartialSimulation, SIMULATE_SCHEMA, ScenarioQuery, SimulatedQuery, SimulationPlan};
use crate::simulate::{BlockSet, PartialCounts, Shard, chi_square_p_value, sample_distributions};
use serde::Serialize;

/// Counts of one query, in the form that `leakbound audit counts` reads.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CountsRow {
    /// Its name, if queries have names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The outcomes.
    pub labels: Vec<String>,
    /// Counts under the dataset.
    pub counts: Vec<u64>,
    /// Counts under the neighbor.
    pub counts_neighbor: Vec<u64>,
}

/// The computed distributions of one query, which its counts converge to.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DistributionsRow {
    /// The query's name, if queries have names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The distributions; absent if they cannot be computed.
    #[serde(flatten)]
    pub distributions: Option<Distributions>,
    /// Why they cannot be computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected: Option<String>,
}

/// Distributions of both worlds, compared with the counts.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Distributions {
    /// How they were computed: `exact`, up to rounding and quadrature, or `series`.
    pub method: &'static str,
    /// Estimated largest relative error of a probability.
    pub error: Number,
    /// Probability of each outcome under the dataset.
    pub p: Vec<Number>,
    /// Probability of each outcome under the neighbor.
    pub q: Vec<Number>,
    /// The p-value of Pearson's chi-square test of the dataset's counts against p.
    pub p_value: f64,
    /// The p-value of the neighbor's counts against q.
    pub p_value_neighbor: f64,
}

/// The answer of a [`SimulateStudy`] or a [`MergeStudy`](super::MergeStudy).
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SimulateAnswer {
    /// What decides the counts; answers with equal plans may be merged.
    pub plan: SimulationPlan,
    /// How the queries compose, if the scenario states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub composition: Option<Composition>,
    /// Which part was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The blocks that every query holds, as ranges that exclude their end.
    pub blocks: BlockSet,
    /// Blocks of the whole simulation.
    pub blocks_in_all: u64,
    /// The counts.
    pub queries: Vec<CountsRow>,
    /// Computed distributions, one row per query; empty unless requested.
    pub distributions: Vec<DistributionsRow>,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

answer!(SimulateAnswer, SIMULATE_SCHEMA, |self| warnings: self.warnings, seed: self.plan.seed);

impl SimulateAnswer {
    /// The counts alone.
    pub(super) fn new(state: &PartialSimulation, blocks: BlockSet) -> Self {
        let queries = state.queries.iter().map(|query| {
            let [counts, counts_neighbor] = query.part.worlds().clone();
            let labels = (0..query.part.outcomes()).map(|outcome| outcome.to_string()).collect();
            CountsRow { query: query.query.clone(), labels, counts, counts_neighbor }
        });
        Self {
            plan: state.plan.clone(),
            composition: None,
            shard: None,
            blocks,
            blocks_in_all: state.queries.first().map_or(0, |query| query.part.simulation().blocks()),
            queries: queries.collect(),
            distributions: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

impl Study for SimulateStudy<'_> {
    type Answer = SimulateAnswer;

    /// # Errors
    /// [`Error::Rejected`] for more shards than blocks, and for shards or checkpoints of counts that are drawn directly
    /// from their distributions; [`Error::Interrupted`] after the finished work was saved; those of the checkpoints.
    fn run(&self, progress: &Progress<'_>) -> Result<SimulateAnswer> {
        let blocks = self.shard.blocks(self.simulation)?;
        let plan = SimulationPlan::new(self.scenario.sha256(), self.simulation);
        let queries = self.scenario.queries.iter().map(|query| (query.query.clone(), query.model.classes()));
        let mut state = PartialSimulation::new(plan, queries)?;
        let pairs = match self.sampling {
            Sampling::ExactDistribution => self.sample(&mut state)?.into_iter().map(Ok).collect(),
            Sampling::MonteCarlo => {
                if let Some(checkpoints) = self.checkpoints {
                    state = checkpoints.resume(state)?;
                }
                self.draw(&mut state, &blocks, progress)?;
                if self.distributions { self.output_pairs() } else { Vec::new() }
            }
        };
        let distributions = if self.distributions { self.rows(&state, pairs) } else { Vec::new() };
        let warnings = unlikely(&distributions).into_iter().chain(self.drawn_from_distributions()).collect();
        Ok(SimulateAnswer {
            composition: self.scenario.composition,
            shard: Some(self.shard),
            distributions,
            warnings,
            ..SimulateAnswer::new(&state, BlockSet::from(blocks))
        })
    }
}

impl SimulateStudy<'_> {
    /// The output distributions of every query, on all threads.
    fn output_pairs(&self) -> Vec<Result<OutputPair>> {
        parallel::map(&self.scenario.queries, |query| query.model.output_pair(query.noise))
    }

    /// Draws all counts directly from the distributions, which are returned.
    fn sample(&self, state: &mut PartialSimulation) -> Result<Vec<OutputPair>> {
        let reason = "it takes no time and has no blocks, so there is nothing to share or to save";
        let alone = self.checkpoints.is_none() && self.shard == Shard::WHOLE;
        Error::check_possible(alone, "sampling from the exact distribution", reason)?;
        let pairs: Vec<OutputPair> = self.output_pairs().into_iter().collect::<Result<_>>()?;
        for (query, pair) in state.queries.iter_mut().zip(&pairs) {
            let simulation = query.part.simulation();
            let counts = sample_distributions(pair.dataset(), pair.neighbor(), simulation)?;
            let (first, second) = (counts.counts().to_vec(), counts.counts_neighbor().to_vec());
            query.part = PartialCounts::from_counts(simulation, BlockSet::from(0..simulation.blocks()), first, second)?;
        }
        state.plan = state.plan.clone().from_distributions();
        Ok(pairs)
    }

    /// Distributions against counts.
    fn rows(&self, state: &PartialSimulation, pairs: Vec<Result<OutputPair>>) -> Vec<DistributionsRow> {
        let row = |((query, done), pair): ((&ScenarioQuery, &SimulatedQuery), Result<OutputPair>)| {
            let [counts, counts_neighbor] = done.part.worlds();
            let distributions = pair.and_then(|pair| {
                let (p, q) = (pair.dataset(), pair.neighbor());
                Ok(Distributions {
                    method: if matches!(query.model, VoteModel::Capc(_)) { "series" } else { "exact" },
                    error: Number(pair.error()),
                    p_value: chi_square_p_value(counts, p.p())?,
                    p_value_neighbor: chi_square_p_value(counts_neighbor, q.p())?,
                    p: p.p().iter().copied().map(Number).collect(),
                    q: q.p().iter().copied().map(Number).collect(),
                })
            });
            let rejected = distributions.as_ref().err().map(ToString::to_string);
            DistributionsRow { query: done.query.clone(), distributions: distributions.ok(), rejected }
        };
        self.scenario.queries.iter().zip(&state.queries).zip(pairs).map(row).collect()
    }

    /// What counts drawn from distributions are good for.
    fn drawn_from_distributions(&self) -> Option<Warning> {
        (self.sampling == Sampling::ExactDistribution).then(|| Warning {
            code: "exact-distribution-sampling",
            message:
                "counts are drawn from the distributions, not simulated: they show what an audit of the same number of \
                 fresh outputs would certify, and contain no information beyond the distributions"
                    .into(),
            hint: "`monte-carlo` sampling simulates the outputs".into(),
        })
    }
}

/// Counts that their distribution does not explain: the smallest p-value times the number of tests is below one in a
/// million.
fn unlikely(distributions: &[DistributionsRow]) -> Option<Warning> {
    let tests = distributions.iter().filter_map(|row| Some((row, row.distributions.as_ref()?)));
    let tests: Vec<(&DistributionsRow, f64)> =
        tests.flat_map(|(row, pair)| [(row, pair.p_value), (row, pair.p_value_neighbor)]).collect();
    let (row, least) = tests.iter().min_by(|first, second| first.1.total_cmp(&second.1))?;
    (least * tests.len() as f64).lt(&1e-6).then(|| Warning {
        code: "unlikely-counts",
        message: format!(
            "the counts{} lie this far from their exact distribution with probability {least:e}",
            row.query.as_ref().map_or_else(String::new, |name| format!(" of query {name}"))
        ),
        hint: "chance does not explain this: sampler and exact distribution disagree; please report it".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(p_value: f64, p_value_neighbor: f64) -> DistributionsRow {
        let distributions = Distributions {
            method: "exact",
            error: Number(0.0),
            p: Vec::new(),
            q: Vec::new(),
            p_value,
            p_value_neighbor,
        };
        DistributionsRow { query: Some("q".into()), distributions: Some(distributions), rejected: None }
    }

    /// A p-value is multiplied by the number of tests.
    #[test]
    fn counts_far_from_their_distribution_are_warned_about() {
        let rows = |least: f64| [row(0.5, 0.1), row(0.9, least)];
        assert!(unlikely(&rows(2.6e-7)).is_none() && unlikely(&[]).is_none());
        let warning = unlikely(&rows(2.4e-7)).unwrap();
        assert_eq!(
            (warning.code, warning.message.as_str()),
            (
                "unlikely-counts",
                "the counts of query q lie this far from their exact distribution with probability 2.4e-7"
            )
        );
    }
}
