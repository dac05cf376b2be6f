//! Noise is taken for leakage no more often than the failure probability says: a small version of the experiment
//! `false-claims`.

use leakbound::quantity::Delta;
use leakbound_validation::false_claims::{FAILURE, Scores, measure};

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
