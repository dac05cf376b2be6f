//! Real-valued outputs, cut into bins.
//!
//! Binning is post-processing: every divergence of the binned distributions is at most that of the numbers themselves,
//! so a claim below it is wrong. If the ratio of the densities is constant on a bin, nothing is lost.

use super::kind::rejected;
use super::one_by_one::one_by_one;
use super::{Bins, BothLosses, losses};
use crate::distribution::OutcomeDistribution;
use crate::divergence::LossCell;
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::quadrature::LogIntegral;
use crate::simulate::{Sampler, Stream};
use crate::special::{LN_SQRT_2PI, log_ndtr, log_sum_exp};
use rand::RngExt;
use rand_distr::{Distribution, Exp1, StandardNormal};

/// Relative rounding error of a density, per unit of the square of the position.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// Number of standard deviations beyond which a normal distribution counts as 0: 1e-316.
const FARTHEST: f64 = 38.0;
/// How much wider bins beyond [`REACH`] are.
const COARSE: f64 = 20.0;
/// Standard deviations on each side of a place where an integrand is large.
pub(super) const REACH: f64 = 9.0;

/// A real number that is released.
pub(super) trait RealOutput: Send + Sync + std::fmt::Debug {
    /// ln of the probabilities of the bins below, between and above the edges.
    fn bins(&self, edges: &[f64]) -> Vec<LogIntegral>;

    /// ln of the density.
    fn ln_density(&self, x: f64) -> f64;

    /// One output.
    fn draw(&self, stream: &mut Stream) -> f64;
}

/// A real number released without and with a record, in the same bins.
#[derive(Debug)]
pub(super) struct Binned {
    /// In increasing order.
    pub edges: Vec<f64>,
    /// Without the record, and with it.
    pub outputs: [Box<dyn RealOutput>; 2],
    /// ln of the density without the record over that with it, at -∞ and at ∞, if the ratio is monotone.
    pub limits: Option<[f64; 2]>,
}

impl Binned {
    /// The distribution of the bin.
    pub(super) fn distribution(&self, data: &VoteHistogram) -> Result<OutcomeDistribution> {
        OutcomeDistribution::from_integrals(&self.outputs[record(data)?].bins(&self.edges))
    }

    /// A sampler of the bin under these data and under a neighbor.
    pub(super) fn sampler(self, data: &VoteHistogram, neighbor: &VoteHistogram) -> Result<Box<dyn Sampler>> {
        let worlds = [record(data)?, record(neighbor)?];
        let Self { edges, outputs, .. } = self;
        Ok(one_by_one(edges.len() + 1, move |world, stream| {
            let value = outputs[worlds[world.index()]].draw(stream);
            edges.partition_point(|edge| *edge <= value)
        }))
    }

    /// The privacy losses between these data and a neighbor, forward and reverse.
    pub(super) fn enclosed_losses(&self, data: &VoteHistogram, neighbor: &VoteHistogram) -> Result<BothLosses> {
        let worlds = [record(data)?, record(neighbor)?];
        let Some(limits) = self.limits else {
            return Err(rejected("the ratio of its densities is not monotone, so that bins do not enclose it".into()));
        };
        // Without the record, and with it.
        let bins = self.outputs.each_ref().map(|output| output.bins(&self.edges));
        let log_ratio = |x: f64| self.outputs[0].ln_density(x) - self.outputs[1].ln_density(x);
        let mut ratios: Vec<f64> = vec![limits[0]];
        ratios.extend(self.edges.iter().map(|&edge| log_ratio(edge)));
        ratios.push(limits[1]);
        let cell = |bin: usize| {
            let (low, high) = (ratios[bin].min(ratios[bin + 1]), ratios[bin].max(ratios[bin + 1]));
            // The rounding error of the densities, at the farther edge.
            let edge = |index: usize| self.edges.get(index).map_or(0.0, |edge| edge * edge);
            let far = edge(bin).max(if bin == 0 { 0.0 } else { edge(bin - 1) });
            let slack = if low == high { 0.0 } else { ROUNDING * (1.0 + far) };
            LossCell { p: bins[0][bin], q: bins[1][bin], losses: [low - slack, high + slack] }
        };
        Ok(losses::of_records(&(0..=self.edges.len()).map(cell).collect::<Vec<_>>(), worlds))
    }
}

/// The number of records in these data: none or one.
pub(super) fn record(data: &VoteHistogram) -> Result<usize> {
    match data.counts() {
        [0] => Ok(0),
        [1] => Ok(1),
        _ => Err(rejected("a number has the histogram 0, which one record makes 1".into())),
    }
}

