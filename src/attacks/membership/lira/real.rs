//! The float types of recorded scores, one at a time and in vectors.

use super::side_by_side::{LANES, Lanes, side_by_side, singles_side_by_side};
use crate::vectorized::Arch;
use pulp::Simd;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Sub};

/// A float type of recorded scores.
pub(super) trait Real:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + MulAssign
    + Send
    + Sync
    + 'static
{
    /// All bits 0 or 1.
    type Mask: Copy;
    fn of(value: f64) -> Self;
    fn wide(self) -> f64;
    fn mask(chosen: bool) -> Self::Mask;
    /// One of two numbers, by their bits: of a condition compilers make a choice between addresses, which no vector can
    /// read.
    fn choose(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// The scores that one instruction processes.
    type Vector<S: Simd>: Copy;
    /// Lanes as vectors, which divide them.
    fn vectors<S: Simd>(lanes: &Lanes<Self>) -> &[Self::Vector<S>];
    fn vectors_mut<S: Simd>(lanes: &mut Lanes<Self>) -> &mut [Self::Vector<S>];
    fn plus<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn minus<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn times<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// a b + c, rounded once.
    fn fused<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>, c: Self::Vector<S>) -> Self::Vector<S>;
    /// Copies the views of samples, a row each, into lanes.
    fn side_by_side(arch: Arch, rows: &[Self], views: usize, samples: &[usize; LANES], into: &mut [Lanes<Self>]);
}

impl Real for f32 {
    type Mask = u32;
    #[inline(always)]
    fn of(value: f64) -> Self {
        value as f32
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn mask(chosen: bool) -> u32 {
        u32::from(chosen).wrapping_neg()
    }
    #[inline(always)]
    fn choose(mask: u32, yes: Self, no: Self) -> Self {
        Self::from_bits(yes.to_bits() & mask | no.to_bits() & !mask)
    }
    type Vector<S: Simd> = S::f32s;
    #[inline(always)]
    fn vectors<S: Simd>(lanes: &Lanes<Self>) -> &[S::f32s] {
        S::as_simd_f32s(lanes).0
    }
    #[inline(always)]
    fn vectors_mut<S: Simd>(lanes: &mut Lanes<Self>) -> &mut [S::f32s] {
        S::as_mut_simd_f32s(lanes).0
    }
    #[inline(always)]
    fn plus<S: Simd>(simd: S, a: S::f32s, b: S::f32s) -> S::f32s {
        simd.add_f32s(a, b)
    }
    #[inline(always)]
    fn minus<S: Simd>(simd: S, a: S::f32s, b: S::f32s) -> S::f32s {
        simd.sub_f32s(a, b)
    }
    #[inline(always)]
    fn times<S: Simd>(simd: S, a: S::f32s, b: S::f32s) -> S::f32s {
        simd.mul_f32s(a, b)
    }
    #[inline(always)]
    fn fused<S: Simd>(simd: S, a: S::f32s, b: S::f32s, c: S::f32s) -> S::f32s {
        simd.mul_add_f32s(a, b, c)
    }
    fn side_by_side(arch: Arch, rows: &[Self], views: usize, samples: &[usize; LANES], into: &mut [Lanes<Self>]) {
        singles_side_by_side(arch, rows, views, samples, into);
    }
}

impl Real for f64 {
    type Mask = u64;
    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
    #[inline(always)]
    fn mask(chosen: bool) -> u64 {
        u64::from(chosen).wrapping_neg()
    }
    #[inline(always)]
    fn choose(mask: u64, yes: Self, no: Self) -> Self {
        Self::from_bits(yes.to_bits() & mask | no.to_bits() & !mask)
    }
    type Vector<S: Simd> = S::f64s;
    #[inline(always)]
    fn vectors<S: Simd>(lanes: &Lanes<Self>) -> &[S::f64s] {
        S::as_simd_f64s(lanes).0
    }
    #[inline(always)]
    fn vectors_mut<S: Simd>(lanes: &mut Lanes<Self>) -> &mut [S::f64s] {
        S::as_mut_simd_f64s(lanes).0
    }
    #[inline(always)]
    fn plus<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> S::f64s {
        simd.add_f64s(a, b)
    }
    #[inline(always)]
    fn minus<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> S::f64s {
        simd.sub_f64s(a, b)
    }
    #[inline(always)]
    fn times<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> S::f64s {
        simd.mul_f64s(a, b)
    }
    #[inline(always)]
    fn fused<S: Simd>(simd: S, a: S::f64s, b: S::f64s, c: S::f64s) -> S::f64s {
        simd.mul_add_f64s(a, b, c)
    }
    fn side_by_side(_arch: Arch, rows: &[Self], views: usize, samples: &[usize; LANES], into: &mut [Lanes<Self>]) {
        side_by_side(rows, views, samples, into);
    }
}
