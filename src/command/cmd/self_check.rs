//! `leakbound self-check audit counts`.

use super::audit_counts::choose_sets;
use crate::command::args::{Common, SelfCheckOptions};
use crate::command::output::{Output, envelope, progress};
use crate::record::read_counts;
use crate::report::{CheckRow, CheckedQuery, SelfCheckDocument, one_line};
use crate::study::spending::{Beside, Planned, Target, plan_all};
use crate::study::{CountedQuery, FailureNote, Warning};
use crate::{
    CheckCase, CheckRuns, CheckSizes, CheckVerdict, Composition, Error, FailurePer, Guide, MethodCheck, PairedCounts,
    Result, SetSource, self_check,
};
use std::path::{Path, PathBuf};

pub fn run(common: &Common, options: &SelfCheckOptions) -> Result<bool> {
    let audit = &options.audit;
    if !audit.bound.claims.claims().is_empty() {
        return Err(Error::Refused {
            operation: "self-check",
            reason: "it tests the methods and no claims; `leakbound audit counts` tests them".into(),
        });
    }
    let chosen_from = audit.pilot.iter().chain(&audit.law);
    let paths: Vec<&Path> = std::iter::once(&audit.file).chain(chosen_from).map(PathBuf::as_path).collect();
    let output = Output::open(common, &paths)?;
    let file = read_counts(&audit.file)?;
    let mut inputs = vec![file.input.clone()];
    let queries = choose_sets(common, audit, &file, &mut inputs)?;
    let recorded: Vec<&PairedCounts> = file.queries.iter().map(|query| &query.counts).collect();
    let bar = progress(common, 2 * options.repetitions * queries.len() as u64, "audits");
    // The methods and shares of the audit itself: they depend on its pilot and its sizes.
    let targets: Vec<Target> =
        queries.iter().map(|query| Target { counts: &query.counts, guide: &query.guide }).collect();
    let whole = queries.len();
    let beside = Beside { composition: Composition::PerQuery, composed: 0, trade_off: false, whole };
    let (planned, budget) = plan_all(&targets, &audit.bound.bounds(), beside, common.seed)?;
    let (mut checks, mut checked) = (Vec::new(), Vec::new());
    let mut of_case = CheckCase::ALL.map(|_| Vec::new());
    for (place, ((query, recorded), planned)) in queries.iter().zip(recorded).zip(&planned).enumerate() {
        let split = audit.pilot.is_none() && query.guide.sets.source == SetSource::Pilot;
        let sizes = sizes(query, recorded, split);
        let plan = &planned.plan;
        // Queries of one file draw from streams of their own.
        let runs = CheckRuns { repetitions: options.repetitions, seed: common.seed.wrapping_add(place as u64) };
        for (case, all) in CheckCase::ALL.into_iter().zip(&mut of_case) {
            let audit = |drawn: &PairedCounts, pilot: Option<&PairedCounts>| match pilot {
                Some(pilot) => planned.audit(drawn, &Guide::from_pilot(pilot, &plan.orders, &plan.directions)?),
                // A guide that was made without the recorded counts is kept.
                None => planned.audit(drawn, &query.guide),
            };
            // The laws have the outcomes of the audit, which may be more than were recorded.
            let source = if sizes.pilot.is_some() { recorded } else { &query.counts };
            let found = self_check(source, case, sizes, runs, audit, || bar.inc(1))?;
            checks.extend(found.iter().map(|check| CheckRow::new(&query.name, check)));
            all.extend(found);
        }
        checked.push(CheckedQuery { query: query.name.clone(), outcomes: query.counts.outcomes(), sizes });
    }
    bar.finish_and_clear();
    let together = |checks: &Vec<MethodCheck>| {
        let check = MethodCheck::together(checks, budget.stated())?;
        Some(CheckRow::new(if queries.len() > 1 { "all" } else { "" }, &check))
    };
    let together = match budget.per() {
        FailurePer::Answer => of_case.iter().filter_map(together).collect(),
        FailurePer::Query => Vec::new(),
    };
    let document = SelfCheckDocument {
        envelope: envelope("leakbound.self-check/1", common, options, inputs, warnings(&checks)),
        title: format!(
            "Self-check on {} ({} quer{}): {} simulated audits on null and on known data, seed {}",
            one_line(&audit.file.to_string_lossy()),
            queries.len(),
            if queries.len() == 1 { "y" } else { "ies" },
            options.repetitions,
            common.seed
        ),
        failure: FailureNote::new(&budget, planned.iter().any(Planned::has_nominal)),
        queries: checked,
        checks,
        together,
    };
    output.write(&document)?;
    outcome(&document.checks).and_then(|()| outcome(&document.together)).map(|()| false)
}

