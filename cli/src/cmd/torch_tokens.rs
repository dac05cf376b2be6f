//! `leakbound torch tokens`: next tokens of language models that are trained on the user's texts.

use super::training_run::{About, Recorded, TrainingRun};
use crate::args::{Common, TorchTokensOptions};
use crate::output::reject_any;
use leakbound::record::{ArrayWriter, AtomicFile, InputFile};
use leakbound::{Error, Result};
use leakbound_train::{
    LogitPrecision, MemberScores, NextTokenTraining, NextTokens, TextSequence, Texts, TokenLosses, TrainingDevice,
    check_next_tokens, train_language_models,
};
use ndarray::Axis;
use serde::Serialize;
use std::borrow::Cow;
use std::io;
use std::path::Path;

/// Windows by which it is measured how well models know documents: a few documents of each owner.
const MEASURED: leakbound_train::SequencePlan = leakbound_train::SequencePlan { documents: 50, sequences: 2 };

pub fn record(common: &Common, options: &TorchTokensOptions, device: TrainingDevice) -> Result<Recorded> {
    let (plan, recorded) = (options.plan(common.seed), options.recorded.plan());
    options.recorded.check_memory(&plan, common.memory())?;
    let texts = Read::of(options)?;
    let mut run = TrainingRun::open(common, &options.recording, device, &texts.taken(options))?;
    let further = Further::open(options, &texts)?;
    let Read { private, public } = &texts;
    // Known now, not after the training.
    check_next_tokens(private, public.as_ref(), &plan, &recorded)?;
    run.read_also(texts.files().cloned());
    // Where private text ends among all that was read; nothing of what is recorded, which any choice can go on from.
    let checkpoint = run.checkpoint(&options.checkpoint, "tokens", &(&plan, private.files().len()))?;
    let what = format!("{} members and a public model, each a {}", plan.members, plan.model);
    let trained = run.train(&what, (plan.all_steps(), "steps"), |progress| {
        let (public, checkpoint) = (public.as_ref(), checkpoint.as_ref());
        let training = NextTokenTraining { private, public, device, progress, checkpoint };
        let models = train_language_models(&training, &plan)?;
        let asked = options.recorded.sequences();
        let target = options.recorded.target;
        Ok(Trained {
            tokens: models.next_tokens(&recorded, progress)?,
            losses: models.losses(MEASURED, progress)?,
            documents: models.documents(),
            texts: further.texts.as_ref().map(|_| models.text_sequences(asked, target, progress)).transpose()?,
            scores: further.shadow.as_ref().map(|_| models.member_scores(asked, progress)).transpose()?,
        })
    })?;
    let Trained { tokens, documents: [shared, held_out, own], .. } = &trained;
    let about = About {
        title: format!(
            "{} positions of {} members (each a {}); documents: {own} of members, {held_out} held out, {shared} public",
            tokens.tokens.len(),
            plan.members,
            plan.model
        ),
        networks: plan.members as u64 + 1,
        facts: facts(&trained, &texts),
        ..About::of("leakbound.torch-tokens/1", options)
    };
    further.write(&trained)?;
    run.record(about, ArrayWriter::stored(&options.recording), |writer| add(writer, tokens, recorded.precision))
}

/// What was trained, and what of it is recorded.
struct Trained {
    tokens: NextTokens,
    losses: TokenLosses,
    /// Of the public model, held out, and of all members.
    documents: [usize; 3],
    texts: Option<Vec<TextSequence>>,
    scores: Option<MemberScores>,
}

/// The texts.
struct Read {
    private: Texts,
    public: Option<Texts>,
}

impl Read {
    fn of(options: &TorchTokensOptions) -> Result<Self> {
        let private = Texts::read(&options.private)?;
        if options.public.is_empty() {
            return Ok(Self { private, public: None });
        }
        let public = Texts::read(&options.public)?;
        Ok(Self { private: private.without(&public), public: Some(public) })
    }

    /// The files of both.
    fn files(&self) -> impl Iterator<Item = &InputFile> {
        self.private.files().iter().chain(self.public.iter().flat_map(Texts::files))
    }

    /// All files, which nothing that is written replaces, and the checkpoint.
    fn taken<'a>(&'a self, options: &'a TorchTokensOptions) -> Vec<&'a Path> {
        let read = self.files().map(|file| file.path.as_path());
        read.chain(options.checkpoint.file()).chain(options.further().into_iter().map(|(_, path)| path)).collect()
    }
}

