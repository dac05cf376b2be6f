//! The answer of an audit of tokens.

use crate::bound::{Direction, Validity};
use crate::quantity::Order;
use crate::study::claim::Claim;
use crate::study::number::Number;
use crate::study::{Answer, Warning};
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

/// A Rényi divergence of all answers together, for a member that is removed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokenRenyiRow {
    /// The member.
    pub member: u64,
    /// The order α.
    pub order: f64,
    /// The sum over positions of D_α of the answer with all members from that without the member, in nats.
    pub forward: Number,
    /// The same the other way round.
    pub reverse: Number,
    /// The largest of the values of single positions, in either direction.
    pub largest: Number,
    /// The larger of the lower bounds of both directions of all answers, from the tokens that were answered, with a
    /// finite-sample guarantee; absent where none were recorded.
    pub at_least: Option<Number>,
    /// What the sums are of all answers: `exact` where contexts were fixed beforehand, `heuristic` where they hold earlier
    /// answers, because another run has other contexts.
    pub validity: Validity,
}

/// What the tokens that were answered show of a member.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokenMemberRow {
    /// The member that is removed.
    pub member: u64,
    /// The privacy loss of the tokens that were answered: ln of their probability with all members over that without
    /// this one.
    pub loss: Option<Number>,
    /// Lower bound of ε at δ of all answers, with a finite-sample guarantee; all such bounds hold at once.
    pub epsilon_at_least: Option<Number>,
    /// Lower bound of μ of all answers, with a finite-sample guarantee; all such bounds hold at once.
    pub mu_at_least: Option<Number>,
    /// Upper bound of ε at δ from the sums; absent where contexts depend on answers.
    pub epsilon_at_most: Option<Number>,
}

/// An accountant at one order, beside the exact values.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokenAccountantRow {
    /// Its name.
    pub name: &'static str,
    /// Who states it.
    pub source: &'static str,
    /// What it guarantees: that of the theorem, or `heuristic` for what authors charge without a proof.
    pub validity: Validity,
    /// The order α.
    pub order: f64,
    /// Its bound of D_α of one answer, in nats.
    pub answer: Number,
    /// The largest exact value of one answer.
    pub largest: Number,
    /// Positions at which the exact value of a member is above it.
    pub above: u64,
    /// Its bound of D_α of all answers, also where contexts depend on answers.
    pub all: Number,
    /// The exact sum of the member with the largest one.
    pub exact: Number,
    /// The ε at δ of all answers that it comes to, of a theorem at the best order of a grid.
    pub epsilon: Number,
}

/// A position that leaks more than others.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeakingPositionRow {
    /// The position, from 0.
    pub position: u64,
    /// The token that was answered.
    pub token: Option<u64>,
    /// The member that leaks most.
    pub member: u64,
    /// Forward: with all members from without this one.
    pub direction: Direction,
    /// Its D_α at the first order, in nats.
    pub divergence: Number,
    /// The privacy loss of the answered token against that member.
    pub loss: Option<Number>,
}

/// The most leaking member of a position at each order.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenPositionRow {
    /// The position, from 0.
    pub position: usize,
    /// The token that was answered.
    pub token: Option<usize>,
    /// For each order: the member, the direction, and D_α in nats.
    pub largest: Vec<(Order, usize, Direction, f64)>,
    /// The privacy loss of the answered token against the first of these members.
    pub loss: Option<f64>,
}

/// A sum that grows with the positions.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenCurve {
    /// The member with the largest sum.
    pub member: usize,
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
    /// What is known of each member.
    pub losses: Vec<TokenMemberRow>,
    /// Accountants beside the exact values.
    pub accountants: Vec<TokenAccountantRow>,
    /// The positions that leak most, the most leaking one first.
    pub leaking: Vec<LeakingPositionRow>,
    /// The test of planted sequences, where some were recorded.
    pub planted: Option<PlantedTestRow>,
    /// The claims.
    pub claims: Vec<Claim>,
    /// How the largest sum grows.
    #[serde(skip)]
    pub curve: TokenCurve,
    /// All positions.
    #[serde(skip)]
    pub rows: Vec<TokenPositionRow>,
    /// What a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

impl TokenAccountantRow {
    /// Whether it is a theorem; otherwise it is what authors charge.
    #[must_use]
    pub fn is_theorem(&self) -> bool {
        self.validity != Validity::Heuristic
    }
}

impl Answer for TokensAnswer {
    const SCHEMA: &'static str = "leakbound.audit-tokens/1";

    fn claims(&self) -> &[Claim] {
        &self.claims
    }

    fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}
