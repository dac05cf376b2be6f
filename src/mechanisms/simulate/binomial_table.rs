//! Binomial variables for a range of numbers of trials: an alias table for each, a general sampler beyond.

use super::alias::{self, AliasReader, AliasTables, ROW};
use super::halves::Halves;
use super::stream::Stream;
use crate::variate::binomial;
use crate::vectorized::in_vectors;
use std::ops::RangeInclusive;

/// Weights below 2^-60 of the largest are omitted: together they weigh less than the 2^-49 of an alias table.
const NEGLIGIBLE: f64 = 8.673_617_379_884_035e-19;

/// The largest number of tables, so that the start of a table can be computed in 32 bits.
const MAX_TABLES: usize = 1 << 14;

/// Sampler of Bin(n, q) for any n; fast for n in a range.
///
/// A draw from a table is off by less than 2^-40 in total variation: 2^-48 through the table and its index (`alias`),
/// the rest through the rounding of the binomial probabilities, 2^-45 for n = 250. A table is built and read only with
/// additions, multiplications and divisions of IEEE doubles and is therefore the same on every platform; the general
/// sampler evaluates logarithms.
#[derive(Debug, Clone)]
pub(super) struct BinomialTable {
    least: u32,
    rows: u32,
    start: Start,
    cells: AliasTables,
    /// The smaller of q and 1 - q, for the general sampler: the successes or the failures.
    q: f64,
    failures: bool,
}

/// The number of successes represented by the first cell of a row: a line in the number of the row, rounded down, at
/// least 0. So no row is looked up; the likely numbers lie slightly above the line.
#[derive(Debug, Clone, Copy, Default)]
struct Start {
    /// The offset of the line.
    base: i32,
    /// Successes per row, and at row 0, in units of 2^-16.
    slope: i32,
    offset: i32,
}

impl Start {
    /// The highest line below all of these, each at least 0, that is equally far from the first and the last.
    fn below(firsts: &[u32]) -> Self {
        let (Some(&first), Some(&last)) = (firsts.first(), firsts.last()) else { return Self::default() };
        // The likely successes rise by at most one from row to row, and there are at most 2^14 rows: below 2^31.
        let slope = ((last - first) << 16) / (firsts.len() as u32 - 1).max(1);
        let gap = |(row, &next): (usize, &u32)| (i64::from(next - first) << 16) - row as i64 * i64::from(slope);
        let offset = firsts.iter().enumerate().map(gap).min().unwrap_or_default();
        Self { base: first as i32, slope: slope as i32, offset: offset as i32 }
    }

    #[inline(always)]
    fn of(self, row: u32) -> u32 {
        let start = self.base + ((row as i32 * self.slope + self.offset) >> 16);
        (if start > 0 { start } else { 0 }) as u32
    }
}

impl BinomialTable {
    /// A success has the odds q/(1-q) = `success`/`failure`, both at least 0, not both 0; tables for the n in a range,
    /// if they take at most `budget` cells and at most [`alias::MAX_CELLS`] each. The cells used are subtracted from
    /// the budget.
    pub(super) fn new(trials: RangeInclusive<u64>, success: f64, failure: f64, budget: &mut usize) -> Self {
        let failures = success > failure;
        let q = if failures { failure } else { success } / (success + failure);
        let without = Self { least: 0, rows: 0, start: Start::default(), cells: AliasTables::new(1), q, failures };
        let (least, last) = (*trials.start(), *trials.end());
        if last >= 1 << 31 || last - least >= MAX_TABLES as u64 || expected_cells(&trials, q) > *budget as f64 {
            return without;
        }
        let (firsts, rows): (Vec<u32>, Vec<Vec<f64>>) = trials
            .map(|n| binomial_weights(n as usize, success / failure))
            .map(|(first, weights)| (first as u32, weights))
            .unzip();
        let start = Start::below(&firsts);
        let zeros = |row: usize| (firsts[row] - start.of(row as u32)) as usize;
        let cells = rows.iter().enumerate().map(|(row, weights)| zeros(row) + weights.len()).max().unwrap_or_default();
        let bits = alias::bits_for(cells);
        if cells > alias::MAX_CELLS || rows.len() << bits > *budget {
            return without;
        }
        let mut tables = AliasTables::new(bits);
        let mut padded = Vec::new();
        for (row, weights) in rows.iter().enumerate() {
            padded.clear();
            padded.resize(zeros(row), 0.0);
            padded.extend_from_slice(weights);
            tables.append(&padded);
        }
        *budget -= tables.len();
        Self { least: least as u32, rows: rows.len() as u32, start, cells: tables, ..without }
    }

    /// Draws of Bin(n, q) for a batch of numbers of trials, from one random word each or, outside the range, from the
    /// stream; and the failures, n minus each draw. The batch is a multiple of 64.
    pub(super) fn draw(&self, trials: &[u32], words: &Halves, stream: &mut Stream, [drawn, failed]: [&mut [u32]; 2]) {
        if self.rows == 0 {
            for ((drawn, failed), &n) in drawn.iter_mut().zip(failed).zip(trials) {
                *drawn = self.draw_beyond_tables(n, stream);
                *failed = n - *drawn;
            }
            return;
        }
        in_vectors!(words.lanes.arch, {
            let cells = self.cells.reader();
            let halves = words.first().as_chunks::<ROW>().0;
            let trials = trials.as_chunks::<ROW>().0;
            let drawn = drawn.as_chunks_mut::<ROW>().0.iter_mut();
            let failed = failed.as_chunks_mut::<ROW>().0.iter_mut();
            for (row, ((trials, halves), (drawn, failed))) in
                trials.iter().zip(halves).zip(drawn.zip(failed)).enumerate()
            {
                if self.draw_row(cells, trials, halves, drawn, failed) {
                    self.complete(trials, words, row * ROW, stream, [drawn, failed]);
                }
            }
        });
    }

