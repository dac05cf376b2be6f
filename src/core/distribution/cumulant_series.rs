//! The series exp(Σ κ_n δ^n) that corrects independent counts, in multi-indices n over the classes.

use crate::error::{Error, Result};
use std::collections::BTreeMap;

/// A multi-index as one number: [`BITS`] for each class of undecided voters, so that indices add as numbers.
type Index = u128;
const BITS: usize = 5;
/// The most classes of a multi-index, and one more than its highest degree.
const MAX_ACTIVE: usize = 128 / BITS;
/// Terms whose relative size is estimated below this are dropped.
const NEGLIGIBLE: f64 = 1e-17;
/// The largest number of terms: with more, the series would take minutes.
const MAX_TERMS: usize = 400_000;

/// The different rows of voters who have more than one choice, with their multiplicities.
pub(super) struct UndecidedVoters {
    /// (class, probability) of the choices, and how many voters have them.
    rows: Vec<(Vec<(usize, f64)>, f64)>,
    classes: usize,
}

impl UndecidedVoters {
    pub(super) fn new(parties: &[Vec<f64>]) -> Self {
        let mut rows: BTreeMap<Vec<(usize, u64)>, f64> = BTreeMap::new();
        for party in parties {
            let choices: Vec<(usize, u64)> =
                party.iter().enumerate().filter(|(_, p)| **p > 0.0).map(|(class, p)| (class, p.to_bits())).collect();
            if choices.len() > 1 {
                *rows.entry(choices).or_default() += 1.0;
            }
        }
        let number = |(class, bits)| (class, f64::from_bits(bits));
        Self {
            rows: rows.into_iter().map(|(row, voters)| (row.into_iter().map(number).collect(), voters)).collect(),
            classes: parties[0].len(),
        }
    }
}

/// A term c δ^n: its coefficient, its degree, and the classes with their powers.
pub(super) struct Term {
    pub(super) coefficient: f64,
    pub(super) degree: usize,
    pub(super) powers: Vec<(usize, usize)>,
}

/// The terms of the exponential, from degree 2 on.
pub(super) struct Series {
    terms: Vec<Term>,
}

impl Series {
    /// Terms up to a degree. `scales[i][m]` estimates the relative size of δ_i^m. `None` if there are too many terms.
    ///
    /// # Errors
    /// [`Error::Rejected`] for more than 25 relevant classes.
    pub(super) fn new(undecided: &UndecidedVoters, scales: &[Vec<f64>], degree: usize) -> Result<Option<Self>> {
        let active = undecided.active(scales)?;
        let scale = |index: Index| -> f64 {
            active.iter().enumerate().map(|(place, &class)| scales[class][power(index, place)]).product()
        };
        let Some(cumulants) = undecided.cumulants(&active, scales, degree) else { return Ok(None) };
        let mut by_degree: Vec<Vec<(Index, f64)>> = vec![Vec::new(); degree + 1];
        for (index, value) in cumulants {
            if value.abs() * scale(index) > NEGLIGIBLE {
                by_degree[total(index)].push((index, value));
            }
        }
        // Euler: m c_n = Σ_l |l| κ_l c_{n-l} for n of degree m.
        let mut exponential: Vec<Vec<(Index, f64)>> = vec![vec![(0, 1.0)]];
        let mut count = 0;
        for m in 1..=degree {
            let mut sums: BTreeMap<Index, f64> = BTreeMap::new();
            for l in 2..=m {
                for &(index, cumulant) in &by_degree[l] {
                    for &(rest, coefficient) in &exponential[m - l] {
                        *sums.entry(index + rest).or_default() += l as f64 / m as f64 * cumulant * coefficient;
                    }
                }
            }
            let kept: Vec<(Index, f64)> =
                sums.into_iter().filter(|&(index, value)| value.abs() * scale(index) > NEGLIGIBLE).collect();
            count += kept.len();
            if count > MAX_TERMS {
                return Ok(None);
            }
            exponential.push(kept);
        }
        let term = |degree: usize, (index, coefficient): (Index, f64)| {
            let powers = active.iter().enumerate().map(|(place, &class)| (class, power(index, place)));
            Term { coefficient, degree, powers: powers.filter(|(_, power)| *power > 0).collect() }
        };
        let terms = exponential.into_iter().enumerate().skip(2);
        Ok(Some(Self {
            terms: terms.flat_map(|(degree, terms)| terms.into_iter().map(move |found| term(degree, found))).collect(),
        }))
    }

