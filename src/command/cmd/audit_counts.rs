//! `leakbound audit counts`.

use super::spending::{Beside, Planned, Target, plan_all};
use super::{binned, counts_more, forecast};
use crate::command::args::{AuditCountsOptions, BoundOptions, Common, CountsOptions, FurtherOptions, Methods};
use crate::command::output::{Output, envelope};
use crate::record::{CountsFile, InputFile, RecordedCounts, RecordedLaw, read_counts, read_law};
use crate::report::{
    BoundRow, CountsDocument, Envelope, EpsilonRow, FailureNote, ForecastRow, RecommendationRow, SetRow, one_line,
};
use crate::study::Evidence;
use crate::study::{Claim, Number, Warning, short};
use crate::{
    AuditPlan, Bootstrap, Composition, Error, FailureBudget, FailureProbability, Guide, InputError, Method, OutcomeLaw,
    PairedCounts, QueryAudit, Recommendation, Result, SetSource, Skipped, recommend, split_pilot,
};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// What `--methods auto` sets aside where nothing was said, from so many outputs of each world on.
const PILOT_FRACTION: f64 = 0.1;
const PILOT_FROM: u64 = 1000;

/// The counts of one query with what was known of it before.
pub struct AuditedQuery {
    pub name: String,
    pub counts: PairedCounts,
    pub guide: Guide,
}

pub fn run(common: &Common, all: &AuditCountsOptions) -> Result<bool> {
    let options = &all.audit;
    let chosen_from = options.pilot.iter().chain(&options.law);
    let inputs: Vec<&Path> = std::iter::once(&options.file).chain(chosen_from).map(PathBuf::as_path).collect();
    let output = Output::open(common, &inputs)?;
    let (mut inputs, mut warnings) = (Vec::new(), Vec::new());
    let (file, queries) = match &all.bins {
        Some(rule) => binned::queries(common, options, rule, &mut inputs, &mut warnings)?,
        None => {
            let file = read_counts(&options.file)?;
            inputs.push(file.input.clone());
            let queries = choose_sets(common, options, &file, &mut inputs)?;
            warnings.extend(few_repeats(&file).filter(|_| options.law.is_none() && options.pilot.is_none()));
            (file, queries)
        }
    };
    if queries.iter().any(|query| query.guide.sets.source == SetSource::FixedList && query.guide.sets.sets.len() > 1) {
        let most = queries.iter().map(|query| query.guide.sets.sets.len()).max().unwrap_or(0);
        warnings.push(Warning {
            code: "fixed-list",
            message: format!("without a pilot or a law each of {most} outcomes is an output set of its own"),
            hint: "sharper bounds: --pilot-fraction 0.1, --pilot FILE or --law FILE".into(),
        });
    }
    let chosen = options.pilot.is_some() || options.law.is_some() || options.pilot_fraction.is_some();
    if let Some(fraction) = unasked_pilot(options, &file).filter(|_| !chosen) {
        warnings.push(Warning {
            code: "pilot-set-aside",
            message: format!("{} of the outputs were set aside as a pilot, and not bounded", short(fraction)),
            hint: "choose yourself: --pilot-fraction F, --pilot FILE, --law FILE or --methods NAME".into(),
        });
    }
    let title = format!(
        "Audit of {} ({} quer{}); forward is D(P‖Q) with P the column count",
        one_line(&options.file.to_string_lossy()),
        queries.len(),
        if queries.len() == 1 { "y" } else { "ies" }
    );
    let envelope = envelope("leakbound.audit-counts/1", common, all, inputs, warnings);
    let asked = Asked { bound: &options.bound, further: &all.further, composition: all.composition };
    finish(output, envelope, title, &queries, asked, common.seed)
}

/// What is wanted of an audit.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    pub bound: &'a BoundOptions,
    pub further: &'a FurtherOptions,
    pub composition: Composition,
}

