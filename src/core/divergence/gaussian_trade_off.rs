//! The trade-off of two normal distributions N(0, 1) and N(μ, 1): μ-GDP as (ε, δ).

use crate::error::{Error, Result};
use crate::quantity::{Delta, Epsilon, NoiseScale};
use crate::solve::{Search, increasing_root};
use crate::special::{log_normal_density, ndtr, normal_tail_ratio};

/// δ(ε) of μ-GDP: Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ), 0 for μ = 0.
///
/// With m = Φ/φ both terms are multiples of φ(μ/2 - ε/μ), and δ = φ(z₁)(m(z₁) - m(z₂)), z = ±μ/2 - ε/μ: nothing
/// overflows, and δ keeps its digits when it is tiny.
///
/// # Errors
/// [`Error::Domain`] when μ is not in [0, inf).
///
/// # Example
/// ```
/// # use leakbound::divergence::gdp_delta;
/// # use leakbound::quantity::Epsilon;
/// assert!((gdp_delta(1.0, Epsilon::new(1.0)?)? - 0.126_936_737_506_643_9).abs() < 1e-14);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Balle and Wang (2018), "Improving the Gaussian mechanism for differential privacy", Theorem 8; Dong, Roth and Su
/// (2022), "Gaussian differential privacy", Corollary 2.13.
pub fn gdp_delta(mu: f64, epsilon: Epsilon) -> Result<f64> {
    check(mu)?;
    Ok(parts(mu, epsilon.get()).map_or(0.0, |parts| parts.delta))
}

/// The smallest ε ≥ 0 at which μ-GDP implies (ε, δ)-DP: the root of [`gdp_delta`], infinite for δ = 0 and μ > 0.
/// The error is about 1e-13 of ε + μ.
///
/// # Errors
/// [`Error::Domain`] when μ is not in [0, inf); [`Error::NoConvergence`] when the root is not found.
///
/// # Example
/// ```
/// # use leakbound::divergence::gdp_epsilon;
/// # use leakbound::quantity::Delta;
/// assert!((gdp_epsilon(0.5, Delta::new(1e-5)?)?.get() - 1.993_091_404_414_656).abs() < 1e-9);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// As [`gdp_delta`].
pub fn gdp_epsilon(mu: f64, delta: Delta) -> Result<Epsilon> {
    check(mu)?;
    if gdp_delta(mu, Epsilon::new(0.0)?)? <= delta.get() {
        return Epsilon::new(0.0);
    }
    if delta.get() == 0.0 {
        return Epsilon::new(f64::INFINITY);
    }
    // In t = ε/μ, which is of the order of one: ln δ - ln δ(ε) increases with the slope μ e^ε Φ(z₂)/δ(ε). It is flat
    // where δ(ε) is close to 1; above one half, ln(1 - δ(ε)) - ln(1 - δ), flat at the other end, replaces it.
    let target = if delta.get() > 0.5 { (-delta.get()).ln_1p() } else { delta.get().ln() };
    let evaluate = |t: f64| {
        let epsilon = mu * t.max(0.0);
        if delta.get() > 0.5 {
            let (log_remaining, slope) = log_remaining(mu, epsilon);
            return ((), log_remaining - target, mu * slope);
        }
        match parts(mu, epsilon) {
            Some(parts) => ((), target - parts.log_delta, mu * parts.slope),
            None => ((), f64::INFINITY, 1.0),
        }
    };
    let search = Search {
        start: 0.5 * mu,
        first_reach: 1.0 + mu,
        narrowest: 1e-15 * (40.0 + mu),
        quantity: "epsilon of a Gaussian trade-off",
    };
    let close = |value: f64, slope: f64| value.abs() <= 1e-15 * slope;
    let (t, ()) = increasing_root(search, evaluate, close)?;
    Epsilon::new((mu * t).max(0.0))
}

/// The smallest noise for which the Gaussian mechanism of sensitivity 1 is (ε, δ)-differentially private: σ = 1/μ with
/// δ(ε) of μ-GDP at most δ, rounded up by 1e-12 of itself.
///
/// For a sensitivity s, multiply by s. [`gdp_delta`] increases with μ, so any σ whose δ(ε) is not above δ is valid. The
/// returned σ is checked to be valid, and one smaller by about 1e-12 of it is not.
///
/// # Errors
/// [`Error::Rejected`] if no noise is needed (ε infinite), or if no noise in the range of doubles suffices (δ = 0).
///
/// # Example
/// ```
/// # use leakbound::divergence::gaussian_sigma;
/// # use leakbound::quantity::{Delta, Epsilon};
/// let sigma = gaussian_sigma(Epsilon::new(1.0)?, Delta::new(1e-5)?)?;
/// assert!((sigma.get() - 3.730_631_634_815_937).abs() < 1e-10);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Balle and Wang (2018), Algorithm 1, here by bisection of μ.
pub fn gaussian_sigma(epsilon: Epsilon, delta: Delta) -> Result<NoiseScale> {
    let reject = |reason: &str| Err(Error::rejected("noise of the Gaussian mechanism", reason));
    // Profiles underflow to 0, which proves nothing.
    if delta.get() == 0.0 {
        return reject("no noise is private enough");
    }
    // Powers of two on both sides of the largest private μ: δ(ε) is nearly 1 at the upper end of all. δ is computed to
    // 1e-13 of itself. Above one half its complement has the digits that a δ close to 1 needs.
    let private = |mu: f64| {
        Ok::<bool, Error>(if delta.get() > 0.5 {
            check(mu)?;
            log_remaining(mu, epsilon.get()).0 >= (-delta.get()).ln_1p() + ROUNDING
        } else {
            gdp_delta(mu, epsilon)? <= delta.get()
        })
    };
    let (mut low, mut high) = (1.0, 1.0);
    while private(high)? {
        low = high;
        high *= 2.0;
        if high > MOST_MU {
            return reject("any noise is private enough");
        }
    }
    while !private(low)? {
        high = low;
        low *= 0.5;
        if low < LEAST_MU {
            return reject("no noise is private enough");
        }
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if private(middle)? { low = middle } else { high = middle }
    }
    // δ is computed to 1e-13 of itself, which moves μ by a smaller share of itself.
    NoiseScale::new((1.0 + ROUNDING) / low)
}

