//! The three outcomes of two noisy counts before a threshold, where one vote moves from the first to the second.
//!
//! Coordinates s = (u-v)/√2, t = (u+v)/√2, so that the vote moves along s by √2 h, h = 1/σ. The cells of the plane are
//! the quadrant u, v < 0 (neither) and the two cones on either side of the ray s = 0, t > 0. With the densities on the
//! rays R = φ(s)Φ(t), R_u = φ(u)Φ(-v), R_v = φ(v)Φ(-u):
//! ```text
//! ∂_s p_first = R + R_u/√2,   ∂_s p_second = -R - R_v/√2,   ∂_s p_neither = (R_v - R_u)/√2,
//! ∇²p_first = -s φ(s) Φ(t) ss' - u φ(u) Φ(-v) uu' + ½ φ(s) φ(t) (ss' + st' + ts' - tt'),
//! ```
//! with unit vectors, and alike for the others; every derivative is a polynomial times densities times Φ.

use super::cone::{first_wins, gauss_legendre, ln_first_wins};
use super::objective::{DensityBounds, End, Outcome, Reach};
use crate::special::{log_ndtr, log_normal_density, ndtr};
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};
use std::sync::LazyLock;

/// Below this shift differences of probabilities are integrals of their derivative.
const SMALL_SHIFT: f64 = 1e-3;
/// From this shift on a ratio of probabilities may lose a digit: it is not close to one.
const NEAR: f64 = 0.05;
/// From here on a box and its translate have bounds of their own.
const LONG_SHIFT: f64 = 0.5;
/// Beyond so many standard deviations only logarithms of probabilities are kept.
const FAR: f64 = 25.0;

/// Probabilities at (s, t) and at (s - √2 h, t), with bounds of derivatives in a box around.
pub(super) fn outcomes(s: f64, t: f64, h: f64, reach: Reach) -> [Outcome; 3] {
    let shift = SQRT_2 * h;
    let (u, v) = ((t + s) * FRAC_1_SQRT_2, (t - s) * FRAC_1_SQRT_2);
    let far = u.abs().max(v.abs()) + h > FAR;
    let largest_rest = if h < NEAR { 0.5 } else { 0.75 };
    let (p, q) = (Cones::at(s, t, far, largest_rest), Cones::at(s - shift, t, far, largest_rest));
    let l: [f64; 3] = if h < SMALL_SHIFT && !far {
        let difference = differences(s, t, shift);
        std::array::from_fn(|i| libm::log1p(difference[i] / q.p[i]))
    } else {
        std::array::from_fn(|i| p.ln_p[i] - q.ln_p[i])
    };
    // On the box, its translate and all between; for long shifts the two by themselves.
    let across = Across::over(t - reach.t, t + reach.t);
    let (third, second, second_moved) = if shift > LONG_SHIFT {
        let (here, moved) = (Place::around(s, s, t, reach), Place::around(s - shift, s - shift, t, reach));
        let (_, third) = moved.joined(&here).derivative_bounds(across);
        (third, here.derivative_bounds(across).0, moved.derivative_bounds(across).0)
    } else {
        let (whole, third) = Place::around(s - shift, s, t, reach).derivative_bounds(across);
        (third, whole, whole)
    };
    std::array::from_fn(|i| Outcome {
        p: p.p[i],
        q: q.p[i],
        ln_q: q.ln_p[i],
        l: l[i],
        growth: libm::expm1(l[i]),
        second: second[i],
        second_moved: second_moved[i],
        third: third[i],
    })
}

/// Neither, first, second.
struct Cones {
    p: [f64; 3],
    ln_p: [f64; 3],
}

