//! Sums over positions, and the positions that leak most.

use super::answer::{Contexts, LeakingPositionRow, TokenCurve, TokenPositionRow, TokenRenyiRow};
use super::composed::BothLosses;
use super::position::{PositionLeakage, Shown, is_above};
use super::transcript_losses::Losses;
use crate::audit::Rectangle;
use crate::bound::{Direction, Validity};
use crate::order;
use crate::quantity::Order;
use crate::record::TokenRecording;
use crate::study::number::Number;
use crate::token::TokenNeighbor;

/// Points of a curve.
const POINTS: usize = 200;

/// The largest value of a single position.
#[derive(Debug, Clone, Copy)]
pub(super) struct LargestAnswer {
    pub(super) position: usize,
    /// The neighbor, by its index.
    pub(super) neighbor: usize,
    pub(super) value: f64,
}

/// What positions add up to.
pub(super) struct Sums {
    orders: Vec<Order>,
    neighbors: Vec<TokenNeighbor>,
    /// \[order\]\[neighbor\]\[direction\]
    sums: Vec<Vec<[Sum; 2]>>,
    /// \[order\]\[neighbor\]
    largest: Vec<Vec<f64>>,
    /// \[order\]
    largest_answer: Vec<LargestAnswer>,
    positions: Vec<TokenPositionRow>,
    /// \[neighbor\]
    losses: Option<Vec<Sum>>,
    /// \[neighbor\]\[position\]
    composed: Vec<Vec<BothLosses>>,
    /// \[neighbor\]
    transcripts: Vec<Losses>,
    /// \[sequence\]\[member\]: likelihoods of planted sequences.
    likelihoods: Vec<Vec<f64>>,
    /// How often points are kept, and how the sums at the first order grow: \[point\]\[neighbor\]\[direction\].
    stride: usize,
    grown: Vec<(usize, Vec<[f64; 2]>)>,
}

/// A sum of many terms in which no term is lost (Neumaier 1974).
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    fn add(&mut self, term: f64) {
        let sum = self.sum + term;
        if sum.is_finite() {
            self.lost += if self.sum.abs() >= term.abs() { (self.sum - sum) + term } else { (term - sum) + self.sum };
        }
        self.sum = sum;
    }

    fn get(self) -> f64 {
        if self.sum.is_finite() { self.sum + self.lost } else { self.sum }
    }
}

impl Sums {
    pub(super) fn new(neighbors: Vec<TokenNeighbor>, orders: &[Order], recording: &TokenRecording) -> Self {
        let count = neighbors.len();
        Self {
            orders: orders.to_vec(),
            neighbors,
            sums: vec![vec![[Sum::default(); 2]; count]; orders.len()],
            largest: vec![vec![0.0; count]; orders.len()],
            largest_answer: vec![LargestAnswer { position: 0, neighbor: 0, value: f64::NEG_INFINITY }; orders.len()],
            positions: Vec::with_capacity(recording.answers()),
            losses: recording.has_answers().then(|| vec![Sum::default(); count]),
            composed: vec![Vec::new(); count],
            transcripts: Vec::new(),
            likelihoods: vec![vec![0.0; recording.members()]; recording.planted().len()],
            stride: recording.answers().div_ceil(POINTS).max(1),
            grown: Vec::new(),
        }
    }

    /// Adds the next position.
    pub(super) fn add(&mut self, shown: Shown) {
        match shown {
            Shown::Answer(found) => self.add_answer(found),
            Shown::Planted { sequence, likelihoods } => {
                self.likelihoods[sequence].iter_mut().zip(likelihoods).for_each(|(sum, ln)| *sum += ln);
            }
        }
    }

    fn add_answer(&mut self, found: PositionLeakage) {
        let mut most = Vec::with_capacity(self.orders.len());
        for (index, by_neighbor) in found.divergences.iter().enumerate() {
            let mut best = (self.orders[index], 0, Direction::Forward, f64::NEG_INFINITY);
            for (neighbor, values) in by_neighbor.iter().enumerate() {
                for (side, direction) in Direction::BOTH.into_iter().enumerate() {
                    self.sums[index][neighbor][side].add(values[side]);
                    if values[side] > best.3 {
                        best = (self.orders[index], neighbor, direction, values[side]);
                    }
                }
                self.largest[index][neighbor] = self.largest[index][neighbor].max(values[0]).max(values[1]);
            }
            let largest = &mut self.largest_answer[index];
            if best.3 > largest.value {
                *largest = LargestAnswer { position: found.position, neighbor: best.1, value: best.3 };
            }
            most.push(best);
        }
        let worst = most.first().map_or(0, |best| best.1);
        let loss = found.answered.as_ref().map(|answered| answered.losses[worst]);
        let token = found.answered.as_ref().map(|answered| answered.token);
        if let (Some(answered), Some(losses)) = (&found.answered, &mut self.losses) {
            losses.iter_mut().zip(&answered.losses).for_each(|(sum, loss)| sum.add(*loss));
        }
        self.composed.iter_mut().zip(found.losses).for_each(|(all, loss)| all.push(loss));
        if self.transcripts.is_empty() {
            self.transcripts = found.transcripts;
        } else {
            let sums = self.transcripts.iter_mut().flatten().flatten();
            sums.zip(found.transcripts.iter().flatten().flatten()).for_each(|(sum, loss)| *sum += loss);
        }
        let largest = most
            .into_iter()
            .map(|(order, neighbor, direction, value)| (order, self.neighbors[neighbor], direction, value));
        let largest = largest.collect();
        self.positions.push(TokenPositionRow { position: found.position, token, largest, loss });
        let done = self.positions.len();
        if done.is_multiple_of(self.stride) {
            self.grown.push((done, self.sums[0].iter().map(|both| both.map(Sum::get)).collect()));
        }
    }

