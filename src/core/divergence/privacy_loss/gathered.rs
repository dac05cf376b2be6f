//! Sums of neighboring queries by direct convolution, before any transform.
//!
//! On a lattice for ten thousand queries, one of them has a few dozen points and the sum of all about ten thousand. A
//! transform of that length for each would be spent on zeros, so a few dozen queries are first added up directly.

use super::lattice::Masses;
use crate::parallel;

/// The largest number of points of a sum that is still worth extending.
const WIDEST: i64 = 1 << 10;
/// Number of queries processed in one piece of work; fixed, so results do not depend on threads.
const CHUNK: usize = 64;
/// Half a unit in the last place, with room to spare.
const UNIT: f64 = 0.51 * f64::EPSILON;

/// Masses of one query, or of the sum of several.
#[derive(Debug, Clone)]
pub(super) struct Gathered {
    pub(super) masses: Masses,
    pub(super) times: u64,
    /// An upper bound on the sum of the errors of the masses.
    pub(super) error: f64,
}

/// The same sum with fewer variables: neighbors that are asked once each and have few points are added up. Masses are
/// non-negative with sum 1, so a mass of the sum of two has a relative error of one rounding per term and product.
pub(super) fn gathered(queries: Vec<(Masses, u64)>) -> Vec<Gathered> {
    let sums = parallel::map(queries.chunks(CHUNK), |chunk| {
        let mut sums: Vec<Gathered> = Vec::new();
        let mut open: Option<Sum> = None;
        for (masses, times) in chunk {
            let next = if *times == 1 { Sum::of_one(masses) } else { None };
            open = match (open.take(), next) {
                (Some(sum), Some(next)) if sum.width() + next.width() <= WIDEST => Some(sum.plus(&next)),
                (sum, next) => {
                    sums.extend(sum.map(Sum::into_gathered));
                    if next.is_none() {
                        sums.push(Gathered { masses: masses.clone(), times: *times, error: 0.0 });
                    }
                    next
                }
            };
        }
        sums.extend(open.map(Sum::into_gathered));
        sums
    });
    sums.into_iter().flatten().collect()
}

/// Masses of all points from the first to the last.
#[derive(Debug)]
struct Sum {
    first: i64,
    masses: Vec<f64>,
    error: f64,
}

impl Sum {
    /// `None` for no points, and for points that are far apart.
    fn of_one(masses: &Masses) -> Option<Self> {
        let first = masses.iter().map(|mass| mass.0).min()?;
        let last = masses.iter().map(|mass| mass.0).max()?;
        let width = last.checked_sub(first).filter(|width| *width < WIDEST / 2)?;
        let mut dense = vec![0.0; width as usize + 1];
        masses.iter().for_each(|&(point, mass)| dense[(point - first) as usize] += mass);
        Some(Self { first, masses: dense, error: 0.0 })
    }

    fn width(&self) -> i64 {
        self.masses.len() as i64
    }

    fn plus(self, next: &Self) -> Self {
        let mut masses = vec![0.0; self.masses.len() + next.masses.len() - 1];
        for (index, own) in self.masses.iter().enumerate() {
            masses[index..].iter_mut().zip(&next.masses).for_each(|(sum, other)| *sum += own * other);
        }
        let terms = self.masses.len().min(next.masses.len()) as f64 + 1.0;
        // |a b - â b̂| ≤ |a - â| |b| + |â| |b - b̂| in the sum over all points, with totals of about 1.
        let error = (self.error + next.error + terms * UNIT) * (1.0 + 1e-9);
        Self { first: self.first + next.first, masses, error }
    }

    fn into_gathered(self) -> Gathered {
        let point = |(index, mass): (usize, f64)| (self.first + index as i64, mass);
        let masses = self.masses.into_iter().enumerate().map(point).filter(|mass| mass.1 > 0.0).collect();
        Gathered { masses, times: 1, error: self.error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::log_binomial_pmf;

    /// Forty coins are one binomial variable, whatever is between them.
    #[test]
    fn coins_add_up_to_a_binomial_variable() {
        let coin: Masses = vec![(3, 0.25), (2, 0.75)];
        let mut queries = vec![(coin, 1); 40];
        queries.insert(7, (vec![(0, 0.5), (1 << 40, 0.5)], 1));
        queries.insert(20, (vec![(0, 1.0)], 5));
        let sums = gathered(queries);
        assert_eq!(sums.iter().map(|sum| sum.times).collect::<Vec<_>>(), [1, 1, 1, 5, 1]);
        let coins: Vec<(Masses, u64)> =
            [0, 2, 4].iter().map(|&index: &usize| (sums[index].masses.clone(), 1)).collect();
        let all = gathered(coins);
        assert_eq!(all.len(), 1);
        assert!(all[0].error > 0.0 && all[0].error < 1e-14, "{}", all[0].error);
        let worst = (0..=40u64).map(|k| {
            let found = all[0].masses.iter().find(|mass| mass.0 == 80 + k as i64).map_or(0.0, |mass| mass.1);
            (found - log_binomial_pmf(k, 40, 0.25).exp()).abs()
        });
        assert!(worst.sum::<f64>() < 1e-13);
    }

    /// No sum is wider than a transform is worth.
    #[test]
    fn sums_stay_short() {
        let wide: Masses = (0..400).map(|point| (point, 1.0 / 400.0)).collect();
        let sums = gathered(vec![(wide, 1); 10]);
        assert_eq!(sums.len(), 5);
        assert!(sums.iter().all(|sum| sum.masses.len() <= WIDEST as usize));
    }
}
