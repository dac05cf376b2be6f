//! How far a sum of independent variables may exceed its mean: bounds that hold for every sample size.

use crate::quantity::FailureProbability;
use crate::special::ndtri;

/// The constant of the Berry-Esseen inequality for independent summands that need not be identically distributed:
/// sup_x |P(S - E S ≤ x sd S) - Φ(x)| ≤ C Σ E|X_i - E X_i|³ / (Var S)^{3/2}.
///
/// Tyurin (2009), "New estimates of the convergence rate in the Lyapunov theorem", arXiv:0912.0726, abstract.
/// Shevtsova (2010), "An improvement of convergence rate estimates in the Lyapunov theorem", Doklady Mathematics 82,
/// 862-864, gives 0.5600, a tenth of a percent less; the constant with the openly published proof is used.
pub(crate) const BERRY_ESSEEN: f64 = 0.5606;

/// Widths are rounded up by this share, far above the rounding error of a quantile and a square root.
const MARGIN: f64 = 1e-12;

/// A t with P(S - E S ≥ t) ≤ g for a sum S of independent variables with Var S ≤ `variance` whose Lyapunov ratio
/// Σ E|X_i - E X_i|³ / (Var S)^{3/2} is at most `lyapunov`; `None` if the inequality proves nothing.
///
/// *Proof.* P(S - E S ≥ z sd S) ≤ 1 - Φ(z) + C lyapunov, which is g for 1 - Φ(z) = g - C lyapunov. For z ≥ 0, z sd S
/// grows with the variance. ∎
pub(crate) fn normal_width(failure: FailureProbability, variance: f64, lyapunov: f64) -> Option<f64> {
    // A difference that is small compared with its parts carries their rounding errors.
    let tail = failure.get() * (1.0 - 4.0 * f64::EPSILON) - BERRY_ESSEEN * lyapunov * (1.0 + MARGIN);
    // A tail above one half would give a negative width; 0 is valid as well and needs no lower limit of the variance.
    (tail > 0.0).then(|| (-ndtri(tail)).max(0.0) * variance.sqrt() * (1.0 + MARGIN))
}

/// A t with P(S - E S ≥ t) ≤ g for a sum S of independent variables with Var S ≤ `variance` and every
/// X_i - E X_i ≤ `reach`: Bennett's inequality P ≤ exp(-(V/b²) h(b t/V)), h(u) = (1 + u) ln(1 + u) - u.
///
/// *Proof.* With φ(x) = (e^x - 1 - x)/x² increasing, E e^{λX} ≤ 1 + λ²E X² φ(λb) ≤ exp(E X² (e^{λb} - 1 - λb)/b²) for
/// each centered X ≤ b; multiply, and minimize over λ. The exponent falls with V and with b, so upper limits of both
/// suffice. ∎
///
/// # References
/// Bennett (1962), "Probability inequalities for the sum of independent random variables".
pub(crate) fn bennett_width(failure: FailureProbability, variance: f64, reach: f64) -> f64 {
    if !(variance > 0.0 && reach > 0.0) {
        return 0.0; // a sum that does not vary, or cannot exceed its mean
    }
    let y = -failure.get().ln() * (reach / variance) * reach;
    if !(y < 1e300) {
        return f64::INFINITY;
    }
    // h(u) ≥ u²/(2 + 2u/3) (Bernstein), so this start is to the right of the root of the convex h(u) = y, as is every
    // Newton step.
    let mut u = y / 3.0 + (y / 3.0).hypot((2.0 * y).sqrt());
    for _ in 0..6 {
        let next = u - (bennett_exponent(u) - y) / libm::log1p(u);
        if !(next < u && next > 0.0) {
            break;
        }
        u = next;
    }
    u * (variance / reach) * (1.0 + MARGIN)
}

/// (1 + u) ln(1 + u) - u, by its series Σ_{k≥2} (-u)^k/(k(k-1)) if the difference would cancel.
fn bennett_exponent(u: f64) -> f64 {
    if u > 0.1 {
        return (1.0 + u) * libm::log1p(u) - u;
    }
    // Terms up to u^16: the first one omitted is below 1e-17 of the sum.
    let sum = (2..=16).rev().fold(0.0, |sum, k| 1.0 / f64::from(k * (k - 1)) - u * sum);
    u * u * sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{Binomial, DiscreteCDF};

    fn failure(f: f64) -> FailureProbability {
        FailureProbability::new(f).unwrap()
    }

    /// P(Bin(n, p) - np ≥ t) for t > 0.
    fn binomial_tail(n: u64, p: f64, t: f64) -> f64 {
        let first = (1..=n).find(|&k| k as f64 - n as f64 * p >= t);
        first.map_or(0.0, |k| Binomial::new(p, n).unwrap().sf(k - 1))
    }

    /// Exact tails of binomial sums, the least favorable variables for both inequalities.
    #[test]
    fn no_binomial_exceeds_the_widths_more_often_than_stated() {
        for n in [1u64, 2, 10, 100, 3000] {
            for p in [1e-3, 0.05, 0.3, 0.5, 0.8, 0.99] {
                let variance = n as f64 * p * (1.0 - p);
                let lyapunov = (p * p + (1.0 - p) * (1.0 - p)) / variance.sqrt();
                for g in [0.9, 0.5, 0.05, 1e-3, 1e-9] {
                    let bennett = bennett_width(failure(g), variance, 1.0 - p);
                    assert!(binomial_tail(n, p, bennett) <= g, "Bennett {n} {p} {g}: {bennett}");
                    if let Some(normal) = normal_width(failure(g), variance, lyapunov) {
                        assert!(binomial_tail(n, p, normal) <= g, "Berry-Esseen {n} {p} {g}: {normal}");
                    }
                }
            }
        }
    }

    #[test]
    fn bennett_solves_its_equation_from_the_safe_side() {
        for y in [1e-20f64, 1e-8, 1e-2, 0.1, 1.0, 50.0, 1e6, 1e200] {
            // variance 1 and reach b give y = b² ln(1/g).
            let g = 0.05f64;
            let b = (y / -g.ln()).sqrt();
            let u = bennett_width(failure(g), 1.0, b) * b;
            let reached = bennett_exponent(u);
            assert!(reached >= y * (1.0 - 1e-13) && reached <= y * (1.0 + 1e-9), "{y}: {reached}");
        }
        assert_eq!(bennett_width(failure(0.05), 0.0, 1.0), 0.0);
        assert_eq!(bennett_width(failure(0.05), 1e-300, 1e300), f64::INFINITY);
        assert!(bennett_width(failure(1e-300), 1.0, 1.0).is_finite());
    }

    #[test]
    fn large_sums_pay_the_normal_quantile() {
        let width = normal_width(failure(0.05), 1.0, 1e-9).unwrap();
        assert!((width - 1.644_853_6).abs() < 1e-6);
        assert!(normal_width(failure(0.05), 1.0, 0.1).is_none());
    }
}
