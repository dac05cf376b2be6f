//! Two votes that are moved to any two classes: what a second-order expansion of votes of different voters needs.

use super::factors::{Factor, Factors, Modes, Place, Winner};
use super::integral::Integral;
use super::inversion::Block;
use super::lanes::{Complex, Vectorised, vectorised};
use super::lattice::{LEVELS, Lattice};
use super::normalised;
use super::votes::Votes;
use crate::error::{Error, Result};
use crate::law::Noise;
use rayon::prelude::*;

/// Distance of two levels of the trapezoid rule, relative to the sum of |M_ab|, from which the squared distance is below
/// rounding.
const LEVEL_DISTANCE: f64 = 2e-8;
/// A density of less than this, per vote, does not matter.
const NEGLIGIBLE: f64 = 1e-22;

/// Σ_{a,b} M_ab P(argmax(Mult(k-2, P) + e_a + e_b + Z) = c) for every class c, with Gaussian noise Z.
///
/// M (shape C x C, symmetric, of any signs) moves two of the k votes. The result is accurate to about 1e-14 of Σ|M_ab|,
/// absolutely: terms of both signs cancel.
///
/// # Errors
/// As [`multinomial_argmax_law`](crate::multinomial_argmax_law); [`Error::Domain`] for k < 2, [`Error::Length`] for an M
/// of another shape.
#[allow(dead_code, reason = "for the second-order expansion of the votes of different parties")]
pub(crate) fn two_mark_functional(k: u64, p: &[f64], matrix: &[Vec<f64>], noise: Noise) -> Result<Vec<f64>> {
    let p = normalised(p, "vote probabilities")?;
    if let Some(found) = [matrix.len()].into_iter().chain(matrix.iter().map(Vec::len)).find(|&len| len != p.len()) {
        let expected = format!("{} classes", p.len());
        return Err(Error::Length { quantity: "matrix of two marks", found, expected });
    }
    let sigma = super::gaussian_scale(noise)?;
    let votes = Votes::with_two_marks(k, &p)?;
    let integral = Integral::new(&votes, sigma);
    let lattice = Lattice::new(&votes, sigma)?;
    let pairs = Pairs { votes: &votes, integral: &integral, matrix };
    let total: f64 = matrix.iter().flatten().map(|entry| entry.abs()).sum();
    let mut sums = vec![0.0; p.len()];
    let mut before: Option<Vec<f64>> = None;
    let mut distance = f64::INFINITY;
    for level in 0..LEVELS {
        let level = lattice.level(level);
        let nodes: Vec<Vec<f64>> =
            (0..level.len()).into_par_iter().map(|node| pairs.densities(level.place(node))).collect::<Result<_>>()?;
        for node in nodes {
            sums.iter_mut().zip(node).for_each(|(sum, value)| *sum += value);
        }
        let values: Vec<f64> = sums.iter().map(|sum| sum * level.step()).collect();
        if let Some(coarse) = before.replace(values.clone()) {
            distance = values.iter().zip(&coarse).fold(0.0, |worst: f64, (a, b)| worst.max((a - b).abs()));
            if distance <= LEVEL_DISTANCE * total {
                return Ok(values);
            }
        }
    }
    Err(Error::NoConvergence {
        quantity: "functional of two marks",
        residual: distance,
        tolerance: LEVEL_DISTANCE * total,
        iterations: LEVELS as usize,
    })
}

struct Pairs<'a> {
    votes: &'a Votes,
    integral: &'a Integral<'a>,
    matrix: &'a [Vec<f64>],
}

struct Kernel<'a> {
    pairs: &'a Pairs<'a>,
    factors: &'a Factors,
}

impl Vectorised for Kernel<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn run(self) -> Vec<f64> {
        self.pairs.run(self.factors)
    }
}

/// The products over the factors before one: with no mark, with two, and with one to be joined to one in each class.
#[derive(Debug, Clone)]
struct Left {
    none: Complex,
    one: Vec<Complex>,
    two: Complex,
}

