//! `leakbound audit votes`: fit, simulate, bound from below, compute exactly, bound from above.

use super::audit_counts::{bound_rows, epsilon_rows, plan};
use super::composed;
use super::upper::Upper;
use crate::args::{Common, ModelName, Queries, VotesOptions};
use crate::output::{Output, envelope, progress};
use indicatif::ProgressBar;
use leakbound::record::VoteFile;
use leakbound::report::{ExactRow, Number, UpperRow, VotesDocument, VotesQuery, Warning, one_line, short};
use leakbound::{
    Composition, Direction, Error, InputError, NoisyArgmax, OutcomeLaw, OutputSets, PairedCounts, PateModel,
    PromptPateModel, Result, SetSource, Simulation, VoteModel, audit_counts, rectangles, renyi_divergence, simulate,
};
use rayon::prelude::*;
use std::collections::HashMap;

/// One query with its model.
struct Query {
    position: usize,
    label: Option<usize>,
    model: VoteModel,
}

/// One query with everything that is known of it.
pub struct AuditedVotes {
    pub name: String,
    label: Option<usize>,
    pub p: OutcomeLaw,
    pub q: OutcomeLaw,
    pub counts: PairedCounts,
    pub sets: OutputSets,
    pub upper: Upper,
}

pub fn run(common: &Common, options: &VotesOptions) -> Result<bool> {
    let output = Output::open(common, &[&options.file])?;
    let mut file = VoteFile::open(&options.file)?;
    let recording = Recording::read(&mut file, options)?;
    let queries = choose(recording.queries, options)?;
    let mode = options.composition.unwrap_or_else(|| queries[0].model.default_composition());
    let bar = progress(common, 2 * options.samples.saturating_mul(queries.len() as u64), "outputs");
    let audited = audit(common, options, queries, &bar)?;
    bar.finish_and_clear();
    let queries = rows(options, &audited)?;
    let warnings = warnings(options, mode, &audited, &queries);
    let document = VotesDocument {
        envelope: envelope("leakbound.audit-votes/1", common, options, vec![file.input().clone()], warnings),
        title: title(common, options, &recording.words, audited.len()),
        orders: options.bound.orders.0.iter().map(|order| order.get()).collect(),
        shown: options.bound.direction.list()[0],
        queries,
        composed: composed::section(&audited, mode, options)?,
        claims: claims(options, &audited)?,
    };
    output.write(&document)?;
    Ok(document.claims.iter().any(|claim| claim.refuted))
}

/// The recorded queries, fitted.
struct Recording {
    queries: Vec<Query>,
    words: String,
}

impl Recording {
    fn read(file: &mut VoteFile, options: &VotesOptions) -> Result<Self> {
        match options.model {
            ModelName::Pate => {
                let votes = file.pate(options.adversary)?;
                let k = votes.teachers as u64;
                let words = format!("pate, {}, k = {k} teachers, {} classes", options.adversary, votes.classes);
                let fit = |query: leakbound::record::PateQuery| {
                    let model = PateModel::from_votes(k, &query.votes, &query.votes_neighbor)?;
                    Ok(Query { position: query.position, label: query.label, model: VoteModel::Pate(model) })
                };
                Ok(Self { queries: votes.queries.into_iter().map(fit).collect::<Result<_>>()?, words })
            }
            ModelName::PromptPate => {
                let votes = file.prompt_pate()?;
                let words = format!("prompt-pate, fixed votes, {} classes", votes.classes);
                let fit = |query: leakbound::record::PromptPateQuery| {
                    let model = PromptPateModel::new(query.histogram, query.histogram_neighbor)?;
                    Ok(Query { position: query.position, label: query.label, model: VoteModel::PromptPate(model) })
                };
                Ok(Self { queries: votes.queries.into_iter().map(fit).collect::<Result<_>>()?, words })
            }
        }
    }
}

