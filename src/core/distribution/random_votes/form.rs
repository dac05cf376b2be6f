//! One polynomial: the votes of a class, weighted by the noise and by the tilt.

use super::lanes::LANES;
use super::noise_table::Values;
use crate::special::exp_in_loops;
use std::ops::Range;

/// Coefficients below e^-44 = 8e-20 of the largest are dropped at both ends.
const DROP: f64 = 44.0;
const DROPPED_SHARE: f64 = 7.8e-20;
/// Factors between this value and its inverse multiply without underflow to numbers of about this size or more.
const SAFE: f64 = 1e-290;
/// If the largest coefficient is at least this, all retained coefficients have full precision.
const SAFE_TOP: f64 = 1e-260;

/// A polynomial Σ_i exp(ln_scale) coefficients[i] z^(low + i) with non-negative coefficients of sum 1.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) power: usize,
    pub(super) low: usize,
    /// The range of the coefficients among those of all factors.
    pub(super) coefficients: Range<usize>,
    /// ln of its value at z = 1.
    pub(super) ln_mass: f64,
    pub(super) mean: f64,
    pub(super) variance: f64,
}

/// ρ^n: the logarithm of ρ, and the powers if there are few votes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tilt<'a> {
    /// 0, 1, 2, ...
    pub(super) numbers: &'a [f64],
    pub(super) ln: f64,
    pub(super) powers: &'a [f64],
}

/// The factors of the coefficients of a form, for n = 0, 1, ... votes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms<'a> {
    pub(super) tilt: Tilt<'a>,
    /// P(Poi(kP_i) = n).
    pub(super) poisson: Values<'a>,
    pub(super) noise: Values<'a>,
}

impl Form {
    /// Coefficients P(Poi(kP_i) = n) ρ^n noise(n); the search for the largest starts at `mode`, which is updated.
    #[inline(always)]
    pub(super) fn new(terms: Terms<'_>, power: usize, mode: &mut usize, all: &mut Vec<f64>) -> Self {
        match Self::of_values(terms, power, mode, all) {
            Some(form) => form,
            None => Self::of_logarithms(terms, power, mode, all),
        }
    }

    /// Products of the values; `None` if they are not tabulated or leave the range of doubles.
    #[inline(always)]
    fn of_values(terms: Terms<'_>, power: usize, mode: &mut usize, all: &mut Vec<f64>) -> Option<Self> {
        let poisson = terms.poisson.values;
        let degree = poisson.len().checked_sub(1)?;
        let noise = terms.noise.values.get(..=degree)?;
        let powers = terms.tilt.powers.get(..=degree)?;
        let value = |n: usize| poisson[n] * powers[n] * noise[n];
        let at = summit(*mode, degree, value);
        let keep = value(at) * DROPPED_SHARE;
        // The values fall on both sides: take long steps first.
        let (mut low, mut high) = (at, at);
        while low >= LANES && value(low - LANES) > keep {
            low -= LANES;
        }
        while low > 0 && value(low - 1) > keep {
            low -= 1;
        }
        while high + LANES <= degree && value(high + LANES) > keep {
            high += LANES;
        }
        while high < degree && value(high + 1) > keep {
            high += 1;
        }
        // Probabilities, powers and noise have their smallest values at the ends. Beyond the ends, a tabulated value
        // that is too large does no harm, but a power capped at the largest double would hide a new rise.
        let safe = |n: usize| poisson[n].min(noise[n]).min(powers[n]) >= SAFE;
        let known = |n: usize| powers[n] <= 1.0 / SAFE;
        let beyond = [low.saturating_sub(1), degree.min(high + 1)];
        if !(value(at) >= SAFE_TOP && safe(low) && safe(high) && beyond.into_iter().all(known)) {
            return None;
        }
        *mode = at;
        let begin = all.len();
        all.resize(begin + high - low + 1, 0.0);
        let parts = poisson[low..=high].iter().zip(&powers[low..=high]).zip(&noise[low..=high]);
        for (value, ((poisson, power), noise)) in all[begin..].iter_mut().zip(parts) {
            *value = poisson * power * noise;
        }
        Some(Self::of_coefficients(all, begin, (low, at), power, terms.noise.ln_scale))
    }

    /// Exponentials of sums of logarithms.
    #[inline(always)]
    fn of_logarithms(terms: Terms<'_>, power: usize, mode: &mut usize, all: &mut Vec<f64>) -> Self {
        let (ln_tilt, weights) = (terms.tilt.ln, terms.poisson.logarithms);
        let degree = weights.len() - 1;
        let (numbers, noise) = (&terms.tilt.numbers[..=degree], &terms.noise.logarithms[..=degree]);
        let ln = |n: usize| numbers[n].mul_add(ln_tilt, weights[n]) + noise[n];
        let at = summit(*mode, degree, ln);
        *mode = at;
        let top = ln(at);
        let keep = top - DROP;
        let (mut low, mut high) = (at, at);
        while low > 0 && ln(low - 1) > keep {
            low -= 1;
        }
        while high < degree && ln(high + 1) > keep {
            high += 1;
        }
        let begin = all.len();
        all.resize(begin + high - low + 1, 0.0);
        let coefficients = &mut all[begin..];
        // Two plain loops, which the compiler vectorizes.
        let parts = weights[low..=high].iter().zip(&noise[low..=high]).zip(&numbers[low..=high]);
        for (value, ((weight, noise), number)) in coefficients.iter_mut().zip(parts) {
            *value = number.mul_add(ln_tilt, *weight) + noise - top;
        }
        for value in coefficients.iter_mut() {
            *value = exp_in_loops(*value);
        }
        Self::of_coefficients(all, begin, (low, at), power, top + terms.noise.ln_scale)
    }

