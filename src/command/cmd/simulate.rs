//! `leakbound simulate`.

use super::checkpointing::Keeper;
use super::draw::draw_missing;
use crate::command::args::{Common, SimulateOptions};
use crate::command::output::{Output, envelope};
use crate::law::OutputPair;
use crate::model::{Composition, VoteModel};
use crate::record::{
    Checkpoint, InputFile, PartialSimulation, SIMULATE_SCHEMA, Scenario, ScenarioQuery, SimulatedQuery, SimulationPlan,
    read_scenario,
};
use crate::report::{CountsRow, LawPair, LawRow, SimulateDocument, one_line};
use crate::simulate::{BlockSet, PartialCounts, Shard, Simulation, chi_square_p_value, sample_laws};
use crate::study::{Number, Sampling, Warning, short};
use crate::{Error, Result};
use rayon::prelude::*;
use std::path::Path;

/// Samples per query and world where neither the command line nor the scenario says a number.
const SAMPLES: u64 = 1_000_000;
pub fn run(common: &Common, options: &SimulateOptions) -> Result<bool> {
    let scenario = read_scenario(&options.scenario)?;
    let samples = options.samples.or(scenario.samples).unwrap_or(SAMPLES);
    let seed = if common.seed_given { common.seed } else { scenario.seed.unwrap_or(common.seed) };
    let simulation = Simulation::new(samples)?.seed(seed);
    let blocks = options.shard.blocks(simulation)?;
    let plan = SimulationPlan::new(scenario.sha256(), simulation);
    let queries = scenario.queries.iter().map(|query| (query.query.clone(), query.model.classes()));
    let mut state = PartialSimulation::new(plan, queries)?;
    let taken: Vec<&Path> = [&options.scenario].into_iter().chain(&options.checkpoint).map(|path| &**path).collect();
    let output = Output::open(common, &taken)?;
    let mut keeper = None;
    let laws = match options.sampling {
        Sampling::ExactLaw => Some(sample(options, &scenario, &mut state)?),
        Sampling::MonteCarlo => {
            let wanted = Checkpoint { shard: options.shard, simulation: state };
            let opened;
            (opened, state) = Keeper::open(&common.session, options, wanted)?;
            draw_missing(common, &scenario, &blocks, &mut state, keeper.insert(opened))?;
            None
        }
    };
    let laws = match laws {
        _ if options.no_law => Vec::new(),
        Some(laws) => rows(&scenario, &state, laws.into_iter().map(Ok).collect()),
        None => rows(&scenario, &state, output_pairs(&scenario)),
    };
    let warnings = unlikely(&laws).into_iter().chain(drawn_from_laws(options)).collect();
    let mut document =
        document(common, options, vec![scenario.input.clone()], &state, BlockSet::from(blocks), warnings);
    document.title = title(&scenario, &state.plan);
    document.envelope.seed = seed;
    document.composition = scenario.composition;
    document.shard = Some(options.shard);
    document.laws = laws;
    output.write(&document)?;
    keeper.map_or(Ok(()), Keeper::end)?;
    Ok(false)
}

/// The output distributions of every query, on all threads.
fn output_pairs(scenario: &Scenario) -> Vec<Result<OutputPair>> {
    scenario.queries.par_iter().map(|query| query.model.output_pair(query.noise)).collect()
}

/// Draws all counts at once from the laws, which are returned.
fn sample(options: &SimulateOptions, scenario: &Scenario, state: &mut PartialSimulation) -> Result<Vec<OutputPair>> {
    if options.checkpoint.is_some() || options.shard != Shard::WHOLE {
        return Err(Error::Refused {
            operation: "sampling from the exact law",
            reason: "it takes no time and knows no blocks, so that there is nothing to share out or to save".into(),
        });
    }
    let pairs: Vec<OutputPair> = output_pairs(scenario).into_iter().collect::<Result<_>>()?;
    for (query, pair) in state.queries.iter_mut().zip(&pairs) {
        let simulation = query.part.simulation();
        let counts = sample_laws(pair.dataset(), pair.neighbor(), simulation)?;
        let (first, second) = (counts.counts().to_vec(), counts.counts_neighbor().to_vec());
        query.part = PartialCounts::from_counts(simulation, BlockSet::from(0..simulation.blocks()), first, second)?;
    }
    state.plan = state.plan.clone().from_laws();
    Ok(pairs)
}