/// The queries asked for, in the order asked for.
fn choose(queries: Vec<Query>, options: &VotesOptions) -> Result<Vec<Query>> {
    let refuse = |found: String, expected: String| {
        Error::from(InputError { file: options.file.clone(), place: "--queries".into(), found, expected, hint: None })
    };
    let chosen: Vec<Query> = match &options.queries {
        Queries::All(_) => queries,
        Queries::Some(positions) => {
            let recorded: Vec<String> = queries.iter().map(|query| query.position.to_string()).collect();
            let shown = recorded.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
            let more = if recorded.len() > 8 { ", ..." } else { "" };
            let mut by_position: HashMap<usize, Query> =
                queries.into_iter().map(|query| (query.position, query)).collect();
            let take = |position: &usize| {
                by_position.remove(position).ok_or_else(|| {
                    let expected = format!("each of the recorded positions at most once: {shown}{more}");
                    refuse(format!("position {position}"), expected)
                })
            };
            positions.iter().map(take).collect::<Result<_>>()?
        }
    };
    if chosen.is_empty() {
        return Err(refuse("no query".into(), "at least 1 query".into()));
    }
    Ok(chosen)
}

/// Exact laws on all threads, then the simulation query by query, itself on all threads.
fn audit(common: &Common, options: &VotesOptions, queries: Vec<Query>, bar: &ProgressBar) -> Result<Vec<AuditedVotes>> {
    let laws: Vec<[OutcomeLaw; 2]> =
        queries.par_iter().map(|query| query.model.laws(options.noise)).collect::<Result<_>>()?;
    queries
        .into_iter()
        .zip(laws)
        .map(|(query, [p, q])| {
            let mechanism = NoisyArgmax::new(&query.model, options.noise);
            let simulation = Simulation::new(options.samples)?.seed(common.seed).query(query.position as u64);
            let before = bar.position();
            let counts = simulate(&mechanism, simulation, |done| bar.set_position(before + done))?;
            let sets = OutputSets::from_laws(&p, &q, &options.bound.orders.0, SetSource::ExactLaw)?;
            let upper = Upper::new(&query.model, options.noise, &p);
            Ok(AuditedVotes { name: query.position.to_string(), label: query.label, p, q, counts, sets, upper })
        })
        .collect()
}

fn rows(options: &VotesOptions, audited: &[AuditedVotes]) -> Result<Vec<VotesQuery>> {
    let plan = plan(&options.bound);
    let row = |query: &AuditedVotes| {
        let audit = audit_counts(&query.counts, &query.sets, &plan)?;
        let exact = plan.orders.iter().map(|&order| {
            Ok(ExactRow {
                order: order.get(),
                forward: Number(renyi_divergence(&query.p, &query.q, order)?),
                reverse: Number(renyi_divergence(&query.q, &query.p, order)?),
            })
        });
        let upper = query.upper.names().into_iter().flat_map(|name| {
            plan.orders.iter().map(move |&order| {
                let bound = query.upper.bound(name, order);
                UpperRow { name: bound.name, order: order.get(), rdp: Number(bound.value), validity: bound.validity }
            })
        });
        Ok(VotesQuery {
            query: query.name.clone(),
            label: query.label,
            counts: query.counts.counts().to_vec(),
            counts_neighbor: query.counts.counts_neighbor().to_vec(),
            lower: bound_rows(&query.name, &audit),
            epsilon: epsilon_rows(&query.name, &audit),
            exact: exact.collect::<Result<_>>()?,
            upper: upper.collect(),
        })
    };
    audited.iter().map(row).collect()
}

fn claims(options: &VotesOptions, audited: &[AuditedVotes]) -> Result<Vec<leakbound::report::Claim>> {
    if options.bound.claims.is_empty() {
        return Ok(Vec::new());
    }
    let share = options.bound.failure_probability.split(audited.len());
    let evidence = audited
        .iter()
        .map(|query| Ok((query.name.clone(), rectangles(&query.counts, &query.sets, share)?)))
        .collect::<Result<Vec<_>>>()?;
    Ok(options.bound.claims.test_rectangles(&evidence, options.bound.failure_probability))
}

