//! Multinomial votes by halving: the votes of a set of classes are repeatedly split between two parts of it.
//!
//! ```text
//! N_left | N ~ Bin(N, P_left / (P_left + P_right))
//! ```
//! The sets are those of a Huffman tree of P, so likely classes take few steps, and rare ones share the tables for few
//! votes. Every split is drawn for a whole batch of samples before the next.

use super::binomial_table::BinomialTable;
use super::halves::Halves;
use super::stream::Stream;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Cells of all tables together, of 12 bytes: 192 MiB.
const MAX_CELLS: usize = 1 << 24;

/// A sampler of Mult(n, P) for every n in k-m..=k. Copies share the tables.
///
/// k = 250 and C = 10 take about 100,000 cells, 1 MB; k = 10,000 and C = 1000 below 192 MiB.
#[derive(Debug, Clone)]
pub(super) struct MultinomialVotes {
    splits: Arc<[Split]>,
    /// The set of all classes, as in [`Split::set`].
    root: usize,
    classes: usize,
    /// Classes without votes.
    absent: Arc<[usize]>,
}

/// A split of the votes of `set`. Sets of one class are 0 to C-1, others C and up.
#[derive(Debug)]
struct Split {
    set: usize,
    left: usize,
    right: usize,
    table: BinomialTable,
}

/// A set of classes in the heap, the rarest first, the lowest number first in a tie.
#[derive(PartialEq)]
struct Set {
    probability: f64,
    number: usize,
}

impl Eq for Set {}

impl Ord for Set {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.probability.total_cmp(&self.probability).then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for Set {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl MultinomialVotes {
    /// k ≥ 1 voters with vote probabilities P, at least one of which is positive, or up to `fewer` voters fewer.
    pub(super) fn new(k: u64, fewer: u64, p: &[f64]) -> Self {
        Self::with_budget(k, fewer, p, MAX_CELLS)
    }

    fn with_budget(k: u64, fewer: u64, p: &[f64], mut budget: usize) -> Self {
        let classes = p.len();
        let mut heap: BinaryHeap<Set> =
            (0..classes).filter(|&class| p[class] > 0.0).map(|number| Set { probability: p[number], number }).collect();
        let mut merged = Vec::with_capacity(classes);
        let mut root = heap.peek().map_or(0, |set| set.number);
        while let (Some(right), Some(left)) = (heap.pop(), heap.pop()) {
            root = classes + merged.len();
            heap.push(Set { probability: left.probability + right.probability, number: root });
            merged.push((left, right));
            if heap.len() == 1 {
                break;
            }
        }
        let splits = merged.into_iter().enumerate().rev().map(|(index, (left, right))| {
            let set = classes + index;
            let trials = if set == root {
                k - fewer.min(k)..=k
            } else {
                likely_votes(k, fewer, left.probability + right.probability)
            };
            let table = BinomialTable::new(trials, left.probability, right.probability, &mut budget);
            Split { set, left: left.number, right: right.number, table }
        });
        let absent = (0..classes).filter(|&class| p[class] <= 0.0).collect();
        Self { splits: splits.collect(), root, classes, absent }
    }

    /// Number of entries used by the votes of a sample while they are drawn.
    pub(super) fn room(&self) -> usize {
        self.classes + self.splits.len()
    }

    /// Draws the votes of a number of voters, below 2^32, for a batch: those of class c in sample s at `batch` c + s.
    ///
    /// Takes a word for every sample of the batch for every split of a set that has a vote in some sample, sets of many
    /// classes first.
    pub(super) fn draw(&self, voters: u32, stream: &mut Stream, words: &mut Halves, votes: &mut [u32]) {
        let batch = words.len();
        let entries = |set: usize| batch * set..batch * (set + 1);
        self.absent.iter().for_each(|&class| votes[entries(class)].fill(0));
        votes[entries(self.root)].fill(voters);
        for Split { set, left, right, table } in self.splits.iter() {
            if votes[entries(*set)].iter().all(|&votes| votes == 0) {
                votes[entries(*left)].fill(0);
                votes[entries(*right)].fill(0);
                continue;
            }
            words.renew(stream);
            let sets = [*set, *left, *right].map(entries);
            let [total, left, right] = votes.get_disjoint_mut(sets).expect("a set and its parts are three sets");
            table.draw(total, words, stream, [left, right]);
        }
    }

