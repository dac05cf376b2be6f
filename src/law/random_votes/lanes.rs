//! Arithmetic on eight lanes at once, written so that the compiler vectorises it; the lanes never meet, so that the
//! results are the same whatever the width of the registers is.

#![allow(clippy::needless_range_loop, reason = "the same lane of several arrays")]

/// Lanes of a block: one register of 512 bits.
pub(super) const LANES: usize = 8;

/// Work that is compiled for each instruction set that the library knows, down to the functions marked
/// `inline(always)`, and run with the best one that this machine has.
pub(super) trait Vectorised: Sized {
    type Output;

    fn run(self) -> Self::Output;
}

struct Dispatched<W>(W);

impl<W: Vectorised> pulp::WithSimd for Dispatched<W> {
    type Output = W::Output;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> W::Output {
        self.0.run()
    }
}

/// Runs the work.
pub(super) fn vectorised<W: Vectorised>(work: W) -> W::Output {
    pulp::Arch::new().dispatch(Dispatched(work))
}

/// Eight complex numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Complex {
    pub(super) re: [f64; LANES],
    pub(super) im: [f64; LANES],
}

impl Complex {
    pub(super) const ZERO: Self = Self { re: [0.0; LANES], im: [0.0; LANES] };
    pub(super) const ONE: Self = Self { re: [1.0; LANES], im: [0.0; LANES] };

    #[inline(always)]
    pub(super) fn times(self, other: Self) -> Self {
        let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            re[lane] = self.re[lane].mul_add(other.re[lane], -(self.im[lane] * other.im[lane]));
        }
        for lane in 0..LANES {
            im[lane] = self.re[lane].mul_add(other.im[lane], self.im[lane] * other.re[lane]);
        }
        Self { re, im }
    }

    /// self + a b.
    #[inline(always)]
    pub(super) fn plus_product(self, left: Self, right: Self) -> Self {
        let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            re[lane] = left.re[lane].mul_add(right.re[lane], (-left.im[lane]).mul_add(right.im[lane], self.re[lane]));
        }
        for lane in 0..LANES {
            im[lane] = left.re[lane].mul_add(right.im[lane], left.im[lane].mul_add(right.re[lane], self.im[lane]));
        }
        Self { re, im }
    }

    #[inline(always)]
    pub(super) fn scaled(self, factor: f64) -> Self {
        let mut product = self;
        for lane in 0..LANES {
            product.re[lane] *= factor;
            product.im[lane] *= factor;
        }
        product
    }

    /// self + factor · other.
    #[inline(always)]
    pub(super) fn plus_scaled(self, factor: f64, other: Self) -> Self {
        let mut sum = self;
        for lane in 0..LANES {
            sum.re[lane] = factor.mul_add(other.re[lane], sum.re[lane]);
            sum.im[lane] = factor.mul_add(other.im[lane], sum.im[lane]);
        }
        sum
    }
}

/// exp(x) for x ≤ 0, within one unit in the last place; 3e-308 from -708 on.
///
/// x = n ln 2 + r with |r| ≤ 0.35, and 14 terms of the series in r, the last below 1e-18.
#[inline(always)]
pub(super) fn exp(x: f64) -> f64 {
    /// 1.5·2^52: adding it rounds to an integer and leaves that in the last bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    const LN_2_HIGH: f64 = 0.693_147_180_369_123_816_49;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_700_02e-10;
    const SERIES: [f64; 13] = [
        1.0 / 6_227_020_800.0,
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
    ];
    let x = x.max(-708.0);
    let rounded = x.mul_add(std::f64::consts::LOG2_E, ROUND);
    let n = rounded - ROUND;
    let r = n.mul_add(-LN_2_LOW, n.mul_add(-LN_2_HIGH, x));
    let mut sum = SERIES[0];
    for &term in &SERIES[1..] {
        sum = sum.mul_add(r, term);
    }
    let power = f64::from_bits((rounded.to_bits() << 52).wrapping_add(1f64.to_bits()));
    sum.mul_add(r, 1.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_that_of_libm() {
        let mut worst = 0.0f64;
        for step in 0..200_000 {
            let x = -0.003_539 * f64::from(step);
            let expected = libm::exp(x);
            worst = worst.max((exp(x) / expected - 1.0).abs());
        }
        println!("worst relative difference {worst:e}");
        assert!(worst <= 2.0 * f64::EPSILON);
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(f64::NEG_INFINITY) < 4e-308);
    }
}