/// Audits the queries, tests the claims and writes the document.
pub fn finish(
    output: Output,
    mut envelope: Envelope,
    title: String,
    queries: &[AuditedQuery],
    asked: Asked<'_>,
    seed: u64,
) -> Result<bool> {
    let options = asked.bound;
    let targets: Vec<Target> =
        queries.iter().map(|query| Target { counts: &query.counts, guide: &query.guide }).collect();
    let beside = Beside {
        composition: asked.composition,
        composed: queries.len(),
        trade_off: counts_more::wants_trade_off(asked.further),
        whole: queries.len(),
    };
    let (planned, budget) = plan_all(&targets, options, beside, seed)?;
    let failure = FailureNote::new(&budget, planned.iter().any(Planned::has_nominal));
    let audits: Vec<Applied> = queries
        .par_iter()
        .zip(planned)
        .map(|(query, planned)| apply(&query.counts, &query.guide, planned))
        .collect::<Result<_>>()?;
    envelope.warnings.extend(skipped(audits.iter().flat_map(|applied| &applied.audit.skipped)));
    envelope.warnings.extend(near_zero(queries, &audits));
    let mut document = CountsDocument {
        envelope,
        title,
        failure,
        bounds: Vec::new(),
        epsilon: Vec::new(),
        output_sets: Vec::new(),
        recommendations: Vec::new(),
        law: counts_more::law_rows(queries, options)?,
        trade_off: counts_more::trade_offs(queries, options, asked.further, &budget)?,
        composed: counts_more::composed(queries, asked.composition, options, &budget)?,
        forecasts: Vec::new(),
        claims: claims(queries, options, &budget)?,
    };
    // They take as long as the audits, and CSV has the bounds alone.
    let wanted = if output.has_bounds_alone() { 0 } else { queries.len() };
    let forecasts: Vec<Vec<ForecastRow>> = queries[..wanted]
        .par_iter()
        .zip(&audits)
        .map(|(query, applied)| forecast::rows(query, &applied.plan))
        .collect::<Result<_>>()?;
    document.forecasts = forecasts.into_iter().flatten().collect();
    // Rows take the place of what they are made from: there may be many queries.
    for (query, Applied { audit, recommendation, .. }) in queries.iter().zip(audits) {
        document.bounds.extend(bound_rows(&query.name, &audit));
        document.epsilon.extend(epsilon_rows(&query.name, &audit));
        document.recommendations.extend(recommendation.map(|found| RecommendationRow {
            query: query.name.clone(),
            method: found.renyi.name(),
            epsilon_method: found.epsilon.name(),
            reason: found.reason,
        }));
        document.output_sets.extend(query.guide.sets.sets.iter().map(|set| SetRow {
            query: query.name.clone(),
            source: query.guide.sets.source.to_string(),
            outcomes: set.members().into_iter().map(|member| query.counts.labels()[member].clone()).collect(),
            directed: query.guide.sets.directed,
        }));
    }
    output.write(&document)?;
    Ok(document.claims.iter().any(|claim| claim.refuted))
}

/// What was found for one query, and how.
pub struct Applied {
    pub plan: AuditPlan,
    pub audit: QueryAudit,
    pub recommendation: Option<Recommendation>,
}

/// Audits one query with the methods that were asked for, or the recommended ones.
pub fn apply(counts: &PairedCounts, guide: &Guide, planned: Planned) -> Result<Applied> {
    let audit = planned.audit(counts, guide)?;
    let Planned { plan, recommendation, .. } = planned;
    Ok(Applied { plan, audit, recommendation })
}

/// What to bound, and by which methods: the numbers of samples of `counts` are looked at, never the counts.
pub fn plan(
    counts: &PairedCounts,
    guide: &Guide,
    options: &BoundOptions,
    failure: FailureProbability,
    seed: u64,
) -> Result<(AuditPlan, Option<Recommendation>)> {
    let plan = AuditPlan {
        orders: options.orders.0.clone(),
        delta: options.claims.delta,
        failure,
        methods: Vec::new(),
        directions: options.direction.list(),
        seed,
        resamples: options.resamples,
    };
    let (methods, recommendation) = match &options.methods {
        Methods::All => (Method::ALL.to_vec(), None),
        Methods::Named(methods) => {
            if let Some((method, needs)) = methods.iter().find_map(|&method| Some((method, guide.lacks(method)?))) {
                let reason = format!("{method} needs {needs}; --pilot-fraction 0.1 sets a pilot aside");
                return Err(Error::Refused { operation: "audit", reason });
            }
            (methods.clone(), None)
        }
        Methods::Auto => {
            let found = recommend(guide, [counts.trials(), counts.trials_neighbor()], &plan)?;
            (vec![found.renyi, found.epsilon], Some(found))
        }
    };
    Ok((AuditPlan { methods, ..plan }, recommendation))
}

/// One warning for all methods that did not apply.
pub fn skipped<'a>(skipped: impl Iterator<Item = &'a Skipped>) -> Option<Warning> {
    let mut names: Vec<&str> = Vec::new();
    let mut needs: Vec<&str> = Vec::new();
    for found in skipped {
        if !names.contains(&found.method.name()) {
            names.push(found.method.name());
        }
        if !needs.contains(&found.needs) {
            needs.push(found.needs);
        }
    }
    (!names.is_empty()).then(|| Warning {
        code: "methods-skipped",
        message: format!("left out: {}; they need {}", names.join(", "), needs.join(", or ")),
        hint: "--pilot-fraction 0.1, --pilot FILE or --law FILE give a pilot or a law".into(),
    })
}

