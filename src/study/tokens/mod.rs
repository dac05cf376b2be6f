//! What does each member of an ensemble of language models leak by the tokens that were answered?

mod answer;
mod composed;
mod loss;
mod meaning;
mod planted;
mod position;
mod request;
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
pub use request::TokensStudy;

use super::Study;
use super::number::Number;
use super::progress::{Meter, Progress};
use crate::accountant::Theorem;
use crate::audit::Rectangle;
use crate::bound::{Direction, Validity};
use crate::divergence::{Bracket, RdpCurve, order_grid};
use crate::error::Result;
use crate::parallel;
use crate::quantity::Order;
use crate::record::free_memory;
use crate::token::{Charge, TokenNeighbor, TokenNeighbors};
use composed::epsilon;
use loss::rejected;
use meaning::warnings;
use planted::test_planted;
use position::{Reading, Shown, is_above};
use sums::Sums;
use tested::Known;

/// What rounding adds to the loss of an answer, generously.
const LOSS_ROUNDING: f64 = 1e-12;

/// Positions that threads work on before progress is told.
const CHUNK: usize = 64;
/// The largest block that the allocator learns from, with its overhead.
const LARGEST_KEPT: usize = (32 << 20) - (8 << 10);
/// Arrays \[member, token\] of doubles that the work on one position holds.
const COPIES: usize = 8;

impl Study for TokensStudy {
    type Answer = TokensAnswer;

