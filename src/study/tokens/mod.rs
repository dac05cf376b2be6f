//! What does each member of an ensemble of language models leak by the tokens that were answered?

mod answer;
mod meaning;
mod planted;
mod position;
mod sums;
#[cfg(test)]
mod tests;

pub use answer::{
    Contexts, LeakingPositionRow, PlantedTestRow, TokenAccountantRow, TokenCurve, TokenMemberRow, TokenPositionRow,
    TokenRenyiRow, TokensAnswer,
};

use super::Study;
use super::claim::{Claim, Claims, Quantity};
use super::number::{Number, short};
use super::progress::{Meter, Progress};
use crate::audit::Rectangle;
use crate::bound::{Direction, Validity};
use crate::divergence::{RdpCurve, order_grid};
use crate::error::{Error, Result};
use crate::quantity::{Delta, FailureProbability, Order};
use crate::record::{TokenRecording, free_memory};
use crate::token::{Decoding, EnsembleSize, TokenMechanism};
use meaning::warnings;
use planted::test_planted;
use position::{Reading, Shown, is_above};
use rayon::prelude::*;
use std::sync::Arc;
use sums::Sums;

/// What rounding adds to the loss of an answer, generously.
const LOSS_ROUNDING: f64 = 1e-12;
/// Planted sequences times members that are ranked: the distribution of the sum of ranks takes the square of this.
const MOST_RANKS: usize = 100_000;

/// Positions that threads work on before progress is told.
const CHUNK: usize = 64;
/// Arrays \[member, token\] of doubles that the work on one position holds.
const COPIES: usize = 8;

/// The leakage of an ensemble of language models by recorded next tokens.
///
/// At each position the distribution of the answer with all members is compared with that without each of them. Where
/// contexts do not depend on earlier answers, the sum over positions is D_α of everything that was answered; where they
/// do, it is the sum at the contexts that were recorded.
///
/// The tokens that were answered bound the leakage of the whole run from below, however contexts came about: see
/// [`Rectangle::of_observed_loss`]. Each member has an equal share of the failure probability, so that all of these bounds
/// hold at once. They need the recorded distributions to be those that the tokens were drawn from.
///
/// ```
/// # use leakbound::quantity::{Delta, FailureProbability, Order};
/// # use leakbound::record::{MemoryArray, MemoryBudget, MemoryFile, MemoryFiles, read_tokens};
/// # use leakbound::study::{Claims, Contexts, Study, TokensStudy, unwatched};
/// # use leakbound::token::{Decoding, parse};
/// # use std::sync::Arc;
/// // One position, two members, two tokens.
/// let logits: Vec<u8> = [2.0f64, 0.0, 0.0, 1.0].iter().flat_map(|logit| logit.to_le_bytes()).collect();
/// let (descriptor, shape) = ("<f8".into(), vec![1, 2, 2]);
/// let array = MemoryArray { descriptor, shape, fortran: false, bytes: Arc::new(logits) };
/// let files = MemoryFiles::from_iter([("logits.npy".into(), MemoryFile::of_array(array))]);
/// let study = TokensStudy {
///     recording: files.provide(|| read_tokens("logits.npy", MemoryBudget::default()))?,
///     decoding: Decoding::PLAIN,
///     mechanism: parse("interpolated-tokens:share=0.5")?,
///     contexts: Contexts::Fixed,
///     orders: vec![Order::new(2.0)?],
///     delta: Delta::new(1e-5)?,
///     failure_probability: FailureProbability::new(0.05)?,
///     claims: Claims::default(),
///     answer_claims: Vec::new(),
///     top: 1,
/// };
/// let answer = study.run(&unwatched)?;
/// // ln(0.53743²/0.38447 + 0.46257²/0.61553)
/// assert!((answer.renyi[0].forward.0 - 0.09428).abs() < 1e-5);
/// assert!(answer.accountants[0].answer.0 > answer.accountants[0].largest.0);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Those of the mechanism and of [`Rectangle::of_observed_loss`]; Mironov (2017), Proposition 1, for the composition.
pub struct TokensStudy {
    /// What the ensemble said.
    pub recording: TokenRecording,
    /// How logits are read.
    pub decoding: Decoding,
    /// How a token is drawn.
    pub mechanism: Arc<dyn TokenMechanism>,
    /// Where contexts come from.
    pub contexts: Contexts,
    /// The orders of Rényi divergences; positions are ranked by the first one.
    pub orders: Vec<Order>,
    /// δ of bounds of ε.
    pub delta: Delta,
    /// The probability that any lower bound is wrong.
    pub failure_probability: FailureProbability,
    /// What is claimed of all answers together.
    pub claims: Claims,
    /// What is claimed of each answer: D_α ≤ a value.
    pub answer_claims: Vec<(Order, f64)>,
    /// How many of the most leaking positions are listed.
    pub top: usize,
}

impl Study for TokensStudy {
    type Answer = TokensAnswer;

