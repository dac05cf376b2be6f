//! The Gaussian measure of the cone "first wins": two coordinates with correlation 1/√2 are both positive.

use crate::special::{exp_in_loops, log_ndtr};
use crate::vectorized::{Arch, in_vectors};
use std::f64::consts::{FRAC_PI_4, PI};
use std::sync::LazyLock;

/// How far the exponent may fall within the range of the angle, and the number of nodes this takes, multiples of four:
/// errors of 2e-14.
const FEW: (f64, usize) = (2.0, 12);
const SOME: (f64, usize) = (6.0, 16);
const MANY: (f64, usize) = (16.0, 24);
/// Beyond this fall below the peak, an integrand is omitted: 2e-15.
const DROP: f64 = 34.0;
/// Up to this exponent, no integrand of the whole range underflows, and a digit is left in it.
const UNDERFLOW: f64 = 64.0;
/// Panels of a window in which the exponent falls by `DROP`, and the nodes of each: errors of 2e-13.
const PANELS: usize = 2;
const NODES: usize = 20;

/// ln P(u + Z₁ > 0, s + (Z₁ - Z₂)/√2 > 0) for independent normal Z, with the s-coordinate s = (u - v)/√2: the first of
/// two noisy counts is positive and the larger.
///
/// The two normals have correlation 1/√2, and integrating ∂P/∂ρ (Plackett) over ρ = sin θ,
/// ```text
/// P = Φ(u) Φ(s) + 1/(2π) ∫_0^{π/4} exp(-(u² - 2 u s sin θ + s²)/(2 cos² θ)) dθ,
/// ```
/// two positive terms: nothing cancels in the tails. The integral is computed by Gauss-Legendre panels on the window in
/// which the exponent is within 34 of its peak, to 2e-13 of its value.
///
/// # References
/// Plackett (1954); Drezner and Wesolowsky (1990); Genz (2004).
pub(super) fn ln_first_wins(u: f64, s: f64) -> f64 {
    let product = log_ndtr(u) + log_ndtr(s);
    let (peak, integral) = angle_integral(u, s);
    let integral = (integral / (2.0 * PI)).ln() - peak;
    let (high, low) = if product > integral { (product, integral) } else { (integral, product) };
    high + libm::log1p(libm::exp(low - high))
}

/// The second term of the same as a probability, without the product Φ(u) Φ(s), for |u|, |s| below about 25.
pub(super) fn corner(u: f64, s: f64) -> f64 {
    let (base, integral) = angle_integral(u, s);
    integral * if base == 0.0 { 1.0 } else { libm::exp(-base) } / (2.0 * PI)
}

/// A base near the smallest exponent e of the integrand exp(-e), or 0, and ∫ exp(base - e) dθ.
fn angle_integral(u: f64, s: f64) -> (f64, f64) {
    let rule = &*RULE;
    in_vectors!(rule.arch, rule.angle_integral(u, s))
}