    /// # Errors
    /// Those of [`TokenRecording::position`](crate::record::TokenRecording::position) and of the mechanism;
    /// [`Error::Rejected`](crate::Error::Rejected) for an answered token that the mechanism never gives, for an empty
    /// list of orders, for a claim that cannot be tested, and if an exact value is above a theorem, which would be an
    /// error in this library.
    fn run(&self, progress: &Progress<'_>) -> Result<TokensAnswer> {
        self.check()?;
        let (recording, neighbors) = (&self.recording, self.all_neighbors());
        let meter = Meter::new(progress, recording.positions() as u64, "positions");
        let reading = Reading {
            study: self,
            composed: self.is_composed(),
            all_orders: self.all_orders(),
            simulated: self.simulated(),
        };
        // Works on the positions that fit in half of the free memory at the same time.
        let models = (recording.members() + recording.spares()).max(neighbors.len());
        let numbers = models.saturating_mul(recording.tokens());
        let losses = (2 * neighbors.len()).saturating_mul(self.transcript_count().unwrap_or(0) as usize);
        let bytes = numbers.saturating_mul(8 * COPIES).saturating_add(losses.saturating_mul(16)) as u64;
        let chunk = free_memory().map_or(CHUNK, |free| (free / 2 / bytes).clamp(1, CHUNK as u64) as usize);
        let mut sums = Sums::new(neighbors, &reading.all_orders, recording);
        // Arrays of a position are freed and requested again at the next one. After a large block was freed, the
        // allocator of glibc keeps such memory; otherwise the system takes it back and clears each page again.
        drop(std::hint::black_box(Vec::<u8>::with_capacity(LARGEST_KEPT)));
        recording.follow(chunk.min(recording.positions()))?;
        for start in (0..recording.positions()).step_by(chunk) {
            let end = (start + chunk).min(recording.positions());
            let shown = || parallel::map(start..end, |index| reading.shown(index));
            // The hashed data are in memory when the next positions are read, so files are read in order.
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
    fn concluded(&self, sums: Sums, orders: &[Order]) -> Result<TokensAnswer> {
        let failure = self.failure_of_each().split(sums.neighbors().len());
        let rounding = LOSS_ROUNDING * self.recording.answers() as f64;
        let bound = |loss: &f64| Rectangle::of_observed_loss(loss - rounding, failure);
        let lower: Option<Vec<Rectangle>> = sums.losses().map(|losses| losses.iter().map(bound).collect());
        let answered = sums.composed().iter().filter(|answers| !answers.is_empty());
        let known = parallel::try_map(answered, |answers| epsilon(answers, self.delta))?;
        let transcripts = self.bounds_by_transcripts(&sums, orders)?;
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
        let (lower, transcripts_found) = (lower.as_deref(), transcripts.as_ref());
        let of_claims =
            Known { study: self, sums: &sums, orders, lower, epsilons: &known, transcripts: transcripts_found };
        let claims = of_claims.tested();
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

    /// Theorems, and what the authors charge, next to the exact values.
    fn accountant_rows(&self, sums: &Sums, orders: &[Order]) -> Result<Vec<TokenAccountantRow>> {
        let positions = self.recording.answers() as f64;
        let row = |index: usize, name, source, validity, bound: f64| TokenAccountantRow {
            name,
            source,
            validity,
            order: orders[index].get(),
            answer: Number(bound),
            largest: Number(sums.largest(index).value),
            above: sums.above(index, bound),
            all: Number(bound * positions),
            exact: Number(sums.worst(index).1),
        };
        let mut rows = Vec::new();
        for theorem in self.mechanism.theorems(self.size(), self.neighbors) {
            let (name, statement) = (theorem.name(), theorem.statement());
            for (index, &order) in orders.iter().enumerate() {
                let (bound, largest) = (value_of(&theorem, order), sums.largest(index));
                if is_above(largest.value, bound) {
                    return Err(rejected(&format!(
                        "the exact D at α = {order} of position {} is {}, above {bound} of the theorem {name}: one of the \
                         two is wrong, please report it",
                        largest.position, largest.value
                    )));
                }
                rows.push(row(index, name, statement.source, statement.validity, bound));
            }
        }
        for (index, &order) in orders.iter().enumerate() {
            let charge = self.charge(order);
            rows.extend(charge.map(|charge| row(index, charge.name, charge.source, Validity::Heuristic, charge.value)));
        }
        Ok(rows)
    }

    /// What authors charge for the removal of a member.
    fn charge(&self, order: Order) -> Option<Charge> {
        self.mechanism.charge(self.size(), order).filter(|_| self.neighbors == TokenNeighbors::Removed)
    }

    /// ε of all answers. Bounds of single answers compose, even if contexts depend on answers: Rényi divergences by
    /// Mironov (2017), Proposition 1, dominating pairs by Zhu, Dong and Wang (2022), Theorem 10.
    fn epsilon_rows(&self, orders: &[Order]) -> Result<Vec<TokenEpsilonRow>> {
        let (size, answers) = (self.size(), self.recording.answers() as u64);
        let of_curve = |name, all: RdpCurve, validity| TokenEpsilonRow {
            name,
            composition: TokenComposition::Renyi,
            epsilon: Number(all.epsilon(self.delta).0.get()),
            validity,
        };
        let theorems = self.mechanism.theorems(size, self.neighbors);
        let of_theorem = |theorem: &Theorem| {
            let all = RdpCurve::from_fn(&order_grid(), |order| value_of(theorem, order)).repeated(answers as f64);
            of_curve(theorem.name(), all, theorem.statement().validity)
        };
        let mut rows: Vec<TokenEpsilonRow> = theorems.iter().map(of_theorem).collect();
        if let Some(dominating) = self.mechanism.dominating(size, self.neighbors) {
            rows.push(TokenEpsilonRow {
                name: "dominating-pair",
                composition: TokenComposition::PrivacyLoss,
                epsilon: Number(dominating.composed(answers, self.delta)?.epsilon(self.delta.get())),
                validity: Validity::Exact,
            });
        }
        for &order in orders {
            let Some(charge) = self.charge(order) else { continue };
            let all = RdpCurve::new(vec![order], vec![charge.value * answers as f64])?;
            rows.push(of_curve(charge.name, all, Validity::Heuristic));
        }
        Ok(rows)
    }
}

/// The bound of D_α of one answer in both directions.
fn value_of(theorem: &Theorem, order: Order) -> f64 {
    theorem.values_of_both(&[order]).map_or(f64::INFINITY, |values| values[0])
}