/// N(mean, deviation²).
#[derive(Debug, Clone, Copy)]
pub(super) struct Normal {
    pub mean: f64,
    pub deviation: f64,
}

impl Normal {
    /// N(mean, 1).
    pub(super) const fn at(mean: f64) -> Self {
        Self { mean, deviation: 1.0 }
    }
}

impl RealOutput for Normal {
    fn bins(&self, edges: &[f64]) -> Vec<LogIntegral> {
        normal_bins(edges, |edge| (edge - self.mean) / self.deviation)
    }

    fn draw(&self, stream: &mut Stream) -> f64 {
        let unit: f64 = StandardNormal.sample(stream);
        self.mean + self.deviation * unit
    }

    fn ln_density(&self, x: f64) -> f64 {
        let unit = (x - self.mean) / self.deviation;
        -0.5 * unit * unit - self.deviation.ln() - LN_SQRT_2PI
    }
}

/// N(mean, 1) with probability `rate`, else N(0, 1).
#[derive(Debug, Clone, Copy)]
pub(super) struct Mixture {
    pub rate: f64,
    pub mean: f64,
}

impl Mixture {
    /// ln of the density over that of N(0, 1).
    pub(super) fn ln_ratio(&self, x: f64) -> f64 {
        // 1 + rate (e^{x·mean - mean²/2} - 1), in three forms: none overflows, and none is 0 for a rate of 1.
        let exponent = self.mean * (x - 0.5 * self.mean);
        if exponent < -1.0 && self.rate > 0.5 {
            log_sum_exp([(-self.rate).ln_1p(), self.rate.ln() + exponent].into_iter())
        } else if exponent < 0.0 {
            (self.rate * libm::expm1(exponent)).ln_1p()
        } else {
            exponent + (self.rate + (1.0 - self.rate) * libm::exp(-exponent)).ln()
        }
    }
}

impl RealOutput for Mixture {
    fn bins(&self, edges: &[f64]) -> Vec<LogIntegral> {
        let [without, with] = [0.0, self.mean].map(|mean| Normal::at(mean).bins(edges));
        let (stay, come) = ((1.0 - self.rate).ln(), self.rate.ln());
        let both = |(a, b): (&LogIntegral, &LogIntegral)| LogIntegral {
            ln_value: log_sum_exp([stay + a.ln_value, come + b.ln_value].into_iter()),
            error: a.error.max(b.error) + 4.0 * f64::EPSILON,
        };
        without.iter().zip(&with).map(both).collect()
    }

    fn draw(&self, stream: &mut Stream) -> f64 {
        let mean = if stream.random_bool(self.rate) { self.mean } else { 0.0 };
        Normal::at(mean).draw(stream)
    }

    fn ln_density(&self, x: f64) -> f64 {
        Normal::at(0.0).ln_density(x) + self.ln_ratio(x)
    }
}

/// Laplace noise of scale 1 around one of two centers, 0 and `shift`, with bins of equal width in between: outside them
/// the ratio of the densities is constant, inside it has equal steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct BetweenLaplace {
    pub shift: f64,
    pub bins: usize,
    /// Whether the center is `shift`.
    pub second: bool,
}

impl BetweenLaplace {
    /// Both outputs with their bins.
    pub(super) fn pair(shift: f64, bins: usize) -> Binned {
        let width = shift / bins as f64;
        let edges = (0..=bins).map(|i| width * i as f64).collect();
        let outputs = [false, true].map(|second| Box::new(Self { shift, bins, second }) as _);
        Binned { edges, outputs, limits: Some([shift, -shift]) }
    }
}

impl RealOutput for BetweenLaplace {
    fn bins(&self, _edges: &[f64]) -> Vec<LogIntegral> {
        let row = |ln_value: f64| LogIntegral { ln_value, error: 8.0 * f64::EPSILON * (1.0 + ln_value.abs()) };
        let width = self.shift / self.bins as f64;
        let bin = -libm::expm1(-width);
        let mut rows = vec![row(0.5f64.ln())];
        rows.extend((0..self.bins).map(|i| row((0.5 * bin).ln() - width * i as f64)));
        rows.push(row(0.5f64.ln() - self.shift));
        // The second output is the mirror image of the first.
        if self.second {
            rows.reverse();
        }
        rows
    }

    fn draw(&self, stream: &mut Stream) -> f64 {
        let size: f64 = Exp1.sample(stream);
        let noise = if stream.random_bool(0.5) { size } else { -size };
        noise + if self.second { self.shift } else { 0.0 }
    }

