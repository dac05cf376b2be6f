//! What does each member of an ensemble of language models leak by the tokens that were answered?

mod answer;
mod composed;
mod loss;
mod meaning;
mod planted;
mod position;
mod sums;
mod tested;
#[cfg(test)]
mod tests;
mod transcript_losses;
mod transcripts;

pub use answer::{
    Contexts, LeakingPositionRow, PlantedTestRow, TokenAccountantRow, TokenComposition, TokenCurve, TokenEpsilonRow,
    TokenMemberRow, TokenPositionRow, TokenRenyiRow, TokensAnswer, TranscriptMemberRow, TranscriptRenyiRow,
    TranscriptSource, TranscriptsSection,
};

use super::Study;
use super::claim::Claims;
use super::number::Number;
use super::progress::{Meter, Progress};
use crate::accountant::Theorem;
use crate::audit::Rectangle;
use crate::bound::{Claimed, Direction, Validity};
use crate::divergence::{Bracket, RdpCurve, order_grid};
use crate::error::{Error, Result};
use crate::parallel;
use crate::quantity::{Delta, FailureProbability, Order};
use crate::record::{TokenRecording, free_memory};
use crate::token::{Charge, Decoding, EnsembleSize, TokenMechanism, TokenNeighbor, TokenNeighbors};
use composed::{epsilon, is_composed};
use meaning::warnings;
use planted::test_planted;
use position::{Reading, Shown, is_above};
use std::sync::Arc;
use sums::Sums;
use tested::Known;
use transcript_losses::Simulated;
use transcripts::{TranscriptPlan, check_transcripts};

/// What rounding adds to the loss of an answer, generously.
const LOSS_ROUNDING: f64 = 1e-12;
/// Planted sequences times members that are ranked: the distribution of the sum of ranks takes the square of this.
const MOST_RANKS: usize = 100_000;

/// Positions that threads work on before progress is told.
const CHUNK: usize = 64;
/// The largest block that the allocator learns from, with what it adds to it.
const LARGEST_KEPT: usize = (32 << 20) - (8 << 10);
/// Arrays \[member, token\] of doubles that the work on one position holds.
const COPIES: usize = 8;

