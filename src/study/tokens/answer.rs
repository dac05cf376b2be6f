//! The answer of an audit of tokens.

use crate::bound::{Direction, Validity};
use crate::quantity::Order;
use crate::study::Warning;
use crate::study::claim::Claim;
use crate::study::number::Number;
use crate::token::{TokenNeighbor, TokenNeighbors};
use serde::{Deserialize, Serialize};

/// Where the contexts of the positions come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Contexts {
    /// They hold tokens that were answered before: sums are those of this run
    Answered,
    /// They were given beforehand: sums are divergences of everything that was answered
    Fixed,
}

/// A Rényi divergence of all answers together, against a neighbor.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokenRenyiRow {
    /// The member, or the owner of several models, that is removed or replaced.
    pub member: u64,
    /// The reserve model that replaces it; absent if it is removed.
    pub replaced_by: Option<u64>,
    /// The order α.
    pub order: f64,
    /// The sum over positions of D_α of the answer of the ensemble from that of the neighbor, in nats.
    pub forward: Number,
    /// The same in reverse.
    pub reverse: Number,
    /// The largest of the values of single positions, in either direction.
    pub largest: Number,
    /// The larger finite-sample lower bound of both directions of all answers, from the answered tokens; absent if none
    /// were recorded.
    pub at_least: Option<Number>,
    /// What the sums are for all answers: `exact` if contexts were fixed beforehand, `heuristic` if they hold earlier
    /// answers, because another run has other contexts.
    pub validity: Validity,
}

/// What the tokens that were answered show of a member.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokenMemberRow {
    /// The member, or the owner of several models, that is removed or replaced.
    pub member: u64,
    /// The reserve model that replaces it; absent if it is removed.
    pub replaced_by: Option<u64>,
    /// The privacy loss of the tokens that were answered: ln of their probability with the ensemble over that with the
    /// neighbor.
    pub loss: Option<Number>,
    /// Finite-sample lower bound of ε at δ of all answers; all such bounds hold simultaneously.
    pub epsilon_at_least: Option<Number>,
    /// Finite-sample lower bound of μ of all answers; all such bounds hold simultaneously.
    pub mu_at_least: Option<Number>,
    /// Upper bound of ε at δ of all answers, by privacy-loss distributions if available, else by the sums of Rényi
    /// divergences; absent if contexts depend on answers.
    pub epsilon_at_most: Option<Number>,
    /// ε at δ of all answers, enclosed from both sides by their privacy-loss distributions; absent if contexts depend
    /// on answers, and for more than a thousand answers.
    pub epsilon: Option<[Number; 2]>,
}

/// Where transcripts come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TranscriptSource {
    /// They were recorded.
    Recorded,
    /// They were drawn from the recorded distributions.
    Simulated,
}

/// What transcripts show, with a finite-sample guarantee. Each is an answer at every position, by the ensemble or by a
/// neighbor. Groups of similar privacy losses are a k-cut. All bounds hold simultaneously with those of the answered
/// tokens, whatever the recorded distributions are.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TranscriptsSection {
    /// Where transcripts come from.
    pub source: TranscriptSource,
    /// Transcripts of each ensemble.
    pub transcripts: u64,
    /// The seed of the pilot, and of simulated transcripts.
    pub seed: u64,
    /// Lower bounds of Rényi divergences of all answers, for each neighbor and order.
    pub renyi: Vec<TranscriptRenyiRow>,
    /// Lower bounds of ε and μ of all answers, for each neighbor.
    pub members: Vec<TranscriptMemberRow>,
}

/// Lower bounds of a Rényi divergence of all answers by transcripts, with the exact values.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TranscriptRenyiRow {
    /// The member, or the owner of several models, that is removed or replaced.
    pub member: u64,
    /// The reserve model that replaces it; absent if it is removed.
    pub replaced_by: Option<u64>,
    /// The order α.
    pub order: f64,
    /// Lower bound of D_α of the answers of the ensemble from those of the neighbor, in nats.
    pub forward: Number,
    /// The exact value of the recorded distributions.
    pub exact_forward: Number,
    /// Lower bound of the reverse divergence, in nats.
    pub reverse: Number,
    /// The exact reverse value.
    pub exact_reverse: Number,
}

/// Lower bounds of ε and μ of all answers by transcripts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TranscriptMemberRow {
    /// The member, or the owner of several models, that is removed or replaced.
    pub member: u64,
    /// The reserve model that replaces it; absent if it is removed.
    pub replaced_by: Option<u64>,
    /// Transcripts of both ensembles that defined the groups and are not counted.
    pub pilot: u64,
    /// Groups of similar privacy losses.
    pub groups: u64,
    /// Lower bound of ε at δ.
    pub epsilon_at_least: Number,
    /// Lower bound of μ.
    pub mu_at_least: Number,
}

