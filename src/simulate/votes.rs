//! Multinomial votes, class by class: given the votes left, those of a class are binomial.
//!
//! ```text
//! H_i | H_1..H_{i-1} ~ Bin(k - H_1 - .. - H_{i-1}, P_i / (P_i + .. + P_C)),    P_1 ≥ P_2 ≥ ..
//! ```
//! The last class takes what is left. Starting with the likely classes leaves few votes for the others, and the sums
//! of the small probabilities are formed from their own terms, never as 1 - Σ.

use super::alias;
use super::stream::Stream;
use crate::special::CompensatedSum;
use rand::Rng;
use rand_distr::{Binomial, Distribution};
use std::sync::Arc;

/// Tables are made up to this many cells of 8 bytes in all; beyond, and for k ≥ 16,383, the binomial variables are
/// drawn without tables.
const MAX_TABLE_CELLS: usize = 4_000_000;

/// A sampler of Mult(k, P), and of Mult(k-1, P) with the same tables. Copies share the tables.
///
/// k = 250 and C = 10 take 254,000 cells, 2 MB. The law of a draw from a table is off by less than 2^-40 in total
/// variation: 2^-48 through the table and its index (`alias`), the rest through the rounding of the binomial
/// probabilities, 2^-45 for k = 250. A table is built and read with additions, multiplications and divisions of IEEE
/// doubles alone and is therefore the same on every platform; the fallback calls the platform's ln and pow.
#[derive(Debug, Clone)]
pub(super) struct MultinomialVotes {
    /// The classes with P_i > 0 but the last, most likely first.
    steps: Vec<Step>,
    /// The last of them.
    last: usize,
}

#[derive(Debug, Clone)]
struct Step {
    class: usize,
    votes: ConditionalVotes,
}

/// Bin(r, q) for the number r of votes left.
#[derive(Debug, Clone)]
enum ConditionalVotes {
    /// Alias tables for r = `least`, `least` + 1, .., one after the other; that of r has r + 1 cells.
    Tables { least: usize, cells: Arc<[u64]> },
    /// The smaller of q and 1 - q, for the sampler of `rand_distr`: the votes of the class, or of all `others`.
    Formula { q: f64, others: bool },
}

impl MultinomialVotes {
    /// k ≥ 1 voters with vote probabilities P, at least one of which is positive.
    pub(super) fn new(k: u64, probabilities: &[f64]) -> Self {
        let classes = probabilities.iter().filter(|&&p| p > 0.0).count();
        match usize::try_from(k) {
            Ok(k) if k < alias::MAX_CELLS && table_cells(k, classes) <= MAX_TABLE_CELLS => {
                Self::build(probabilities, |first, p, rest| ConditionalVotes::tables(first, k, p / rest))
            }
            _ => Self::by_formula(probabilities),
        }
    }

    /// Without tables, for any number of voters.
    pub(super) fn by_formula(probabilities: &[f64]) -> Self {
        Self::build(probabilities, |_, p, rest| {
            let others = p > rest;
            ConditionalVotes::Formula { q: if others { rest } else { p } / (p + rest), others }
        })
    }

    /// Every class but the last from (is it the first?, P_i, P_{i+1} + .. + P_C).
    fn build(probabilities: &[f64], conditional: impl Fn(bool, f64, f64) -> ConditionalVotes) -> Self {
        let mut order: Vec<usize> = (0..probabilities.len()).filter(|&class| probabilities[class] > 0.0).collect();
        order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]).then(a.cmp(&b)));
        let last = order.pop().unwrap_or(0);
        let mut rest = CompensatedSum::default();
        rest.add(probabilities[last]);
        let mut steps: Vec<Step> = Vec::with_capacity(order.len());
        for (place, &class) in order.iter().enumerate().rev() {
            let p = probabilities[class];
            steps.push(Step { class, votes: conditional(place == 0, p, rest.value()) });
            rest.add(p);
        }
        steps.reverse();
        Self { steps, last }
    }

    /// Draws the votes of `voters`, k or k - 1, into one entry per class.
    #[inline]
    pub(super) fn draw(&self, voters: u64, stream: &mut Stream, votes: &mut [u64]) {
        votes.fill(0);
        let mut left = voters;
        for step in &self.steps {
            if left == 0 {
                return;
            }
            let drawn = step.votes.draw(left, stream);
            votes[step.class] = drawn;
            left -= drawn;
        }
        votes[self.last] = left;
    }
}

/// Cells of all tables: the first class is asked for k and k - 1 votes only.
fn table_cells(k: usize, classes: usize) -> usize {
    let later = classes.saturating_sub(2).saturating_mul(triangle(k + 1));
    if classes < 2 { 0 } else { (2 * k + 1).saturating_add(later) }
}

/// 1 + 2 + .. + n.
const fn triangle(n: usize) -> usize {
    n * (n + 1) / 2
}

impl ConditionalVotes {
    /// The tables for up to k votes left, given the odds q/(1-q).
    fn tables(first: bool, k: usize, odds: f64) -> Self {
        let least = if first { k - 1 } else { 0 };
        let mut cells = Vec::with_capacity(triangle(k + 1) - triangle(least));
        for left in least..=k {
            alias::append_table(&mut cells, &binomial_weights(left, odds));
        }
        Self::Tables { least, cells: cells.into() }
    }

