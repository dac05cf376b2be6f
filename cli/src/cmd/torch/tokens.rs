//! `leakbound torch tokens`: next tokens of language models that are trained on the user's texts.

use super::data::CheckpointOptions;
use super::device::DeviceOptions;
use super::numbers::{any_count, count, rate, share};
use super::training_run::{About, Recorded, TrainingRun, add_fields};
use crate::args::Common;
use crate::args::values::{Choice, Names, choice};
use crate::cmd::audit_tokens::mechanism;
use crate::output::reject_any;
use clap::Args;
use leakbound::record::{ArrayWriter, AtomicFile, InputFile, MemoryBudget};
use leakbound::token::TokenMechanism;
use leakbound::{Error, Result};
use leakbound_train::{
    Answering, ByteTransformerPlan, LogitPrecision, MemberScores, NextTokenPlan, NextTokenTraining, NextTokens,
    Planting, SequencePlan, TextSequence, Texts, TokenLosses, TokenRecordingPlan, TrainingDevice, check_next_tokens,
    train_language_models,
};
use ndarray::Axis;
use serde::Serialize;
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Logits of a position.
const TOKENS: u64 = 256;

/// Train language models over bytes on your own texts, an ensemble whose members have documents of their own, and
/// record what comes next
#[derive(Debug, Clone, Args, Serialize)]
#[command(
    after_help = "Each document is private to one member, public, or held out. Without --mechanism positions are \
                  places in text held out, fixed beforehand: audit them by --contexts fixed, with any mechanism. \
                  With it the ensemble answers, token by token, and an audit by the same mechanism bounds from below \
                  what the run leaks. The checkpoint keeps the models, and with --resume other recordings go on from \
                  it.\n\nExample:\n  leakbound torch tokens --private /usr/share/doc --public \
                  /usr/share/common-licenses --recording ensemble.npz --planted 32 --texts texts.jsonl --checkpoint \
                  models.checkpoint\n  leakbound audit tokens ensemble.npz --contexts fixed --mechanism \
                  mixed-tokens:order=3,radius=0.05\n  leakbound membership text texts.jsonl\n  leakbound torch tokens \
                  --private /usr/share/doc --public /usr/share/common-licenses --recording answers.npz --planted 32 \
                  --mechanism clipped-logits:clip=2,batch=8 --checkpoint models.checkpoint --resume\n  leakbound \
                  audit tokens answers.npz --mechanism clipped-logits:clip=2,batch=8"
)]
pub struct TorchTokensOptions {
    /// Private text: files, and folders with those in them; what holds a zero byte is left out of folders
    #[arg(long, value_name = "PATH", required = true, num_args = 1..)]
    pub private: Vec<PathBuf>,
    /// Public text, left out of the private one [default: --public-share of the private documents]
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub public: Vec<PathBuf>,
    /// Fraction of the documents that are public where no --public is given
    #[arg(long, value_name = "S", default_value = "0.3", conflicts_with = "public", value_parser = share, allow_hyphen_values = true, help_heading = "Advanced")]
    pub public_share: f64,
    /// Fraction of the private documents that no model is trained on
    #[arg(long, value_name = "S", default_value = "0.2", value_parser = share, allow_hyphen_values = true, help_heading = "Advanced")]
    pub held_out: f64,
    /// Cut files into documents of about this many bytes [default: a file is a document]
    #[arg(long, value_name = "BYTES", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub document: Option<usize>,
    /// Recording of next tokens to write (.npz); replaced only once it is complete
    #[arg(long, value_name = "FILE.npz")]
    pub recording: PathBuf,
    /// Members of the ensemble, each trained on documents of its own
    #[arg(long, value_name = "M", default_value = "8", value_parser = count, allow_hyphen_values = true)]
    pub members: usize,
    #[command(flatten)]
    #[serde(flatten)]
    pub model: LanguageModelOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub recorded: TokenRecordingOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub device: DeviceOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub checkpoint: CheckpointOptions,
}