/// The worst finite-sample method that was wrong too often, as an error.
pub fn outcome(checks: &[CheckRow]) -> Result<()> {
    let broken = checks.iter().filter(|row| row.verdict == CheckVerdict::Broken);
    match broken.max_by(|a, b| a.wrong_share.total_cmp(&b.wrong_share)) {
        None => Ok(()),
        Some(row) => Err(Error::Coverage {
            method: row.method,
            case: row.case.name(),
            wrong: row.wrong,
            repetitions: row.repetitions,
            failure_probability: row.failure_probability,
        }),
    }
}

/// Sizes of the recorded audit; with a pilot split off, those of its two parts.
fn sizes(query: &CountedQuery, recorded: &PairedCounts, split: bool) -> CheckSizes {
    let of = |counts: &PairedCounts| [counts.trials(), counts.trials_neighbor()];
    let (counts, all) = (of(&query.counts), of(recorded));
    CheckSizes { counts, pilot: split.then(|| [all[0] - counts[0], all[1] - counts[1]]) }
}

/// Methods without a finite-sample guarantee that were wrong too often.
pub fn warnings(checks: &[CheckRow]) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = Vec::new();
    let mut named: Vec<&str> = Vec::new();
    for row in checks.iter().filter(|row| row.verdict == CheckVerdict::AboveNominal) {
        if named.contains(&row.method) {
            continue;
        }
        named.push(row.method);
        let worst = checks
            .iter()
            .filter(|other| other.method == row.method && other.verdict == CheckVerdict::AboveNominal)
            .fold(row, |worst, other| if other.wrong_share > worst.wrong_share { other } else { worst });
        warnings.push(Warning {
            code: "above-nominal",
            message: format!(
                "{} ({}) was wrong in {:.1} % of {} audits of {} data; its nominal probability is {}",
                worst.method,
                worst.validity,
                100.0 * worst.wrong_share,
                worst.repetitions,
                worst.case.name(),
                worst.failure_probability
            ),
            hint: "use a finite-sample method for data of this size".into(),
        });
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MethodCheck, Validity};

    fn row(validity: Validity, wrong: u64) -> CheckRow {
        let check = MethodCheck {
            case: CheckCase::Null,
            method: "bootstrap-two-cut",
            validity,
            failure_probability: 0.05,
            repetitions: 1_000,
            wrong,
            wrong_in: (0..wrong).collect(),
            tightness: Vec::new(),
        };
        CheckRow::new("", &check)
    }

    /// 5 % and three standard errors of 1,000 audits are 70.7.
    #[test]
    fn a_finite_sample_method_must_keep_its_word_and_a_heuristic_is_warned_about() {
        assert!(outcome(&[row(Validity::FiniteSample, 70), row(Validity::Heuristic, 900)]).is_ok());
        assert!(warnings(&[row(Validity::FiniteSample, 71)]).is_empty());
        let warned = warnings(&[row(Validity::Heuristic, 300), row(Validity::Heuristic, 900)]);
        assert_eq!(warned.len(), 1);
        insta::assert_snapshot!(warned[0].message, @"bootstrap-two-cut (heuristic) was wrong in 90.0 % of 1000 audits of null data; its nominal probability is 0.05");
        let error = outcome(&[row(Validity::FiniteSample, 71), row(Validity::FiniteSample, 90)]).unwrap_err();
        insta::assert_snapshot!(error.to_string(), @"self-check failed: bootstrap-two-cut was wrong in 90 of 1000 audits of null data, above its failure probability 0.05 by more than three standard errors");
    }
}