    /// # Errors
    /// Those of [`TokenRecording::position`] and of the mechanism; [`Error::Rejected`] for an answered token that the
    /// mechanism never gives, for no order, for a claim that cannot be tested, and where an exact value is above a
    /// theorem, which would be an error of this library.
    fn run(&self, progress: &Progress<'_>) -> Result<TokensAnswer> {
        self.check()?;
        let (recording, size) = (&self.recording, self.size());
        let meter = Meter::new(progress, recording.positions() as u64, "positions");
        let reading =
            Reading { recording, decoding: self.decoding, mechanism: &*self.mechanism, all_orders: self.all_orders() };
        let mut sums = Sums::new(size.members, &reading.all_orders, recording);
        // As many at once as half of the free memory holds.
        let numbers = recording.members().saturating_mul(recording.tokens());
        let bytes = numbers.saturating_mul(8 * COPIES) as u64;
        let chunk = free_memory().map_or(CHUNK, |free| (free / 2 / bytes).clamp(1, CHUNK as u64) as usize);
        for start in (0..recording.positions()).step_by(chunk) {
            let end = (start + chunk).min(recording.positions());
            let found: Vec<Result<Shown>> = (start..end).into_par_iter().map(|index| reading.shown(index)).collect();
            // The first position that fails is the one that is named.
            for one in found {
                sums.add(one?);
            }
            meter.add((end - start) as u64)?;
        }
        self.concluded(sums, &reading.all_orders)
    }
}

impl TokensStudy {
    fn size(&self) -> EnsembleSize {
        EnsembleSize { members: self.recording.members(), tokens: self.decoding.kept(self.recording.tokens()) }
    }

    /// The orders that are asked for, and those of claims.
    fn all_orders(&self) -> Vec<Order> {
        let mut orders = self.orders.clone();
        for (order, _) in self.claims.rdp.iter().chain(&self.answer_claims) {
            if !orders.contains(order) {
                orders.push(*order);
            }
        }
        orders
    }

    fn check(&self) -> Result<()> {
        let rejected = |reason: String| Err(Error::Rejected { operation: "audit of tokens", reason });
        if self.orders.is_empty() {
            return rejected("no order is given".into());
        }
        if self.mechanism.kind().needs_public && !self.recording.has_public() {
            let reason = format!("{} needs a public model, and none was recorded", self.mechanism.kind().name);
            return rejected(reason);
        }
        let ranks = self.recording.planted().len() * self.recording.members();
        if ranks > MOST_RANKS {
            let reason = format!(
                "{} planted sequences of {} members; sequences times members may be {MOST_RANKS} at most",
                self.recording.planted().len(),
                self.recording.members()
            );
            return rejected(reason);
        }
        let claims = !self.claims.is_empty() || !self.answer_claims.is_empty();
        if self.recording.answers() == 0 && claims {
            return rejected("claims are about answers, and every position is one of a planted sequence".into());
        }
        let silent = !self.recording.has_answers();
        let of_tokens = self.claims.epsilon.is_some() || self.claims.mu.is_some();
        let of_sums = !self.claims.rdp.is_empty() && self.contexts == Contexts::Answered;
        if silent && (of_tokens || of_sums) {
            let reason = "the claim is tested by the tokens that were answered, and none were recorded";
            return rejected(reason.into());
        }
        Ok(())
    }

    fn concluded(&self, sums: Sums, orders: &[Order]) -> Result<TokensAnswer> {
        let failure = self.failure_probability.split(sums.members());
        let rounding = LOSS_ROUNDING * self.recording.answers() as f64;
        let bound = |loss: &f64| Rectangle::of_observed_loss(loss - rounding, failure);
        let lower: Option<Vec<Rectangle>> = sums.losses().map(|losses| losses.iter().map(bound).collect());
        // Nothing is said of an ensemble that was only asked for planted sequences.
        let (renyi, members, accountants) = if self.recording.answers() == 0 {
            (Vec::new(), Vec::new(), Vec::new())
        } else {
            let renyi: Vec<TokenRenyiRow> = sums.renyi_rows(lower.as_deref(), self.orders.len(), self.contexts);
            (renyi, self.member_rows(&sums, orders, lower.as_deref())?, self.accountant_rows(&sums, orders)?)
        };
        let planted = self.recording.planted();
        let planted = (!planted.is_empty()).then(|| test_planted(planted, sums.likelihoods()));
        let claims = self.tested(&sums, orders, lower.as_deref());
        let mut answer = TokensAnswer {
            mechanism: self.mechanism.to_string(),
            contexts: self.contexts,
            positions: self.recording.answers() as u64,
            members: sums.members() as u64,
            tokens: self.recording.tokens() as u64,
            delta: Number(self.delta.get()),
            failure_probability: self.failure_probability.get(),
            renyi,
            losses: members,
            accountants,
            leaking: sums.leaking(self.top),
            planted,
            claims,
            curve: sums.curve(),
            rows: Vec::new(),
            warnings: Vec::new(),
        };
        answer.warnings = warnings(&answer, &sums);
        answer.rows = sums.into_positions();
        Ok(answer)
    }

