//! A lower bound on the divergence of any two distributions in two boxes, from one tangent.
//!
//! F(p, q) = Σ p^α q^{1-α} is convex and homogeneous, so for any ratios r ≥ 0
//! F(p, q) ≥ Σ [α r^{α-1} p - (α-1) r^α q] (the tangent of x^α at r, x = p/q, times q), and for any λ, μ > 0 the
//! minimum of this over both boxes and simplices is at least (weak duality: g_λ Σ p = g_λ, h_μ Σ q = h_μ)
//!
//! ```text
//! g_λ - h_μ + Σ_c min over [p_l, p_u] of (g_c - g_λ) p - Σ_c max over [q_l, q_u] of (h_c - h_μ) q,
//! g = α r^{α-1}, h = (α-1) r^α,
//! ```
//!
//! with equality if r, λ and μ are those of the least favorable pair ([`super::least_favorable`]): for any values, the
//! sum minus its rounding errors is a bound.

use crate::bound::Direction;
use crate::interval::ProportionRange;
use crate::quantity::Order;
use crate::special::CompensatedSum;

/// Logarithms of ratios are limited to this: beyond it only the tangent point moves, and validity is unaffected.
pub(super) const LARGEST_LN: f64 = 700.0;
/// Up to this exponent, the tangent is computed as its difference from 1.
const PLAIN: f64 = 300.0;
/// Orders are lowered to this over the root of the largest |ln r|, where the terms of the tangent, α times larger than
/// their sum, keep three digits of F. D_α increases with α, so the result is still a bound, and D is within 1e-5 of
/// that of all higher orders there.
const LARGEST_ORDER: f64 = 1e6;
/// Relative rounding of the result.
const MARGIN: f64 = 1e-12;

/// A class whose ratio differs from a multiplier, with the ends of its ranges.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Class {
    p: [f64; 2],
    q: [f64; 2],
    ln_ratio: f64,
}

impl Class {
    fn new(&(p, q): &(ProportionRange, ProportionRange), ln_ratio: f64) -> Self {
        let ends = |range: ProportionRange| [range.lower.value, range.upper.value];
        Self { p: ends(p), q: ends(q), ln_ratio: ln_ratio.clamp(-LARGEST_LN, LARGEST_LN) }
    }

    /// The class with p - 1 and q - 1 for p and q.
    fn heaviest(pair: &(ProportionRange, ProportionRange), ln_ratio: f64) -> Self {
        let ends = |range: ProportionRange| [-range.lower.complement, -range.upper.complement];
        Self { p: ends(pair.0), q: ends(pair.1), ..Self::new(pair, ln_ratio) }
    }
}

/// Ratios and multipliers that fix a tangent for all orders and both directions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tangent {
    /// Classes of ratio ρ = λ = μ contribute nothing and are omitted.
    classes: Vec<Class>,
    /// A class with more than half of both distributions, stored as p - 1 and q - 1: with its ln r as base, g_λ - h_μ +
    /// (g_c - g_λ) p - (h_c - h_μ) q = g_c - h_c + (g_c - g_λ)(p - 1) - (h_c - h_μ)(q - 1), where nothing cancels when
    /// all else is rare.
    heaviest: Option<Class>,
    ln_lambda: f64,
    ln_mu: f64,
}

impl Tangent {
    /// From the ratio of each class; those with ratio ρ = λ = μ may be omitted.
    pub(super) fn new<'a>(
        pairs: impl Iterator<Item = (&'a (ProportionRange, ProportionRange), f64)>,
        ln_lambda: f64,
        ln_mu: f64,
    ) -> Self {
        let (mut classes, mut heaviest) = (Vec::new(), None);
        for (pair, ln_ratio) in pairs {
            if pair.0.lower.value > 0.5 && pair.1.lower.value > 0.5 {
                heaviest = Some(Class::heaviest(pair, ln_ratio));
            } else {
                classes.push(Class::new(pair, ln_ratio));
            }
        }
        Self { classes, heaviest, ln_lambda, ln_mu }
    }

