//! Any counts and any change: a histogram keeps its counts, a neighbor differs by exactly the vote that was named.

use crate::input::typed;
use leakbound::counts::MAX_COUNT;
use leakbound::histogram::{VoteChange, Neighbor, VoteHistogram};

pub fn run(bytes: &[u8]) {
    let Some((shift, from, to, mut counts)) = typed::<(u8, usize, usize, Vec<u64>)>(bytes) else { return };
    // All changes of long histograms would take seconds; small counts make ties and empty classes.
    counts.truncate(40);
    counts.iter_mut().for_each(|count| *count >>= shift % 64);

    let legal = !counts.is_empty() && counts.iter().all(|&count| count <= MAX_COUNT);
    let histogram = match VoteHistogram::new(counts.clone()) {
        Ok(histogram) => histogram,
        Err(error) => return assert!(!legal && !error.to_string().is_empty(), "{counts:?}: {error}"),
    };
    assert!(legal && histogram.counts() == counts);
    assert_eq!(histogram.to_string().split(',').count(), histogram.classes());
    assert_eq!(histogram.change_to(&histogram), None);

    // Mostly classes that exist, sometimes the first that does not.
    let [from, to] = [from, to].map(|class| class % (counts.len() + 1));
    for (change, kind) in [
        (Neighbor::Moved { from, to }, VoteChange::Moved),
        (Neighbor::Added { class: to }, VoteChange::Added),
        (Neighbor::Removed { class: from }, VoteChange::Removed),
    ] {
        check(&histogram, change, kind);
    }
    for kind in [VoteChange::Moved, VoteChange::Added, VoteChange::Removed] {
        for change in histogram.neighbors(kind) {
            assert!(check(&histogram, change, kind) || counts.contains(&MAX_COUNT), "{histogram}: {change:?}");
        }
    }
}

/// Whether the change is possible; if so, the neighbor is one vote away in the named direction.
fn check(histogram: &VoteHistogram, change: Neighbor, kind: VoteChange) -> bool {
    let neighbor = match histogram.neighbor(change) {
        Ok(neighbor) => neighbor,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    assert_eq!(histogram.change_to(&neighbor), Some(kind), "{histogram} -> {neighbor}");
    let total = |histogram: &VoteHistogram| histogram.counts().iter().map(|&count| i128::from(count)).sum::<i128>();
    let gained = match kind {
        VoteChange::Moved => 0,
        VoteChange::Added => 1,
        VoteChange::Removed => -1,
    };
    assert_eq!(total(&neighbor) - total(histogram), gained, "{histogram} -> {neighbor}");
    true
}
