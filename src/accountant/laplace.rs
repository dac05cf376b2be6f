//! The Laplace mechanism, alone and below a noisy argmax.

use crate::quantity::{NoiseScale, Order};

/// RDP of the Laplace mechanism with scale b and sensitivity 1:
/// ln[α/(2α-1) e^{(α-1)/b} + (α-1)/(2α-1) e^{-α/b}]/(α-1).
///
/// ```
/// # use leakbound::{NoiseScale, Order, laplace_rdp};
/// let rdp = laplace_rdp(Order::new(2.0)?, NoiseScale::new(1.0)?);
/// assert!((rdp - (2.0 / 3.0 * 1f64.exp() + 1.0 / 3.0 * (-2f64).exp()).ln()).abs() < 1e-15);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Mironov (2017), Proposition 6.
#[must_use]
pub fn laplace_rdp(order: Order, b: NoiseScale) -> f64 {
    let (a, t) = (order.get(), 1.0 / b.get());
    let weight = 1.0 / (2.0 - 1.0 / a); // α/(2α-1) without overflow
    if (a - 1.0) * t > 1.0 {
        let small = libm::log1p((a - 1.0) / a * libm::exp(-(2.0 * a - 1.0) * t));
        return t + (weight.ln() + small) / (a - 1.0);
    }
    // Both exponentials minus 1: for much noise the first orders cancel.
    let excess = weight * libm::expm1((a - 1.0) * t) + (1.0 - weight) * libm::expm1(-a * t);
    (libm::log1p(excess.max(0.0)) / (a - 1.0)).max(0.0)
}

/// RDP of the Laplace mechanism of scale b for an ℓ₁ sensitivity s, spread over any number of counts: that of
/// [`laplace_rdp`] with noise b/s on one count. 0 for s = 0, infinite where b/s is no scale.
///
/// *One count is the worst case.* As a function of the shift t = s/b, D is the logarithm of a sum of exponentials of
/// linear functions over α-1, so it is convex; and it is 0 at 0. So Σ D(t_i) ≤ D(Σ t_i) for shifts t_i ≥ 0 of several
/// counts with independent noise, whose divergences add.
///
/// ```
/// # use leakbound::{NoiseScale, Order, laplace_mechanism_rdp, laplace_rdp};
/// let (order, b) = (Order::new(3.0)?, NoiseScale::new(4.0)?);
/// assert_eq!(laplace_mechanism_rdp(order, b, 2.0), laplace_rdp(order, NoiseScale::new(2.0)?));
/// assert!(laplace_mechanism_rdp(order, b, 2.0) > 2.0 * laplace_rdp(order, b));
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Mironov (2017), Proposition 6.
#[must_use]
pub fn laplace_mechanism_rdp(order: Order, b: NoiseScale, sensitivity: f64) -> f64 {
    if sensitivity == 0.0 {
        return 0.0;
    }
    NoiseScale::new(b.get() / sensitivity.abs()).map_or(f64::INFINITY, |b| laplace_rdp(order, b))
}

/// RDP of the argmax of counts with Laplace noise when one vote moves: two counts change by 1, so twice the Laplace
/// mechanism; the argmax is post-processing. At most 2/b, the pure ε of LNMax.
///
/// ```
/// # use leakbound::{NoiseScale, Order, lnmax_data_independent};
/// assert!(lnmax_data_independent(Order::new(1e6)?, NoiseScale::new(20.0)?) <= 0.1);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2017), "Semi-supervised knowledge transfer", section 3 (pure ε = 2/b); composition of two
/// coordinates by Mironov (2017), Proposition 1.
#[must_use]
pub fn lnmax_data_independent(order: Order, b: NoiseScale) -> f64 {
    2.0 * laplace_rdp(order, b)
}
