//! `leakbound audit scores`: bounds from the scores of an attack on canaries.

use crate::command::args::{Common, ScoreSource, ScoresOptions};
use crate::command::output::{Output, envelope};
use crate::record::{InputFile, MemoryBudget, read_score_arrays, read_scores};
use crate::report::{FalseClaimRow, OneRunRow, RatePoint, ScoreBoundRow, ScoresDocument};
use crate::study::{Claim, Number, Warning, short, significant};
use crate::{
    CanaryScores, Direction, Error, GuessSelection, LowerBound, Result, ScoreEvidence, ThresholdSelection, Validity,
    audit_one_run, audit_scores, best_threshold_false_claims, gdp_epsilon,
};
use std::path::Path;

/// Canaries of all simulated audits of the naive practice together: a second or less.
const SIMULATED_CANARIES: u64 = 4_000_000;

pub fn run(common: &Common, options: &ScoresOptions) -> Result<bool> {
    let paths: Vec<&Path> = [&options.source.file, &options.source.members, &options.source.non_members]
        .into_iter()
        .flatten()
        .map(|path| &**path)
        .collect();
    let output = Output::open(common, &paths)?;
    let (scores, inputs) = read(&options.source, common.memory())?;
    let scores = if options.flip { scores.flipped()? } else { scores };
    let mut document = ScoresDocument {
        envelope: envelope("leakbound.audit-scores/1", common, options, inputs, Vec::new()),
        title: title(options, &scores),
        members: scores.members().len() as u64,
        non_members: scores.others().len() as u64,
        epsilon: Vec::new(),
        mu: Vec::new(),
        epsilon_of_mu: Vec::new(),
        delta: Vec::new(),
        one_run: None,
        rates: Vec::new(),
        roc: roc(&scores),
        false_claims: None,
        claims: Vec::new(),
    };
    if options.one_run {
        one_run(common, options, &scores, &mut document)?;
    } else {
        thresholds(common, options, &scores, &mut document)?;
    }
    document.claims = claims(options, &document)?;
    let refuted = document.claims.iter().any(|claim| claim.refuted);
    output.write(&document)?;
    Ok(refuted)
}

/// The scores of the command line.
pub fn read(source: &ScoreSource, memory: MemoryBudget) -> Result<(CanaryScores, Vec<InputFile>)> {
    if let (Some(members), Some(others)) = (&source.members, &source.non_members) {
        let (scores, inputs) = read_score_arrays(members, others, memory)?;
        return Ok((scores, inputs.to_vec()));
    }
    let Some(file) = &source.file else {
        return Err(Error::Refused { operation: "audit scores", reason: "no scores are named".into() });
    };
    let (scores, input) = read_scores(file, memory)?;
    Ok((scores, vec![input]))
}

fn title(options: &ScoresOptions, scores: &CanaryScores) -> String {
    let assumed = if options.one_run {
        "Canaries of one training run, each in or out by a fair coin of its own"
    } else {
        "Scores of members and of non-members are taken for independent draws; for canaries of one run there is --one-run"
    };
    format!(
        "Scores of {} members and {} non-members, {} scores meaning members; forward is members against others\n{assumed}",
        scores.members().len(),
        scores.others().len(),
        if options.flip { "low" } else { "high" },
    )
}

/// The recorded curve, all its vertices and at most some hundreds of points between them.
fn roc(scores: &CanaryScores) -> Vec<[f64; 2]> {
    let sizes = [scores.others().len() as f64, scores.members().len() as f64];
    let corners = scores.corners();
    let step = corners.len().div_ceil(400).max(1);
    let mut points: Vec<[f64; 2]> = corners
        .iter()
        .step_by(step)
        .chain(&scores.roc().hull())
        .map(|point| [point.false_positives as f64 / sizes[0], point.true_positives as f64 / sizes[1]])
        .collect();
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    points.dedup();
    points
}

fn row(bound: &LowerBound, selection: &'static str) -> ScoreBoundRow {
    ScoreBoundRow {
        method: bound.method,
        selection,
        direction: None,
        delta: None,
        epsilon: None,
        threshold: None,
        lower: Number(bound.value),
        failure_probability: bound.failure_probability.get(),
        validity: bound.validity,
    }
}

fn thresholds(
    common: &Common,
    options: &ScoresOptions,
    scores: &CanaryScores,
    document: &mut ScoresDocument,
) -> Result<()> {
    let selection = options.threshold_selection();
    let (delta, name) = (options.delta, selection.name());
    let evidence = audit_scores(scores, selection, delta, options.failure_probability, common.seed)?;
    // Of many splits the median is shown, and no one threshold.
    let shown = |threshold: Option<f64>| threshold.map(Number);
    for direction in Direction::BOTH {
        let bound = row(&evidence.epsilon(delta, direction), name);
        let threshold = shown(evidence.epsilon_threshold(delta, direction));
        document.epsilon.push(ScoreBoundRow {
            direction: Some(direction),
            delta: Some(delta.get()),
            threshold,
            ..bound
        });
        for &epsilon in &options.epsilons {
            let bound = row(&evidence.delta(epsilon, direction), name);
            document.delta.push(ScoreBoundRow { direction: Some(direction), epsilon: Some(epsilon.get()), ..bound });
        }
    }
    let threshold = shown(evidence.gdp_threshold());
    let [mu, implied] = evidence.gdp_epsilon(delta)?;
    document.mu.push(ScoreBoundRow { threshold, ..row(&mu, name) });
    document.epsilon_of_mu.push(ScoreBoundRow { threshold, delta: Some(delta.get()), ..row(&implied, name) });
    document.rates = rates(&evidence);
    if selection == ThresholdSelection::Naive {
        naive(common, options, scores, document)?;
    }
    let found = document.epsilon.iter().any(|row| row.lower.0 > 0.0);
    let upside_down = !found && turned_round(scores);
    if upside_down {
        document.envelope.warnings.push(Warning {
            code: "direction-contradicted",
            message: "members have lower scores than non-members".into(),
            hint: "if low scores mean members, add --flip; decide before looking at the scores".into(),
        });
    }
    Ok(())
}

