//! The standard normal distribution and its tails, accurate where the plain formulas underflow or cancel.
//!
//! Below z = -1 every tail is written with the scaled complement erfcx(x) = exp(x²) erfc(x), which never underflows,
//! and exp(-z²/2) takes the rounding error of z² into account; both follow Johnson (Faddeeva package, 2012).

use errorfunctions::RealErrorFunctions;
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// ln √(2π).
pub const LN_SQRT_2PI: f64 = 0.918_938_533_204_672_741_780_329_736_405_617_639_861_4;
/// √(2/π).
const SQRT_2_OVER_PI: f64 = 0.797_884_560_802_865_355_879_892_119_868_763_736_951_7;

/// erfc(x) = 1 - erf(x).
#[must_use]
pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

/// ln erfc(x), finite for every finite x.
///
/// ```
/// # use leakbound::special::log_erfc;
/// assert!((log_erfc(30.0) + 903.974_117_110_643_9).abs() < 1e-12);
/// ```
#[must_use]
pub fn log_erfc(x: f64) -> f64 {
    if x > 0.5 { -x * x + x.erfcx().ln() } else { libm::log1p(-libm::erf(x)) }
}

/// z² as a rounded value and its rounding error.
fn square(z: f64) -> (f64, f64) {
    let squared = z * z;
    (squared, z.mul_add(z, -squared))
}

/// Φ(z) for z < -1.
fn lower_tail(z: f64) -> f64 {
    if z < -39.0 {
        return 0.0; // below the smallest subnormal
    }
    let (squared, error) = square(z);
    0.5 * (-z * FRAC_1_SQRT_2).erfcx() * libm::exp(-0.5 * squared) * (1.0 - 0.5 * error)
}

/// Φ(z) = P(N(0,1) ≤ z), relative error below 1e-15 even in the lower tail.
///
/// ```
/// # use leakbound::special::ndtr;
/// assert_eq!(ndtr(0.0), 0.5);
/// assert!((ndtr(-10.0) / 7.619_853_024_160_526e-24 - 1.0).abs() < 1e-14);
/// ```
#[must_use]
pub fn ndtr(z: f64) -> f64 {
    if z < -1.0 { lower_tail(z) } else { 0.5 * libm::erfc(-z * FRAC_1_SQRT_2) }
}

/// 1 - Φ(z), accurate in the upper tail.
#[must_use]
pub fn ndtr_complement(z: f64) -> f64 {
    ndtr(-z)
}

/// ln Φ(z), finite for every finite z whose square is finite.
///
/// ```
/// # use leakbound::special::log_ndtr;
/// assert!((log_ndtr(-100.0) + 5005.524_208_694_205).abs() < 1e-11);
/// ```
#[must_use]
pub fn log_ndtr(z: f64) -> f64 {
    if z < -1.0 {
        if z < -1e150 {
            return -0.5 * z * z; // the correction is below the last digit
        }
        let (squared, error) = square(z);
        (0.5 * (-z * FRAC_1_SQRT_2).erfcx()).ln() - 0.5 * error - 0.5 * squared
    } else {
        libm::log1p(-ndtr_complement(z))
    }
}

/// ln φ(z).
pub fn log_normal_density(z: f64) -> f64 {
    -0.5 * z * z - LN_SQRT_2PI
}

/// Φ(z)/φ(z), for z < 5 without overflow or underflow.
pub fn normal_tail_ratio(z: f64) -> f64 {
    (-z * FRAC_1_SQRT_2).erfcx() / SQRT_2_OVER_PI
}

/// φ(z)/Φ(z), the derivative of ln Φ.
fn mills_ratio(z: f64) -> f64 {
    if z < 5.0 { SQRT_2_OVER_PI / (-z * FRAC_1_SQRT_2).erfcx() } else { libm::exp(-0.5 * z * z - LN_SQRT_2PI) }
}

/// Φ⁻¹(p) for p in [0, 1]; infinite at the ends, NaN outside.
///
/// The quantile is computed on the smaller tail (statrs), followed by one Newton step with this crate's Φ.
///
/// ```
/// # use leakbound::special::ndtri;
/// assert!((ndtri(0.05) + 1.644_853_626_951_472_7).abs() < 1e-15);
/// ```
#[must_use]
pub fn ndtri(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if p > 0.5 {
        return -ndtri(1.0 - p);
    }
    if p == 0.0 {
        return f64::NEG_INFINITY;
    }
    let z = -SQRT_2 * statrs::function::erf::erfc_inv(2.0 * p);
    // p/Φ(z) - 1 is small, so the ratio of densities turns it into the step.
    let tail = ndtr(z);
    if tail > 0.0 { z - (tail - p) / tail / mills_ratio(z) } else { z }
}

/// z with ln Φ(z) = `log_p`, for `log_p` ≤ 0: the quantile of a probability that may underflow.
///
/// Newton's method on the concave ln Φ, which never overshoots from the left.
///
/// ```
/// # use leakbound::special::{log_ndtr, ndtri_exp};
/// assert!((log_ndtr(ndtri_exp(-1e6)) + 1e6).abs() < 1e-9);
/// ```
#[must_use]
pub fn ndtri_exp(log_p: f64) -> f64 {
    if log_p > 0.0 || log_p.is_nan() {
        return f64::NAN;
    }
    if log_p > -0.5 {
        return -ndtri(-libm::expm1(log_p));
    }
    if log_p > -30.0 {
        let z = ndtri(libm::exp(log_p));
        return z - (log_ndtr(z) - log_p) / mills_ratio(z);
    }
    if log_p == f64::NEG_INFINITY {
        return log_p;
    }
    // Φ(z) < exp(-z²/2), so -sqrt(-2 ln p) is left of the root.
    let mut z = -(-2.0 * log_p).sqrt();
    for _ in 0..8 {
        z -= (log_ndtr(z) - log_p) / mills_ratio(z);
    }
    z
}
