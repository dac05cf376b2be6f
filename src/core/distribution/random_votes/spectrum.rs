//! Coefficients of the products of all factors, one of them the winner's.

use super::factors::{Factor, Factors};
use super::inversion::{Block, Circle};
use super::lanes::{Complex, LANES};
use super::votes::{Output, Votes};
use crate::vectorized::{Arch, in_vectors};

/// The sum ends once the next eight terms are below this share of the size of all terms: 1/128 of rounding.
const NEGLIGIBLE: f64 = f64::EPSILON / 128.0;

/// A coefficient relative to the mass that contains it, and the absolute size of the terms in its sum.
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
    let kernel = Kernel { circle, votes, factors, outputs, negligible: NEGLIGIBLE };
    in_vectors!(Arch::new(), kernel.run())
}

struct Kernel<'a> {
    circle: &'a Circle,
    votes: &'a Votes,
    factors: &'a Factors,
    outputs: &'a [Output],
    negligible: f64,
}

impl Kernel<'_> {
    #[inline(always)]
    fn run(self) -> Vec<Vec<Coefficient>> {
        let groups = self.votes.groups.len();
        let powers = self.votes.marks + 1;
        let mut sums = vec![vec![(Complex::ZERO, [0.0; LANES]); groups]; self.outputs.len()];
        let mut spectra = Spectra {
            losing: vec![Complex::ZERO; groups * powers],
            winning: vec![Complex::ZERO; groups * powers],
            prefixes: vec![Complex::ZERO; (self.votes.positions.len() + 1) * powers],
            suffix: vec![Complex::ZERO; powers],
            own: vec![Complex::ZERO; powers],
        };
        for block in self.circle.blocks() {
            let mut matters = false;
            for group in 0..groups {
                self.transform(block, &self.factors.losing[group], &mut spectra.losing[group * powers..]);
                if let Some(factor) = &self.factors.winning[group] {
                    self.transform(block, factor, &mut spectra.winning[group * powers..]);
                }
            }
            // The outputs without marks come first, because weighing overwrites the values of the components.
            for (output, sums) in self.outputs.iter().zip(&mut sums) {
                let rotation = self.circle.rotation(block.first(), -(output.degree as i64));
                if output.marked {
                    for group in 0..groups {
                        weigh(
                            &self.factors.losing[group],
                            &mut spectra.losing[group * powers..][..powers],
                            &mut spectra.own,
                        );
                        if let Some(factor) = &self.factors.winning[group] {
                            weigh(factor, &mut spectra.winning[group * powers..][..powers], &mut spectra.own);
                        }
                    }
                    matters |= self.add(None, powers, rotation, &mut spectra, sums);
                } else {
                    matters |= self.add(Some(powers), 1, rotation, &mut spectra, sums);
                }
            }
            // All factors have log-concave coefficients. Along the half circle, the values of smooth factors fall like
            // a Gaussian and those of factors with an edge like the inverse of the angle; only gaps would make them
            // rise again. That is an argument, not a bound on the remainder: a test compares with the whole circle.
            if !matters {
                break;
            }
        }
        let scale = 2.0 / self.circle.period();
        let total = |sum: &(Complex, [f64; LANES])| Coefficient {
            value: scale * sum.0.re.iter().sum::<f64>(),
            magnitude: scale * sum.1.iter().sum::<f64>(),
        };
        sums.iter().map(|sums| sums.iter().map(total).collect()).collect()
    }
}

impl Kernel<'_> {
    /// The values of the forms, in their order.
    #[inline(always)]
    fn transform(&self, block: &Block, factor: &Factor, values: &mut [Complex]) {
        for (form, value) in factor.forms.iter().zip(values) {
            let rotation = self.circle.rotation(block.first(), form.low as i64);
            *value = block.transform(&self.factors.coefficients[form.coefficients.clone()]).times(rotation);
        }
    }

    /// Adds the values of an output. The forms are `stride` apart; only the base is used where it is given. False if
    /// all values are below rounding.
    #[inline(always)]
    fn add(
        &self,
        stride: Option<usize>,
        powers: usize,
        rotation: Complex,
        spectra: &mut Spectra,
        sums: &mut [(Complex, [f64; LANES])],
    ) -> bool {
        let mut matters = false;
        let Spectra { losing, winning, prefixes, suffix, own } = spectra;
        let positions = &self.votes.positions;
        let series = |factor: &Factor, group: usize| match stride {
            Some(stride) => group * stride + factor.base..group * stride + factor.base + 1,
            None => group * powers..(group + 1) * powers,
        };
        for value in &mut prefixes[..powers] {
            *value = Complex::ZERO;
        }
        prefixes[0] = Complex::ONE;
        for (position, &group) in positions.iter().enumerate() {
            let (before, after) = prefixes.split_at_mut((position + 1) * powers);
            let factor = &losing[series(&self.factors.losing[group], group)];
            product(&before[position * powers..], factor, &mut after[..powers]);
        }
        for value in suffix.iter_mut() {
            *value = Complex::ZERO;
        }
        suffix[0] = Complex::ONE;
        for (position, &group) in positions.iter().enumerate().rev() {
            if self.votes.first_position[group] == position
                && let Some(factor) = &self.factors.winning[group]
            {
                let winner = &winning[series(factor, group)];
                product(&prefixes[position * powers..][..powers], winner, &mut own[..powers]);
                let mut value = Complex::ZERO;
                for power in 0..powers {
                    value = value.plus_product(own[power], suffix[powers - 1 - power]);
                }
                let value = value.times(rotation);
                let (sum, magnitude) = &mut sums[group];
                let mut added = [0.0; LANES];
                for lane in 0..LANES {
                    added[lane] = value.re[lane].abs() + value.im[lane].abs();
                    sum.re[lane] += value.re[lane];
                    magnitude[lane] += added[lane];
                }
                matters |= added.iter().sum::<f64>() > self.negligible * magnitude.iter().sum::<f64>();
            }
            let factor = &losing[series(&self.factors.losing[group], group)];
            product(&suffix[..powers], factor, &mut own[..powers]);
            suffix[..powers].copy_from_slice(&own[..powers]);
        }
        matters
    }
}

