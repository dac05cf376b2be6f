//! Options of `leakbound audit tokens`.

use super::values::{Parsed, claim_rdp, number, orders, whole_from};
use super::{ClaimOptions, Orders, failure_probability};
use clap::Args;
use leakbound::bound::Claimed;
use leakbound::quantity::{FailureProbability, Order};
use leakbound::study::Contexts;
use leakbound::token::{self, Decoding, TokenMechanism, TokenNeighbors};
use serde::{Serialize, Serializer};
use std::path::PathBuf;
use std::sync::Arc;

/// Options of `leakbound audit tokens`.
#[derive(Debug, Args, Serialize)]
pub struct TokensOptions {
    /// Next tokens of an ensemble: .npz, .safetensors, .npy, .parquet, or a folder of arrays (.npy)
    pub file: PathBuf,
    /// How a token is drawn: mixed-tokens:order=A,radius=R[,rate=G], clipped-logits:clip=C,batch=S[,temperature=T],
    /// interpolated-tokens:share=L, voted-tokens:sigma=S or submixed-tokens:order=A,discordance=D (pairs of models)
    #[arg(long, value_name = "NAME:PARAMETER=VALUE,...", value_parser = mechanism, allow_hyphen_values = true)]
    pub mechanism: TokenMechanismText,
    /// Which ensembles are neighbors: without a member, or with a model that was set aside (`spare_logits`) in its place
    #[arg(long, value_enum, default_value = "removed")]
    pub neighbors: TokenNeighbors,
    /// Where contexts come from: they hold tokens that were answered before, or were fixed beforehand
    #[arg(long, value_enum, default_value = "answered")]
    pub contexts: Contexts,
    /// Divide logits by this temperature first
    #[arg(long, value_name = "T", value_parser = temperature, default_value = "1", allow_hyphen_values = true)]
    pub temperature: f64,
    /// Only the K likeliest tokens of the public model may be given
    #[arg(long, value_name = "K", value_parser = kept, allow_hyphen_values = true)]
    pub top_k: Option<u64>,
    /// Rényi orders, such as 2,5 or 2..64; positions are ranked by the first one
    #[arg(long, value_parser = orders, default_value = "2,4,8,16,32", allow_hyphen_values = true)]
    pub orders: Orders,
    /// Failure probability: that any lower bound is wrong
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", allow_hyphen_values = true)]
    pub failure_probability: FailureProbability,
    /// What is claimed of all answers together
    #[command(flatten)]
    #[serde(flatten)]
    pub claims: ClaimOptions,
    /// Claim: the Rényi divergence of each single answer at ORDER is at most VALUE
    #[arg(long, value_name = "ORDER:VALUE", value_parser = claim_rdp, allow_hyphen_values = true)]
    pub claim_answer_rdp: Vec<(Order, Claimed)>,
    /// Simulate N transcripts, answers at all positions, with the ensemble and with each neighbor, and bound the leakage of
    /// all answers by a k-cut of their privacy losses; recorded `transcripts` are taken without this option
    #[arg(long, value_name = "N", value_parser = transcripts, allow_hyphen_values = true)]
    pub transcripts: Option<u64>,
    /// How many of the most leaking positions are listed
    #[arg(long, value_name = "N", value_parser = listed, default_value = "10", allow_hyphen_values = true)]
    pub top: u64,
}

/// A mechanism, as it was written.
#[derive(Debug, Clone)]
pub struct TokenMechanismText(pub Arc<dyn TokenMechanism>);

impl Serialize for TokenMechanismText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl TokensOptions {
    /// How logits are read.
    pub fn decoding(&self) -> leakbound::Result<Decoding> {
        Decoding::new(self.temperature, self.top_k.map(|kept| usize::try_from(kept).unwrap_or(usize::MAX)))
    }
}

pub(super) fn mechanism(text: &str) -> Parsed<TokenMechanismText> {
    token::parse(text).map(TokenMechanismText).map_err(|error| error.to_string())
}

fn temperature(text: &str) -> Parsed<f64> {
    let value = number(text)?;
    Decoding::new(value, None).map(|_| value).map_err(|error| error.to_string())
}

fn kept(text: &str) -> Parsed<u64> {
    whole_from(2, text, 1_000_000_000, "10^9")
}

fn transcripts(text: &str) -> Parsed<u64> {
    whole_from(100, text, 1_000_000, "10^6")
}

fn listed(text: &str) -> Parsed<u64> {
    whole_from(0, text, 1_000_000, "10^6")
}
