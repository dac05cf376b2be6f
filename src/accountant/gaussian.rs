//! The Gaussian mechanism.

use crate::quantity::{NoiseScale, Order};

/// RDP of the Gaussian mechanism: α s²/(2σ²) for an ℓ₂ sensitivity s (in votes) and standard deviation σ.
///
/// ```
/// # use leakbound::{NoiseScale, Order, gaussian_rdp};
/// assert_eq!(gaussian_rdp(Order::new(2.0)?, NoiseScale::new(1.0)?, 3.0), 9.0);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Mironov (2017), Proposition 7.
#[must_use]
pub fn gaussian_rdp(order: Order, sigma: NoiseScale, sensitivity: f64) -> f64 {
    let ratio = sensitivity / sigma.get();
    0.5 * order.get() * ratio * ratio
}