impl Pairs<'_> {
    fn densities(&self, place: Place<'_>) -> Result<Vec<f64>> {
        let mut modes = Modes::new(self.votes);
        let output = self.votes.outputs[0];
        let (ln_tilt, _) = self.integral.tilted(place, &output, Winner::None, 0.0, &mut modes)?;
        let factors = Factors::new(self.votes, place, ln_tilt, true, &mut modes, Winner::Any);
        let masses = factors.masses(self.votes, &output);
        let mut values = self.values(&factors);
        for (class, mass) in masses.into_iter().enumerate() {
            let (Some(mass), Some(winning)) = (mass, &factors.winning[class]) else { continue };
            // The mass without marks; with them, no loser's form is larger, but a winner's may be.
            if mass.ln_mass - winning.base_form().ln_mass + largest(winning) < NEGLIGIBLE.ln() {
                values[class] = 0.0;
            } else if !((mass.mean - output.degree as f64).abs() <= self.integral.slack()) {
                let (own, _) = self.integral.tilted(place, &output, Winner::Group(class), ln_tilt, &mut modes)?;
                let factors = Factors::new(self.votes, place, own, true, &mut modes, Winner::Group(class));
                values[class] = self.values(&factors)[class];
            }
        }
        Ok(values)
    }

    /// The densities of all classes that the factors let win.
    fn values(&self, factors: &Factors) -> Vec<f64> {
        vectorised(Kernel { pairs: self, factors })
    }

    #[inline(always)]
    fn run(&self, factors: &Factors) -> Vec<f64> {
        let circle = self.integral.circle();
        let output = self.votes.outputs[0];
        let classes = self.votes.groups.len();
        let mut sums = vec![Complex::ZERO; classes];
        for block in circle.blocks() {
            let rotation = circle.rotation(block.first(), -(output.degree as i64));
            let losing: Vec<[Complex; 3]> =
                factors.losing.iter().map(|factor| self.forms(block, factor, factor.base_form().ln_mass)).collect();
            let lefts = self.lefts(&losing);
            // The same from the other side: no mark, two, and one in each class.
            let (mut none, mut two) = (Complex::ONE, Complex::ZERO);
            let mut one = vec![Complex::ZERO; classes];
            for class in (0..classes).rev() {
                let row = &self.matrix[class];
                let left = &lefts[class];
                let mut met = Complex::ZERO;
                let mut across = Complex::ZERO;
                for other in class + 1..classes {
                    met = met.plus_scaled(row[other], one[other]);
                    across = across.plus_product(left.one[other], one[other]);
                }
                if let Some(factor) = &factors.winning[class] {
                    let own = self.forms(block, factor, largest(factor));
                    let both = left.two.times(none).plus_product(left.none, two).plus_scaled(2.0, across);
                    let single = left.one[class].times(none).plus_product(left.none, met);
                    let value = own[0]
                        .times(both)
                        .plus_scaled(2.0, own[1].times(single))
                        .plus_scaled(row[class], own[2].times(left.none.times(none)));
                    sums[class] = sums[class].plus_product(value, rotation);
                }
                let [zero, first, second] = losing[class];
                two = two.times(zero).plus_scaled(2.0, met.times(first)).plus_scaled(row[class], none.times(second));
                for other in &mut one[class + 1..] {
                    *other = other.times(zero);
                }
                one[class] = none.times(first);
                none = none.times(zero);
            }
        }
        let value = |(class, sum): (usize, &Complex)| {
            let Some(factor) = &factors.winning[class] else { return 0.0 };
            let scale = factors.ln_scale(self.votes, &output, Some(class)) - factor.base_form().ln_mass;
            libm::exp(scale + largest(factor)) * 2.0 / circle.period() * sum.re.iter().sum::<f64>()
        };
        sums.iter().enumerate().map(value).collect()
    }

    #[inline(always)]
    fn lefts(&self, losing: &[[Complex; 3]]) -> Vec<Left> {
        let mut left = Left { none: Complex::ONE, one: vec![Complex::ZERO; losing.len()], two: Complex::ZERO };
        let mut lefts = Vec::with_capacity(losing.len());
        for (class, &[zero, first, second]) in losing.iter().enumerate() {
            lefts.push(left.clone());
            let row = &self.matrix[class];
            left.two = left
                .two
                .times(zero)
                .plus_scaled(2.0, left.one[class].times(first))
                .plus_scaled(row[class], left.none.times(second));
            let marked = left.none.times(first);
            for (one, &entry) in left.one.iter_mut().zip(row) {
                *one = one.times(zero).plus_scaled(entry, marked);
            }
            left.none = left.none.times(zero);
        }
        lefts
    }

    /// The values of the forms with no, one and two votes more, relative to a scale.
    #[inline(always)]
    fn forms(&self, block: &Block, factor: &Factor, ln_scale: f64) -> [Complex; 3] {
        let mut values = [Complex::ZERO; 3];
        for (value, form) in values.iter_mut().zip(&factor.forms) {
            let spectrum = block.transform(&form.coefficients);
            let spectrum = spectrum.times(self.integral.circle().rotation(block.first(), form.low as i64));
            *value = spectrum.scaled(libm::exp(form.ln_mass - ln_scale));
        }
        values
    }
}

fn largest(factor: &Factor) -> f64 {
    factor.forms.iter().fold(f64::NEG_INFINITY, |largest, form| largest.max(form.ln_mass))
}
