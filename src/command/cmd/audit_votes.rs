//! `leakbound audit votes`: fit, draw outputs, bound from below, compute the law, bound from above.

use super::added_point::{DEFAULT_K, DEFAULT_RATE, DEFAULT_SEARCH};
use super::vote_recording::{Query, Recording, choose};
use super::{composed, vote_consistency, vote_warnings};
use crate::command::args::{Common, ModelName, Sampling, VotesOptions};
use crate::command::output::{Bar, Output, envelope, progress};
use crate::report::{ExactRow, LawKind, SeriesCheck, SeriesNote, UpperRow, VotesDocument, VotesQuery, one_line};
use crate::study::evidence::Evidence;
use crate::study::rows::{bound_rows, epsilon_rows};
use crate::study::spending::{Applied, Beside, Planned, Target, plan_all};
use crate::study::{Claim, FailureNote, Number, RecommendationRow, short};
use crate::{
    Adversary, ArgmaxSampler, Direction, Directions, Error, FailureBudget, Guide, Order, OutputPair, PairedCounts,
    Probability, RandomVotes, Result, SetSource, Simulation, Theorem, UpperBound, VoteModel, WorstCases, rao_blackwell,
    sample_laws, simulate,
};
use rayon::prelude::*;

/// One query with everything that is known of it.
pub struct AuditedVotes {
    pub name: String,
    label: Option<usize>,
    pub model: VoteModel,
    pub pair: OutputPair,
    /// How far the series for it was taken, where it is one.
    pub series: Option<SeriesNote>,
    pub counts: PairedCounts,
    pub guide: Guide,
    /// Those that hold in both directions.
    pub theorems: Vec<Theorem>,
}

impl AuditedVotes {
    /// Every upper bound at these orders, theorem by theorem, in the directions in which it holds.
    pub fn upper_bounds(&self, orders: &[Order]) -> Vec<(Order, Direction, UpperBound)> {
        let mut bounds = Vec::new();
        for theorem in &self.theorems {
            for &order in orders {
                let at = |direction| Some((order, direction, theorem.at(order, direction)?));
                bounds.extend(Direction::BOTH.into_iter().filter_map(at));
            }
        }
        bounds
    }
}

pub fn run(common: &Common, options: &VotesOptions) -> Result<bool> {
    let inputs: Vec<_> = std::iter::once(&options.file).chain(&options.train).map(|path| path.as_path()).collect();
    let output = Output::open(common, &inputs)?;
    let recording = Recording::read(options, common.memory())?;
    let options = &with_defaults(options);
    let queries = choose(recording.queries, options)?;
    let mode = options.composition.unwrap_or_else(|| queries[0].model.default_composition());
    let law = law_kind(&queries[0].model);
    let outputs = match options.sampling {
        Sampling::MonteCarlo => 2 * options.samples.saturating_mul(queries.len() as u64),
        Sampling::ExactLaw => queries.len() as u64,
    };
    let unit = if options.sampling == Sampling::MonteCarlo { "outputs" } else { "queries" };
    let bar = progress(common, outputs, unit);
    let audited = audit(common, options, queries, &bar)?;
    bar.finish_and_clear();
    let targets: Vec<Target> =
        audited.iter().map(|query| Target { counts: &query.counts, guide: &query.guide }).collect();
    let composed = if options.n_queries.is_some() { 1 } else { audited.len() };
    let whole = options.answer_queries.map_or(audited.len(), |queries| queries as usize);
    let beside = Beside { composition: mode, composed, trade_off: false, whole };
    let (planned, budget) = plan_all(&targets, &options.bound.bounds(), beside, common.seed)?;
    let failure = FailureNote::new(&budget, planned.iter().any(Planned::has_nominal));
    let queries = rows(law, &audited, planned)?;
    let composed = composed::section(&audited, mode, law, options, &budget)?;
    vote_consistency::check(common, options, law, &audited, &queries, composed.as_ref())?;
    let series = audited.iter().filter_map(|query| query.series).reduce(worse);
    let warnings = vote_warnings::all(options, mode, law, &audited, &queries, composed.as_ref());
    let document = VotesDocument {
        envelope: envelope("leakbound.audit-votes/1", common, options, recording.inputs, warnings),
        title: title(common, options, &recording.words, audited.len()),
        failure,
        orders: options.bound.orders.0.iter().map(|order| order.get()).collect(),
        shown: options.bound.direction.list()[0],
        law,
        series,
        series_check: series_check(common, options, &audited)?,
        added_point: recording.point,
        queries,
        composed,
        claims: claims(options, &audited, &budget)?,
    };
    output.write(&document)?;
    Ok(document.claims.iter().any(|claim| claim.refuted))
}

