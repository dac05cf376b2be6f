//! The values of the winning noisy count at which the trapezoid rule looks.

use super::factors::Place;
use super::noise_table::NoiseTable;
use super::votes::Votes;
use crate::error::{Error, Result};
use rayon::prelude::*;

/// The most nodes of the first level, and the most values of ln Φ at them: some minutes of work.
const MAX_NODES: f64 = 5e4;
const MAX_TABLE_VALUES: f64 = 1e10;
/// Step of the first level, in units of σ.
const FIRST_STEP: f64 = 0.4;
/// Number of levels; each halves the step.
pub(super) const LEVELS: u32 = 4;

/// All nodes, level by level. The step is a whole number of votes divided by a small one, so that few tables have the
/// distances of all nodes to all numbers of votes.
#[derive(Debug)]
pub(super) struct Lattice {
    sigma: f64,
    /// Numerator and denominator of the first step.
    step: (i64, i64),
    /// The range of x.
    range: (f64, f64),
    marks: i64,
    voters: i64,
}

/// The nodes of a level that no level before has.
#[derive(Debug)]
pub(super) struct Level {
    step: f64,
    /// Whole votes, and which table has the rest.
    nodes: Vec<(i64, usize)>,
    tables: Vec<NoiseTable>,
}

impl Lattice {
    pub(super) fn new(votes: &Votes, sigma: f64) -> Result<Self> {
        let (marks, voters) = (votes.marks as f64, votes.k as f64);
        // Beyond, every class has less than e^-46 of its integral: the peaks lie in [-m, k + m + 5σ] and are at least
        // as narrow as σ.
        let range = (-marks - 9.6 * sigma, voters + marks + 14.6 * sigma);
        let nodes = (range.1 - range.0) / (FIRST_STEP * sigma);
        if !(nodes <= MAX_NODES && nodes * voters <= MAX_TABLE_VALUES) {
            return Err(Error::Refused {
                operation: "exact law of random votes",
                reason: format!(
                    "{voters} voters with noise of scale {sigma:e} need {nodes:.1e} nodes of {voters} values, more than \
                     the {MAX_NODES:e} nodes or {MAX_TABLE_VALUES:e} values of some minutes"
                ),
            });
        }
        let step = rational_step(FIRST_STEP * sigma);
        Ok(Self { sigma, step, range, marks: votes.marks as i64, voters: votes.k as i64 })
    }

    pub(super) fn level(&self, level: u32) -> Level {
        let (numerator, parts) = (self.step.0, self.step.1 << level);
        let step = numerator as f64 / parts as f64;
        let (from, to) = ((self.range.0 / step).floor() as i64, (self.range.1 / step).ceil() as i64);
        let numerators = (from..=to).filter(|index| level == 0 || index % 2 != 0).map(|index| index * numerator);
        let mut places: Vec<Option<usize>> = vec![None; parts as usize];
        let mut offsets: Vec<i64> = Vec::new();
        let mut nodes: Vec<(i64, usize)> = Vec::new();
        for numerator in numerators {
            let offset = numerator.rem_euclid(parts);
            let table = *places[offset as usize].get_or_insert_with(|| {
                offsets.push(offset);
                offsets.len() - 1
            });
            nodes.push((numerator.div_euclid(parts), table));
        }
        let lowest = nodes.first().map_or(0, |node| node.0);
        let highest = nodes.last().map_or(0, |node| node.0);
        let (first, last) = (-self.marks - highest, self.voters + self.marks - lowest);
        let table = |offset: &i64| NoiseTable::gaussian(self.sigma, *offset as f64 / parts as f64, first, last);
        Level { step, nodes, tables: offsets.par_iter().map(table).collect() }
    }
}

impl Level {
    /// In votes.
    pub(super) fn step(&self) -> f64 {
        self.step
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn place(&self, node: usize) -> Place<'_> {
        let (floor, table) = self.nodes[node];
        Place { floor, noise: &self.tables[table] }
    }
}

/// A step of at most `step` with a small denominator.
fn rational_step(step: f64) -> (i64, i64) {
    if step < 1.0 {
        return (1, (1.0 / step).ceil() as i64);
    }
    let candidates = (1..=4i64).map(|denominator| ((step * denominator as f64).floor() as i64, denominator));
    candidates.fold(
        (1, 1),
        |best, (numerator, denominator)| {
            if numerator * best.1 > best.0 * denominator { (numerator, denominator) } else { best }
        },
    )
}
