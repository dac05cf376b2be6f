//! Any bytes as a law of outputs: refused in one line, or probabilities that are a law.
#![no_main]

use leakbound::law::OutcomeLaw;
use leakbound::record::law_from_bytes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for name in ["a.csv", "a.json"] {
        match law_from_bytes(name, bytes) {
            Ok(file) => {
                assert!(!file.laws.is_empty());
                for law in &file.laws {
                    assert!(law.labels.len() == law.p.len() && law.labels.len() == law.q.len());
                    for side in [&law.p, &law.q] {
                        let law = OutcomeLaw::from_probabilities(side).unwrap_or_else(|error| panic!("{error}"));
                        assert!((law.p().iter().sum::<f64>() - 1.0).abs() < 1e-12);
                    }
                }
            }
            Err(error) => {
                let text = error.to_string();
                assert!(text.starts_with(name) && !text.contains(char::is_control), "{text:?}");
            }
        }
    }
});
