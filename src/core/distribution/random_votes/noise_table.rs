//! F and f of the noise at the distances of one lattice: all classes and nodes share them.

use crate::special::{LN_SQRT_2PI, exp_in_loops, log_ndtr};
use crate::vectorized::{Arch, in_vectors};

/// Numbers for n = 0, 1, ... votes: their logarithms, and, if there are few votes, e^(-`ln_scale`) times the numbers
/// themselves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values<'a> {
    pub(super) logarithms: &'a [f64],
    pub(super) values: &'a [f64],
    pub(super) ln_scale: f64,
}

/// Logarithms of numbers, and the numbers themselves if requested.
#[derive(Debug)]
pub(super) struct Column {
    logarithms: Vec<f64>,
    values: Vec<f64>,
}

/// Values at (offset - j)/σ for integers j, which is how far n votes are from x = floor + offset with j = n - floor.
#[derive(Debug)]
pub(super) struct NoiseTable {
    /// The smallest j.
    first: i64,
    cdf: Column,
    /// Without the factor 1/(σ√2π).
    density: Column,
    ln_peak: f64,
}

impl Column {
    /// The numbers with these logarithms, tabulated with `values`.
    pub(super) fn new(logarithms: Vec<f64>, values: bool) -> Self {
        let values = if values { exponentials(&logarithms) } else { Vec::new() };
        Self { logarithms, values }
    }

    /// From one position on; the values are e^(-`ln_scale`) times the numbers.
    #[inline(always)]
    pub(super) fn from(&self, place: usize, ln_scale: f64) -> Values<'_> {
        Values { logarithms: &self.logarithms[place..], values: self.values.get(place..).unwrap_or_default(), ln_scale }
    }
}

impl NoiseTable {
    /// Gaussian noise; the density is per vote. `values` asks for more than logarithms.
    pub(super) fn gaussian(sigma: f64, offset: f64, (first, last): (i64, i64), values: bool) -> Self {
        let distances = || (first..=last).map(|j| (offset - j as f64) / sigma);
        Self {
            first,
            cdf: Column::new(distances().map(log_ndtr).collect(), values),
            density: Column::new(distances().map(|z| -0.5 * z * z).collect(), values),
            ln_peak: -LN_SQRT_2PI - sigma.ln(),
        }
    }

    /// F at x - n - shift for n = 0, 1, ..., where x = floor + offset.
    #[inline(always)]
    pub(super) fn cdf(&self, floor: i64, shift: i64) -> Values<'_> {
        self.cdf.from((shift - floor - self.first) as usize, 0.0)
    }

    /// f at x - n - shift for n = 0, 1, ..., where x = floor + offset; its logarithms also lack `ln_scale`.
    #[inline(always)]
    pub(super) fn density(&self, floor: i64, shift: i64) -> Values<'_> {
        self.density.from((shift - floor - self.first) as usize, self.ln_peak)
    }
}

fn exponentials(logarithms: &[f64]) -> Vec<f64> {
    let mut values = logarithms.to_vec();
    in_vectors!(Arch::new(), {
        for value in &mut values {
            *value = exp_in_loops(*value);
        }
    });
    values
}
