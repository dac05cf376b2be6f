//! No command prints a number that its label does not cover.

use leakbound_validation::experiment::Verdict;
use leakbound_validation::registry::{GATE, check};

#[test]
fn every_printed_bound_covers_the_exact_value_of_its_direction() {
    let report = check(GATE);
    report.lines.iter().for_each(|line| println!("{line}"));
    assert_eq!(report.verdict, Verdict::Pass);
}
