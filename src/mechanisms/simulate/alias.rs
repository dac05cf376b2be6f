//! Alias tables: one random word gives one draw from a finite distribution (Walker 1977; Vose 1991), in integer
//! arithmetic.
//!
//! A distribution is cut into n = 2^b cells of equal mass, each split between its own outcome and one alias. The masses
//! are whole multiples of 2^-49/n that sum to exactly 1, so building a table loses nothing. A cell is a word: the share
//! of its own outcome in the high 49 bits, the alias in the low 15. Its first 16 bits together with the alias form half
//! a word. Random words work likewise: the first b bits of one choose the cell, the next 16 decide all but one in 2^16
//! draws, and only then is the second half of the random word generated and a whole cell read.

use crate::special::CompensatedSum;
use std::hint::{black_box, select_unpredictable};
use std::ops::BitXor;

/// Bits for the alias.
const ALIAS_BITS: u32 = 15;
const ALIAS_MASK: u64 = (1 << ALIAS_BITS) - 1;
/// Units of mass in a cell.
const CELL: u64 = 1 << (64 - ALIAS_BITS);
/// Bits of the share, and of a position in a cell, that are compared first.
const NEAR_BITS: u32 = 16;

/// Number of draws made together: enough that the loops over them remain loops until they are vectorized.
pub(super) const ROW: usize = 64;

/// The largest number of bits that choose a cell: with the first bits of the position, they are at most half a word.
pub(super) const MAX_BITS: u32 = 14;
/// The largest number of outcomes of a table.
pub(super) const MAX_CELLS: usize = 1 << MAX_BITS;

/// Alias tables with the same number of cells, one after the other.
#[derive(Debug, Clone)]
pub(super) struct AliasTables {
    /// b, from 1 to [`MAX_BITS`].
    bits: u32,
    near: Vec<u32>,
    cells: Vec<u64>,
}

impl AliasTables {
    /// No tables yet, for tables of 2^`bits` cells.
    pub(super) const fn new(bits: u32) -> Self {
        Self { bits, near: Vec::new(), cells: Vec::new() }
    }

    /// A single table; see [`AliasTables::append`].
    pub(super) fn of(weights: &[f64]) -> Self {
        let mut tables = Self::new(bits_for(weights.len()));
        tables.append(weights);
        tables
    }

    /// Cells of all tables together.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Appends the table of the distribution proportional to `weights`: at most one weight per cell, each finite and at
    /// least 0, not all 0.
    ///
    /// The distribution of the draws differs from the normalized weights by at most 2^-49 in total variation, plus the
    /// rounding of their sum. An outcome of probability below 2^-50/n is never drawn.
    pub(super) fn append(&mut self, weights: &[f64]) {
        let mut mass = masses(weights, 1 << self.bits);
        let first = self.cells.len();
        // A full cell is its own alias, so its share does not matter.
        self.cells.extend((0..mass.len() as u64).map(|outcome| (CELL - 1) << ALIAS_BITS | outcome));
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..mass.len()).partition(|&outcome| mass[outcome] < CELL);
        // Masses sum to n cells at every step: if one is smaller than a cell, another is larger.
        while let (Some(&giver), Some(taker)) = (large.last(), small.pop()) {
            self.cells[first + taker] = mass[taker] << ALIAS_BITS | giver as u64;
            mass[giver] -= CELL - mass[taker];
            if mass[giver] < CELL {
                large.pop();
                small.push(giver);
            }
        }
        let near = |cell: &u64| ((cell >> (64 - NEAR_BITS)) << NEAR_BITS | (cell & ALIAS_MASK)) as u32;
        self.near.extend(self.cells[first..].iter().map(near));
    }

    /// Loads the data that most draws read into the caches.
    pub(super) fn fetch(&self) {
        fetch(&self.near);
    }

    /// A draw from the first table, given 64 random bits.
    #[inline]
    pub(super) fn draw(&self, random: u64) -> usize {
        self.reader().decide(0, random)
    }

    /// The part that draws: constructed once before many draws, so that a loop that writes its draws does not
    /// repeatedly look up where the cells are.
    #[inline(always)]
    pub(super) fn reader(&self) -> AliasReader<'_> {
        AliasReader { bits: self.bits, near: &self.near, cells: &self.cells }
    }

    /// The distribution represented by a table.
    #[cfg(test)]
    pub(super) fn distribution(&self, table: usize) -> Vec<f64> {
        let table = &self.cells[table << self.bits..][..1 << self.bits];
        let mut mass = vec![0u128; table.len()];
        for (cell, entry) in table.iter().enumerate() {
            let own = entry >> ALIAS_BITS;
            mass[cell] += u128::from(own);
            mass[(entry & ALIAS_MASK) as usize] += u128::from(CELL - own);
        }
        let units = table.len() as f64 * CELL as f64;
        mass.into_iter().map(|mass| mass as f64 / units).collect()
    }
}

