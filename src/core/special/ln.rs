//! The logarithm, written so that loops over it are vectorized; for loops inside [`crate::vectorized`].

/// ln 2 in two parts, the first ending in zeros.
const LN_2: [f64; 2] = [0.693_147_180_369_123_816_490, 1.908_214_929_270_587_700_02e-10];
/// 2^52, whose last bits count ones.
const COUNT: f64 = 4_503_599_627_370_496.0;
const MANTISSA: u64 = (1 << 52) - 1;
/// 2/23 to 2/3: the series of ln((1+f)/(1-f))/f - 2 in f², whose next term is below 1e-18 for f ≤ 0.172.
const SERIES: [f64; 11] = [
    2.0 / 23.0,
    2.0 / 21.0,
    2.0 / 19.0,
    2.0 / 17.0,
    2.0 / 15.0,
    2.0 / 13.0,
    2.0 / 11.0,
    2.0 / 9.0,
    2.0 / 7.0,
    2.0 / 5.0,
    2.0 / 3.0,
];

/// ln x for positive normal x, relative error below 4e-16.
#[inline(always)]
pub fn ln_in_loops(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = f64::from_bits((bits >> 52) | COUNT.to_bits()) - COUNT - 1023.0;
    let mantissa = f64::from_bits((bits & MANTISSA) | 1f64.to_bits());
    // x = 2^k m with m in [√½, √2).
    let large = mantissa > std::f64::consts::SQRT_2;
    let m = if large { 0.5 * mantissa } else { mantissa };
    let k = if large { exponent + 1.0 } else { exponent };
    let less_one = m - 1.0;
    let f = less_one / (m + 1.0);
    let square = f * f;
    let mut sum = SERIES[0];
    for term in &SERIES[1..] {
        sum = sum.mul_add(square, *term);
    }
    // 2f = (m-1) - (m-1) f: the rounded part is small compared with the exact one.
    let small = f.mul_add(square.mul_add(sum, -less_one), k * LN_2[1]);
    k.mul_add(LN_2[0], less_one + small)
}

/// ln(1 + x) for finite x > -1, relative error below 1e-15; NaN for infinite x and NaN.
#[inline(always)]
pub fn ln_of_one_plus_in_loops(x: f64) -> f64 {
    let sum = 1.0 + x;
    // The part of 1 + x lost in rounding; x is the larger of the two from 1 on.
    let lost = if x > 1.0 { 1.0 - (sum - x) } else { x - (sum - 1.0) };
    ln_in_loops(sum) + lost / sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_those_of_libm() {
        let mut worst = [0.0f64; 2];
        for step in -300_000..=300_000i32 {
            let x = libm::exp(f64::from(step) * [2.3e-3, 1e-5, 1e-9][step.rem_euclid(3) as usize]);
            let (ln, of_more) = (ln_in_loops(x), ln_of_one_plus_in_loops(x));
            worst[0] = worst[0].max((ln - libm::log(x)).abs() / libm::log(x).abs().max(1e-300));
            worst[1] = worst[1].max((of_more / libm::log1p(x) - 1.0).abs());
            if x < 1.0 {
                worst[1] = worst[1].max((ln_of_one_plus_in_loops(-x) / libm::log1p(-x) - 1.0).abs());
            }
        }
        println!("worst relative differences {worst:?}");
        assert!(worst[0] < 5e-16 && worst[1] < 1e-15, "{worst:?}");
        assert_eq!((ln_in_loops(1.0), ln_of_one_plus_in_loops(0.0)), (0.0, 0.0));
        assert_eq!(ln_of_one_plus_in_loops(1e-20), 1e-20);
        assert!(ln_of_one_plus_in_loops(f64::INFINITY).is_nan() && ln_of_one_plus_in_loops(f64::NAN).is_nan());
    }
}
