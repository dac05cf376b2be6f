//! Alias tables: one random word gives one draw from a finite distribution (Walker 1977; Vose 1991), in integer
//! arithmetic.
//!
//! A distribution on n outcomes is cut into n cells of equal mass, each split between its own outcome and one alias.
//! The masses are whole multiples of 2^-50/n that sum to exactly 1, so building a table loses nothing. A cell is a
//! word: the share of its own outcome in the high 50 bits, the alias in the low 14. Its first 18 bits with the alias
//! again make half a word, which decides all draws but one in 2^18: only the halves need to be near in memory.

use crate::special::CompensatedSum;
use std::hint::select_unpredictable;

/// Bits for the alias.
const ALIAS_BITS: u32 = 14;
const ALIAS_MASK: u64 = (1 << ALIAS_BITS) - 1;
/// Units of mass in a cell.
const CELL: u64 = 1 << (64 - ALIAS_BITS);

/// The most outcomes of a table: their masses and indices fit, and the units of all cells together stay below 2^64.
pub(super) const MAX_CELLS: usize = ALIAS_MASK as usize;

/// Alias tables one after the other.
#[derive(Debug, Clone, Default)]
pub(super) struct AliasTables {
    halves: Vec<u32>,
    cells: Vec<u64>,
}

impl AliasTables {
    /// A single table; see [`AliasTables::append`].
    pub(super) fn of(weights: &[f64]) -> Self {
        let mut tables = Self::default();
        tables.append(weights);
        tables
    }

    /// Cells of all tables together.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Appends the table of the distribution proportional to `weights`: one cell per weight, 1 to [`MAX_CELLS`] of
    /// them, each finite and at least 0, not all 0.
    ///
    /// The distribution of the draws differs from the weights divided by their sum by at most 2^-50 in total variation,
    /// plus the rounding of that sum. An outcome of probability below 2^-51/n is never drawn.
    pub(super) fn append(&mut self, weights: &[f64]) {
        let mut mass = masses(weights);
        let first = self.cells.len();
        // A full cell is its own alias, whatever its share.
        self.cells.extend((0..mass.len() as u64).map(|outcome| (CELL - 1) << ALIAS_BITS | outcome));
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..mass.len()).partition(|&outcome| mass[outcome] < CELL);
        // Masses sum to n cells at every step: while one is smaller than a cell, another is larger.
        while let (Some(&giver), Some(taker)) = (large.last(), small.pop()) {
            self.cells[first + taker] = mass[taker] << ALIAS_BITS | giver as u64;
            mass[giver] -= CELL - mass[taker];
            if mass[giver] < CELL {
                large.pop();
                small.push(giver);
            }
        }
        let half = |cell: &u64| (cell >> 32) as u32 & !(ALIAS_MASK as u32) | (cell & ALIAS_MASK) as u32;
        self.halves.extend(self.cells[first..].iter().map(half));
    }

    /// A draw from the only table.
    #[inline]
    pub(super) fn draw(&self, random: u64) -> usize {
        self.reader().draw_from(0, self.cells.len() as u32, random)
    }

    /// What draws: to be made once before many draws, so that a loop that writes what it draws does not look up again
    /// and again where the cells are.
    #[inline(always)]
    pub(super) fn reader(&self) -> AliasReader<'_> {
        AliasReader { halves: &self.halves, cells: &self.cells }
    }

    /// The distribution that a table stands for.
    #[cfg(test)]
    pub(super) fn distribution(&self, start: u32, cells: u32) -> Vec<f64> {
        let table = &self.cells[start as usize..][..cells as usize];
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
    halves: &'a [u32],
    cells: &'a [u64],
}

