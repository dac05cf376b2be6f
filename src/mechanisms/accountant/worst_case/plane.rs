//! The three outcomes of two noisy counts before a threshold, where one vote moves from the first to the second.
//!
//! Coordinates s = (u-v)/√2, t = (u+v)/√2, so that the vote moves along s by √2 h, h = 1/σ. The cells of the plane are
//! the quadrant u, v < 0 (neither) and the two cones on either side of the ray s = 0, t > 0. With the densities on the
//! rays R = φ(s)Φ(t), R_u = φ(u)Φ(-v), R_v = φ(v)Φ(-u):
//! ```text
//! ∂_s p_first = R + R_u/√2,   ∂_s p_second = -R - R_v/√2,   ∂_s p_neither = (R_v - R_u)/√2,
//! ∇²p_first = -s φ(s) Φ(t) ss' - u φ(u) Φ(-v) uu' + ½ φ(s) φ(t) (ss' + st' + ts' - tt'),
//! ```
//! with unit vectors, and likewise for the others; every derivative is a polynomial times densities times Φ.

use super::cells::Cells;
use super::cone::gauss_legendre;
use super::density::{DensityBounds, End};
use super::lanes::{LANES, densities, growths, logarithms, smaller_tails};
use super::objective::{Outcome, Reach};
use crate::special::{log_normal_density, ndtr};
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};
use std::sync::LazyLock;

/// Below this shift, differences of probabilities are computed as integrals of their derivative.
const SMALL_SHIFT: f64 = 1e-3;
/// From this shift on, a ratio of probabilities may lose a digit: it is not close to one.
const NEAR: f64 = 0.05;
/// From here on, a box and its translate have separate bounds.
const LONG_SHIFT: f64 = 0.5;
/// Beyond this many standard deviations, only logarithms of probabilities are kept.
const FAR: f64 = 25.0;

/// Probabilities at (s, t) and at (s - √2 h, t), with bounds on derivatives in a box around.
pub(super) fn outcomes(s: f64, t: f64, h: f64, reach: Reach) -> [Outcome; 3] {
    let shift = SQRT_2 * h;
    let coordinates = |s: f64| [s, (t + s) * FRAC_1_SQRT_2, (t - s) * FRAC_1_SQRT_2];
    let (here, moved) = (coordinates(s), coordinates(s - shift));
    // The ends of the box and of its translate along s, u and v, and those along t.
    let mut ends = [0.0; LANES];
    ends[..6].copy_from_slice(&projections(s, t, reach));
    ends[6..12].copy_from_slice(&projections(s - shift, t, reach));
    ends[12..14].copy_from_slice(&[t - reach.t, t + reach.t]);
    // Where Φ is needed: at both places, and at the ends that bound how often a count or t is below.
    let mut points = [0.0; LANES];
    points[..3].copy_from_slice(&here);
    points[3..6].copy_from_slice(&moved);
    points[6..11].copy_from_slice(&[-ends[2], -ends[4], -ends[8], -ends[10], ends[13]]);
    let (densities, smaller) = (densities(&ends), smaller_tails(&points));
    let below = |k: usize| if points[k] > 0.0 { 1.0 - smaller[k] } else { smaller[k] };
    let far = here[1].abs().max(here[2].abs()) + h > FAR;
    let largest_rest = if h < NEAR { 0.5 } else { 0.75 };
    let (p, q, ln_p, ln_q) = if far {
        let ((p, ln_p), (q, ln_q)) = (Cells::far(here, largest_rest), Cells::far(moved, largest_rest));
        (p.p, q.p, ln_p, ln_q)
    } else {
        let tails = |first: usize| [smaller[first], smaller[first + 1], smaller[first + 2]];
        let (p, q) = (Cells::near(here, tails(0), largest_rest), Cells::near(moved, tails(3), largest_rest));
        let [ln_p, ln_q] = logarithms(&[p.p, q.p], &[p.rest, q.rest]);
        (p.p, q.p, ln_p, ln_q)
    };
    let l: [f64; 3] = if h < SMALL_SHIFT && !far {
        let difference = differences(s, t, shift);
        std::array::from_fn(|i| libm::log1p(difference[i] / q[i]))
    } else {
        [ln_p[0] - ln_q[0], ln_p[1] - ln_q[1], ln_p[2] - ln_q[2]]
    };
    let growth = growths(l);
    // On the box, its translate and everything between; for long shifts, on the two separately.
    let end = |k: usize| End { x: ends[k], density: densities[k] };
    let place = |first: usize, below_u: f64, below_v: f64| {
        let side = |k: usize| [end(first + k), end(first + k + 1)];
        Place { s: side(0), u: side(2), v: side(4), below_u, below_v }
    };
    let (here, moved) = (place(0, below(6), below(7)), place(6, below(8), below(9)));
    let across = Across { density: DensityBounds::between(end(12), end(13)).density, above: below(10) };
    let (between, third) = moved.joined(&here).derivative_bounds(across);
    let (second, second_moved) = if shift > LONG_SHIFT {
        (here.derivative_bounds(across).0, moved.derivative_bounds(across).0)
    } else {
        (between, between)
    };
    let outcome = |i: usize| Outcome {
        p: p[i],
        q: q[i],
        ln_q: ln_q[i],
        l: l[i],
        growth: growth[i],
        second: second[i],
        second_moved: second_moved[i],
        third: third[i],
    };
    [outcome(0), outcome(1), outcome(2)]
}

