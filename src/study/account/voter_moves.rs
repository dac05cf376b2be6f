//! One teacher or party that changes its vote on every query: the neighbors of a recording with individual votes.

use crate::bound::Direction;
use crate::distribution::OutputPair;
use crate::divergence::{PrivacyLoss, searched};
use crate::error::Result;
use crate::histogram::{Neighbor, VoteChange, VoteHistogram};
use crate::mechanism::NoisyArgmax;
use crate::parallel;
use crate::quantity::Order;
use crate::record::RecordedQuery;
use crate::study::progress::Meter;
use std::collections::HashMap;

/// The moves of one vote away from a class of a known count.
struct Moves {
    /// Votes of the class that loses one.
    from: u64,
    /// By order, forward then reverse: the largest D_α of a move, and the costliest one.
    largest: Vec<[f64; 2]>,
    worst: Vec<[Neighbor; 2]>,
}

impl Moves {
    /// The costliest of these moves, which are away from one class.
    fn new(mechanism: NoisyArgmax, votes: &VoteHistogram, changes: &[Neighbor], orders: &[Order]) -> Result<Self> {
        let mut found = Self {
            from: giver(&changes[0]).map_or(0, |class| votes.counts()[class]),
            largest: vec![[f64::NEG_INFINITY; 2]; orders.len()],
            worst: vec![[changes[0]; 2]; orders.len()],
        };
        let p = mechanism.distribution(votes)?;
        for &change in changes {
            let pair = OutputPair::new(p.clone(), mechanism.distribution(&votes.neighbor(change)?)?)?;
            for ((&order, largest), worst) in orders.iter().zip(&mut found.largest).zip(&mut found.worst) {
                for direction in Direction::BOTH {
                    // NaN is not a bound: the cost is infinite.
                    let value = Some(pair.renyi(direction, order)).filter(|value| !value.is_nan());
                    let value = value.unwrap_or(f64::INFINITY);
                    if value >= largest[direction as usize] {
                        (largest[direction as usize], worst[direction as usize]) = (value, change);
                    }
                }
            }
        }
        Ok(found)
    }
}

/// Number of voters; none unless every query has individual votes.
pub fn voters(queries: &[RecordedQuery]) -> usize {
    let voters = queries.first().map_or(0, |query| query.votes.len());
    if queries.iter().all(|query| query.votes.len() == voters) { voters } else { 0 }
}

/// The class that loses a vote.
fn giver(change: &Neighbor) -> Option<usize> {
    if let Neighbor::Moved { from, .. } = change { Some(*from) } else { None }
}

/// Every move of one vote of each recorded query.
pub struct VoterMoves<'a> {
    mechanism: NoisyArgmax,
    queries: &'a [RecordedQuery],
    orders: usize,
    /// The different histograms up to the order of their classes, and the moves of each.
    different: Vec<(VoteHistogram, Vec<Moves>)>,
    /// The histogram of each query among them.
    places: Vec<usize>,
}

impl<'a> VoterMoves<'a> {
    /// Divergences of all moves at some orders.
    ///
    /// # Errors
    /// [`Error::Rejected`](crate::Error::Rejected) when a histogram has too many neighbors to be searched.
    pub fn new(
        mechanism: NoisyArgmax,
        queries: &'a [RecordedQuery],
        orders: &[Order],
        meter: &Meter<'_>,
    ) -> Result<Self> {
        // Classes are alike: histograms that are permutations of each other have the same moves.
        let mut places = Vec::with_capacity(queries.len());
        let mut sorted: Vec<(Vec<u64>, u64)> = Vec::new();
        let mut known: HashMap<Vec<u64>, usize> = HashMap::new();
        for query in queries {
            let mut counts = query.histogram.counts().to_vec();
            counts.sort_unstable();
            let place = *known.entry(counts).or_insert_with_key(|counts| {
                sorted.push((counts.clone(), 0));
                sorted.len() - 1
            });
            sorted[place].1 += 1;
            places.push(place);
        }
        let moves = |(counts, times): &(Vec<u64>, u64)| {
            let votes = VoteHistogram::new(counts.clone())?;
            let changes = votes.neighbors(VoteChange::Moved);
            if !changes.is_empty() {
                searched(changes.len() as u64)?;
            }
            let of_class: Vec<&[Neighbor]> = changes.chunk_by(|a, b| giver(a) == giver(b)).collect();
            let moves = parallel::try_map(of_class, |changes| Moves::new(mechanism, &votes, changes, orders))?;
            meter.add_in_passes(*times)?;
            Ok((votes, moves))
        };
        let different = parallel::try_map(&sorted, moves)?;
        Ok(Self { mechanism, queries, orders: orders.len(), different, places })
    }

    /// At each order the sum over the queries of the largest divergence in either direction. Without a vote to move, or a
    /// class to move it to, nothing changes.
    pub fn per_query(&self) -> Vec<f64> {
        let largest = |(_, moves): &(VoteHistogram, Vec<Moves>)| -> Vec<f64> {
            let at = |place: usize| moves.iter().flat_map(|moves| moves.largest[place]).fold(0.0, f64::max);
            (0..self.orders).map(at).collect()
        };
        let different: Vec<Vec<f64>> = self.different.iter().map(largest).collect();
        let sum = |order: usize| self.places.iter().map(|&place| different[place][order]).sum();
        (0..self.orders).map(sum).collect()
    }

    /// The moves of a voter on a query; None with a single class.
    fn moves(&self, query: usize, voter: usize) -> Option<&Moves> {
        let recorded = &self.queries[query];
        let count = recorded.histogram.counts()[usize::from(recorded.votes[voter])];
        self.different[self.places[query]].1.iter().find(|moves| moves.from == count)
    }

    /// The sums of the costliest moves of a voter, by order and direction.
    fn sums(&self, voter: usize) -> Vec<[f64; 2]> {
        let mut sums = vec![[0.0; 2]; self.orders];
        for moves in (0..self.queries.len()).filter_map(|query| self.moves(query, voter)) {
            for (sum, largest) in sums.iter_mut().flatten().zip(moves.largest.iter().flatten()) {
                *sum += largest;
            }
        }
        sums
    }

    /// At each order the largest sum of any voter in either direction; None without voters.
    pub fn one_voter(&self) -> Option<Vec<f64>> {
        let largest = |sums: Vec<[f64; 2]>| -> Vec<f64> { sums.into_iter().map(|[a, b]| a.max(b)).collect() };
        let all = parallel::map(0..voters(self.queries), |voter| largest(self.sums(voter)));
        all.into_iter().reduce(|a, b| a.iter().zip(b).map(|(a, b)| a.max(b)).collect())
    }

    /// The losses of the costliest moves of the costliest voter, at the order of this place: one pair of recordings
    /// that differ in the votes of one voter.
    pub fn losses(&self, place: usize, direction: Direction) -> Result<Vec<(PrivacyLoss, u64)>> {
        let sums = parallel::map(0..voters(self.queries), |voter| self.sums(voter)[place][direction as usize]);
        let Some(voter) = (0..sums.len()).max_by(|&a, &b| sums[a].total_cmp(&sums[b])) else { return Ok(Vec::new()) };
        let mut times: Vec<((usize, Neighbor), u64)> = Vec::new();
        let mut known: HashMap<(usize, Neighbor), usize> = HashMap::new();
        for query in 0..self.queries.len() {
            let Some(moves) = self.moves(query, voter) else { continue };
            let change = moves.worst[place][direction as usize];
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
        parallel::try_map(times, loss)
    }
}
