//! The exponential mechanism, and all mechanisms of bounded range.

use crate::divergence::two_ratios_renyi;
use crate::quantity::{Epsilon, Order};

/// Below this ε, the curve equals its quadratic bound up to rounding.
const SMALL: f64 = 1e-5;
/// Values are rounded up by this share, ten times the error of a divergence of two points; t need not be exact, because
/// the divergence is largest there and its error is of second order.
const MARGIN: f64 = 1e-12;
/// If a probability is below this, for ε above 650, the curve is ε to within half a percent.
const SMALLEST: f64 = 1e-290;

/// RDP of the exponential mechanism with parameter ε, and of every mechanism of ε-bounded range: the largest D_α of two
/// distributions whose log ratios lie in an interval of length ε.
///
/// The exponential mechanism chooses r with probability proportional to exp(ε u(r)/(2Δ)); one changed record moves
/// every utility by at most Δ and the log ratio of probabilities to within [t - ε, t] for some t in [0, ε]. Let t be
/// the upper end. The mean of the ratio x under Q is 1, and x^α is convex in x, so E_Q x^α is largest if x takes only
/// the two ends of the interval: with q = (e^{-t} - e^{-ε})/(1 - e^{-ε}) on e^t,
/// ```text
/// (1 - e^{-ε}) E_Q x^α = e^{(α-1)t} (1 - e^{-αε}) - e^{αt} (e^{-ε} - e^{-αε}),
/// ```
/// whose only critical point e^t = (α-1)(1 - e^{-αε})/(α (e^{-ε} - e^{-αε})) is a maximum. At most α ε²/8 (Hoeffding's
/// lemma), which is returned below ε = 1e-5. Tight for bounded range; rounded up.
///
/// # Example
/// ```
/// # use leakbound::accountant::exponential_mechanism_rdp;
/// # use leakbound::quantity::{Epsilon, Order};
/// let rdp = exponential_mechanism_rdp(Order::new(2.0)?, Epsilon::new(1.0)?);
/// assert!(rdp < 2.0 / 8.0 && rdp > 0.22);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// McSherry and Talwar (2007), "Mechanism design via differential privacy"; Durfee and Rogers (2019) for bounded range;
/// Dong, Durfee and Rogers (2020), "Optimal differential privacy composition for exponential mechanisms".
#[must_use]
pub fn exponential_mechanism_rdp(order: Order, epsilon: Epsilon) -> f64 {
    let (a, e) = (order.get(), epsilon.get());
    let quadratic = a * e * e / 8.0;
    if e <= SMALL {
        return quadratic.min(e) * (1.0 + MARGIN);
    }
    if e.is_infinite() {
        return e;
    }
    // 1 - e^{-x}.
    let missing = |x: f64| -libm::expm1(-x);
    let t = e + ((a - 1.0) / a * missing(a * e) / missing((a - 1.0) * e)).ln();
    let t = t.clamp(0.0, e);
    let q = [libm::exp(-t) * missing(e - t) / missing(e), missing(t) / missing(e)];
    if !(q[0] > SMALLEST && q[1] > SMALLEST) {
        return quadratic.min(e) * (1.0 + MARGIN);
    }
    // From the ratios themselves, which differences of close probabilities would lose.
    quadratic.min(e).min(two_ratios_renyi(q, [t, t - e], order)) * (1.0 + MARGIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::OutcomeDistribution;
    use crate::divergence::renyi_divergence;

    fn rdp(a: f64, e: f64) -> f64 {
        exponential_mechanism_rdp(Order::new(a).unwrap(), Epsilon::new(e).unwrap())
    }

    /// The maximum over a grid of t of the closed form in the documentation.
    #[test]
    fn no_other_interval_leaks_more() {
        for e in [1e-3f64, 0.1, 1.0, 4.0, 20.0] {
            for a in [1.0001f64, 1.5, 2.0, 10.0, 30.0] {
                let value = |t: f64| {
                    let moment =
                        ((a - 1.0) * t).exp() * (1.0 - (-a * e).exp()) - (a * t).exp() * ((-e).exp() - (-a * e).exp());
                    (moment / (1.0 - (-e).exp())).ln() / (a - 1.0)
                };
                let largest = (0..=20_000).map(|step| value(e * f64::from(step) / 20_000.0)).fold(0.0, f64::max);
                let found = rdp(a, e);
                // The grid rounds the logarithm of a number near 1.
                assert!((found - largest).abs() <= 1e-5 * largest + 1e-12 / (a - 1.0), "{a} {e}: {found} {largest}");
                assert!(found <= e * (1.0 + 1e-9) && found <= a * e * e / 8.0 * (1.0 + 1e-9));
            }
        }
    }

    /// Exact distributions of the exponential mechanism on neighboring utilities, all moves of each by 0, ±1/2 or ±1.
    #[test]
    fn exact_exponential_mechanisms_leak_less() {
        let e = 1.3;
        let distribution = |utilities: [f64; 3]| {
            let weights = utilities.map(|u: f64| (0.5 * e * u).exp());
            OutcomeDistribution::from_probabilities(&weights.map(|w| w / weights.iter().sum::<f64>())).unwrap()
        };
        let mut closest = 0.0f64;
        for code in 0..125 {
            let moves: [f64; 3] = std::array::from_fn(|i| f64::from(code / [1, 5, 25][i] % 5 - 2) / 2.0);
            for utilities in [[0.0, 0.0, 0.0], [0.0, 1.0, 2.0], [0.0, 0.0, -9.0]] {
                let (p, q) = (distribution(utilities), distribution(std::array::from_fn(|i| utilities[i] + moves[i])));
                for a in [1.1, 2.0, 8.0] {
                    let order = Order::new(a).unwrap();
                    let share = renyi_divergence(&p, &q, order).unwrap() / rdp(a, e);
                    closest = closest.max(share);
                }
            }
        }
        assert!(closest <= 1.0 && closest > 0.99, "{closest}");
    }

    #[test]
    fn extremes_are_numbers_between_the_bounds() {
        for e in [0.0, 1e-300, 1e-9, 1e-5, 1.000_001e-5, 1.0, 50.0, 1e4, 1e300, f64::INFINITY] {
            let mut last = 0.0;
            for a in [1.0 + 1e-12, 1.1, 2.0, 1e3, 1e12] {
                let value = rdp(a, e);
                assert!(value >= last * (1.0 - 1e-9) && !value.is_nan(), "{a} {e}: {value} after {last}");
                assert!(value <= e * (1.0 + 1e-9), "{a} {e}: {value}");
                last = value;
            }
        }
    }

    /// ε²α/8 for small ε, whose moments a double cannot distinguish from 1.
    #[test]
    fn small_epsilons_have_the_quadratic_bound() {
        for e in [1e-9, 1e-7, 1e-5] {
            let found = rdp(2.0, e);
            let quadratic = e * e / 4.0;
            assert!(found >= quadratic * 0.999 && found <= quadratic * (1.0 + 1e-9), "{e}: {found}");
        }
        assert_eq!(rdp(2.0, f64::INFINITY), f64::INFINITY);
        assert_eq!(rdp(2.0, 0.0), 0.0);
    }
}
