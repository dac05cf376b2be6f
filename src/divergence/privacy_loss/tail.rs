//! Cumulants of sums of losses, and Chernoff's bound.

use super::lattice::Masses;
use rayon::prelude::*;

/// Queries from which on they are worth other threads.
pub(super) const MANY: usize = 64;

/// ln Σ p e^{λx} and its first two derivatives in λ, for points x with masses p.
pub(super) fn cumulants(points: impl Iterator<Item = (f64, f64)> + Clone, lambda: f64) -> [f64; 3] {
    // Around the first point, so that the variance of close points does not cancel.
    let origin = points.clone().next().map_or(0.0, |point| point.0);
    let exponents: Vec<(f64, f64)> =
        points.filter(|point| point.1 > 0.0).map(|(x, p)| (x - origin, lambda * x + p.ln())).collect();
    let largest = exponents.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return [largest, 0.0, 0.0];
    }
    let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
    for (x, exponent) in exponents {
        let weight = libm::exp(exponent - largest);
        sum += weight;
        first += weight * x;
        second += weight * x * x;
    }
    let mean = first / sum;
    [largest + sum.ln(), origin + mean, (second / sum - mean * mean).max(0.0)]
}

/// Σ k_i times the logarithm of the moment generating function of the i-th query's lattice distribution.
pub(super) fn log_moment<'a>(queries: impl Iterator<Item = (&'a Masses, u64)>, step: f64, lambda: f64) -> f64 {
    let of_one = |(masses, times): (&Masses, u64)| {
        times as f64 * cumulants(masses.iter().map(|&(point, p)| (point as f64 * step, p)), lambda)[0]
    };
    let queries: Vec<(&Masses, u64)> = queries.collect();
    if queries.len() < MANY {
        return queries.into_iter().map(of_one).sum();
    }
    // Summed up in their order, whatever the threads.
    queries.into_par_iter().map(of_one).collect::<Vec<f64>>().into_iter().sum()
}

/// Ends that the sum of tilted lattice distributions leaves with probability e^-`rarity` at most on either side, by
/// Chernoff.
///
/// The distribution is tilted by `tilt`; `scale` is its standard deviation, roughly: P(S > x) ≤ exp(Λ(λ+μ) - Λ(λ) - μx)
/// for every μ > 0, and the best of a few is taken.
pub(super) fn window<'a>(
    queries: impl Iterator<Item = (&'a Masses, u64)> + Clone,
    step: f64,
    tilt: f64,
    scale: f64,
    rarity: f64,
) -> (f64, f64) {
    let center = log_moment(queries.clone(), step, tilt);
    let best = |sign: f64| {
        let ends = (0..7).map(|power| {
            let mu = 0.3 * 2f64.powi(power) / scale;
            (log_moment(queries.clone(), step, tilt + sign * mu) - center + rarity) / mu
        });
        sign * ends.fold(f64::INFINITY, f64::min)
    };
    (best(-1.0), best(1.0))
}
