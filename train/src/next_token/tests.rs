//! Small ensembles on texts made here.

use super::*;
use crate::sample::{until, unwatched};
use crate::{DeviceChoice, TrainingCheckpoint, TrainingDevice};
use leakbound::error::{Error, Result};
use leakbound::token;
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
        document: Some(64),
        public_share: 0.3,
        held_out: 0.2,
        planting: Some(Planting { sequences: 3, length: 6, repeats: 12 }),
        seed: 5,
    }
}

fn asked(mechanism: Option<&str>) -> TokenRecordingPlan {
    let answering = mechanism.map(|text| Answering { mechanism: token::parse_mechanism(text).unwrap(), length: 7 });
    TokenRecordingPlan { positions: 40, answering, precision: LogitPrecision::Half }
}

/// The texts of a folder of one file.
fn texts(text: &str) -> Texts {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("words");
    fs::write(&path, text).unwrap();
    Texts::read(&[path]).unwrap()
}

fn private() -> Texts {
    texts(&"tick tack ".repeat(80))
}

fn public() -> Texts {
    texts(&"one two three ".repeat(80))
}

/// Trains until `last` steps are done.
fn train(plan: &NextTokenPlan, last: u64, checkpoint: Option<&TrainingCheckpoint>) -> Result<LanguageModels> {
    let device = TrainingDevice::open(DeviceChoice::Cpu)?;
    let [private, public] = [private(), public()];
    let training =
        NextTokenTraining { private: &private, public: Some(&public), device, progress: &until(last), checkpoint };
    train_language_models(&training, plan)
}

fn record(models: &LanguageModels, mechanism: Option<&str>) -> Result<NextTokens> {
    models.next_tokens(&asked(mechanism), &unwatched)
}

