//! `leakbound account`: what all answers together leak at most, by every accountant at hand.

use super::account_curves::{self, NamedCurve};
use super::account_losses;
use super::account_votes::{budgets, conversion_words};
use crate::command::args::{AccountOptions, Common, LossCalculus, Queries};
use crate::command::output::{Output, envelope, progress};
use crate::record::{RecordedQuery, ScenarioQuery, VoteFile, read_scenario};
use crate::report::{
    AccountDocument, BudgetRow, CostCurve, CostMeaning, Envelope, EpsilonAtDelta, Number, Warning, significant,
};
use crate::{Delta, Error, InputError, NoisyArgmax, Order, Result, WorstCases};

pub fn run(common: &Common, options: &AccountOptions) -> Result<bool> {
    let output = Output::open(common, &[&options.file])?;
    let is_scenario = options.file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
    let document = if is_scenario { of_scenario(common, options)? } else { of_votes(common, options)? };
    output.write(&document)?;
    Ok(false)
}

fn of_votes(common: &Common, options: &AccountOptions) -> Result<AccountDocument> {
    let Some(noise) = options.noise else {
        return Err(refused("--noise", "recorded votes say nothing of the noise; it is gaussian:SIGMA or laplace:B"));
    };
    let mechanism = NoisyArgmax { noise, test: options.threshold.test()? };
    let mut file = VoteFile::open(&options.file)?.within(common.memory());
    let votes = file.histograms(options.instantiation)?;
    let queries = choose(votes.queries, options, |query| query.position)?;
    let bar = progress(common, if options.no_exact { 0 } else { queries.len() as u64 }, "queries");
    let mut curves = account_curves::recorded(mechanism, &queries, &options.orders.0, &WorstCases::default())?;
    let mut left_out = None;
    if !options.no_exact {
        match account_curves::exact(mechanism, &queries, &options.orders.0, |times| bar.inc(times)) {
            Ok(curve) => {
                curves.push(curve);
                curves.extend(account_curves::one_voter(mechanism, &queries, &options.orders.0)?);
            }
            // The other figures stand without it.
            Err(Error::Refused { reason, .. }) => left_out = Some(reason),
            Err(error) => return Err(error),
        }
    }
    bar.finish_and_clear();
    account_curves::consistent(&curves)?;
    let losses = if options.composition == LossCalculus::Pld {
        let bar = progress(common, queries.len() as u64, "queries");
        let order = best_order(&curves, options)?;
        let done = |times| bar.inc(times);
        let deltas = deltas(options.delta);
        let mut losses = account_losses::recorded(mechanism, &queries, order, &deltas, options.delta, done)?;
        losses.one_voter = account_losses::one_voter(mechanism, &queries, order, &deltas, options.delta)?;
        bar.finish_and_clear();
        account_curves::consistent_losses(&curves, &losses, options.conversion)?;
        Some(losses)
    } else {
        None
    };
    let budgets = budgets(mechanism, &queries, options, common.seed)?;
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
    let mut warnings = warnings(&curves, &budgets, &queries);
    warnings.extend(left_out.map(|reason| Warning {
        code: "exact-left-out",
        message: format!("no exact cost per answer: {reason}"),
        hint: "merge classes with few votes, which is post-processing".into(),
    }));
    let envelope = envelope("leakbound.account/1", common, options, vec![file.input().clone()], warnings);
    Ok(AccountDocument { losses, ..document(options, envelope, title, queries.len(), &curves, budgets) })
}

fn of_scenario(common: &Common, options: &AccountOptions) -> Result<AccountDocument> {
    for (operation, given) in [
        ("--noise", options.noise.is_some()),
        ("--threshold", options.threshold.threshold.is_some()),
        ("--budget", options.budget.is_some()),
        ("--instantiation", options.instantiation != 0),
    ] {
        if given {
            return Err(refused(
                operation,
                "only recorded votes (.npz) have it; a scenario describes its own mechanism",
            ));
        }
    }
    let scenario = read_scenario(&options.file)?;
    let queries: Vec<(usize, ScenarioQuery)> =
        choose(scenario.queries.into_iter().enumerate().collect(), options, |query| query.0)?;
    let queries: Vec<ScenarioQuery> = queries.into_iter().map(|query| query.1).collect();
    let curves = account_curves::scenario(&queries, &options.orders.0)?;
    account_curves::consistent(&curves)?;
    let title = format!("Upper bounds of {} answers of a scenario", queries.len());
    let warnings = warnings(&curves, &[], &[]);
    let envelope = envelope("leakbound.account/1", common, options, vec![scenario.input], warnings);
    let pld = options.composition == LossCalculus::Pld;
    let losses = pld.then(|| account_losses::scenario(&queries, &deltas(options.delta), options.delta)).transpose()?;
    if let Some(losses) = &losses {
        account_curves::consistent_losses(&curves, losses, options.conversion)?;
    }
    Ok(AccountDocument { losses, ..document(options, envelope, title, queries.len(), &curves, Vec::new()) })
}

