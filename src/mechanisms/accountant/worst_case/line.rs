//! One noisy count before a threshold that it may pass: the half-line, and the contribution of outcomes far out.

use super::density::DensityBounds;
use super::objective::{Outcome, Reach, Slack, moment, power_excess};
use crate::special::{log_ndtr, log_normal_density, ndtr};

/// Below this shift, a difference of Φ is computed as an integral.
const SMALL_SHIFT: f64 = 1e-3;
/// Relative width to which the supremum on the line is enclosed.
const TOLERANCE: f64 = 2e-6;
/// Boxes examined before the enclosure is left at its width.
const MAX_BOXES: usize = 20_000;

/// Enclosure of sup_s ln F of Bern(Φ(s)) against Bern(Φ(s - shift)), and where the lower end is attained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LineSupremum {
    pub(super) lower: f64,
    pub(super) upper: f64,
    pub(super) s: f64,
}

/// The two outcomes at s and s - shift, with bounds of derivatives within `reach`.
fn outcomes(s: f64, shift: f64, reach: f64) -> [Outcome; 2] {
    let bounds = DensityBounds::over(s - reach - shift, s + reach);
    let [here, moved] = [s, s - shift].map(|s| [DensityBounds::over(s - reach, s + reach).first, 0.0, 0.0]);
    let sides = [(s, s - shift, 1.0), (-s, shift - s, -1.0)];
    let small = shift < SMALL_SHIFT && s.abs() < 25.0;
    let difference = if small { segment(s, shift) } else { 0.0 };
    sides.map(|(p, q, sign)| {
        let (ln_q, below) = (log_ndtr(q), ndtr(q));
        let l = if small { libm::log1p(sign * difference / below) } else { log_ndtr(p) - ln_q };
        Outcome {
            p: ndtr(p),
            q: below,
            ln_q,
            l,
            growth: libm::expm1(l),
            second: here,
            second_moved: moved,
            third: [bounds.second, 0.0, 0.0],
        }
    })
}

/// Φ(s) - Φ(s - shift) by Simpson's rule on two halves, to (shift/4)⁴/180 of it.
fn segment(s: f64, shift: f64) -> f64 {
    let phi = |back: f64| libm::exp(log_normal_density(s - back * shift));
    shift / 12.0 * (phi(0.0) + 4.0 * phi(0.25) + 2.0 * phi(0.5) + 4.0 * phi(0.75) + phi(1.0))
}

/// The supremum over all thresholds.
///
/// It is attained, because F falls to 1 on both sides; beyond the ends of the search it is bounded by
/// [`log_excess_beyond`]. Boxes that may contain a critical point above the best value are halved until the enclosure
/// is narrow.
pub(super) fn line_supremum(a: f64, shift: f64) -> LineSupremum {
    let at = |s: f64| moment(&outcomes(s, shift, 0.0), a).ln;
    // The middle of N(s, 1) and its tilt by α is a good first guess.
    let guess = [0.0, -0.5 * (a - 1.0) * shift, -(a - 1.0) * shift];
    let (mut s, mut lower) =
        guess.map(|s| (s, at(s))).into_iter().fold((0.0, 0.0), |best, next| if next.1 > best.1 { next } else { best });
    let half = (0.5 * libm::expm1(lower)).ln().min(lower - std::f64::consts::LN_2);
    let beyond = |start: f64, side: Side| {
        let mut far = start;
        while log_excess_beyond(a, shift, far, side) > half {
            far -= 0.5;
        }
        far
    };
    let low = beyond(-(a - 1.0) * shift - 1.0, Side::Rising);
    let high = -beyond(-1.0 - shift, Side::Falling);
    let first = ((high - low) / 32.0).max(0.25);
    let mut boxes: Vec<f64> =
        (0..((high - low) / (2.0 * first)).ceil() as usize).map(|index| low + (2 * index + 1) as f64 * first).collect();
    let mut reach = first;
    let (mut upper, mut seen) = (lower, 0);
    while !boxes.is_empty() {
        seen += boxes.len();
        let slack = Slack::new(a, shift, Reach { s: reach, t: 0.0 });
        let values: Vec<(f64, f64)> = boxes
            .iter()
            .map(|&center| {
                let outcomes = outcomes(center, shift, reach);
                let moment = moment(&outcomes, a);
                if moment.ln > lower {
                    (lower, s) = (moment.ln, center);
                }
                (center, slack.bound(&outcomes, &moment))
            })
            .collect();
        let goal = lower * (1.0 + TOLERANCE);
        let last = seen > MAX_BOXES;
        upper = values.iter().filter(|value| last || value.1 <= goal).fold(upper, |upper, value| upper.max(value.1));
        boxes = values.into_iter().filter(|value| !last && value.1 > goal).map(|value| value.0).collect();
        reach *= 0.5;
        boxes = boxes.iter().flat_map(|&center| [center - reach, center + reach]).collect();
    }
    LineSupremum { lower, upper: upper.max(lower), s }
}

/// Whether the dataset (whose distribution is then further to the right) or its neighbor has the vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// P = N(x, 1), Q = N(x - shift, 1).
    Rising,
    /// P = N(x, 1), Q = N(x + shift, 1).
    Falling,
}