    fn ln_density(&self, x: f64) -> f64 {
        -(x - if self.second { self.shift } else { 0.0 }).abs() - std::f64::consts::LN_2
    }
}

/// Increasing edges of bins around each center, in standard deviations.
pub(super) fn edges_around(centers: &[f64], bins: usize) -> Vec<f64> {
    let step = 2.0 * REACH / bins as f64;
    let around = |center: &f64| (0..=bins).map(|i| center - REACH + step * i as f64).collect::<Vec<_>>();
    apart(centers.iter().flat_map(around).collect(), 0.4 * step)
}

/// Where bins are finer: within this many standard deviations, and at most this many bins.
const FINE_REACH: f64 = 5.0;
const MOST_FINE: f64 = 600.0;

/// Edges around places, some of which are far out. There, one density falls by e^-|place| per standard deviation: bins
/// of that width preserve a power of it.
pub(super) fn edges_around_far(places: &[f64], far: &[f64], bins: Bins) -> Vec<f64> {
    let mut edges = edges_around(&[places, far].concat(), bins.count);
    for &place in far {
        let fine = place.abs().recip().max(2.0 * FINE_REACH / MOST_FINE);
        if bins.count == Bins::MANY && fine < 2.0 * REACH / Bins::MANY as f64 {
            let count = (FINE_REACH / fine) as i32;
            edges.retain(|edge| (edge - place).abs() > FINE_REACH);
            edges.extend((-count..=count).map(|i| place + fine * f64::from(i)));
            edges.sort_by(f64::total_cmp);
        }
    }
    edges
}

/// Edges for privacy losses of two normal distributions at 0 and `shift`: `bins` fine ones where both have most of
/// their mass, and some on either side, so that the mass beyond the last edge does not matter at any δ.
pub(super) fn edges_of_losses(shift: f64, bins: usize) -> Vec<f64> {
    let step = (2.0 * REACH + shift) / bins as f64;
    let outside = ((FARTHEST - REACH) / (COARSE * step)).ceil() as usize;
    let beyond = |i: usize| COARSE * step * i as f64;
    let left = (1..=outside).rev().map(|i| -REACH - beyond(i));
    let middle = (0..=bins).map(|i| -REACH + step * i as f64);
    let right = (1..=outside).map(|i| shift + REACH + beyond(i));
    left.chain(middle).chain(right).collect()
}

/// Sorted, without edges that are hardly above the previous one.
pub(super) fn apart(mut edges: Vec<f64>, least: f64) -> Vec<f64> {
    edges.sort_by(f64::total_cmp);
    let mut last = f64::NEG_INFINITY;
    edges.retain(|&edge| {
        let keep = edge - last > least;
        if keep {
            last = edge;
        }
        keep
    });
    edges
}

/// Rejects a shift, in noise scales, that is too large to be resolved at an order.
pub(super) fn resolvable(shift: f64, order: f64) -> Result<()> {
    Error::check_domain(shift * order < 1e12, "order over noise scale", shift * order, "[0, 1e12)")?;
    Ok(())
}

/// ln of the probabilities of a normal distribution in the bins below, between and above the edges; `standard` maps
/// them to N(0, 1).
fn normal_bins(edges: &[f64], standard: impl Fn(f64) -> f64) -> Vec<LogIntegral> {
    let ends = |i: usize| {
        let at = |i: usize| standard(edges[i]);
        (if i == 0 { f64::NEG_INFINITY } else { at(i - 1) }, if i == edges.len() { f64::INFINITY } else { at(i) })
    };
    let bin = |i: usize| {
        let (low, high) = ends(i);
        // In the tail, the difference of two tails on the same side; around the center, 1 minus both.
        let (near, far) = if low >= 0.0 { (-low, -high) } else { (high, low) };
        if low < 0.0 && high > 0.0 {
            let outside = libm::exp(log_ndtr(low)) + libm::exp(log_ndtr(-high));
            let ln_value = libm::log1p(-outside);
            return LogIntegral { ln_value, error: 4.0 * f64::EPSILON / (1.0 - outside) };
        }
        let (larger, smaller) = (log_ndtr(near), log_ndtr(far));
        let share = -libm::expm1(smaller - larger);
        LogIntegral { ln_value: larger + share.ln(), error: 4.0 * f64::EPSILON * (1.0 + larger.abs()) / share }
    };
    (0..=edges.len()).map(bin).collect()
}
