//! Cumulants of sums of losses, and Chernoff's bound.

use super::lattice::Masses;
use crate::parallel;

/// The number of queries from which on other threads are worthwhile.
pub(super) const MANY: usize = 64;

/// ln Σ p e^{λx} and its first two derivatives in λ, for points (x, ln p) with p > 0.
pub(super) fn cumulants(points: impl Iterator<Item = (f64, f64)> + Clone, lambda: f64) -> [f64; 3] {
    // Around the first point, so that the variance of close points does not cancel.
    let origin = points.clone().next().map_or(0.0, |point| point.0);
    let exponent = |(x, ln_p): (f64, f64)| lambda * x + ln_p;
    let largest = points.clone().map(exponent).fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return [largest, 0.0, 0.0];
    }
    let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
    for point in points {
        let (weight, x) = (libm::exp(exponent(point) - largest), point.0 - origin);
        sum += weight;
        first += weight * x;
        second += weight * x * x;
    }
    let mean = first / sum;
    [largest + sum.ln(), origin + mean, (second / sum - mean * mean).max(0.0)]
}

/// Σ k_i times the logarithm of the moment generating function of the i-th query's lattice distribution.
pub(super) fn log_moment(queries: &[(&Masses, u64)], step: f64, lambda: f64) -> f64 {
    let of_one = |&(masses, times): &(&Masses, u64)| {
        let points = masses.iter().filter(|mass| mass.1 > 0.0).map(|&(point, p)| (point as f64 * step, p.ln()));
        times as f64 * cumulants(points, lambda)[0]
    };
    if queries.len() < MANY {
        return queries.iter().map(of_one).sum();
    }
    // Summed in their order, for any number of threads.
    parallel::map(queries, of_one).into_iter().sum()
}

/// Ends that the sum of tilted lattice distributions leaves with probability at most e^-`rarity` on either side, by
/// Chernoff.
///
/// The distribution is tilted by `tilt`; `scale` is roughly its standard deviation. P(S > x) ≤ exp(Λ(λ+μ) - Λ(λ) - μx)
/// for every μ > 0, and the best of a few μ is used.
pub(super) fn window(queries: &[(&Masses, u64)], step: f64, tilt: f64, scale: f64, rarity: f64) -> (f64, f64) {
    let center = log_moment(queries, step, tilt);
    let best = |sign: f64| {
        let ends = (0..7).map(|power| {
            let mu = 0.3 * 2f64.powi(power) / scale;
            (log_moment(queries, step, tilt + sign * mu) - center + rarity) / mu
        });
        sign * ends.fold(f64::INFINITY, f64::min)
    };
    (best(-1.0), best(1.0))
}
