//! The Laplace mechanism, alone and as part of a noisy argmax.

use crate::bound::outward::{product_up, quotient_up, up};
use crate::quantity::{NoiseScale, Order};
use crate::special::exp_remainder;

/// Below this α s/b, the curve equals its quadratic bound up to rounding.
const SMALL: f64 = 1e-17;
/// Units of 2^-52 by which the curve is rounded up: the remainders are off by 8 of themselves and 2.4 for the rounding
/// of each argument, the weights by 2, the logarithm and the quotient by 2; for large leakage, t - [...] is off by 8.
const UNITS: f64 = 24.0;

/// RDP of the Laplace mechanism with scale b and sensitivity 1:
/// ln[α/(2α-1) e^{(α-1)/b} + (α-1)/(2α-1) e^{-α/b}]/(α-1), rounded up.
///
/// With t = 1/b the first-order terms of the two exponentials cancel, and the remainder is small compared with them for
/// large noise or orders near 1. Written without them, both terms are positive:
/// ```text
/// D = ln[1 + (φ((α-1)t) + r φ(-αt))/(1 + r)]/(α-1),   φ(z) = e^z - 1 - z,   r = (α-1)/α,
/// ```
/// and nothing cancels at any order or noise. t is rounded up, and D increases with t; D is also rounded up, by 6e-15
/// of itself. It is never above t, and below αt = 1e-17 it is α t²/2, which it does not exceed.
///
/// ```
/// # use leakbound::accountant::laplace_rdp;
/// # use leakbound::quantity::{NoiseScale, Order};
/// let rdp = laplace_rdp(Order::new(2.0)?, NoiseScale::new(1.0)?);
/// assert!((rdp - (2.0 / 3.0 * 1f64.exp() + 1.0 / 3.0 * (-2f64).exp()).ln()).abs() < 1e-14);
/// // Digits that the exponentials themselves would lose.
/// let rdp = laplace_rdp(Order::new(1.0001)?, NoiseScale::new(1000.0)?);
/// assert!(rdp >= 4.998_833_583_208e-7 && rdp < 4.998_833_583_209e-7);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Mironov (2017), Proposition 6; Bun and Steinke (2016), "Concentrated differential privacy", Proposition 3.3, for α
/// t²/2.
#[must_use]
pub fn laplace_rdp(order: Order, b: NoiseScale) -> f64 {
    shifted(order.get(), quotient_up(1.0, b.get()))
}

/// D_α for a shift of t scales; increasing in t.
fn shifted(a: f64, t: f64) -> f64 {
    if !(t < f64::INFINITY) {
        return f64::INFINITY;
    }
    if a * t <= SMALL {
        // α t first: t² may underflow although α t² does not, and rounding it up would then be a large step.
        return product_up(0.5, product_up(product_up(a, t), t)).min(t);
    }
    let (x, r) = ((a - 1.0) * t, (a - 1.0) / a);
    let value = if x > 1.0 {
        // (2α-1) t without intermediate overflow.
        t - (libm::log1p(r) - libm::log1p(r * libm::exp(-x - a * t))) / (a - 1.0)
    } else {
        libm::log1p((exp_remainder(x) + r * exp_remainder(-a * t)) / (1.0 + r)) / (a - 1.0)
    };
    up(value, UNITS).min(t)
}

/// RDP of the Laplace mechanism of scale b for an ℓ₁ sensitivity s, spread over any number of counts: that of
/// [`laplace_rdp`] with noise b/s on one count, rounded up. 0 for s = 0, infinite if s/b overflows.
///
/// *One count is the worst case.* As a function of the shift t = s/b, D is the logarithm of a sum of exponentials of
/// linear functions, divided by α-1, so it is convex; and it is 0 at 0. So Σ D(t_i) ≤ D(Σ t_i) for shifts t_i ≥ 0 of
/// several counts with independent noise, whose divergences add.
///
/// ```
/// # use leakbound::accountant::{laplace_mechanism_rdp, laplace_rdp};
/// # use leakbound::quantity::{NoiseScale, Order};
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
    shifted(order.get(), quotient_up(sensitivity.abs(), b.get()))
}

/// RDP of the argmax of counts with Laplace noise when one vote moves: two counts change by 1, so twice the Laplace
/// mechanism; the argmax is post-processing. At most 2/b, the pure ε of LNMax. Rounded up.
///
/// ```
/// # use leakbound::accountant::lnmax_data_independent;
/// # use leakbound::quantity::{NoiseScale, Order};
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