/// The cells of some tables.
#[derive(Debug, Clone, Copy)]
pub(super) struct AliasReader<'a> {
    bits: u32,
    /// \[table\]\[cell\]: the first bits of the share above the alias.
    near: &'a [u32],
    cells: &'a [u64],
}

impl AliasReader<'_> {
    /// A draw from the first table, given the first half of a random word and a way to generate the second one.
    #[inline(always)]
    pub(super) fn draw(self, half: u32, rest: impl FnOnce() -> u32) -> usize {
        let own = half >> (32 - self.bits);
        let place = half << self.bits >> (32 - NEAR_BITS);
        let near = self.near[own as usize];
        let share = near >> NEAR_BITS;
        if place == share {
            return self.decide(0, whole(half, rest()));
        }
        // A branch would be mispredicted half of the time.
        select_unpredictable(place < share, own, near & ALIAS_MASK as u32) as usize
    }

    /// Draws for a row, each from its own table, as far as the first halves of random words decide; true if one of them
    /// remains open. Each step is made for all before the next.
    #[inline(always)]
    pub(super) fn draw_row(
        self,
        tables: impl Fn(usize) -> u32,
        halves: &[u32; ROW],
        outcomes: &mut [u32; ROW],
    ) -> bool {
        let mut places = [0u32; ROW];
        for lane in 0..ROW {
            places[lane] = tables(lane) << self.bits | halves[lane] >> (32 - self.bits);
        }
        let mut near = [0u32; ROW];
        for lane in 0..ROW {
            near[lane] = self.near[places[lane] as usize];
        }
        let mut open = 0u32;
        for lane in 0..ROW {
            let own = halves[lane] >> (32 - self.bits);
            let place = halves[lane] << self.bits >> (32 - NEAR_BITS);
            let (share, other) = (near[lane] >> NEAR_BITS, near[lane] & ALIAS_MASK as u32);
            open |= u32::from(place == share);
            outcomes[lane] = if place < share { own } else { other };
        }
        open != 0
    }

    /// A draw from a table, given 64 random bits: the cell, and the position in it.
    ///
    /// Each part of each cell is off by at most 2^-64 in probability, the whole distribution by less than 2^-49.
    #[inline]
    pub(super) fn decide(self, table: usize, random: u64) -> usize {
        let cell = (random >> (64 - self.bits)) as usize;
        let entry = self.cells[table << self.bits | cell];
        if random << self.bits < entry & !ALIAS_MASK { cell } else { (entry & ALIAS_MASK) as usize }
    }
}

/// Reads one number of every 64 bytes, in order.
pub(super) fn fetch<N: Copy + BitXor<Output = N>>(numbers: &[N]) {
    /// A cache line of most machines.
    const LINE: usize = 64;
    // A result that depends on all of them cannot be optimized away.
    black_box(numbers.iter().copied().step_by(LINE / size_of::<N>()).reduce(N::bitxor));
}

