//! Any bytes as canaries with wrong labels in a file: rejected in one line, or canaries that can be audited.
//!
//! Bytes that start with `l` or a byte-order mark are a table, all others an archive, see `input::archive`.

use leakbound::label_dp::AntipodesInterval;
use leakbound::record::{MemoryBudget, read_label_canaries};
use crate::input::{MEMORY, archive, on_disk};

const NAMES: &str = "probabilities logits labels_true labels_trained";

pub fn run(bytes: &[u8]) {
    let table = bytes.starts_with(b"l") || bytes.starts_with(b"\xef\xbb\xbf");
    let (bytes, ending) = if table { (bytes.to_vec(), ".csv") } else { (archive(bytes, NAMES), ".npz") };
    let read = on_disk(&bytes, ending, |path| read_label_canaries(path, MemoryBudget::of_bytes(MEMORY)));
    if let Some((canaries, input)) = read {
        assert!(!canaries.is_empty() && canaries.classes() > 2 && input.bytes == bytes.len() as u64);
        if let Ok(interval) = AntipodesInterval::of_canaries(&canaries) {
            assert!(interval.lower <= interval.upper, "{interval:?}");
        }
    }
}
