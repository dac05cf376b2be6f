//! F = Σ p_i^α q_i^{1-α} of two members of one family of distributions, at two places, and how much it can rise nearby.
//!
//! Let p_i(x) be the probability that x + Z falls into cell i of a partition of the plane (or line) into convex cells,
//! Z standard normal, and q_i(x) = p_i(x - d). A supremum over x is certified by values on a grid and two facts:
//!
//! *ln F is semiconvex.* ln p_i has a Hessian between -I and 0: it is the covariance of N(x, I) restricted to a convex
//! cell, minus I, and the restriction is no wider than I (Brascamp and Lieb 1976). Its third derivatives are third
//! central moments of that restriction, in any directions at most E|Z|³ = √(8/π) (the restriction is a contraction of Z
//! in each direction, Caffarelli 2000; three directions by Hölder). With w_i = p_i^α q_i^{1-α}/F,
//! ```text
//! ∇² ln F ⪰ Σ w_i [∇² ln p_i(x) + (α-1)(∇² ln p_i(x) - ∇² ln p_i(x-d))] ⪰ -κ I,   κ = 1 + (α-1) min(1, √(8/π) |d|).
//! ```
//!
//! *F is above its tangents.* Σ_i [α r_i^{α-1} p_i - (α-1) r_i^α q_i] ≤ F for all constants r, with equality at x*
//! where r_i = p_i/q_i there. Both sides touch at x*, so if x* is a critical point of F it is one of the left side, and
//! F(c) ≥ F(x*) - ½ sup |(c-x*)' H (c-x*)| for the Hessian H of the left side, which with A_i = α (r_i^{α-1} - 1), B_i
//! = (α-1)(r_i^α - 1) is (because probabilities sum to 1)
//! ```text
//! H = Σ_i A_i (∇²p_i(x) - ∇²p_i(x-d)) + (A_i - B_i) ∇²p_i(x-d),
//! ```
//! bounded through sup |∇²p_i| and sup |∂_d ∇²p_i| on the cell of the grid; |∇ ln(p_i/q_i)| ≤ |d| bounds r on it.
//!
//! In either case, if the supremum of F is attained in a box around c, it is at most F(c) plus a known slack that is
//! quadratic in the size of the box.

use crate::special::{exp_less_one_in_loops, ln_of_one_plus_in_loops};
use crate::vectorized::{Arch, in_vectors};

/// Number of boxes whose exponentials and logarithms are computed side by side.
pub(super) const BLOCK: usize = 8;
/// Up to this exponent, sums of exponentials neither overflow nor lose their smaller terms.
const LARGEST_EXPONENT: f64 = 600.0;
/// √(8/π) = E|Z|³, rounded up.
const THIRD_MOMENT: f64 = 1.595_769_121_605_731;

/// One cell of the partition under both distributions, with bounds on derivatives of p_i nearby.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    pub(super) p: f64,
    pub(super) q: f64,
    pub(super) ln_q: f64,
    /// ln p - ln q.
    pub(super) l: f64,
    /// e^l - 1, or less if that overflows.
    pub(super) growth: f64,
    /// |∂²p| in the directions ss, st, tt, on the box.
    pub(super) second: [f64; 3],
    /// The same on its translate by -d, for q.
    pub(super) second_moved: [f64; 3],
    /// |∂_s ∂²p| in the same directions, on both and between.
    pub(super) third: [f64; 3],
}

/// A box around a point: half widths along s, the direction of d, and t.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach {
    pub(super) s: f64,
    pub(super) t: f64,
}

/// F at one order, with the exponentials that bounds nearby also need.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment<const N: usize> {
    /// ln F, to the last digits however small.
    pub(super) ln: f64,
    /// F - 1, or NaN if only its logarithm was computed.
    excess: f64,
    /// e^{(α-1) l} - 1 of each cell, if F - 1 was computed.
    powers: [f64; N],
}

