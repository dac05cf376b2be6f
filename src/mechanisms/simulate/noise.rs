//! Noise of unit scale by inversion, with only the random bits that a comparison needs.
//!
//! Half a random word names one of 2^32 cells of equal probability: its highest bit is the sign, and the other 31 bits
//! t mean that the tail probability of the size is q = (t + v)/2^32 for a v in [0, 1). To compare sums, it is nearly
//! always enough to know the noise of a cell within [`MARGIN`], which a few single-precision operations give; only if
//! that leaves a comparison open does a whole word for v complete the draw in double precision, with tails down to
//! 2^-97. Either way, the same random variable is computed: an approximation never decides an open case.
//!
//! The approximation uses only additions, multiplications and the bits of a float, each rounded separately, and is
//! therefore the same on every platform and at every vector width.

use super::lane_words::LANES;
use super::lanes::Lanes;
use super::stream::Stream;
use crate::distribution::Noise;
use crate::special::ndtri;
use rayon::prelude::*;
use std::ops::Range;

/// The largest error of the approximation for a cell that is not extreme, either way, including sums with a deficit.
///
/// The polynomials are within 5e-5, which the validation program checks for each of the 2^31 cells; the width of a cell
/// adds 1e-5, and single-precision deficits of at most 133 (beyond which Laplace noise decides nothing) at most 4e-5.
pub(super) const MARGIN: f32 = 1.0 / 8192.0;

/// Cells with t below this are extreme, with probability 2^-15: their approximation has no guarantee.
const EXTREME: u32 = 1 << 16;
/// The sign bit of a cell.
pub(super) const SIGN: u32 = 1 << 31;

/// Whether the approximation has no guarantee for this cell.
#[inline(always)]
pub(super) const fn is_extreme(cell: u32) -> bool {
    cell & !SIGN < EXTREME
}

/// A symmetric distribution of scale 1.
pub(super) trait UnitNoise {
    /// The largest error of [`Coarse`](super::coarse::Coarse), including sums with a deficit.
    const COARSE: f32;

    /// The noise of a cell that is not extreme, within [`MARGIN`].
    fn approximate(cell: u32) -> f32;

    /// The noise at a tail probability in (0, 1/2], positive.
    fn size(tail: f64) -> f64;

    /// The noise of a cell, completed by a random word.
    fn exact(cell: u32, word: u64) -> f64 {
        // The middle of one of 2^64 parts of the cell; 2^-97 and more, and at most 1/2.
        let place = (word as f64 + 0.5) / 18_446_744_073_709_551_616.0;
        let size = Self::size((f64::from(cell & !SIGN) + place) / 4_294_967_296.0);
        if cell & SIGN == 0 { size } else { -size }
    }
}

/// N(0, 1).
pub(super) struct UnitGaussian;

/// Density exp(-|x|)/2.
pub(super) struct UnitLaplace;

/// Fills `values` with independent draws of the noise added by the samplers of this library, in double precision with
/// tails down to probability 2^-97: for custom mechanisms.
///
/// A draw takes about 30 ns, nearly all of it for the inverse of the distribution function.
/// [`ArgmaxSampler`](crate::simulate::ArgmaxSampler) needs that only for the few samples in which a single-precision
/// approximation leaves the winner open.
///
/// # Example
/// ```
/// use leakbound::simulate::{Stream, StreamId, World, fill_noise};
///
/// let mut stream = Stream::new(StreamId { seed: 0, query: 0, world: World::Dataset, block: 0 });
/// let mut values = vec![0.0; 10_000];
/// fill_noise("gaussian:40".parse()?, &mut stream, &mut values);
/// let variance = values.iter().map(|value| value * value).sum::<f64>() / 1e4;
/// assert!((variance / 1600.0 - 1.0).abs() < 0.07); // five standard errors
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn fill_noise(noise: Noise, stream: &mut Stream, values: &mut [f64]) {
    match noise {
        Noise::Gaussian(_) => fill::<UnitGaussian>(noise.scale(), stream, values),
        Noise::Laplace(_) => fill::<UnitLaplace>(noise.scale(), stream, values),
    }
}

fn fill<N: UnitNoise>(scale: f64, stream: &mut Stream, values: &mut [f64]) {
    let mut lanes = Lanes::new(stream);
    let (mut cells, mut words) = ([0; 2 * LANES], [0; 2 * LANES]);
    for values in values.chunks_mut(2 * LANES) {
        lanes.fill_halves(&mut cells);
        lanes.fill(&mut words);
        for ((value, &cell), &word) in values.iter_mut().zip(&cells).zip(&words) {
            *value = scale * N::exact(cell, word);
        }
    }
}

/// The largest distance of the approximation from both ends of a cell, over the cells of a range that are not extreme,
/// for Gaussian and for Laplace noise; the sign, which is the highest bit, makes no difference. For the validation
/// program, which examines all of them.
#[doc(hidden)]
#[must_use]
pub fn noise_approximation_errors(cells: Range<u32>) -> [f64; 2] {
    let both = |cell: u32| {
        if is_extreme(cell) { [0.0; 2] } else { [distance::<UnitGaussian>(cell), distance::<UnitLaplace>(cell)] }
    };
    cells.into_par_iter().map(both).reduce(|| [0.0; 2], |a, b| [a[0].max(b[0]), a[1].max(b[1])])
}

/// Largest distance of the approximation from both ends of a cell.
fn distance<N: UnitNoise>(cell: u32) -> f64 {
    let near = f64::from(N::approximate(cell));
    (near - N::exact(cell, 0)).abs().max((near - N::exact(cell, u64::MAX)).abs())
}

