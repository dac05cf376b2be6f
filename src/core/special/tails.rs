//! The tails of the normal distribution, written so that loops over them are vectorized.

use super::exp::exp_in_loops;
use errorfunctions::RealErrorFunctions;
use std::f64::consts::{FRAC_1_SQRT_2, PI};
use std::sync::LazyLock;

/// Terms of the series.
const TERMS: usize = 23;
/// The x at the middle of the series.
const MIDDLE: f64 = 3.0;

/// Φ(-|z|) for loops inside [`crate::vectorized`], where all arguments take the same steps.
///
/// Φ(-z) = ½ exp(-z²/2) erfcx(z/√2) for z ≥ 0, and (1 + 2x) erfcx(x) is a polynomial in t = (x - 3)/(x + 3) in [-1, 1]:
/// that which agrees with it at the Chebyshev points, to 1e-15.
///
/// # References
/// Shepherd and Laframboise (1981).
#[derive(Debug)]
pub struct NormalTails {
    /// From the highest power to the constant.
    coefficients: [f64; TERMS],
}

static TAILS: LazyLock<NormalTails> = LazyLock::new(NormalTails::new);

impl NormalTails {
    /// The polynomial, computed once.
    pub fn get() -> &'static Self {
        &TAILS
    }

    fn new() -> Self {
        let angles: [f64; TERMS] = std::array::from_fn(|k| PI * (k as f64 + 0.5) / TERMS as f64);
        let values = angles.map(|angle| {
            let x = MIDDLE / (0.5 * angle).tan().powi(2);
            (1.0 + 2.0 * x) * x.erfcx()
        });
        let mut powers = [0.0; TERMS];
        // Chebyshev polynomials by their recurrence, as coefficients of powers.
        let (mut before, mut polynomial) = ([0.0; TERMS], [0.0; TERMS]);
        polynomial[0] = 1.0;
        for degree in 0..TERMS {
            let terms = values.iter().zip(&angles).map(|(value, angle)| value * (degree as f64 * angle).cos());
            let share = terms.sum::<f64>() * if degree == 0 { 1.0 } else { 2.0 } / TERMS as f64;
            powers.iter_mut().zip(&polynomial).for_each(|(power, term)| *power += share * term);
            let factor = if degree == 0 { 1.0 } else { 2.0 };
            let next = std::array::from_fn(|i| if i == 0 { 0.0 } else { factor * polynomial[i - 1] } - before[i]);
            (before, polynomial) = (polynomial, next);
        }
        powers.reverse();
        Self { coefficients: powers }
    }

    /// Φ(-|z|), relative error below 1e-14 for |z| ≤ 37; beyond, at most e^-708.
    #[inline(always)]
    pub fn smaller(&self, z: f64) -> f64 {
        let z = z.abs();
        let x = z * FRAC_1_SQRT_2;
        let t = (x - MIDDLE) / (x + MIDDLE);
        let mut sum = self.coefficients[0];
        for coefficient in &self.coefficients[1..] {
            sum = sum.mul_add(t, *coefficient);
        }
        // The rounding error of z² matters if z² is large.
        let square = z * z;
        let error = z.mul_add(z, -square);
        let density = exp_in_loops(-0.5 * square);
        (-0.5 * error).mul_add(density, density) * 0.5 * sum / (1.0 + 2.0 * x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::ndtr;

    #[test]
    fn tails_are_those_of_the_distribution() {
        let tails = NormalTails::get();
        let mut worst = 0.0f64;
        for step in -370_000..=370_000i32 {
            let z = f64::from(step) * [1e-4, 1e-6, 1e-9][step.rem_euclid(3) as usize];
            let error = (tails.smaller(z) / ndtr(-z.abs()) - 1.0).abs();
            worst = worst.max(error);
            assert!(error < 1e-14, "{z}: {error:e}");
        }
        println!("worst relative difference {worst:e}");
        assert_eq!(tails.smaller(0.0), tails.smaller(-0.0));
        assert!(tails.smaller(1e100) < 1e-307);
    }
}
