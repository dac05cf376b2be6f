//! Quantiles of composed privacy losses, for drawing samples.

use super::PrivacyLoss;
use super::lattice::{Above, Masses};
use super::spectrum::convolve;
use super::tail::window;
use crate::error::{Error, Result};
use leakbound_fft::Planner;

/// Points of the finest lattice, and of the coarsest.
const MOST_POINTS: usize = 1 << 20;
const FEWEST_POINTS: usize = 1 << 8;
/// A step is at most this share of the standard deviation of the sum.
const FINE: f64 = 0.02;
/// Rounding to the lattice moves the mean of the sum by at most about this share of its standard deviation.
const MOVED: f64 = 1e-3;
/// A lattice is at most this many times coarser than that.
const COARSER: f64 = 8.0;
/// The sum leaves its window with probability at most e^-RARITY on either side.
const RARITY: f64 = 44.0;

/// The privacy loss ln P/Q of T independent outputs together, under P and under Q, by its quantiles.
///
/// A uniform number is mapped to the loss of an output drawn under P, or under Q: the score of the best attacker, as
/// needed by a forecast. Losses are rounded to a lattice whose step is at most a fiftieth of the standard deviation of
/// the sum, without a guarantee. [`compose_losses`](super::compose_losses) gives the profile with guarantees.
///
/// ```
/// # use leakbound::distribution::OutcomeDistribution;
/// # use leakbound::divergence::{LossQuantiles, PrivacyLoss};
/// // Randomized response with truth probability 3/4, 100 times: the mean of the loss is 50 ln 3 under P.
/// let [p, q] = [[0.75, 0.25], [0.25, 0.75]].map(|p| OutcomeDistribution::from_probabilities(&p).unwrap());
/// let (forward, reverse) = (PrivacyLoss::of_distributions(&p, &q)?, PrivacyLoss::of_distributions(&q, &p)?);
/// let quantiles = LossQuantiles::new([&forward, &reverse], 100)?;
/// let mean = (0..1000).map(|i| quantiles.under_p((f64::from(i) + 0.5) / 1000.0)).sum::<f64>() / 1000.0;
/// assert!((mean / (50.0 * 3f64.ln()) - 1.0).abs() < 0.01);
/// assert!((quantiles.under_q(0.5) + quantiles.under_p(0.5)).abs() < 1.0);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LossQuantiles {
    /// The quantiles of ln P/Q under P, and of ln Q/P under Q.
    sides: [Quantiles; 2],
}

impl LossQuantiles {
    /// Composes the loss of P against Q and that of Q against P, in this order, `times` over.
    ///
    /// # Errors
    /// [`Error::Domain`] for no output, [`Error::Rejected`] if a fine enough lattice has more than 2^20 points: for
    /// about 10^9 outputs or more.
    pub fn new(losses: [&PrivacyLoss; 2], times: u64) -> Result<Self> {
        Error::check_domain(times > 0, "composed outputs", 0.0, "[1, inf)")?;
        let [forward, reverse] = losses.map(|loss| Quantiles::new(loss, times));
        Ok(Self { sides: [forward?, reverse?] })
    }

    /// ln P/Q of an output drawn under P, for a uniform number in [0, 1), increasing; infinite if impossible under Q.
    #[must_use]
    pub fn under_p(&self, uniform: f64) -> f64 {
        self.sides[0].at(uniform)
    }

    /// ln P/Q of an output drawn under Q, for a uniform number in [0, 1), decreasing; negative infinity if impossible
    /// under P.
    #[must_use]
    pub fn under_q(&self, uniform: f64) -> f64 {
        -self.sides[1].at(uniform)
    }
}

/// A distribution function on a lattice.
#[derive(Debug, Clone)]
struct Quantiles {
    /// The first point.
    first: f64,
    step: f64,
    /// Probabilities of points up to each, without infinite losses.
    sums: Vec<f64>,
}

