//! Binomial variables for a range of numbers of trials: an alias table for each, a general sampler beyond.

use super::alias::{self, AliasReader, AliasTables};
use super::stream::Stream;
use crate::variate::binomial;
use std::ops::RangeInclusive;

/// Weights below 2^-60 of the largest are left out: together they weigh less than the 2^-50 of an alias table.
const NEGLIGIBLE: f64 = 8.673_617_379_884_035e-19;

/// Sampler of Bin(n, q) for any n; fast for n in a range.
///
/// A draw from a table is off by less than 2^-40 in total variation: 2^-48 through the table and its index (`alias`),
/// the rest through the rounding of the binomial probabilities, 2^-45 for n = 250. A table is built and read with
/// additions, multiplications and divisions of IEEE doubles alone and is therefore the same on every platform; the
/// general sampler evaluates logarithms.
#[derive(Debug, Clone)]
pub(super) struct BinomialTable {
    least: u64,
    rows: Vec<Row>,
    cells: AliasTables,
    /// The smaller of q and 1 - q, for the general sampler: the successes or the failures.
    q: f64,
    failures: bool,
}

/// The table of one n: `cells` cells from `start` on, for outcomes from `first` on.
#[derive(Debug, Clone, Copy)]
#[repr(align(16))]
struct Row {
    start: u32,
    cells: u32,
    first: u32,
}

impl Row {
    #[inline(always)]
    fn draw(self, cells: AliasReader<'_>, word: u64) -> u32 {
        self.first + cells.draw_from(self.start, self.cells, word) as u32
    }
}

impl BinomialTable {
    /// Success has this odds q/(1-q) = `success`/`failure`, both at least 0, not both 0; tables for the n in a range,
    /// as far as they take at most `budget` cells and at most [`alias::MAX_CELLS`] each. The cells used are taken from
    /// the budget.
    pub(super) fn new(trials: RangeInclusive<u64>, success: f64, failure: f64, budget: &mut usize) -> Self {
        let failures = success > failure;
        let q = if failures { failure } else { success } / (success + failure);
        let mut table = Self { least: *trials.start(), rows: Vec::new(), cells: AliasTables::default(), q, failures };
        if *trials.end() < 1 << 31 && expected_cells(&trials, q) <= *budget as f64 {
            for n in trials {
                let (first, weights) = binomial_weights(n as usize, success / failure);
                if weights.len() > alias::MAX_CELLS || table.cells.len() + weights.len() > *budget {
                    table.rows.clear();
                    table.cells = AliasTables::default();
                    break;
                }
                table.rows.push(Row {
                    start: table.cells.len() as u32,
                    cells: weights.len() as u32,
                    first: first as u32,
                });
                table.cells.append(&weights);
            }
        }
        *budget -= table.cells.len();
        table
    }

    /// Draws of Bin(n, q) for a batch of numbers of trials, from a random word each or, outside of the range, from the
    /// stream.
    #[inline(always)]
    pub(super) fn draw(&self, trials: &[u32], words: &[u64], stream: &mut Stream, drawn: &mut [u32]) {
        let (least, rows, cells) = (self.least as u32, &*self.rows, self.cells.reader());
        for ((drawn, &n), &word) in drawn.iter_mut().zip(trials).zip(words) {
            *drawn = match rows.get(n.wrapping_sub(least) as usize) {
                Some(row) => row.draw(cells, word),
                None => self.draw_beyond_tables(n, stream),
            };
        }
    }

    #[cold]
    #[inline(never)]
    fn draw_beyond_tables(&self, n: u32, stream: &mut Stream) -> u32 {
        self.draw_without_table(n.into(), stream) as u32
    }

    /// A draw for any n, without tables.
    pub(super) fn draw_without_table(&self, n: u64, stream: &mut Stream) -> u64 {
        let drawn = binomial(n, self.q, stream);
        if self.failures { n - drawn } else { drawn }
    }

    #[cfg(test)]
    pub(super) fn cells(&self) -> usize {
        self.cells.len()
    }

    #[cfg(test)]
    pub(super) fn tables(&self) -> usize {
        self.rows.len()
    }
}

/// About the cells of the tables of a range, before they are made: 19 standard deviations each.
fn expected_cells(trials: &RangeInclusive<u64>, q: f64) -> f64 {
    let last = *trials.end() as f64;
    let rows = last - *trials.start() as f64 + 1.0;
    rows * (0.5 * last).min(18.2 * (last * q).sqrt() + 1.0)
}