/// The leakage of an ensemble of language models by recorded next tokens.
///
/// At each position the distribution of the answer is compared with that of each neighboring ensemble: without a member,
/// or with another model in its place. Where contexts do not depend on earlier answers, the sum over positions is D_α of
/// everything that was answered, and ε at δ of up to a thousand answers is enclosed by the convolution of their privacy
/// losses; where contexts do, the sum is that at the contexts that were recorded.
///
/// The tokens that were answered bound the leakage of the whole run from below, however contexts came about: see
/// [`Rectangle::of_observed_loss`]. Each neighbor has an equal share of the failure probability, so that all of these bounds
/// hold at once. They need the recorded distributions to be those that the tokens were drawn from.
///
/// Of fixed contexts, transcripts show more: all positions answered again and again, by the ensemble and by each neighbor,
/// recorded or simulated. Their privacy losses are grouped, and the groups are a k-cut whose bounds hold whatever gave the
/// tokens.
///
/// ```
/// # use leakbound::quantity::{Delta, FailureProbability, Order};
/// # use leakbound::record::{MemoryArray, MemoryBudget, MemoryFile, MemoryFiles, read_tokens};
/// # use leakbound::study::{Claims, Contexts, Study, TokensStudy, unwatched};
/// # use leakbound::token::{Decoding, TokenNeighbors, parse};
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
///     neighbors: TokenNeighbors::Removed,
///     contexts: Contexts::Fixed,
///     orders: vec![Order::new(2.0)?],
///     delta: Delta::new(1e-5)?,
///     failure_probability: FailureProbability::new(0.05)?,
///     claims: Claims::default(),
///     answer_claims: Vec::new(),
///     transcripts: None,
///     seed: 0,
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
    /// Which ensembles are neighbors.
    pub neighbors: TokenNeighbors,
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
    pub answer_claims: Vec<(Order, Claimed)>,
    /// Simulate so many transcripts of the ensemble and of each neighbor, and bound the leakage of all answers by them;
    /// if `None`, those that were recorded are taken. Contexts must be fixed.
    pub transcripts: Option<u64>,
    /// The seed of simulated transcripts, and of the choice of the pilot.
    pub seed: u64,
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
        let (recording, neighbors) = (&self.recording, self.all_neighbors());
        let meter = Meter::new(progress, recording.positions() as u64, "positions");
        let reading = Reading {
            recording,
            decoding: self.decoding,
            mechanism: &*self.mechanism,
            neighbors: self.neighbors,
            composed: self.is_composed(),
            all_orders: self.all_orders(),
            simulated: self.simulated(),
        };
        // As many at once as half of the free memory holds.
        let models = (recording.members() + recording.spares()).max(neighbors.len());
        let numbers = models.saturating_mul(recording.tokens());
        let losses = (2 * neighbors.len()).saturating_mul(self.transcript_count().unwrap_or(0) as usize);
        let bytes = numbers.saturating_mul(8 * COPIES).saturating_add(losses.saturating_mul(16)) as u64;
        let chunk = free_memory().map_or(CHUNK, |free| (free / 2 / bytes).clamp(1, CHUNK as u64) as usize);
        let mut sums = Sums::new(neighbors, &reading.all_orders, recording);
        // Arrays of a position are freed and asked for again at the next one. From a large block that was freed, the
        // allocator of glibc learns to keep such memory; else the system takes it back, and clears each page anew.
        drop(std::hint::black_box(Vec::<u8>::with_capacity(LARGEST_KEPT)));
        recording.follow(chunk.min(recording.positions()))?;
        for start in (0..recording.positions()).step_by(chunk) {
            let end = (start + chunk).min(recording.positions());
            let shown = || parallel::map(start..end, |index| reading.shown(index));
            // What is hashed is at hand when the next positions are read; files are read in their order so.
            let next = (end + chunk).min(recording.positions());
            let (found, hashed): (Vec<Result<Shown>>, _) = rayon::join(shown, || recording.follow(next));
            hashed?;
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

    fn all_neighbors(&self) -> Vec<TokenNeighbor> {
        let each = self.mechanism.kind().models_of_owner;
        self.neighbors.of(self.recording.members() / each, self.recording.spares() / each)
    }

    /// Whether ε of all answers is known from their privacy losses.
    fn is_composed(&self) -> bool {
        self.contexts == Contexts::Fixed && is_composed(self.recording.answers(), self.all_neighbors().len())
    }

    /// Transcripts of each ensemble.
    fn transcript_count(&self) -> Option<u64> {
        self.transcripts.or_else(|| self.recording.transcripts().map(|[_, count]| count as u64))
    }

    fn simulated(&self) -> Option<Simulated> {
        self.transcripts.map(|count| Simulated { count: count as usize, seed: self.seed })
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
        let (each, name) = (self.mechanism.kind().models_of_owner, self.mechanism.kind().name);
        if !self.recording.members().is_multiple_of(each) {
            let reason =
                format!("{name} takes {each} models of each owner, and {} were recorded", self.recording.members());
            return rejected(reason);
        }
        let spares = self.recording.spares();
        if self.neighbors == TokenNeighbors::Replaced && (spares == 0 || !spares.is_multiple_of(each)) {
            let reason = format!(
                "members are to be replaced by models that were set aside, and {spares} were recorded; {each} or a multiple \
                 is needed, as `spare_logits` [position, spare, token]"
            );
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
        self.check_transcripts()?;
        let silent = !self.recording.has_answers() && self.transcript_count().is_none();
        let composed = |delta: Delta| self.is_composed() && delta == self.delta;
        let of_epsilon = self.claims.epsilon.is_some_and(|(_, delta)| !composed(delta));
        let of_tokens = of_epsilon || self.claims.mu.is_some();
        let of_sums = !self.claims.rdp.is_empty() && self.contexts == Contexts::Answered;
        if silent && (of_tokens || of_sums) {
            let reason = "the claim is tested by the tokens that were answered, and none were recorded";
            return rejected(reason.into());
        }
        Ok(())
    }

    fn check_transcripts(&self) -> Result<()> {
        let rejected = |reason: String| Err(Error::Rejected { operation: "audit of tokens", reason });
        let Some(count) = self.transcript_count() else { return Ok(()) };
        if self.contexts == Contexts::Answered {
            let reason = "transcripts are answers in contexts that were fixed beforehand: say so by --contexts fixed";
            return rejected(reason.into());
        }
        if self.recording.answers() == 0 {
            return rejected("transcripts are of answers, and every position is one of a planted sequence".into());
        }
        let ensembles = self.all_neighbors().len() + 1;
        if let Some([recorded, _]) = self.recording.transcripts() {
            if self.transcripts.is_some() {
                return rejected("transcripts were recorded: there are none to simulate".into());
            }
            if recorded != ensembles {
                let reason = format!(
                    "transcripts of {recorded} ensembles were recorded; {ensembles} are expected, the whole one and {}                      neighbors",
                    ensembles - 1
                );
                return rejected(reason);
            }
        }
        check_transcripts(count, ensembles)
    }

    /// Single bounds are those of the answered tokens, and those of transcripts.
    fn failure_of_each(&self) -> FailureProbability {
        let kinds = usize::from(self.recording.has_answers()) + usize::from(self.transcript_count().is_some());
        self.failure_probability.split(kinds.max(1))
    }

    fn concluded(&self, sums: Sums, orders: &[Order]) -> Result<TokensAnswer> {
        let failure = self.failure_of_each().split(sums.neighbors().len());
        let rounding = LOSS_ROUNDING * self.recording.answers() as f64;
        let bound = |loss: &f64| Rectangle::of_observed_loss(loss - rounding, failure);
        let lower: Option<Vec<Rectangle>> = sums.losses().map(|losses| losses.iter().map(bound).collect());
        let answered = sums.composed().iter().filter(|answers| !answers.is_empty());
        let known = parallel::try_map(answered, |answers| epsilon(answers, self.delta))?;
        let simulated = self.transcripts.is_some();
        let plan = TranscriptPlan {
            source: if simulated { TranscriptSource::Simulated } else { TranscriptSource::Recorded },
            orders,
            shown: self.orders.len(),
            delta: self.delta,
            failure: self.failure_of_each(),
            seed: self.seed,
        };
        let transcripts = plan.bounded(&sums)?;
        // Nothing is said of an ensemble that was only asked for planted sequences.
        let (mut renyi, mut members, mut accountants, mut epsilons) = Default::default();
        if self.recording.answers() > 0 {
            renyi = sums.renyi_rows(lower.as_deref(), self.orders.len(), self.contexts);
            members = self.member_rows(&sums, orders, lower.as_deref(), &known)?;
            accountants = self.accountant_rows(&sums, orders)?;
            epsilons = self.epsilon_rows(orders)?;
        }
        let planted = self.recording.planted();
        let planted = (!planted.is_empty()).then(|| test_planted(planted, sums.likelihoods()));
        let of_claims = Known {
            contexts: self.contexts,
            delta: self.delta,
            failure: self.failure_probability,
            sums: &sums,
            orders,
            lower: lower.as_deref(),
            epsilons: &known,
            transcripts: transcripts.as_ref(),
        };
        let mut claims = of_claims.test(&self.claims);
        claims.extend(of_claims.test_answers(&self.answer_claims));
        let mut answer = TokensAnswer {
            mechanism: self.mechanism.to_string(),
            contexts: self.contexts,
            neighbors: self.neighbors,
            positions: self.recording.answers() as u64,
            members: self.recording.members() as u64,
            tokens: self.recording.tokens() as u64,
            delta: Number(self.delta.get()),
            failure_probability: self.failure_probability.get(),
            renyi,
            losses: members,
            transcripts: transcripts.map(|found| found.section),
            accountants,
            epsilons,
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

    fn member_rows(
        &self,
        sums: &Sums,
        orders: &[Order],
        lower: Option<&[Rectangle]>,
        known: &[Bracket],
    ) -> Result<Vec<TokenMemberRow>> {
        let row = |(index, neighbor): (usize, &TokenNeighbor)| {
            let curve = |direction| RdpCurve::new(orders.to_vec(), sums.of(index, direction));
            let enclosed = known.get(index);
            let at_most = match self.contexts {
                Contexts::Answered => None,
                Contexts::Fixed => {
                    let both = Direction::BOTH.map(|one| Ok(curve(one)?.epsilon(self.delta).0.get()));
                    let [forward, reverse]: [Result<f64>; 2] = both;
                    let by_sums = forward?.max(reverse?);
                    Some(Number(enclosed.map_or(by_sums, |one| one.upper.min(by_sums))))
                }
            };
            let bounds = lower.map(|lower| &lower[index]);
            Ok(TokenMemberRow {
                member: neighbor.owner as u64,
                replaced_by: neighbor.replaced_by.map(|spare| spare as u64),
                loss: sums.losses().map(|losses| Number(losses[index])),
                epsilon_at_least: bounds.map(|one| Number(one.epsilon(self.delta, Direction::Forward).value)),
                mu_at_least: bounds.map(|one| Number(one.gdp().value)),
                epsilon_at_most: at_most,
                epsilon: enclosed.map(|one| [Number(one.lower), Number(one.upper)]),
            })
        };
        sums.neighbors().iter().enumerate().map(row).collect()
    }

    /// Theorems, and what the authors charge, beside the exact values.
    fn accountant_rows(&self, sums: &Sums, orders: &[Order]) -> Result<Vec<TokenAccountantRow>> {
        let (size, positions) = (self.size(), self.recording.answers());
        let mut rows = Vec::new();
        for theorem in self.mechanism.theorems(size, self.neighbors) {
            for (index, &order) in orders.iter().enumerate() {
                let (bound, largest) = (value_of(&theorem, order), sums.largest(index));
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
                });
            }
        }
        for (index, &order) in orders.iter().enumerate() {
            let Some(charge) = self.charge(order) else { continue };
            rows.push(TokenAccountantRow {
                name: charge.name,
                source: charge.source,
                validity: Validity::Heuristic,
                order: order.get(),
                answer: Number(charge.value),
                largest: Number(sums.largest(index).value),
                above: sums.above(index, charge.value),
                all: Number(charge.value * positions as f64),
                exact: Number(sums.worst(index).1),
            });
        }
        Ok(rows)
    }

    /// What authors charge for the removal of a member.
    fn charge(&self, order: Order) -> Option<Charge> {
        self.mechanism.charge(self.size(), order).filter(|_| self.neighbors == TokenNeighbors::Removed)
    }

    /// ε of all answers. Bounds of single answers compose, also where contexts depend on answers: Rényi divergences by
    /// Mironov (2017), Proposition 1, dominating pairs by Zhu, Dong and Wang (2022), Theorem 10.
    fn epsilon_rows(&self, orders: &[Order]) -> Result<Vec<TokenEpsilonRow>> {
        let (size, answers) = (self.size(), self.recording.answers() as u64);
        let theorems = self.mechanism.theorems(size, self.neighbors);
        let mut rows: Vec<TokenEpsilonRow> = theorems
            .iter()
            .map(|theorem| {
                let all = RdpCurve::from_fn(&order_grid(), |order| value_of(theorem, order)).repeated(answers as f64);
                TokenEpsilonRow {
                    name: theorem.name(),
                    composition: TokenComposition::Renyi,
                    epsilon: Number(all.epsilon(self.delta).0.get()),
                    validity: theorem.statement().validity,
                }
            })
            .collect();
        if let Some(dominating) = self.mechanism.dominating(size, self.neighbors) {
            rows.push(TokenEpsilonRow {
                name: "dominating-pair",
                composition: TokenComposition::PrivacyLoss,
                epsilon: Number(dominating.composed(answers, self.delta)?.epsilon(self.delta.get())),
                validity: Validity::Exact,
            });
        }
        for charge in orders.iter().filter_map(|&order| Some((order, self.charge(order)?))) {
            let (order, charge) = charge;
            let all = RdpCurve::new(vec![order], vec![charge.value * answers as f64])?;
            rows.push(TokenEpsilonRow {
                name: charge.name,
                composition: TokenComposition::Renyi,
                epsilon: Number(all.epsilon(self.delta).0.get()),
                validity: Validity::Heuristic,
            });
        }
        Ok(rows)
    }
}

/// The bound of D_α of one answer in both directions.
fn value_of(theorem: &Theorem, order: Order) -> f64 {
    theorem.values_of_both(&[order]).map_or(f64::INFINITY, |values| values[0])
}