/// ln of an upper bound on F - 1 when x + Z is printed if it is positive, and nothing else is known: the largest
/// contribution of a count that is below the threshold by at least -x standard deviations, for x ≤ 0 (rising) or x ≤
/// -shift (falling). Increasing in x, by data processing.
///
/// F - 1 is a sum of Q-means of ψ(l) = e^{αl} - 1 - α(e^l - 1) ≥ 0. "Not positive" has a single ratio l. On y > 0 the
/// mean of e^{αl} is e^{α(α-1) shift²/2} times the measure of a tilted distribution; if that would cancel, ψ(l) ≤ ½
/// α(α-1) l² e^{α max(l, 0)} is integrated instead.
pub(super) fn log_excess_beyond(a: f64, shift: f64, x: f64, side: Side) -> f64 {
    let neighbor = if side == Side::Rising { x - shift } else { x + shift };
    let (ln_p, ln_q) = (log_ndtr(-x), log_ndtr(-neighbor));
    let (p, q) = (ndtr(-x), ndtr(-neighbor));
    let hidden = power_excess(p, q, ln_p - ln_q, a);
    let tilted = if side == Side::Rising { x + (a - 1.0) * shift } else { x - (a - 1.0) * shift };
    let growth = 0.5 * a * (a - 1.0) * shift * shift;
    let scale = (0.5 * a * (a - 1.0)).ln() + 2.0 * shift.ln();
    let shown = if growth > 1e-3 {
        // The linear part -α P + (α-1) Q is at most (α-1) Q.
        add_logs(growth + log_ndtr(tilted), (a - 1.0).ln() + log_ndtr(neighbor))
    } else {
        match side {
            Side::Rising => {
                // y > c + α shift under Q; there 0 ≤ l ≤ shift y as x ≤ shift/2.
                let (c, b) = (-tilted, a * shift);
                let mean = (1.0 + b * b) * ndtr(-c) + (c + 2.0 * b).max(0.0) * libm::exp(log_normal_density(c));
                scale + 0.5 * b * b + mean.ln()
            }
            Side::Falling => {
                // l = -shift y - shift²/2 ≤ 0 for y > c under Q.
                let (c, b) = (-neighbor, 0.5 * shift);
                let mean = (1.0 + b * b) * ndtr(-c) + (c + 2.0 * b).max(0.0) * libm::exp(log_normal_density(c));
                scale + mean.ln()
            }
        }
    };
    add_logs(hidden.ln(), shown)
}

/// ln(e^a + e^b).
pub(super) fn add_logs(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + libm::log1p(libm::exp(low - high)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ∫ over the printed and the hidden part, by the midpoint rule: never above the bound, and at least a third of it.
    #[test]
    fn what_is_beyond_is_bounded_closely() {
        for (a, shift, x) in [(2.0, 0.01, -1.0), (5.0, 0.005, -0.5), (2.0, 0.5, -2.0), (8.0, 0.3, -3.0)] {
            for (side, towards) in [(Side::Rising, -1.0), (Side::Falling, 1.0)] {
                let neighbor = x + towards * shift;
                let l = |y: f64| 0.5 * ((y - neighbor).powi(2) - (y - x).powi(2));
                let psi = |l: f64| libm::expm1(a * l) - a * libm::expm1(l);
                let density = |y: f64| libm::exp(log_normal_density(y - neighbor));
                let step = 1e-3;
                let shown: f64 =
                    (0..20_000).map(|i| step * (f64::from(i) + 0.5)).map(|y| step * density(y) * psi(l(y))).sum();
                let hidden = ndtr(-neighbor) * psi(log_ndtr(-x) - log_ndtr(-neighbor));
                let (found, exact) = (log_excess_beyond(a, shift, x, side), (shown + hidden).ln());
                assert!(found >= exact - 1e-6, "{a} {shift} {x} {side:?}: {found} {exact}");
                assert!(a > 5.0 || found < exact + 1.5, "{a} {shift} {x} {side:?}: {found} {exact}");
            }
        }
    }

    /// A short shift by Mills' ratio in the middle, which leaves an error of 1e-18; a long one by its definition.
    #[test]
    fn logarithmic_ratios_keep_their_digits_at_every_shift() {
        for s in [-3.0, -0.5, 0.0, 2.0] {
            let short = 1e-9;
            let middle = s - 0.5 * short;
            let [rising, falling] = outcomes(s, short, 0.0).map(|outcome| outcome.l);
            let ratio = |x: f64| short * libm::exp(log_normal_density(x) - log_ndtr(x));
            assert!((rising / ratio(middle) - 1.0).abs() < 1e-12, "{s}: {rising:e}");
            assert!((-falling / ratio(-middle) - 1.0).abs() < 1e-12, "{s}: {falling:e}");
            for shift in [0.5, 2.0] {
                let (found, expected) = (outcomes(s, shift, 0.0)[0].l, log_ndtr(s) - log_ndtr(s - shift));
                assert!((found / expected - 1.0).abs() < 1e-12, "{s} {shift}: {found} {expected}");
            }
        }
    }

    #[test]
    fn sums_of_logarithms_neither_overflow_nor_need_an_order() {
        for (a, b, sum) in [(1e4, 0.0, 1e4), (0.0, f64::NEG_INFINITY, 0.0), (2f64.ln(), 3f64.ln(), 5f64.ln())] {
            for found in [add_logs(a, b), add_logs(b, a)] {
                assert!((found - sum).abs() < 1e-15, "{a} {b}: {found}");
            }
        }
    }
}
