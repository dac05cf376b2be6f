//! The verifier on accountants that are right, wrong, and other people's.

use crate::experiment::Report;
use leakbound::mechanism::{
    DISCRETE_GAUSSIAN, DISCRETE_LAPLACE, EXPONENTIAL, GAUSSIAN, GNMAX, LAPLACE, MechanismKind, PERMUTE_AND_FLIP,
    RANDOMIZED_RESPONSE, SUBSAMPLED_GAUSSIAN, SUBSAMPLED_GAUSSIAN_REPLACE,
};
use leakbound::program::{Limits, never_stop};
use leakbound::verify::{
    Accountant, ClaimScope, ExternalAccountant, ExternalOptions, Outcome, Plan, Problem, Property, PropertyFinding,
    PropertyKind, PropertyVerdict, accountant_names, accountant_of_name, broken, verify,
};
use std::path::Path;
use std::time::{Duration, Instant};

/// At least so many cases of each accountant of this library.
const CASES: u64 = 100_000;
/// Cases of each property in a round: of claims against exact distributions as many as there is time for, and of claims
/// against each other, which cost little but for the worst case, where each is a search. Rounds with further seeds
/// follow until there are enough cases: where a case takes a millisecond one is enough, where it takes 100 there are
/// dozens.
const CASES_AGAINST_DISTRIBUTIONS: u64 = 100_000;
const TIME_AGAINST_DISTRIBUTIONS: Duration = Duration::from_secs(20);
const CASES_OF_STRUCTURE: u64 = 20_000;
const TIME_OF_STRUCTURE: Duration = Duration::from_secs(10);
const MOST_ROUNDS: u64 = 100;
/// The time within which a wrong accountant must be refuted, its smallest counterexample included.
const TIME_OF_WRONG: Duration = Duration::from_secs(5);
/// Cases of each property of a wrong accountant, and the time for all, where it is not refuted.
const CASES_OF_WRONG: u64 = 2_000;
const TIME_OF_CONSERVATIVE: Duration = Duration::from_secs(60);
/// Cases of each property of other libraries, the time for each property, and for an answer. What takes the time is the
/// answers: milliseconds for a Rényi divergence, tenths of a second for a conversion over many orders, and for
/// discretised losses a second to a minute, the more the smaller the noise.
const CASES_OF_OTHERS: u64 = 300;
const TIME_OF_OTHERS: Duration = Duration::from_secs(300);
const ANSWER_TIME: Duration = Duration::from_secs(60);
const SEED: u64 = 20_261_121;

/// Runs all three.
pub fn report() -> Report {
    let mut report = Report::new(format!(
        "leakbound verify, seed {SEED} and those after it: accountants of this library on at least {CASES} cases each, none refuted; \
         accountants that are wrong on purpose, every invalid one refuted within {} s",
        TIME_OF_WRONG.as_secs()
    ));
    right(&mut report);
    wrong(&mut report);
    report
}

/// What is found about accountants of other libraries, where they are installed.
pub fn report_of_others() -> Report {
    let mut report = Report::new(format!(
        "leakbound verify, seed {SEED}: accountants of other libraries, {CASES_OF_OTHERS} cases of each property that applies \
         within {} s, {} s for an answer, as found",
        TIME_OF_OTHERS.as_secs(),
        ANSWER_TIME.as_secs()
    ));
    others(&mut report);
    report
}

fn right(report: &mut Report) {
    let mut total = 0;
    for name in accountant_names().iter().filter(|name| !name.starts_with("broken:")) {
        let Ok(accountant) = accountant_of_name(name) else { continue };
        let start = Instant::now();
        let (mut cases, mut against_distributions, mut close) = (0, 0, None::<f64>);
        let mut rounds = Vec::new();
        for seed in (SEED..).take(MOST_ROUNDS as usize) {
            let [validity, structure] = round(&*accountant, seed);
            for finding in validity.findings.iter().chain(&structure.findings) {
                cases += finding.cases;
                let validity = finding.property.kind == PropertyKind::Validity;
                against_distributions += if validity { finding.cases } else { 0 };
                if finding.property.name == "rdp-covers-exact" {
                    close = finding.largest_share.map(|share| close.map_or(share, |close| close.max(share))).or(close);
                }
            }
            rounds.extend([validity, structure]);
            if cases >= CASES || rounds.iter().any(Outcome::refuted) {
                break;
            }
        }
        total += cases;
        let (seconds, refuted) = (start.elapsed().as_secs_f64(), rounds.iter().any(Outcome::refuted));
        let close = close.map_or_else(|| "none".into(), |share| format!("{share:.6}"));
        let line = format!(
            "{name}: {} in {cases} cases, {against_distributions} of them against exact distributions, {seconds:.0} s; largest exact/claimed Rényi divergence {close}",
            if refuted { "refuted" } else { "not refuted" }
        );
        report.claim(!refuted && cases >= CASES, line);
        rounds.iter().for_each(|outcome| refutations(report, outcome, ""));
    }
    report.line(format!("{total} cases in all"));
}

/// Claims against exact distributions, and against each other.
fn round(accountant: &dyn Accountant, seed: u64) -> [Outcome; 2] {
    let of_kind = |kind: PropertyKind, cases: u64, time_limit: Duration| {
        let properties = of_kind(accountant, kind);
        let plan = Plan { properties, cases, seed, time_limit: Some(time_limit), ..Plan::default() };
        verify(accountant, &plan, &never_stop)
    };
    [
        of_kind(PropertyKind::Validity, CASES_AGAINST_DISTRIBUTIONS, TIME_AGAINST_DISTRIBUTIONS),
        of_kind(PropertyKind::Structure, CASES_OF_STRUCTURE, TIME_OF_STRUCTURE),
    ]
}

