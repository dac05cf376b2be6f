//! Options of `leakbound torch tokens`.

use super::numbers::{any_count, count, rate, share};
use super::{CheckpointOptions, DeviceOptions};
use crate::args::tokens::{TokenMechanismText, mechanism};
use clap::{Args, ValueEnum};
use leakbound::record::MemoryBudget;
use leakbound::{Error, Result};
use leakbound_train::{
    Answering, ByteTransformerPlan, LogitPrecision, NextTokenPlan, Planting, SequencePlan, TokenRecordingPlan,
};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Logits of a position.
const TOKENS: u64 = 256;

/// Options of `leakbound torch tokens`.
#[derive(Debug, Clone, Args, Serialize)]
pub struct TorchTokensOptions {
    /// Private text: files, and folders with those in them; what holds a zero byte is left out of folders
    #[arg(long, value_name = "PATH", required = true, num_args = 1..)]
    pub private: Vec<PathBuf>,
    /// Public text, left out of the private one [default: --public-share of the private documents]
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub public: Vec<PathBuf>,
    /// Fraction of the documents that are public where no --public is given
    #[arg(long, value_name = "S", default_value = "0.3", conflicts_with = "public", value_parser = share, allow_hyphen_values = true)]
    pub public_share: f64,
    /// Fraction of the private documents that no model is trained on
    #[arg(long, value_name = "S", default_value = "0.2", value_parser = share, allow_hyphen_values = true)]
    pub held_out: f64,
    /// Cut files into documents of about so many bytes [default: a file is a document]
    #[arg(long, value_name = "BYTES", value_parser = count, allow_hyphen_values = true)]
    pub document: Option<usize>,
    /// Recording of next tokens to write (.npz); replaced only once it is complete
    #[arg(long, value_name = "FILE.npz")]
    pub recording: PathBuf,
    /// Members of the ensemble, each trained on documents of its own
    #[arg(long, value_name = "M", default_value = "8", value_parser = count, allow_hyphen_values = true)]
    pub members: usize,
    /// The models
    #[command(flatten)]
    #[serde(flatten)]
    pub model: LanguageModelOptions,
    /// What is recorded
    #[command(flatten)]
    #[serde(flatten)]
    pub recorded: TokenRecordingOptions,
    /// Where to train
    #[command(flatten)]
    #[serde(flatten)]
    pub device: DeviceOptions,
    /// Where the models are kept
    #[command(flatten)]
    #[serde(flatten)]
    pub checkpoint: CheckpointOptions,
}

/// Transformers over bytes, and their training.
#[derive(Debug, Clone, Args, Serialize)]
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
    /// Training steps of each member, which goes on from the public model
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
    #[arg(long, value_name = "N", default_value = "0", value_parser = any_count, allow_hyphen_values = true)]
    pub planted: usize,
    /// Letters of a planted sequence, at most half of --context
    #[arg(long, value_name = "N", default_value = "12", value_parser = count, allow_hyphen_values = true)]
    pub planted_length: usize,
    /// How often a planted sequence stands in its member's documents
    #[arg(long, value_name = "N", default_value = "10", value_parser = count, allow_hyphen_values = true)]
    pub planted_repeats: usize,
}

/// What is recorded of the models.
#[derive(Debug, Clone, Args, Serialize)]
pub struct TokenRecordingOptions {
    /// Positions at which next tokens are recorded, those of planted sequences not counted
    #[arg(long, value_name = "N", default_value = "1000", value_parser = count, allow_hyphen_values = true)]
    pub positions: usize,
    /// Answer with tokens drawn by a mechanism of `audit tokens`, behind prompts of half a context that no model was
    /// trained on [default: places in text held out, and no answers]
    #[arg(long, value_name = "NAME:PARAMETER=VALUE,...", value_parser = mechanism, allow_hyphen_values = true)]
    pub mechanism: Option<TokenMechanismText>,
    /// Answers behind each prompt
    #[arg(long, value_name = "N", default_value = "32", value_parser = count, allow_hyphen_values = true)]
    pub answer_length: usize,
    /// Precision of recorded logits; answers are drawn from what is recorded
    #[arg(long, value_enum, value_name = "NAME", default_value = "f32")]
    pub precision: PrecisionName,
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

/// Precisions by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrecisionName {
    /// 16 bits
    F16,
    /// 32 bits
    F32,
}

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

    /// Files that are written beside the recording, with their options.
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
                .map(|mechanism| Answering { mechanism: mechanism.0.clone(), length: self.answer_length }),
            precision: match self.precision {
                PrecisionName::F16 => LogitPrecision::Half,
                PrecisionName::F32 => LogitPrecision::Single,
            },
        }
    }

    /// What membership is inferred from.
    pub fn sequences(&self) -> SequencePlan {
        SequencePlan { documents: self.documents, sequences: self.sequences }
    }

    /// Rejects recordings that are larger than the memory: they are whole in it while they are written.
    ///
    /// # Errors
    /// [`Error::Rejected`] with both sizes.
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