/// A repeated text has a loss near 0, where guessing has ln 256 = 5.5 nats.
#[test]
fn repeated_texts_are_learned_and_planted_sequences_are_known_to_their_member() {
    let models = train(&plan(), u64::MAX, None).unwrap();
    let tokens = record(&models, None).unwrap();
    assert_eq!(tokens.logits.dim(), (40 + 3 * 6, 2, 256));
    assert_eq!((tokens.public_logits.dim(), tokens.tokens.len()), ((58, 256), 58));
    assert!(tokens.tokens.iter().take(40).all(|&token| token == -1));
    let planted = tokens.planted.as_ref().unwrap();
    assert!(planted.canary.iter().take(40).all(|&canary| canary == -1));
    assert_eq!(planted.canary.to_vec()[40..], [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
    let losses = models.losses(SequencePlan { documents: 5, sequences: 2 }, &unwatched).unwrap();
    println!("{losses:?} {} {}", planted.owner_loss, planted.public_loss);
    assert!(losses.members_on_own < 1.0 && losses.members_on_held_out < 1.0 && losses.public_on_held_out > 2.0);
    assert!(planted.owner_loss + 1.0 < planted.public_loss);
    // The member of each sequence is the one to which it is likeliest.
    for (sequence, &owner) in planted.member.iter().enumerate() {
        let of_member = |member: usize| -> f64 {
            let rows = (0..58).filter(|&row| planted.canary[row] == sequence as i64);
            let loss = |row: usize| {
                let logits: Vec<f32> = (0..256).map(|byte| tokens.logits[[row, member, byte]]).collect();
                super::answers::loss(&logits, tokens.tokens[row] as u8)
            };
            rows.map(loss).sum()
        };
        assert!(of_member(owner as usize) < of_member(1 - owner as usize), "sequence {sequence}");
    }
    // Members that learned other documents differ.
    let differs = |(row, byte)| tokens.logits[[row, 0, byte]] != tokens.logits[[row, 1, byte]];
    assert!((0..40).all(|row| (0..256).any(|byte| differs((row, byte)))));
    let again = train(&plan(), u64::MAX, None).unwrap();
    assert_eq!(record(&again, None).unwrap(), tokens);
}

/// Interrupted twice: in the training of the public model, and in that of the members.
#[test]
fn a_training_that_was_interrupted_goes_on_to_the_same_models() {
    let folder = tempfile::tempdir().unwrap();
    let open = |resume| {
        let path = folder.path().join("models.checkpoint");
        TrainingCheckpoint::open(path, resume, "tokens", "CPU", &[], &plan()).unwrap()
    };
    for (last, resume) in [(70, false), (250, true)] {
        let error = train(&plan(), last, Some(&open(resume))).unwrap_err();
        assert!(matches!(error, Error::Interrupted), "{error}");
    }
    let resumed = train(&plan(), u64::MAX, Some(&open(true))).unwrap();
    let whole = train(&plan(), u64::MAX, None).unwrap();
    let mechanism = Some("mixed-tokens:order=3,radius=0.1");
    assert_eq!(record(&resumed, mechanism).unwrap(), record(&whole, mechanism).unwrap());
    // All is there: nothing is trained.
    let kept = train(&plan(), 451, Some(&open(true))).unwrap();
    assert_eq!(record(&kept, mechanism).unwrap(), record(&whole, mechanism).unwrap());
}

/// Each answer is in the contexts behind it, and its logits are those that are recorded.
#[test]
fn answers_are_drawn_and_enter_the_next_contexts() {
    let models = train(&NextTokenPlan { planting: None, ..plan() }, u64::MAX, None).unwrap();
    for mechanism in ["voted-tokens:sigma=0.2", "interpolated-tokens:share=1", "clipped-logits:clip=5,batch=2"] {
        let tokens = record(&models, Some(mechanism)).unwrap();
        assert!(tokens.planted.is_none() && tokens.tokens.iter().all(|token| (0..256).contains(token)));
        // Numbers of half precision alone.
        assert!(tokens.logits.iter().all(|&logit| half::f16::from_f32(logit).to_f32() == logit));
        // Five prompts of 7 answers, and one of 5; both members know the words.
        let said: String = tokens.tokens.iter().map(|&token| char::from(token as u8)).collect();
        println!("{mechanism}: {said:?}");
        if mechanism.starts_with("voted") {
            assert!(said.matches("tick").count() + said.matches("tack").count() >= 4, "{said:?}");
        }
    }
}

#[test]
fn sequences_have_their_members_and_scores_of_all_models() {
    let models = train(&plan(), u64::MAX, None).unwrap();
    let [public, held_out, private] = models.documents();
    assert!(public == 17 && held_out == 3 && private == 9, "{:?}", models.documents());
    let asked = SequencePlan { documents: 4, sequences: 2 };
    let sequences = models.text_sequences(asked, 1, &unwatched).unwrap();
    assert_eq!(
        sequences.iter().map(|one| one.member).collect::<Vec<_>>(),
        [[true; 8].as_slice(), &[false; 6]].concat()
    );
    for one in &sequences {
        let lengths = [&one.log_probabilities, &one.means, &one.deviations, &one.reference].map(Vec::len);
        assert_eq!((one.text.len(), lengths), (17, [16; 4]));
        assert!(one.log_probabilities.iter().all(|&log| log <= 0.0) && one.deviations.iter().all(|&d| d >= 1e-3));
    }
    let scores = models.member_scores(asked, &unwatched).unwrap();
    assert_eq!(scores.scores.dim(), (2, 11));
    assert_eq!(scores.keep.row(1).to_vec(), [[false; 4].as_slice(), &[true; 4], &[false; 3]].concat());
    // The same documents of member 1, by both ways.
    let of_document: f64 = sequences[..2].iter().flat_map(|one| &one.log_probabilities).sum::<f64>() / 32.0;
    assert!((scores.scores[[1, 4]] - of_document).abs() < 1e-9);
    let stopped = models.member_scores(asked, &|_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
    assert!(
        models
            .text_sequences(asked, 2, &unwatched)
            .unwrap_err()
            .to_string()
            .contains("no member 2; members are 0 to 1")
    );
}

#[test]
fn what_cannot_be_trained_or_asked_is_one_line() {
    let device = TrainingDevice::open(DeviceChoice::Cpu).unwrap();
    let rejected = |plan: &NextTokenPlan, private: &Texts, public: Option<&Texts>, expected: &str| {
        let training = NextTokenTraining { private, public, device, progress: &unwatched, checkpoint: None };
        let error = train_language_models(&training, plan).unwrap_err().to_string();
        assert!(error.contains(expected) && !error.contains('\n'), "{error}");
    };
    let few = texts("a few words that are too few");
    rejected(&plan(), &few, Some(&public()), "expected a document for each of 2 members; hint: ");
    rejected(&plan(), &few, None, "found 1 document of more than 16 bytes, 1 of them public and 1 held out");
    rejected(&plan(), &private(), Some(&texts("short")), "found public text without one, expected a document of more");
    let long = NextTokenPlan { planting: Some(Planting { sequences: 1, length: 9, repeats: 1 }), ..plan() };
    rejected(&long, &private(), None, "planted sequences of 9 letters for a context of 16; take at most half");
    let models = train(&NextTokenPlan { steps: 1, member_steps: 1, ..plan() }, u64::MAX, None).unwrap();
    let many = TokenRecordingPlan { positions: 9999, ..asked(None) };
    let error = models.next_tokens(&many, &unwatched).unwrap_err().to_string();
    assert!(error.contains("expected 9999 positions or prompts; hint: ") && !error.contains('\n'), "{error}");
}
