//! Small versions of experiments of the validation package.

use leakbound::audit::Method;
use leakbound::bound::Validity;
use leakbound::quantity::Delta;
use leakbound_validation::coverage::{CASES, allowed, simulate};
use leakbound_validation::experiment::Verdict;
use leakbound_validation::false_claims::{FAILURE, Scores, measure};
use leakbound_validation::ladder::{COLUMNS, PRINTED, agrees, fractions};
use leakbound_validation::registry::{GATE, check};

/// Coverage of every bound on a few cases: a method that is wrong in exactly 5 % of its audits would miss the limit of
/// three standard errors with probability 0.0013; the seed is fixed: the test gives the same figures on every machine with
/// the same sampler.
#[test]
fn no_bound_exceeds_the_truth_more_often_than_it_says() {
    const AUDITS: u64 = 1000;
    let valid: Vec<Method> =
        Method::ALL.into_iter().filter(|method| method.validity() == Validity::FiniteSample).collect();
    for case in ["P = Q, C = 5, n 1e3", "figure 6, n 1e3", "rare class, n 1e4"] {
        let case = CASES.iter().find(|known| known.name() == case).expect("a known case");
        for row in simulate(case, &valid, AUDITS).unwrap() {
            println!("{}: {row:?}", case.name());
            assert!(row.wrong as f64 <= allowed(AUDITS), "{}: {row:?}", case.name());
        }
    }
}

/// 60 audits of 1,000 canaries without leakage. With a rate of at most 5 % more than 13 of 60 are wrong with
/// probability 5e-6 for each of 14 bounds.
#[test]
fn noise_is_rarely_taken_for_leakage() {
    assert_eq!(FAILURE, 0.05);
    let rows = measure(Scores::Normal(0.0), Delta::new(0.0).unwrap(), [0.0, 0.0], 60, true).unwrap();
    for row in &rows {
        println!("{} {}: {} of 60", row.name, row.quantity, row.wrong);
    }
    assert!(rows.len() >= 12 && rows.iter().all(|row| row.valid && row.wrong <= 13));
}

/// The 2-cut ladder: the fractions of the true divergence that the corner and the termwise bound certify.
#[test]
fn the_certified_fractions_are_the_printed_ones() {
    for (n, printed) in PRINTED {
        let found = fractions(n).unwrap();
        println!("n = {n}: {COLUMNS:?} {found:?}");
        assert!(agrees(&found, &printed), "n = {n}: found {found:?}, printed {printed:?}");
    }
}

/// No command prints a number that its label does not cover.
#[test]
fn every_printed_bound_covers_the_exact_value_of_its_direction() {
    let report = check(GATE);
    report.lines.iter().for_each(|line| println!("{line}"));
    assert_eq!(report.verdict, Verdict::Pass);
}