/// F at the point of these outcomes.
pub(super) fn moment<const N: usize>(outcomes: &[Outcome; N], a: f64) -> Moment<N> {
    let possible = |outcome: &&Outcome| outcome.ln_q > f64::NEG_INFINITY;
    let exponent = |outcome: &Outcome| a * outcome.l + outcome.ln_q;
    let largest = outcomes.iter().filter(possible).map(exponent).fold(f64::NEG_INFINITY, f64::max);
    let overflows = |outcome: &Outcome| (a - 1.0) * outcome.l > LARGEST_EXPONENT;
    if largest > 1.0 || outcomes.iter().filter(possible).any(overflows) {
        let sum: f64 = outcomes.iter().filter(possible).map(|outcome| libm::exp(exponent(outcome) - largest)).sum();
        return Moment { ln: largest + sum.ln(), excess: f64::NAN, powers: [f64::NAN; N] };
    }
    let powers = outcomes.each_ref().map(|outcome| libm::expm1((a - 1.0) * outcome.l));
    let excess = total_excess(outcomes, &powers, a);
    Moment { ln: libm::log1p(excess), excess, powers }
}

/// F - 1 from the e^{(α-1) l} - 1 of each cell.
fn total_excess<const N: usize>(outcomes: &[Outcome; N], powers: &[f64; N], a: f64) -> f64 {
    let pairs = outcomes.iter().zip(powers);
    pairs.map(|(outcome, &power)| excess(outcome.p, outcome.q, outcome.l, outcome.growth, power, a)).sum()
}

/// q (e^{αl} - 1 - α (e^l - 1)) ≥ 0, where p = q e^l.
pub(super) fn power_excess(p: f64, q: f64, l: f64, a: f64) -> f64 {
    excess(p, q, l, libm::expm1(l), libm::expm1((a - 1.0) * l), a)
}

/// The same, given e^l - 1 and e^{(α-1)l} - 1.
fn excess(p: f64, q: f64, l: f64, growth: f64, power: f64, a: f64) -> f64 {
    if a * l.abs() <= 1e-3 {
        // Σ_{k≥2} (α^k - α) l^k/k! to the sixth term, as (α-1) α l² times a series in l.
        let series = |k: i32| (0..k - 1).map(|power| a.powi(power)).sum::<f64>();
        let mut sum = 0.0;
        for (k, factorial) in [(6, 720.0), (5, 120.0), (4, 24.0), (3, 6.0), (2, 2.0)] {
            sum = sum * l + series(k) / factorial;
        }
        return q * a * (a - 1.0) * l * l * sum;
    }
    // If p and q are far apart, nothing cancels in p - q = q (e^l - 1), and e^l may overflow.
    let difference = if l > 1.0 { p - q } else { q * growth };
    (p * power - (a - 1.0) * difference).max(0.0)
}

/// How much ln F at a critical point in a box may exceed its value at the center: the part shared by boxes of one size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slack {
    a: f64,
    shift: f64,
    box_: Reach,
    /// By semiconvexity of ln F, for any position of the box.
    by_logarithm: f64,
    /// How far ln(p/q) may be from its value at the center, and e to that power.
    change: f64,
    ratio_up: f64,
    /// e^{±(α-1) change} - 1.
    down: f64,
    up: f64,
}

impl Slack {
    pub(super) fn new(a: f64, shift: f64, box_: Reach) -> Self {
        let square = box_.s * box_.s + box_.t * box_.t;
        let kappa = 1.0 + (a - 1.0) * (THIRD_MOMENT * shift).min(1.0);
        let change = shift * square.sqrt();
        let step = (a - 1.0) * change;
        Self {
            a,
            shift,
            box_,
            by_logarithm: 0.5 * kappa * square,
            change,
            ratio_up: 1.0 + libm::expm1(change),
            down: libm::expm1(-step),
            up: libm::expm1(step),
        }
    }

    /// An upper bound of ln F at a critical point of F within the box around the point of these outcomes.
    pub(super) fn bound<const N: usize>(&self, outcomes: &[Outcome; N], moment: &Moment<N>) -> f64 {
        let by_logarithm = moment.ln + self.by_logarithm;
        if !(moment.ln < 1.0) {
            return by_logarithm;
        }
        let by_tangent = libm::log1p(moment.excess + 0.5 * self.form(outcomes, &moment.powers));
        // After an overflow, the first bound is used.
        if by_tangent < by_logarithm { by_tangent } else { by_logarithm }
    }

