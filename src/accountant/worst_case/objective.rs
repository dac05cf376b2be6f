//! F = Σ p_i^α q_i^{1-α} of two laws that are one family of laws at two places, and how much it can rise nearby.
//!
//! Let p_i(x) be the probability that x + Z falls into cell i of a partition of the plane (or line) into convex cells,
//! Z standard normal, and q_i(x) = p_i(x - d). A supremum over x is certified by values on a grid and two facts:
//!
//! *ln F is semiconvex.* ln p_i has a Hessian between -I and 0: it is the covariance of N(x, I) restricted to a convex
//! cell, minus I, and the restriction is no wider than I (Brascamp and Lieb 1976). Its third derivatives are third central
//! moments of that restriction, in any directions at most E|Z|³ = √(8/π) (the restriction is a contraction of Z in each
//! direction, Caffarelli 2000; three directions by Hölder). With w_i = p_i^α q_i^{1-α}/F,
//! ```text
//! ∇² ln F ⪰ Σ w_i [∇² ln p_i(x) + (α-1)(∇² ln p_i(x) - ∇² ln p_i(x-d))] ⪰ -κ I,   κ = 1 + (α-1) min(1, √(8/π) |d|).
//! ```
//!
//! *F is above its tangents.* Σ_i [α r_i^{α-1} p_i - (α-1) r_i^α q_i] ≤ F for all constants r, with equality at x* where
//! r_i = p_i/q_i there. Both sides touch at x*, so if x* is a critical point of F it is one of the left side, and
//! F(c) ≥ F(x*) - ½ sup |(c-x*)' H (c-x*)| for the Hessian H of the left side, which with A_i = α (r_i^{α-1} - 1),
//! B_i = (α-1)(r_i^α - 1) is (because probabilities sum to 1)
//! ```text
//! H = Σ_i A_i (∇²p_i(x) - ∇²p_i(x-d)) + (A_i - B_i) ∇²p_i(x-d),
//! ```
//! bounded through sup |∇²p_i| and sup |∂_d ∇²p_i| on the cell of the grid; |∇ ln(p_i/q_i)| ≤ |d| bounds r on it.
//!
//! Either way: if the supremum of F is attained in a box around c, it is at most F(c) plus a known slack that is
//! quadratic in the size of the box.

/// √(8/π) = E|Z|³, rounded up.
const THIRD_MOMENT: f64 = 1.595_769_121_605_731;

/// One cell of the partition under both laws, with bounds of derivatives of p_i around.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    pub(super) p: f64,
    pub(super) q: f64,
    pub(super) ln_q: f64,
    /// ln p - ln q.
    pub(super) l: f64,
    /// e^l - 1.
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

/// ln F, to the last digits however small it is.
pub(super) fn log_moment(outcomes: &[Outcome], a: f64) -> f64 {
    let possible = |outcome: &&Outcome| outcome.ln_q > f64::NEG_INFINITY;
    let exponent = |outcome: &Outcome| a * outcome.l + outcome.ln_q;
    let largest = outcomes.iter().filter(possible).map(exponent).fold(f64::NEG_INFINITY, f64::max);
    if largest > 1.0 {
        let sum: f64 = outcomes.iter().filter(possible).map(|outcome| libm::exp(exponent(outcome) - largest)).sum();
        return largest + sum.ln();
    }
    libm::log1p(outcomes.iter().map(|outcome| excess(outcome.p, outcome.q, outcome.l, outcome.growth, a)).sum())
}

/// q (e^{αl} - 1 - α (e^l - 1)) ≥ 0, where p = q e^l.
pub(super) fn power_excess(p: f64, q: f64, l: f64, a: f64) -> f64 {
    excess(p, q, l, libm::expm1(l), a)
}

/// The same with e^l - 1 at hand.
fn excess(p: f64, q: f64, l: f64, growth: f64, a: f64) -> f64 {
    if a * l.abs() <= 1e-3 {
        // Σ_{k≥2} (α^k - α) l^k/k! to the sixth term, as (α-1) α l² times a series in l.
        let series = |k: i32| (0..k - 1).map(|power| a.powi(power)).sum::<f64>();
        let mut sum = 0.0;
        for (k, factorial) in [(6, 720.0), (5, 120.0), (4, 24.0), (3, 6.0), (2, 2.0)] {
            sum = sum * l + series(k) / factorial;
        }
        return q * a * (a - 1.0) * l * l * sum;
    }
    (p * libm::expm1((a - 1.0) * l) - (a - 1.0) * q * growth).max(0.0)
}