fn of_kind(accountant: &dyn Accountant, kind: PropertyKind) -> Vec<&'static Property> {
    let mut properties = Plan::default().properties_of(accountant);
    properties.retain(|property| property.kind == kind);
    properties
}

fn wrong(report: &mut Report) {
    for control in broken::CONTROLS {
        let Some(accountant) = broken::accountant(control.name) else { continue };
        let time_limit = Some(if control.invalid { TIME_OF_WRONG } else { TIME_OF_CONSERVATIVE });
        let properties = of_kind(&*accountant, PropertyKind::Validity);
        let plan = Plan { properties, cases: CASES_OF_WRONG, seed: SEED, time_limit, ..Plan::default() };
        let start = Instant::now();
        let outcome = verify(&*accountant, &plan, &never_stop);
        let time = start.elapsed();
        let verdict = if outcome.invalid() { "refuted" } else { "not refuted" };
        let line = format!("broken:{}: {verdict} in {:.2} s: {}", control.name, time.as_secs_f64(), control.mistake);
        report.claim(outcome.invalid() == control.invalid, line);
        let largest = outcome.of("rdp-covers-exact").and_then(|finding| finding.largest_share);
        match (control.invalid, largest) {
            (false, Some(share)) => {
                report.line(format!("      its claim is at least {:.4} times the truth", 1.0 / share))
            }
            _ => refutations(report, &outcome, ""),
        }
    }
}

/// The smallest counterexamples, a line each, with what repeats them.
fn refutations(report: &mut Report, outcome: &Outcome, command: &str) {
    for finding in &outcome.findings {
        let PropertyVerdict::Refuted(found) = &finding.verdict else { continue };
        let case = found.case.json();
        match &found.problem {
            Problem::Violation(violation) => report.line(format!(
                "      {}: claim {:e}, exact {:e}: {case}",
                finding.property.name, violation.claim, violation.limit
            )),
            Problem::Fault(fault) => report.line(format!("      {}: {}: {case}", finding.property.name, fault.kind)),
        }
        if !command.is_empty() {
            report.line(format!("        {command} --property {} --case '{case}'", finding.property.name));
        }
    }
}

/// Scripts, their arguments and what they are asked.
const OTHERS: [(&str, &str, &[&MechanismKind]); 4] = [
    ("dp_accounting_adapter.py", "", &[GAUSSIAN, LAPLACE, SUBSAMPLED_GAUSSIAN, RANDOMIZED_RESPONSE]),
    (
        "dp_accounting_adapter.py",
        " --pld",
        &[GAUSSIAN, LAPLACE, DISCRETE_LAPLACE, SUBSAMPLED_GAUSSIAN, SUBSAMPLED_GAUSSIAN_REPLACE, RANDOMIZED_RESPONSE],
    ),
    ("autodp_adapter.py", "", &[GAUSSIAN, LAPLACE, SUBSAMPLED_GAUSSIAN, GNMAX]),
    (
        "opendp_adapter.py",
        "",
        &[GAUSSIAN, LAPLACE, DISCRETE_GAUSSIAN, DISCRETE_LAPLACE, RANDOMIZED_RESPONSE, EXPONENTIAL, PERMUTE_AND_FLIP],
    ),
];

fn others(report: &mut Report) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let python = root.join("target/adapters/bin/python");
    if !python.exists() {
        report.line("other libraries: none is installed in target/adapters (validation/adapters/README.md says how)");
        return;
    }
    for (script, argument, mechanisms) in OTHERS {
        let words = [python.display().to_string(), root.join("validation/adapters").join(script).display().to_string()];
        // The same as a reader would write it in the root of the repository.
        let shown = format!("target/adapters/bin/python validation/adapters/{script}{argument}");
        let quote = |word: &String| format!("'{}'", word.replace('\'', "'\\''"));
        let command = words.iter().map(quote).collect::<Vec<_>>().join(" ") + argument;
        let options = ExternalOptions {
            scope: ClaimScope::DataIndependent,
            mechanisms: mechanisms.to_vec(),
            limits: Limits { answer_time: ANSWER_TIME, ..Limits::default() },
        };
        match ExternalAccountant::new(&command, options) {
            Err(error) => report.line(format!("{shown}: {error}")),
            Ok(accountant) => other(report, &accountant, &shown),
        }
    }
}

fn other(report: &mut Report, accountant: &dyn Accountant, shown: &str) {
    report.line(shown);
    let mut outcome = Outcome { accountant: accountant.name(), scope: accountant.scope(), findings: Vec::new() };
    // Each with a time of its own: what one takes is not taken from the others.
    for property in Property::applicable(accountant.scope()) {
        let (properties, time_limit) = (vec![property], Some(TIME_OF_OTHERS));
        let plan = Plan { properties, cases: CASES_OF_OTHERS, seed: SEED, time_limit, ..Plan::default() };
        outcome.findings.extend(verify(accountant, &plan, &never_stop).findings);
    }
    outcome.findings.retain(|finding| finding.cases + finding.declined > 0);
    for finding in &outcome.findings {
        report.line(format!("      {}", line(finding)));
    }
    refutations(report, &outcome, &format!("leakbound verify --program '{shown}' --scope data-independent"));
}

fn line(finding: &PropertyFinding) -> String {
    let verdict = match finding.verdict {
        PropertyVerdict::Refuted(_) => "does not hold",
        PropertyVerdict::NotRefuted => "not refuted",
        PropertyVerdict::NotTested => "not tested",
    };
    let time = if finding.out_of_time { ", until the time was over" } else { "" };
    let (cases, declined, seconds) = (finding.cases, finding.declined, finding.elapsed.as_secs_f64());
    format!("{}: {verdict} in {cases} cases, {declined} declined, {seconds:.1} s{time}", finding.property.name)
}
