//! Bounds on the local sensitivity on a grid, for costs whose increments do not increase throughout.

use crate::error::{Error, Result};
use crate::special::{log_ndtr, ndtri_exp};

/// Cells for one vote.
const PER_VOTE: f64 = 50.0;
/// The smallest and the largest number of cells.
const CELLS: std::ops::RangeInclusive<f64> = 1000.0..=400_000.0;
/// Φ(-38) is about the smallest double; the first cell contains everything below.
const LOWEST: f64 = -38.0;

/// Upper bounds of L(q), by cells of z = Φ⁻¹(q/(C-1)), in which one vote is a step of at most √2/σ.
///
/// For z in [a, b] an increasing cost f has L ≤ max{f(b + c) - f(a), f(b) - f(a - c)}, c = √2/σ.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cells {
    bounds: Vec<f64>,
    width: f64,
    step: f64,
}

/// A cost of votes for this many classes, as a function of ln q.
pub(super) struct Cost<'a> {
    pub(super) classes: usize,
    /// c, the largest change of z by one vote.
    pub(super) step: f64,
    /// ln(C-1).
    pub(super) ln_others: f64,
    pub(super) at: &'a dyn Fn(f64) -> f64,
    /// The error if the cost decreases at a point.
    pub(super) rejected: &'a dyn Fn(f64) -> Error,
}

impl Cells {
    /// # Errors
    /// That of the cost if it does not increase with q.
    pub(super) fn new(function: &Cost<'_>) -> Result<Self> {
        let &Cost { classes, step, ln_others, at, rejected } = function;
        let highest = ndtri_exp((libm::log1p(-1.0 / classes as f64) - ln_others).min(0.0)).max(LOWEST + 1.0);
        let count = (PER_VOTE * (highest - LOWEST) / step).ceil().clamp(*CELLS.start(), *CELLS.end());
        let width = (highest - LOWEST) / count;
        let cost = |z: f64| at((ln_others + log_ndtr(z)).min(0.0));
        let (mut below, mut below_left) = (0.0, 0.0);
        let mut bounds = Vec::with_capacity(count as usize);
        for index in 1..=count as u32 {
            let b = LOWEST + width * f64::from(index);
            let (here, left, right) = (cost(b), cost(b - step), cost(b + step));
            if here < below * (1.0 - 1e-9) {
                return Err(rejected(ln_others + log_ndtr(b)));
            }
            bounds.push((right - below).max(here - below_left));
            (below, below_left) = (here, left);
        }
        Ok(Self { bounds, width, step })
    }

    /// The bounds at the distances 0, 1, ... of votes with this z.
    pub(super) fn local(&self, z: f64, local: &mut [f64]) {
        let last = self.bounds.len() - 1;
        let cell = |z: f64| ((z - LOWEST) / self.width).clamp(0.0, last as f64) as usize;
        // One more cell on either side for rounding errors.
        let (mut low, mut high) = (cell(z).saturating_sub(1), (cell(z) + 1).min(last));
        let mut most = self.bounds[low..=high].iter().copied().fold(0.0, f64::max);
        for (d, value) in local.iter_mut().enumerate() {
            let reach = d as f64 * self.step;
            let (first, end) = (cell(z - reach).saturating_sub(1), (cell(z + reach) + 1).min(last));
            while low > first {
                low -= 1;
                most = most.max(self.bounds[low]);
            }
            while high < end {
                high += 1;
                most = most.max(self.bounds[high]);
            }
            *value = most;
        }
        // All histograms are within the last distance of all others, so its bound must be the same for all: with less,
        // the maximum of e^{-βd} L_d would not be β-smooth if there are few votes.
        if let Some(last) = local.last_mut() {
            *last = self.bounds.iter().copied().fold(0.0, f64::max);
        }
    }
}