/// An upper bound of ln F at a critical point of F within the box around the point of these outcomes.
pub(super) fn log_moment_nearby(outcomes: &[Outcome], a: f64, shift: f64, log_moment: f64, box_: Reach) -> f64 {
    let square = box_.s * box_.s + box_.t * box_.t;
    let kappa = 1.0 + (a - 1.0) * (THIRD_MOMENT * shift).min(1.0);
    let by_logarithm = log_moment + 0.5 * kappa * square;
    if !(log_moment < 1.0) {
        return by_logarithm;
    }
    let change = shift * square.sqrt();
    // e^{x+y} - 1 from e^x - 1 and e^y - 1 for |y| ≤ 1, where digits of e^x that were lost beside 1 are not brought back:
    // exponentials are what all this costs.
    let step = (a - 1.0) * change;
    let (down, up) = (libm::expm1(-step), libm::expm1(step));
    let moved = |l: f64, power: f64, by: f64| {
        if step <= 1.0 { power + by + power * by } else { libm::expm1((a - 1.0) * l) }
    };
    let ratio_up = 1.0 + libm::expm1(change);
    let mut form = 0.0;
    for outcome in outcomes {
        let (low, high) = (outcome.l - change, outcome.l + change);
        let power = libm::expm1((a - 1.0) * outcome.l);
        let power_high = moved(high, power, up);
        let slope = a * moved(low, power, down).abs().max(power_high.abs());
        // |A - B| = (α-1)(e^{αl} - 1) - α (e^{(α-1)l} - 1) = α(α-1) ∫_0^l e^{(α-1)x} (e^x - 1) dx, which is at most
        // α(α-1) e^{max(αl, 0)} l²/2; for l > 0 the second term is negative, for l < 0 the first.
        let bend = |l: f64| {
            let far = if l > 0.0 { 1.0 } else { -a * l };
            (a - 1.0) * (0.5 * a * l * l).min(far)
        };
        let rise = if high > 0.0 { (1.0 + power_high) * (1.0 + outcome.growth) * ratio_up } else { 1.0 };
        // Where low is positive too, the bend there is the smaller.
        let bend = bend(low).max(bend(high) * rise);
        let entry = |k: usize| {
            let [second, moved] = [outcome.second[k], outcome.second_moved[k]];
            slope * (shift * outcome.third[k]).min(second + moved) + bend * moved
        };
        form += entry(0) * box_.s * box_.s + 2.0 * entry(1) * box_.s * box_.t + entry(2) * box_.t * box_.t;
    }
    let by_tangent = libm::log1p(libm::expm1(log_moment) + 0.5 * form);
    // An overflow leaves the first bound.
    if by_tangent < by_logarithm { by_tangent } else { by_logarithm }
}

/// Bounds of |x φ(x)|, |(x²-1) φ(x)| and φ(x) over an interval.
#[derive(Debug, Clone, Copy)]
pub(super) struct DensityBounds {
    pub(super) first: f64,
    pub(super) second: f64,
    pub(super) density: f64,
}

impl DensityBounds {
    pub(super) fn over(low: f64, high: f64) -> Self {
        let phi = |x: f64| libm::exp(crate::special::log_normal_density(x));
        let (at_low, at_high) = (phi(low), phi(high));
        let inside = |x: f64| low <= x && x <= high;
        let density = if inside(0.0) { phi(0.0) } else { at_low.max(at_high) };
        // |xφ| has its maxima at ±1, |(x²-1)φ| at 0 and ±√3.
        let mut first = (low * at_low).abs().max((high * at_high).abs());
        if inside(1.0) || inside(-1.0) {
            first = first.max(phi(1.0));
        }
        let mut second = ((low * low - 1.0) * at_low).abs().max(((high * high - 1.0) * at_high).abs());
        let outer = 3f64.sqrt();
        if inside(outer) || inside(-outer) {
            second = second.max(2.0 * phi(outer));
        }
        if inside(0.0) {
            second = second.max(phi(0.0));
        }
        Self { first, second, density }
    }
}
