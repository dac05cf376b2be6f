//! Any bytes as a Parquet table of next tokens and of sequences: rejected in one line, or numbers that are read.

use leakbound::membership::TextSequences;
use leakbound::record::{MemoryBudget, is_panic_expected, read_text_sequences, read_tokens};
use crate::input::{MEMORY, on_disk};

/// A panic of the decoder that becomes an error is no finding.
fn look_away_where_panics_are_expected() {
    let abort = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !is_panic_expected() {
            abort(panic);
        }
    }));
}

pub fn run(bytes: &[u8]) {
    look_away_where_panics_are_expected();
    let memory = MemoryBudget::of_bytes(MEMORY);
    if let Some(recording) = on_disk(bytes, ".parquet", |path| read_tokens(path, memory)) {
        assert!(recording.members() > 0 && recording.tokens() > 1);
        _ = recording.position(recording.positions() - 1);
    }
    if bytes.starts_with(b"PAR1")
        && let Some(text) = on_disk(bytes, ".parquet", |path| read_text_sequences(path, memory))
    {
        assert!(text.members().len() > 1);
    }
}