/// No μ is searched for beyond these.
const MOST_MU: f64 = 1e150;
const LEAST_MU: f64 = 1e-307;
/// Relative rounding of σ, upwards.
const ROUNDING: f64 = 1e-12;

fn check(mu: f64) -> Result<()> {
    Error::check_domain((0.0..f64::INFINITY).contains(&mu), "mu", mu, "[0, inf)")
}

/// ln(1 - δ(ε)) and its derivative by ε: 1 - δ(ε) = Φ(-z₁) + e^ε Φ(z₂), a sum of positive terms, whose second one is its
/// own derivative.
fn log_remaining(mu: f64, epsilon: f64) -> (f64, f64) {
    if mu == 0.0 || epsilon == f64::INFINITY {
        return (0.0, 0.0);
    }
    let (high, low) = (0.5 * mu - epsilon / mu, -epsilon / mu - 0.5 * mu);
    // e^ε φ(z₂) = φ(z₁).
    let (log_density, second) = (log_normal_density(high), normal_tail_ratio(low));
    if high > 0.0 {
        // Both terms may be below the range of doubles, so they are computed as multiples of φ(z₁).
        let sum = normal_tail_ratio(-high) + second;
        (log_density + sum.ln(), second / sum)
    } else {
        let rest = libm::exp(log_density) * second;
        let sum = ndtr(-high) + rest;
        (sum.ln().min(0.0), rest / sum)
    }
}

struct Parts {
    delta: f64,
    log_delta: f64,
    /// -d ln δ/dε.
    slope: f64,
}

/// `None` if δ is 0.
fn parts(mu: f64, epsilon: f64) -> Option<Parts> {
    if mu == 0.0 || epsilon == f64::INFINITY {
        return None;
    }
    let middle = -epsilon / mu;
    let (high, low) = (middle + 0.5 * mu, middle - 0.5 * mu);
    if high > 3.0 {
        // Φ(z₁) is close to 1, and the rest is small compared with it.
        let rest = libm::exp(log_normal_density(high)) * normal_tail_ratio(low);
        let delta = ndtr(high) - rest;
        return Some(Parts { delta, log_delta: delta.ln(), slope: rest / delta });
    }
    let difference = if mu < 1e-3 {
        // m' = 1 + z m, m''' = 2 m' + z m''; the next term is below 1e-16 of the first.
        let ratio = normal_tail_ratio(middle);
        let first = derivative(middle, ratio);
        let third = 2.0 * first + middle * (ratio + middle * first);
        mu * (first + mu * mu / 24.0 * third)
    } else {
        normal_tail_ratio(high) - normal_tail_ratio(low)
    };
    if !(difference > 0.0) {
        return None;
    }
    let log_delta = log_normal_density(high) + difference.ln();
    Some(Parts { delta: libm::exp(log_delta), log_delta, slope: normal_tail_ratio(low) / difference })
}