/// A word from its halves.
pub(super) const fn whole(high: u32, low: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

/// The number of bits of the smallest table for this many outcomes.
pub(super) fn bits_for(outcomes: usize) -> u32 {
    outcomes.next_power_of_two().ilog2().max(1)
}

/// Weights as whole units that sum to n cells: rounded, with the difference given to the largest; the remaining cells
/// get nothing.
fn masses(weights: &[f64], cells: usize) -> Vec<u64> {
    let units = cells as u64 * CELL;
    let total = weights.iter().copied().collect::<CompensatedSum>().value();
    let mut mass: Vec<u64> = weights.iter().map(|weight| (weight / total * units as f64).round() as u64).collect();
    let sum: i128 = mass.iter().map(|&mass| i128::from(mass)).sum();
    if let Some(largest) = mass.iter_mut().max() {
        // The largest has at least a cell, and all roundings amount to less than 2n units, 2^-34 of a cell.
        *largest = (i128::from(*largest) + i128::from(units) - sum) as u64;
    }
    mass.resize(cells, 0);
    mass
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(weights: &[f64]) -> AliasTables {
        let mut tables = AliasTables::new(bits_for(weights.len()));
        tables.append(&[1.0, 2.0]); // what was there before
        tables.append(weights);
        assert_eq!(tables.len(), 2 * weights.len().next_power_of_two().max(2));
        tables
    }

    fn distance(weights: &[f64]) -> f64 {
        let total: f64 = weights.iter().sum();
        let distribution = table(weights).distribution(1);
        let weights = weights.iter().chain(std::iter::repeat(&0.0));
        distribution.iter().zip(weights).map(|(p, weight)| (p - weight / total).abs()).sum::<f64>() / 2.0
    }

    #[test]
    fn ends_of_the_cells_go_where_they_should() {
        let cells = AliasTables::of(&[1.0, 3.0]);
        assert_eq!(cells.distribution(0), [0.25, 0.75]);
        // The first half of the words is cell 0, whose first half is outcome 0.
        let quarter = 1u64 << 62;
        assert_eq!([0, quarter - 1, quarter, 2 * quarter, u64::MAX].map(|random| cells.draw(random)), [0, 0, 1, 1, 1]);
        assert_eq!([0, u64::MAX].map(|random| AliasTables::of(&[5.0]).draw(random)), [0, 0]);
        // An outcome without mass is never drawn.
        let cells = table(&[0.0, 1.0, 0.0]);
        assert!((0..1000).all(|step| cells.reader().decide(1, step * (u64::MAX / 999)) == 1));
        let cells = AliasTables::of(&[0.0, 1.0, 0.0]);
        assert!((0..1000).all(|step| cells.reader().draw(step * (u32::MAX / 999), || 0) == 1));
    }

    /// A share of 1/3 ends within the resolution of half a word: both sides of the end, to the last bit.
    #[test]
    fn what_half_a_word_leaves_open_is_decided_by_the_whole() {
        let cells = AliasTables::of(&[1.0, 5.0]);
        let end = (cells.cells[0] & !ALIAS_MASK) / 2; // words below are cell 0's own
        assert_eq!([end - 1, end, end + 1].map(|word| cells.draw(word)), [0, 1, 1]);
        let mut completed = 0;
        for step in 0..100_000u64 {
            let word = end.wrapping_add(step << 31).wrapping_sub(50_000 << 31);
            let rest = || {
                completed += 1;
                word as u32
            };
            assert_eq!(cells.reader().draw((word >> 32) as u32, rest), cells.draw(word));
        }
        // 2^15 of the 2^32 halves, each combined with two words.
        assert_eq!(completed, 65_536);
    }

    #[test]
    fn the_largest_table_keeps_its_distribution() {
        assert!(distance(&[1.0; MAX_CELLS]) < 1e-14);
        let mut weights = vec![1e-300; MAX_CELLS];
        weights[MAX_CELLS - 1] = 1.0;
        assert!(distance(&weights) < 1e-14);
        let rising: Vec<f64> = (1..=MAX_CELLS).map(|weight| weight as f64).collect();
        assert!(distance(&rising) < 1e-14);
        assert!(distance(&rising[..=MAX_CELLS / 2]) < 1e-14);
    }

    proptest! {
        #[test]
        fn every_distribution_is_kept(
            exponents in prop::collection::vec(prop::option::of(-700.0..0.0f64), 1..60),
            scale in -5.0..5.0f64,
        ) {
            let weights: Vec<f64> = exponents.iter().map(|e| e.map_or(0.0, |e| (e / 40.0 + scale).exp())).collect();
            prop_assume!(weights.iter().any(|&weight| weight > 0.0));
            prop_assert!(distance(&weights) < 1e-14);
        }
    }
}
