//! `leakbound simulate`.

use super::announcement::Announcement;
use super::checkpointing::{Keeper, KeptOptions};
use super::conclude::{Asked, conclude, publish};
use crate::args::Common;
use crate::args::values::samples;
use crate::output::{Output, Watch};
use clap::Args;
use leakbound::error::one_line;
use leakbound::model::Composition;
use leakbound::record::{Scenario, read_scenario, read_simulated};
use leakbound::simulate::{Shard, Simulation};
use leakbound::study::{Checkpoints, MergeStudy, Sampling, SimulateStudy, Study, Verdict, short};
use leakbound::{Error, Result};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Count simulated outputs of a scenario in both worlds
#[derive(Debug, Args, Serialize)]
#[command(
    after_help = "Examples:\n  leakbound simulate pate.toml --samples 1e8 --format json --output counts.json\n  \
                        leakbound simulate pate.toml --samples 1e10 --checkpoint pate.checkpoint --resume\n  \
                        leakbound simulate pate.toml --shard 1/4 --format json --output part1.json\n\n\
                        `leakbound audit counts` reads the JSON and CSV forms."
)]
pub struct SimulateOptions {
    /// What to simulate (TOML)
    #[arg(value_name = "SCENARIO.toml")]
    pub scenario: PathBuf,
    /// Outputs per query and world, such as 1e8 [default: the scenario's, else 1e6]
    #[arg(long, value_name = "N", value_parser = samples, allow_hyphen_values = true)]
    pub samples: Option<u64>,
    #[command(flatten)]
    #[serde(flatten)]
    pub kept: KeptOptions,
    /// Draw part I of N, counted from 1; `leakbound merge` adds the parts up
    #[arg(long, value_name = "I/N", default_value = "1/1", allow_hyphen_values = true)]
    pub shard: Shard,
    /// How counts are drawn
    #[arg(long, value_enum, default_value = "monte-carlo")]
    pub sampling: Sampling,
    /// Skip the exact distributions, which take longer than a small simulation
    #[arg(long)]
    pub no_distribution: bool,
}

/// Samples per query and world if neither the command line nor the scenario has a number.
const SAMPLES: u64 = 1_000_000;

pub fn run(common: &Common, options: &SimulateOptions) -> Result<Verdict> {
    let scenario = read_scenario(&options.scenario)?;
    let samples = options.samples.or(scenario.samples).unwrap_or(SAMPLES);
    let seed = if common.seed_given { common.seed } else { scenario.seed.unwrap_or(common.seed) };
    let simulation = Simulation::new(samples)?.seed(seed);
    let taken: Vec<&Path> =
        [&options.scenario].into_iter().chain(&options.kept.checkpoint).map(|path| &**path).collect();
    let output = Output::open(common, &taken)?;
    let keeper =
        options.kept.checkpoint.as_ref().map(|path| Keeper::new(&common.session, (&options.kept, options.shard), path));
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

/// Add up the shards of one simulation
#[derive(Debug, Args, Serialize)]
#[command(after_help = "Example:\n  leakbound merge part1.json part2.json part3.json part4.json --format json")]
pub struct MergeOptions {
    /// Results of `leakbound simulate --format json`
    #[arg(value_name = "FILE.json", required = true)]
    pub files: Vec<PathBuf>,
    /// Add up the shards even if blocks are missing
    #[arg(long)]
    pub partial: bool,
}

pub fn merge(common: &Common, options: &MergeOptions) -> Result<Verdict> {
    let paths: Vec<&Path> = options.files.iter().map(|path| &**path).collect();
    let output = Output::open(common, &paths)?;
    let parts = options.files.iter().map(read_simulated).collect::<Result<Vec<_>>>()?;
    let inputs = parts.iter().map(|part| part.input.clone()).collect();
    let title = parts.first().map_or_else(String::new, |first| {
        let plan = &first.simulation.plan;
        format!(
            "{} of {} outputs per query and world, seed {}",
            if parts.len() == 1 { "1 part".to_owned() } else { format!("{} parts", parts.len()) },
            short(plan.samples as f64),
            plan.seed
        )
    });
    let study = MergeStudy { parts, partial: options.partial };
    conclude(common, output, &study, Asked { options, inputs, title, warnings: Vec::new() })
}
