//! The inverse of the binomial tail in its success probability, on which Clopper-Pearson limits are based.
//!
//! P(Bin(n, x) ≥ k) = I_x(k, n-k+1) = pmf(k) (1-x) h(x), with the point probability by saddle point and h the
//! continued fraction DLMF 8.17.22. ln I is concave and increasing in ln x with derivative k/((1-x) h), so Newton's
//! method never overshoots from the left and falls left of the root from the right: it converges from anywhere.

use super::binomial::{Odds, log_pmf_inner};
use super::normal::ndtri;
use crate::error::{Error, Result};

/// Terms of the continued fraction before it is considered not to converge; it is slowest at n = 2^53 and one half,
/// where a whole limit takes 7 ms.
const MAX_TERMS: u32 = 1 << 22;
/// Newton steps before the root is considered not found; quadratic convergence needs a handful.
const MAX_STEPS: usize = 200;

/// x with P(Bin(n, x) ≥ k) = f, as (x, 1 - x), for 2 ≤ k ≤ n - 1 and 0 < f ≤ 1/2.
///
/// The smaller of the two is the accurate one: relative error about 4e-15.
///
/// # Errors
/// [`Error::NoConvergence`] if an iteration limit is reached.
pub fn binomial_tail_root(k: u64, n: u64, f: f64) -> Result<(f64, f64)> {
    let target = f.ln();
    let successes = k as f64;
    let mut success_is_exact = k <= n / 2;
    let mut exact = wilson_start(k, n, f, success_is_exact);
    // Newton's error after a step δ is about √k δ²/2, so this step leaves less than a rounding error.
    let tolerance = 1e-8 / (k.min(n - k) as f64).powf(0.25);
    let mut step = f64::INFINITY;
    for _ in 0..MAX_STEPS {
        // The root may lie on the other side of one half from k/n: the smaller of x and 1 - x must be the exact one.
        if exact > 0.6 {
            (exact, success_is_exact) = (1.0 - exact, !success_is_exact);
        }
        let odds = Odds::new(exact, success_is_exact);
        let fraction = tail_fraction(k, n, odds)?;
        let log_tail = log_pmf_inner(k, n, odds) + (odds.failure * fraction).ln();
        // Newton in ln x, by at most a factor e² per step so that a poor start stays in the domain.
        step = ((target - log_tail) * odds.failure * fraction / successes).clamp(-2.0, 2.0);
        let next = if success_is_exact {
            (odds.success * libm::exp(step)).min(0.5 * (odds.success + 1.0))
        } else {
            (odds.failure - odds.success * libm::expm1(step)).max(0.5 * odds.failure)
        };
        let change = (next - exact).abs();
        exact = next;
        if change <= tolerance * exact && exact <= 0.6 {
            let odds = Odds::new(exact, success_is_exact);
            return Ok((odds.success, odds.failure));
        }
    }
    Err(Error::no_convergence("Clopper-Pearson limit", step.abs(), tolerance, MAX_STEPS))
}

/// Wilson's lower limit as a start, kept left of k/n, where the continued fraction converges fast.
fn wilson_start(k: u64, n: u64, f: f64, success_is_exact: bool) -> f64 {
    let (successes, failures, trials) = (k as f64, (n - k) as f64, n as f64);
    let z = -ndtri(f);
    let spread = z * (successes / trials * failures + 0.25 * z * z).sqrt();
    let scale = trials + z * z;
    if success_is_exact {
        // The cancellation-free form of (k + z²/2 - spread)/(n + z²).
        let lower = successes * successes / trials / (successes + 0.5 * z * z + spread);
        lower.clamp(f64::MIN_POSITIVE, successes / (trials + 1.0))
    } else {
        ((failures + 0.5 * z * z + spread) / scale).clamp((failures + 1.0) / (trials + 1.0), 0.999)
    }
}

/// The continued fraction h of I_x(a, b) = x^a (1-x)^b/(a B(a, b)) h, a = k, b = n-k+1, for x ≤ a/(a+b).
///
/// The even part of DLMF 8.17.22: h = 1/(β₀ + α₁/(β₁ + α₂/(β₂ + ...))) with s = a+2m and
/// ```text
/// β_m = [s (1+2m) - m² + (a+m) (λ + m(1-x))]/(s (s+1)) + m (b-m) x/(s (s-1)),   λ = a - (a+b) x,
/// α_m = m (b-m) (a+m-1) (a+b+m-1) x²/((s-2) (s-1)² s).
/// ```
/// Written with λ (Didonato and Morris 1992) no term cancels, whether x or 1-x is tiny, and all are positive up to
/// m = b, where the fraction ends: convergents enclose the value, so their distance bounds the error.
fn tail_fraction(k: u64, n: u64, odds: Odds) -> Result<f64> {
    beta_fraction(k as f64, (n - k + 1) as f64, odds, MAX_TERMS)
}

