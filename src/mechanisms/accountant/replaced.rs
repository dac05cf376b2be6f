//! The Gaussian mechanism on a Poisson subsample in which a record may be replaced: DP-SGD under replace-one.

use super::gaussian::gaussian_rdp;
use super::subsampled::{
    Integrand, MAX_NODES, TOLERANCE, log_mean_exp, log_power_excess, peak, subsampled_gaussian_rdp,
};
use crate::bound::outward::{product_up, quotient_up, up};
use crate::quantity::{NoiseScale, Order, Probability};
use crate::special::{log_sum_exp, softplus};

/// Beyond this many standard deviations of the farthest peak, an integrand is below 1e-24 of it.
const REACH: f64 = 12.0;
/// The longest step of the trapezoid rule, and halvings of it.
const STEP: f64 = 0.25;
const LEVELS: usize = 10;
/// -ln of the allowed error of the trapezoid rule, relative to 1 and the integral.
const DIGITS: f64 = 64.0;

/// RDP of DP-SGD under replace-one: a sum of vectors over a Poisson subsample of rate γ, with noise N(0, σ²I), for
/// datasets in which one record is replaced by another. No vector is longer than `norm` C:
/// ```text
/// D = D_α((1-γ) N(0,1) + γ N(ν,1) ‖ (1-γ) N(0,1) + γ N(-ν,1)),    ν = C/σ,
/// ```
/// in any dimension and for any real order, equal in both directions.
///
/// # Theorem
/// Let P_x = (1-γ) N(0, I) + γ N(x, I). For every convex f, D_f(P_x ‖ P_y) over all vectors x, y no longer than ν is
/// largest at y = -x, ‖x‖ = ν. This includes all Rényi divergences and every hockey-stick divergence, with e^ε above
/// or below 1. So this one pair dominates each step of DP-SGD, and its compositions dominate adaptive ones (Zhu, Dong
/// and Wang 2022, Theorem 10).
///
/// *Proof.* Given the other records of the subsample, the sum is N(h, σ²I) without the record and N(h + x, σ²I) with
/// it, and D_f is jointly convex; so it suffices to consider P_x and P_y. With Z ~ N(0, I) let U = x·Z and V = y·Z, X =
/// e^{U - ‖x‖²/2} and Y = e^{V - ‖y‖²/2}, the ratios of the densities. Then D_f(P_x ‖ P_y) = E G(p, r), with p =
/// 1-γ+γX, r = 1-γ+γY, and G(p, r) = r f(p/r), which is convex and homogeneous. Let f be smooth first. G_p is
/// homogeneous of order 0, so p G_pp + r G_pr = 0 and G_pr ≤ 0 ≤ G_pp, G_rr. The expectation depends on the covariance
/// S of (U, V) alone, and along a path of covariances (Price 1958)
/// ```text
/// d/dt E G = γ² E [ ½ S₁₁' X² G_pp + S₁₂' X Y G_pr + ½ S₂₂' Y² G_rr ],
/// ```
/// because the drifts -‖x‖²/2 and -‖y‖²/2 cancel the terms of first order. On the line from (‖x‖², x·y, ‖y‖²) to (ν²,
/// -ν², ν²) all matrices are covariances, S₁₁' and S₂₂' are not negative and S₁₂' is not positive, so no term is
/// negative. A convex f is the limit of smooth ones from above. ∎
///
/// # Numbers
/// The integral is computed by the trapezoid rule in the form E[r ((1+u)^α - 1 - αu)], u = p/r - 1, where nothing
/// cancels and all terms are positive; it falls up to z = 0 and grows from there on. In a strip of half-width d the
/// integrand
/// of E[p^α r^{1-α}] is at most e^{d²/2} cos(νd/2)^{1-α} times as large as on the line, as |A + B e^{iθ}| ≥ (A + B)
/// cos(θ/2) for positive A and B. That bounds the error of the rule, and the step is chosen so that it is below e^-64.
/// Rounded up. If that takes more than 65,536 nodes, three bounds without nodes are used: 2αν² without subsampling,
/// ln(1 - γ + γ e^{2α(α-1)ν²})/(α-1) by joint convexity, and D_α(P_x ‖ N(0, I)) - ln(1-γ), since r ≥ 1-γ.
///
/// ```
/// # use leakbound::accountant::{replaced_gaussian_rdp, subsampled_gaussian_rdp};
/// # use leakbound::quantity::{NoiseScale, Order, Probability};
/// let (order, rate, sigma) = (Order::new(2.0)?, Probability::new(0.01)?, NoiseScale::new(5.0)?);
/// // Four times what a record costs that is added, for little of it.
/// let ratio = replaced_gaussian_rdp(order, rate, sigma, 1.0) / subsampled_gaussian_rdp(order, rate, sigma, 1.0);
/// assert!((ratio - 4.0).abs() < 0.1);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Abadi et al. (2016), "Deep learning with differential privacy", for the mechanism; the theorem is proved here. For
/// why it takes a proof, see Lebeda, Regehr, Kamath and Steinke (2024), "Avoiding pitfalls for privacy accounting of
/// subsampled mechanisms under composition". Trefethen and Weideman (2014), "The exponentially convergent trapezoidal
/// rule", Theorem 5.1.
#[must_use]
pub fn replaced_gaussian_rdp(order: Order, rate: Probability, sigma: NoiseScale, norm: f64) -> f64 {
    let (a, q) = (order.get(), rate.get());
    let shift = quotient_up(norm.abs(), sigma.get());
    let whole = gaussian_rdp(order, sigma, product_up(2.0, norm.abs()));
    if q == 0.0 || shift == 0.0 {
        return 0.0;
    }
    if q == 1.0 || !whole.is_finite() {
        return whole;
    }
    // e^x is off by x rounding errors of it, which its logarithm takes back from 1 on.
    let convex = log_mean_exp(q, up((a - 1.0) * whole, 2.0)) / (a - 1.0) * (1.0 + TOLERANCE);
    let removed = up(subsampled_gaussian_rdp(order, rate, sigma, norm) - libm::log1p(-q), 4.0);
    let rule = Rule::new(a, q, shift).map_or(f64::INFINITY, |rule| rule.rdp());
    rule.min(convex.next_up()).min(removed).min(whole)
}

