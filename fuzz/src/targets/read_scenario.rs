//! Any bytes as a scenario: rejected in one line, or queries whose identity and outcomes can be told. The same bytes as
//! releases and as an event of dp_accounting: rejected in one line, or at least one release that is made.

use crate::input::accepted;
use leakbound::record::{ReleasePart, events_from_bytes, releases_from_bytes, scenario_from_bytes};

/// Whether there is a part, and each of them is made.
fn all_made(parts: &[ReleasePart]) -> bool {
    let made = |part: &ReleasePart| match part {
        ReleasePart::Release(release) => release.times > 0 && release.distance > 0,
        ReleasePart::Bundle(bundle) => bundle.times > 0 && all_made(&bundle.parts),
    };
    !parts.is_empty() && parts.iter().all(made)
}

pub fn run(bytes: &[u8]) {
    for list in [releases_from_bytes("r", bytes), events_from_bytes("r", bytes)] {
        if let Some(list) = accepted(list, "r: ") {
            assert!(list.releases.group > 0 && list.releases.count() > 0 && all_made(&list.releases.parts));
        }
    }
    if let Some(scenario) = accepted(scenario_from_bytes("s.toml", bytes), "s.toml: ") {
        assert!(!scenario.queries.is_empty());
        assert!(scenario.samples.is_none_or(|samples| (1..=leakbound::counts::MAX_COUNT).contains(&samples)));
        let named = scenario.queries.iter().all(|query| query.query.is_some());
        assert!(named || scenario.queries.len() == 1);
        assert!(scenario.queries.iter().all(|query| query.model.classes() > 0));
        assert_eq!(scenario.sha256().len(), 64);
        // The same bytes are the same scenario.
        assert_eq!(scenario_from_bytes("s.toml", bytes).expect("it was read before"), scenario);
    }
}