/// P(Bin(n, q) = j) from some first j on, in units of the largest, given the odds q/(1-q) (`inf` where q rounds to 1).
///
/// From the mode outwards by the ratio of neighbors, P(j+1)/P(j) = (n-j)/(j+1) odds: the relative error grows by
/// 2^-51 a step, while a form with logarithms would depend on the platform's ln.
fn binomial_weights(n: usize, odds: f64) -> (usize, Vec<f64>) {
    let q = if odds.is_finite() { odds / (1.0 + odds) } else { 1.0 };
    let mode = (((n + 1) as f64 * q) as usize).min(n);
    let mut weights = Vec::new();
    let mut weight = 1.0;
    for j in (0..mode).rev() {
        weight *= (j + 1) as f64 / (n - j) as f64 / odds;
        if weight < NEGLIGIBLE {
            break;
        }
        weights.push(weight);
    }
    let first = mode - weights.len();
    weights.reverse();
    weights.push(1.0);
    weight = 1.0;
    for j in mode..n {
        weight *= (n - j) as f64 / (j + 1) as f64 * odds;
        if weight < NEGLIGIBLE {
            break;
        }
        weights.push(weight);
    }
    (first, weights)
}

#[cfg(test)]
mod tests {
    use super::super::stream::{StreamId, World};
    use super::*;
    use crate::special::log_binomial_pmf;

    fn distribution(table: &BinomialTable, n: u64) -> (usize, Vec<f64>) {
        let row = table.rows[(n - table.least) as usize];
        (row.first as usize, table.cells.distribution(row.start, row.cells))
    }

    /// No randomness here: the distribution that every table stands for, against the saddle-point form.
    #[test]
    fn tables_hold_binomial_distributions() {
        let mut worst = 0.0f64;
        for odds in [0.0, 1e-9, 0.01, 0.3, 1.0, 1.7, 40.0, 1e9, f64::INFINITY] {
            let (success, failure) = if odds > 1.0 { (1.0, 1.0 / odds) } else { (odds, 1.0) };
            let table = BinomialTable::new(0..=250, success, failure, &mut 100_000);
            let q = success / (success + failure);
            for n in [0, 1, 2, 17, 100, 249, 250u64] {
                let (first, distribution) = distribution(&table, n);
                let outside = (0..=n).filter(|&j| (j as usize) < first || j as usize >= first + distribution.len());
                let missing: f64 = outside.map(|j| log_binomial_pmf(j, n, q).exp()).sum();
                let distance = distribution
                    .iter()
                    .enumerate()
                    .map(|(index, p)| (p - log_binomial_pmf((first + index) as u64, n, q).exp()).abs() / 2.0);
                worst = worst.max(missing + distance.sum::<f64>());
            }
        }
        println!("largest distance in total variation {worst:e}");
        assert!(worst < 1e-13);
    }

    #[test]
    fn long_tables_hold_binomial_distributions() {
        for odds in [1e-4, 1.0, 300.0] {
            let n = 200_000;
            let table = BinomialTable::new(n..=n, odds, 1.0, &mut 100_000);
            let (first, distribution) = distribution(&table, n);
            let pmf = |j: usize| log_binomial_pmf(j as u64, n, odds / (1.0 + odds)).exp();
            let distance: f64 = distribution.iter().enumerate().map(|(i, p)| (p - pmf(first + i)).abs() / 2.0).sum();
            println!("odds {odds}: {} cells, distance in total variation {distance:e}", distribution.len());
            assert!(distance < 2f64.powi(-37));
        }
    }

    #[test]
    fn the_budget_is_kept_and_other_numbers_of_trials_are_drawn_too() {
        let mut budget = 1000;
        let table = BinomialTable::new(0..=250, 1.0, 1.0, &mut budget);
        assert_eq!((table.tables(), budget), (0, 1000));
        let table = BinomialTable::new(5..=9, 1.0, 3.0, &mut budget);
        assert_eq!((table.tables(), budget), (5, 1000 - (6 + 7 + 8 + 9 + 10)));
        let mut stream = Stream::new(StreamId { seed: 0, query: 0, world: World::Dataset, block: 0 });
        let mut drawn = [0; 256];
        for n in [0, 4, 5, 9, 10, 1 << 31] {
            table.draw(
                &[n; 256],
                &std::array::from_fn::<u64, 256, _>(|sample| (sample as u64) << 56),
                &mut stream,
                &mut drawn,
            );
            // The words are spread evenly; with tables, so are the draws. Else six standard deviations of the mean.
            let (mean, found) = (0.25 * f64::from(n), drawn.iter().map(|&n| f64::from(n)).sum::<f64>() / 256_f64);
            assert!((found - mean).abs() <= 6.0 * (0.75 * mean / 256_f64).sqrt() + 1e-9, "{n}: {found}");
        }
    }

    #[test]
    fn odds_beyond_all_doubles_give_all_votes() {
        assert_eq!(binomial_weights(3, f64::INFINITY), (3, vec![1.0]));
        assert_eq!(binomial_weights(0, 0.5), (0, vec![1.0]));
        assert_eq!(binomial_weights(2, 5e-324), (0, vec![1.0]));
        assert_eq!(binomial_weights(2, 0.0), (0, vec![1.0]));
    }
}