fn title(common: &Common, options: &VotesOptions, words: &str, queries: usize) -> String {
    format!(
        "Audit of {}: {words}, {} noise, {queries} queries\n{} outputs simulated per query and world, seed {}; failure \
         probability {} per query and method",
        one_line(&options.file.to_string_lossy()),
        options.noise,
        short(options.samples as f64),
        common.seed,
        short(options.bound.failure_probability.get())
    )
}

fn warnings(options: &VotesOptions, mode: Composition, audited: &[AuditedVotes], rows: &[VotesQuery]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if options.model == ModelName::Pate {
        warnings.push(Warning {
            code: "fitted-model",
            message: "bounds and exact values hold for the model fitted to the recorded votes, not for the training \
                      itself"
                .into(),
            hint: "record more instantiations to see how much the fit matters".into(),
        });
        if mode == Composition::Independent {
            warnings.push(Warning {
                code: "fresh-training",
                message: "sums are bounds only if every answer comes from freshly trained teachers".into(),
                hint: "--composition shared-teachers for teachers that are trained once".into(),
            });
        }
    }
    let above: Vec<&str> = audited
        .iter()
        .filter(|query| {
            let orders = &options.bound.orders.0;
            orders.iter().any(|&order| {
                let exact = renyi_divergence(&query.p, &query.q, order).unwrap_or(0.0);
                query.upper.names().iter().any(|name| exact > query.upper.rdp(name, order) * (1.0 + 1e-9))
            })
        })
        .map(|query| query.name.as_str())
        .collect();
    if !above.is_empty() {
        warnings.push(Warning {
            code: "accountant-exceeded",
            message: format!("the exact divergence exceeds an accountant on queries {}", above.join(", ")),
            hint: "an accountant is wrong for these votes, or the neighbour differs by more than one vote".into(),
        });
    }
    let unequal =
        audited.iter().filter(|query| query.upper.names() == ["gaussian"] || query.upper.names() == ["laplace"]);
    let unequal = unequal.count();
    if unequal > 0 {
        warnings.push(Warning {
            code: "votes-differ",
            message: format!("in {unequal} queries the votes of the worlds differ by more or less than one moved vote"),
            hint: "their accountants use the real difference of the votes".into(),
        });
    }
    warnings.extend(chance(options, rows));
    let silent = audited.iter().all(|query| {
        renyi_divergence(&query.p, &query.q, options.bound.orders.0[0]).unwrap_or(0.0) == 0.0
            && renyi_divergence(&query.q, &query.p, options.bound.orders.0[0]).unwrap_or(0.0) == 0.0
    });
    if silent {
        warnings.push(Warning {
            code: "no-difference",
            message: "the two worlds have the same law in every query".into(),
            hint: "check that the recorded neighbour differs".into(),
        });
    }
    warnings
}

/// Here the truth is known: how many bounds exceed it, and whether chance explains that.
fn chance(options: &VotesOptions, rows: &[VotesQuery]) -> Option<Warning> {
    let wrong = |query: &&VotesQuery| {
        query.lower.iter().any(|lower| {
            let exact = query.exact.iter().find(|exact| exact.order == lower.order);
            exact.is_some_and(|exact| {
                lower.rdp_lower.0
                    > if lower.direction == Direction::Forward { exact.forward.0 } else { exact.reverse.0 }
            })
        })
    };
    let names: Vec<&str> = rows.iter().filter(wrong).map(|query| query.query.as_str()).collect();
    if names.is_empty() {
        return None;
    }
    let (count, failure) = (rows.len() as f64, options.bound.failure_probability.get());
    let expected = count * failure * options.bound.methods.0.len() as f64;
    let most = expected + 4.0 * expected.sqrt() + 1.0;
    Some(Warning {
        code: "bound-above-exact",
        message: format!(
            "in {} of {} queries a lower bound exceeds the exact value (query {}); each may be wrong with probability \
             {failure}",
            names.len(),
            rows.len(),
            names.join(", ")
        ),
        hint: if names.len() as f64 > most {
            "chance does not explain this: simulation and exact law disagree".into()
        } else {
            "chance explains this; composed bounds and claims divide the failure probability among the queries".into()
        },
    })
}
