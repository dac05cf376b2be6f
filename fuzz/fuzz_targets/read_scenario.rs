//! Any bytes as a scenario: rejected in one line, or queries whose identity and outcomes can be told. The same bytes as
//! releases: rejected in one line, or at least one that is made.
#![no_main]

use leakbound::record::{releases_from_bytes, scenario_from_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match releases_from_bytes("r.toml", bytes) {
        Ok(list) => assert!(!list.releases.is_empty() && list.releases.iter().all(|release| release.times > 0)),
        Err(error) => {
            let text = error.to_string();
            assert!(text.starts_with("r.toml: ") && !text.contains(char::is_control), "{text:?}");
        }
    }
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
