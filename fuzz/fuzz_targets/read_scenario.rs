//! Any bytes as a scenario: rejected in one line, or queries whose identity and outcomes can be told.
#![no_main]

use leakbound::record::scenario_from_bytes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match scenario_from_bytes("s.toml", bytes) {
        Ok(scenario) => {
            assert!(!scenario.queries.is_empty());
            assert!(scenario.samples.is_none_or(|samples| (1..=leakbound::counts::MAX_COUNT).contains(&samples)));
            let named = scenario.queries.iter().all(|query| query.query.is_some());
            assert!(named || scenario.queries.len() == 1);
            assert!(scenario.queries.iter().all(|query| query.model.classes() > 0));
            assert_eq!(scenario.sha256().len(), 64);
            // The same bytes are the same scenario.
            assert_eq!(scenario_from_bytes("s.toml", bytes).expect("it was read before"), scenario);
        }
        Err(error) => {
            let text = error.to_string();
            assert!(text.starts_with("s.toml: ") && !text.contains(char::is_control), "{text:?}");
        }
    }
});
