//! ln F and ln f of the noise at the distances of one lattice: all classes and nodes share them.

use crate::special::{LN_SQRT_2PI, log_ndtr};

/// Values at (offset - j)/σ for integers j, which is how far n votes are from x = floor + offset with j = n - floor.
#[derive(Debug)]
pub(super) struct NoiseTable {
    /// The smallest j.
    first: i64,
    ln_cdf: Vec<f64>,
    ln_density: Vec<f64>,
}

impl NoiseTable {
    /// Gaussian noise; the density is per vote.
    pub(super) fn gaussian(sigma: f64, offset: f64, first: i64, last: i64) -> Self {
        let distances = || (first..=last).map(|j| (offset - j as f64) / sigma);
        let ln_peak = LN_SQRT_2PI + sigma.ln();
        Self {
            first,
            ln_cdf: distances().map(log_ndtr).collect(),
            ln_density: distances().map(|z| -0.5 * z * z - ln_peak).collect(),
        }
    }

    /// ln F at x - n - shift for n = 0, 1, ..., where x = floor + offset.
    pub(super) fn ln_cdf(&self, floor: i64, shift: i64) -> &[f64] {
        &self.ln_cdf[(shift - floor - self.first) as usize..]
    }

    /// ln f at x - n - shift for n = 0, 1, ..., where x = floor + offset.
    pub(super) fn ln_density(&self, floor: i64, shift: i64) -> &[f64] {
        &self.ln_density[(shift - floor - self.first) as usize..]
    }
}
