//! Integrals of log-concave functions in log space, each with an estimate of its error.
//!
//! The trapezoid rule on a lattice converges geometrically for the analytic integrands here: halving the step squares
//! the error, so the distance between two levels, squared, estimates the error of the finer one.

use crate::error::{Error, Result};
use crate::special::CompensatedSum;

/// ln of an integral.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogIntegral {
    /// ln of the integral.
    pub ln_value: f64,
    /// Estimated relative error of the integral, truncation and rounding together.
    pub error: f64,
}

/// A point t = `index`·2^-`level` of the dyadic lattice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// Position in steps.
    pub index: i64,
    /// The step is 2^-level.
    pub level: u32,
}

impl Node {
    /// The abscissa t.
    #[must_use]
    pub fn t(self) -> f64 {
        self.index as f64 / f64::from(1u32 << self.level)
    }
}

/// Coarsest step: 2^-1.
pub(crate) const FIRST_LEVEL: u32 = 1;
/// Finest step: 2^-7, twenty nodes within the narrowest peak of 10,000 classes.
const LAST_LEVEL: u32 = 7;
/// Values below exp(-42) = 6e-19 of the peak are omitted: beyond them a log-concave function has at most that share.
const DROP: f64 = 42.0;
/// From here on, the spacing of values of g exceeds the contribution of the width of the peak to its height.
const PEAK_IS_ALL: f64 = 1e17;
/// If two levels are this close, the squared distance is below rounding.
const LEVEL_DISTANCE: f64 = 1e-8;

/// ln ∫ exp(g(t)) dt for a concave g that falls at least as fast as -t²/2 on one side and is finite.
///
/// `log_integrand` gives g at a lattice node; `start` is a node index of level 1 where the climb to the peak begins.
/// Returns the integral and the index of the peak on level 1, a good start for a similar function.
///
/// # Errors
/// [`Error::NoConvergence`] if the finest level still differs from the one before by more than rounding explains.
pub(crate) fn log_concave_trapezoid(
    mut log_integrand: impl FnMut(Node) -> f64,
    start: i64,
) -> Result<(LogIntegral, i64)> {
    let mut coarse = |index: i64| log_integrand(Node { index, level: FIRST_LEVEL });
    let (peak, top) = climb(&mut coarse, start);
    if top.abs() > PEAK_IS_ALL {
        return Ok((LogIntegral { ln_value: top, error: 4.0 * f64::EPSILON * top.abs() }, peak));
    }
    let mut sum = 1.0;
    let mut reach = [0i64; 2];
    for (side, sign) in [-1i64, 1].into_iter().enumerate() {
        for distance in 1.. {
            let value = coarse(peak + sign * distance);
            if !(value > top - DROP) {
                reach[side] = distance;
                break;
            }
            sum += libm::exp(value - top);
        }
    }
    let (mut first, mut last) = (peak - reach[0], peak + reach[1]);
    let mut distance = f64::INFINITY;
    for level in FIRST_LEVEL + 1..=LAST_LEVEL {
        // The nodes between those of the level before.
        let between: f64 =
            (first..last).map(|left| libm::exp(log_integrand(Node { index: 2 * left + 1, level }) - top)).sum();
        distance = (sum - between).abs() / (sum + between);
        sum += between;
        (first, last) = (2 * first, 2 * last);
        let ln_value = top + (sum / f64::from(1u32 << level)).ln();
        let rounding = f64::EPSILON * (1.0 + ln_value.abs());
        if distance <= LEVEL_DISTANCE || distance <= 16.0 * rounding {
            return Ok((LogIntegral { ln_value, error: distance * distance + 4.0 * rounding }, peak));
        }
    }
    Err(Error::no_convergence("trapezoid rule", distance, LEVEL_DISTANCE, (last - first) as usize))
}

/// Longest panel of the double exponential rule, in steps.
const PANEL: f64 = 4.0;
/// Panels before an integrand is rejected as not log-concave: enough to reach exp(-42) at a slope of one per scale,
/// plus every kink of the largest histogram.
const MAX_PANELS: usize = 50_000;

