//! Binomial point probabilities by the saddle-point form of Loader (2000), "Fast and accurate computation of binomial
//! probabilities": never a difference of log-gammas.

use super::normal::LN_SQRT_2PI;

/// ln(n!) minus Stirling's ½ ln(2πn) + n ln n - n, for n = 0 to 15; entry 0 is unused.
#[rustfmt::skip]
const STIRLING_ERROR: [f64; 16] = [
    0.0,
    0.081_061_466_795_327_258_219_67, 0.041_340_695_955_409_294_093_82, 0.027_677_925_684_998_339_148_79,
    0.020_790_672_103_765_093_111_52, 0.016_644_691_189_821_192_163_19, 0.013_876_128_823_070_747_998_75,
    0.011_896_709_945_891_770_095_06, 0.010_411_265_261_972_096_497_48, 0.009_255_462_182_712_732_917_728,
    0.008_330_563_433_362_871_256_469, 0.007_573_675_487_951_840_794_972, 0.006_942_840_107_209_529_865_664,
    0.006_408_994_188_004_207_068_440, 0.005_951_370_112_758_847_735_625, 0.005_554_733_551_962_801_371_039,
];

/// δ(n) = ln n! - [½ ln(2πn) + n ln n - n], n ≥ 1: a table, then Stirling's series.
fn stirling_error(n: u64) -> f64 {
    if n <= 15 { STIRLING_ERROR[n as usize] } else { stirling_series(n as f64) }
}

/// Stirling's series of δ(x) for real x ≥ 16.
pub(super) fn stirling_series(x: f64) -> f64 {
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    // 1/12, 1/360, 1/1260, 1/1680, 1/1188, 691/360360: the next term is below 1e-17 from n = 16 on.
    let series = 1.0 / 360.0
        - square * (1.0 / 1260.0 - square * (1.0 / 1680.0 - square * (1.0 / 1188.0 - square * 691.0 / 360_360.0)));
    inverse * (1.0 / 12.0 - square * series)
}

/// x ln(x/m) + m - x with `deviation` = x - m passed separately, so it keeps its digits when x is close to m.
pub(super) fn deviance(x: f64, m: f64, deviation: f64) -> f64 {
    let v = deviation / (x + m);
    if v.abs() >= 0.1 {
        return x * (x / m).ln() - deviation;
    }
    let square = v * v;
    let mut sum = deviation * v;
    let mut power = 2.0 * x * v;
    for odd in (3..).step_by(2) {
        power *= square;
        let next = sum + power / f64::from(odd);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

/// A success probability x with its complement 1 - x; the smaller of the two is exact.
#[derive(Debug, Clone, Copy)]
pub(super) struct Odds {
    /// x.
    pub(super) success: f64,
    /// 1 - x.
    pub(super) failure: f64,
    /// Whether `success` is the exact one.
    pub(super) success_is_exact: bool,
}

impl Odds {
    pub(super) fn new(exact: f64, success_is_exact: bool) -> Self {
        let other = 1.0 - exact;
        let (success, failure) = if success_is_exact { (exact, other) } else { (other, exact) };
        Self { success, failure, success_is_exact }
    }
}

/// ln P(Bin(n, x) = k) for 0 < x < 1 and 1 ≤ k ≤ n - 1.
pub(super) fn log_pmf_inner(k: u64, n: u64, odds: Odds) -> f64 {
    let (successes, failures, trials) = (k as f64, (n - k) as f64, n as f64);
    // k - nx, formed from the exact one of x and 1 - x.
    let deviation = if odds.success_is_exact {
        odds.success.mul_add(-trials, successes)
    } else {
        -odds.failure.mul_add(-trials, failures)
    };
    let shape = stirling_error(n) - stirling_error(k) - stirling_error(n - k);
    let deviances =
        deviance(successes, trials * odds.success, deviation) + deviance(failures, trials * odds.failure, -deviation);
    shape - deviances - LN_SQRT_2PI - 0.5 * (successes * (failures / trials)).ln()
}

/// ln P(Poi(λ) = n) for λ ≥ 0.
pub(crate) fn log_poisson_pmf(n: u64, lambda: f64) -> f64 {
    let count = n as f64;
    if n == 0 {
        -lambda
    } else if lambda == 0.0 {
        f64::NEG_INFINITY
    } else {
        -stirling_error(n) - deviance(count, lambda, count - lambda) - LN_SQRT_2PI - 0.5 * count.ln()
    }
}

/// ln of λ^x e^{-λ}/Γ(x+1) at the real point x = λ + `deviation` ≥ 16: the Poisson probabilities joined smoothly.
pub(crate) fn log_poisson_density(lambda: f64, deviation: f64) -> f64 {
    let x = lambda + deviation;
    -stirling_series(x) - deviance(x, lambda, deviation) - LN_SQRT_2PI - 0.5 * x.ln()
}

/// ln P(Bin(n, p) = k) for p in [0, 1], k ≤ n; `-inf` if the probability is 0, NaN if p is out of range.
///
/// ```
/// # use leakbound::special::log_binomial_pmf;
/// assert!((log_binomial_pmf(1, 2, 0.5) + 2f64.ln()).abs() < 1e-15);
/// ```
#[must_use]
pub fn log_binomial_pmf(k: u64, n: u64, p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if k > n {
        return f64::NEG_INFINITY;
    }
    let trials = n as f64;
    if k == 0 {
        return if n == 0 { 0.0 } else { trials * libm::log1p(-p) };
    }
    if k == n {
        return trials * p.ln();
    }
    if p == 0.0 || p == 1.0 {
        return f64::NEG_INFINITY;
    }
    log_pmf_inner(k, n, Odds::new(p, true))
}