/// ln p and ln r, and p/r - 1, at z.
struct Ratio {
    q: f64,
    shift: f64,
    z: f64,
}

impl Ratio {
    /// The exponent w of each: the logarithms of the ratios without subsampling.
    fn exponents(&self) -> [f64; 2] {
        let drift = 0.5 * self.shift * self.shift;
        [self.z * self.shift - drift, -self.z * self.shift - drift]
    }

    fn ln_r(&self) -> f64 {
        log_mean_exp(self.q, self.exponents()[1])
    }

    fn ln(&self) -> f64 {
        let [p, r] = self.exponents().map(|w| log_mean_exp(self.q, w));
        p - r
    }

    fn minus_one(&self) -> f64 {
        let ([w, other], apart) = (self.exponents(), 2.0 * self.z * self.shift);
        if w.max(other) > 40.0 || apart.abs() > 600.0 {
            return libm::expm1(self.ln());
        }
        // q (e^w - e^other)/r, by the smaller of the two powers.
        let difference =
            if apart > 0.0 { libm::exp(other) * libm::expm1(apart) } else { -libm::exp(w) * libm::expm1(-apart) };
        self.q * difference / (1.0 + self.q * libm::expm1(other))
    }
}

/// ln E[r ((1+u)^a - 1 - a u)] by a trapezoid rule whose error is known.
struct Rule {
    a: f64,
    q: f64,
    shift: f64,
    step: f64,
    nodes: usize,
    /// The possible error of the rule, relative to 1 and the integral.
    error: f64,
}

impl Rule {
    /// `None` if it would be too long.
    fn new(a: f64, q: f64, shift: f64) -> Option<Self> {
        let length = ((2.0 * a - 1.0).max(3.0) + 3.0) * shift + 2.0 * REACH;
        let mut step = STEP.min(0.4 / shift);
        for _ in 0..=LEVELS {
            let nodes = length / step;
            if !(nodes <= MAX_NODES) {
                return None;
            }
            let digits = digits(a, shift, step);
            if digits >= DIGITS {
                return Some(Self { a, q, shift, step, nodes: nodes.ceil() as usize, error: 3.0 * libm::exp(-digits) });
            }
            step *= 0.5;
        }
        None
    }

