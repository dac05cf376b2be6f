//! Exponential and logarithm without their linear terms: both vanish to second order, and the plain differences would
//! lose all digits.

/// Terms of the series of e^z - 1 - z: for |z| ≤ 1/2 the next is below 1e-19 of the first.
const TERMS: i32 = 17;

/// e^z - 1 - z ≥ 0, relative error below 8 units of 2^-52; infinite where e^z is.
pub fn exp_remainder(z: f64) -> f64 {
    if z.abs() > 0.5 {
        return libm::expm1(z) - z;
    }
    // z²/2 (1 + z/3 (1 + z/4 (...))).
    let sum = (3..TERMS).rev().fold(1.0, |sum, k| 1.0 + sum * z / f64::from(k));
    0.5 * z * z * sum
}

/// -ln(1 - z) - z ≥ 0 for z in [0, 1], relative error below 8 units of 2^-52; infinite at 1.
pub fn log_remainder(z: f64) -> f64 {
    if z > 0.5 {
        return -libm::log1p(-z) - z;
    }
    // -ln(1 - z) = 2 atanh(s), s = z/(2 - z) ≤ 1/3, and 2s - z = z s.
    let s = z / (2.0 - z);
    let square = s * s;
    let sum = (1..=18).rev().fold(0.0, |sum, k| square * (1.0 / f64::from(2 * k + 1) + sum));
    s * (z + 2.0 * sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compared with the plain differences where these have twelve digits, and otherwise with the first terms.
    #[test]
    fn remainders_are_what_the_functions_leave() {
        for z in [-30.0f64, -2.0, -0.6, -0.5, -0.3, -0.1, 0.1, 0.3, 0.5, 0.6, 1.0, 30.0] {
            let plain = libm::expm1(z) - z;
            assert!((exp_remainder(z) / plain - 1.0).abs() < 1e-13, "{z}");
        }
        for z in [0.1f64, 0.3, 0.5, 0.500_001, 0.9, 1.0 - 1e-12] {
            let plain = -libm::log1p(-z) - z;
            assert!((log_remainder(z) / plain - 1.0).abs() < 1e-13, "{z}");
        }
        for z in [1e-3f64, 1e-6, 1e-100] {
            let exp = |z: f64| 0.5 * z * z * (1.0 + z / 3.0 + z * z / 12.0 + z * z * z / 60.0);
            assert!(
                (exp_remainder(z) / exp(z) - 1.0).abs() < 1e-14 && (exp_remainder(-z) / exp(-z) - 1.0).abs() < 1e-14
            );
            let log = 0.5 * z * z * (1.0 + 2.0 * z / 3.0 + 0.5 * z * z + 0.4 * z * z * z);
            assert!((log_remainder(z) / log - 1.0).abs() < 1e-12, "{z}");
        }
        assert_eq!([exp_remainder(0.0), log_remainder(0.0), log_remainder(1.0)], [0.0, 0.0, f64::INFINITY]);
    }
}
