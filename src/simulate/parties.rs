//! Votes of parties that have laws of their own: Poisson-multinomial histograms.
//!
//! Parties are gathered in groups whose joint histogram has few enough outcomes for an alias table; a group takes one
//! random word however many parties it has. Histograms of up to 16 classes are added as bytes, eight classes in a word.
//! With more classes every party is drawn by itself.

use super::alias::AliasTables;
use super::lanes::Lanes;
use super::stream::World;
use crate::model::CapcModel;
use std::sync::Arc;

/// Classes that are added as bytes.
const MAX_PACKED: usize = 16;
/// Parties whose votes are added before a byte could overflow.
const MAX_ADDED: usize = 255;
/// Outcomes of a group: its table, read at random in a batch, stays in the nearest caches.
const MAX_OUTCOMES: usize = 6000;
/// Outcomes below this probability are left out: those of a group together weigh less than the 2^-50 of its table.
const NEGLIGIBLE: f64 = 5.421_010_862_427_522e-20;

/// Votes per class as bytes.
type Packed = [u64; 2];

/// A sampler of the votes of all parties in both worlds. Copies share the tables.
#[derive(Debug, Clone)]
pub(super) struct PartyVotes {
    groups: Arc<[Group]>,
    /// The first group under the neighbour.
    changed: Arc<Group>,
    classes: usize,
}

/// Parties that are drawn together.
#[derive(Debug, Clone)]
struct Group {
    parties: usize,
    cells: AliasTables,
    votes: Votes,
}

/// What an outcome adds.
#[derive(Debug, Clone)]
enum Votes {
    Packed(Vec<Packed>),
    /// One vote for the class with the number of the outcome.
    One,
}

impl PartyVotes {
    pub(super) fn new(model: &CapcModel) -> Self {
        let (parties, marked) = (model.probabilities(), model.probabilities_marked());
        let classes = model.classes();
        if classes > MAX_PACKED {
            let one = |p: &[f64]| Group { parties: 1, cells: AliasTables::of(p), votes: Votes::One };
            return Self { groups: parties.iter().map(|p| one(p)).collect(), changed: Arc::new(one(marked)), classes };
        }
        // Parties that vote for the same classes have few joint outcomes.
        let mut order: Vec<&[f64]> = parties[1..].iter().map(Vec::as_slice).collect();
        let support = |p: &[f64]| p.iter().enumerate().fold(0u32, |set, (class, &p)| set | u32::from(p > 0.0) << class);
        order.sort_by_key(|p| support(p));
        let mut groups = Vec::new();
        let (mut first, mut changed) = (Law::of(&parties[0]), Law::of(marked));
        let mut others = order.into_iter().peekable();
        while let Some((more, more_changed)) = others.peek().and_then(|p| first.with(p).zip(changed.with(p))) {
            (first, changed) = (more, more_changed);
            others.next();
        }
        groups.push(first.group());
        while let Some(p) = others.next() {
            let mut law = Law::of(p);
            while let Some(more) = others.peek().and_then(|p| law.with(p)) {
                law = more;
                others.next();
            }
            groups.push(law.group());
        }
        Self { groups: groups.into(), changed: Arc::new(changed.group()), classes }
    }

    /// Draws the votes of a batch, those of class c in sample s at `batch` c + s; takes `words`, one word for every
    /// sample of the batch, for every group.
    pub(super) fn draw(&self, world: World, lanes: &mut Lanes, words: &mut [u64], votes: &mut [u32]) {
        votes.fill(0);
        let batch = words.len();
        let mut sums = vec![[0; 2]; if self.classes > MAX_PACKED { 0 } else { batch }];
        let mut added = 0;
        for (index, group) in self.groups.iter().enumerate() {
            let group = if index == 0 && world == World::Neighbor { &self.changed } else { group };
            lanes.fill(words);
            match &group.votes {
                Votes::One => {
                    for (sample, &word) in words.iter().enumerate() {
                        votes[batch * group.cells.draw(word) + sample] += 1;
                    }
                }
                Votes::Packed(packed) => {
                    if added + group.parties > MAX_ADDED {
                        unpack(&mut sums, votes);
                        added = 0;
                    }
                    added += group.parties;
                    for (sum, &word) in sums.iter_mut().zip(words.iter()) {
                        let [low, high] = packed[group.cells.draw(word)];
                        sum[0] += low;
                        sum[1] += high;
                    }
                }
            }
        }
        unpack(&mut sums, votes);
    }
}

/// Moves the votes from bytes to their classes.
fn unpack(sums: &mut [Packed], votes: &mut [u32]) {
    for (class, votes) in votes.chunks_exact_mut(sums.len().max(1)).enumerate().take(MAX_PACKED) {
        let (word, shift) = (class / 8, 8 * (class % 8));
        for (votes, sum) in votes.iter_mut().zip(sums.iter()) {
            *votes += (sum[word] >> shift) as u32 & 255;
        }
    }
    sums.fill([0; 2]);
}

/// The law of the histogram of some parties: outcomes in order, with their probabilities.
struct Law {
    parties: usize,
    outcomes: Vec<(Packed, f64)>,
}

impl Law {
    fn of(p: &[f64]) -> Self {
        let none = Self { parties: 0, outcomes: vec![([0; 2], 1.0)] };
        Self { parties: 1, outcomes: none.outcomes_with(p) }
    }

    /// With one more party; None when the outcomes are too many or the votes too many for a byte.
    fn with(&self, p: &[f64]) -> Option<Self> {
        let outcomes = self.outcomes_with(p);
        (outcomes.len() <= MAX_OUTCOMES && self.parties < MAX_ADDED)
            .then_some(Self { parties: self.parties + 1, outcomes })
    }