    #[inline]
    fn draw(&self, left: u64, stream: &mut Stream) -> u64 {
        match self {
            Self::Tables { least, cells } => {
                let left = left as usize;
                let start = triangle(left) - triangle(*least);
                alias::draw(&cells[start..=start + left], stream.next_u64()) as u64
            }
            Self::Formula { q, others } => {
                let binomial = Binomial::new(left, *q).expect("x/(x+y) of positive numbers is a probability");
                // Its sampler for tiny q is a Poisson variable, which knows no largest value.
                let drawn = binomial.sample(stream).min(left);
                if *others { left - drawn } else { drawn }
            }
        }
    }
}

/// P(Bin(n, q) = j) for j = 0..=n, in units of the largest, given the odds q/(1-q) > 0 (`inf` where q rounds to 1).
///
/// From the mode outwards by the ratio of neighbours, P(j+1)/P(j) = (n-j)/(j+1) odds: the relative error grows by
/// 2^-51 a step, while a form with logarithms would depend on the platform's ln.
fn binomial_weights(n: usize, odds: f64) -> Vec<f64> {
    let q = if odds.is_finite() { odds / (1.0 + odds) } else { 1.0 };
    let mode = (((n + 1) as f64 * q) as usize).min(n);
    let mut weights = vec![0.0; n + 1];
    weights[mode] = 1.0;
    for j in mode..n {
        weights[j + 1] = weights[j] * ((n - j) as f64 / (j + 1) as f64 * odds);
    }
    for j in (0..mode).rev() {
        weights[j] = weights[j + 1] * ((j + 1) as f64 / (n - j) as f64 / odds);
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::super::goodness_of_fit::p_value;
    use super::super::stream::{StreamId, World};
    use super::*;
    use crate::special::log_binomial_pmf;
    use proptest::prelude::*;

    fn stream(seed: u64) -> Stream {
        Stream::new(StreamId { seed, query: 0, world: World::Dataset, block: 0 })
    }

    fn uses_tables(votes: &MultinomialVotes) -> bool {
        votes.steps.iter().all(|step| matches!(step.votes, ConditionalVotes::Tables { .. }))
    }

    /// No randomness here: the law that every table stands for, against the saddle-point form.
    #[test]
    fn tables_hold_binomial_laws() {
        let mut worst = 0.0f64;
        for odds in [1e-9, 0.01, 0.3, 1.0, 1.7, 40.0, 1e9] {
            let q = odds / (1.0 + odds);
            let ConditionalVotes::Tables { cells, .. } = ConditionalVotes::tables(false, 250, odds) else { panic!() };
            for left in [0, 1, 2, 17, 100, 249, 250usize] {
                let law = alias::tests::law(&cells[triangle(left)..triangle(left + 1)]);
                let distance = law
                    .iter()
                    .enumerate()
                    .map(|(votes, p)| (p - log_binomial_pmf(votes as u64, left as u64, q).exp()).abs() / 2.0);
                worst = worst.max(distance.sum());
            }
        }
        println!("largest distance in total variation {worst:e}");
        assert!(worst < 1e-13);
    }

    #[test]
    fn the_longest_tables_hold_binomial_laws() {
        for odds in [1e-4, 1.0, 300.0] {
            let n = alias::MAX_CELLS - 1;
            let mut cells = Vec::new();
            alias::append_table(&mut cells, &binomial_weights(n, odds));
            let law = alias::tests::law(&cells);
            let pmf = |votes| log_binomial_pmf(votes as u64, n as u64, odds / (1.0 + odds)).exp();
            let distance: f64 = law.iter().enumerate().map(|(votes, p)| (p - pmf(votes)).abs() / 2.0).sum();
            println!("odds {odds}: distance in total variation {distance:e}");
            assert!(distance < 2f64.powi(-40));
        }
    }

    #[test]
    fn odds_beyond_all_doubles_give_all_votes() {
        assert_eq!(binomial_weights(3, f64::INFINITY), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(binomial_weights(0, 0.5), [1.0]);
        assert_eq!(binomial_weights(2, 5e-324)[0], 1.0);
    }

    #[test]
    fn tables_are_as_large_as_they_say() {
        let p = [0.1; 10];
        let votes = MultinomialVotes::new(250, &p);
        let size = |step: &Step| match &step.votes {
            ConditionalVotes::Tables { cells, .. } => cells.len(),
            ConditionalVotes::Formula { .. } => 0,
        };
        assert_eq!(votes.steps.iter().map(size).sum::<usize>(), table_cells(250, 10));
        assert_eq!(table_cells(250, 10), 253_509);
        for (k, classes, tables) in
            [(1, 1, true), (1, 2, true), (998, 10, true), (999, 10, false), (16_382, 2, true), (16_383, 2, false)]
        {
            let votes = MultinomialVotes::new(k, &vec![1.0 / classes as f64; classes]);
            assert_eq!(uses_tables(&votes), tables, "{k} voters, {classes} classes");
        }
        assert!(!uses_tables(&MultinomialVotes::new(1 << 53, &p)));
    }

    /// How well 300,000 draws of the votes of every class fit their binomial marginals: the smallest p-value.
    fn marginal_p_value(votes: &MultinomialVotes, voters: u64, p: &[f64], seed: u64) -> f64 {
        let mut stream = stream(seed);
        let mut counts = vec![vec![0u64; voters as usize + 1]; p.len()];
        let mut drawn = vec![0; p.len()];
        for _ in 0..300_000 {
            votes.draw(voters, &mut stream, &mut drawn);
            assert_eq!(drawn.iter().sum::<u64>(), voters);
            for (counts, &votes) in counts.iter_mut().zip(&drawn) {
                counts[votes as usize] += 1;
            }
        }
        let law = |p: f64| (0..=voters).map(|n| log_binomial_pmf(n, voters, p).exp()).collect::<Vec<_>>();
        counts.iter().zip(p).map(|(counts, &p)| p_value(counts, &law(p))).fold(1.0, f64::min)
    }

    /// 96 tests that fail with probability 1e-7 each over the seeds.
    #[test]
    fn votes_of_each_class_are_binomial() {
        let spread = [0.05, 0.3, 0.02, 0.13, 0.25, 0.25];
        let concentrated = [0.0, 0.001, 0.0, 0.996, 0.0, 0.003];
        for (seed, (k, p)) in
            [(60, &spread), (250, &spread), (60, &concentrated), (250, &concentrated)].iter().enumerate()
        {
            let tables = MultinomialVotes::new(*k, *p);
            assert!(uses_tables(&tables));
            let formula = MultinomialVotes::by_formula(*p);
            for (sampler, name) in [(tables, "tables"), (formula, "formula")] {
                for voters in [*k, k - 1] {
                    let smallest = marginal_p_value(&sampler, voters, *p, seed as u64);
                    println!("{name}, {voters} voters: smallest p-value of 6 classes {smallest:.4}");
                    assert!(smallest > 1e-7);
                }
            }
        }
    }

    /// The joint law of few votes, all 15 histograms of 4 votes among 3 classes: fails with probability 1e-6 each.
    #[test]
    fn histograms_are_multinomial() {
        let p = [0.2, 0.5, 0.3];
        let factorial = |n: u64| (1..=n).product::<u64>() as f64;
        for (name, votes) in [("tables", MultinomialVotes::new(4, &p)), ("formula", MultinomialVotes::by_formula(&p))] {
            let (mut counts, mut law) = (vec![0u64; 25], vec![0.0; 25]);
            for a in 0..=4u64 {
                for b in 0..=4 - a {
                    let c = 4 - a - b;
                    let ways = 24.0 / (factorial(a) * factorial(b) * factorial(c));
                    law[(5 * a + b) as usize] = ways * p[0].powi(a as i32) * p[1].powi(b as i32) * p[2].powi(c as i32);
                }
            }
            let mut stream = stream(11);
            let mut drawn = [0; 3];
            for _ in 0..1_000_000 {
                votes.draw(4, &mut stream, &mut drawn);
                counts[(5 * drawn[0] + drawn[1]) as usize] += 1;
            }
            let fit = p_value(&counts, &law);
            println!("{name}: p-value {fit:.4}");
            assert!(fit > 1e-6);
        }
    }

    /// The rare class of 2^53 voters keeps its mean of 9.007: five standard errors, 6e-7.
    #[test]
    fn rare_votes_of_many_voters_are_not_rounded_away() {
        let votes = MultinomialVotes::new(1 << 53, &[1e-15, 1.0 - 1e-15]);
        let mut stream = stream(3);
        let mut drawn = [0; 2];
        let sum: u64 = (0..10_000)
            .map(|_| {
                votes.draw(1 << 53, &mut stream, &mut drawn);
                drawn[0]
            })
            .sum();
        println!("mean {}", sum as f64 / 1e4);
        assert!((sum as f64 / 1e4 - 9.007).abs() < 5.0 * 0.03);
    }

    proptest! {
        #[test]
        fn every_draw_spends_all_votes(
            k in prop_oneof![1..40u64, 16_380..16_390u64, Just(1u64 << 53)],
            exponents in prop::collection::vec(prop::option::of(-745.0..0.0f64), 1..7),
            seed: u64,
        ) {
            let mut p: Vec<f64> = exponents.iter().map(|e| e.map_or(0.0, f64::exp)).collect();
            let total: f64 = p.iter().sum();
            prop_assume!(total > 1e-300);
            p.iter_mut().for_each(|p| *p /= total);
            let votes = MultinomialVotes::new(k, &p);
            let mut drawn = vec![0; p.len()];
            for voters in [k, k - 1] {
                votes.draw(voters, &mut stream(seed), &mut drawn);
                prop_assert_eq!(drawn.iter().sum::<u64>(), voters);
                prop_assert!(drawn.iter().zip(&p).all(|(&votes, &p)| votes == 0 || p > 0.0));
            }
        }
    }
}