    /// ln F and its upper bound at critical points, of at most [`BLOCK`] boxes.
    pub(super) fn look<const N: usize>(&self, boxes: &[&[Outcome; N]]) -> [(f64, f64); BLOCK] {
        let mut powers = [[0.0; N]; BLOCK];
        for (powers, outcomes) in powers.iter_mut().zip(boxes) {
            for (power, outcome) in powers.iter_mut().zip(*outcomes) {
                *power = (self.a - 1.0) * outcome.l;
            }
        }
        let exponents = powers;
        in_vectors!(Arch::new(), {
            for power in powers.as_flattened_mut() {
                *power = exp_less_one_in_loops(*power);
            }
        });
        let mut logarithms = [[0.0; BLOCK]; 2];
        for (lane, (outcomes, powers)) in boxes.iter().zip(&powers).enumerate() {
            let excess = total_excess(outcomes, powers, self.a);
            logarithms[0][lane] = excess;
            logarithms[1][lane] = excess + 0.5 * self.form(outcomes, powers);
        }
        in_vectors!(Arch::new(), {
            for x in logarithms.as_flattened_mut() {
                *x = ln_of_one_plus_in_loops(*x);
            }
        });
        let mut looks = [(0.0, 0.0); BLOCK];
        for (lane, (outcomes, exponents)) in boxes.iter().zip(&exponents).enumerate() {
            looks[lane] = if exponents.iter().all(|exponent| *exponent <= LARGEST_EXPONENT) {
                let [ln, by_tangent] = [logarithms[0][lane], logarithms[1][lane]];
                let by_logarithm = ln + self.by_logarithm;
                (ln, if ln < 1.0 && by_tangent < by_logarithm { by_tangent } else { by_logarithm })
            } else {
                let moment = moment(outcomes, self.a);
                (moment.ln, self.bound(outcomes, &moment))
            };
        }
        looks
    }

    /// sup |(c-x)' H (c-x)| over the box.
    fn form<const N: usize>(&self, outcomes: &[Outcome; N], powers: &[f64; N]) -> f64 {
        let Self { a, shift, box_, change, down, up, .. } = *self;
        // e^{x+y} - 1 from e^x - 1 and e^y - 1, because exponentials dominate the cost. For |y| ≤ 8, digits of e^x lost
        // next to 1 return as at most 1e-11, compared with a slope of nearly α or, for x + y > 0, of e^x itself.
        let short = (a - 1.0) * change <= 8.0;
        let moved = |l: f64, power: f64, by: f64| {
            if short { power + by + power * by } else { libm::expm1((a - 1.0) * l) }
        };
        let mut form = 0.0;
        for (outcome, &power) in outcomes.iter().zip(powers) {
            let (low, high) = (outcome.l - change, outcome.l + change);
            let power_high = moved(high, power, up);
            let slope = a * moved(low, power, down).abs().max(power_high.abs());
            // |A - B| = (α-1)(e^{αl} - 1) - α (e^{(α-1)l} - 1) = α(α-1) ∫_0^l e^{(α-1)x} (e^x - 1) dx, which is at most
            // α(α-1) e^{max(αl, 0)} l²/2; for l > 0 the second term is negative, for l < 0 the first.
            let bend = |l: f64| {
                let far = if l > 0.0 { 1.0 } else { -a * l };
                (a - 1.0) * (0.5 * a * l * l).min(far)
            };
            let rise = match high {
                _ if high > LARGEST_EXPONENT => f64::INFINITY,
                _ if high > 0.0 => (1.0 + power_high) * (1.0 + outcome.growth) * self.ratio_up,
                _ => 1.0,
            };
            // If low is also positive, the bend there is the smaller.
            let bend = bend(low).max(bend(high) * rise);
            let entry = |k: usize| {
                let [second, moved] = [outcome.second[k], outcome.second_moved[k]];
                slope * (shift * outcome.third[k]).min(second + moved) + bend * moved
            };
            form += entry(0) * box_.s * box_.s + 2.0 * entry(1) * box_.s * box_.t + entry(2) * box_.t * box_.t;
        }
        form
    }
}
