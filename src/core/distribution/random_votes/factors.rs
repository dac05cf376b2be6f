//! The factors of all classes at one value x of the winning noisy count, under one tilt.

use super::form::{Form, Terms, Tilt};
use super::moments::{Mass, Moment, one, product};
use super::noise_table::{NoiseTable, Values};
use super::votes::{Component, Group, Output, Votes};
use crate::error::Result;
use crate::solve::{Search, increasing_root};
use crate::special::{exp_in_loops, log_sum_exp};
use crate::vectorized::{Arch, in_vectors};

/// A value x = floor + offset of the winning noisy count, with the noise around it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) floor: i64,
    pub(super) noise: &'a NoiseTable,
}

impl<'a> Place<'a> {
    #[inline(always)]
    fn noise(self, wins: bool, shift: i64) -> Values<'a> {
        if wins { self.noise.density(self.floor, shift) } else { self.noise.cdf(self.floor, shift) }
    }
}

/// The components of one class, with F in them or, where it wins, with f.
#[derive(Debug)]
pub(super) struct Factor {
    pub(super) forms: Vec<Form>,
    /// Σ_b ε^b exp(ln_scale) weights[b] forms[b], with ε scaled by η.
    pub(super) weights: Vec<f64>,
    pub(super) ln_scale: f64,
    pub(super) base: usize,
}

/// The factors of all groups, including those of winners if requested.
#[derive(Debug)]
pub(super) struct Factors {
    pub(super) ln_tilt: f64,
    pub(super) ln_eta: f64,
    pub(super) losing: Vec<Factor>,
    pub(super) winning: Vec<Option<Factor>>,
    /// Coefficients of all forms of all factors.
    pub(super) coefficients: Vec<f64>,
}

/// Which groups are to win.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Winner {
    None,
    Group(usize),
    Any,
}

impl Winner {
    pub(super) const fn group(self) -> Option<usize> {
        match self {
            Self::Group(group) => Some(group),
            Self::None | Self::Any => None,
        }
    }
}

/// Where the largest coefficients were last found, how many coefficients there were, and the last tilt.
#[derive(Debug, Clone)]
pub(super) struct Modes {
    losing: Vec<usize>,
    winning: Vec<usize>,
    coefficients: usize,
    /// ρ^n for n = 0..=k, if there are few votes, and ln ρ.
    powers: Vec<f64>,
    ln_tilt: f64,
}

impl Modes {
    pub(super) fn new(votes: &Votes) -> Self {
        let start: Vec<usize> = votes.groups.iter().map(|group| group.mean as usize).collect();
        let powers = if votes.are_few() { vec![1.0; votes.numbers.len()] } else { Vec::new() };
        Self { losing: start.clone(), winning: start, coefficients: 0, powers, ln_tilt: 0.0 }
    }

    /// Recomputes the powers for another tilt.
    #[inline(always)]
    fn tilt(&mut self, ln_tilt: f64, numbers: &[f64]) {
        if self.ln_tilt != ln_tilt {
            self.ln_tilt = ln_tilt;
            for (power, number) in self.powers.iter_mut().zip(numbers) {
                *power = exp_in_loops(number * ln_tilt);
            }
        }
    }
}