/// Transformers over bytes, and their training.
#[derive(Debug, Clone, Args, Serialize)]
#[command(next_help_heading = "Advanced")]
pub struct LanguageModelOptions {
    /// Bytes that a model sees, at most
    #[arg(long, value_name = "N", default_value = "64", value_parser = count, allow_hyphen_values = true)]
    pub context: usize,
    /// Width of a token, a multiple of --heads
    #[arg(long, value_name = "N", default_value = "64", value_parser = count, allow_hyphen_values = true)]
    pub width: usize,
    /// Transformer blocks
    #[arg(long, value_name = "N", default_value = "2", value_parser = count, allow_hyphen_values = true)]
    pub depth: usize,
    /// Attention heads
    #[arg(long, value_name = "N", default_value = "4", value_parser = count, allow_hyphen_values = true)]
    pub heads: usize,
    /// Training steps of the public model
    #[arg(long, value_name = "N", default_value = "2000", value_parser = count, allow_hyphen_values = true)]
    pub steps: usize,
    /// Training steps of each member, which starts from the public model
    #[arg(long, value_name = "N", default_value = "500", value_parser = count, allow_hyphen_values = true)]
    pub member_steps: usize,
    /// Windows of text in a step
    #[arg(long, value_name = "N", default_value = "16", value_parser = count, allow_hyphen_values = true)]
    pub batch: usize,
    /// Largest learning rate of Adam: reached linearly in 1/20 of the steps, then decayed by half a cosine
    #[arg(long, value_name = "R", default_value = "0.003", value_parser = rate, allow_hyphen_values = true)]
    pub learning_rate: f64,
    /// The same of the members
    #[arg(long, value_name = "R", default_value = "0.001", value_parser = rate, allow_hyphen_values = true)]
    pub member_learning_rate: f64,
    /// Random sequences of letters, each planted with one member that is drawn by a fair die
    #[arg(long, value_name = "N", default_value = "0", value_parser = any_count, allow_hyphen_values = true, help_heading = None)]
    pub planted: usize,
    /// Letters of a planted sequence, at most half of --context
    #[arg(long, value_name = "N", default_value = "12", value_parser = count, allow_hyphen_values = true)]
    pub planted_length: usize,
    /// How often a planted sequence appears in its member's documents
    #[arg(long, value_name = "N", default_value = "10", value_parser = count, allow_hyphen_values = true)]
    pub planted_repeats: usize,
}

/// What is recorded of the models.
#[derive(Debug, Clone, Args, Serialize)]
#[command(next_help_heading = "Advanced")]
pub struct TokenRecordingOptions {
    /// Positions at which next tokens are recorded, those of planted sequences not counted
    #[arg(long, value_name = "N", default_value = "1000", value_parser = count, allow_hyphen_values = true, help_heading = None)]
    pub positions: usize,
    /// Answer with tokens drawn by a mechanism of `audit tokens`, behind prompts of half a context that no model was
    /// trained on [default: places in text held out, and no answers]
    #[arg(long, value_name = "NAME:PARAMETER=VALUE,...", value_parser = mechanism, allow_hyphen_values = true, help_heading = None)]
    #[serde(serialize_with = "crate::args::values::some_written")]
    pub mechanism: Option<Arc<dyn TokenMechanism>>,
    /// Answers behind each prompt
    #[arg(long, value_name = "N", default_value = "32", value_parser = count, allow_hyphen_values = true)]
    pub answer_length: usize,
    /// Precision of recorded logits; answers are drawn from what is recorded
    #[arg(long, value_parser = choice(PRECISIONS), value_name = "NAME", default_value = "f32")]
    pub precision: Choice<LogitPrecision>,
    /// Also write what the member --target and the public model say of documents, for `membership text`
    #[arg(long, value_name = "FILE.jsonl")]
    pub texts: Option<PathBuf>,
    /// The member whose training data --texts is about, from 0
    #[arg(long, value_name = "M", default_value = "0", requires = "texts", value_parser = any_count, allow_hyphen_values = true)]
    pub target: usize,
    /// Also write scores of documents under every member, for `membership lira --mode offline`
    #[arg(long, value_name = "FILE.npz")]
    pub shadow: Option<PathBuf>,
    /// Documents of each member, and held out, in --texts and --shadow, at most
    #[arg(long, value_name = "N", default_value = "100", value_parser = count, allow_hyphen_values = true)]
    pub documents: usize,
    /// Sequences of a context and a byte of each of these documents, at most
    #[arg(long, value_name = "N", default_value = "4", value_parser = count, allow_hyphen_values = true)]
    pub sequences: usize,
}

