//! Any bytes as a distribution of outputs: rejected in one line, or probabilities that are a distribution.

use crate::input::accepted;
use leakbound::distribution::OutcomeDistribution;
use leakbound::record::distribution_from_bytes;

pub fn run(bytes: &[u8]) {
    for name in ["a.csv", "a.json"] {
        let Some(file) = accepted(distribution_from_bytes(name, bytes), name) else { continue };
        assert!(!file.distributions.is_empty());
        for distribution in &file.distributions {
            for side in [&distribution.p, &distribution.q] {
                assert_eq!(distribution.labels.len(), side.len());
                let side = OutcomeDistribution::from_probabilities(side).unwrap_or_else(|error| panic!("{error}"));
                assert!((side.p().iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
        }
    }
}