/// The options as they are used: those of Private-kNN have values only there.
fn with_defaults(options: &VotesOptions) -> VotesOptions {
    let mut options = options.clone();
    if options.model == ModelName::PrivateKnn {
        options.k.get_or_insert(DEFAULT_K);
        options.rate.get_or_insert(DEFAULT_RATE);
        if options.adversary == Adversary::PoisNatq {
            options.candidates.get_or_insert(DEFAULT_SEARCH);
        }
    }
    options
}

const fn law_kind(model: &VoteModel) -> LawKind {
    match model {
        VoteModel::Capc(_) => LawKind::Series,
        _ => LawKind::Exact,
    }
}

/// The output distributions of a query, and how far a series for them was taken.
fn output_pair(model: &VoteModel, options: &VotesOptions) -> Result<(OutputPair, Option<SeriesNote>)> {
    let VoteModel::Capc(model) = model else {
        return Ok((model.output_pair(options.noise)?, None));
    };
    let expanded = model.expanded_laws(options.noise)?;
    let notes = expanded.iter().map(|law| SeriesNote { degree: law.degree(), remainder: law.remainder });
    let series = notes.reduce(worse);
    let [dataset, neighbor] = expanded.map(|law| law.law);
    Ok((OutputPair::new(dataset, neighbor)?, series))
}

/// Of two notes, what holds for both.
pub fn worse(a: SeriesNote, b: SeriesNote) -> SeriesNote {
    SeriesNote { degree: a.degree.max(b.degree), remainder: a.remainder.max(b.remainder) }
}

/// Distributions on all threads, then the outputs query by query; a simulation is itself on all threads.
fn audit(common: &Common, options: &VotesOptions, queries: Vec<Query>, bar: &Bar) -> Result<Vec<AuditedVotes>> {
    let pairs: Vec<(OutputPair, Option<SeriesNote>)> =
        queries.par_iter().map(|query| output_pair(&query.model, options)).collect::<Result<_>>()?;
    let known = WorstCases::default();
    let rate = options.rate.and_then(|rate| Probability::new(rate).ok());
    queries
        .into_iter()
        .zip(pairs)
        .map(|(query, (pair, series))| {
            let simulation = Simulation::new(options.samples)?.seed(common.seed).query(query.position as u64);
            let counts = match options.sampling {
                Sampling::MonteCarlo => {
                    let mechanism = ArgmaxSampler::new(&query.model, options.noise);
                    let before = bar.position();
                    simulate(&mechanism, simulation, |done| bar.set_position(before + done))?
                }
                Sampling::ExactLaw => {
                    bar.inc(1);
                    sample_laws(pair.dataset(), pair.neighbor(), simulation)?
                }
            };
            let guide = Guide::from_laws(
                pair.dataset(),
                pair.neighbor(),
                &options.bound.orders.0,
                &options.bound.direction.list(),
                SetSource::ExactLaw,
            )?;
            let mut theorems = RandomVotes { model: &query.model, noise: options.noise, rate }.theorems(&pair, &known);
            theorems.retain(|theorem| theorem.statement().directions == Directions::Both);
            let Query { position, label, model } = query;
            Ok(AuditedVotes { name: position.to_string(), label, model, pair, series, counts, guide, theorems })
        })
        .collect()
}