/// Σ terms · weights in four sums, which do not wait for each other.
#[inline(always)]
fn dot<const N: usize>(terms: &[f64; N], weights: &[f64; N]) -> f64 {
    let mut sums = [0.0; 4];
    for (terms, weights) in terms.as_chunks::<4>().0.iter().zip(weights.as_chunks::<4>().0) {
        for (sum, (term, weight)) in sums.iter_mut().zip(terms.iter().zip(weights)) {
            *sum += term * weight;
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// Gauss-Legendre nodes and weights on [-1, 1], and rules for the whole range of the angle.
struct Rule {
    arch: Arch,
    places: [f64; NODES],
    weights: [f64; NODES],
    few: Angles<{ FEW.1 }>,
    some: Angles<{ SOME.1 }>,
    many: Angles<{ MANY.1 }>,
}

static RULE: LazyLock<Rule> = LazyLock::new(|| Rule {
    arch: Arch::new(),
    places: gauss_legendre().map(|(x, _)| x),
    weights: gauss_legendre().map(|(_, weight)| weight),
    few: Angles::gauss_legendre(),
    some: Angles::gauss_legendre(),
    many: Angles::gauss_legendre(),
});

impl Rule {
    #[inline(always)]
    fn angle_integral(&self, u: f64, s: f64) -> (f64, f64) {
        let (squares, product) = (u * u + s * s, u * s);
        let ends = [0.5 * squares, squares - std::f64::consts::SQRT_2 * product];
        let (near, far) = (u.abs().min(s.abs()), u.abs().max(s.abs()));
        // The derivative vanishes at sin θ = near/far, where the exponent is far²/2.
        let inside = product > 0.0 && near < far * std::f64::consts::FRAC_1_SQRT_2;
        let smallest = if inside { 0.5 * far * far } else { ends[0].min(ends[1]) };
        let fall = ends[0].max(ends[1]) - smallest;
        if fall <= MANY.0 {
            let base = if smallest <= UNDERFLOW { 0.0 } else { smallest };
            let sum = match fall {
                _ if fall <= FEW.0 => self.few.sum(squares, product, base),
                _ if fall <= SOME.0 => self.some.sum(squares, product, base),
                _ => self.many.sum(squares, product, base),
            };
            return (base, sum);
        }
        // exponent = c at the roots y = sin θ of 2c y² - 2us y + u² + s² - 2c = 0.
        let c = smallest + DROP;
        let root = (product * product - 2.0 * c * (squares - 2.0 * c)).max(0.0).sqrt();
        let tangent = |y: f64| {
            let y = y.clamp(0.0, std::f64::consts::FRAC_1_SQRT_2);
            y / (1.0 - y * y).sqrt()
        };
        let (low, high) = (tangent((product - root) / (2.0 * c)), tangent((product + root) / (2.0 * c)));
        let half = 0.5 * (high - low) / PANELS as f64;
        let mut sum = 0.0;
        // w = tan θ: sin θ/cos² θ = w √(1 + w²) needs no sine, and dθ = dw/(1 + w²).
        for panel in 0..PANELS {
            let center = low + (2 * panel + 1) as f64 * half;
            let mut terms = [0.0; NODES];
            for (term, x) in terms.iter_mut().zip(&self.places) {
                let w = center + half * x;
                let square = 1.0 + w * w;
                let exponent = 0.5 * squares * square - product * w * square.sqrt();
                *term = exp_in_loops(smallest - exponent) / square;
            }
            sum += dot(&terms, &self.weights);
        }
        (smallest, sum * half)
    }
}

/// A rule on [0, π/4]: sin θ, 1/(2 cos² θ) and the weight of each node.
struct Angles<const N: usize> {
    sine: [f64; N],
    half_secant: [f64; N],
    weight: [f64; N],
}

impl<const N: usize> Angles<N> {
    fn gauss_legendre() -> Self {
        let half = 0.5 * FRAC_PI_4;
        let nodes = gauss_legendre::<N>();
        let angles = nodes.map(|(x, _)| (half * (1.0 + x)).sin_cos());
        Self {
            sine: angles.map(|(sine, _)| sine),
            half_secant: angles.map(|(_, cosine)| 0.5 / (cosine * cosine)),
            weight: nodes.map(|(_, weight)| half * weight),
        }
    }

    /// ∫ exp(base - (squares/2 - product sin θ)/cos² θ) dθ.
    #[inline(always)]
    fn sum(&self, squares: f64, product: f64, base: f64) -> f64 {
        let mut terms = [0.0; N];
        for (term, (sine, half_secant)) in terms.iter_mut().zip(self.sine.iter().zip(&self.half_secant)) {
            *term = exp_in_loops(base - (squares - 2.0 * product * sine) * half_secant);
        }
        dot(&terms, &self.weight)
    }
}

/// Nodes and weights of the Gauss-Legendre rule on [-1, 1]: Newton's method on P_N from Tricomi's approximation.
pub(super) fn gauss_legendre<const N: usize>() -> [(f64, f64); N] {
    std::array::from_fn(|node| {
        let mut x = (PI * (node as f64 + 0.75) / (N as f64 + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..8 {
            let (mut before, mut value) = (1.0, x);
            for degree in 2..=N {
                let n = degree as f64;
                (before, value) = (value, ((2.0 * n - 1.0) * x * value - (n - 1.0) * before) / n);
            }
            slope = N as f64 * (before - x * value) / (1.0 - x * x);
            x -= value / slope;
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::ndtr;

    /// By its definition: ∫_0^∞ φ(x-u) Φ(x-v) dx.
    fn by_density(u: f64, s: f64) -> f64 {
        let v = u - std::f64::consts::SQRT_2 * s;
        let g = |x: f64| crate::special::log_normal_density(x - u) + log_ndtr(x - v);
        // The peak of the concave g on [0, ∞), by bisection of its difference quotient.
        let (mut low, mut high) = (0.0f64, u.abs() + v.abs() + 10.0);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if g(middle + 1e-7) > g(middle) { low = middle } else { high = middle }
        }
        let top = g(low);
        let reach = |sign: f64| {
            let mut far = 0.0;
            while far < 200.0 && (sign > 0.0 || low > far) && g(low + sign * far) > top - 45.0 {
                far += 0.05
            }
            (low + sign * far).max(0.0)
        };
        let (from, to) = (reach(-1.0), reach(1.0));
        let pieces = 60;
        let width = (to - from) / f64::from(pieces);
        let sum: f64 = (0..pieces)
            .flat_map(|piece| {
                gauss_legendre::<8>().map(|(x, weight)| {
                    let at = from + (f64::from(piece) + 0.5 * (1.0 + x)) * width;
                    0.5 * width * weight * libm::exp(g(at) - top)
                })
            })
            .sum();
        top + sum.ln()
    }

    #[test]
    fn the_rule_is_exact_for_polynomials() {
        let rule = gauss_legendre::<24>();
        for degree in [0, 1, 2, 10, 46, 47] {
            let sum: f64 = rule.iter().map(|(x, weight)| weight * x.powi(degree)).sum();
            let expected = if degree % 2 == 0 { 2.0 / f64::from(degree + 1) } else { 0.0 };
            assert!((sum - expected).abs() < 1e-14, "{degree}: {sum}");
        }
    }

    #[test]
    fn the_cone_agrees_with_its_density_everywhere() {
        let mut worst = 0.0f64;
        for i in (-40i32..=40).step_by(3) {
            for j in (-40i32..=40).step_by(5) {
                // Dense near the origin, sparse far out.
                let place = |i: i32| f64::from(i) * 0.1 * (1.0 + (f64::from(i) / 16.0).powi(2));
                let (u, s) = (place(i), place(j));
                let error = (ln_first_wins(u, s) - by_density(u, s)).abs() / (1.0 + 0.01 * by_density(u, s).abs());
                worst = worst.max(error);
                assert!(error < 3e-13, "{u} {s}: {} {}", ln_first_wins(u, s), by_density(u, s));
                if u.abs().max(s.abs()) < 20.0 {
                    let linear = (ndtr(u) * ndtr(s) + corner(u, s)) / ln_first_wins(u, s).exp() - 1.0;
                    assert!(linear.abs() < 1e-12, "{u} {s}");
                }
            }
        }
        println!("largest error {worst:e}");
    }
}