    fn at(&self, z: f64) -> Ratio {
        Ratio { q: self.q, shift: self.shift, z }
    }

    fn rdp(&self) -> f64 {
        let excess = |z: f64| {
            let ratio = self.at(z);
            ratio.ln_r() + log_power_excess(self.a, ratio.minus_one(), || ratio.ln())
        };
        let integrand = Integrand { excess, low: -3.0 * self.shift - REACH, step: self.step };
        let terms = integrand.largest_terms(self.nodes);
        let ln = log_sum_exp(terms.iter().map(|(_, term)| *term)) + self.step.ln();
        // As for the subsample to which a record is added: the largest term decides, and both exponents count in it,
        // one with weight a and one with a + 1.
        let z = peak(&terms);
        let w = z.abs() * self.shift + 0.5 * self.shift * self.shift;
        let exponent = w + if w > 40.0 { self.q.ln().abs() } else { 0.0 };
        let size = (2.0 * self.a + 1.0) * exponent + z * z + ln.abs();
        let ln = ln + TOLERANCE + 4.0 * f64::EPSILON * size;
        up((softplus(ln) + self.error) / (self.a - 1.0), 8.0)
    }
}

/// -ln of e^{d²/2} cos(νd/2)^{1-a} e^{-2πd/h}, for a half-width d near the best one.
fn digits(a: f64, shift: f64, step: f64) -> f64 {
    let frequency = 2.0 * std::f64::consts::PI / step;
    // cos x is about e^{-x²/2}; the integrand has poles at νd = π.
    let d = (frequency / (1.0 + 0.25 * (a - 1.0) * shift * shift)).min(2.5 / shift);
    frequency * d - 0.5 * d * d + (a - 1.0) * libm::cos(0.5 * shift * d).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rdp(a: f64, q: f64, sigma: f64) -> f64 {
        let scale = NoiseScale::new(sigma).unwrap();
        replaced_gaussian_rdp(Order::new(a).unwrap(), Probability::new(q).unwrap(), scale, 1.0)
    }

    /// E[p^α r^{1-α}] on a fine grid, for vectors of a plane in units of the noise.
    fn in_a_plane(a: f64, q: f64, x: [f64; 2], y: [f64; 2]) -> f64 {
        let step = 0.05;
        let places = || (-240..=240).map(|i| step * f64::from(i));
        let ratio = |v: [f64; 2], z: [f64; 2]| {
            1.0 - q + q * libm::exp(v[0] * z[0] + v[1] * z[1] - 0.5 * (v[0] * v[0] + v[1] * v[1]))
        };
        let term = |z: [f64; 2]| {
            let density = libm::exp(-0.5 * (z[0] * z[0] + z[1] * z[1])) / (2.0 * std::f64::consts::PI);
            density * libm::pow(ratio(x, z), a) * libm::pow(ratio(y, z), 1.0 - a)
        };
        let sum: f64 = places().map(|first| places().map(|second| term([first, second])).sum::<f64>()).sum();
        (sum * step * step).ln() / (a - 1.0)
    }

    /// The worst pair has opposite vectors of full length; every other pair leaks less, in both directions.
    #[test]
    fn opposite_vectors_are_the_worst() {
        for (a, q, sigma) in [(2.0, 0.3, 1.0), (1.3, 0.05, 0.7), (3.5, 0.8, 2.0)] {
            let (bound, long) = (rdp(a, q, sigma), 1.0 / sigma);
            let worst = in_a_plane(a, q, [0.6 * long, 0.8 * long], [-0.6 * long, -0.8 * long]);
            assert!((worst / bound - 1.0).abs() < 1e-9, "{a} {q} {sigma}: {worst} {bound}");
            for (length, other, angle) in
                [(1.0, 1.0, 3.0), (1.0, 0.9, std::f64::consts::PI), (0.5, 1.0, 2.0), (1.0, 0.0, 0.0), (0.9, 0.9, 0.1)]
            {
                let x = [length * long, 0.0];
                let y = [other * long * f64::cos(angle), other * long * f64::sin(angle)];
                for [x, y] in [[x, y], [y, x]] {
                    let found = in_a_plane(a, q, x, y);
                    assert!(found < bound, "{a} {q} {sigma}, {x:?} {y:?}: {found} {bound}");
                }
            }
        }
    }

    /// Σ over the grid of (P - e^ε R)⁺, for one dimension and every sign of ε.
    #[test]
    fn opposite_places_have_the_largest_profile() {
        let profile = |q: f64, [x, y]: [f64; 2], epsilon: f64| -> f64 {
            let step = 0.01;
            let ratio = |v: f64, z: f64| 1.0 - q + q * libm::exp(v * z - 0.5 * v * v);
            let excess = |z: f64| (ratio(x, z) - libm::exp(epsilon) * ratio(y, z)).max(0.0) * libm::exp(-0.5 * z * z);
            (-1500..=1500).map(|i| excess(step * f64::from(i))).sum::<f64>() * step
                / libm::sqrt(2.0 * std::f64::consts::PI)
        };
        for (q, long) in [(0.01, 1.25), (0.3, 0.5), (0.9, 2.0)] {
            for epsilon in [-2.0, -0.3, 0.0, 0.05, 0.5, 2.0] {
                let worst = profile(q, [long, -long], epsilon);
                for pair in [[1.0, 1.0], [1.0, 0.0], [0.0, -1.0], [0.8, -1.0], [1.0, -0.7], [0.4, -0.4], [-1.0, 0.5]] {
                    let found = profile(q, pair.map(|v| v * long), epsilon);
                    // Sums on a grid are off by the kink of the integrand.
                    assert!(found <= worst * (1.0 + 1e-5) + 1e-12, "{q} {long} {epsilon} {pair:?}: {found} {worst}");
                }
            }
        }
    }

    /// For a small rate, γ² E (X - Y)² = 2 γ² (e^{ν²} - e^{-ν²}) remains at order 2.
    #[test]
    fn little_rates_have_a_closed_form() {
        for (q, sigma) in [(1e-9, 1.0), (1e-12, 0.5), (1e-10, 30.0)] {
            let v = 1.0 / (sigma * sigma);
            let expected = q * q * 2.0 * (libm::exp(v) - libm::exp(-v));
            let found = rdp(2.0, q, sigma);
            assert!((found / expected - 1.0).abs() < 1e-6, "{q} {sigma}: {found} {expected}");
        }
    }

    #[test]
    fn limits() {
        assert_eq!(rdp(7.5, 0.0, 2.0), 0.0);
        assert_eq!(rdp(8.0, 1.0, 2.0), 4.0);
        // No order, rate or noise gives more than without subsampling, less than for an added record, or NaN. (At large
        // orders the bound for the added record is not tight.)
        for a in [1.0 + 1e-12, 1.01, 2.0, 30.0, 1e3, 1e6, 1e12, 1e300] {
            for q in [1e-300, 1e-9, 0.2, 0.9, 1.0 - 1e-12] {
                for sigma in [1e-300, 1e-3, 0.05, 1.0, 1e3, 1e150] {
                    let (order, scale) = (Order::new(a).unwrap(), NoiseScale::new(sigma).unwrap());
                    let value = rdp(a, q, sigma);
                    let whole = gaussian_rdp(order, scale, 2.0);
                    assert!(value >= 0.0 && value <= whole, "{a} {q} {sigma}: {value} {whole}");
                    let added = subsampled_gaussian_rdp(order, Probability::new(q).unwrap(), scale, 1.0);
                    assert!(a > 100.0 || value >= added * (1.0 - 1e-9), "{a} {q} {sigma}: {value} {added}");
                }
            }
        }
    }

    /// Bounds without nodes are above the integral and close to it where they take over.
    #[test]
    fn the_bound_of_large_orders_continues_the_integral() {
        for (q, sigma) in [(0.2, 1.0), (0.01, 2.0)] {
            let values = [10.0, 100.0, 1000.0, 1e4, 1e5, 1e6].map(|a| rdp(a, q, sigma));
            assert!(values.is_sorted(), "{values:?}");
            let asymptotic = 0.5e6 / (sigma * sigma);
            assert!((values[5] / asymptotic - 1.0).abs() < 0.01, "{values:?}");
        }
    }
}