impl Quantiles {
    fn new(loss: &PrivacyLoss, times: u64) -> Result<Self> {
        let count = times as f64;
        let finite: f64 = loss.atoms().map(|atom| atom.1).sum();
        // All outputs have finite losses.
        let all_finite = libm::exp(count * libm::log1p(-loss.infinite().min(1.0)));
        let mean = loss.atoms().map(|(l, p)| l * p).sum::<f64>() / finite;
        let variance = loss.atoms().map(|(l, p)| (l - mean).powi(2) * p).sum::<f64>() / finite;
        let scale = (count * variance).sqrt();
        if !(scale > 1e-12 * (1.0 + (count * mean).abs())) {
            let first = if finite > 0.0 { count * mean } else { 0.0 };
            return Ok(Self { first, step: 0.0, sums: vec![all_finite] });
        }
        // The mean of a loss moves by at most an eighth of the squared step.
        let finest = (FINE * scale).min((8.0 * MOVED * scale / count).sqrt());
        let mut step = finest;
        while step <= COARSER * finest {
            let Above { p, .. } = Above::new(loss, step, 0.0);
            let total: f64 = p.iter().map(|mass| mass.1).sum();
            let masses: Masses = p.into_iter().map(|(point, mass)| (point, mass / total)).collect();
            let (low, high) = window(&[(&masses, times)], step, 0.0, scale, RARITY);
            let wished = (high - low) / step + 4.0;
            if !(wished <= MOST_POINTS as f64) {
                step *= 2.0;
                continue;
            }
            let points = (wished as usize).max(FEWEST_POINTS).next_power_of_two();
            let first = (low / step).floor() as i64 - 1;
            let mass = convolve(vec![(masses, times)], points, &mut Planner::new()).mass;
            let mut sum = 0.0;
            let sums: Vec<f64> = (0..points as i64)
                .map(|index| {
                    sum += mass[(first + index).rem_euclid(points as i64) as usize].max(0.0);
                    sum
                })
                .collect();
            // Rounding errors of the transform have either sign.
            let scaled = sums.iter().map(|value| value / sum * all_finite).collect();
            return Ok(Self { first: first as f64 * step, step, sums: scaled });
        }
        Err(Error::rejected(
            "distribution of composed losses",
            format_args!("{times} outputs whose losses are so small take a lattice of more than {MOST_POINTS} points"),
        ))
    }

    fn at(&self, uniform: f64) -> f64 {
        let index = self.sums.partition_point(|&sum| sum <= uniform);
        if index == self.sums.len() { f64::INFINITY } else { self.first + index as f64 * self.step }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::OutcomeDistribution;
    use crate::special::ndtr;

    fn loss(p: &[f64], q: &[f64]) -> [PrivacyLoss; 2] {
        let [p, q] = [p, q].map(|p| OutcomeDistribution::from_probabilities(p).unwrap());
        [PrivacyLoss::of_distributions(&p, &q).unwrap(), PrivacyLoss::of_distributions(&q, &p).unwrap()]
    }

    /// The losses of a Gaussian pair at distance μ are normal with mean ±μ²/2 and standard deviation μ, and 16 of them
    /// are those of distance 4μ.
    #[test]
    fn gaussian_losses_add_up() {
        let mu: f64 = 0.25;
        let edges: Vec<f64> = (-800..=800).map(|i| 0.01 * f64::from(i)).collect();
        let cells = |mean: f64| -> Vec<f64> {
            let inner = edges.windows(2).map(|edge| ndtr(edge[1] - mean) - ndtr(edge[0] - mean));
            let cells: Vec<f64> = inner.collect();
            let total: f64 = cells.iter().sum();
            cells.iter().map(|cell| cell / total).collect()
        };
        let [forward, reverse] = loss(&cells(mu), &cells(0.0));
        let quantiles = LossQuantiles::new([&forward, &reverse], 16).unwrap();
        for probability in [1e-6, 0.01, 0.2, 0.5, 0.9, 0.999] {
            let z = crate::special::ndtri(probability);
            let [with, without] = [0.5 + z, -0.5 - z];
            let found = [quantiles.under_p(probability), quantiles.under_q(probability)];
            println!("{probability}: {found:?}, {with} {without}");
            // The step is 0.02, and losses on both sides are rounded away from the middle.
            assert!((found[0] - with).abs() < 0.05 && (found[1] - without).abs() < 0.05);
        }
    }

    #[test]
    fn infinite_losses_keep_their_probability() {
        let [forward, reverse] = loss(&[0.1, 0.4, 0.5], &[0.0, 0.6, 0.4]);
        let quantiles = LossQuantiles::new([&forward, &reverse], 3).unwrap();
        let finite: f64 = 0.9f64.powi(3);
        assert!(quantiles.under_p(finite - 1e-9).is_finite());
        assert_eq!(quantiles.under_p(finite + 1e-9), f64::INFINITY);
        assert!(quantiles.under_q(1.0 - 1e-9).is_finite() && quantiles.under_q(0.0).is_finite());
    }

    #[test]
    fn equal_distributions_and_certain_losses() {
        let [forward, reverse] = loss(&[0.5, 0.5], &[0.5, 0.5]);
        let quantiles = LossQuantiles::new([&forward, &reverse], 1_000).unwrap();
        assert_eq!([quantiles.under_p(0.3), quantiles.under_q(0.9)], [0.0, 0.0]);
        let [forward, reverse] = loss(&[1.0, 0.0], &[0.0, 1.0]);
        let quantiles = LossQuantiles::new([&forward, &reverse], 1).unwrap();
        assert_eq!([quantiles.under_p(0.0), quantiles.under_q(0.0)], [f64::INFINITY, f64::NEG_INFINITY]);
        assert!(LossQuantiles::new([&forward, &reverse], 0).is_err());
    }
}