/// 1 + z m(z), by its asymptotic series if the sum cancels.
fn derivative(z: f64, ratio: f64) -> f64 {
    if z > -30.0 {
        return 1.0 + z * ratio;
    }
    let square = 1.0 / (z * z);
    // m(z) = -(1/z)(1 - 1/z² + 3/z⁴ - 15/z⁶ + ...).
    square * (1.0 - square * (3.0 - square * (15.0 - square * (105.0 - square * 945.0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ε is the root for μ of every size, including when δ(ε) is 1 over most of the range.
    #[test]
    fn epsilons_are_roots_for_every_mu() {
        for mu in [1e-6, 1e-3, 0.1, 1.0, 10.0, 37.0, 233.0, 1e3, 1e5] {
            for delta in [1e-300, 1e-100, 1e-12, 1e-5, 0.01, 0.3, 0.499, 0.5, 0.501, 0.533, 0.9, 0.999, 1.0 - 1e-12] {
                let delta = Delta::new(delta).unwrap();
                let epsilon = gdp_epsilon(mu, delta).unwrap().get();
                let step = 1e-12 * (epsilon + mu);
                let at = |epsilon: f64| log_remaining(mu, epsilon.max(0.0)).0;
                let profile = |epsilon: f64| gdp_delta(mu, Epsilon::new(epsilon.max(0.0)).unwrap()).unwrap();
                let (below, above) = (epsilon - step, epsilon + step);
                if delta.get() > 0.5 {
                    assert!(at(above) >= (-delta.get()).ln_1p(), "{mu} {delta}: {epsilon}");
                    assert!(epsilon == 0.0 || at(below) <= (-delta.get()).ln_1p(), "{mu} {delta}: {epsilon}");
                } else {
                    assert!(profile(above) <= delta.get(), "{mu} {delta}: {epsilon}");
                    assert!(epsilon == 0.0 || profile(below) >= delta.get(), "{mu} {delta}: {epsilon}");
                }
            }
        }
        // The median of the loss of a wide trade-off is μ²/2, less the effect of e^ε Φ(z₂).
        let epsilon = gdp_epsilon(233.0, Delta::new(0.533).unwrap()).unwrap().get();
        assert!((epsilon - 27_125.0).abs() < 30.0, "{epsilon}");
    }

    /// The noise is private, and slightly less noise is not.
    #[test]
    fn the_noise_is_just_enough() {
        for epsilon in [0.0, 1e-3, 0.5, 1.0, 10.0, 300.0] {
            for delta in [1e-300, 1e-12, 1e-5, 0.01, 0.3, 0.999] {
                let (epsilon, delta) = (Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap());
                let sigma = gaussian_sigma(epsilon, delta).unwrap().get();
                let at = |sigma: f64| gdp_delta(1.0 / sigma, epsilon).unwrap();
                assert!(at(sigma) <= delta.get(), "{epsilon} {delta}: {sigma}");
                assert!(at(sigma * (1.0 - 1e-10)) > delta.get(), "{epsilon} {delta}: {sigma}");
            }
        }
        let rejected = |epsilon: f64, delta: f64| {
            gaussian_sigma(Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap()).is_err()
        };
        assert!(rejected(1.0, 0.0) && rejected(f64::INFINITY, 0.1));
    }

    #[test]
    fn delta_and_epsilon_are_inverse() {
        for mu in [1e-6, 1e-3, 0.01, 0.3, 1.0, 4.0, 30.0, 1e3] {
            for delta in [1e-300, 1e-12, 1e-5, 0.01, 0.3, 0.9] {
                let delta = Delta::new(delta).unwrap();
                let epsilon = gdp_epsilon(mu, delta).unwrap();
                let back = gdp_delta(mu, epsilon).unwrap();
                let slack = 1e-9 * delta.get();
                assert!(
                    if epsilon.get() == 0.0 { back <= delta.get() } else { (back - delta.get()).abs() <= slack },
                    "{mu} {delta}: {epsilon} {back}"
                );
            }
        }
        assert_eq!(gdp_epsilon(1.0, Delta::new(0.0).unwrap()).unwrap().get(), f64::INFINITY);
        assert_eq!(gdp_epsilon(0.0, Delta::new(0.0).unwrap()).unwrap().get(), 0.0);
        for wrong in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(gdp_delta(wrong, Epsilon::new(1.0).unwrap()).is_err());
        }
    }

    /// The hockey-stick divergence as an integral over the likelier half line, ∫ (φ(x-μ) - e^ε φ(x)) dx from ε/μ + μ/2.
    #[test]
    fn delta_is_the_integral_of_the_excess() {
        for (mu, epsilon) in [(0.5, 0.2), (1.0, 1.0), (2.0, 0.0), (3.0, 9.0)] {
            let from = epsilon / mu + mu / 2.0;
            let excess = |x: f64| {
                (-0.5 * (x - mu).powi(2)).exp() / (2.0 * std::f64::consts::PI).sqrt()
                    * -f64::exp_m1(epsilon - mu * x + mu * mu / 2.0)
            };
            let integral = quadrature::integrate(excess, from, from + 40.0, 1e-14).integral;
            let delta = gdp_delta(mu, Epsilon::new(epsilon).unwrap()).unwrap();
            assert!((delta / integral - 1.0).abs() < 1e-9, "{mu} {epsilon}: {delta} {integral}");
        }
    }

    /// 1 + z m(z) cancels where its series takes over; both agree there to the remaining digits.
    #[test]
    fn the_series_of_the_derivative_continues_the_difference() {
        for z in [-30.5, -40.0, -100.0] {
            let ratio = normal_tail_ratio(z);
            let (series, difference) = (derivative(z, ratio), 1.0 + z * ratio);
            assert!((series / difference - 1.0).abs() < 1e-10 * z * z / 900.0, "{z}: {series} {difference}");
        }
    }

    #[test]
    fn nothing_leaks_without_a_signal_or_at_an_infinite_epsilon() {
        assert_eq!(gdp_delta(0.0, Epsilon::new(0.5).unwrap()).unwrap(), 0.0);
        assert_eq!(gdp_delta(2.0, Epsilon::INFINITE).unwrap(), 0.0);
    }
}