    /// Divides the coefficients from `begin` on, which lack the factor exp(`ln_scale`), by their sum.
    #[inline(always)]
    fn of_coefficients(all: &mut [f64], begin: usize, (low, at): (usize, usize), power: usize, ln_scale: f64) -> Self {
        let coefficients = &mut all[begin..];
        // Sums in eight lanes, centered on the largest coefficient so that the variance does not cancel.
        let mut sums = [[0.0; LANES]; 3];
        let (blocks, rest) = coefficients.as_chunks::<LANES>();
        let mut from = -((at - low) as f64);
        for block in blocks {
            add_moments(block, from, &mut sums);
            from += LANES as f64;
        }
        let mut last = [0.0; LANES];
        last[..rest.len()].copy_from_slice(rest);
        add_moments(&last, from, &mut sums);
        let [mass, first, second] = sums;
        let mass: f64 = mass.iter().sum();
        let inverse = 1.0 / mass;
        let mean = first.iter().sum::<f64>() * inverse;
        for value in coefficients.iter_mut() {
            *value *= inverse;
        }
        Self {
            power,
            low,
            coefficients: begin..begin + coefficients.len(),
            ln_mass: ln_scale + libm::log(mass),
            mean: at as f64 + mean,
            variance: (second.iter().sum::<f64>() * inverse - mean * mean).max(0.0),
        }
    }
}

/// Where a sequence that rises and then falls has its largest value, searching from `start`.
#[inline(always)]
fn summit(start: usize, degree: usize, value: impl Fn(usize) -> f64) -> usize {
    let mut at = start.min(degree);
    let mut top = value(at);
    while at < degree && value(at + 1) > top {
        at += 1;
        top = value(at);
    }
    while at > 0 && value(at - 1) > top {
        at -= 1;
        top = value(at);
    }
    at
}

/// Adds values and their first and second moments at the positions `from`, `from` + 1, ...
#[inline(always)]
fn add_moments(values: &[f64; LANES], from: f64, [mass, first, second]: &mut [[f64; LANES]; 3]) {
    for lane in 0..LANES {
        let at = from + lane as f64;
        let moment = values[lane] * at;
        mass[lane] += values[lane];
        first[lane] += moment;
        second[lane] = moment.mul_add(at, second[lane]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::noise_table::{Column, NoiseTable};
    use super::*;
    use crate::special::log_poisson_pmf;

    /// Values and logarithms give the same form, or the attempt with values returns `None`.
    #[test]
    fn values_are_their_logarithms() {
        let mut made = [0, 0];
        for (mean, sigma, tilt) in [(0.5, 3.0, 0.0), (40.0, 40.0, 0.25), (260.0, 0.7, -1.5), (120.0, 900.0, 3.0)] {
            compare((300, mean), sigma, tilt, (-200..400).step_by(50), &mut made);
        }
        assert!(made[0] > 0 && made[1] > 40, "{made:?}");
        // Noise far below one vote needs tilts whose powers leave the range of doubles within a few votes.
        for (mean, tilt) in [(8.2, 330.0), (0.8, 330.0), (8.2, -330.0), (8.2, 90.0), (4.0, 150.0)] {
            compare((9, mean), 0.11, tilt, -3..13, &mut made);
        }
    }

    fn compare((k, mean): (usize, f64), sigma: f64, tilt: f64, floors: impl Iterator<Item = i64>, made: &mut [u32; 2]) {
        let numbers: Vec<f64> = (0..=k).map(|n| n as f64).collect();
        let poisson = Column::new((0..=k).map(|n| log_poisson_pmf(n as u64, mean)).collect(), true);
        let powers: Vec<f64> = numbers.iter().map(|n| exp_in_loops(n * tilt)).collect();
        let noise = NoiseTable::gaussian(sigma, 0.5, (-1_500, 1_500), true);
        for (floor, wins) in floors.flat_map(|floor| [(floor, false), (floor, true)]) {
            let terms = Terms {
                tilt: Tilt { numbers: &numbers, ln: tilt, powers: &powers },
                poisson: poisson.from(0, 0.0),
                noise: if wins { noise.density(floor, 1) } else { noise.cdf(floor, 1) },
            };
            let [mut fast, mut slow] = [Vec::new(), Vec::new()];
            let (mut mode, mut again) = (mean as usize, mean as usize);
            let expected = Form::of_logarithms(terms, 1, &mut again, &mut slow);
            let found = Form::of_values(terms, 1, &mut mode, &mut fast);
            made[usize::from(found.is_some())] += 1;
            let Some(found) = found else { continue };
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + b.abs());
            assert!(near(found.ln_mass, expected.ln_mass) && near(found.mean, expected.mean), "{found:?} {expected:?}");
            assert!((found.variance - expected.variance).abs() <= 1e-10 * (1.0 + expected.variance));
            // A coefficient at the edge may be kept by only one of the two.
            let at = |form: &Form, all: &[f64], n: usize| n.checked_sub(form.low).and_then(|i| all.get(i).copied());
            for n in 0..=k {
                let (a, b) = (at(&found, &fast, n).unwrap_or(0.0), at(&expected, &slow, n).unwrap_or(0.0));
                assert!((a - b).abs() <= 1e-12 * b + 1e-18, "{n}: {a} {b}");
            }
        }
    }
}