    fn outcomes_with(&self, p: &[f64]) -> Vec<(Packed, f64)> {
        let mut all = Vec::with_capacity(self.outcomes.len() * p.len());
        for (class, &p) in p.iter().enumerate().filter(|(_, p)| **p > 0.0) {
            let vote = 1u64 << (8 * (class % 8));
            all.extend(self.outcomes.iter().map(|&([low, high], weight)| {
                (if class < 8 { [low + vote, high] } else { [low, high + vote] }, weight * p)
            }));
        }
        // A stable sort, so that the sums do not depend on how it sorts.
        all.sort_by_key(|(votes, _)| *votes);
        all.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        all.retain(|(_, weight)| *weight > NEGLIGIBLE);
        all
    }

    fn group(self) -> Group {
        let (votes, weights): (Vec<Packed>, Vec<f64>) = self.outcomes.into_iter().unzip();
        Group { parties: self.parties, cells: AliasTables::of(&weights), votes: Votes::Packed(votes) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::goodness_of_fit::p_value;
    use super::super::stream::{Stream, StreamId};
    use super::*;

    const BATCH: usize = 2048;

    /// Counts of the votes of every class over many samples.
    fn marginals(model: &CapcModel, world: World, batches: usize) -> Vec<Vec<u64>> {
        let votes = PartyVotes::new(model);
        let mut stream = Stream::new(StreamId { seed: 5, query: 0, world, block: 0 });
        let mut lanes = Lanes::new(&mut stream);
        let mut drawn = vec![7; BATCH * model.classes()];
        let mut counts = vec![vec![0; model.parties() + 1]; model.classes()];
        for _ in 0..batches {
            votes.draw(world, &mut lanes, &mut [0; BATCH], &mut drawn);
            for sample in 0..BATCH {
                let histogram = (0..model.classes()).map(|class| drawn[BATCH * class + sample]);
                assert_eq!(histogram.clone().sum::<u32>() as usize, model.parties());
                for (counts, votes) in counts.iter_mut().zip(histogram) {
                    counts[votes as usize] += 1;
                }
            }
        }
        counts
    }

    /// The Poisson-binomial law of the votes of a class.
    fn law(model: &CapcModel, world: World, class: usize) -> Vec<f64> {
        let mut law = vec![1.0];
        for (party, p) in model.probabilities().iter().enumerate() {
            let changed = party == 0 && world == World::Neighbor;
            let p = if changed { model.probabilities_marked()[class] } else { p[class] };
            law.push(0.0);
            for votes in (0..law.len()).rev() {
                law[votes] = law[votes] * (1.0 - p) + if votes > 0 { law[votes - 1] * p } else { 0.0 };
            }
        }
        law
    }

    fn model(parties: usize, classes: usize) -> CapcModel {
        let row = |party: usize| {
            let weights: Vec<f64> = (0..classes)
                .map(|class| match (party % 5, (party * 7 + class * 3) % 11) {
                    (0, _) => f64::from(u8::from(class == party % classes)), // a party that is sure
                    (_, 0..4) => 0.0,
                    (_, weight) => weight as f64,
                })
                .collect();
            let total: f64 = weights.iter().sum();
            weights.iter().map(|weight| weight / total).collect::<Vec<f64>>()
        };
        CapcModel::new(&(0..parties).map(row).collect::<Vec<_>>(), &row(parties + 3)).unwrap()
    }

    /// 104 tests that fail with probability 1e-8 each over the seeds.
    #[test]
    fn votes_of_each_class_are_poisson_binomial() {
        for (parties, classes, batches) in [(1, 3, 20), (40, 9, 40), (600, 4, 20), (25, 16, 20), (20, 20, 20)] {
            let model = model(parties, classes);
            for world in World::ALL {
                let fits = marginals(&model, world, batches);
                let fits = fits.iter().enumerate().map(|(class, counts)| p_value(counts, &law(&model, world, class)));
                let smallest = fits.fold(1.0, f64::min);
                println!("{parties} parties, {classes} classes, {world}: smallest p-value {smallest:.4}");
                assert!(smallest > 1e-8);
            }
        }
    }

    /// All 15 histograms of 4 parties among 3 classes, by the product of their laws: fails with probability 1e-6 each.
    #[test]
    fn histograms_are_poisson_multinomial() {
        let p = [[0.2, 0.5, 0.3], [0.9, 0.1, 0.0], [0.0, 1.0, 0.0], [0.25, 0.25, 0.5]];
        let marked = [0.0, 0.5, 0.5];
        let model = CapcModel::new(&p.map(|row| row.to_vec()), &marked).unwrap();
        for world in World::ALL {
            let mut law = vec![0.0; 25];
            for votes in 0..81usize {
                let classes = [votes % 3, votes / 3 % 3, votes / 9 % 3, votes / 27];
                let first = if world == World::Neighbor { marked } else { p[0] };
                let probability = first[classes[0]] * p[1][classes[1]] * p[2][classes[2]] * p[3][classes[3]];
                let count = |class| classes.iter().filter(|&&vote| vote == class).count();
                law[5 * count(0) + count(1)] += probability;
            }
            let votes = PartyVotes::new(&model);
            let mut stream = Stream::new(StreamId { seed: 6, query: 0, world, block: 0 });
            let mut lanes = Lanes::new(&mut stream);
            let (mut drawn, mut counts) = (vec![0; 3 * BATCH], vec![0u64; 25]);
            for _ in 0..200 {
                votes.draw(world, &mut lanes, &mut [0; BATCH], &mut drawn);
                for sample in 0..BATCH {
                    counts[(5 * drawn[sample] + drawn[BATCH + sample]) as usize] += 1;
                }
            }
            let fit = p_value(&counts, &law);
            println!("{world}: p-value {fit:.4}");
            assert!(fit > 1e-6);
        }
    }
}