/// The values at eight points, by group and then form or power of ε.
struct Spectra {
    losing: Vec<Complex>,
    winning: Vec<Complex>,
    prefixes: Vec<Complex>,
    suffix: Vec<Complex>,
    own: Vec<Complex>,
}

/// Turns the values of the forms into the series in ε.
#[inline(always)]
fn weigh(factor: &Factor, values: &mut [Complex], series: &mut [Complex]) {
    for value in series.iter_mut() {
        *value = Complex::ZERO;
    }
    for ((form, &weight), value) in factor.forms.iter().zip(&factor.weights).zip(values.iter()) {
        series[form.power] = value.scaled(weight);
    }
    values.copy_from_slice(series);
}

/// The product of two series of the same length.
#[inline(always)]
fn product(left: &[Complex], right: &[Complex], product: &mut [Complex]) {
    for power in 0..product.len() {
        let mut sum = left[0].times(right[power]);
        for other in 1..=power {
            sum = sum.plus_product(left[other], right[power - other]);
        }
        product[power] = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::super::factors::{Modes, Winner};
    use super::super::integral::Integral;
    use super::super::lattice::Lattice;
    use super::super::votes::Marks;
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// The truncated sum equals the one over the whole circle, for votes and noise of all widths.
    #[test]
    fn the_rest_of_the_circle_is_below_rounding() {
        let mut generator = ChaCha8Rng::seed_from_u64(28);
        let (mut compared, mut worst) = (0, 0.0f64);
        for case in 0..60 {
            let classes = generator.random_range(2..12);
            let k = [3, 20, 120, 700][case % 4];
            let sigma = [0.3, 1.0, 6.0, 40.0, 300.0][case % 5];
            let mut law = || {
                let weights: Vec<f64> = (0..classes).map(|_| (-6.0 * generator.random::<f64>()).exp()).collect();
                let sum: f64 = weights.iter().sum();
                weights.into_iter().map(|weight| weight / sum).collect::<Vec<f64>>()
            };
            let (p, marked) = (law(), law());
            let marks = Marks::Added { marks: 1, distribution: &marked };
            let votes = Votes::new(k, &p, Some(&marks), true).unwrap();
            let integral = Integral::new(&votes, sigma);
            let level = Lattice::new(&votes, sigma).unwrap().level(0);
            let mut modes = Modes::new(&votes);
            for node in (0..level.len()).step_by(1 + level.len() / 7) {
                let place = level.place(node);
                let start = integral.tilted(place, &votes.outputs[0], Winner::None, 0.0, &mut modes).unwrap().0;
                let mut factors = Factors::new(&votes, place, start, true, &mut modes, Winner::Any);
                factors.weigh(&votes, Winner::Any).unwrap();
                let sums = |negligible: f64| {
                    let circle = integral.circle();
                    Kernel { circle, votes: &votes, factors: &factors, outputs: &votes.outputs, negligible }.run()
                };
                for (short, whole) in sums(NEGLIGIBLE).iter().flatten().zip(sums(0.0).iter().flatten()) {
                    compared += 1;
                    let share = (short.value - whole.value).abs() / (f64::EPSILON * whole.magnitude);
                    worst = worst.max(if whole.magnitude > 0.0 { share } else { 0.0 });
                    assert!(share <= 2.0 || whole.magnitude == 0.0, "case {case}: {short:?} {whole:?}");
                }
            }
        }
        println!("{compared} coefficients, worst difference {worst} of rounding");
    }
}