    fn member_rows(&self, sums: &Sums, orders: &[Order], lower: Option<&[Rectangle]>) -> Result<Vec<TokenMemberRow>> {
        (0..sums.members())
            .map(|member| {
                let curve = |direction| RdpCurve::new(orders.to_vec(), sums.of(member, direction));
                let at_most = match self.contexts {
                    Contexts::Answered => None,
                    Contexts::Fixed => {
                        let both = Direction::BOTH.map(|one| Ok(curve(one)?.epsilon(self.delta).0.get()));
                        let [forward, reverse]: [Result<f64>; 2] = both;
                        Some(Number(forward?.max(reverse?)))
                    }
                };
                let bounds = lower.map(|lower| &lower[member]);
                Ok(TokenMemberRow {
                    member: member as u64,
                    loss: sums.losses().map(|losses| Number(losses[member])),
                    epsilon_at_least: bounds.map(|one| Number(one.epsilon(self.delta, Direction::Forward).value)),
                    mu_at_least: bounds.map(|one| Number(one.gdp().value)),
                    epsilon_at_most: at_most,
                })
            })
            .collect()
    }

    /// Theorems, and what the authors charge, beside the exact values.
    fn accountant_rows(&self, sums: &Sums, orders: &[Order]) -> Result<Vec<TokenAccountantRow>> {
        let (size, positions) = (self.size(), self.recording.answers());
        let mut rows = Vec::new();
        for theorem in self.mechanism.theorems(size) {
            let cost = |order: Order| theorem.values_of_both(&[order]).map_or(f64::INFINITY, |values| values[0]);
            // Positions compose, also where contexts depend on answers (Mironov 2017, Proposition 1).
            let all = RdpCurve::from_fn(&order_grid(), cost).repeated(positions as f64);
            let epsilon = Number(all.epsilon(self.delta).0.get());
            for (index, &order) in orders.iter().enumerate() {
                let (bound, largest) = (cost(order), sums.largest(index));
                if is_above(largest.value, bound) {
                    let reason = format!(
                        "the exact D at α = {order} of position {} is {}, above {} of the theorem {}: one of the two is \
                         wrong, please report it",
                        largest.position,
                        largest.value,
                        bound,
                        theorem.name()
                    );
                    return Err(Error::Rejected { operation: "audit of tokens", reason });
                }
                rows.push(TokenAccountantRow {
                    name: theorem.name(),
                    source: theorem.statement().source,
                    validity: theorem.statement().validity,
                    order: order.get(),
                    answer: Number(bound),
                    largest: Number(largest.value),
                    above: 0,
                    all: Number(bound * positions as f64),
                    exact: Number(sums.worst(index).1),
                    epsilon,
                });
            }
        }
        for (index, &order) in orders.iter().enumerate() {
            let Some(charge) = self.mechanism.charge(size, order) else { continue };
            let all = charge.value * positions as f64;
            let of_one = RdpCurve::new(vec![order], vec![all])?;
            rows.push(TokenAccountantRow {
                name: charge.name,
                source: charge.source,
                validity: Validity::Heuristic,
                order: order.get(),
                answer: Number(charge.value),
                largest: Number(sums.largest(index).value),
                above: sums.above(index, charge.value),
                all: Number(all),
                exact: Number(sums.worst(index).1),
                epsilon: Number(of_one.epsilon(self.delta).0.get()),
            });
        }
        Ok(rows)
    }

    fn tested(&self, sums: &Sums, orders: &[Order], lower: Option<&[Rectangle]>) -> Vec<Claim> {
        let place = |order: &Order| orders.iter().position(|other| other == order).unwrap_or_default();
        let mut claims = Vec::new();
        for (claim, quantity, value) in self.claims.all() {
            let exact = match quantity {
                Quantity::Rdp(order) if self.contexts == Contexts::Fixed => Some(sums.worst(place(&order))),
                _ => None,
            };
            let bound = |one: &Rectangle| match quantity {
                Quantity::Epsilon(delta) => one.epsilon(delta, Direction::Forward).value,
                Quantity::Rdp(order) => {
                    Direction::BOTH.map(|direction| one.corner(order, direction).value).into_iter().fold(0.0, f64::max)
                }
                Quantity::Mu => one.gdp().value,
            };
            let bounds = lower.unwrap_or_default().iter().map(bound).enumerate();
            let shown = bounds.fold((0, 0.0), |best, next| if next.1 > best.1 { next } else { best });
            let ((member, strongest), failure) = match exact {
                Some(exact) => (exact, 0.0),
                None => (shown, self.failure_probability.get()),
            };
            claims.push(Claim {
                claim: format!("all answers: {claim}"),
                lower: Number(strongest),
                query: if strongest > 0.0 { format!("without member {member}") } else { String::new() },
                refuted: if exact.is_some() { is_above(strongest, value) } else { strongest > value },
                failure_probability: failure,
            });
        }
        for &(order, value) in &self.answer_claims {
            let largest = sums.largest(place(&order));
            claims.push(Claim {
                claim: format!("each answer: D ≤ {} at α = {order}", short(value)),
                lower: Number(largest.value),
                query: format!("position {}, without member {}", largest.position, largest.member),
                refuted: is_above(largest.value, value),
                failure_probability: 0.0,
            });
        }
        claims
    }
}