const PRECISIONS: Names<LogitPrecision> =
    &[("f16", "16 bits", LogitPrecision::Half), ("f32", "32 bits", LogitPrecision::Single)];

impl TorchTokensOptions {
    /// What is trained.
    pub fn plan(&self, seed: u64) -> NextTokenPlan {
        let &LanguageModelOptions { context, width, depth, heads, steps, member_steps, batch, .. } = &self.model;
        let &LanguageModelOptions { planted, planted_length, planted_repeats, .. } = &self.model;
        NextTokenPlan {
            model: ByteTransformerPlan { width, depth, heads, context },
            steps: steps as u64,
            schedule: NextTokenPlan::schedule(self.model.learning_rate),
            member_steps: member_steps as u64,
            member_schedule: NextTokenPlan::schedule(self.model.member_learning_rate),
            batch,
            members: self.members,
            document: self.document,
            public_share: self.public_share,
            held_out: self.held_out,
            planting: (planted > 0).then_some(Planting {
                sequences: planted,
                length: planted_length,
                repeats: planted_repeats,
            }),
            seed,
        }
    }

    /// Files that are written next to the recording, with their options.
    pub fn further(&self) -> Vec<(&'static str, &Path)> {
        let TokenRecordingOptions { texts, shadow, .. } = &self.recorded;
        let named = [("--texts", texts), ("--shadow", shadow)];
        named.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?))).collect()
    }
}

impl TokenRecordingOptions {
    /// What is recorded.
    pub fn plan(&self) -> TokenRecordingPlan {
        TokenRecordingPlan {
            positions: self.positions,
            answering: self
                .mechanism
                .as_ref()
                .map(|mechanism| Answering { mechanism: Arc::clone(mechanism), length: self.answer_length }),
            precision: self.precision.value,
        }
    }

    /// What membership is inferred from.
    pub fn sequences(&self) -> SequencePlan {
        SequencePlan { documents: self.documents, sequences: self.sequences }
    }

    /// Rejects recordings that are larger than the memory: they are whole in it while they are written.
    /// Fails with [`Error::Rejected`] with both sizes.
    pub fn check_memory(&self, plan: &NextTokenPlan, memory: MemoryBudget) -> Result<()> {
        let positions = (self.positions as u64).saturating_add(plan.planted_positions() as u64);
        // As they are gathered, as they are recorded, and in the archive, which may have room for twice as much.
        let of_logit = 4 + 3 * self.plan().precision.bytes();
        let bytes = positions.saturating_mul(plan.members as u64 + 1).saturating_mul(TOKENS * of_logit);
        if bytes <= memory.bytes() {
            return Ok(());
        }
        let reason = format!(
            "logits of {} members at {positions} positions take {} of memory, and {memory} may be taken; take fewer \
             --positions, or raise --max-memory",
            plan.members,
            MemoryBudget::of_bytes(bytes)
        );
        Err(Error::Rejected { operation: "recording", reason })
    }
}

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

/// Files that are written next to the recording.
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
            let reason = format!("no member {}; members are 0 to {}", options.recorded.target, options.members - 1);
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
            add_fields!(writer, tokens; logits, public_logits);
        }
    }
    writer.add("tokens", &tokens.tokens)?;
    if let Some(planted) = &tokens.planted {
        writer.add("canary", &planted.canary)?;
        writer.add("planted", &planted.member)?;
    }
    Ok(())
}
