//! Error rates of an attack that (ε, δ) allows.

use crate::quantity::{Delta, Epsilon, Probability};

/// The smallest ε at δ that allows an attack with these error rates: max(0, ln((1 - δ - FPR)/FNR),
/// ln((1 - δ - FNR)/FPR)). The rates are treated as exact; for recorded counts, use
/// [`Rectangle::epsilon`](crate::audit::Rectangle::epsilon).
///
/// # Example
/// ```
/// # use leakbound::audit::epsilon_of_error_rates;
/// # use leakbound::prelude::*;
/// let (fnr, fpr) = (Probability::new(0.1)?, Probability::new(0.05)?);
/// let epsilon = epsilon_of_error_rates(fnr, fpr, Delta::new(1e-5)?);
/// assert!((epsilon.get() - 2.890_360_646_723_325).abs() < 1e-14);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Kairouz, Oh and Viswanath (2015), "The composition theorem for differential privacy", Theorem 2.1.
#[must_use]
pub fn epsilon_of_error_rates(fnr: Probability, fpr: Probability, delta: Delta) -> Epsilon {
    let one = |missed: f64, other: f64| {
        let excess = 1.0 - delta.get() - missed;
        if excess > 0.0 { (excess / other).ln() } else { 0.0 }
    };
    let value = one(fpr.get(), fnr.get()).max(one(fnr.get(), fpr.get()));
    Epsilon::new(value.max(0.0)).unwrap_or(Epsilon::ZERO)
}

/// The largest membership advantage TPR - FPR that (ε, δ)-differential privacy allows: (e^ε - 1 + 2δ)/(e^ε + 1).
///
/// # Example
/// ```
/// # use leakbound::audit::membership_advantage;
/// # use leakbound::prelude::*;
/// let advantage = membership_advantage(Epsilon::new(1.0)?, Delta::new(1e-5)?);
/// assert!((advantage - 0.462_122_536_088_437_1).abs() < 1e-15);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Humphries et al. (2023), "Investigating membership inference attacks under data dependencies", Theorem 3.1.
#[must_use]
pub fn membership_advantage(epsilon: Epsilon, delta: Delta) -> f64 {
    (libm::tanh(0.5 * epsilon.get()) + delta.get() * (1.0 - libm::tanh(0.5 * epsilon.get()))).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_are_numbers() {
        let rate = |p: f64| Probability::new(p).unwrap();
        let zero = Delta::new(0.0).unwrap();
        assert_eq!(epsilon_of_error_rates(rate(0.0), rate(0.5), zero).get(), f64::INFINITY);
        assert_eq!(epsilon_of_error_rates(rate(0.0), rate(1.0), zero).get(), 0.0);
        assert_eq!(membership_advantage(Epsilon::INFINITE, Delta::new(0.5).unwrap()), 1.0);
    }

    /// The advantage that ε allows is that of randomized response, whose error rates allow exactly this ε.
    #[test]
    fn advantage_and_error_rates_meet() {
        for epsilon in [0.1, 1.0, 5.0] {
            let advantage = membership_advantage(Epsilon::new(epsilon).unwrap(), Delta::new(0.0).unwrap());
            let error = Probability::new(0.5 * (1.0 - advantage)).unwrap();
            let back = epsilon_of_error_rates(error, error, Delta::new(0.0).unwrap()).get();
            assert!((back - epsilon).abs() < 1e-12 * (1.0 + epsilon.exp()));
        }
    }
}