/// Distributions against counts.
fn rows(scenario: &Scenario, state: &PartialSimulation, pairs: Vec<Result<OutputPair>>) -> Vec<LawRow> {
    let row = |((query, done), pair): ((&ScenarioQuery, &SimulatedQuery), Result<OutputPair>)| {
        let [counts, counts_neighbor] = done.part.worlds();
        let laws = pair.and_then(|pair| {
            let (p, q) = (pair.dataset(), pair.neighbor());
            Ok(LawPair {
                method: if matches!(query.model, VoteModel::Capc(_)) { "series" } else { "exact" },
                error: Number(pair.error()),
                p_value: chi_square_p_value(counts, p.p())?,
                p_value_neighbor: chi_square_p_value(counts_neighbor, q.p())?,
                p: p.p().iter().copied().map(Number).collect(),
                q: q.p().iter().copied().map(Number).collect(),
            })
        });
        let refused = laws.as_ref().err().map(ToString::to_string);
        LawRow { query: done.query.clone(), laws: laws.ok(), refused }
    };
    scenario.queries.iter().zip(&state.queries).zip(pairs).map(row).collect()
}

/// What simulation and merging have in common.
pub fn document(
    common: &Common,
    options: &impl serde::Serialize,
    inputs: Vec<InputFile>,
    state: &PartialSimulation,
    blocks: BlockSet,
    warnings: Vec<Warning>,
) -> SimulateDocument {
    let queries = state.queries.iter().map(|query| {
        let [counts, counts_neighbor] = query.part.worlds().clone();
        let labels = (0..query.part.outcomes()).map(|outcome| outcome.to_string()).collect();
        CountsRow { query: query.query.clone(), labels, counts, counts_neighbor }
    });
    SimulateDocument {
        envelope: envelope(SIMULATE_SCHEMA, common, options, inputs, warnings),
        title: String::new(),
        plan: state.plan.clone(),
        composition: None,
        shard: None,
        blocks,
        blocks_in_all: state.queries.first().map_or(0, |query| query.part.simulation().blocks()),
        queries: queries.collect(),
        laws: Vec::new(),
    }
}

fn title(scenario: &Scenario, plan: &SimulationPlan) -> String {
    let queries = scenario.queries.len();
    format!(
        "{} {}: {queries} quer{}, {} outputs per query and world, seed {}{}",
        if plan.sampling == "exact-law" { "Counts drawn from the laws of" } else { "Simulation of" },
        one_line(&scenario.input.path.to_string_lossy()),
        if queries == 1 { "y" } else { "ies" },
        short(plan.samples as f64),
        plan.seed,
        scenario.composition.map_or_else(String::new, |mode: Composition| format!(", {mode}"))
    )
}

/// What counts drawn from laws are good for.
fn drawn_from_laws(options: &SimulateOptions) -> Option<Warning> {
    (options.sampling == Sampling::ExactLaw).then(|| Warning {
        code: "exact-law-sampling",
        message:
            "counts are drawn from the laws, not simulated: they show what an audit of as many fresh outputs would \
                  certify, and hold no information beyond the laws"
                .into(),
        hint: "--sampling monte-carlo simulates the outputs".into(),
    })
}

/// Counts that their law does not explain: the smallest p-value times the number of tests is below one in a million.
fn unlikely(laws: &[LawRow]) -> Option<Warning> {
    let tests = laws.iter().filter_map(|row| Some((row, row.laws.as_ref()?)));
    let tests: Vec<(&LawRow, f64)> =
        tests.flat_map(|(row, pair)| [(row, pair.p_value), (row, pair.p_value_neighbor)]).collect();
    let (row, least) = tests.iter().min_by(|first, second| first.1.total_cmp(&second.1))?;
    (least * tests.len() as f64).lt(&1e-6).then(|| Warning {
        code: "unlikely-counts",
        message: format!(
            "the counts{} lie this far from their exact law with probability {least:e}",
            row.query.as_ref().map_or_else(String::new, |name| format!(" of query {name}"))
        ),
        hint: "chance does not explain this: sampler and exact law disagree; please report it".into(),
    })
}
