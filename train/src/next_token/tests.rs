//! Small ensembles on texts made here.

use super::*;
use crate::{DeviceChoice, TrainingDevice};
use leakbound::error::Result;
use std::fs;
use std::ops::ControlFlow;

fn plan() -> NextTokenPlan {
    NextTokenPlan {
        model: ByteTransformerPlan { width: 16, depth: 1, heads: 2, context: 16 },
        steps: 150,
        schedule: NextTokenPlan::schedule(1e-2),
        member_steps: 150,
        member_schedule: NextTokenPlan::schedule(1e-2),
        batch: 8,
        members: 2,
        document: 64,
        held_out: 0.2,
        positions: 40,
        planting: Some(Planting { sequences: 3, length: 6, repeats: 12 }),
        seed: 5,
    }
}

fn record(plan: &NextTokenPlan, private: &str, public: &str) -> Result<NextTokens> {
    let folder = tempfile::tempdir().unwrap();
    let [private, public] = [("private", private), ("public", public)].map(|(name, text)| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        Texts::read(&[path]).unwrap()
    });
    let device = TrainingDevice::open(DeviceChoice::Cpu)?;
    let progress = |_| ControlFlow::Continue(());
    record_next_tokens(&NextTokenTraining { private: &private, public: &public, device, progress: &progress }, plan)
}

/// A repeated text has a loss near 0, where guessing has ln 256 = 5.5 nats.
#[test]
fn repeated_texts_are_learned_and_planted_sequences_are_known_to_their_member() {
    let [private, public] = ["tick tack ", "one two three "].map(|words| words.repeat(80));
    let tokens = record(&plan(), &private, &public).unwrap();
    assert_eq!(tokens.logits.dim(), (40 + 3 * 6, 2, 256));
    assert_eq!((tokens.public_logits.dim(), tokens.tokens.len()), ((58, 256), 58));
    let planted = tokens.planted.as_ref().unwrap();
    assert!(planted.canary.iter().take(40).all(|&canary| canary == -1));
    assert_eq!(planted.canary.to_vec()[40..], [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
    println!("{:?} {:?}", tokens.losses, planted.losses);
    assert!(tokens.losses.public_on_public < 0.5 && tokens.losses.members_on_private < 1.0);
    assert!(tokens.losses.public_on_private > 2.0);
    assert!(planted.losses.owner + 1.0 < planted.losses.public);
    assert_eq!(record(&plan(), &private, &public).unwrap(), tokens);
}

#[test]
fn texts_that_are_too_short_or_public_are_rejected_in_one_line() {
    let long = "one two three ".repeat(80);
    let rejected = |plan: &NextTokenPlan, private: &str, expected: &str| {
        let error = record(plan, private, &long).unwrap_err().to_string();
        assert!(error.contains(expected) && !error.contains('\n'), "{error}");
    };
    rejected(&plan(), "a few words that are too few", "expected a document for each of 2 members and one held out");
    rejected(&plan(), &long, "found a text that is public too");
    rejected(&NextTokenPlan { positions: 9999, ..plan() }, &"tick tack ".repeat(80), "expected 9999 positions; hint: ");
}
