//! The values of the winning noisy count at which the trapezoid rule evaluates the integrand.

use super::factors::Place;
use super::noise_table::NoiseTable;
use super::votes::Votes;
use crate::error::{Error, Result};
use crate::parallel;

/// The largest number of nodes of a level with this step in units of σ, and of values of ln Φ at them: minutes of work.
const NOMINAL_STEP: f64 = 0.4;
const MAX_NODES: f64 = 5e4;
const MAX_TABLE_VALUES: f64 = 1e10;
/// Number of levels; each halves the step.
pub(super) const LEVELS: u32 = 4;

/// Step of the first level, in units of σ: usually confirmed by half the step, so that two levels suffice. All levels
/// together have the nodes of the last.
///
/// The densities are as narrow as the spread of the largest of C noises, so the step must shrink with it. The numbers
/// are measured: for even, uneven and nearly certain votes of 2 to 100 classes, levels differ by 1e-10 to 1e-8, just
/// below the required distance. If they differ by more, there is a third level.
pub(super) fn first_step(classes: usize) -> f64 {
    (0.78 / libm::pow(libm::log(classes as f64), 0.74)).min(0.72)
}

/// All nodes, level by level.
#[derive(Debug)]
pub(super) struct Lattice {
    sigma: f64,
    step: Step,
    /// The range of x.
    range: (f64, f64),
    marks: i64,
    voters: i64,
    /// Whether the tables hold values as well as logarithms.
    values: bool,
}

/// The first step.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// A whole number of votes divided by a small one, so that a few tables cover the distances of all nodes from all
    /// numbers of votes.
    Rational { numerator: i64, denominator: i64 },
    /// Any number of votes, with one table per node: cheaper if the noise is far wider than the votes.
    Real(f64),
}

/// The nodes of a level that no earlier level has.
#[derive(Debug)]
pub(super) struct Level {
    step: f64,
    /// Whole votes, and the table for the remainder.
    nodes: Vec<(i64, usize)>,
    tables: Vec<NoiseTable>,
}

impl Lattice {
    pub(super) fn new(votes: &Votes, sigma: f64) -> Result<Self> {
        let (marks, voters) = (votes.marks as f64, votes.k as f64);
        // Beyond, every class has less than e^-46 of its integral: the peaks lie in [-m, k + m + 5σ] and are at least
        // as narrow as σ.
        let range = (-marks - 9.6 * sigma, voters + marks + 14.6 * sigma);
        let nodes = (range.1 - range.0) / (NOMINAL_STEP * sigma);
        let reason = format_args!(
            "{voters} voters with noise of scale {sigma:e} need {nodes:.1e} nodes of {voters} values, more than the \
             {MAX_NODES:e} nodes or {MAX_TABLE_VALUES:e} values of some minutes"
        );
        let possible = nodes <= MAX_NODES && nodes * voters <= MAX_TABLE_VALUES;
        Error::check_possible(possible, "exact distribution of random votes", reason)?;
        let own_tables = nodes * (voters + 2.0 * marks + 1.0);
        let first_step = first_step(votes.positions.len()) * sigma;
        let step = if range.1 - range.0 > own_tables { Step::Real(first_step) } else { Step::rational(first_step) };
        Ok(Self { sigma, step, range, marks: votes.marks as i64, voters: votes.k as i64, values: votes.are_few() })
    }

    pub(super) fn level(&self, level: u32) -> Level {
        match self.step {
            Step::Rational { numerator, denominator } => self.rational_level(level, numerator, denominator << level),
            Step::Real(step) => self.real_level(level, step / f64::from(1u32 << level)),
        }
    }

    /// The numbers of the nodes of a level, in units of its step.
    fn indices(&self, level: u32, step: f64) -> impl Iterator<Item = i64> + use<> {
        let (from, to) = ((self.range.0 / step).floor() as i64, (self.range.1 / step).ceil() as i64);
        (from..=to).filter(move |index| level == 0 || index % 2 != 0)
    }

    fn real_level(&self, level: u32, step: f64) -> Level {
        let abscissae: Vec<f64> = self.indices(level, step).map(|index| index as f64 * step).collect();
        let (first, last) = (-self.marks, self.voters + self.marks);
        let table = |x: &f64| NoiseTable::gaussian(self.sigma, *x, (first, last), self.values);
        let nodes = (0..abscissae.len()).map(|node| (0, node)).collect();
        Level { step, nodes, tables: parallel::map(&abscissae, table) }
    }

    fn rational_level(&self, level: u32, numerator: i64, parts: i64) -> Level {
        let step = numerator as f64 / parts as f64;
        let numerators = self.indices(level, step).map(|index| index * numerator);
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
        let table =
            |offset: &i64| NoiseTable::gaussian(self.sigma, *offset as f64 / parts as f64, (first, last), self.values);
        Level { step, nodes, tables: parallel::map(&offsets, table) }
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

impl Step {
    /// A step of at most `step`, which is below 2^53, with a small denominator.
    fn rational(step: f64) -> Self {
        if step < 1.0 {
            return Self::Rational { numerator: 1, denominator: (1.0 / step).ceil() as i64 };
        }
        // With many votes per step little is gained, and every table costs time.
        let most = if step < 8.0 { 4 } else { 1 };
        let candidates = (1..=most).map(|denominator| ((step * denominator as f64).floor() as i64, denominator));
        let largest = candidates.fold((1, 1), |best: (i64, i64), (numerator, denominator)| {
            if numerator * best.1 > best.0 * denominator { (numerator, denominator) } else { best }
        });
        Self::Rational { numerator: largest.0, denominator: largest.1 }
    }
}

#[cfg(test)]
mod tests {
    use crate::distribution::{Noise, multinomial_argmax_distribution};
    use crate::quantity::NoiseScale;

    /// The distribution is smooth across the change of steps: p - 1/2 falls like 1/σ.
    #[test]
    fn wide_noise_needs_no_wide_tables() {
        let distribution = |sigma: f64| {
            let noise = Noise::Gaussian(NoiseScale::new(sigma).unwrap());
            multinomial_argmax_distribution(100, &[0.75, 0.25], noise).unwrap()
        };
        for sigma in [200.0, 250.0, 260.0, 270.0, 300.0, 1e5, 1e9, 1e15] {
            // N_1 - N_2 has the mean 50 and the variance 75, the noise 2σ².
            let expected = 50.0 / (std::f64::consts::TAU * (75.0 + 2.0 * sigma * sigma)).sqrt();
            let found = distribution(sigma).p()[0] - 0.5;
            assert!((found - expected).abs() <= 0.02 * expected + 1e-15, "{sigma}: {found} {expected}");
        }
        // ln of the density of 1e300 has an error of 1e-13.
        assert!((distribution(1e300).p()[0] - 0.5).abs() < 1e-12);
    }
}