    /// Draws the votes of any number of voters for one sample, one entry per class.
    pub(super) fn draw_one(&self, voters: u64, stream: &mut Stream, votes: &mut [u64]) {
        let mut sets = vec![0; self.classes + self.splits.len()];
        sets[self.root] = voters;
        for Split { set, left, right, table } in self.splits.iter() {
            sets[*left] = table.draw_without_table(sets[*set], stream);
            sets[*right] = sets[*set] - sets[*left];
        }
        votes.copy_from_slice(&sets[..self.classes]);
    }
}

/// The votes that a set gets except with a probability of about 1e-6: a little more than five standard deviations.
/// Other numbers are drawn without a table.
fn likely_votes(k: u64, fewer: u64, probability: f64) -> std::ops::RangeInclusive<u64> {
    let (least, most) = ((k - fewer.min(k)) as f64, k as f64);
    let p = probability.min(1.0);
    let reach = |n: f64| 5.0 * (n * p * (1.0 - p)).sqrt() + 5.0;
    let low = (least * p - reach(least)).max(0.0) as u64;
    low..=((most * p + reach(most)) as u64).min(k)
}

#[cfg(test)]
mod tests {
    use super::super::stream::{StreamId, World};
    use super::*;
    use crate::variate::p_value;
    use proptest::prelude::*;
    use statrs::distribution::{Binomial, Discrete};

    const BATCH: usize = 256;

    struct Drawn {
        stream: Stream,
        words: Halves,
    }

    impl Drawn {
        fn new(seed: u64) -> Self {
            let mut stream = Stream::new(StreamId { seed, query: 0, world: World::Dataset, block: 0 });
            let words = Halves::new(&mut stream, BATCH);
            Self { stream, words }
        }

        /// Histograms of a batch, one after the other.
        fn batch(&mut self, votes: &MultinomialVotes, voters: u32) -> Vec<Vec<u64>> {
            let mut room = vec![7; BATCH * votes.room()];
            votes.draw(voters, &mut self.stream, &mut self.words, &mut room);
            let sample = |s| (0..votes.classes).map(|class| u64::from(room[BATCH * class + s])).collect();
            (0..BATCH).map(sample).collect()
        }

        /// The same without tables.
        fn batch_of_one_by_one(&mut self, votes: &MultinomialVotes, voters: u32) -> Vec<Vec<u64>> {
            let mut histogram = vec![7; votes.classes];
            (0..BATCH)
                .map(|_| {
                    votes.draw_one(u64::from(voters), &mut self.stream, &mut histogram);
                    histogram.clone()
                })
                .collect()
        }
    }

    fn with_tables(votes: &MultinomialVotes) -> bool {
        votes.splits.iter().all(|split| split.table.tables() > 0)
    }

    #[test]
    fn tables_stay_in_their_budget() {
        let cells = |k, p: &[f64]| {
            let mut left = MAX_CELLS;
            let votes = MultinomialVotes::with_budget(k, 1, p, left);
            for split in votes.splits.iter() {
                left -= split.table.cells();
            }
            (with_tables(&votes), MAX_CELLS - left)
        };
        for (k, classes, tables) in
            [(1, 2, true), (250, 10, true), (250, 1000, true), (10_000, 10, true), (10_000, 1000, true)]
        {
            let (found, cells) = cells(k, &vec![1.0 / classes as f64; classes]);
            println!("{k} voters, {classes} classes: {cells} cells");
            assert_eq!(found, tables, "{k} voters, {classes} classes");
        }
        assert!(!with_tables(&MultinomialVotes::new(1 << 53, 1, &[0.5, 0.5])));
    }

    /// How well 100,000 draws of the votes of every class fit their binomial marginals: the smallest p-value.
    fn marginal_p_value(p: &[f64], voters: u32, mut batch: impl FnMut() -> Vec<Vec<u64>>) -> f64 {
        let mut counts = vec![vec![0u64; voters as usize + 1]; p.len()];
        for _ in 0..400 {
            for histogram in batch() {
                assert_eq!(histogram.iter().sum::<u64>(), u64::from(voters));
                for (counts, votes) in counts.iter_mut().zip(histogram) {
                    counts[votes as usize] += 1;
                }
            }
        }
        let n = u64::from(voters);
        let distribution = |p: f64| {
            Binomial::new(p, n).map(|distribution| (0..=n).map(|j| distribution.pmf(j)).collect::<Vec<_>>()).unwrap()
        };
        counts.iter().zip(p).map(|(counts, &p)| p_value(counts, &distribution(p))).fold(1.0, f64::min)
    }

