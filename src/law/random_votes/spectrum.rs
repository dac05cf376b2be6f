//! Coefficients of the products of all factors, one of them a winner's.

use super::factors::{Factor, Factors};
use super::inversion::{Block, Circle};
use super::lanes::{Complex, LANES};
use super::votes::{Output, Votes};

/// A coefficient relative to the mass that it is part of, and the size of the terms that it is a sum of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Coefficient {
    pub(super) value: f64,
    pub(super) magnitude: f64,
}

/// The coefficient of each output for each winner, in the order outputs, groups; 0 for groups that do not win.
pub(super) fn coefficients(
    circle: &Circle,
    votes: &Votes,
    factors: &Factors,
    outputs: &[Output],
) -> Vec<Vec<Coefficient>> {
    let kernel = Kernel { circle, votes, factors, outputs };
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || kernel.run(),
    )
}

struct Kernel<'a> {
    circle: &'a Circle,
    votes: &'a Votes,
    factors: &'a Factors,
    outputs: &'a [Output],
}

impl Kernel<'_> {
    #[inline(always)]
    fn run(&self) -> Vec<Vec<Coefficient>> {
        let groups = self.votes.groups.len();
        let mut sums = vec![vec![(Complex::ZERO, [0.0; LANES]); groups]; self.outputs.len()];
        for block in self.circle.blocks() {
            let losing: Vec<Vec<Complex>> =
                self.factors.losing.iter().map(|factor| self.spectra(block, factor)).collect();
            let winning: Vec<Option<Vec<Complex>>> = self
                .factors
                .winning
                .iter()
                .map(|factor| factor.as_ref().map(|factor| self.spectra(block, factor)))
                .collect();
            for (output, sums) in self.outputs.iter().zip(&mut sums) {
                let rotation = self.circle.rotation(block.first(), -(output.degree as i64));
                self.add(output, rotation, &losing, &winning, sums);
            }
        }
        let scale = 2.0 / self.circle.period();
        let total = |sum: &(Complex, [f64; LANES])| Coefficient {
            value: scale * sum.0.re.iter().sum::<f64>(),
            magnitude: scale * sum.1.iter().sum::<f64>(),
        };
        sums.iter().map(|sums| sums.iter().map(total).collect()).collect()
    }

    /// The values of all components.
    #[inline(always)]
    fn spectra(&self, block: &Block, factor: &Factor) -> Vec<Complex> {
        let spectrum = |form: &super::factors::Form| {
            block.transform(&form.coefficients).times(self.circle.rotation(block.first(), form.low as i64))
        };
        factor.forms.iter().map(spectrum).collect()
    }

    /// The series in ε of a factor.
    #[inline(always)]
    fn series(&self, output: &Output, factor: &Factor, spectra: &[Complex]) -> Vec<Complex> {
        if !output.marked {
            return vec![spectra[factor.base]];
        }
        let mut series = vec![Complex::ZERO; self.votes.marks + 1];
        for ((form, &weight), spectrum) in factor.forms.iter().zip(&factor.weights).zip(spectra) {
            series[form.power] = spectrum.scaled(weight);
        }
        series
    }

    #[inline(always)]
    fn add(
        &self,
        output: &Output,
        rotation: Complex,
        losing: &[Vec<Complex>],
        winning: &[Option<Vec<Complex>>],
        sums: &mut [(Complex, [f64; LANES])],
    ) {
        let powers = if output.marked { self.votes.marks + 1 } else { 1 };
        let series: Vec<Vec<Complex>> = self
            .factors
            .losing
            .iter()
            .zip(losing)
            .map(|(factor, spectra)| self.series(output, factor, spectra))
            .collect();
        let positions = &self.votes.positions;
        let mut one = vec![Complex::ZERO; powers];
        one[0] = Complex::ONE;
        let mut prefixes = vec![one.clone()];
        for &group in positions {
            prefixes.push(product(&prefixes[prefixes.len() - 1], &series[group]));
        }
        let mut suffixes = vec![one];
        for &group in positions.iter().rev() {
            suffixes.push(product(&suffixes[suffixes.len() - 1], &series[group]));
        }
        for (group, spectra) in winning.iter().enumerate() {
            let (Some(spectra), Some(factor)) = (spectra, &self.factors.winning[group]) else { continue };
            let position = self.votes.first_position[group];
            let own = self.series(output, factor, spectra);
            let left = product(&prefixes[position], &own);
            let right = &suffixes[positions.len() - 1 - position];
            let mut value = Complex::ZERO;
            for a in 0..powers {
                value = value.plus_product(left[a], right[powers - 1 - a]);
            }
            value = value.times(rotation);
            let (sum, magnitude) = &mut sums[group];
            for lane in 0..LANES {
                sum.re[lane] += value.re[lane];
                magnitude[lane] += value.re[lane].abs() + value.im[lane].abs();
            }
        }
    }
}

#[inline(always)]
fn product(left: &[Complex], right: &[Complex]) -> Vec<Complex> {
    let mut product = vec![Complex::ZERO; left.len()];
    for (a, left) in left.iter().enumerate() {
        for (target, right) in product[a..].iter_mut().zip(right) {
            *target = target.plus_product(*left, *right);
        }
    }
    product
}
