//! The exponential function, written so that loops over it are vectorized.
//!
//! For loops inside [`crate::vectorized`]: products are fused into sums, which is one instruction there and a separate
//! call on the oldest machines. The values are the same on all machines.

/// 3/2 · 2^52: adding it leaves the nearest whole number in the lowest bits.
const SHIFT: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts, the first ending in zeros.
const LN_2: [f64; 2] = [0.693_147_180_369_123_816_490, 1.908_214_929_270_587_700_02e-10];
/// Beyond ±708, powers of two leave the normal numbers.
const LIMIT: f64 = 708.0;
/// 1/12! to 1/2!.
const INVERSE_FACTORIALS: [f64; 11] = [
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    1.0 / 2.0,
];

/// e^r - 1 and 2^k of e^x = 2^k e^r, for |x| ≤ 708.
#[inline(always)]
fn parts(x: f64) -> (f64, f64) {
    let x = x.clamp(-LIMIT, LIMIT);
    let shifted = x.mul_add(std::f64::consts::LOG2_E, SHIFT);
    let k = shifted - SHIFT;
    let r = k.mul_add(-LN_2[1], k.mul_add(-LN_2[0], x));
    // Σ r^j/j! to j = 13: |r| ≤ 0.35 leaves 1e-17.
    let mut tail: f64 = 1.0 / 6_227_020_800.0;
    for divisor in INVERSE_FACTORIALS {
        tail = tail.mul_add(r, divisor);
    }
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    ((r * r).mul_add(tail, r), power)
}

/// e^x for |x| ≤ 708 and e^±708 beyond, relative error below 4e-16.
#[inline(always)]
pub fn exp_in_loops(x: f64) -> f64 {
    let (less_one, power) = parts(x);
    power.mul_add(less_one, power)
}

/// e^x - 1 for |x| ≤ 708, relative error below 2e-15, and -1 below: in a fraction of the time of calls of `expm1`.
#[inline(always)]
pub fn exp_less_one_in_loops(x: f64) -> f64 {
    let (less_one, power) = parts(x);
    power.mul_add(less_one, power - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_those_of_libm() {
        let mut worst = [0.0f64; 2];
        for step in -420_000..=420_000i32 {
            let scale = [0.005_05, 1e-6, 1e-12][step.rem_euclid(3) as usize];
            let x = scale * f64::from(step / 3);
            let (exp, less_one) = (exp_in_loops(x) / libm::exp(x), exp_less_one_in_loops(x));
            let error = (less_one - libm::expm1(x)).abs();
            assert!((exp - 1.0).abs() <= 2.0 * f64::EPSILON, "{x}: {exp}");
            assert!(error <= 2e-15 * libm::expm1(x).abs(), "{x}: {less_one}");
            worst = [worst[0].max((exp - 1.0).abs()), worst[1].max(error / libm::expm1(x).abs())];
        }
        println!("worst relative differences {worst:?}");
        assert_eq!((exp_in_loops(0.0), exp_less_one_in_loops(0.0)), (1.0, 0.0));
        assert_eq!(exp_less_one_in_loops(-1e9), -1.0);
        assert!(exp_in_loops(f64::NEG_INFINITY) < 4e-308 && exp_in_loops(f64::INFINITY).is_finite());
    }
}