/// The bootstrap claims leakage where there is none: the warning of its authors, where it is due.
fn near_zero(queries: &[AuditedQuery], audits: &[Applied]) -> Option<Warning> {
    let bootstrapped = |applied: &Applied| {
        applied.plan.methods.iter().any(|method| matches!(method, Method::BootstrapTwoCut | Method::BootstrapKCut))
    };
    let due: Vec<&str> = queries
        .iter()
        .zip(audits)
        .filter(|(query, applied)| bootstrapped(applied) && Bootstrap::is_doubtful_for(&query.counts))
        .map(|(query, _)| query.name.as_str())
        .collect();
    (!due.is_empty()).then(|| Warning {
        code: "bootstrap-near-zero",
        message: format!(
            "the bootstrap is above the truth in nearly every audit of equal laws, and the counts of {} do not exclude them",
            if due == [""] { "this audit".into() } else { format!("{} queries", due.len()) }
        ),
        hint: "trust a method labeled finite-sample".into(),
    })
}

/// Claims are tested on evidence that holds for all queries at once.
pub fn claims(queries: &[AuditedQuery], options: &BoundOptions, budget: &FailureBudget) -> Result<Vec<Claim>> {
    if options.claims.claims().is_empty() {
        return Ok(Vec::new());
    }
    let queries = queries.iter().map(|query| (query.name.as_str(), &query.counts, &query.guide));
    let evidence = Evidence::of_all(queries, budget, options.claims.claims().wanted())?;
    Ok(options.claims.claims().test_evidence(&evidence, options.failure_probability))
}

pub fn bound_rows(query: &str, audit: &QueryAudit) -> Vec<BoundRow> {
    let row = |row: &crate::RdpBound| BoundRow {
        query: query.to_owned(),
        method: row.bound.method,
        direction: row.direction,
        order: row.order.get(),
        rdp_lower: Number(row.bound.value),
        failure_probability: row.bound.failure_probability.get(),
        validity: row.bound.validity,
    };
    audit.rdp.iter().map(row).collect()
}

pub fn epsilon_rows(query: &str, audit: &QueryAudit) -> Vec<EpsilonRow> {
    let row = |row: &crate::EpsilonBound| EpsilonRow {
        query: query.to_owned(),
        method: row.bound.method,
        direction: row.direction,
        delta: row.delta.get(),
        epsilon_lower: Number(row.bound.value),
        failure_probability: row.bound.failure_probability.get(),
        validity: row.bound.validity,
    };
    audit.epsilon.iter().map(row).collect()
}

/// The output sets of every query, and the counts that are left to bound.
pub fn choose_sets(
    common: &Common,
    options: &CountsOptions,
    file: &CountsFile,
    inputs: &mut Vec<InputFile>,
) -> Result<Vec<AuditedQuery>> {
    let (orders, directions) = (&options.bound.orders.0, &options.bound.direction.list());
    if let Some(path) = &options.pilot {
        let pilot = read_counts(path)?;
        inputs.push(pilot.input.clone());
        let pilots: HashMap<Option<&str>, &RecordedCounts> =
            pilot.queries.iter().map(|query| (query.query.as_deref(), query)).collect();
        return each_query(file, |name, counts| {
            let pilot = pilots.get(&name).ok_or_else(|| missing(path, name, "pilot counts"))?;
            let position = positions(path, name, pilot.counts.labels(), counts.labels())?;
            let pick = |world: &[u64]| position.iter().map(|at| at.map_or(0, |at| world[at])).collect();
            let aligned = PairedCounts::new(
                counts.labels().to_vec(),
                pick(pilot.counts.counts()),
                pick(pilot.counts.counts_neighbor()),
            )?;
            Ok((counts.clone(), Guide::from_pilot(&aligned, orders, directions)?))
        });
    }
    if let Some(path) = &options.law {
        let law = read_law(path)?;
        inputs.push(law.input.clone());
        let laws: HashMap<Option<&str>, &RecordedLaw> =
            law.laws.iter().map(|law| (law.query.as_deref(), law)).collect();
        return each_query(file, |name, counts| {
            let law = laws.get(&name).ok_or_else(|| missing(path, name, "a law"))?;
            // Outcomes that were never printed may be missing from the counts: they join with count 0.
            let position = positions(path, name, counts.labels(), &law.labels)?;
            let pick = |world: &[u64]| position.iter().map(|at| at.map_or(0, |at| world[at])).collect();
            let all = PairedCounts::new(law.labels.clone(), pick(counts.counts()), pick(counts.counts_neighbor()))?;
            let (p, q) = (OutcomeLaw::from_probabilities(&law.p)?, OutcomeLaw::from_probabilities(&law.q)?);
            Ok((all, Guide::from_laws(&p, &q, orders, directions, SetSource::ExactLaw)?))
        });
    }
    for query in &file.queries {
        provable(&options.file, query)?;
    }
    if let Some(fraction) = options.pilot_fraction.or_else(|| unasked_pilot(options, file)) {
        let mut seed = common.seed;
        return each_query(file, |_, counts| {
            let (pilot, rest) = split_pilot(counts, fraction, seed)?;
            seed = seed.wrapping_add(1);
            Ok((rest, Guide::from_pilot(&pilot, orders, directions)?))
        });
    }
    each_query(file, |_, counts| Ok((counts.clone(), Guide::fixed_list(counts.outcomes()))))
}

