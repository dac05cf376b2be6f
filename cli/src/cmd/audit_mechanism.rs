//! `leakbound audit mechanism`.

use super::conclude::{Asked, conclude};
use crate::args::{Common, MechanismOptions};
use crate::output::Output;
use crate::signals::{Second, interruption};
use leakbound::black_box::{BlackBox, Dataset, ExecBlackBox, FunctionBlackBox, LineBlackBox, Pair, neighbor_pairs};
use leakbound::program::Limits;
use leakbound::record::{InputFile, read_dataset, read_pairs};
use leakbound::study::{MechanismStudy, Verdict};
use leakbound::{Error, InputError, Result};
use std::path::Path;
use std::time::Duration;

pub fn run(common: &Common, options: &MechanismOptions) -> Result<Verdict> {
    let files = options.pairs.as_deref().into_iter().chain(options.dataset.as_deref().and_then(dataset_file));
    let output = Output::open(common, &files.collect::<Vec<&Path>>())?;
    let mut inputs = Vec::new();
    let pairs = pairs(options, &mut inputs)?;
    let source = source(common, options)?;
    let title = format!("Audit of {}", source.name());
    let study = MechanismStudy {
        source: &*source,
        pairs,
        bounds: options.bound.bounds(),
        runs: options.runs,
        time_limit: options.time_limit.map(Duration::from_secs_f64),
        stop_early: options.stop_early,
        batch: options.batch as usize,
        seed: common.seed,
    };
    conclude(common, output, &study, Asked { options, inputs, title, warnings: Vec::new() })
}

/// The file of a dataset that is not written on the command line.
fn dataset_file(text: &str) -> Option<&Path> {
    (!text.trim_start().starts_with('[')).then(|| Path::new(text))
}

fn pairs(options: &MechanismOptions, inputs: &mut Vec<InputFile>) -> Result<Vec<Pair>> {
    if let Some(path) = &options.pairs {
        let (pairs, input) = read_pairs(path)?;
        inputs.push(input);
        let stranger =
            |pair: &&Pair| options.relation.is_some_and(|relation| !relation.admits(&pair.dataset, &pair.neighbor));
        if let (Some(pair), Some(relation)) = (pairs.iter().find(stranger), options.relation) {
            let hint = Some("leave --relation out if the pairs are neighbors in another way".into());
            let (place, found) = (pair.pattern.clone(), format!("{} and {}", pair.dataset, pair.neighbor));
            let expected = format!("neighbors under {relation}");
            return Err(InputError { file: path.clone(), place, found, expected, hint }.into());
        }
        return Ok(pairs);
    }
    let text = options.dataset.as_deref().unwrap_or_default();
    let dataset = match dataset_file(text) {
        None => text.parse::<Dataset>()?,
        Some(path) => {
            let (dataset, input) = read_dataset(path)?;
            inputs.push(input);
            dataset
        }
    };
    let relation = options
        .relation
        .ok_or_else(|| Error::Rejected { operation: "neighbors", reason: "no --relation is given".into() })?;
    neighbor_pairs(relation, &dataset, options.domain)
}

fn source(common: &Common, options: &MechanismOptions) -> Result<Box<dyn BlackBox>> {
    if let (Some(name), Some(call)) = (&options.program, common.session.black_box()) {
        return Ok(Box::new(FunctionBlackBox::new(name, call)));
    }
    let (answer_time, start_time) =
        (Duration::from_secs_f64(options.answer_timeout), Duration::from_secs_f64(options.start_timeout));
    let command = options.program.as_ref().or(options.exec.as_ref()).cloned().unwrap_or_default();
    let failed = |source| Error::Io { path: command.clone().into(), action: "be watched", source };
    // Before the program starts: it has a process group of its own, which no signal of a terminal reaches.
    interruption(&common.session, Second::Waits).map_err(failed)?;
    Ok(match &options.program {
        Some(command) => {
            let limits = Limits { answer_time, start_time, ..Limits::default() };
            Box::new(LineBlackBox::new(command, limits)?)
        }
        None => Box::new(ExecBlackBox::new(&command, answer_time)?),
    })
}