/// Twice the tail probability in the middle of a cell, relative to 2^-16.
#[inline(always)]
fn double_tail(cell: u32) -> f32 {
    ((cell & !SIGN) as i32 as f32 + 0.5) * (1.0 / 2_147_483_648.0)
}

/// log2 of a positive normal float within 1.5e-5; the polynomial is the best one of degree 5 on [1, 2] that is 0 at 1.
#[inline(always)]
fn log2(y: f32) -> f32 {
    let bits = y.to_bits();
    let exponent = (bits >> 23) as i32 - 127;
    let m = f32::from_bits(bits & 0x007f_ffff | 0x3f80_0000) - 1.0;
    let fraction = m * (1.441_965_6 + m * (-0.709_662_3 + m * (0.417_593_63 + m * (-0.196_266_2 + m * 0.046_383_657))));
    exponent as f32 + fraction
}

/// A non-negative size with the sign of a cell.
#[inline(always)]
fn signed(size: f32, cell: u32) -> f32 {
    f32::from_bits(size.to_bits() ^ (cell & SIGN))
}

impl UnitNoise for UnitGaussian {
    const COARSE: f32 = 0.0025;

    /// Φ^-1((1+x)/2) = x P(-log2(1 - x²)), with P the best polynomial of degree 7 for arguments up to 14 (the form is
    /// that of Giles 2010, "Approximating the erfinv function").
    #[inline(always)]
    fn approximate(cell: u32) -> f32 {
        let s = double_tail(cell);
        let w = -log2(s * (2.0 - s));
        let high = 5.580_591e-5 + w * (3.502_680_8e-6 + w * (-3.385_901_6e-7 + w * 7.782_197e-9));
        let p = 1.253_545_3 + w * (0.226_513_58 + w * (0.008_857_951 + w * (-0.001_563_325_4 + w * high)));
        signed((1.0 - s) * p, cell)
    }

    fn size(tail: f64) -> f64 {
        -ndtri(tail)
    }
}

impl UnitNoise for UnitLaplace {
    const COARSE: f32 = 0.0045;

    #[inline(always)]
    fn approximate(cell: u32) -> f32 {
        signed(-std::f32::consts::LN_2 * log2(double_tail(cell)), cell)
    }

    fn size(tail: f64) -> f64 {
        -libm::log(2.0 * tail)
    }
}

#[cfg(test)]
mod tests {
    use super::super::stream::{StreamId, World};
    use super::*;
    use crate::variate::p_value;
    use rand::Rng;

    /// Half of [`MARGIN`] is left for single-precision deficits.
    #[test]
    fn approximations_are_close() {
        let mut stream = Stream::new(StreamId { seed: 0, query: 0, world: World::Dataset, block: 0 });
        let mut cells: Vec<u32> = (0..300_000).map(|_| stream.next_u32()).collect();
        // All exponents, both ends.
        for shift in 0..16 {
            cells.extend((0..2000).map(|step| (EXTREME << shift >> 1).max(EXTREME) + step));
            cells.extend((1..2000).map(|step| (EXTREME << shift).wrapping_sub(step) & !SIGN));
        }
        cells.extend((0..2000).map(|step| !SIGN - step));
        cells.retain(|&cell| !is_extreme(cell));
        let worst = |distance: fn(u32) -> f64| cells.iter().map(|&cell| distance(cell)).fold(0.0, f64::max);
        let (gaussian, laplace) = (worst(distance::<UnitGaussian>), worst(distance::<UnitLaplace>));
        println!("Gaussian {gaussian:e}, Laplace {laplace:e}");
        assert!(gaussian < f64::from(MARGIN) / 2.0 && laplace < f64::from(MARGIN) / 2.0);
    }

    #[test]
    fn tails_reach_far() {
        assert!((UnitGaussian::exact(0, 0) + ndtri(2f64.powi(-97))).abs() < 1e-12 && UnitGaussian::exact(0, 0) > 11.3);
        assert!((UnitLaplace::exact(SIGN, 0) + 96.0 * std::f64::consts::LN_2).abs() < 1e-9);
        assert_eq!(UnitGaussian::exact(!SIGN, u64::MAX), 0.0);
        assert!(UnitLaplace::exact(u32::MAX, u64::MAX) == 0.0);
    }

    /// How many of the completed draws fall into each of 1000 equally probable cells: fails with probability 1e-6.
    #[test]
    fn completed_draws_have_their_distributions() {
        const CELLS: usize = 1000;
        fn p_value_of<N: UnitNoise>(seed: u64, quantile: impl Fn(f64) -> f64) -> f64 {
            let edges: Vec<f64> = (1..CELLS).map(|cell| quantile(cell as f64 / CELLS as f64)).collect();
            let mut stream = Stream::new(StreamId { seed, query: 0, world: World::Dataset, block: 0 });
            let mut counts = vec![0; CELLS];
            for _ in 0..1_000_000 {
                let draw = N::exact(stream.next_u32(), stream.next_u64());
                counts[edges.partition_point(|&edge| edge < draw)] += 1;
            }
            p_value(&counts, &vec![1.0 / CELLS as f64; CELLS])
        }
        let gaussian = p_value_of::<UnitGaussian>(1, ndtri);
        let laplace = p_value_of::<UnitLaplace>(2, |p| if p < 0.5 { (2.0 * p).ln() } else { -(2.0 * (1.0 - p)).ln() });
        println!("p-values: Gaussian {gaussian:.3}, Laplace {laplace:.3}");
        assert!(gaussian > 1e-6 && laplace > 1e-6);
    }
}
