//! ALIBI and AGIBI: noise on one-hot labels, when one label changes.

use super::gnmax::gnmax_data_independent;
use super::laplace::laplace_rdp;
use crate::bound::outward::quotient_up;
use crate::error::{Error, Result};
use crate::quantity::{Epsilon, NoiseScale, Order};

/// RDP of ALIBI's labels: a one-hot label with Laplace noise of scale λ on every coordinate, for two labels of one
/// record. Two coordinates move by 1 (ℓ₁ distance 2), independently: twice the Laplace mechanism, exactly. At most 2/λ.
///
/// ```
/// # use leakbound::accountant::{alibi_rdp, laplace_rdp};
/// # use leakbound::quantity::{NoiseScale, Order};
/// let (order, lambda) = (Order::new(4.0)?, NoiseScale::new(2.0)?);
/// assert_eq!(alibi_rdp(order, lambda), 2.0 * laplace_rdp(order, lambda));
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Malek Esmaeili et al. (2021), "Antipodes of label differential privacy: PATE and ALIBI", Algorithm 3; Mironov
/// (2017), Proposition 6, for each coordinate.
#[must_use]
pub fn alibi_rdp(order: Order, lambda: NoiseScale) -> f64 {
    2.0 * laplace_rdp(order, lambda)
}

/// The scale λ = 2/ε at which ALIBI's labels are ε-label-differentially private, rounded up.
///
/// # Errors
/// [`Error::Domain`](crate::Error::Domain) for ε = 0 or infinity, which no scale attains.
///
/// ```
/// # use leakbound::accountant::alibi_scale;
/// # use leakbound::quantity::Epsilon;
/// assert_eq!(alibi_scale(Epsilon::new(0.5)?)?.get(), 4.0);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Malek Esmaeili et al. (2021), section 5.1: standard deviation 2√2/ε per coordinate.
pub fn alibi_scale(epsilon: Epsilon) -> Result<NoiseScale> {
    let value = epsilon.get();
    Error::check_domain(value > 0.0 && value.is_finite(), "epsilon", value, "(0, inf)")?;
    NoiseScale::new(quotient_up(2.0, value))
}

/// RDP of AGIBI's labels, which have Gaussian noise of standard deviation σ and ℓ₂ distance √2: α/σ², rounded up.
///
/// ```
/// # use leakbound::accountant::agibi_rdp;
/// # use leakbound::quantity::{NoiseScale, Order};
/// assert!((agibi_rdp(Order::new(4.0)?, NoiseScale::new(2.0)?) - 1.0).abs() < 1e-15);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Malek Esmaeili et al. (2021), section 5.1; Mironov (2017), Proposition 7.
#[must_use]
pub fn agibi_rdp(order: Order, sigma: NoiseScale) -> f64 {
    gnmax_data_independent(order, sigma)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alibi_approaches_its_pure_epsilon_from_below() {
        let epsilon = Epsilon::new(1.5).unwrap();
        let lambda = alibi_scale(epsilon).unwrap();
        let values = [1.1, 2.0, 10.0, 1e3, 1e6].map(|a| alibi_rdp(Order::new(a).unwrap(), lambda));
        assert!(values.windows(2).all(|pair| pair[0] < pair[1]) && values[4] <= 1.5 && values[4] > 1.4999);
    }

    #[test]
    fn no_scale_has_an_epsilon_of_nothing_or_infinity() {
        let rejected = |epsilon| alibi_scale(Epsilon::new(epsilon).unwrap()).unwrap_err().to_string();
        assert_eq!(rejected(0.0), "epsilon = 0 is not in (0, inf)");
        assert_eq!(rejected(f64::INFINITY), "epsilon = inf is not in (0, inf)");
    }
}
