//! Any bytes as recorded answers of shadow models in a file, where arrays that are not compressed stay: rejected in one
//! line, or the scores that the same bytes have in memory, and the hash of all of them.
//!
//! Bytes that start with `m` are a table, all others an archive, see `input::archive`.

use leakbound::Result;
use leakbound::membership::{ShadowEmbeddings, ShadowLogits, ShadowScores};
use leakbound::record::{InputFile, MemoryBudget, ShadowRecording, read_shadow_models, shadow_models_from_bytes};
use crate::input::{MEMORY, archive, on_disk};

const NAMES: &str = "logits scores keep labels embeddings neighbor_logits";

pub fn run(bytes: &[u8]) {
    let table = bytes.starts_with(b"m");
    let (bytes, ending) = if table { (bytes.to_vec(), ".csv") } else { (archive(bytes, NAMES), ".npz") };
    let read = |recording: ShadowRecording| -> Result<_> {
        let samples = recording.members().ncols();
        let mut answers = match &recording {
            ShadowRecording::Logits(logits) => logits.logits(0..samples)?.iter().copied().collect::<Vec<f64>>(),
            ShadowRecording::Scores(scores) => match scores.block(0..samples)? {
                leakbound::membership::ScoreBlock::Single(block) => {
                    block.iter().map(|&score| f64::from(score)).collect()
                }
                leakbound::membership::ScoreBlock::Double(block) => block.iter().copied().collect(),
            },
            ShadowRecording::Embeddings(_) => Vec::new(),
        };
        if let Some(embeddings) = recording.embeddings() {
            answers.extend(embeddings.embeddings(0..samples)?.iter());
        }
        if let Some(neighbors) = recording.neighbors() {
            answers.extend(neighbors.logits(0..samples)?.iter());
        }
        assert!(answers.iter().all(|answer| answer.is_finite()));
        Ok((answers, recording.members().to_owned(), recording.inputs()?))
    };
    let memory = MemoryBudget::of_bytes(MEMORY);
    let found = on_disk(&bytes, ending, |path| read_shadow_models(&[path.into()], memory).and_then(read));
    if let Some((_, _, inputs)) = &found {
        assert_eq!(inputs[0].sha256, InputFile::of_bytes("", &bytes).sha256);
    }
    if !table {
        let there = shadow_models_from_bytes("s.npz", bytes).and_then(read).ok();
        assert_eq!(found.map(|found| (found.0, found.1)), there.map(|found| (found.0, found.1)));
    }
}