    /// The smallest D_α of two distributions in the boxes, in nats, rounded down; at least 0.
    pub(super) fn divergence(&self, order: Order, direction: Direction) -> f64 {
        // Reversed, q takes the role of p with the inverse ratios: its multiplier is 1/μ, that of p is 1/λ.
        let (sign, ln_lambda, ln_mu) = match direction {
            Direction::Forward => (1.0, self.ln_lambda, self.ln_mu),
            Direction::Reverse => (-1.0, -self.ln_mu, -self.ln_lambda),
        };
        let classes = self.classes.iter().chain(&self.heaviest).map(move |class| match direction {
            Direction::Forward => *class,
            Direction::Reverse => Class { p: class.q, q: class.p, ln_ratio: sign * class.ln_ratio },
        });
        let base = self.heaviest.map_or([ln_lambda, ln_mu], |class| [sign * class.ln_ratio; 2]);
        let logs = || classes.clone().map(|class| class.ln_ratio).chain([ln_lambda, ln_mu]);
        let largest = logs().map(f64::abs).fold(0.0, f64::max);
        let a = if largest > 0.0 { order.get().min(LARGEST_ORDER / largest.sqrt()) } else { order.get() };
        let tangent = Powers::new(a * logs().fold(0.0, f64::max));
        let (mut sum, mut error) = (CompensatedSum::default(), CompensatedSum::default());
        for (factor, power) in [(a, tangent.of((a - 1.0) * base[0])), (1.0 - a, tangent.of(a * base[1]))] {
            sum.add(factor * power.value);
            error.add(factor.abs() * power.error);
        }
        let mut add = |[low, high]: [f64; 2], factor: f64, power: Rounded| {
            let slope = factor * power.value;
            let end = if slope >= 0.0 { low } else { high };
            sum.add(end * slope);
            // If rounding may have reversed the sign of the slope, the other end may have been the correct one.
            let uncertain = power.value.abs() <= 4.0 * f64::EPSILON * power.error;
            let reach = if uncertain { end.abs() + (high - low) } else { end.abs() };
            error.add(reach * factor.abs() * power.error);
        };
        for Class { p, q, ln_ratio } in classes {
            add(p, a, tangent.difference(a - 1.0, ln_ratio, ln_lambda));
            add(q, 1.0 - a, tangent.difference(a, ln_ratio, ln_mu));
        }
        // Twice the first-order errors.
        let value = (sum.value() - 2.0 * f64::EPSILON * (error.value() + sum.value().abs())).max(0.0);
        let divergence = tangent.ln(value) / (a - 1.0) * (1.0 - MARGIN);
        if divergence > 0.0 && divergence < f64::INFINITY { divergence } else { 0.0 }
    }
}

/// A number and its error in multiples of 2^-52.
#[derive(Debug, Clone, Copy)]
struct Rounded {
    value: f64,
    error: f64,
}

/// Powers r^b as functions of b ln r: minus 1 if none is too large, because Σ p = Σ q = 1 and α - (α-1) = 1, so F - 1
/// is the same sum of powers minus 1; otherwise divided by the largest.
#[derive(Debug, Clone, Copy)]
struct Powers {
    /// The exponent of the divisor.
    scale: Option<f64>,
}

impl Powers {
    fn new(largest_exponent: f64) -> Self {
        Self { scale: (largest_exponent > PLAIN).then_some(largest_exponent) }
    }

    /// e^z, minus 1 or scaled. The error of z itself, |z| 2^-53, makes one of |z| e^z: at most (1 + max(z, 0)) |e^z -
    /// 1|.
    fn of(self, z: f64) -> Rounded {
        let (value, factor) = match self.scale {
            None => (libm::expm1(z), 4.0 + z.max(0.0)),
            Some(scale) => (libm::exp(z - scale), 4.0 + 2.0 * (z.abs() + scale)),
        };
        Rounded { value, error: value.abs() * factor }
    }

    /// e^{bx} - e^{by}.
    fn difference(self, b: f64, x: f64, y: f64) -> Rounded {
        let distance = b * (x - y);
        if self.scale.is_none() && distance.abs() <= 1.0 {
            let value = libm::exp(b * y) * libm::expm1(distance);
            return Rounded { value, error: value.abs() * (8.0 + 2.0 * b * (x.abs() + y.abs())) };
        }
        let (x, y) = (self.of(b * x), self.of(b * y));
        Rounded { value: x.value - y.value, error: x.error + y.error }
    }

    /// ln F from the sum of these powers.
    fn ln(self, sum: f64) -> f64 {
        match self.scale {
            None => libm::log1p(sum),
            Some(scale) => scale + sum.ln(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_powers_keep_their_digits() {
        for (b, x, y) in [(1.0, 0.5 + 1e-9, 0.5), (2.0, -0.25, -0.25 - 1e-9), (1.0, 3.0, 0.5), (0.5, -4.0, 1.0)] {
            let found = Powers::new(1.0).difference(b, x, y);
            let expected = libm::exp(b * y) * libm::expm1(b * (x - y));
            assert!((found.value / expected - 1.0).abs() < 1e-14, "{b} {x} {y}: {found:?} {expected:e}");
            assert!(found.error < 100.0 * expected.abs(), "{b} {x} {y}: {found:?} {expected:e}");
        }
    }

    /// Equal distributions, and the tangent of ratios e^±400.
    #[test]
    fn a_tangent_far_from_both_distributions_says_nothing() {
        let half = crate::interval::ProportionLimit { value: 0.5, complement: 0.5 };
        let fair = ProportionRange { lower: half, upper: half };
        let pairs = [((fair, fair), 400.0), ((fair, fair), -400.0)];
        let tangent = Tangent::new(pairs.iter().map(|(pair, ln_ratio)| (pair, *ln_ratio)), 0.0, 0.0);
        for direction in Direction::BOTH {
            for order in [1.5, 2.0, 30.0] {
                assert_eq!(tangent.divergence(Order::new(order).unwrap(), direction), 0.0, "{order}");
            }
        }
    }
}
