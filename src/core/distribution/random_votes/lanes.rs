//! Arithmetic on eight lanes in parallel, written so that the compiler vectorizes it; lanes never interact, so results
//! do not depend on the width of the registers.

#![allow(clippy::needless_range_loop, reason = "the same lane of several arrays")]

/// Lanes of a block: one register of 512 bits.
pub(super) const LANES: usize = 8;

/// Eight numbers.
pub(super) type Lane = [f64; LANES];

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