impl AliasReader<'_> {
    /// A draw from the table whose `cells` cells begin at `start`, given 64 random bits: index below `cells`.
    ///
    /// The cell is the high word of `random` times n, the place in the cell the low word. As that takes every n-th
    /// value only, each part of each cell is off by at most 2^-64 in probability, the whole distribution by less than
    /// 2^-49.
    #[inline(always)]
    pub(super) fn draw_from(self, start: u32, cells: u32, random: u64) -> usize {
        let product = u128::from(random) * u128::from(cells);
        let (cell, place) = ((product >> 64) as usize, product as u64);
        let half = self.halves[start as usize + cell];
        let (near, share) = ((place >> 46) as u32, half >> ALIAS_BITS);
        if near == share {
            return self.decide(start as usize, cell, place);
        }
        // A branch would be mispredicted half of the time.
        select_unpredictable(near < share, cell, (half & ALIAS_MASK as u32) as usize)
    }

    #[cold]
    fn decide(self, start: usize, cell: usize, place: u64) -> usize {
        let entry = self.cells[start + cell];
        if place < entry & !ALIAS_MASK { cell } else { (entry & ALIAS_MASK) as usize }
    }
}

/// Weights as whole units that sum to n cells: rounded, with what is missing given to the largest.
fn masses(weights: &[f64]) -> Vec<u64> {
    let units = weights.len() as u64 * CELL;
    let total = weights.iter().copied().collect::<CompensatedSum>().value();
    let mut mass: Vec<u64> = weights.iter().map(|weight| (weight / total * units as f64).round() as u64).collect();
    let sum: i128 = mass.iter().map(|&mass| i128::from(mass)).sum();
    if let Some(largest) = mass.iter_mut().max() {
        // The largest holds a cell or more, and all roundings amount to less than 2n units, 2^-35 of a cell.
        *largest = (i128::from(*largest) + i128::from(units) - sum) as u64;
    }
    mass
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(weights: &[f64]) -> AliasTables {
        let mut tables = AliasTables::of(&[1.0, 2.0]); // what was there before
        tables.append(weights);
        assert_eq!(tables.len(), 2 + weights.len());
        tables
    }

    fn distance(weights: &[f64]) -> f64 {
        let total: f64 = weights.iter().sum();
        let distribution = table(weights).distribution(2, weights.len() as u32);
        distribution.iter().zip(weights).map(|(p, weight)| (p - weight / total).abs()).sum::<f64>() / 2.0
    }

    #[test]
    fn ends_of_the_cells_go_where_they_should() {
        let cells = AliasTables::of(&[1.0, 3.0]);
        assert_eq!(cells.distribution(0, 2), [0.25, 0.75]);
        // The first half of the words is cell 0, whose first half is outcome 0.
        let quarter = 1u64 << 62;
        assert_eq!([0, quarter - 1, quarter, 2 * quarter, u64::MAX].map(|random| cells.draw(random)), [0, 0, 1, 1, 1]);
        assert_eq!(AliasTables::of(&[5.0]).draw(u64::MAX), 0);
        // Nothing is ever drawn that has no mass.
        let cells = table(&[0.0, 1.0, 0.0]);
        assert!((0..1000).all(|step| cells.reader().draw_from(2, 3, step * (u64::MAX / 999)) == 1));
    }

    /// A share of 1/3 ends inside of what half a word can tell: both sides of the end, to the last bit.
    #[test]
    fn what_half_a_word_leaves_open_is_decided_by_the_whole() {
        let cells = AliasTables::of(&[1.0, 5.0]);
        let end = cells.cells[0] & !ALIAS_MASK; // the place in cell 0; words below half of it are outcome 0
        assert_eq!([end / 2 - 1, end / 2, end / 2 + 1].map(|word| cells.draw(word)), [0, 1, 1]);
        let same = |word: u64| {
            let product = u128::from(word) * 2;
            cells.draw(word) == cells.reader().decide(0, (product >> 64) as usize, product as u64)
        };
        assert!((0..100_000u64).all(|step| same((end / 2).wrapping_add(step << 31).wrapping_sub(50_000 << 31))));
    }

    #[test]
    fn the_largest_table_keeps_its_distribution() {
        assert!(distance(&[1.0; MAX_CELLS]) < 1e-14);
        let mut weights = vec![1e-300; MAX_CELLS];
        weights[MAX_CELLS - 1] = 1.0;
        assert!(distance(&weights) < 1e-14);
        let rising: Vec<f64> = (1..=MAX_CELLS).map(|weight| weight as f64).collect();
        assert!(distance(&rising) < 1e-14);
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
