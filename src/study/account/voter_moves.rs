//! One teacher or party that changes its vote on every query: the neighbors of a recording that says who voted for
//! what.

use crate::bound::Direction;
use crate::distribution::OutputPair;
use crate::divergence::PrivacyLoss;
use crate::error::Result;
use crate::histogram::{Adjacency, Neighbor, VoteHistogram};
use crate::mechanism::NoisyArgmax;
use crate::quantity::Order;
use crate::record::RecordedQuery;
use rayon::prelude::*;
use std::collections::HashMap;

/// The moves of one vote away from a class of a known count.
struct Moves {
    /// Votes of the class that loses one.
    from: u64,
    changes: Vec<Neighbor>,
    /// By order, forward then reverse: the largest D_α of a move, and the place of the costliest among the changes.
    largest: Vec<[f64; 2]>,
    worst: Vec<[u32; 2]>,
}

impl Moves {
    fn new(from: u64, orders: usize) -> Self {
        Self { from, changes: Vec::new(), largest: vec![[f64::NEG_INFINITY; 2]; orders], worst: vec![[0; 2]; orders] }
    }

    fn add(&mut self, change: Neighbor, pair: &OutputPair, orders: &[Order]) {
        let place = self.changes.len() as u32;
        self.changes.push(change);
        for ((&order, largest), worst) in orders.iter().zip(&mut self.largest).zip(&mut self.worst) {
            for direction in Direction::BOTH {
                let value = pair.renyi(direction, order);
                if value >= largest[direction as usize] {
                    (largest[direction as usize], worst[direction as usize]) = (value, place);
                }
            }
        }
    }
}

/// Every move of one vote of each recorded query.
pub struct VoterMoves<'a> {
    mechanism: NoisyArgmax,
    queries: &'a [RecordedQuery],
    /// The different histograms up to the order of their classes, and the moves of each.
    different: Vec<(VoteHistogram, Vec<Moves>)>,
    /// The histogram of each query among them.
    places: Vec<usize>,
    voters: usize,
}

impl<'a> VoterMoves<'a> {
    /// Divergences of all moves at some orders; None unless every query says who voted for what.
    pub fn new(mechanism: NoisyArgmax, queries: &'a [RecordedQuery], orders: &[Order]) -> Result<Option<Self>> {
        let voters = queries.first().map_or(0, |query| query.votes.len());
        if voters == 0 || queries.iter().any(|query| query.votes.len() != voters) {
            return Ok(None);
        }
        // Classes are alike: histograms that are permutations of each other have the same moves.
        let mut places = Vec::with_capacity(queries.len());
        let mut sorted: Vec<Vec<u64>> = Vec::new();
        let mut known: HashMap<Vec<u64>, usize> = HashMap::new();
        for query in queries {
            let mut counts = query.histogram.counts().to_vec();
            counts.sort_unstable();
            places.push(*known.entry(counts).or_insert_with_key(|counts| {
                sorted.push(counts.clone());
                sorted.len() - 1
            }));
        }
        let moves = |counts: &Vec<u64>| {
            let votes = VoteHistogram::new(counts.clone())?;
            let p = mechanism.distribution(&votes)?;
            let mut all: Vec<Moves> = Vec::new();
            for change in votes.neighbors(Adjacency::Moved) {
                let Neighbor::Moved { from, .. } = change else { continue };
                let pair = OutputPair::new(p.clone(), mechanism.distribution(&votes.neighbor(change)?)?)?;
                let place = all.iter().position(|moves| moves.from == counts[from]).unwrap_or_else(|| {
                    all.push(Moves::new(counts[from], orders.len()));
                    all.len() - 1
                });
                all[place].add(change, &pair, orders);
            }
            Ok((votes, all))
        };
        let different = sorted.par_iter().map(moves).collect::<Result<_>>()?;
        Ok(Some(Self { mechanism, queries, different, places, voters }))
    }

    /// The moves of a voter on a query; None with a single class.
    fn moves(&self, query: usize, voter: usize) -> Option<&Moves> {
        let recorded = &self.queries[query];
        let count = recorded.histogram.counts()[usize::from(recorded.votes[voter])];
        self.different[self.places[query]].1.iter().find(|moves| moves.from == count)
    }

    /// For each voter the sum of its costliest moves.
    pub fn sums(&self, place: usize, direction: Direction) -> Vec<f64> {
        let cost =
            |query, voter| self.moves(query, voter).map_or(0.0, |moves| moves.largest[place][direction as usize]);
        let sum = |voter| (0..self.queries.len()).map(|query| cost(query, voter)).sum();
        (0..self.voters).into_par_iter().map(sum).collect()
    }

    /// The losses of the costliest moves of the costliest voter, at the order of this place: one pair of recordings
    /// that differ in the votes of one voter.
    pub fn losses(&self, place: usize, direction: Direction) -> Result<Vec<(PrivacyLoss, u64)>> {
        let sums = self.sums(place, direction);
        let Some(voter) = (0..sums.len()).max_by(|&a, &b| sums[a].total_cmp(&sums[b])) else { return Ok(Vec::new()) };
        let mut times: Vec<((usize, Neighbor), u64)> = Vec::new();
        let mut known: HashMap<(usize, Neighbor), usize> = HashMap::new();
        for query in 0..self.queries.len() {
            let Some(moves) = self.moves(query, voter) else { continue };
            let change = moves.changes[moves.worst[place][direction as usize] as usize];
            let index = *known.entry((self.places[query], change)).or_insert_with_key(|key| {
                times.push((*key, 0));
                times.len() - 1
            });
            times[index].1 += 1;
        }
        let loss = |((place, change), times): ((usize, Neighbor), u64)| {
            let votes = &self.different[place].0;
            let pair = self.mechanism.output_pair(votes, &votes.neighbor(change)?)?;
            Ok((pair.privacy_loss(direction), times))
        };
        times.into_par_iter().map(loss).collect()
    }
}
