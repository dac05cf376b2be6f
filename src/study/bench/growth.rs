//! How the cost of a sample is stated to grow: a sum of terms, each with its own cost.

use super::grid::SweepPoint;
use super::works::BenchWork;

/// What a term of the cost is proportional to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Term {
    /// What every sample takes.
    Sample,
    /// Noise of each class and, if votes are random, a split.
    Class,
    /// The way to memory of what belongs to a class: with more classes, fewer samples are drawn side by side.
    Distant,
    /// Tables of splits: the number of cells of one is proportional to the number of votes, because √k numbers of votes
    /// are likely, and √k ways to split each. The more cells, the more of them are read from outside of a cache.
    Tabulated,
    /// Parties in groups, up to 16 classes: the more classes, the fewer parties fit in a group, and the more groups, the
    /// farther away their tables are.
    Grouped,
    /// Parties one by one.
    Single,
}

/// The most classes for which parties are drawn in groups.
const MOST_GROUPED: usize = 16;

impl Term {
    /// The terms of a work.
    pub(super) const fn of(work: BenchWork) -> &'static [Self] {
        match work {
            BenchWork::Fixed => &[Self::Sample, Self::Class, Self::Distant],
            BenchWork::Pate | BenchWork::PrivateKnn | BenchWork::ExactDistributionPair => {
                &[Self::Sample, Self::Class, Self::Distant, Self::Tabulated]
            }
            BenchWork::Capc => &[Self::Sample, Self::Class, Self::Grouped, Self::Single],
        }
    }

    /// The symbol of the term.
    pub(super) const fn symbol(self) -> &'static str {
        match self {
            Self::Sample => "1",
            Self::Class => "C",
            Self::Distant => "C log2(C)",
            Self::Tabulated => "C k",
            Self::Grouped => "C² k log2(k) [C ≤ 16]",
            Self::Single => "k [C > 16]",
        }
    }

    /// How large it is at a point.
    pub(super) fn size(self, point: &SweepPoint) -> f64 {
        let (classes, voters) = (point.classes as f64, point.voters as f64);
        match self {
            Self::Sample => 1.0,
            Self::Class => classes,
            Self::Distant => classes * classes.log2(),
            Self::Tabulated => classes * voters,
            Self::Grouped if point.classes <= MOST_GROUPED => classes * classes * voters * voters.log2(),
            Self::Single if point.classes > MOST_GROUPED => voters,
            Self::Grouped | Self::Single => 0.0,
        }
    }
}

/// Steps to the best costs; each brings them nearer by a factor.
const STEPS: usize = 40;

/// The costs of the terms, none negative, that are nearest to the measured ones: the sum of measured/modeled and
/// modeled/measured over all points is the least, so that a model too low by a factor is as bad as one too high.
/// `sizes` has a row for each measured cost.
///
/// Squares are minimized repeatedly, weighted so that the gradient is that of the sum.
pub(super) fn fit(sizes: &[Vec<f64>], measured: &[f64]) -> Vec<f64> {
    let rows: Vec<Vec<f64>> = sizes
        .iter()
        .zip(measured)
        .map(|(sizes, measured)| sizes.iter().map(|size| size / measured).collect())
        .collect();
    // Modeled over measured.
    let mut ratios = vec![1.0f64; rows.len()];
    let mut costs = Vec::new();
    for _ in 0..STEPS {
        let weights = ratios.iter().map(|ratio| ((1.0 + ratio) / (ratio * ratio)).sqrt());
        let weighted: Vec<(Vec<f64>, f64)> =
            rows.iter().zip(weights).map(|(row, weight)| (row.iter().map(|x| x * weight).collect(), weight)).collect();
        costs = least_squares(&weighted);
        // Half a step, on a logarithmic scale, does not overshoot.
        ratios.iter_mut().zip(&rows).for_each(|(ratio, row)| *ratio = (*ratio * product(row, &costs)).sqrt());
    }
    costs
}

/// The costs, none negative, with the least sum of squared differences between each row's sum and its value.
///
/// There are few terms: every subset of them is solved, and the best one without a negative cost is it.
fn least_squares(rows: &[(Vec<f64>, f64)]) -> Vec<f64> {
    let terms = rows.first().map_or(0, |row| row.0.len());
    let (mut best, mut least) = (vec![0.0; terms], f64::INFINITY);
    for subset in 1..1usize << terms {
        let chosen: Vec<usize> = (0..terms).filter(|term| subset >> term & 1 == 1).collect();
        let Some(costs) = solved(rows, &chosen) else { continue };
        if costs.iter().any(|cost| *cost < 0.0) {
            continue;
        }
        let mut all = vec![0.0; terms];
        chosen.iter().zip(costs).for_each(|(&term, cost)| all[term] = cost);
        let error: f64 = rows.iter().map(|(row, value)| (value - product(row, &all)).powi(2)).sum();
        if error < least {
            (best, least) = (all, error);
        }
    }
    best
}

