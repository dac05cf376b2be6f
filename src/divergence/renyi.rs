//! Rényi divergence in a form that keeps its digits when the two laws are nearly equal.

use super::{Pair, same_outcomes};
use crate::error::Result;
use crate::law::OutcomeLaw;
use crate::quantity::Order;
use crate::special::{CompensatedSum, log_sum_exp};

/// D_α(P‖Q) = ln(Σ p_i^α q_i^{1-α})/(α-1), in nats.
///
/// Because both laws sum to 1, the sum minus 1 equals Σ [p_i expm1((α-1) l_i) - (α-1) q_i expm1(l_i)] with
/// l = ln p - ln q, where every term is ≥ 0: nothing cancels between outcomes, and divergences of 1e-30 keep a
/// relative accuracy of about 1e-14. Infinite when P puts mass where Q has none.
///
/// # Errors
/// [`Error::Length`](crate::Error::Length) when the laws have different numbers of outcomes.
///
/// # Example
/// ```
/// # use leakbound::{Order, OutcomeLaw, renyi_divergence};
/// let (p, q) = (OutcomeLaw::from_probabilities(&[0.5, 0.5])?, OutcomeLaw::from_probabilities(&[0.25, 0.75])?);
/// let expected = (0.5f64 * 2.0 + 0.5 * (0.5 / 0.75)).ln();
/// assert!((renyi_divergence(&p, &q, Order::new(2.0)?)? - expected).abs() < 1e-15);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Rényi (1961); Mironov (2017), "Rényi differential privacy", Definition 3.
pub fn renyi_divergence(p: &OutcomeLaw, q: &OutcomeLaw, order: Order) -> Result<f64> {
    same_outcomes(p, q)?;
    Ok(divergence(|| (0..p.outcomes()).map(|i| Pair::of(p, q, i)), order.get()))
}

/// D_α of two Bernoulli laws given by both of their probabilities: P = (p, 1-p), Q = (q, 1-q).
///
/// The complements are arguments because either side may be tiny; each pair is trusted to sum to 1.
///
/// ```
/// # use leakbound::{Order, bernoulli_renyi};
/// let divergence = bernoulli_renyi((0.5, 0.5), (0.25, 0.75), Order::new(2.0)?);
/// assert!((divergence - (4.0f64 / 3.0).ln()).abs() < 1e-15);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[must_use]
pub fn bernoulli_renyi(p: (f64, f64), q: (f64, f64), order: Order) -> f64 {
    // The logarithm of the larger side comes from the smaller one, which holds the digits.
    let log = |side: f64, other: f64| if side > 0.5 { libm::log1p(-other) } else { side.ln() };
    let terms = || {
        [(p.0, p.1, q.0, q.1), (p.1, p.0, q.1, q.0)].into_iter().map(|(p, p_other, q, q_other)| Pair {
            p,
            q,
            p_other,
            q_other,
            ln_p: log(p, p_other),
            ln_q: log(q, q_other),
        })
    };
    divergence(terms, order.get())
}

fn divergence<I: Iterator<Item = Pair> + Clone>(terms: impl Fn() -> I, a: f64) -> f64 {
    // An outcome that neither law has contributes nothing; one that only Q has contributes q to the excess below.
    let possible = terms().filter(|term| term.ln_p > f64::NEG_INFINITY);
    if possible.clone().any(|term| term.ln_q == f64::NEG_INFINITY) {
        return f64::INFINITY;
    }
    let log_term = |term: Pair| a * term.log_ratio() + term.ln_q;
    let largest = possible.clone().map(log_term).fold(f64::NEG_INFINITY, f64::max);
    let value = if largest > 1.0 {
        log_sum_exp(possible.map(log_term))
    } else {
        libm::log1p(terms().map(|term| excess(term, a)).collect::<CompensatedSum>().value())
    };
    (value / (a - 1.0)).max(0.0)
}

/// p expm1((a-1) l) - (a-1) q expm1(l) = q (e^{al} - 1 - a (e^l - 1)), never negative.
fn excess(term: Pair, a: f64) -> f64 {
    let Pair { p, q, ln_p, ln_q, .. } = term;
    if ln_p == f64::NEG_INFINITY {
        return if ln_q == f64::NEG_INFINITY { 0.0 } else { (a - 1.0) * q };
    }
    let l = term.log_ratio();
    if l.abs() <= 0.02 / a.max(1.0) {
        return q * series(a, l);
    }
    if a * l > 1.0 && q == 0.0 {
        return libm::exp(a * l + ln_q); // q underflows where the product does not
    }
    (p * libm::expm1((a - 1.0) * l) - (a - 1.0) * q * libm::expm1(l)).max(0.0)
}

/// Σ_{k≥2} (a^k - a) l^k/k! for |a l| ≤ 0.02: nine terms reach 1e-17 of the first.
fn series(a: f64, l: f64) -> f64 {
    // a^k - a = a (a-1) (1 + a + ... + a^{k-2}), which keeps its digits next to a = 1.
    let (mut power, mut sum) = (l, 0.0);
    let (mut a_power, mut geometric) = (1.0, 0.0);
    for k in 2..=11 {
        power *= l / f64::from(k);
        geometric += a_power;
        a_power *= a;
        sum += geometric * power;
    }
    a * (a - 1.0) * sum
}