impl Factor {
    /// The factor of a group with its losing or winning noise; only its base unless `marked`.
    #[inline(always)]
    fn new(
        (tilt, group): (Tilt<'_>, &Group),
        place: Place<'_>,
        wins: bool,
        marked: bool,
        mode: &mut usize,
        coefficients: &mut Vec<f64>,
    ) -> Self {
        let mut near = *mode;
        let mut forms = Vec::with_capacity(group.components.len());
        for (index, component) in group.components.iter().enumerate() {
            if !marked && index != group.base {
                continue;
            }
            let terms = Terms { tilt, poisson: group.poisson(), noise: place.noise(wins, component.shift) };
            forms.push(Form::new(terms, component.power, &mut near, coefficients));
            if index == group.base {
                *mode = near;
            }
        }
        let base = if marked { group.base } else { 0 };
        let ln_scale = forms[base].ln_mass;
        Self { forms, weights: Vec::new(), ln_scale, base }
    }

    /// Weights relative to their sum: the masses of the components with their weights.
    fn weigh(&mut self, group: &Group, ln_eta: f64) {
        let share = |(form, component): (&Form, &Component)| {
            form.ln_mass + component.ln_weight + component.power as f64 * ln_eta
        };
        self.weights.clear();
        self.weights.extend(self.forms.iter().zip(&group.components).map(share));
        self.ln_scale = log_sum_exp(self.weights.iter().copied());
        for weight in &mut self.weights {
            *weight = libm::exp(*weight - self.ln_scale);
        }
    }

    /// Mean and variance of the power of ε.
    fn power(&self) -> (f64, f64) {
        let (mut first, mut second) = (0.0, 0.0);
        for (form, &weight) in self.forms.iter().zip(&self.weights) {
            let power = form.power as f64;
            first += weight * power;
            second += weight * power * power;
        }
        (first, (second - first * first).max(0.0))
    }

    pub(super) fn base_form(&self) -> &Form {
        &self.forms[self.base]
    }
}

impl Factors {
    /// The factors at one place under a tilt, including those of the requested winners.
    pub(super) fn new(
        votes: &Votes,
        place: Place<'_>,
        ln_tilt: f64,
        marked: bool,
        modes: &mut Modes,
        wins: Winner,
    ) -> Self {
        let building = Building { votes, place, ln_tilt, marked, modes, wins };
        in_vectors!(Arch::new(), building.run())
    }

    /// Chooses η so that the mean power of ε is m, with a winner among the factors or without one.
    pub(super) fn weigh(&mut self, votes: &Votes, wins: Winner) -> Result<()> {
        let winner = wins.group();
        let target = votes.marks as f64;
        let search = Search { start: 0.0, first_reach: 3.0, narrowest: 1e-6, quantity: "tilt of the marks" };
        let evaluate = |ln_eta: f64| {
            let (mut mean, mut variance) = (-target, 0.0);
            for (index, (factor, group)) in self.losing.iter_mut().zip(&votes.groups).enumerate() {
                factor.weigh(group, ln_eta);
                let (first, second) = factor.power();
                let mut multiplicity = group.multiplicity as f64;
                if winner == Some(index)
                    && let Some(winning) = &mut self.winning[index]
                {
                    winning.weigh(group, ln_eta);
                    let (first, second) = winning.power();
                    (mean, variance, multiplicity) = (mean + first, variance + second, multiplicity - 1.0);
                }
                mean += multiplicity * first;
                variance += multiplicity * second;
            }
            ((), mean, variance.max(1e-3))
        };
        let close = |excess: f64, variance: f64| excess.abs() <= 0.5 * variance.sqrt() + 0.25;
        (self.ln_eta, ()) = increasing_root(search, evaluate, close)?;
        for (winning, group) in self.winning.iter_mut().zip(&votes.groups) {
            if let Some(winning) = winning {
                winning.weigh(group, self.ln_eta);
            }
        }
        Ok(())
    }

    /// ln of the scale that the products below leave out, for the winner g of an output.
    pub(super) fn ln_scale(&self, votes: &Votes, output: &Output, winner: Option<usize>) -> f64 {
        let scale = |factor: &Factor| if output.marked { factor.ln_scale } else { factor.base_form().ln_mass };
        let mut sum = output.ln_factor - output.degree as f64 * self.ln_tilt;
        if output.marked {
            sum -= votes.marks as f64 * self.ln_eta;
        }
        for (factor, group) in self.losing.iter().zip(&votes.groups) {
            sum += group.multiplicity as f64 * scale(factor);
        }
        winner.map_or(sum, |winner| self.with_winner(sum, output, winner))
    }

    /// The same for a winner, from the value without one.
    pub(super) fn with_winner(&self, ln_scale: f64, output: &Output, winner: usize) -> f64 {
        let scale = |factor: &Factor| if output.marked { factor.ln_scale } else { factor.base_form().ln_mass };
        let winning = self.winning[winner].as_ref();
        winning.map_or(ln_scale, |winning| ln_scale + (scale(winning) - scale(&self.losing[winner])))
    }