/// The same for any a, b > 0. If b is not a whole number, the fraction does not end, and the terms beyond m = b are
/// negative; it still converges, slowly for x close to 1.
pub(super) fn beta_fraction(a: f64, b: f64, odds: Odds, max_terms: u32) -> Result<f64> {
    let both = a + b;
    let (x, y) = (odds.success, odds.failure);
    let lambda = if odds.success_is_exact { x.mul_add(-both, a) } else { y.mul_add(both, -b) };
    let mut upper = 1.0 / ((1.0 + lambda) / (a + 1.0));
    let mut lower = 0.0;
    // Modified Lentz: ratios of successive numerators and denominators of the convergents.
    let mut h = upper;
    let mut change = f64::INFINITY;
    for term in 1..max_terms {
        let m = f64::from(term);
        let s = a + 2.0 * m;
        let alpha =
            m * (b - m) / ((s - 1.0) * (s - 1.0)) * ((a + m - 1.0) / (s - 2.0)) * ((both + m - 1.0) / s) * x * x;
        if alpha == 0.0 {
            return Ok(h); // m = b: the fraction ends
        }
        let beta = (s * (1.0 + 2.0 * m) - m * m + (a + m) * (lambda + m * y)) / (s * (s + 1.0))
            + m * (b - m) * x / (s * (s - 1.0));
        // `upper` is B_{m-1}/B_m and `lower` A_{m-1}/A_m in Lentz's notation for h = A/B.
        upper = 1.0 / (beta + alpha * upper);
        lower = if term == 1 { 1.0 / beta } else { 1.0 / (beta + alpha * lower) };
        let ratio = upper / lower;
        h *= ratio;
        change = (ratio - 1.0).abs();
        if change <= 0.5 * f64::EPSILON {
            return Ok(h);
        }
    }
    Err(Error::no_convergence("incomplete beta function", change, 0.5 * f64::EPSILON, max_terms as usize))
}

/// (P(Bin(n, p) ≥ k), P(Bin(n, p) < k)): the smaller of the two with a relative error of about 1e-14, the other as its
/// complement. NaN if p is not in [0, 1].
///
/// # Errors
/// [`Error::NoConvergence`] if an iteration limit is reached, only for n near 2^53.
pub fn binomial_tails(k: u64, n: u64, p: f64) -> Result<(f64, f64)> {
    if !(0.0..=1.0).contains(&p) {
        return Ok((f64::NAN, f64::NAN));
    }
    if k == 0 {
        return Ok((1.0, 0.0));
    }
    if k > n || p == 0.0 {
        return Ok((0.0, 1.0));
    }
    if p == 1.0 {
        return Ok((1.0, 0.0));
    }
    // The continued fraction converges fast on the side of the mean where the tail is small.
    if p * (n as f64 + 1.0) <= k as f64 {
        let upper = small_tail(k, n, Odds::new(p, true))?;
        Ok((upper, 1.0 - upper))
    } else {
        let lower = small_tail(n - k + 1, n, Odds::new(p, false))?;
        Ok((1.0 - lower, lower))
    }
}

/// P(Bin(n, x) ≥ k) for 1 ≤ k ≤ n, 0 < x < 1 and x ≤ k/(n+1).
fn small_tail(k: u64, n: u64, odds: Odds) -> Result<f64> {
    if k == n {
        let ln = if odds.success_is_exact { odds.success.ln() } else { libm::log1p(-odds.failure) };
        return Ok(libm::exp(n as f64 * ln));
    }
    Ok(libm::exp(log_pmf_inner(k, n, odds)) * odds.failure * tail_fraction(k, n, odds)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both tails against the sum of the point probabilities, on both sides of the mean and at the ends.
    #[test]
    fn tails_are_sums_of_point_probabilities() {
        let pmf = |j, n, p| super::super::log_binomial_pmf(j, n, p).exp();
        for n in [1u64, 2, 7, 40, 300] {
            for p in [1e-9, 0.03, 0.2, 0.5, 0.77, 1.0 - 1e-6] {
                for k in 0..=n + 1 {
                    let (upper, lower) = binomial_tails(k, n, p).unwrap();
                    let (sum_upper, sum_lower): (f64, f64) =
                        ((k..=n).map(|j| pmf(j, n, p)).sum(), (0..k).map(|j| pmf(j, n, p)).sum());
                    let small = if sum_upper < sum_lower { (upper, sum_upper) } else { (lower, sum_lower) };
                    assert!((small.0 - small.1).abs() <= 2e-13 * small.1 + 1e-305, "{k} {n} {p}: {small:?}");
                    assert!((upper + lower - 1.0).abs() < 1e-15, "{k} {n} {p}");
                }
            }
        }
        assert_eq!(binomial_tails(3, 10, 0.0).unwrap(), (0.0, 1.0));
        assert_eq!(binomial_tails(3, 10, 1.0).unwrap(), (1.0, 0.0));
        assert!(binomial_tails(3, 10, f64::NAN).unwrap().0.is_nan());
    }

    #[test]
    fn the_root_reproduces_the_tail_summed_term_by_term() {
        for (k, n, f) in [(3, 10, 0.05), (9, 10, 1e-6), (2, 40, 0.5), (20, 40, 0.01)] {
            let (x, _) = binomial_tail_root(k, n, f).unwrap();
            let tail: f64 = (k..=n).map(|j| super::super::log_binomial_pmf(j, n, x).exp()).sum();
            assert!((tail / f - 1.0).abs() < 1e-13, "{k} {n} {f}: {tail}");
        }
    }
}
