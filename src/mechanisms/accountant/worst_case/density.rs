//! Bounds on the normal density and its first two derivatives over an interval.

use crate::special::log_normal_density;

/// 1/√(2π) = φ(0), and φ(1) and 2 φ(√3), rounded up.
const INV_SQRT_2PI: f64 = 0.398_942_280_401_432_8;
const FIRST_AT_ONE: f64 = 0.241_970_724_519_143_4;
const SECOND_AT_ROOT_3: f64 = 0.178_032_109_831_903;

/// Bounds of |x φ(x)|, |(x²-1) φ(x)| and φ(x) over an interval.
#[derive(Debug, Clone, Copy)]
pub(super) struct DensityBounds {
    pub(super) first: f64,
    pub(super) second: f64,
    pub(super) density: f64,
}

/// An end of an interval, with the density there.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    pub(super) x: f64,
    pub(super) density: f64,
}

impl End {
    fn at(x: f64) -> Self {
        Self { x, density: libm::exp(log_normal_density(x)) }
    }
}

impl DensityBounds {
    pub(super) fn over(low: f64, high: f64) -> Self {
        Self::between(End::at(low), End::at(high))
    }

    pub(super) fn between(low: End, high: End) -> Self {
        let inside = |x: f64| low.x <= x && x <= high.x;
        let density = if inside(0.0) { INV_SQRT_2PI } else { low.density.max(high.density) };
        // |xφ| has its maxima at ±1, |(x²-1)φ| at 0 and ±√3.
        let mut first = (low.x * low.density).abs().max((high.x * high.density).abs());
        if inside(1.0) || inside(-1.0) {
            first = first.max(FIRST_AT_ONE);
        }
        let bend = |end: End| ((end.x * end.x - 1.0) * end.density).abs();
        let mut second = bend(low).max(bend(high));
        let outer = 3f64.sqrt();
        if inside(outer) || inside(-outer) {
            second = second.max(SECOND_AT_ROOT_3);
        }
        if inside(0.0) {
            second = second.max(INV_SQRT_2PI);
        }
        Self { first, second, density }
    }
}