/// The ends of a box along s, u and v.
fn projections(s: f64, t: f64, reach: Reach) -> [f64; 6] {
    let (s, t) = ([s - reach.s, s + reach.s], [t - reach.t, t + reach.t]);
    let u = [(t[0] + s[0]) * FRAC_1_SQRT_2, (t[1] + s[1]) * FRAC_1_SQRT_2];
    let v = [(t[0] - s[1]) * FRAC_1_SQRT_2, (t[1] - s[0]) * FRAC_1_SQRT_2];
    [s[0], s[1], u[0], u[1], v[0], v[1]]
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

/// The bounds along t.
#[derive(Debug, Clone, Copy)]
struct Across {
    density: f64,
    above: f64,
}

/// A box, given by the ends of its projections to s and to the two counts, and how often these stay below the
/// threshold.
#[derive(Debug, Clone, Copy)]
struct Place {
    s: [End; 2],
    u: [End; 2],
    v: [End; 2],
    below_u: f64,
    below_v: f64,
}

impl Place {
    /// From this box to another at larger s, with everything between.
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
        let bounds = |[low, high]: [End; 2]| DensityBounds::between(low, high);
        let (along, of_u, of_v) = (bounds(self.s), bounds(self.u), bounds(self.v));
        let (below_u, below_v, above_t) = (self.below_u, self.below_v, across.above);
        let center = along.density * across.density;
        // Of -u φ(u) Φ(-v) in a direction that is at 45 degrees to both axes, and its derivative along s.
        let (arm_u, arm_v) = (0.5 * of_u.first * below_v, 0.5 * of_v.first * below_u);
        let half = 0.5 * FRAC_1_SQRT_2;
        let bent_u = half * (of_u.second * below_v + of_u.first * of_v.density);
        let bent_v = half * (of_v.second * below_u + of_v.first * of_u.density);
        let bent_center = along.first * across.density;
        let winner = |arm: f64, bent: f64| {
            let (second, third) = (arm + 0.5 * center, bent + 0.5 * bent_center);
            ([along.first * above_t + second, second, second], [along.second * above_t + third, third, third])
        };
        let (first, second) = (winner(arm_u, bent_u), winner(arm_v, bent_v));
        let (arms, bents) = (arm_u + arm_v, bent_u + bent_v);
        let neither = ([arms + center, arms, arms + center], [bents + bent_center, bents, bents + bent_center]);
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
                let p = |s: f64, t: f64| outcomes(s, t, 1e-9, POINT).map(|outcome| outcome.p);
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