    pub(super) fn terms(&self) -> &[Term] {
        &self.terms
    }
}

impl UndecidedVoters {
    /// The classes whose dependence on another matters, in order.
    fn active(&self, scales: &[Vec<f64>]) -> Result<Vec<usize>> {
        let mut weight = vec![0.0f64; self.classes];
        for (row, voters) in &self.rows {
            for &(a, p) in row {
                for &(b, q) in row {
                    if a != b {
                        weight[a] += voters * p * q * scales[a][1] * scales[b][1];
                    }
                }
            }
        }
        let active: Vec<usize> = (0..self.classes).filter(|&class| weight[class] > NEGLIGIBLE).collect();
        if active.len() > MAX_ACTIVE {
            let reason = format!("undecided voters have {} classes; {MAX_ACTIVE} can be expanded", active.len());
            return Err(Error::rejected("exact distribution of random votes", reason));
        }
        Ok(active)
    }

    /// κ_n of degrees 2 to `degree`, for n with two classes or more; `None` if there are too many.
    fn cumulants(&self, active: &[usize], scales: &[Vec<f64>], degree: usize) -> Option<BTreeMap<Index, f64>> {
        let mut sums = BTreeMap::new();
        for (row, voters) in &self.rows {
            let choices: Vec<(usize, usize, f64)> = row
                .iter()
                .filter_map(|&(class, p)| active.binary_search(&class).ok().map(|place| (place, class, p)))
                .collect();
            let mut walk = Walk { choices: &choices, scales, degree, voters: *voters, sums: &mut sums };
            walk.from(0, Product { index: 0, degree: 0, classes: 0, weight: 1.0, size: 1.0 });
            if sums.len() > MAX_TERMS {
                return None;
            }
        }
        Some(sums)
    }
}

/// Adds the cumulants of one row.
struct Walk<'a> {
    /// Position among the active classes, class, and probability.
    choices: &'a [(usize, usize, f64)],
    scales: &'a [Vec<f64>],
    degree: usize,
    voters: f64,
    sums: &'a mut BTreeMap<Index, f64>,
}

/// Powers of the first choices of a row.
#[derive(Clone, Copy)]
struct Product {
    index: Index,
    /// m.
    degree: usize,
    /// Number of choices with a power above 0.
    classes: usize,
    /// (m-1)! Π p^n_i/n_i!
    weight: f64,
    /// The estimated size of the differences.
    size: f64,
}

impl Walk<'_> {
    /// Multiplies `product` by all powers of the choices from `next` on.
    fn from(&mut self, next: usize, product: Product) {
        let Product { index, degree, classes, mut weight, size } = product;
        let Some(&(place, class, p)) = self.choices.get(next) else {
            if classes > 1 {
                let sign = if degree.is_multiple_of(2) { -1.0 } else { 1.0 };
                *self.sums.entry(index).or_default() += sign * weight * self.voters;
            }
            return;
        };
        self.from(next + 1, product);
        for power in 1..=self.degree - degree {
            // From the second difference on, (m-1)! has one more factor.
            weight *= p / power as f64 * (degree + power - 1).max(1) as f64;
            let size = size * self.scales[class][power];
            if weight * size * self.voters < 1e-3 * NEGLIGIBLE {
                break;
            }
            let index = index + ((power as Index) << (BITS * place));
            self.from(next + 1, Product { index, degree: degree + power, classes: classes + 1, weight, size });
        }
    }
}

fn power(index: Index, place: usize) -> usize {
    (index >> (BITS * place)) as usize & ((1 << BITS) - 1)
}

fn total(index: Index) -> usize {
    (0..MAX_ACTIVE).map(|place| power(index, place)).sum()
}