/// Whether members have lower scores than others more often than not: the median member against the median of others.
fn turned_round(scores: &CanaryScores) -> bool {
    scores.members()[scores.members().len() / 2] < scores.others()[scores.others().len() / 2]
}

fn rates(evidence: &ScoreEvidence) -> Vec<RatePoint> {
    let point = |(point, rectangle): &(crate::RocPoint, crate::Rectangle)| RatePoint {
        threshold: Number(point.cut()),
        true_positives: point.true_positives,
        false_positives: point.false_positives,
        tpr_lower: Number(rectangle.inside()[0].value),
        fpr_upper: Number(rectangle.inside_neighbor()[1].value),
    };
    evidence.points().iter().map(point).collect()
}

fn naive(common: &Common, options: &ScoresOptions, scores: &CanaryScores, document: &mut ScoresDocument) -> Result<()> {
    let sizes = [scores.members().len(), scores.others().len()];
    let repetitions = (SIMULATED_CANARIES / (sizes[0] + sizes[1]) as u64).clamp(5, 2_000);
    let failure = options.failure_probability;
    let measured = best_threshold_false_claims(sizes, options.delta, failure, repetitions, common.seed)?;
    document.envelope.warnings.push(Warning {
        code: "naive-selection",
        message: format!(
            "the best threshold on the same scores claims ε > 0 in {} % of {repetitions} simulated audits of as many \
             canaries without any leakage; {} % would be allowed",
            significant(100.0 * measured.rate(), 3),
            short(100.0 * failure.get()),
        ),
        hint: "use --selection split, multi-split or uniform, or declare a --threshold before looking".into(),
    });
    document.false_claims =
        Some(FalseClaimRow { claims: measured.claims, repetitions: measured.repetitions, rate: measured.rate() });
    Ok(())
}

fn one_run(
    common: &Common,
    options: &ScoresOptions,
    scores: &CanaryScores,
    document: &mut ScoresDocument,
) -> Result<()> {
    let selection = options.guess_selection();
    let audit = audit_one_run(scores, selection, options.delta, options.failure_probability, common.seed)?;
    let (name, delta) = (selection.name(), Some(options.delta.get()));
    document.epsilon.push(ScoreBoundRow { delta, ..row(&audit.epsilon, name) });
    document.mu.push(row(&audit.mu, name));
    let implied = LowerBound {
        value: gdp_epsilon(audit.mu.value, options.delta)?.get() * (1.0 - 1e-9),
        validity: Validity::Heuristic,
        ..audit.mu
    };
    document.epsilon_of_mu.push(ScoreBoundRow { delta, ..row(&implied, name) });
    document.one_run = Some(OneRunRow {
        selection: name,
        canaries: audit.canaries,
        guessed_members: audit.guesses.members,
        guessed_non_members: audit.guesses.others,
        right: audit.right.successes(),
    });
    if selection == GuessSelection::Naive {
        document.envelope.warnings.push(Warning {
            code: "naive-selection",
            message: "the best numbers of guesses on the same coins: claims of leakage where there is none are more \
                      frequent than the failure probability"
                .into(),
            hint: "use --guess-selection split or paid-for, or declare --guesses before looking".into(),
        });
    }
    Ok(())
}

/// Claims against the bounds printed, which hold at once.
fn claims(options: &ScoresOptions, document: &ScoresDocument) -> Result<Vec<Claim>> {
    let largest = |rows: &[ScoreBoundRow]| rows.iter().map(|row| row.lower.0).fold(0.0, f64::max);
    let claimed = [
        options.claim_epsilon.map(|epsilon| {
            let words = format!("ε ≤ {} at δ = {}", short(epsilon.get()), short(options.delta.get()));
            (words, epsilon.get(), largest(&document.epsilon))
        }),
        options.claim_mu.map(|mu| (format!("μ ≤ {}", short(mu)), mu, largest(&document.mu))),
    ];
    let guaranteed = document.epsilon.iter().all(|row| row.validity == Validity::FiniteSample);
    let claims: Vec<_> = claimed.into_iter().flatten().collect();
    if !claims.is_empty() && !guaranteed {
        return Err(Error::Refused {
            operation: "test of a claim",
            reason: "naive selection guarantees nothing and refutes nothing; choose another".into(),
        });
    }
    let failure_probability = options.failure_probability.get();
    let claim = |(claim, value, lower): (String, f64, f64)| Claim {
        claim,
        lower: Number(lower),
        query: String::new(),
        refuted: lower > value,
        failure_probability,
    };
    Ok(claims.into_iter().map(claim).collect())
}