fn product(sizes: &[f64], costs: &[f64]) -> f64 {
    sizes.iter().zip(costs).map(|(size, cost)| size * cost).sum()
}

/// The normal equations of the chosen columns; none if they have no unique solution.
fn solved(rows: &[(Vec<f64>, f64)], chosen: &[usize]) -> Option<Vec<f64>> {
    let count = chosen.len();
    let sum = |term: &dyn Fn(&[f64], f64) -> f64| rows.iter().map(|(row, value)| term(row, *value)).sum::<f64>();
    // Columns of length 1: sizes differ by many powers of ten.
    let lengths: Vec<f64> = chosen.iter().map(|&a| sum(&|row, _| row[a] * row[a]).sqrt()).collect();
    let mut system: Vec<Vec<f64>> = (0..count)
        .map(|a| {
            let scaled = |b: usize| sum(&|row, _| row[chosen[a]] * row[chosen[b]]) / (lengths[a] * lengths[b]);
            (0..count).map(scaled).chain([sum(&|row, value| row[chosen[a]] * value) / lengths[a]]).collect()
        })
        .collect();
    for column in 0..count {
        let size = |row: &usize| system[*row][column].abs();
        let pivot = (column..count).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        // Not a number where a column is zero.
        if !(size(&pivot) > 1e-9) {
            return None;
        }
        system.swap(column, pivot);
        let lead = system[column].clone();
        for (_, row) in system.iter_mut().enumerate().filter(|(row, _)| *row != column) {
            let factor = row[column] / lead[column];
            row.iter_mut().zip(&lead).for_each(|(entry, lead)| *entry -= factor * lead);
        }
    }
    Some((0..count).map(|row| system[row][count] / system[row][row] / lengths[row]).collect())
}

#[cfg(test)]
mod tests {
    use super::super::grid::Varied;
    use super::*;

    fn sizes(work: BenchWork) -> Vec<Vec<f64>> {
        let points = Varied::ALL.into_iter().flat_map(|varied| SweepPoint::points(varied, 1));
        points.map(|point| Term::of(work).iter().map(|term| term.size(&point)).collect()).collect()
    }

    #[test]
    fn costs_are_found_again() {
        for (work, costs) in [
            (BenchWork::Fixed, vec![2.0, 0.75, 0.03]),
            (BenchWork::Pate, vec![10.0, 2.0, 0.125, 0.0001]),
            (BenchWork::Capc, vec![5.0, 2.0, 0.0005, 3.0]),
            (BenchWork::Capc, vec![0.0, 2.0, 0.0, 3.0]),
        ] {
            let sizes = sizes(work);
            let measured: Vec<f64> = sizes.iter().map(|sizes| product(sizes, &costs)).collect();
            let found = fit(&sizes, &measured);
            let near = found.iter().zip(&costs).all(|(found, cost)| (found - cost).abs() < 1e-6 * (1.0 + cost));
            assert!(near, "{work:?}: {found:?} for {costs:?}");
        }
    }

    /// A cost that falls has no negative term. The best constant m for costs 1 and 2 has 1/m + 2/m + m + m/2 least:
    /// m² = 3/(3/2).
    #[test]
    fn no_cost_is_negative() {
        let sizes = vec![vec![1.0, 4.0], vec![1.0, 1.0]];
        let found = fit(&sizes, &[1.0, 2.0]);
        assert!((found[0] - 2f64.sqrt()).abs() < 1e-9 && found[1] == 0.0, "{found:?}");
        assert_eq!(fit(&[], &[]), [0.0; 0]);
    }

    /// Where only the noise changes, C and k do not: the terms cannot be told apart, and one of them explains all.
    #[test]
    fn terms_that_cannot_be_told_apart_are_no_fault() {
        let points = SweepPoint::points(Varied::Sigma, 1);
        let sizes: Vec<Vec<f64>> = points
            .iter()
            .map(|point| Term::of(BenchWork::Capc).iter().map(|term| term.size(point)).collect())
            .collect();
        let found = fit(&sizes, &[50.0; 6]);
        assert!(sizes.iter().all(|sizes| (product(sizes, &found) - 50.0).abs() < 1e-9), "{found:?}");
    }
}
