//! Checkpoints and documents of simulations: what was changed, cut off or belongs elsewhere is rejected in one line.

use crate::desk::{changed, rows_of, table};
use leakbound::record::{
    Checkpoint, PartialSimulation, SIMULATE_SCHEMA, SimulatedFile, SimulationPlan, merge_simulated,
    simulated_from_bytes,
};
use leakbound::simulate::{BLOCK_SAMPLES, PartialCounts, Sampler, Shard, Simulation, Stream, World};
use proptest::prelude::*;
use rand::Rng;
use sha2::{Digest, Sha256};
use std::ops::{ControlFlow, Range};

/// Counts that depend on the block, at no cost.
struct Cheap(usize);

impl Sampler for Cheap {
    fn outcomes(&self) -> usize {
        self.0
    }
    fn sample_block(&self, _: World, stream: &mut Stream, samples: u64, counts: &mut [u64]) {
        let first = stream.next_u64() % (samples + 1);
        counts[0] += first;
        counts[self.0 - 1] += samples - first;
    }
}

fn simulation() -> Simulation {
    Simulation::new(6 * BLOCK_SAMPLES - 5).unwrap().seed(u64::MAX)
}

fn plan() -> SimulationPlan {
    SimulationPlan::new("ab".repeat(32), simulation())
}

fn empty(plan: SimulationPlan) -> PartialSimulation {
    PartialSimulation::new(plan, [(Some("q \"1\"".to_owned()), 3), (Some("é".to_owned()), 2)]).unwrap()
}

fn drawn(blocks: Range<u64>) -> PartialSimulation {
    let mut state = empty(plan());
    for query in &mut state.queries {
        let mechanism = Cheap(query.part.outcomes());
        query.part.advance(&mechanism, blocks.clone(), |_| ControlFlow::Continue(())).unwrap();
    }
    state
}

fn checkpoint() -> Checkpoint {
    Checkpoint { shard: Shard::new(2, 3).unwrap(), simulation: drawn(2..3) }
}

fn rejection(bytes: &[u8]) -> String {
    let line = Checkpoint::from_bytes("c", bytes).expect_err("a broken checkpoint was read").to_string();
    assert!(line.starts_with("c: ") && !line.contains(char::is_control), "{line:?}");
    line
}

/// The checkpoint with this change in its content and a checksum that vouches for it.
fn forged(change: &str) -> Vec<u8> {
    let text = String::from_utf8(checkpoint().to_bytes()).unwrap();
    let (_, body) = text.split_once('\n').unwrap();
    let body = changed(body, change);
    let digest: String = Sha256::digest(&body).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("leakbound checkpoint 1, sha256 {digest}\n{body}").into_bytes()
}

