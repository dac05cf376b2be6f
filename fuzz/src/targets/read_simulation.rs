//! Any bytes as a checkpoint and as a document of a simulation: rejected in one line, or counts that fit their blocks.
//!
//! Bytes that start with `{` are the content of a checkpoint, to which the line with its checksum is added: the
//! checksum would otherwise stop every change.

use crate::input::accepted;
use leakbound::record::{Checkpoint, InputFile, PartialSimulation, merge_simulated, simulated_from_bytes};

pub fn run(bytes: &[u8]) {
    let whole = if bytes.starts_with(b"{") {
        let line = format!("leakbound checkpoint 1, sha256 {}\n", InputFile::of_bytes("", bytes).sha256);
        [line.as_bytes(), bytes].concat()
    } else {
        bytes.to_vec()
    };
    if let Some(checkpoint) = accepted(Checkpoint::from_bytes("c", &whole), "c: ") {
        check(&checkpoint.simulation);
        let again = Checkpoint::from_bytes("c", &checkpoint.to_bytes()).expect("what was written is read");
        assert_eq!(again, checkpoint);
        let resumed = again.resume("c", &checkpoint).expect("it is the same work");
        assert_eq!(resumed, checkpoint.simulation);
    }
    if let Some(file) = accepted(simulated_from_bytes("d.json", bytes), "d.json: ") {
        check(&file.simulation);
        let empty = file.simulation.samples() == 0;
        // A part can be added to itself only if it is empty.
        assert_eq!(merge_simulated(&[file.clone(), file]).is_ok(), empty);
    }
}

fn check(simulation: &PartialSimulation) {
    assert!(!simulation.queries.is_empty());
    for query in &simulation.queries {
        for world in query.part.worlds() {
            assert_eq!(world.iter().sum::<u64>(), query.part.samples());
        }
        let all = query.part.simulation().blocks();
        assert_eq!(query.part.blocks().len() + query.part.missing().len(), all);
    }
}