    /// Draws as far as half words decide; true if they leave one open.
    #[inline(always)]
    fn draw_row(
        &self,
        cells: AliasReader<'_>,
        trials: &[u32; ROW],
        halves: &[u32; ROW],
        drawn: &mut [u32; ROW],
        failed: &mut [u32; ROW],
    ) -> bool {
        let last = self.rows - 1;
        let mut rows = [0u32; ROW];
        let mut beyond = 0u32;
        for lane in 0..ROW {
            let row = trials[lane].wrapping_sub(self.least);
            rows[lane] = if row < last { row } else { last };
            beyond |= row ^ rows[lane];
        }
        let open = cells.draw_row(
            #[inline(always)]
            |lane| rows[lane],
            halves,
            drawn,
        );
        for lane in 0..ROW {
            drawn[lane] += self.start.of(rows[lane]);
            failed[lane] = trials[lane].wrapping_sub(drawn[lane]);
        }
        open || beyond != 0
    }

    /// Draws those left open by half words, and those without a table.
    #[cold]
    #[inline(never)]
    fn complete(
        &self,
        trials: &[u32; ROW],
        words: &Halves,
        first: usize,
        stream: &mut Stream,
        [drawn, failed]: [&mut [u32; ROW]; 2],
    ) {
        let cells = self.cells.reader();
        for (lane, &n) in trials.iter().enumerate() {
            let row = n.wrapping_sub(self.least);
            drawn[lane] = if row < self.rows {
                let word = alias::whole(words.first()[first + lane], words.rest().half(first + lane));
                self.start.of(row) + cells.decide(row as usize, word) as u32
            } else {
                self.draw_beyond_tables(n, stream)
            };
            failed[lane] = n - drawn[lane];
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
    pub(super) const fn tables(&self) -> u32 {
        self.rows
    }
}

/// The approximate number of cells of the tables of a range, before they are built: 19 standard deviations each.
fn expected_cells(trials: &RangeInclusive<u64>, q: f64) -> f64 {
    let last = *trials.end() as f64;
    let rows = last - *trials.start() as f64 + 1.0;
    rows * (0.5 * last).min(18.2 * (last * q).sqrt() + 1.0)
}

/// P(Bin(n, q) = j) from some first j on, in units of the largest, given the odds q/(1-q) (`inf` if q rounds to 1).
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
    use crate::vectorized::Arch;

    fn distribution(table: &BinomialTable, n: u64) -> (usize, Vec<f64>) {
        let row = n as u32 - table.least;
        (table.start.of(row) as usize, table.cells.distribution(row as usize))
    }

    /// No randomness here: the distribution of every table, compared with the saddle-point form.
    #[test]
    fn tables_hold_binomial_distributions() {
        let mut worst = 0.0f64;
        for odds in [0.0, 1e-9, 0.01, 0.3, 1.0, 1.7, 40.0, 1e9, f64::INFINITY] {
            let (success, failure) = if odds > 1.0 { (1.0, 1.0 / odds) } else { (odds, 1.0) };
            let table = BinomialTable::new(0..=250, success, failure, &mut 200_000);
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
        assert_eq!((table.tables(), budget), (5, 1000 - 5 * 16));
        let mut stream = Stream::new(StreamId { seed: 0, query: 0, world: World::Dataset, block: 0 });
        let mut words = Halves::new(&mut stream, 4096);
        let (mut drawn, mut failed) = ([0; 4096], [0; 4096]);
        for n in [0, 4, 5, 9, 10, 1 << 31] {
            words.renew(&mut stream);
            table.draw(&[n; 4096], &words, &mut stream, [&mut drawn, &mut failed]);
            assert!(drawn.iter().zip(&failed).all(|(drawn, failed)| drawn + failed == n));
            // Six standard deviations of the mean.
            let (mean, found) = (0.25 * f64::from(n), drawn.iter().map(|&n| f64::from(n)).sum::<f64>() / 4096.0);
            assert!((found - mean).abs() <= 6.0 * (0.75 * mean / 4096.0).sqrt() + 1e-9, "{n}: {found}");
        }
    }

    /// Decisions by half words equal those by whole words, for every row, with the instructions of this machine and
    /// with the plain ones.
    #[test]
    fn draws_are_those_of_whole_words() {
        let mut stream = Stream::new(StreamId { seed: 1, query: 0, world: World::Dataset, block: 0 });
        let mut words = Halves::new(&mut stream, 4096);
        for (trials, success) in [(0..=90u64, 0.37), (230..=250, 3.0), (9_000..=9_050, 1e-3), (7..=7, 1.0)] {
            let table = BinomialTable::new(trials.clone(), success, 1.0, &mut 1_000_000);
            let rows = trials.end() - trials.start() + 1;
            assert_eq!(u64::from(table.tables()), rows);
            let numbers: [u32; 4096] = std::array::from_fn(|sample| (trials.start() + sample as u64 % rows) as u32);
            for _ in 0..20 {
                words.renew(&mut stream);
                for arch in [Arch::new(), Arch::Scalar] {
                    let (mut drawn, mut failed) = ([0; 4096], [0; 4096]);
                    words.lanes.arch = arch;
                    table.draw(&numbers, &words, &mut stream, [&mut drawn, &mut failed]);
                    for (sample, (&n, drawn)) in numbers.iter().zip(drawn).enumerate() {
                        let row = n - table.least;
                        let word = alias::whole(words.first()[sample], words.rest().half(sample));
                        let outcome = table.cells.reader().decide(row as usize, word) as u32;
                        assert_eq!(drawn, table.start.of(row) + outcome);
                    }
                }
            }
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
