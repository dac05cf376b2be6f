//! Any bytes as recorded answers of shadow models: rejected in one line, or finite scores that attacks can use.
//!
//! Bytes that start with `P` are the archive itself. Others are its arrays, each as index of a name, length in two
//! bytes (little-endian) and content: the checksums of an archive would otherwise stop nearly every change.

use crate::input::packed;
use leakbound::Error;
use leakbound::membership::{
    LiraPlan, MembershipScore, ScoredEmbeddings, ScoredLogits, ShadowLogits, ShadowScores, ViewPairs, lira,
};
use leakbound::record::{ShadowRecording, shadow_models_from_bytes};
use zip::CompressionMethod;

const NAMES: [&str; 6] = ["logits", "scores", "keep", "labels", "embeddings", "neighbor_logits"];

pub fn run(bytes: &[u8]) {
    let archive = if bytes.starts_with(b"P") { bytes.to_vec() } else { packed(bytes, &NAMES, |_| CompressionMethod::default()) };
    let one_line = |error: &Error| {
        let text = error.to_string();
        assert!(!text.contains(char::is_control), "{text:?}");
    };
    let recording = match shadow_models_from_bytes("s.npz", archive) {
        Ok(recording) => recording,
        Err(error) => {
            assert!(error.to_string().starts_with("s.npz"), "{error}");
            return one_line(&error);
        }
    };
    let (models, samples) = recording.members().dim();
    assert!(models > 1 && samples > 0);
    if let Some(embeddings) = recording.embeddings() {
        attacked(&ScoredEmbeddings::new(embeddings, ViewPairs::All).expect("two views at least"), one_line);
    }
    if let Some(neighbors) = recording.neighbors() {
        attacked(&ScoredLogits::new(neighbors, MembershipScore::Logit), one_line);
    }
    match recording {
        ShadowRecording::Logits(logits) => {
            assert_eq!(logits.labels().len(), samples);
            assert!(logits.labels().iter().all(|&label| label < logits.classes()));
            attacked(&ScoredLogits::new(&logits, MembershipScore::Logit), one_line);
        }
        ShadowRecording::Scores(scores) => attacked(&scores, one_line),
        ShadowRecording::Embeddings(_) => {}
    }
}

fn attacked(source: &impl ShadowScores, one_line: impl Fn(&Error)) {
    match lira(source, &LiraPlan::default()) {
        Ok(guesses) => assert!(guesses.scores.scores().iter().all(|score| score.is_finite())),
        Err(error) => one_line(&error),
    }
}