    /// 96 tests that fail with probability 1e-7 each over the seeds.
    #[test]
    fn votes_of_each_class_are_binomial() {
        let spread = [0.05, 0.3, 0.02, 0.13, 0.25, 0.25];
        let concentrated = [0.0, 0.001, 0.0, 0.996, 0.0, 0.003];
        for (seed, (k, p)) in
            [(60, &spread), (250, &spread), (60, &concentrated), (250, &concentrated)].into_iter().enumerate()
        {
            let votes = MultinomialVotes::new(k, 1, p);
            assert!(with_tables(&votes));
            let mut drawn = Drawn::new(seed as u64);
            for voters in [k as u32, k as u32 - 1] {
                let tables = marginal_p_value(p, voters, || drawn.batch(&votes, voters));
                let formula = marginal_p_value(p, voters, || drawn.batch_of_one_by_one(&votes, voters));
                println!("{voters} voters: smallest p-values of 6 classes {tables:.4} {formula:.4}");
                assert!(tables > 1e-7 && formula > 1e-7);
            }
        }
    }

    /// The joint distribution of few votes, all 15 histograms of 4 votes among 3 classes, on 10^7 samples with tables:
    /// fails with probability 1e-6 each.
    #[test]
    fn histograms_are_multinomial() {
        let p = [0.2f64, 0.5, 0.3];
        let factorial = |n: u64| (1..=n).product::<u64>() as f64;
        let mut distribution = vec![0.0; 25];
        for a in 0..=4u64 {
            for b in 0..=4 - a {
                let c = 4 - a - b;
                let ways = 24.0 / (factorial(a) * factorial(b) * factorial(c));
                distribution[(5 * a + b) as usize] =
                    ways * p[0].powi(a as i32) * p[1].powi(b as i32) * p[2].powi(c as i32);
            }
        }
        let votes = MultinomialVotes::new(4, 0, &p);
        let mut drawn = Drawn::new(11);
        for tables in [true, false] {
            let mut counts = vec![0u64; 25];
            for _ in 0..if tables { 40_000 } else { 4000 } {
                let batch = if tables { drawn.batch(&votes, 4) } else { drawn.batch_of_one_by_one(&votes, 4) };
                for histogram in batch {
                    counts[(5 * histogram[0] + histogram[1]) as usize] += 1;
                }
            }
            let fit = p_value(&counts, &distribution);
            println!("tables {tables}: p-value {fit:.4}");
            assert!(fit > 1e-6);
        }
    }

    /// The rare class of 2^53 voters keeps its mean of 9.007: five standard errors, 6e-7.
    #[test]
    fn rare_votes_of_many_voters_are_not_rounded_away() {
        let votes = MultinomialVotes::new(1 << 53, 0, &[1e-15, 1.0 - 1e-15]);
        let mut drawn = Drawn::new(3);
        let mut histogram = [0; 2];
        let sum: u64 = (0..10_000)
            .map(|_| {
                votes.draw_one(1 << 53, &mut drawn.stream, &mut histogram);
                histogram[0]
            })
            .sum();
        println!("mean {}", sum as f64 / 1e4);
        assert!((sum as f64 / 1e4 - 9.007).abs() < 5.0 * 0.03);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_draw_spends_all_votes(
            k in prop_oneof![1..40u32, 16_380..16_390u32, Just(1u32 << 31)],
            exponents in prop::collection::vec(prop::option::of(-745.0..0.0f64), 1..7),
            seed: u64,
        ) {
            let mut p: Vec<f64> = exponents.iter().map(|e| e.map_or(0.0, f64::exp)).collect();
            let total: f64 = p.iter().sum();
            prop_assume!(total > 1e-300);
            p.iter_mut().for_each(|p| *p /= total);
            let votes = MultinomialVotes::new(u64::from(k), 1, &p);
            let mut drawn = Drawn::new(seed);
            for voters in [k, k - 1] {
                for histogram in drawn.batch(&votes, voters) {
                    prop_assert_eq!(histogram.iter().sum::<u64>(), u64::from(voters));
                    prop_assert!(histogram.iter().zip(&p).all(|(&votes, &p)| votes == 0 || p > 0.0));
                }
            }
        }
    }
}