    pub(super) fn neighbors(&self) -> &[TokenNeighbor] {
        &self.neighbors
    }

    /// \[neighbor\]\[position\]: losses of all answers, if they are composed.
    pub(super) fn composed(&self) -> &[Vec<BothLosses>] {
        &self.composed
    }

    /// \[neighbor\]: the privacy loss of all answered tokens.
    pub(super) fn losses(&self) -> Option<Vec<f64>> {
        self.losses.as_ref().map(|losses| losses.iter().map(|loss| loss.get()).collect())
    }

    /// \[neighbor\]: the privacy losses of transcripts.
    pub(super) fn transcripts(&self) -> &[Losses] {
        &self.transcripts
    }

    pub(super) fn likelihoods(&self) -> &[Vec<f64>] {
        &self.likelihoods
    }

    /// \[order\]: the sums of a neighbor in a direction.
    pub(super) fn of(&self, neighbor: usize, direction: Direction) -> Vec<f64> {
        let side = usize::from(direction == Direction::Reverse);
        self.sums.iter().map(|by_neighbor| by_neighbor[neighbor][side].get()).collect()
    }

    /// The largest value of one position at an order.
    pub(super) fn largest(&self, order: usize) -> LargestAnswer {
        self.largest_answer[order]
    }

    /// The neighbor with the largest sum at an order, and the sum, in either direction.
    pub(super) fn worst(&self, order: usize) -> (usize, f64) {
        let (neighbor, _, value) = self.worst_of(order);
        (neighbor, value)
    }

    fn worst_of(&self, order: usize) -> (usize, Direction, f64) {
        let mut best = (0, Direction::Forward, f64::NEG_INFINITY);
        for (neighbor, both) in self.sums[order].iter().enumerate() {
            for (direction, sum) in Direction::BOTH.into_iter().zip(both) {
                if sum.get() > best.2 {
                    best = (neighbor, direction, sum.get());
                }
            }
        }
        best
    }

    /// Positions at which the value of some neighbor at an order is above a charge, by more than rounding.
    pub(super) fn above(&self, order: usize, charge: f64) -> u64 {
        self.positions.iter().filter(|position| is_above(position.largest[order].3, charge)).count() as u64
    }

    pub(super) fn renyi_rows(
        &self,
        lower: Option<&[Rectangle]>,
        orders: usize,
        contexts: Contexts,
    ) -> Vec<TokenRenyiRow> {
        let validity = match contexts {
            Contexts::Fixed => Validity::Exact,
            Contexts::Answered => Validity::Heuristic,
        };
        let mut rows = Vec::new();
        for (neighbor, of) in self.neighbors.iter().enumerate() {
            for (index, &order) in self.orders.iter().enumerate().take(orders) {
                let [forward, reverse] = self.sums[index][neighbor].map(|sum| Number(sum.get()));
                let at_least = lower.map(|lower| {
                    let bounds = Direction::BOTH.map(|direction| lower[neighbor].corner(order, direction).value);
                    Number(bounds[0].max(bounds[1]))
                });
                let largest = Number(self.largest[index][neighbor]);
                rows.push(TokenRenyiRow {
                    member: of.owner as u64,
                    replaced_by: of.replaced_by.map(|spare| spare as u64),
                    order: order.get(),
                    forward,
                    reverse,
                    largest,
                    at_least,
                    validity,
                });
            }
        }
        rows
    }

    /// The positions of the largest values at the first order, the first of equal ones.
    pub(super) fn leaking(&self, top: usize) -> Vec<LeakingPositionRow> {
        let value = |position: &&TokenPositionRow| position.largest[0].3;
        let mut rows: Vec<&TokenPositionRow> = self.positions.iter().collect();
        order::sort(&mut rows, |a, b| value(b).total_cmp(&value(a)));
        rows.truncate(top);
        let row = |one: &TokenPositionRow| {
            let (_, of, direction, divergence) = one.largest[0];
            LeakingPositionRow {
                position: one.position as u64,
                token: one.token.map(|token| token as u64),
                member: of.owner as u64,
                replaced_by: of.replaced_by.map(|spare| spare as u64),
                direction,
                divergence: Number(divergence),
                loss: one.loss.map(Number),
            }
        };
        rows.into_iter().map(row).collect()
    }

    /// How the largest sum at the first order grows.
    pub(super) fn curve(&self) -> TokenCurve {
        let (neighbor, direction, sum) = self.worst_of(0);
        let side = usize::from(direction == Direction::Reverse);
        let mut points: Vec<[f64; 2]> =
            self.grown.iter().map(|(done, sums)| [*done as f64, sums[neighbor][side]]).collect();
        let all = self.positions.len() as f64;
        if points.last().is_some_and(|last| last[0] < all) {
            points.push([all, sum]);
        }
        TokenCurve { neighbor: self.neighbors[neighbor], order: self.orders[0], direction, points }
    }

    pub(super) fn into_positions(self) -> Vec<TokenPositionRow> {
        self.positions
    }
}