/// The order at which the exact cost per answer, or the last curve without one, gives ε: where large divergences matter.
fn best_order(curves: &[NamedCurve], options: &AccountOptions) -> Result<Order> {
    let exact = curves.iter().find(|curve| curve.meaning == CostMeaning::ExactGivenVotes).or(curves.last());
    let order = exact.map_or(2.0, |curve| curve.epsilon(options.delta, options.conversion).1);
    Order::new(order)
}

fn refused(operation: &'static str, reason: &str) -> Error {
    Error::Refused { operation, reason: reason.into() }
}

/// The queries asked for, in the order asked for.
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

/// The δ of the figure.
fn deltas(asked: Delta) -> Vec<Delta> {
    let mut deltas: Vec<f64> = (4..=24).map(|half| 10f64.powf(-0.5 * f64::from(half))).collect();
    if asked.get() > 0.0 {
        deltas.push(asked.get());
    }
    deltas.sort_by(|a, b| b.total_cmp(a));
    deltas.dedup();
    deltas.into_iter().filter_map(|delta| Delta::new(delta).ok()).collect()
}

fn document(
    options: &AccountOptions,
    envelope: Envelope,
    title: String,
    queries: usize,
    curves: &[NamedCurve],
    budgets: Vec<BudgetRow>,
) -> AccountDocument {
    let orders = &options.orders.0;
    let row = |curve: &NamedCurve| {
        let (epsilon, order) = curve.epsilon(options.delta, options.conversion);
        let at = |order| {
            // Every order asked for is on every curve.
            let index = curve.curve.orders().iter().position(|on| *on == order);
            Number(index.map_or(f64::INFINITY, |index| curve.curve.values()[index]))
        };
        CostCurve {
            name: curve.name,
            meaning: curve.meaning,
            directions: curve.directions,
            validity: curve.validity,
            rdp: orders.iter().map(|&order| at(order)).collect(),
            epsilon: Number(epsilon),
            order,
            profile: deltas(options.delta)
                .into_iter()
                .map(|delta| EpsilonAtDelta {
                    delta: delta.get(),
                    epsilon: Number(curve.epsilon(delta, options.conversion).0),
                })
                .collect(),
        }
    };
    AccountDocument {
        envelope,
        title,
        queries,
        delta: options.delta.get(),
        conversion: options.conversion,
        conversion_words: conversion_words(options.conversion),
        orders: orders.iter().map(|order| order.get()).collect(),
        curves: curves.iter().map(row).collect(),
        losses: None,
        budgets,
    }
}

fn warnings(curves: &[NamedCurve], budgets: &[BudgetRow], queries: &[RecordedQuery]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let dependent =
        [CostMeaning::DataDependent, CostMeaning::Expected, CostMeaning::ExactGivenVotes, CostMeaning::ExactOfOneVoter];
    let names: Vec<&str> =
        curves.iter().filter(|curve| dependent.contains(&curve.meaning)).map(|curve| curve.name).collect();
    if !names.is_empty() {
        warnings.push(Warning {
            code: "data-dependent-costs",
            message: format!("{} depend on the votes and are not private themselves", names.join(", ")),
            hint:
                "publish the data-independent figure, or release a data-dependent one with noise in proportion to its \
                   smooth sensitivity"
                    .into(),
        });
    }
    if let Some(row) = budgets.iter().find(|row| !row.exhausted) {
        warnings.push(Warning {
            code: "budget-left",
            message: format!(
                "the {} queries ran out before the budget of {}: {} was spent",
                queries.len(),
                row.budget,
                significant(row.epsilon.0, 4)
            ),
            hint: "record more queries".into(),
        });
    }
    warnings
}
