//! The Gaussian mechanism.

use crate::bound::outward::{over_square_up, product_up, quotient_up};
use crate::quantity::{NoiseScale, Order};

/// RDP of the Gaussian mechanism: α s²/(2σ²) for an ℓ₂ sensitivity s (in votes) and standard deviation σ, rounded up.
///
/// Each product and quotient is rounded up separately, and exact results stay unchanged: at most three doubles above
/// the formula, four beyond 10^±125.
///
/// ```
/// # use leakbound::accountant::gaussian_rdp;
/// # use leakbound::quantity::{NoiseScale, Order};
/// assert_eq!(gaussian_rdp(Order::new(2.0)?, NoiseScale::new(1.0)?, 3.0), 9.0);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Mironov (2017), Proposition 7.
#[must_use]
pub fn gaussian_rdp(order: Order, sigma: NoiseScale, sensitivity: f64) -> f64 {
    let s = sensitivity.abs();
    let most = product_up(order.get(), product_up(s, s));
    let twice = if (1e-250..1e250).contains(&most) {
        over_square_up(most, sigma.get())
    } else {
        // The square of the ratio, in case that of s leaves the range of doubles.
        let ratio = quotient_up(s, sigma.get());
        product_up(order.get(), product_up(ratio, ratio))
    };
    product_up(0.5, twice)
}