impl Cones {
    /// The leading cell is found from the others where these are less than `largest_rest` together.
    fn at(s: f64, t: f64, far: bool, largest_rest: f64) -> Self {
        let (u, v) = ((t + s) * FRAC_1_SQRT_2, (t - s) * FRAC_1_SQRT_2);
        // A probability and its logarithm, from whichever is computed.
        let cone = |u: f64, s: f64| {
            if far {
                let ln_p = ln_first_wins(u, s);
                (libm::exp(ln_p), ln_p)
            } else {
                let p = first_wins(u, s);
                (p, p.ln())
            }
        };
        let neither = if far {
            let ln_p = log_ndtr(-u) + log_ndtr(-v);
            (libm::exp(ln_p), ln_p)
        } else {
            let p = ndtr(-u) * ndtr(-v);
            (p, p.ln())
        };
        let first_leads = s >= 0.0;
        let behind = if first_leads { cone(v, -s) } else { cone(u, s) };
        // The largest from the others, which hold its digits.
        let rest = neither.0 + behind.0;
        let ahead = if rest < largest_rest {
            (1.0 - rest, libm::log1p(-rest))
        } else if first_leads {
            cone(u, s)
        } else {
            cone(v, -s)
        };
        let winners = if first_leads { [ahead, behind] } else { [behind, ahead] };
        let mut all = [neither, winners[0], winners[1]];
        if let Some(top) = all.iter().position(|cell| cell.0 > 0.5) {
            let rest: f64 = (0..3).filter(|&i| i != top).map(|i| all[i].0).sum();
            all[top] = (1.0 - rest, libm::log1p(-rest));
        }
        let (p, ln_p) = (all.map(|cell| cell.0), all.map(|cell| cell.1));
        Self { p, ln_p }
    }
}

static SEGMENT: LazyLock<[(f64, f64); 4]> = LazyLock::new(gauss_legendre);

/// p(s, t) - p(s - shift, t): the integral of ∂_s p over a short segment.
fn differences(s: f64, t: f64, shift: f64) -> [f64; 3] {
    let above = ndtr(t);
    let mut sum = [0.0; 3];
    for (x, weight) in *SEGMENT {
        let s = s - 0.5 * shift * (1.0 + x);
        let (u, v) = ((t + s) * FRAC_1_SQRT_2, (t - s) * FRAC_1_SQRT_2);
        let phi = |x: f64| libm::exp(log_normal_density(x));
        let ray = phi(s) * above;
        let (ray_u, ray_v) = (phi(u) * ndtr(-v) * FRAC_1_SQRT_2, phi(v) * ndtr(-u) * FRAC_1_SQRT_2);
        let slopes = [ray_v - ray_u, ray + ray_u, -ray - ray_v];
        sum.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += 0.5 * shift * weight * slope);
    }
    sum
}

/// What is bounded along t.
#[derive(Debug, Clone, Copy)]
struct Across {
    density: f64,
    above: f64,
}

impl Across {
    fn over(low: f64, high: f64) -> Self {
        Self { density: DensityBounds::over(low, high).density, above: ndtr(high) }
    }
}

/// A box, by the ends of its projections to s and to the two counts, and how often these stay below the threshold.
#[derive(Debug, Clone, Copy)]
struct Place {
    s: [End; 2],
    u: [End; 2],
    v: [End; 2],
    below_u: f64,
    below_v: f64,
}

impl Place {
    /// The boxes around (s, t) for all s between two places.
    fn around(s_low: f64, s_high: f64, t: f64, reach: Reach) -> Self {
        let (s_low, s_high) = (s_low - reach.s, s_high + reach.s);
        let (t_low, t_high) = (t - reach.t, t + reach.t);
        let ends = |low: f64, high: f64| [End::at(low), End::at(high)];
        let u = ends((t_low + s_low) * FRAC_1_SQRT_2, (t_high + s_high) * FRAC_1_SQRT_2);
        let v = ends((t_low - s_high) * FRAC_1_SQRT_2, (t_high - s_low) * FRAC_1_SQRT_2);
        Self { s: ends(s_low, s_high), u, v, below_u: ndtr(-u[0].x), below_v: ndtr(-v[0].x) }
    }

    /// From this box to another at larger s, and all between.
    fn joined(&self, other: &Self) -> Self {
        Self {
            s: [self.s[0], other.s[1]],
            u: [self.u[0], other.u[1]],
            v: [other.v[0], self.v[1]],
            below_u: self.below_u,
            below_v: other.below_v,
        }
    }

