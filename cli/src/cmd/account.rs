//! `leakbound account`: an upper bound on the leakage of all answers, by every accountant.

use super::conclude::{Asked, conclude};
use super::votes_options::{Queries, queries};
use crate::args::values::{Choice, Names, Orders, Parsed, choice, delta, epsilon, listed, named, orders};
use crate::args::{Common, ThresholdOptions};
use crate::output::{Output, fault};
use clap::Args;
use leakbound::distribution::Noise;
use leakbound::divergence::Conversion;
use leakbound::mechanism::NoisyArgmax;
use leakbound::quantity::{Delta, Epsilon};
use leakbound::record::{
    InputFile, ReleasePart, ScenarioQuery, VoteFile, has_releases, read_events, read_releases, read_scenario,
};
use leakbound::study::{AccountStudy, Answers, Verdict};
use leakbound::{Error, Result};
use serde::Serialize;
use std::path::PathBuf;

/// Upper bounds on the total leakage of all answers: accountants, exact costs, and a budget spent query by query
#[derive(Debug, Clone, Args, Serialize)]
#[command(after_help = "Examples:\n  leakbound account fashion_votes.npz --noise gaussian:40 --delta 1e-5\n  \
                        leakbound account fashion_votes.npz --noise gaussian:40 --threshold 200 --threshold-noise \
                        gaussian:150 --budget 1,2,3,5\n  leakbound account pate.toml --delta 1e-6")]
pub struct AccountOptions {
    /// Recorded votes (.npz), a scenario (.toml), releases (.toml with [[release]]) or an event of dp_accounting (.json)
    #[arg(value_name = "FILE.npz|SCENARIO.toml|RELEASES.toml|EVENTS.json")]
    pub file: PathBuf,
    /// Noise on every count: gaussian:sigma=S or laplace:scale=B (recorded votes; a scenario has its own)
    #[arg(long, allow_hyphen_values = true)]
    pub noise: Option<Noise>,
    #[command(flatten)]
    #[serde(flatten)]
    pub threshold: ThresholdOptions,
    /// Delta at which to compute epsilon
    #[arg(long, value_name = "D", value_parser = delta, default_value = "1e-5", allow_hyphen_values = true, help_heading = "Bounds")]
    pub delta: Delta,
    /// Conversion of composed RDP to epsilon
    #[arg(long, value_name = "NAME", default_value = "improved", help_heading = "Bounds")]
    #[arg(value_parser = listed(named::<Conversion>, Conversion::ALL.map(Conversion::name)))]
    pub conversion: Conversion,
    /// Rényi orders of the table, such as 2,5 or 2..64; epsilon is taken over many more
    #[arg(long, value_parser = orders, default_value = "2,4,8,16,32,64", allow_hyphen_values = true, help_heading = "Bounds")]
    pub orders: Orders,
    /// Positions of the answered queries in order, such as 3,17, or all
    #[arg(long, value_name = "I,J|all", value_parser = queries, default_value = "all", allow_hyphen_values = true)]
    pub queries: Queries,
    /// Index of the recorded instantiation of the teachers, from 0 (recorded votes)
    #[arg(long, value_name = "I", default_value_t = 0, help_heading = "Advanced")]
    pub instantiation: usize,
    /// Answer the recorded queries with fresh noise, or make the releases, until a budget of epsilon is spent; once for
    /// each E
    #[arg(long, value_name = "E,...", value_parser = budgets, allow_hyphen_values = true)]
    pub budget: Option<BudgetEpsilons>,
    /// Most records that one person may have (releases; instead of `group` in their file)
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u64).range(1..=1 << 53))]
    pub group: Option<u64>,
    /// How answers are composed: rdp, or pld to also enclose epsilon by privacy-loss distributions
    #[arg(long, value_parser = choice(LOSSES), default_value = "rdp", help_heading = "Bounds")]
    pub composition: Choice<bool>,
    /// Leave out the exact costs, which take a few milliseconds per query
    #[arg(long, help_heading = "Advanced")]
    pub no_exact: bool,
}

/// Whether privacy losses are composed.
const LOSSES: Names<bool> = &[("rdp", "Rényi divergences", false), ("pld", "Privacy losses as well", true)];

/// Budgets as written on the command line.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct BudgetEpsilons(pub Vec<Epsilon>);

fn budgets(text: &str) -> Parsed<BudgetEpsilons> {
    text.split(',').map(epsilon).collect::<Parsed<_>>().map(BudgetEpsilons)
}

/// Releases whose mechanisms stand in the title.
const MOST_NAMED: usize = 3;