/// Files that are written beside the recording.
struct Further {
    texts: Option<AtomicFile>,
    shadow: Option<AtomicFile>,
}

impl Further {
    fn open(options: &TorchTokensOptions, texts: &Read) -> Result<Self> {
        let all = options.further();
        for (option, path) in &all {
            let others = all.iter().filter(|(other, _)| other != option).map(|(_, path)| *path);
            let taken: Vec<&Path> = others.chain(texts.files().map(|file| file.path.as_path())).collect();
            reject_any(option, path, &taken, "a file that this command reads or writes otherwise")?;
        }
        if options.recorded.target >= options.members {
            let reason =
                format!("there is no member {}: they are 0 to {}", options.recorded.target, options.members - 1);
            return Err(Error::Rejected { operation: "--target", reason });
        }
        let create = |path: &Option<std::path::PathBuf>| path.as_ref().map(AtomicFile::create).transpose();
        Ok(Self { texts: create(&options.recorded.texts)?, shadow: create(&options.recorded.shadow)? })
    }

    fn write(self, trained: &Trained) -> Result<()> {
        if let (Some(file), Some(texts)) = (self.texts, &trained.texts) {
            file.commit_with(|writer| texts.iter().try_for_each(|sequence| line(writer, sequence)))?;
        }
        if let (Some(file), Some(MemberScores { scores, keep })) = (self.shadow, &trained.scores) {
            let mut writer = ArrayWriter::new(file.path());
            // One view of each document.
            writer.add("scores", &scores.view().insert_axis(Axis(2)))?;
            writer.add("keep", keep)?;
            file.commit(&writer.finish()?)?;
        }
        Ok(())
    }
}

/// A sequence as `membership text` reads it.
#[derive(Serialize)]
struct Line<'a> {
    document: &'a str,
    member: bool,
    log_probabilities: &'a [f64],
    log_probability_mean: &'a [f64],
    log_probability_deviation: &'a [f64],
    reference_log_probabilities: &'a [f64],
    text: Cow<'a, str>,
}

fn line(writer: &mut dyn io::Write, sequence: &TextSequence) -> io::Result<()> {
    let line = Line {
        document: &sequence.document,
        member: sequence.member,
        log_probabilities: &sequence.log_probabilities,
        log_probability_mean: &sequence.means,
        log_probability_deviation: &sequence.deviations,
        reference_log_probabilities: &sequence.reference,
        // What a cut leaves of a character of several bytes has no other text.
        text: String::from_utf8_lossy(&sequence.text),
    };
    serde_json::to_writer(&mut *writer, &line)?;
    writer.write_all(b"\n")
}

fn facts(trained: &Trained, texts: &Read) -> Vec<(&'static str, f64)> {
    let TokenLosses { public_on_held_out, members_on_held_out, members_on_own } = trained.losses;
    let mut facts = vec![
        ("private-bytes", texts.private.len() as f64),
        ("public-bytes", texts.public.as_ref().map_or(0, Texts::len) as f64),
        ("public-loss-held-out", public_on_held_out),
        ("member-loss-held-out", members_on_held_out),
        ("member-loss-own", members_on_own),
    ];
    if texts.public.is_none() {
        facts.retain(|(name, _)| *name != "public-bytes");
    }
    if let Some(planted) = &trained.tokens.planted {
        facts.extend([("planted-loss-owner", planted.owner_loss), ("planted-loss-public", planted.public_loss)]);
    }
    facts
}

/// The arrays that `audit tokens` reads.
fn add(writer: &mut ArrayWriter, tokens: &NextTokens, precision: LogitPrecision) -> Result<()> {
    match precision {
        LogitPrecision::Half => {
            writer.add_half("logits", &tokens.logits)?;
            writer.add_half("public_logits", &tokens.public_logits)?;
        }
        LogitPrecision::Single => {
            writer.add("logits", &tokens.logits)?;
            writer.add("public_logits", &tokens.public_logits)?;
        }
    }
    writer.add("tokens", &tokens.tokens)?;
    if let Some(planted) = &tokens.planted {
        writer.add("canary", &planted.canary)?;
        writer.add("planted", &planted.member)?;
    }
    Ok(())
}
