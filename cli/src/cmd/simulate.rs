//! `leakbound simulate`.

use super::announcement::Announcement;
use super::checkpointing::Keeper;
use super::conclude::{Asked, publish};
use crate::args::{Common, SimulateOptions};
use crate::output::{Output, Watch};
use leakbound::model::Composition;
use leakbound::record::{Scenario, read_scenario};
use leakbound::report::one_line;
use leakbound::simulate::Simulation;
use leakbound::study::{Checkpoints, Sampling, SimulateStudy, Study, Verdict, short};
use leakbound::{Error, Result};
use std::path::Path;

/// Samples per query and world where neither the command line nor the scenario says a number.
const SAMPLES: u64 = 1_000_000;

pub fn run(common: &Common, options: &SimulateOptions) -> Result<Verdict> {
    let scenario = read_scenario(&options.scenario)?;
    let samples = options.samples.or(scenario.samples).unwrap_or(SAMPLES);
    let seed = if common.seed_given { common.seed } else { scenario.seed.unwrap_or(common.seed) };
    let simulation = Simulation::new(samples)?.seed(seed);
    let taken: Vec<&Path> = [&options.scenario].into_iter().chain(&options.checkpoint).map(|path| &**path).collect();
    let output = Output::open(common, &taken)?;
    let keeper = options.checkpoint.as_ref().map(|path| Keeper::new(&common.session, options, path));
    let (inputs, title) = (vec![scenario.input.clone()], title(&scenario, options.sampling, simulation));
    let study = SimulateStudy {
        scenario,
        simulation,
        shard: options.shard,
        sampling: options.sampling,
        distributions: !options.no_distribution,
        checkpoints: keeper.as_ref().map(|keeper| keeper as &dyn Checkpoints),
    };
    let watch = Watch::new(common);
    let announcement = Announcement::new(common, &watch, keeper.is_some());
    let answer = study.run(&|step| announcement.step(step)).map_err(|error| match (error, &keeper) {
        (Error::Interrupted, Some(keeper)) => keeper.interrupted(),
        (error, _) => error,
    })?;
    drop(watch);
    let verdict = publish(common, output, answer, Asked { options, inputs, title, warnings: Vec::new() })?;
    keeper.map_or(Ok(()), Keeper::end)?;
    Ok(verdict)
}

fn title(scenario: &Scenario, sampling: Sampling, simulation: Simulation) -> String {
    let queries = scenario.queries.len();
    format!(
        "{} {}: {queries} quer{}, {} outputs per query and world, seed {}{}",
        if sampling == Sampling::ExactDistribution {
            "Counts drawn from the distributions of"
        } else {
            "Simulation of"
        },
        one_line(&scenario.input.path.to_string_lossy()),
        if queries == 1 { "y" } else { "ies" },
        short(simulation.samples() as f64),
        simulation.get_seed(),
        scenario.composition.map_or_else(String::new, |mode: Composition| format!(", {mode}"))
    )
}