/// Draws of the check of a series: a fraction of a second.
const CHECK_DRAWS: u64 = 20_000;

/// The series for the query that leaks most against a Monte Carlo estimate of the same law.
fn series_check(common: &Common, options: &VotesOptions, audited: &[AuditedVotes]) -> Result<Option<SeriesCheck>> {
    let order = options.bound.orders.0[0];
    let mut worst: Option<(&AuditedVotes, f64)> = None;
    for query in audited.iter().filter(|query| query.series.is_some()) {
        let divergence = query.pair.renyi(Direction::Forward, order);
        if worst.is_none_or(|worst| divergence > worst.1) {
            worst = Some((query, divergence));
        }
    }
    let Some((query, series)) = worst else { return Ok(None) };
    let estimates = match rao_blackwell(&query.model, options.noise, Simulation::new(CHECK_DRAWS)?.seed(common.seed)) {
        // Noise for which it is not offered.
        Err(Error::Refused { .. }) => return Ok(None),
        estimates => estimates?,
    };
    let forward = estimates.renyi(Direction::Forward, order);
    Ok(Some(SeriesCheck {
        query: query.name.clone(),
        order: order.get(),
        series,
        estimate: forward.value,
        standard_error: forward.standard_error,
        draws: CHECK_DRAWS,
    }))
}

fn rows(law: LawKind, audited: &[AuditedVotes], planned: Vec<Planned>) -> Result<Vec<VotesQuery>> {
    let row = |(query, planned): (&AuditedVotes, Planned)| {
        let Applied { plan, audit, recommendation } = planned.apply(&query.counts, &query.guide)?;
        let divergences = plan.orders.iter().map(|&order| ExactRow {
            order: order.get(),
            forward: Number(query.pair.renyi(Direction::Forward, order)),
            reverse: Number(query.pair.renyi(Direction::Reverse, order)),
        });
        let upper = query.upper_bounds(&plan.orders).into_iter().map(|(order, direction, bound)| UpperRow {
            name: bound.name,
            order: order.get(),
            direction,
            rdp: Number(bound.value),
            validity: bound.validity,
        });
        let divergences: Vec<ExactRow> = divergences.collect();
        let (exact, approximate) =
            if law == LawKind::Exact { (divergences, Vec::new()) } else { (Vec::new(), divergences) };
        Ok(VotesQuery {
            query: query.name.clone(),
            label: query.label,
            counts: query.counts.counts().to_vec(),
            counts_neighbor: query.counts.counts_neighbor().to_vec(),
            lower: bound_rows(&query.name, &audit),
            epsilon: epsilon_rows(&query.name, &audit),
            recommendation: recommendation.map(|found| RecommendationRow::new(&query.name, found)),
            exact,
            approximate,
            upper: upper.collect(),
        })
    };
    audited.par_iter().zip(planned).map(row).collect()
}

fn claims(options: &VotesOptions, audited: &[AuditedVotes], budget: &FailureBudget) -> Result<Vec<Claim>> {
    if options.bound.claims.claims().is_empty() {
        return Ok(Vec::new());
    }
    let queries = audited.iter().map(|query| (query.name.as_str(), &query.counts, &query.guide));
    let evidence = Evidence::of_all(queries, budget, options.bound.claims.claims().wanted())?;
    Ok(options.bound.claims.claims().test_evidence(&evidence, options.bound.failure_probability))
}

fn title(common: &Common, options: &VotesOptions, words: &str, queries: usize) -> String {
    let (samples, seed) = (short(options.samples as f64), common.seed);
    let drawn = match options.sampling {
        Sampling::MonteCarlo => format!("{samples} outputs simulated per query and world, seed {seed}"),
        Sampling::ExactLaw => {
            format!("{samples} outputs per query and world, seed {seed}, drawn from the law itself and not simulated")
        }
    };
    format!(
        "Audit of {}: {words}, {} noise, {queries} queries\n{drawn}",
        one_line(&options.file.to_string_lossy()),
        options.noise
    )
}
