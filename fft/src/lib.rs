//! Discrete Fourier transforms in double precision, by rustfft.
//!
//! rustfft is generic over numbers, so each crate that plans a transform compiles all its kernels, for every
//! instruction set. They are compiled here, once, alongside the other dependencies of leakbound.
//!
//! ```
//! use leakbound_fft::{Complex, Planner};
//!
//! let mut values: Vec<_> = [1.0, 2.0, 3.0, 4.0].map(|x| Complex::new(x, 0.0)).into();
//! Planner::new().forward(4).process(&mut values);
//! assert_eq!(values[0], Complex::new(10.0, 0.0));
//! ```

pub use rustfft::num_complex::Complex;

use rustfft::{Fft, FftPlanner};
use std::sync::Arc;

/// Plans transforms, and keeps the roots of unity of the lengths that it has seen.
pub struct Planner(FftPlanner<f64>);

impl Planner {
    /// A planner that has seen no length yet.
    #[must_use]
    pub fn new() -> Self {
        Self(FftPlanner::new())
    }

    /// The transform `Σ_n x_n e^(-2πi kn / points)`.
    pub fn forward(&mut self, points: usize) -> Transform {
        Transform(self.0.plan_fft_forward(points))
    }

    /// The transform `Σ_n x_n e^(2πi kn / points)`, which is `points` times the inverse of the other.
    pub fn inverse(&mut self, points: usize) -> Transform {
        Transform(self.0.plan_fft_inverse(points))
    }
}

impl Default for Planner {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Planner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Planner")
    }
}

/// A transform of a known length.
#[derive(Clone)]
pub struct Transform(Arc<dyn Fft<f64>>);

impl Transform {
    /// Transforms values in place.
    ///
    /// # Panics
    /// If the number of values is not a multiple of the planned one.
    pub fn process(&self, values: &mut [Complex<f64>]) {
        self.0.process(values);
    }

    /// Transforms values in place, with memory that is used again from call to call.
    ///
    /// # Panics
    /// If the number of values is not a multiple of the planned one.
    pub fn process_with(&self, values: &mut [Complex<f64>], scratch: &mut Vec<Complex<f64>>) {
        scratch.resize(self.0.get_inplace_scratch_len(), Complex::new(0.0, 0.0));
        self.0.process_with_scratch(values, scratch);
    }
}

impl std::fmt::Debug for Transform {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Transform of {} values", self.0.len())
    }
}