/// What to do about outputs that are numbers.
const BIN: &str = "count them in bins: --bins quantile:20 --pilot-fraction 0.1";

/// Whether every outcome that was seen is a number.
fn numbers(counts: &PairedCounts) -> bool {
    counts.labels().iter().all(|label| label.parse::<f64>().is_ok())
}

/// Refuses outputs of which nearly every one is different: no outcome has a probability that they could show.
fn provable(path: &Path, query: &RecordedCounts) -> Result<()> {
    let counts = &query.counts;
    if !counts.hardly_repeats() {
        return Ok(());
    }
    let numbers = numbers(counts);
    Err(Error::from(InputError {
        file: path.to_owned(),
        place: query.query.as_ref().map_or_else(|| "whole file".into(), |query| format!("query `{}`", one_line(query))),
        found: format!(
            "{} different outcomes in {} outputs",
            counts.seen(),
            counts.trials() + counts.trials_neighbor()
        ),
        expected: "outcomes that repeat: what is seen once or never in a world shows nothing of its probability".into(),
        hint: Some(
            if numbers { BIN } else { "group the outputs by a rule that was fixed before, or give --law" }.into(),
        ),
    }))
}

/// Numbers with few repeats: valid, and most of what differs between the worlds is lost.
fn few_repeats(file: &CountsFile) -> Option<Warning> {
    let few = |query: &&RecordedCounts| {
        let counts = &query.counts;
        let outputs = counts.trials().saturating_add(counts.trials_neighbor());
        counts.seen() > 50 && outputs / 10 < counts.seen() as u64 && numbers(counts)
    };
    let found: Vec<&RecordedCounts> = file.queries.iter().filter(few).collect();
    let first = found.first()?;
    let outputs = first.counts.trials().saturating_add(first.counts.trials_neighbor());
    let more =
        if found.len() > 1 { format!(", and in {} more queries as few", found.len() - 1) } else { String::new() };
    Some(Warning {
        code: "few-repeats",
        message: format!("{outputs} outputs have {} different values{more}: each says little", first.counts.seen()),
        hint: BIN.into(),
    })
}

/// With `--methods auto` and nothing else to go by, a tenth of the outputs is worth more as a pilot than in the counts,
/// unless there are few. The number of outputs decides, never what they are.
fn unasked_pilot(options: &CountsOptions, file: &CountsFile) -> Option<f64> {
    let enough = |query: &RecordedCounts| query.counts.trials().min(query.counts.trials_neighbor()) >= PILOT_FROM;
    (options.bound.methods == Methods::Auto && file.queries.iter().all(enough)).then_some(PILOT_FRACTION)
}

fn each_query(
    file: &CountsFile,
    mut choose: impl FnMut(Option<&str>, &PairedCounts) -> Result<(PairedCounts, Guide)>,
) -> Result<Vec<AuditedQuery>> {
    file.queries
        .iter()
        .map(|query| {
            let (counts, guide) = choose(query.query.as_deref(), &query.counts)?;
            Ok(AuditedQuery { name: query.query.clone().unwrap_or_default(), counts, guide })
        })
        .collect()
}

/// Where each of `wanted` stands among `given`; every one of `given` must be wanted.
fn positions(path: &Path, query: Option<&str>, given: &[String], wanted: &[String]) -> Result<Vec<Option<usize>>> {
    let at: HashMap<&str, usize> = given.iter().enumerate().map(|(index, label)| (label.as_str(), index)).collect();
    let position: Vec<Option<usize>> = wanted.iter().map(|label| at.get(label.as_str()).copied()).collect();
    let known: HashSet<&str> = wanted.iter().map(String::as_str).collect();
    if let Some(label) = given.iter().find(|label| !known.contains(label.as_str())) {
        return Err(Error::from(InputError {
            file: path.to_owned(),
            place: query.map_or_else(|| "whole file".into(), |query| format!("query `{query}`")),
            found: format!("an outcome `{label}` that stands in one of the two files only"),
            expected: "the same outcomes in the counts and in the file that chooses the sets".into(),
            hint: None,
        }));
    }
    Ok(position)
}

fn missing(path: &Path, query: Option<&str>, what: &str) -> Error {
    Error::from(InputError {
        file: path.to_owned(),
        place: "whole file".into(),
        found: "no such query".into(),
        expected: query.map_or_else(|| format!("{what} without a query"), |query| format!("{what} of query `{query}`")),
        hint: None,
    })
}
