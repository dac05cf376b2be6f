//! `leakbound audit counts`.

use crate::args::{BoundOptions, Common, CountsOptions};
use crate::output::{Output, envelope};
use leakbound::record::{CountsFile, InputFile, RecordedCounts, RecordedLaw, read_counts, read_law};
use leakbound::report::{BoundRow, CountsDocument, Envelope, EpsilonRow, Number, SetRow, Warning, one_line};
use leakbound::{
    AuditPlan, Error, InputError, OutcomeLaw, OutputSets, PairedCounts, QueryAudit, Result, SetSource, audit_counts,
    rectangles, split_pilot,
};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The counts of one query with the output sets chosen for them.
pub struct AuditedQuery {
    pub name: String,
    pub counts: PairedCounts,
    pub sets: OutputSets,
}

pub fn run(common: &Common, options: &CountsOptions) -> Result<bool> {
    let chosen_from = options.pilot.iter().chain(&options.law);
    let inputs: Vec<&Path> = std::iter::once(&options.file).chain(chosen_from).map(PathBuf::as_path).collect();
    let output = Output::open(common, &inputs)?;
    let file = read_counts(&options.file)?;
    let mut inputs = vec![file.input.clone()];
    let queries = choose_sets(common, options, &file, &mut inputs)?;
    let mut warnings = Vec::new();
    if queries.iter().any(|query| query.sets.source == SetSource::FixedList && query.sets.sets.len() > 1) {
        let most = queries.iter().map(|query| query.sets.sets.len()).max().unwrap_or(0);
        warnings.push(Warning {
            code: "fixed-list",
            message: format!("without a pilot or a law each of {most} outcomes is an output set of its own"),
            hint: "sharper bounds: --pilot-fraction 0.1, --pilot FILE or --law FILE".into(),
        });
    }
    let title = format!(
        "Audit of {} ({} quer{}); forward is D(P‖Q) with P the column count",
        one_line(&options.file.to_string_lossy()),
        queries.len(),
        if queries.len() == 1 { "y" } else { "ies" }
    );
    let envelope = envelope("leakbound.audit-counts/1", common, options, inputs, warnings);
    finish(output, envelope, title, queries, &options.bound)
}

/// Audits the queries, tests the claims and writes the document.
pub fn finish(
    output: Output,
    envelope: Envelope,
    title: String,
    queries: Vec<AuditedQuery>,
    options: &BoundOptions,
) -> Result<bool> {
    let plan = plan(options);
    let mut document = CountsDocument {
        envelope,
        title,
        bounds: Vec::new(),
        epsilon: Vec::new(),
        output_sets: Vec::new(),
        claims: Vec::new(),
    };
    for query in &queries {
        let audit = audit_counts(&query.counts, &query.sets, &plan)?;
        document.bounds.extend(bound_rows(&query.name, &audit));
        document.epsilon.extend(epsilon_rows(&query.name, &audit));
        document.output_sets.extend(query.sets.sets.iter().map(|set| SetRow {
            query: query.name.clone(),
            source: query.sets.source.to_string(),
            outcomes: set.members().into_iter().map(|member| query.counts.labels()[member].clone()).collect(),
            directed: query.sets.directed,
        }));
    }
    document.claims = claims(&queries, options)?;
    output.write(&document)?;
    Ok(document.claims.iter().any(|claim| claim.refuted))
}

/// Claims are tested on rectangles that hold for all queries at once.
pub fn claims(queries: &[AuditedQuery], options: &BoundOptions) -> Result<Vec<leakbound::report::Claim>> {
    if options.claims.is_empty() {
        return Ok(Vec::new());
    }
    let share = options.failure_probability.split(queries.len());
    let evidence = queries
        .iter()
        .map(|query| Ok((query.name.clone(), rectangles(&query.counts, &query.sets, share)?)))
        .collect::<Result<Vec<_>>>()?;
    Ok(options.claims.test_rectangles(&evidence, options.failure_probability))
}

pub fn plan(options: &BoundOptions) -> AuditPlan {
    AuditPlan {
        orders: options.orders.0.clone(),
        delta: options.claims.delta,
        failure: options.failure_probability,
        methods: options.methods.0.clone(),
        directions: options.direction.list(),
    }
}

pub fn bound_rows(query: &str, audit: &QueryAudit) -> Vec<BoundRow> {
    let row = |row: &leakbound::RdpBound| BoundRow {
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
    let row = |row: &leakbound::EpsilonBound| EpsilonRow {
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
    let orders = &options.bound.orders.0;
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
            Ok((counts.clone(), OutputSets::from_pilot(&aligned, orders)?))
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
            Ok((all, OutputSets::from_laws(&p, &q, orders, SetSource::ExactLaw)?))
        });
    }
    if let Some(fraction) = options.pilot_fraction {
        let mut seed = common.seed;
        return each_query(file, |_, counts| {
            let (pilot, rest) = split_pilot(counts, fraction, seed)?;
            seed = seed.wrapping_add(1);
            Ok((rest, OutputSets::from_pilot(&pilot, orders)?))
        });
    }
    each_query(file, |_, counts| Ok((counts.clone(), OutputSets::fixed_list(counts.outcomes()))))
}

fn each_query(
    file: &CountsFile,
    mut choose: impl FnMut(Option<&str>, &PairedCounts) -> Result<(PairedCounts, OutputSets)>,
) -> Result<Vec<AuditedQuery>> {
    file.queries
        .iter()
        .map(|query| {
            let (counts, sets) = choose(query.query.as_deref(), &query.counts)?;
            Ok(AuditedQuery { name: query.query.clone().unwrap_or_default(), counts, sets })
        })
        .collect()
}

/// Where each of `wanted` stands among `given`; every one of `given` must be wanted.
fn positions(path: &Path, query: Option<&str>, given: &[String], wanted: &[String]) -> Result<Vec<Option<usize>>> {
    let at: HashMap<&str, usize> = given.iter().enumerate().map(|(index, label)| (label.as_str(), index)).collect();
    let position: Vec<Option<usize>> = wanted.iter().map(|label| at.get(label.as_str()).copied()).collect();
    if let Some(label) = given.iter().find(|label| !wanted.contains(label)) {
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