    /// Bounds of |∂²p| and |∂_s ∂²p| (ss, st, tt) on the box.
    fn derivative_bounds(&self, across: Across) -> ([[f64; 3]; 3], [[f64; 3]; 3]) {
        let [along, of_u, of_v] = [self.s, self.u, self.v].map(|[low, high]| DensityBounds::between(low, high));
        let (below_u, below_v, above_t) = (self.below_u, self.below_v, across.above);
        let centre = along.density * across.density;
        // Of -u φ(u) Φ(-v) in a direction that is at 45 degrees to both axes, and its derivative along s.
        let (arm_u, arm_v) = (0.5 * of_u.first * below_v, 0.5 * of_v.first * below_u);
        let half = 0.5 * FRAC_1_SQRT_2;
        let bent_u = half * (of_u.second * below_v + of_u.first * of_v.density);
        let bent_v = half * (of_v.second * below_u + of_v.first * of_u.density);
        let bent_centre = along.first * across.density;
        let winner = |arm: f64, bent: f64| {
            let (second, third) = (arm + 0.5 * centre, bent + 0.5 * bent_centre);
            ([along.first * above_t + second, second, second], [along.second * above_t + third, third, third])
        };
        let (first, second) = (winner(arm_u, bent_u), winner(arm_v, bent_v));
        let (arms, bents) = (arm_u + arm_v, bent_u + bent_v);
        let neither = ([arms + centre, arms, arms + centre], [bents + bent_centre, bents, bents + bent_centre]);
        ([neither.0, first.0, second.0], [neither.1, first.1, second.1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINT: Reach = Reach { s: 0.0, t: 0.0 };

    /// Second and third derivatives by differences, and the bounds on a box around.
    #[test]
    fn derivatives_are_below_their_bounds() {
        let step = 1e-3;
        let mut closest = 0.0f64;
        for i in -12..=12 {
            for j in -12..=12 {
                let (s, t) = (0.3 * f64::from(i), 0.3 * f64::from(j));
                let bounds = outcomes(s, t, 1e-9, Reach { s: 2.0 * step, t: 2.0 * step });
                let p = |s: f64, t: f64| Cones::at(s, t, false, 0.5).p;
                let second = |s: f64, k: usize| {
                    let at = |a: i32, b: i32| p(s + f64::from(a) * step, t + f64::from(b) * step)[k];
                    let square = step * step;
                    [
                        (at(1, 0) - 2.0 * at(0, 0) + at(-1, 0)) / square,
                        (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / (4.0 * square),
                        (at(0, 1) - 2.0 * at(0, 0) + at(0, -1)) / square,
                    ]
                };
                for (k, bound) in bounds.iter().enumerate() {
                    let (here, right, left) = (second(s, k), second(s + step, k), second(s - step, k));
                    for entry in 0..3 {
                        let third = (right[entry] - left[entry]) / (2.0 * step);
                        assert!(here[entry].abs() <= bound.second[entry] + 1e-5, "{s} {t} {k} {entry}");
                        assert!(third.abs() <= bound.third[entry] + 1e-4, "{s} {t} {k} {entry}");
                        closest = closest.max(here[entry].abs() / (bound.second[entry] + 1e-9));
                    }
                }
            }
        }
        assert!(closest > 0.9, "{closest}");
    }

    #[test]
    fn small_and_large_shifts_agree() {
        for (s, t) in [(0.1, 1.0), (-3.0, 2.0), (4.0, -3.0), (0.0, 6.0), (-6.0, -5.0)] {
            let h = SMALL_SHIFT;
            let (below, above) = (outcomes(s, t, h * 0.999_999, POINT), outcomes(s, t, h * 1.000_001, POINT));
            for (a, b) in below.iter().zip(&above) {
                assert!((a.l - b.l).abs() < 1e-5 * a.l.abs() + 1e-12, "{s} {t}: {a:?} {b:?}");
            }
            let sum: f64 = below.iter().map(|outcome| outcome.p).sum();
            assert!((sum - 1.0).abs() < 1e-14);
        }
    }
}