pub fn run(common: &Common, options: &AccountOptions) -> Result<Verdict> {
    let output = Output::open(common, &[&options.file])?;
    let ends_in = |name: &str| options.file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(name));
    let (answers, title, input) = if ends_in("json") || ends_in("toml") && has_releases(&options.file)? {
        of_releases(options, ends_in("json"))?
    } else if ends_in("toml") {
        of_scenario(options)?
    } else {
        of_votes(common, options)?
    };
    let study = AccountStudy {
        answers,
        delta: options.delta,
        conversion: options.conversion,
        orders: options.orders.0.clone(),
        exact: !options.no_exact,
        privacy_losses: options.composition.value,
        budgets: options.budget.clone().map_or_else(Vec::new, |budgets| budgets.0),
        seed: common.seed,
    };
    conclude(common, output, &study, Asked { options, inputs: vec![input], title, warnings: Vec::new() })
}

fn of_votes(common: &Common, options: &AccountOptions) -> Result<(Answers, String, InputFile)> {
    reject_options_of_releases(options)?;
    let Some(noise) = options.noise else {
        let reason = "recorded votes do not include the noise: give gaussian:sigma=S or laplace:scale=B";
        return Err(Error::rejected("--noise", reason));
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
    reject_options_of_releases(options)?;
    Error::check_possible(options.budget.is_none(), "--budget", "only recorded votes (.npz) and releases have it")?;
    let scenario = read_scenario(&options.file)?;
    let composition = scenario.composition_or_default();
    let queries: Vec<(usize, ScenarioQuery)> =
        choose(scenario.queries.into_iter().enumerate().collect(), options, |query| query.0)?;
    let queries: Vec<ScenarioQuery> = queries.into_iter().map(|query| query.1).collect();
    let title = format!("Upper bounds of {} answers of a scenario, {composition}", queries.len());
    Ok((Answers::Scenario { queries, composition }, title, scenario.input))
}

fn of_releases(options: &AccountOptions, is_event: bool) -> Result<(Answers, String, InputFile)> {
    reject_options_of_votes(options)?;
    let reason = "only recorded votes and scenarios have queries; releases have `times`";
    Error::check_possible(!matches!(options.queries, Queries::Some(_)), "--queries", reason)?;
    let list = if is_event { read_events(&options.file)? } else { read_releases(&options.file)? };
    let mut releases = list.releases;
    releases.group = options.group.unwrap_or(releases.group);
    let mut lines = Vec::new();
    // The title of one bundle is that of its parts.
    let parts = match &releases.parts[..] {
        [ReleasePart::Bundle(bundle)] if bundle.times == 1 && bundle.select.is_none() => &bundle.parts,
        parts => parts,
    };
    for part in parts.iter().take(MOST_NAMED) {
        lines.push(match part {
            ReleasePart::Release(release) => format!("{} x {}", release.times, release.mechanism),
            ReleasePart::Bundle(bundle) => match bundle.select {
                Some(runs) => format!("{} x the best of several runs ({runs})", bundle.times),
                None => format!("{} x {} releases", bundle.times, part.count() / bundle.times.max(1)),
            },
        });
    }
    let more = parts.len().saturating_sub(MOST_NAMED);
    let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
    let group =
        if releases.group > 1 { format!("\none person has up to {} records", releases.group) } else { String::new() };
    let title = format!("Upper bounds of {} releases together: {}{rest}{group}", releases.count(), lines.join(", "));
    Ok((Answers::Releases(releases), title, list.input))
}

/// What only releases have.
fn reject_options_of_releases(options: &AccountOptions) -> Result<()> {
    let reason = "only releases have it; votes and scenarios are of one person each";
    Error::check_possible(options.group.is_none(), "--group", reason)
}

/// What recorded votes do not say of themselves, and other files do.
fn reject_options_of_votes(options: &AccountOptions) -> Result<()> {
    let reason = "only recorded votes (.npz) have it; a TOML file describes its own mechanisms";
    Error::check_possible(options.noise.is_none(), "--noise", reason)?;
    Error::check_possible(options.threshold.threshold.is_none(), "--threshold", reason)?;
    Error::check_possible(options.instantiation == 0, "--instantiation", reason)
}

/// The requested queries, in the order of the request.
fn choose<Q>(queries: Vec<Q>, options: &AccountOptions, position: impl Fn(&Q) -> usize) -> Result<Vec<Q>> {
    let Queries::Some(wanted) = &options.queries else { return Ok(queries) };
    let recorded = queries.len();
    let mut by_position: Vec<Option<Q>> = queries.into_iter().map(Some).collect();
    debug_assert!(by_position.iter().flatten().enumerate().all(|(index, query)| position(query) == index));
    let take = |&index: &usize| {
        by_position.get_mut(index).and_then(Option::take).ok_or_else(|| {
            let expected = format!("a position from 0 to {}", recorded.saturating_sub(1));
            fault(&options.file, "--queries", format!("position {index}"), expected)
        })
    };
    wanted.iter().map(take).collect()
}
