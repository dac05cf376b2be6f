//! `leakbound audit tokens`: what each member of an ensemble of language models leaks by its tokens.

use super::conclude::{Asked, publish, unused, watched};
use crate::args::values::{Orders, Parsed, claim_rdp, failure_probability, number, orders, whole};
use crate::args::{ClaimOptions, Common};
use crate::output::Output;
use clap::Args;
use leakbound::Result;
use leakbound::bound::Claimed;
use leakbound::quantity::{FailureProbability, Order};
use leakbound::record::read_tokens;
use leakbound::study::{Contexts, TokensStudy, Verdict};
use leakbound::token::{self, Decoding, TokenMechanism, TokenNeighbors};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// Audit recorded next tokens of an ensemble of language models: exact leakage of each member, and lower bounds
#[derive(Debug, Args, Serialize)]
#[command(after_help = "Files: npz, safetensors or a folder of .npy with `logits`, `log_probabilities` or \
                        `probabilities` [position, member, token], the same of a public model as `public_logits` and \
                        so on [position, token], and what was answered as `tokens` [position]. Planted sequences \
                        are `canary` [position], the sequence that a token is a part of or -1, and `planted` \
                        [sequence], the member that was trained on it.\n\nNeighbors are two ensembles, one of which \
                        lacks a member.\n\nExample:\n  leakbound audit tokens ensemble.npz --mechanism \
                        mixed-tokens:order=3,radius=0.05 --report tokens.html\n\nExit status 3 if a claim is refuted.")]
pub struct TokensOptions {
    /// Next tokens of an ensemble: .npz, .safetensors, .npy, .parquet, or a folder of arrays (.npy)
    pub file: PathBuf,
    /// How a token is drawn: mixed-tokens:order=A,radius=R[,rate=G], clipped-logits:clip=C,batch=S[,temperature=T],
    /// interpolated-tokens:share=L, voted-tokens:sigma=S or submixed-tokens:order=A,discordance=D (pairs of models)
    #[arg(long, value_name = "NAME:PARAMETER=VALUE,...", value_parser = mechanism, allow_hyphen_values = true)]
    #[serde(serialize_with = "crate::args::values::written")]
    pub mechanism: Arc<dyn TokenMechanism>,
    /// Which ensembles are neighbors: one member removed, or replaced by a model that was set aside (`spare_logits`)
    #[arg(long, value_enum, default_value = "removed")]
    pub neighbors: TokenNeighbors,
    /// Where contexts come from: tokens that were answered before, or texts fixed in advance
    #[arg(long, value_enum, default_value = "answered")]
    pub contexts: Contexts,
    /// Temperature by which logits are divided first
    #[arg(long, value_name = "T", value_parser = temperature, default_value = "1", allow_hyphen_values = true, help_heading = "Advanced")]
    pub temperature: f64,
    /// Allow only the K likeliest tokens of the public model
    #[arg(long, value_name = "K", value_parser = whole::<u64>(2, 1_000_000_000, "10^9"), allow_hyphen_values = true, help_heading = "Advanced")]
    pub top_k: Option<u64>,
    /// Rényi orders, such as 2,5 or 2..64; positions are ranked by the first one
    #[arg(long, value_parser = orders, default_value = "2,4,8,16,32", allow_hyphen_values = true, help_heading = "Bounds")]
    pub orders: Orders,
    /// Failure probability: that any lower bound is wrong
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", allow_hyphen_values = true, help_heading = "Bounds")]
    pub failure_probability: FailureProbability,
    #[command(flatten)]
    #[serde(flatten)]
    pub claims: ClaimOptions,
    /// Claim: the Rényi divergence of each single answer at ORDER is at most VALUE
    #[arg(long, value_name = "ORDER:VALUE", value_parser = claim_rdp, allow_hyphen_values = true, help_heading = "Advanced")]
    pub claim_answer_rdp: Vec<(Order, Claimed)>,
    /// Simulate N transcripts (answers at all positions) with the ensemble and with each neighbor, and bound the
    /// leakage of all answers by a k-cut of their privacy losses; recorded `transcripts` are used without this option
    #[arg(long, value_name = "N", value_parser = whole::<u64>(100, 1_000_000, "10^6"), allow_hyphen_values = true, help_heading = "Advanced")]
    pub transcripts: Option<u64>,
    /// Number of most leaking positions to list
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0, 1_000_000, "10^6"), default_value = "10", allow_hyphen_values = true, help_heading = "Advanced")]
    pub top: u64,
}

impl TokensOptions {
    /// How logits are read.
    pub fn decoding(&self) -> leakbound::Result<Decoding> {
        Decoding::new(self.temperature, self.top_k.map(|kept| usize::try_from(kept).unwrap_or(usize::MAX)))
    }
}

pub fn mechanism(text: &str) -> Parsed<Arc<dyn TokenMechanism>> {
    token::parse_mechanism(text).map_err(|error| error.to_string())
}

fn temperature(text: &str) -> Parsed<f64> {
    let value = number(text)?;
    Decoding::new(value, None).map(|_| value).map_err(|error| error.to_string())
}

pub fn run(common: &Common, options: &TokensOptions) -> Result<Verdict> {
    let output = Output::open(common, &[&options.file])?;
    let recording = read_tokens(&options.file, common.memory())?;
    let title = format!(
        "Next tokens of {} at {}, {} tokens{}\nAnswers of {}",
        counted(recording.members(), "member"),
        counted(recording.positions(), "position"),
        recording.tokens(),
        if recording.has_public() { ", with a public model" } else { "" },
        options.mechanism
    );
    let study = TokensStudy {
        recording,
        decoding: options.decoding()?,
        mechanism: Arc::clone(&options.mechanism),
        neighbors: options.neighbors,
        contexts: options.contexts,
        orders: options.orders.0.clone(),
        delta: options.claims.delta,
        failure_probability: options.failure_probability,
        claims: options.claims.claims(),
        answer_claims: options.claim_answer_rdp.clone(),
        transcripts: options.transcripts,
        seed: common.seed,
        top: usize::try_from(options.top).unwrap_or(usize::MAX),
    };
    let answer = watched(common, &study)?;
    // Whatever was read is the same until now.
    let inputs = study.recording.inputs()?;
    let warnings = unused(study.recording.unused()).into_iter().collect();
    publish(common, output, answer, Asked { options, inputs, title, warnings })
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
