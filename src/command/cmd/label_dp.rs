//! `leakbound label-dp memorization`: ε of label privacy from memorized wrong labels.

use crate::command::args::{Common, MemorizationOptions};
use crate::command::output::{Output, envelope};
use crate::record::read_label_canaries;
use crate::report::{LabelBoundRow, LabelDocument};
use crate::study::{Claim, Number, Warning, short};
use crate::{AntipodesInterval, LabelThreshold, Result, Validity, audit_labels};

/// The published interval is one of 95 %.
const NOMINAL: f64 = 0.05;

pub fn run(common: &Common, options: &MemorizationOptions) -> Result<bool> {
    let output = Output::open(common, &[&options.file])?;
    let (canaries, input) = read_label_canaries(&options.file, common.memory())?;
    let (threshold, selection) = match options.threshold {
        Some(threshold) => (LabelThreshold::Declared(threshold), "declared"),
        None => (LabelThreshold::Split, "split"),
    };
    let audit = audit_labels(&canaries, threshold, options.delta, options.failure_probability, common.seed)?;
    let published = AntipodesInterval::of_canaries(&canaries)?;
    let valid = LabelBoundRow {
        method: audit.epsilon.method,
        selection,
        threshold: Some(audit.threshold),
        delta: options.delta.get(),
        canaries: audit.canaries,
        guesses: Some(audit.guesses.map_or(0, |guesses| guesses.trials())),
        right: Some(audit.guesses.map_or(0, |guesses| guesses.successes())),
        epsilon_lower: Number(audit.epsilon.value),
        epsilon_upper: None,
        failure_probability: audit.epsilon.failure_probability.get(),
        validity: audit.epsilon.validity,
    };
    let heuristic = LabelBoundRow {
        method: "antipodes",
        selection: "best of 7",
        threshold: published.threshold,
        delta: 0.0,
        canaries: canaries.len() as u64,
        guesses: None,
        right: None,
        epsilon_lower: Number(published.lower),
        epsilon_upper: Some(Number(published.upper)),
        failure_probability: NOMINAL,
        validity: Validity::Heuristic,
    };
    let claims: Vec<Claim> = options
        .claim_epsilon
        .map(|epsilon| Claim {
            claim: format!("ε ≤ {} at δ = {}", short(epsilon.get()), short(options.delta.get())),
            lower: Number(audit.epsilon.value),
            query: String::new(),
            refuted: audit.epsilon.value > epsilon.get(),
            failure_probability: options.failure_probability.get(),
        })
        .into_iter()
        .collect();
    let warning = Warning {
        code: "antipodes-heuristic",
        message: "the published interval takes the best of seven thresholds on the same canaries and a normal law"
            .into(),
        hint: "what is certain is the row label-guesses".into(),
    };
    let document = LabelDocument {
        envelope: envelope("leakbound.label-dp-memorization/1", common, options, vec![input], vec![warning]),
        title: format!("{} canaries with wrong labels, {} classes", canaries.len(), canaries.classes()),
        canaries: canaries.len() as u64,
        classes: canaries.classes(),
        epsilon: vec![valid, heuristic],
        claims,
    };
    let refuted = document.claims.iter().any(|claim| claim.refuted);
    output.write(&document)?;
    Ok(refuted)
}
