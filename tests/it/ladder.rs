//! The 2-cut ladder: the fractions of the true divergence that the corner and the termwise bound certify.

use leakbound_validation::ladder::{COLUMNS, PRINTED, agrees, fractions};

#[test]
fn the_certified_fractions_are_the_printed_ones() {
    for (n, printed) in PRINTED {
        let found = fractions(n).unwrap();
        println!("n = {n}: {COLUMNS:?} {found:?}");
        assert!(agrees(&found, &printed), "n = {n}: found {found:?}, printed {printed:?}");
    }
}
