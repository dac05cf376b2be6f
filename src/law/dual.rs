//! Dual polynomials: a product of factors in which at most one factor is in its marked form.

use super::polynomial::Polynomial;
use crate::special::log_sum_exp;
use std::ops::RangeInclusive;

/// main + ε mark with ε² = 0; no mark stands for 0.
#[derive(Debug, Clone)]
pub(super) struct Dual {
    pub(super) main: Polynomial,
    pub(super) mark: Option<Polynomial>,
}

impl Dual {
    pub(super) fn one() -> Self {
        Self { main: Polynomial::one(), mark: None }
    }

    pub(super) fn ln_masses(&self) -> DualMass {
        let mark = self.mark.as_ref().map_or(f64::NEG_INFINITY, |mark| mark.moments().ln_mass);
        DualMass { main: self.main.moments().ln_mass, mark }
    }

    fn low(&self) -> usize {
        self.mark.as_ref().map_or(self.main.low(), |mark| mark.low().min(self.main.low()))
    }

    fn high(&self) -> usize {
        self.mark.as_ref().map_or(self.main.high(), |mark| mark.high().max(self.main.high()))
    }

    /// The terms of the product with degrees in a range; None when none is left.
    fn times(&self, other: &Self, degrees: RangeInclusive<usize>) -> Option<Self> {
        let main = self.main.times(&other.main, degrees.clone())?;
        let left = self.mark.as_ref().and_then(|mark| mark.times(&other.main, degrees.clone()));
        let right = other.mark.as_ref().and_then(|mark| self.main.times(mark, degrees));
        let mark = match (left, right) {
            (Some(left), Some(right)) => left.plus(&right),
            (left, right) => left.or(right),
        };
        Some(Self { main, mark })
    }

    /// Products of the factors before each position.
    pub(super) fn prefix_products(factors: &[Self], degree: usize) -> Vec<Option<Self>> {
        let mut prefixes = vec![Some(Self::one())];
        for factor in factors {
            let last = prefixes.last().and_then(Option::as_ref);
            prefixes.push(last.and_then(|prefix| prefix.times(factor, 0..=degree)));
        }
        prefixes
    }

    /// The lowest degree that a product of the factors from each position on can need: what the factors before it,
    /// one of them in the winner's form, cannot make up to `degree`.
    pub(super) fn suffix_floors(
        factors: &[Self],
        winners: &[Self],
        prefixes: &[Option<Self>],
        degree: usize,
    ) -> Vec<usize> {
        let mut exchange = 0; // the most that the winner's form can add
        prefixes
            .iter()
            .enumerate()
            .map(|(position, prefix)| {
                if let Some(before) = position.checked_sub(1) {
                    exchange = exchange.max(winners[before].high().saturating_sub(factors[before].low()));
                }
                prefix.as_ref().map_or(0, |prefix| degree.saturating_sub(prefix.high() + exchange))
            })
            .collect()
    }

    /// Products of the factors from each position on, from the lowest degree needed.
    pub(super) fn suffix_products(factors: &[Self], floors: &[usize], degree: usize) -> Vec<Option<Self>> {
        let mut suffixes = vec![Some(Self::one())];
        for (factor, &floor) in factors.iter().zip(floors).rev() {
            let last = suffixes.last().and_then(Option::as_ref);
            suffixes.push(last.and_then(|suffix| suffix.times(factor, floor..=degree)));
        }
        suffixes.reverse();
        suffixes
    }

    /// ln of the coefficient of z^degree in self · left · right, of its ε part when `marked`.
    pub(super) fn ln_coefficient(&self, left: &Self, right: &Self, degree: usize, marked: bool) -> f64 {
        if !marked {
            return self.main.ln_coefficient_of_product(&left.main, &right.main, degree);
        }
        let of = |own: Option<&Polynomial>, left: Option<&Polynomial>, right: Option<&Polynomial>| match (
            own, left, right,
        ) {
            (Some(own), Some(left), Some(right)) => own.ln_coefficient_of_product(left, right, degree),
            _ => f64::NEG_INFINITY,
        };
        let (own, l, r) = (Some(&self.main), Some(&left.main), Some(&right.main));
        let parts = [of(self.mark.as_ref(), l, r), of(own, left.mark.as_ref(), r), of(own, l, right.mark.as_ref())];
        log_sum_exp(parts.into_iter())
    }
}

/// ln of the values of a dual polynomial at 1; a mark that is not there has -inf.
#[derive(Debug, Clone, Copy)]
pub(super) struct DualMass {
    pub(super) main: f64,
    pub(super) mark: f64,
}
