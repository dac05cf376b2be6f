//! Checkpoints and documents of simulations: what was changed, cut off or belongs elsewhere is rejected in one line.

use crate::desk::{changed, table};
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
    insta::assert_snapshot!(lines.join("\n"), @"
    c: whole file: found an empty file, expected a checkpoint of a simulation; hint: remove it to start anew
    c: whole file: found another kind of file, expected a checkpoint of a simulation
    c: whole file: found a checkpoint that was changed or cut off after it was written, expected it as it was written; hint: start anew without it
    c: whole file: found a checkpoint that was changed or cut off after it was written, expected it as it was written; hint: start anew without it
    c: whole file: found a checkpoint of another form, or one that was changed, expected leakbound checkpoint 1, sha256 ; hint: another version of the program may have written it
    ");
}

#[test]
fn a_true_checksum_does_not_excuse_the_content() {
    let counts = checkpoint().simulation.queries[0].part.worlds()[0].clone();
    let more = format!("\"counts\":[{} | \"counts\":[{}", counts[0], counts[0] + 1);
    let expected = "c: queries[0].counts: found the counts of the dataset sum to 65537 where the blocks have 65536 samples, \
                    expected the counts of its blocks";
    assert_eq!(rejection(&forged(&more)), expected);
    let rows = r#"
        "seed":18446744073709551615 | "seed":-1 => c: line 1, character 162: found integer `-1`, expected u64
        "samples":393211 | "samples":0 => c: plan.samples: found 0, expected a number in [1, 2^53]
        "samples":393211 | "samples":100 => c: shard: found `shard: 3 shards of 100 samples, more than their 1 block(s)`, expected a shard of the simulation
        "sampler": | "sampler":9 => c: plan.sampler: found `94`, expected `4`; hint: another version of the program drew these counts in another way
        monte-carlo | exact-distribution => c: plan.sampling: found `exact-distribution`, expected `monte-carlo`; hint: counts that are drawn from a distribution at once have no parts
        "block_samples":65536 | "block_samples":1 => c: plan.block_samples: found `1`, expected `65536`; hint: another version of the program drew these counts in another way
        abab | xyz => c: plan.scenario_sha256: found `xyzabababababababababababababababababababababababababababababab`, expected 64 hexadecimal digits
        2/3 | 1/3 => c: queries[0].blocks: found 2, expected blocks of the shard 1/3
        2/3 | 0/3 => c: line 1, character 212: found number of the shard = 0 is not in [1, number of shards], expected the JSON of a recording
        2/3 | 2/9 => c: shard: found `shard: 9 shards of 393211 samples, more than their 6 block(s)`, expected a shard of the simulation
        [[2,3]] | [[2,3],[2,3]] => c: line 1, character 265: found set of blocks: block 2 would be in it twice, expected the JSON of a recording
        [[2,3]] | [[3,2]] => c: line 1, character 259: found set of blocks: the range [3, 2] holds no block, expected the JSON of a recording
        [[2,3]] | [] => c: queries[0].counts: found the counts of the dataset sum to 65536 where the blocks have 0 samples, expected the counts of its blocks
        "counts_neighbor":[ | "counts_neighbor":[0, => c: queries[0].counts: found neighbor counts of length 4, expected 3 outcomes
        "queries":[ | "more":1,"queries":[ => c: line 1, character 219: found unknown field `more`, expected one of `plan`, `shard`, `queries`
    "#;
    table(rows, |change| rejection(&forged(change)));
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
    insta::assert_snapshot!(lines.join("\n"), @r#"
    c: plan.scenario_sha256: found `abababababababababababababababababababababababababababababababab`, expected `cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd`, as requested; hint: only parts of one simulation belong together
    c: plan.seed: found `18446744073709551615`, expected `4`, as requested; hint: only parts of one simulation belong together
    c: plan.samples: found `393211`, expected `400000`, as requested; hint: only parts of one simulation belong together
    c: shard: found `2/3`, expected `1/1`, as requested
    c: queries: found 2 queries, expected 1, as requested
    c: queries[1]: found `é` with 2 outcomes, expected `é` with 4 outcomes, as requested
    c: queries[0]: found `q "1"` with 3 outcomes, expected `é` with 3 outcomes, as requested
    "#);
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
    insta::assert_snapshot!(lines.join("\n"), @r#"
    list of simulations has length 0; expected at least 1
    x: blocks: found an overlap with `a`: both parts hold block 1, expected blocks that no other file holds
    x: blocks: found an overlap with `a`: both parts hold blocks 0-1, 4-5, expected blocks that no other file holds
    x: plan.seed: found `7`, expected `18446744073709551615`, as in `a`; hint: only parts of one simulation belong together
    x: plan.scenario_sha256: found `cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd`, expected `abababababababababababababababababababababababababababababababab`, as in `a`; hint: only parts of one simulation belong together
    x: queries[0]: found `r` with 3 outcomes, expected `q "1"` with 3 outcomes, as in `a`
    x: whole file: found text that is not JSON, expected a document of simulated outputs; hint: write it as JSON
    "#);
    let rows = r#"
        leakbound.simulate/1 | leakbound.simulate/2 => x: schema: found `leakbound.simulate/2`, expected `leakbound.simulate/1`
        "blocks":[[2,4]] | "blocks":[[2,3]] => x: queries[0].counts: found the counts of the dataset sum to 131072 where the blocks have 65536 samples, expected the counts of its blocks
        "blocks":[[2,4]] | "blocks":[[20,22]] => x: queries[0].counts: found block 21 is none of the simulation's 6 blocks, expected the counts of its blocks
        "labels":["0","1"] | "labels":["0","2"] => x: queries[1].labels: found `2`, expected `1`, its position
        "labels":["0","1"] | "labels":["0"] => x: queries[1].counts: found length 2, expected 1, one per label
        "plan" | "plans" => x: line 1, character 453: found an object without it, expected the field `plan`
        { | [ => x: line 1, character 10: found `:[[2,4]],"plan":["bl...`, expected JSON (expected `,` or `]`)
    "#;
    table(rows, |change| {
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
