//! `leakbound account`: what all answers together leak at most, by every accountant at hand.

use super::conclude::{Asked, conclude};
use crate::args::{AccountOptions, Common, LossCalculus, Queries};
use crate::output::Output;
use leakbound::mechanism::NoisyArgmax;
use leakbound::record::{InputFile, ScenarioQuery, VoteFile, has_releases, read_releases, read_scenario};
use leakbound::study::{AccountStudy, Answers, Verdict};
use leakbound::{Error, InputError, Result};

/// Releases whose mechanisms stand in the title.
const MOST_NAMED: usize = 3;

pub fn run(common: &Common, options: &AccountOptions) -> Result<Verdict> {
    let output = Output::open(common, &[&options.file])?;
    let is_scenario = options.file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
    let (answers, title, input) = if !is_scenario {
        of_votes(common, options)?
    } else if has_releases(&options.file)? {
        of_releases(options)?
    } else {
        of_scenario(options)?
    };
    let study = AccountStudy {
        answers,
        delta: options.delta,
        conversion: options.conversion,
        orders: options.orders.0.clone(),
        exact: !options.no_exact,
        privacy_losses: options.composition == LossCalculus::Pld,
        budgets: options.budget.clone().map_or_else(Vec::new, |budgets| budgets.0),
        seed: common.seed,
    };
    conclude(common, output, &study, Asked { options, inputs: vec![input], title, warnings: Vec::new() })
}

fn of_votes(common: &Common, options: &AccountOptions) -> Result<(Answers, String, InputFile)> {
    let Some(noise) = options.noise else {
        return Err(rejected("--noise", "recorded votes say nothing of the noise; it is gaussian:SIGMA or laplace:B"));
    };
    let mechanism = NoisyArgmax { noise, test: options.threshold.test()? };
    let mut file = VoteFile::open(&options.file)?.within(common.memory());
    let votes = file.histograms(options.instantiation)?;
    let queries = choose(votes.queries, options, |query| query.position)?;
    let test = mechanism.test.map_or_else(String::new, |test| {
        format!(" after threshold {} with gaussian:{} noise, {}", test.threshold(), test.sigma(), test.form())
    });
    let title = format!(
        "Upper bounds of {} answers: noisy argmax with {noise} noise{test}\nvotes of `{}`, {}{} classes",
        queries.len(),
        votes.array,
        if votes.instantiations > 1 {
            format!("instantiation {} of {}, ", options.instantiation, votes.instantiations)
        } else {
            String::new()
        },
        votes.classes
    );
    Ok((Answers::Recorded { mechanism, queries }, title, file.input().clone()))
}

fn of_scenario(options: &AccountOptions) -> Result<(Answers, String, InputFile)> {
    reject_options_of_votes(options)?;
    let scenario = read_scenario(&options.file)?;
    let queries: Vec<(usize, ScenarioQuery)> =
        choose(scenario.queries.into_iter().enumerate().collect(), options, |query| query.0)?;
    let queries: Vec<ScenarioQuery> = queries.into_iter().map(|query| query.1).collect();
    let title = format!("Upper bounds of {} answers of a scenario", queries.len());
    Ok((Answers::Scenario(queries), title, scenario.input))
}

fn of_releases(options: &AccountOptions) -> Result<(Answers, String, InputFile)> {
    reject_options_of_votes(options)?;
    if let Queries::Some(_) = options.queries {
        return Err(rejected("--queries", "only recorded votes and scenarios have queries; releases have `times`"));
    }
    let list = read_releases(&options.file)?;
    let mut lines: Vec<String> = Vec::new();
    for release in &list.releases {
        lines.push(format!("{} x {}", release.times, release.mechanism));
    }
    let more = lines.len().saturating_sub(MOST_NAMED);
    lines.truncate(MOST_NAMED);
    let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
    let answers = Answers::Releases(list.releases);
    let title = format!("Upper bounds of {} releases together: {}{rest}", answers.len(), lines.join(", "));
    Ok((answers, title, list.input))
}

/// What recorded votes do not say of themselves, and other files do.
fn reject_options_of_votes(options: &AccountOptions) -> Result<()> {
    for (operation, given) in [
        ("--noise", options.noise.is_some()),
        ("--threshold", options.threshold.threshold.is_some()),
        ("--budget", options.budget.is_some()),
        ("--instantiation", options.instantiation != 0),
    ] {
        if given {
            return Err(rejected(
                operation,
                "only recorded votes (.npz) have it; a TOML file describes its own mechanisms",
            ));
        }
    }
    Ok(())
}

fn rejected(operation: &'static str, reason: &str) -> Error {
    Error::Rejected { operation, reason: reason.into() }
}

/// The requested queries, in the order of the request.
fn choose<Q>(queries: Vec<Q>, options: &AccountOptions, position: impl Fn(&Q) -> usize) -> Result<Vec<Q>> {
    let Queries::Some(wanted) = &options.queries else { return Ok(queries) };
    let recorded = queries.len();
    let mut by_position: Vec<Option<Q>> = queries.into_iter().map(Some).collect();
    debug_assert!(by_position.iter().flatten().enumerate().all(|(index, query)| position(query) == index));
    let take = |&index: &usize| {
        by_position.get_mut(index).and_then(Option::take).ok_or_else(|| {
            Error::from(InputError {
                file: options.file.clone(),
                place: "--queries".into(),
                found: format!("position {index}"),
                expected: format!("a position from 0 to {}", recorded.saturating_sub(1)),
                hint: None,
            })
        })
    };
    wanted.iter().map(take).collect()
}