    /// The mass of an output for each winner; `None` for groups that are not to win.
    pub(super) fn masses(&self, votes: &Votes, output: &Output) -> Vec<Option<Mass>> {
        let powers = if output.marked { votes.marks + 1 } else { 1 };
        let mut losing = vec![Moment::ZERO; self.losing.len() * powers];
        for (factor, series) in self.losing.iter().zip(losing.chunks_exact_mut(powers)) {
            factor.series(output.marked, series);
        }
        let series = |group: usize| &losing[group * powers..][..powers];
        // The products of the factors before each position.
        let mut prefixes = vec![Moment::ZERO; (votes.positions.len() + 1) * powers];
        prefixes[0] = Moment::ONE;
        for (position, &group) in votes.positions.iter().enumerate() {
            let (before, after) = prefixes.split_at_mut((position + 1) * powers);
            product(&before[position * powers..], series(group), &mut after[..powers]);
        }
        let ln_scale = self.ln_scale(votes, output, None);
        let mut masses = vec![None; self.winning.len()];
        let [mut suffix, mut winner, mut part] = [one(powers), one(powers), one(powers)];
        for (position, &group) in votes.positions.iter().enumerate().rev() {
            if votes.first_position[group] == position
                && let Some(winning) = &self.winning[group]
            {
                winning.series(output.marked, &mut winner);
                product(&prefixes[position * powers..][..powers], &winner, &mut part);
                product(&part, &suffix, &mut winner);
                masses[group] = Some(winner[powers - 1].mass(self.with_winner(ln_scale, output, group)));
            }
            product(&suffix, series(group), &mut part);
            std::mem::swap(&mut suffix, &mut part);
        }
        masses
    }

    /// The mass of an output whose winner is in a group, or of one without a winner.
    pub(super) fn mass(&self, votes: &Votes, output: &Output, winner: Option<usize>) -> (Mass, f64) {
        let powers = if output.marked { votes.marks + 1 } else { 1 };
        let [mut whole, mut series, mut part] = [one(powers), one(powers), one(powers)];
        let mut variance = 0.0;
        for (position, &group) in votes.positions.iter().enumerate() {
            let wins = winner.is_some_and(|winner| votes.first_position[winner] == position);
            let factor = if wins { self.winning[group].as_ref() } else { None }.unwrap_or(&self.losing[group]);
            factor.series(output.marked, &mut series);
            product(&whole, &series, &mut part);
            std::mem::swap(&mut whole, &mut part);
            variance += factor.base_form().variance;
        }
        (whole[powers - 1].mass(self.ln_scale(votes, output, winner)), variance)
    }
}

/// The inputs from which factors are built.
struct Building<'a> {
    votes: &'a Votes,
    place: Place<'a>,
    ln_tilt: f64,
    marked: bool,
    modes: &'a mut Modes,
    wins: Winner,
}

impl Building<'_> {
    #[inline(always)]
    fn run(self) -> Factors {
        let Building { votes, place, ln_tilt, marked, modes, wins } = self;
        let mut losing = Vec::with_capacity(votes.groups.len());
        let mut winning = Vec::with_capacity(votes.groups.len());
        let mut coefficients = Vec::with_capacity(modes.coefficients);
        modes.tilt(ln_tilt, &votes.numbers);
        let tilt = Tilt { numbers: &votes.numbers, ln: ln_tilt, powers: &modes.powers };
        for (index, group) in votes.groups.iter().enumerate() {
            let of = (tilt, group);
            losing.push(Factor::new(of, place, false, marked, &mut modes.losing[index], &mut coefficients));
            let wins = wins == Winner::Any || wins == Winner::Group(index);
            winning.push(if wins {
                Some(Factor::new(of, place, true, marked, &mut modes.winning[index], &mut coefficients))
            } else {
                None
            });
        }
        modes.coefficients = coefficients.len();
        Factors { ln_tilt, ln_eta: 0.0, losing, winning, coefficients }
    }
}

impl Factor {
    /// Masses and moments by power of ε.
    fn series(&self, marked: bool, series: &mut [Moment]) {
        if !marked {
            series[0] = Moment { mass: 1.0, first: self.base_form().mean };
            return;
        }
        series.fill(Moment::ZERO);
        for (form, &weight) in self.forms.iter().zip(&self.weights) {
            series[form.power] = Moment { mass: weight, first: weight * form.mean };
        }
    }
}