#[test]
fn every_byte_counts() {
    let bytes = checkpoint().to_bytes();
    assert_eq!(Checkpoint::from_bytes("c", &bytes).unwrap(), checkpoint());
    for position in 0..bytes.len() {
        for change in [1, 2, 0x20, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[position] ^= change;
            rejection(&changed);
        }
        rejection(&bytes[..position]);
        let mut longer = bytes.clone();
        longer.insert(position, b' ');
        rejection(&longer);
    }
    rejection(&[&bytes[..], b"\n"].concat());
    rejection(&[&bytes[..], &bytes[..]].concat());
    let lines = [
        rejection(b""),
        rejection(b"PK\x03\x04"),
        rejection(&bytes[..20]),
        rejection(&bytes[..200]),
        rejection(b"leakbound checkpoint 2, sha256 00"),
    ];
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_true_checksum_does_not_excuse_the_content() {
    let counts = checkpoint().simulation.queries[0].part.worlds()[0].clone();
    let more = format!("\"counts\":[{} | \"counts\":[{}", counts[0], counts[0] + 1);
    let expected = "c: queries[0].counts: found the counts of the dataset sum to 65537 where the blocks have 65536 samples, \
                    expected the counts of its blocks";
    assert_eq!(rejection(&forged(&more)), expected);
    table(&rows_of("checkpoints", "a_true_checksum_does_not_excuse_the_content"), |change| rejection(&forged(change)));
}

#[test]
fn only_the_same_work_is_resumed() {
    let wanted = |plan: SimulationPlan, shard: Shard| Checkpoint { shard, simulation: empty(plan) };
    let shard = Shard::new(2, 3).unwrap();
    let rejected = |wanted: &Checkpoint| checkpoint().resume("c", wanted).unwrap_err().to_string();
    let other = |queries: &[(&str, usize)]| {
        let queries = queries.iter().map(|(name, outcomes)| (Some((*name).to_owned()), *outcomes));
        rejected(&Checkpoint { shard, simulation: PartialSimulation::new(plan(), queries).unwrap() })
    };
    assert_eq!(checkpoint().resume("c", &wanted(plan(), shard)).unwrap(), drawn(2..3));
    let lines = [
        rejected(&wanted(SimulationPlan { scenario_sha256: "cd".repeat(32), ..plan() }, shard)),
        rejected(&wanted(SimulationPlan { seed: 4, ..plan() }, shard)),
        rejected(&wanted(SimulationPlan { samples: 400_000, ..plan() }, shard)),
        rejected(&wanted(plan(), Shard::WHOLE)),
        other(&[("q \"1\"", 3)]),
        other(&[("q \"1\"", 3), ("é", 4)]),
        other(&[("é", 3), ("é", 2)]),
    ];
    insta::assert_snapshot!(lines.join("\n"));
}

/// The document of `leakbound simulate` for some blocks, without what reading lets through.
fn document(name: &str, state: &PartialSimulation) -> SimulatedFile {
    simulated_from_bytes(name, text(state).as_bytes()).unwrap()
}

fn text(state: &PartialSimulation) -> String {
    let queries = state.queries.iter().map(|query| {
        let labels: Vec<String> = (0..query.part.outcomes()).map(|outcome| outcome.to_string()).collect();
        let [counts, neighbor] = query.part.worlds();
        serde_json::json!({"query": query.query, "labels": labels, "counts": counts, "counts_neighbor": neighbor})
    });
    let blocks = state.queries[0].part.blocks();
    let queries: Vec<_> = queries.collect();
    serde_json::json!({"schema": SIMULATE_SCHEMA, "plan": state.plan, "blocks": blocks, "queries": queries}).to_string()
}

#[test]
fn documents_are_added_up_or_rejected() {
    let parts = [document("a", &drawn(0..2)), document("b", &drawn(4..6)), document("c", &drawn(2..4))];
    assert_eq!(merge_simulated(&parts).unwrap(), drawn(0..6));
    assert!(!merge_simulated(&parts[..2]).unwrap().is_complete());
    let rejected = |first: &SimulatedFile, second: SimulatedFile| {
        merge_simulated(&[first.clone(), parts[1].clone(), second]).unwrap_err().to_string()
    };
    let with = |from: &str, to: &str| {
        let original = text(&drawn(2..4));
        assert!(original.contains(from), "{original}");
        simulated_from_bytes("x", original.replace(from, to).as_bytes())
    };
    let lines = [
        merge_simulated(&[]).unwrap_err().to_string(),
        rejected(&parts[0], document("x", &drawn(1..3))),
        rejected(&parts[0], document("x", &drawn(0..6))),
        rejected(&parts[0], with("18446744073709551615", "7").unwrap()),
        rejected(&parts[0], with("abab", "cdcd").unwrap()),
        rejected(&parts[0], with("q \\\"1\\\"", "r").unwrap()),
        simulated_from_bytes("x", b"query,outcome,count,count_neighbor\n").unwrap_err().to_string(),
    ];
    insta::assert_snapshot!(lines.join("\n"));
    table(&rows_of("checkpoints", "documents_are_added_up_or_rejected"), |change| {
        let (from, to) = change.split_once(" | ").unwrap();
        with(from, to).unwrap_err().to_string()
    });
}

proptest! {
    /// Random changes, several at once.
    #[test]
    fn changed_checkpoints_are_never_read(
        changes in prop::collection::vec((any::<prop::sample::Index>(), 1..=255u8), 1..6),
        length in any::<prop::sample::Index>(),
    ) {
        let bytes = checkpoint().to_bytes();
        let mut changed = bytes.clone();
        for (position, change) in changes {
            changed[position.index(bytes.len())] ^= change;
        }
        if changed != bytes {
            rejection(&changed);
        }
        rejection(&changed[..length.index(bytes.len())]);
    }

    /// Whatever a simulation holds comes back.
    #[test]
    fn checkpoints_read_back(blocks in 1..9u64, last in 1..=BLOCK_SAMPLES, steps in 0..9u64, seed: u64, outcomes in 1..5usize) {
        let simulation = Simulation::new((blocks - 1) * BLOCK_SAMPLES + last).unwrap().seed(seed);
        let plan = SimulationPlan::new("0".repeat(64), simulation);
        let mut state = PartialSimulation::new(plan, [(None, outcomes)]).unwrap();
        for _ in 0..steps {
            let part: &mut PartialCounts = &mut state.queries[0].part;
            part.advance(&Cheap(outcomes), 0..blocks, |_| ControlFlow::Break(())).unwrap();
        }
        let checkpoint = Checkpoint { shard: Shard::WHOLE, simulation: state };
        prop_assert_eq!(Checkpoint::from_bytes("c", &checkpoint.to_bytes()).unwrap(), checkpoint);
    }
}