/// ln ∫ exp(g(x)) dx for a concave g of any shape with known kinks: the double exponential rule of the crate
/// `quadrature` on panels of at most four steps, within the window where g is at most 42 below its peak.
///
/// Also returns the peak, a good start for a similar function.
///
/// # Errors
/// [`Error::NoConvergence`] if g does not fall on both sides.
pub(crate) fn log_concave_panels(
    g: impl Fn(f64) -> f64,
    start: f64,
    step: f64,
    kinks: &[f64],
) -> Result<(LogIntegral, f64)> {
    let first = (start / step).round();
    let (index, _) = climb(&mut |index: i64| g((first + index as f64) * step), 0);
    let near = (first + index as f64) * step;
    // A kink may be the peak itself.
    let candidates = kinks.iter().copied().filter(|kink| (kink - near).abs() <= 2.0 * step);
    let peak = candidates.fold(near, |best, kink| if g(kink) > g(best) { kink } else { best });
    let top = g(peak);
    let reach = |sign: f64| -> Result<f64> {
        let mut distance = step;
        while g(peak + sign * distance) > top - DROP {
            distance *= 1.25;
            if !(distance < 1e6 * step + 2.0 * kinks.iter().fold(0.0, |far: f64, kink| far.max((kink - peak).abs()))) {
                return Err(Error::NoConvergence {
                    quantity: "window of a log-concave integrand",
                    residual: g(peak + sign * distance) - top,
                    tolerance: -DROP,
                    iterations: MAX_PANELS,
                });
            }
        }
        Ok(peak + sign * distance)
    };
    let (low, high) = (reach(-1.0)?, reach(1.0)?);
    let mut ends: Vec<f64> = kinks.iter().copied().filter(|kink| *kink > low && *kink < high).collect();
    ends.extend([low, peak, high]);
    ends.sort_by(f64::total_cmp);
    ends.dedup();
    let (mut sum, mut error) = (CompensatedSum::default(), 0.0);
    for pair in ends.windows(2) {
        let pieces = ((pair[1] - pair[0]) / (PANEL * step)).ceil().clamp(1.0, MAX_PANELS as f64);
        let length = (pair[1] - pair[0]) / pieces;
        for piece in 0..pieces as usize {
            let from = pair[0] + piece as f64 * length;
            let part = quadrature::integrate(|x| libm::exp(g(x) - top), from, from + length, 1e-15 * step);
            sum.add(part.integral);
            // Once the rule stops at its last level, it greatly overestimates its error.
            error += part.error_estimate;
        }
    }
    let ln_value = top + sum.value().ln();
    let rounding = 4.0 * f64::EPSILON * (1.0 + ln_value.abs());
    Ok((LogIntegral { ln_value, error: error / sum.value() + rounding }, peak))
}

/// The index of the largest value of a concave sequence and that value, by steps that double, then halve.
///
/// No step is shorter than rounding can resolve: over 8 √(ε|g|) nodes a parabola of curvature 1 falls by 8 ε|g|, more
/// than the rounding of g, and a peak that close is the peak to 2 ε|g|.
fn climb(value: &mut impl FnMut(i64) -> f64, start: i64) -> (i64, f64) {
    // NaN, which a concave function never takes, is cast to 0.
    let shortest = |top: f64| ((8.0 * (f64::EPSILON * top.abs()).sqrt()).min(LONGEST_STEP) as i64).max(1);
    let (mut best, mut top) = (start, value(start));
    let mut step = shortest(top);
    let mut growing = true;
    while step >= shortest(top) {
        let inside = |index: &i64| index.abs() <= 1 << 62; // a function that rises for ever has no peak
        let ahead = [best + step, best - step].into_iter().filter(inside).find_map(|index| {
            let found = value(index);
            (found > top).then_some((index, found))
        });
        if let Some(ahead) = ahead {
            (best, top) = ahead;
        }
        if growing && ahead.is_some() && step < LONGEST_STEP as i64 {
            step *= 2;
        } else if ahead.is_none() {
            growing = false;
            step /= 2;
        }
    }
    (best, top)
}

/// 2^60: twice that is still an index.
const LONGEST_STEP: f64 = (1u64 << 60) as f64;

#[cfg(test)]
mod tests {
    use super::*;

    /// The Gaussian integral, and the same through the crate `quadrature` as an independent rule.
    #[test]
    fn agrees_with_the_double_exponential_rule() {
        let g = |t: f64| -0.5 * (t - 3.0).powi(2) - (1.0 + (-t).exp()).ln();
        let (ours, _) = log_concave_trapezoid(|node| g(node.t()), -20).unwrap();
        let oracle = quadrature::integrate(|t| g(t).exp(), -9.0, 15.0, 1e-14);
        assert!((ours.ln_value - oracle.integral.ln()).abs() < 1e-13, "{ours:?} {}", oracle.integral.ln());
    }

    #[test]
    fn finds_far_and_narrow_peaks() {
        for (center, scale) in [(1e6, 1.0), (-3e4, 0.05), (0.3, 1.0)] {
            let (integral, _) = log_concave_trapezoid(|node| -0.5 * ((node.t() - center) / scale).powi(2), 0).unwrap();
            let exact = (scale * (2.0 * std::f64::consts::PI).sqrt()).ln();
            assert!((integral.ln_value - exact).abs() < 1e-13, "{center} {scale} {integral:?}");
        }
    }
}