/// An accountant at one order, next to the exact values.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokenAccountantRow {
    /// Its name.
    pub name: &'static str,
    /// Who states it.
    pub source: &'static str,
    /// The validity of the theorem, or `heuristic` for what authors charge without a proof.
    pub validity: Validity,
    /// The order α.
    pub order: f64,
    /// Its bound of D_α of one answer, in nats.
    pub answer: Number,
    /// The largest exact value of one answer.
    pub largest: Number,
    /// Positions at which the exact value of a member is above it.
    pub above: u64,
    /// Its bound of D_α of all answers, even if contexts depend on answers.
    pub all: Number,
    /// The exact sum of the member with the largest one.
    pub exact: Number,
}

/// How bounds of single answers become one of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TokenComposition {
    /// Rényi divergences are added, and converted at the best order.
    Renyi,
    /// Privacy losses of a pair that dominates every answer are convolved.
    PrivacyLoss,
}

/// ε of all answers by an accountant, even if contexts depend on answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokenEpsilonRow {
    /// The name of the bound of one answer.
    pub name: &'static str,
    /// How the answers are composed.
    pub composition: TokenComposition,
    /// ε at δ.
    pub epsilon: Number,
    /// The validity of the theorem, or `heuristic` for what authors charge without a proof.
    pub validity: Validity,
}

/// A position that leaks more than others.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeakingPositionRow {
    /// The position, from 0.
    pub position: u64,
    /// The token that was answered.
    pub token: Option<u64>,
    /// The member, or the owner of several models, that leaks most.
    pub member: u64,
    /// The reserve model that replaces it; absent if it is removed.
    pub replaced_by: Option<u64>,
    /// Forward: the ensemble from the neighbor.
    pub direction: Direction,
    /// Its D_α at the first order, in nats.
    pub divergence: Number,
    /// The privacy loss of the answered token against that neighbor.
    pub loss: Option<Number>,
}

/// The most leaking member of a position at each order.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenPositionRow {
    /// The position, from 0.
    pub position: usize,
    /// The token that was answered.
    pub token: Option<usize>,
    /// For each order: the neighbor, the direction, and D_α in nats.
    pub largest: Vec<(Order, TokenNeighbor, Direction, f64)>,
    /// The privacy loss of the answered token against the first of these neighbors.
    pub loss: Option<f64>,
}

/// A sum that grows with the positions.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenCurve {
    /// The neighbor with the largest sum.
    pub neighbor: TokenNeighbor,
    /// The order.
    pub order: Order,
    /// The direction of the larger sum.
    pub direction: Direction,
    /// Positions so far, and the sum over them.
    pub points: Vec<[f64; 2]>,
}

/// Whether planted sequences are likelier to the members that were trained on them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlantedTestRow {
    /// Planted sequences.
    pub sequences: u64,
    /// The mean rank, 1 for the largest likelihood, of the member that a sequence was planted in; ties have the mean of
    /// their ranks.
    pub mean_rank: Number,
    /// The mean rank if no member remembers its sequences.
    pub expected: Number,
    /// The probability of ranks as small or smaller if sequences were planted by a fair die and no member remembers.
    pub p_value: Number,
}

/// The answer of a [`TokensStudy`](super::TokensStudy).
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokensAnswer {
    /// The mechanism, in its text form.
    pub mechanism: String,
    /// Where contexts come from.
    pub contexts: Contexts,
    /// Which ensembles are neighbors.
    pub neighbors: TokenNeighbors,
    /// Number of positions at which the ensemble answered.
    pub positions: u64,
    /// Number of members.
    pub members: u64,
    /// Tokens of the vocabulary.
    pub tokens: u64,
    /// δ of bounds of ε.
    pub delta: Number,
    /// The probability that any lower bound is wrong.
    pub failure_probability: f64,
    /// Sums of exact Rényi divergences for each member and order.
    pub renyi: Vec<TokenRenyiRow>,
    /// What is known about each member.
    pub losses: Vec<TokenMemberRow>,
    /// What transcripts show; absent without transcripts.
    pub transcripts: Option<TranscriptsSection>,
    /// Accountants, next to the exact values.
    pub accountants: Vec<TokenAccountantRow>,
    /// ε of all answers by accountants.
    pub epsilons: Vec<TokenEpsilonRow>,
    /// The positions that leak most, the most leaking one first.
    pub leaking: Vec<LeakingPositionRow>,
    /// The test of planted sequences; absent if none were recorded.
    pub planted: Option<PlantedTestRow>,
    /// The claims.
    pub claims: Vec<Claim>,
    /// How the largest sum grows.
    #[serde(skip)]
    pub curve: TokenCurve,
    /// All positions.
    #[serde(skip)]
    pub rows: Vec<TokenPositionRow>,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

answer!(TokensAnswer, "leakbound.audit-tokens/1", claims, warnings);

impl TokenAccountantRow {
    /// Whether it is a theorem; otherwise it is what authors charge.
    #[must_use]
    pub fn is_theorem(&self) -> bool {
        self.validity != Validity::Heuristic
    }
}
