//! Any bytes as recorded answers of shadow models: rejected in one line, or finite scores that attacks can use.
//!
//! The archive is as `input::compressed` has it.

use crate::input::{accepted, compressed};
use leakbound::membership::{
    LiraPlan, MembershipScore, ScoredEmbeddings, ScoredLogits, ShadowLogits, ShadowScores, ViewPairs, lira,
};
use leakbound::record::{ShadowRecording, shadow_models_from_bytes};

const NAMES: &str = "logits scores keep labels embeddings neighbor_logits";

pub fn run(bytes: &[u8]) {
    let archive = compressed(bytes, NAMES);
    let Some(recording) = accepted(shadow_models_from_bytes("s.npz", archive), "s.npz") else { return };
    let (models, samples) = recording.members().dim();
    assert!(models > 1 && samples > 0);
    if let Some(embeddings) = recording.embeddings() {
        attacked(&ScoredEmbeddings::new(embeddings, ViewPairs::All).expect("two views at least"));
    }
    if let Some(neighbors) = recording.neighbors() {
        attacked(&ScoredLogits::new(neighbors, MembershipScore::Logit));
    }
    match recording {
        ShadowRecording::Logits(logits) => {
            assert_eq!(logits.labels().len(), samples);
            assert!(logits.labels().iter().all(|&label| label < logits.classes()));
            attacked(&ScoredLogits::new(&logits, MembershipScore::Logit));
        }
        ShadowRecording::Scores(scores) => attacked(&scores),
        ShadowRecording::Embeddings(_) => {}
    }
}

fn attacked(source: &impl ShadowScores) {
    // A rejection of scores names no file.
    if let Some(guesses) = accepted(lira(source, &LiraPlan::default()), "") {
        assert!(guesses.scores.scores().iter().all(|score| score.is_finite()));
    }
}
