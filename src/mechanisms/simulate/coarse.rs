//! Noise of unit scale within a few thousandths, by tables that fit into registers.
//!
//! The size of the noise of a cell is a function of its 31 bits t, which is smooth in each octave 2^e ≤ t < 2^(e+1). A
//! parabola for each of the 15 largest octaves takes three coefficients; the exponent of t as a float selects it. The
//! largest t round to 2^31, a separate octave, which has the parabola of the one below.
//!
//! The coefficients of t and t² share a word: that of t is the float of its 32 bits, that of t² the float of its low 16
//! bits followed by zeros. So two tables are enough, and each word is the best one among those with the same low half.

use super::noise::{SIGN, UnitGaussian, UnitLaplace, UnitNoise};
use rayon::prelude::*;
use std::f64::consts::PI;
use std::ops::Range;

/// Octaves with a parabola: t from 2^16 on.
pub(super) const OCTAVES: usize = 16;
/// Cells with t below this have none, with probability 2^-15.
pub(super) const LEAST: u32 = 1 << (32 - OCTAVES);
/// The exponent of a float lies at its bits from this one on.
pub(super) const EXPONENT: u32 = 23;
/// Bits of a half of a word.
pub(super) const HALF: u32 = 16;

/// Parabolas for the noise of cells, by the exponent of t as a float modulo 16.
#[derive(Debug, Clone)]
pub(super) struct Coarse {
    /// The constants.
    pub(super) constants: [f32; OCTAVES],
    /// The coefficients of t and t².
    pub(super) rises: [f32; OCTAVES],
}

impl Coarse {
    /// A parabola in each octave, close to the one that matches the size of the noise at the three Chebyshev points,
    /// with the constant that balances errors of both signs.
    pub(super) fn of<N: UnitNoise>() -> Self {
        let mut tables = Self { constants: [0.0; OCTAVES], rises: [0.0; OCTAVES] };
        for exponent in LEAST.ilog2()..=31 {
            let start = f64::from(1u32 << exponent.min(30));
            let size = |t: f64| N::size(t / 4_294_967_296.0);
            let t = [1.0, 3.0, 5.0f64].map(|k| start * (1.5 + 0.5 * (k * PI / 6.0).cos()));
            let slope = |i: usize, j: usize| (size(t[j]) - size(t[i])) / (t[j] - t[i]);
            let curvature = (slope(1, 2) - slope(0, 1)) / (t[2] - t[0]);
            let (low, curvature) = nearest_half(curvature as f32);
            let rises = slope(0, 2) - f64::from(curvature) * (t[0] + t[2]);
            let rises = with_low_half(rises as f32, low);
            let rest = |step: u32| {
                let t = start * (1.0 + f64::from(step) / 64.0);
                size(t) - t * (f64::from(rises) + t * f64::from(curvature))
            };
            let [least, most] = (0..=64)
                .map(rest)
                .fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], rest| [least.min(rest), most.max(rest)]);
            let place = octave((1u32 << exponent) as f32);
            tables.constants[place] = ((least + most) / 2.0) as f32;
            tables.rises[place] = rises;
        }
        tables
    }

    /// The noise of a cell from [`LEAST`] on, within [`UnitNoise::COARSE`].
    pub(super) fn value(&self, cell: u32) -> f32 {
        let t = (cell & !SIGN) as i32 as f32;
        let (constant, slope) = (self.constants[octave(t)], self.rises[octave(t)]);
        let curvature = f32::from_bits(slope.to_bits() << HALF);
        let size = curvature.mul_add(t, slope).mul_add(t, constant);
        f32::from_bits(size.to_bits() ^ (cell & SIGN))
    }

    /// The distance from both ends of a cell.
    fn distance<N: UnitNoise>(&self, cell: u32) -> f64 {
        let near = f64::from(self.value(cell));
        (near - N::exact(cell, 0)).abs().max((near - N::exact(cell, u64::MAX)).abs())
    }
}

/// The high half of the nearest float whose low half is 0, and this float.
fn nearest_half(value: f32) -> (u32, f32) {
    let high = (value.to_bits() + (1 << (HALF - 1))) >> HALF;
    (high, f32::from_bits(high << HALF))
}

/// The nearest float with this low half.
fn with_low_half(value: f32, low: u32) -> f32 {
    let high = value.to_bits() >> HALF;
    let near = [high - 1, high, high + 1].map(|high| f32::from_bits(high << HALF | low));
    near.into_iter().fold(near[1], |best, next| if (next - value).abs() < (best - value).abs() { next } else { best })
}

/// The largest distance of the coarse noise from both ends of a cell, over the cells of a range from 2^16 on, for
/// Gaussian and for Laplace noise; for the validation program, which examines all of them.
#[doc(hidden)]
#[must_use]
pub fn coarse_noise_errors(cells: Range<u32>) -> [f64; 2] {
    let (gaussian, laplace) = (Coarse::of::<UnitGaussian>(), Coarse::of::<UnitLaplace>());
    let both = |cell: u32| [gaussian.distance::<UnitGaussian>(cell), laplace.distance::<UnitLaplace>(cell)];
    let larger = |a: [f64; 2], b: [f64; 2]| [a[0].max(b[0]), a[1].max(b[1])];
    (cells.start.max(LEAST)..cells.end).into_par_iter().map(both).reduce(|| [0.0; 2], larger)
}

fn octave(t: f32) -> usize {
    (t.to_bits() >> EXPONENT) as usize % OCTAVES
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All octaves: their ends, and 4,000 cells in between.
    fn worst<N: UnitNoise>() -> f64 {
        let coarse = Coarse::of::<N>();
        let cells = (LEAST.ilog2()..31).flat_map(|exponent| {
            (0..=4_000u64).map(move |step| ((1u64 << exponent) + step * ((1u64 << exponent) - 1) / 4_000) as u32)
        });
        cells.flat_map(|t| [t, t | SIGN]).map(|cell| coarse.distance::<N>(cell)).fold(0.0, f64::max)
    }

    #[test]
    fn parabolas_are_close() {
        let (gaussian, laplace) = (worst::<UnitGaussian>(), worst::<UnitLaplace>());
        println!("Gaussian {gaussian:e}, Laplace {laplace:e}");
        // The remainder is for deficits in single precision.
        assert!(gaussian < f64::from(UnitGaussian::COARSE) - 5e-5 && laplace < f64::from(UnitLaplace::COARSE) - 5e-5);
    }
}
