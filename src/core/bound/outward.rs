//! Outward rounding: the one place for the steps that move published bounds to their safe side.
//!
//! There are two kinds. A sum, product or quotient of two doubles has an exactly known rounding error, so it is moved
//! by one double only if it was rounded to the wrong side: 2·3/4 stays 1.5, and exact results stay exact. Everything
//! else is moved by a share that its author has derived: [`up`] in units of 2^-52.
//!
//! Unless stated otherwise, arguments are at least 0. Infinities and NaN are passed through.

/// Below this, no double holds the rounding error of a product, so the product is always moved.
const EXACT: f64 = 1e-270;

/// x ≥ 0 and `units` times 2^-52 of it, and one double further, so 0 and the subnormal numbers also move.
pub fn up(x: f64, units: f64) -> f64 {
    if x < f64::INFINITY { (x + x * (units * f64::EPSILON)).next_up() } else { x }
}

/// ln p of a probability p that is known to `units` times 2^-52 of 1 + |ln p|, moved up, at most 0.
pub fn log_probability_up(ln: f64, units: f64) -> f64 {
    if ln == f64::NEG_INFINITY { ln } else { (ln + units * f64::EPSILON * (1.0 + ln.abs())).min(0.0) }
}

/// a + b of any signs, rounded up.
pub fn sum_up(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    // The rounding error of the sum, exactly (Knuth).
    let of_b = sum - a;
    let lost = (a - (sum - of_b)) + (b - of_b);
    if lost > 0.0 { sum.next_up() } else { sum }
}

/// a b, rounded up.
pub fn product_up(a: f64, b: f64) -> f64 {
    let product = a * b;
    if a == 0.0 || b == 0.0 || !product.is_finite() {
        return product;
    }
    if product < EXACT || a.mul_add(b, -product) > 0.0 { product.next_up() } else { product }
}

/// a b, rounded down; the largest double where it overflows.
pub fn product_down(a: f64, b: f64) -> f64 {
    let product = a * b;
    if a == 0.0 || b == 0.0 || product.is_nan() {
        return product;
    }
    if product == f64::INFINITY {
        return if a == f64::INFINITY || b == f64::INFINITY { product } else { f64::MAX };
    }
    if product < EXACT || a.mul_add(b, -product) < 0.0 { product.next_down().max(0.0) } else { product }
}

/// a/b for b > 0, rounded up.
pub fn quotient_up(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    if a == 0.0 || !quotient.is_finite() {
        return quotient;
    }
    if a < EXACT || !(quotient.mul_add(b, -a) >= 0.0) { quotient.next_up() } else { quotient }
}

/// a/s², rounded up: computed from s² rounded down, which keeps short decimals, unless s² is tiny or huge.
pub fn over_square_up(a: f64, s: f64) -> f64 {
    let square = product_down(s, s);
    if (1e-250..1e250).contains(&square) { quotient_up(a, square) } else { quotient_up(quotient_up(a, s), s) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn exact_results_stay() {
        assert_eq!([product_up(1.5, 4.0), quotient_up(9.0, 2.0), sum_up(0.25, 1.0)], [6.0, 4.5, 1.25]);
        assert_eq!(over_square_up(16.0, 40.0), 0.01);
        assert_eq!([product_up(0.0, 7.0), quotient_up(0.0, 7.0), sum_up(0.5, -0.5)], [0.0; 3]);
    }

    #[test]
    fn tenths_go_up() {
        // 0.1 + 0.2 is above 0.3, and the doubles 0.1 and 0.2 add up to less than the double 0.30000000000000004.
        assert_eq!(sum_up(0.1, 0.2), 0.300_000_000_000_000_04);
        assert!(quotient_up(1.0, 3.0) > 1.0 / 3.0 && quotient_up(1.0, 10.0) == 0.1);
        assert!(product_down(0.1, 0.1) < 0.1 * 0.1);
    }

    #[test]
    fn nothing_vanishes_or_becomes_a_wrong_infinity() {
        assert!(product_up(1e-300, 1e-300) > 0.0 && quotient_up(1e-300, 1e300) > 0.0 && up(0.0, 4.0) > 0.0);
        assert_eq!([product_down(1e300, 1e300), product_up(1e300, 1e300)], [f64::MAX, f64::INFINITY]);
        assert!(over_square_up(1.0, 1e200) > 0.0 && over_square_up(1.0, 1e-200) == f64::INFINITY);
        assert_eq!(log_probability_up(-1e-300, 4.0), 0.0);
        assert!(up(f64::NAN, 1.0).is_nan() && sum_up(f64::INFINITY, f64::NEG_INFINITY).is_nan());
    }

    proptest! {
        /// Integers below 2^26 have exact products, so a quotient can be checked without rounding.
        #[test]
        fn quotients_are_the_next_double(a in 1u32..1 << 26, b in 1u32..1 << 26) {
            let (a, b) = (f64::from(a), f64::from(b));
            let found = quotient_up(a, b);
            // found ≥ a/b > the double before, by exact residuals.
            prop_assert!(found.mul_add(b, -a) >= 0.0 && found.next_down().mul_add(b, -a) < 0.0);
        }
    }
}
