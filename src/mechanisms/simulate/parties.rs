//! Votes of parties with separate distributions: Poisson-multinomial histograms.
//!
//! Parties are combined into groups, and the likely histograms of a group form one alias table: a group takes one
//! random word for any number of parties. The histograms omitted from the table are one more outcome of it, drawn
//! exactly: see `party_groups`. Histograms of up to 16 classes are added as numbers of four or eight bits, many in a
//! word. With more classes, every party is drawn separately.

use super::alias::AliasTables;
use super::halves::Halves;
use super::party_groups::{Group, MAX_PACKED, Sums, groups};
use super::stream::{Stream, World};
use crate::model::CapcModel;
use std::sync::Arc;

/// A sampler of the votes of all parties in both worlds. Copies share the tables.
#[derive(Debug, Clone)]
pub(super) struct PartyVotes {
    parties: Arc<Parties>,
    classes: usize,
    count: u64,
}

#[derive(Debug)]
enum Parties {
    /// Groups, the first one with the changed party, and that group under the neighbor.
    Packed { groups: Vec<Group>, changed: Box<Group> },
    /// The distribution of every party, that of the changed one last.
    Single(Vec<AliasTables>),
}

impl PartyVotes {
    /// Whether groups of parties are drawn together, from separate tables.
    pub(super) fn are_grouped(&self) -> bool {
        matches!(*self.parties, Parties::Packed { .. })
    }

    pub(super) fn new(model: &CapcModel) -> Self {
        let (parties, marked) = (model.probabilities(), model.probabilities_marked());
        let (classes, count) = (model.classes(), parties.len() as u64);
        let parties = if classes > MAX_PACKED {
            let distributions = parties.iter().map(Vec::as_slice).chain([marked]);
            Parties::Single(distributions.map(AliasTables::of).collect())
        } else {
            let (groups, changed) = groups(parties, marked);
            Parties::Packed { groups, changed: Box::new(changed) }
        };
        Self { parties: Arc::new(parties), classes, count }
    }

    /// Number of parties.
    pub(super) const fn parties(&self) -> u64 {
        self.count
    }

    /// Draws the votes of a batch, those of class c in sample s at `batch` c + s; takes one word for every sample of
    /// the batch and every group.
    pub(super) fn draw(&self, world: World, stream: &mut Stream, words: &mut Halves, votes: &mut [u32]) {
        let batch = words.len();
        let votes = &mut votes[..batch * self.classes];
        votes.fill(0);
        match &*self.parties {
            Parties::Packed { groups, changed } => {
                let first = if world == World::Neighbor { changed } else { &groups[0] };
                let mut sums = Sums::new(words.lanes.arch, batch);
                for group in [first].into_iter().chain(&groups[1..]) {
                    words.renew(stream);
                    sums.add(group, words, stream, votes);
                }
                sums.empty_into(votes);
            }
            Parties::Single(distributions) => {
                let last = distributions.len() - 1;
                for party in 0..last {
                    let distribution = if party == 0 && world == World::Neighbor {
                        &distributions[last]
                    } else {
                        &distributions[party]
                    };
                    words.renew(stream);
                    let (distribution, rest) = (distribution.reader(), words.rest());
                    for (sample, &half) in words.first().iter().enumerate() {
                        votes[batch * distribution.draw(half, || rest.half(sample)) + sample] += 1;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::stream::{Stream, StreamId};
    use super::*;
    use crate::variate::p_value;

    const BATCH: usize = 2048;

    /// Counts of the votes of every class over many samples.
    fn marginals(model: &CapcModel, world: World, batches: usize) -> Vec<Vec<u64>> {
        let votes = PartyVotes::new(model);
        let mut stream = Stream::new(StreamId { seed: 5, query: 0, world, block: 0 });
        let mut words = Halves::new(&mut stream, BATCH);
        let mut drawn = vec![7; BATCH * model.classes()];
        let mut counts = vec![vec![0; model.parties() + 1]; model.classes()];
        for _ in 0..batches {
            votes.draw(world, &mut stream, &mut words, &mut drawn);
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

    /// The Poisson-binomial distribution of the votes of a class.
    fn distribution(model: &CapcModel, world: World, class: usize) -> Vec<f64> {
        let mut distribution = vec![1.0];
        for (party, p) in model.probabilities().iter().enumerate() {
            let changed = party == 0 && world == World::Neighbor;
            let p = if changed { model.probabilities_marked()[class] } else { p[class] };
            distribution.push(0.0);
            for votes in (0..distribution.len()).rev() {
                distribution[votes] =
                    distribution[votes] * (1.0 - p) + if votes > 0 { distribution[votes - 1] * p } else { 0.0 };
            }
        }
        distribution
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
                let fits =
                    fits.iter().enumerate().map(|(class, counts)| p_value(counts, &distribution(&model, world, class)));
                let smallest = fits.fold(1.0, f64::min);
                println!("{parties} parties, {classes} classes, {world}: smallest p-value {smallest:.4}");
                assert!(smallest > 1e-8);
            }
        }
    }

    /// All 15 histograms of 4 parties among 3 classes, by the product of their distributions, on 10^7 samples: fails
    /// with probability 1e-6 each.
    #[test]
    fn histograms_are_poisson_multinomial() {
        let p = [[0.2, 0.5, 0.3], [0.9, 0.1, 0.0], [0.0, 1.0, 0.0], [0.25, 0.25, 0.5]];
        let marked = [0.0, 0.5, 0.5];
        let model = CapcModel::new(&p.map(|row| row.to_vec()), &marked).unwrap();
        for world in World::ALL {
            let mut distribution = vec![0.0; 25];
            for votes in 0..81usize {
                let classes = [votes % 3, votes / 3 % 3, votes / 9 % 3, votes / 27];
                let first = if world == World::Neighbor { marked } else { p[0] };
                let probability = first[classes[0]] * p[1][classes[1]] * p[2][classes[2]] * p[3][classes[3]];
                let count = |class| classes.iter().filter(|&&vote| vote == class).count();
                distribution[5 * count(0) + count(1)] += probability;
            }
            let votes = PartyVotes::new(&model);
            let mut stream = Stream::new(StreamId { seed: 6, query: 0, world, block: 0 });
            let mut words = Halves::new(&mut stream, BATCH);
            let (mut drawn, mut counts) = (vec![0; 3 * BATCH], vec![0u64; 25]);
            for _ in 0..5000 {
                votes.draw(world, &mut stream, &mut words, &mut drawn);
                for sample in 0..BATCH {
                    counts[(5 * drawn[sample] + drawn[BATCH + sample]) as usize] += 1;
                }
            }
            let fit = p_value(&counts, &distribution);
            println!("{world}: p-value {fit:.4}");
            assert!(fit > 1e-6);
        }
    }
}
