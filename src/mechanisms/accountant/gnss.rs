//! GNSS: a number released with Gaussian noise proportional to its smooth sensitivity.

use crate::bound::outward::{over_square_up, product_up, sum_up, up};
use crate::quantity::{NoiseScale, Order};
use crate::special::{exp_remainder, log_remainder};

/// RDP of releasing f(D) + SS(D) N(0, σ²), where SS is a β-smooth upper bound of the local sensitivity of f:
/// ```text
/// D = α e^{-2β}/(2σ² (1 - αu)) - [½ ln(1 - αu) + αβ]/(α-1),    u = 1 - e^{-2β},
/// ```
/// for α u < 1, infinite beyond. It is attained by a chain of datasets along which the steps of f grow by e^β, so no
/// smaller bound holds for all f.
///
/// *Proof.* Two neighbors have s₀ = SS(D), s₁ = SS(D') with r = s₁/s₀ in [e^{-β}, e^β], and |f(D) - f(D')| ≤ min(s₀,
/// s₁), as the local sensitivity of either bounds the difference. The divergence of two normal distributions is α Δ²/(2
/// s*²) + ln(s*/(s₀^{1-α} s₁^α))/(1-α), s*² = (1-α) s₀² + α s₁², with standard deviations σ s_i, that is with w = 1 + α
/// (r²-1):
/// ```text
/// α min(1, r²)/(2σ² w) + g(r),    g(r) = [½ ln w - α ln r]/(1-α).
/// ```
/// The first term decreases in r below 1 and above; r g'(r) = α (r²-1)/w, so g falls to 0 at r = 1 and rises after it,
/// at every distance |ln r| less than it falls before: with v = 1 - e^{-2t}, αv/(1-αv) ≥ αv/(1 + (α-1)v). So the
/// largest value is at r = e^{-β}. ∎
///
/// *In doubles.* With E = e^{2β} - 1 and z = (α-1)E, α u < 1 is z < 1, 1 - αu = (1-z) e^{-2β}, and both parts are sums
/// of positive terms that grow with E and z:
/// ```text
/// D = α/(2σ² (1-z)) + ½ [e^{2β} - 1 - 2β + (-ln(1-z) - z)/(α-1)].
/// ```
/// E and z are rounded up, and so is D, by 4e-15 of it; it is infinite if z reaches 1 to within rounding.
///
/// *The published formula* is `gnss_rdp_as_published`: its first term is α e^{2β}/σ², twice as large if αβ is small,
/// and too small if 1 - αu < e^{-4β}/2, for αβ above about 1/4.
///
/// ```
/// # use leakbound::accountant::gnss_rdp;
/// # use leakbound::quantity::{NoiseScale, Order};
/// let (order, sigma) = (Order::new(20.0)?, NoiseScale::new(5.0)?);
/// assert!((gnss_rdp(order, 0.02, sigma) / 1.800_282_698_594_32 - 1.0).abs() < 1e-12);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2018), "Scalable private learning with PATE", appendix B.4, for the mechanism; Gil, Alajaji and
/// Linder (2013) for the divergence of normal distributions; Nissim, Raskhodnikova and Smith (2007) for smooth
/// sensitivity.
#[must_use]
pub fn gnss_rdp(order: Order, beta: f64, sigma: NoiseScale) -> f64 {
    let (a, s) = (order.get(), sigma.get());
    if !(beta >= 0.0) {
        return f64::INFINITY;
    }
    if beta == 0.0 {
        return product_up(0.5, over_square_up(a, s));
    }
    let excess = up(libm::expm1(2.0 * beta), 2.0);
    let less_one = if a > 2.0 { (a - 1.0).next_up() } else { a - 1.0 };
    let z = product_up(less_one, excess);
    if !(z < 1.0) {
        return f64::INFINITY;
    }
    let distance = over_square_up(up(0.5 * a / (1.0 - z), 4.0), s);
    // z is at least a subnormal number; there -ln(1-z) - z is below z², and z/(α-1) is E.
    let of_z = if z < 1e-100 { product_up(z, excess) } else { up(log_remainder(z) / (a - 1.0), 16.0) };
    let widths = product_up(0.5, sum_up(up(exp_remainder(2.0 * beta), 12.0), of_z));
    sum_up(distance, widths)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D_α(N(Δ, s₀²) ‖ N(0, s₁²)) by the trapezoid rule.
    fn divergence(a: f64, delta: f64, s0: f64, s1: f64) -> f64 {
        let ln_density = |x: f64, s: f64| -0.5 * (x / s).powi(2) - s.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln();
        let step = 0.002 * s0.min(s1);
        let sum: f64 = (-200_000..=200_000)
            .map(|i| f64::from(i) * step)
            .map(|x| (a * ln_density(x - delta, s0) + (1.0 - a) * ln_density(x, s1)).exp())
            .sum();
        (sum * step).ln() / (a - 1.0)
    }

    #[test]
    fn the_worst_pair_attains_it_and_no_other_exceeds_it() {
        for (a, beta, sigma) in [(2.0, 0.05, 1.5), (5.0, 0.02, 2.0), (1.3, 0.3, 1.0), (20.0, 0.02, 5.0)] {
            let bound = gnss_rdp(Order::new(a).unwrap(), beta, NoiseScale::new(sigma).unwrap());
            let mut most: f64 = 0.0;
            for step in -8i32..=8 {
                let r = (beta * f64::from(step) / 8.0).exp();
                for share in [0.0, 0.5, 1.0] {
                    most = most.max(divergence(a, share * r.min(1.0), sigma, sigma * r));
                }
            }
            assert!((most / bound - 1.0).abs() < 1e-9, "{a} {beta} {sigma}: {most} {bound}");
        }
    }

    #[test]
    fn little_of_the_order_is_left_where_smoothing_is_large() {
        let (order, sigma) = (Order::new(20.0).unwrap(), NoiseScale::new(5.0).unwrap());
        assert_eq!(gnss_rdp(order, 0.03, sigma), f64::INFINITY);
        assert_eq!(gnss_rdp(order, f64::NAN, sigma), f64::INFINITY);
    }
}
