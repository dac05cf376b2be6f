//! Any bytes as a distribution of outputs: rejected in one line, or probabilities that are a distribution.

use crate::input::rejected;
use leakbound::distribution::OutcomeDistribution;
use leakbound::record::distribution_from_bytes;

pub fn run(bytes: &[u8]) {
    for name in ["a.csv", "a.json"] {
        match distribution_from_bytes(name, bytes) {
            Ok(file) => {
                assert!(!file.distributions.is_empty());
                for distribution in &file.distributions {
                    assert!(
                        distribution.labels.len() == distribution.p.len()
                            && distribution.labels.len() == distribution.q.len()
                    );
                    for side in [&distribution.p, &distribution.q] {
                        let distribution =
                            OutcomeDistribution::from_probabilities(side).unwrap_or_else(|error| panic!("{error}"));
                        assert!((distribution.p().iter().sum::<f64>() - 1.0).abs() < 1e-12);
                    }
                }
            }
            Err(error) => rejected(&error, name),
        }
    }
}
