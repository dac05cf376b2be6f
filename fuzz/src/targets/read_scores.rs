//! Any bytes as scores of canaries in a file: rejected in one line, or scores of both kinds that are no NaN.
//!
//! Bytes that start with the mark of numpy are an array of the members and of the others, all others a table.

use leakbound::record::{MemoryBudget, read_score_arrays, read_scores};
use crate::input::{MEMORY, on_disk};

pub fn run(bytes: &[u8]) {
    let memory = MemoryBudget::of_bytes(MEMORY);
    let scores = if bytes.starts_with(b"\x93NUMPY") {
        on_disk(bytes, ".npy", |path| read_score_arrays(path, path, memory)).map(|(scores, _)| scores)
    } else {
        on_disk(bytes, ".csv", |path| read_scores(path, memory)).map(|(scores, input)| {
            assert_eq!(input.bytes, bytes.len() as u64);
            scores
        })
    };
    if let Some(scores) = scores {
        for side in [scores.members(), scores.others()] {
            assert!(!side.is_empty() && side.iter().all(|score| !score.is_nan()));
        }
    }
}
