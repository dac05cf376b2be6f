//! Real-valued outputs, cut into bins.
//!
//! Cutting is post-processing: every divergence of the binned distributions is at most that of the numbers themselves,
//! so that a claim below it is wrong. Where the ratio of the densities is constant on a bin nothing is lost.

use super::kind::rejected;
use crate::distribution::OutcomeDistribution;
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::quadrature::LogIntegral;
use crate::simulate::{Sampler, Stream, World};
use crate::special::{log_ndtr, log_sum_exp};
use rand::RngExt;
use rand_distr::{Distribution, Exp1, StandardNormal};

/// Standard deviations on each side of a place where an integrand is large.
pub(super) const REACH: f64 = 9.0;

/// A real number that is released.
pub(super) trait RealOutput: Send + Sync + std::fmt::Debug {
    /// ln of the probabilities of the bins below, between and above the edges.
    fn bins(&self, edges: &[f64]) -> Vec<LogIntegral>;

    /// One output.
    fn draw(&self, stream: &mut Stream) -> f64;
}

/// A real number that is released without and with a record, in the same bins.
#[derive(Debug)]
pub(super) struct Binned {
    /// Increasing.
    pub edges: Vec<f64>,
    /// Without the record, and with it.
    pub outputs: [Box<dyn RealOutput>; 2],
}

impl Binned {
    /// The distribution of the bin.
    pub(super) fn distribution(&self, data: &VoteHistogram) -> Result<OutcomeDistribution> {
        OutcomeDistribution::from_integrals(&self.outputs[record(data)?].bins(&self.edges))
    }

    /// A sampler of the bin under these data and under a neighbor.
    pub(super) fn sampler(self, data: &VoteHistogram, neighbor: &VoteHistogram) -> Result<Box<dyn Sampler>> {
        let worlds = [record(data)?, record(neighbor)?];
        Ok(Box::new(BinnedSampler { binned: self, worlds }))
    }
}

/// How many records these data hold: none or one.
pub(super) fn record(data: &VoteHistogram) -> Result<usize> {
    match data.counts() {
        [0] => Ok(0),
        [1] => Ok(1),
        _ => Err(rejected("a number has the histogram 0, which one record makes 1".into())),
    }
}

struct BinnedSampler {
    binned: Binned,
    worlds: [usize; 2],
}

impl Sampler for BinnedSampler {
    fn outcomes(&self) -> usize {
        self.binned.edges.len() + 1
    }

    fn sample_block(&self, world: World, stream: &mut Stream, samples: u64, counts: &mut [u64]) {
        let output = &self.binned.outputs[self.worlds[world.index()]];
        for _ in 0..samples {
            let value = output.draw(stream);
            counts[self.binned.edges.partition_point(|edge| *edge <= value)] += 1;
        }
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
}

/// N(mean, 1) with probability `rate`, else N(0, 1).
#[derive(Debug, Clone, Copy)]
pub(super) struct Mixture {
    pub rate: f64,
    pub mean: f64,
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
}

/// Laplace noise of scale 1 around one of two centers, 0 and `shift`, between which bins of equal width lie: outside
/// them the ratio of the densities is constant, inside it has equal steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct BetweenLaplace {
    pub shift: f64,
    pub bins: usize,
    /// Around `shift`.
    pub second: bool,
}

impl BetweenLaplace {
    /// Both outputs with their bins.
    pub(super) fn pair(shift: f64, bins: usize) -> Binned {
        let width = shift / bins as f64;
        let edges = (0..=bins).map(|i| width * i as f64).collect();
        Binned { edges, outputs: [false, true].map(|second| Box::new(Self { shift, bins, second }) as _) }
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
        // The second output is the first one turned around.
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
}

/// Increasing edges of bins around each center, in standard deviations.
pub(super) fn edges_around(centers: &[f64], bins: usize) -> Vec<f64> {
    let step = 2.0 * REACH / bins as f64;
    let around = |center: &f64| (0..=bins).map(|i| center - REACH + step * i as f64).collect::<Vec<_>>();
    apart(centers.iter().flat_map(around).collect(), 0.4 * step)
}

/// Sorted, without those that are hardly above the one before.
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

/// Rejects a shift, in noise scales, that is so large for an order that nothing can be resolved.
pub(super) fn resolvable(shift: f64, order: f64) -> Result<()> {
    if !(shift * order < 1e12) {
        return Err(Error::Domain { quantity: "order over noise scale", value: shift * order, domain: "[0, 1e12)" });
    }
    Ok(())
}

/// ln of the probabilities of a normal distribution in the bins below, between and above the edges, which `standard`
/// brings to N(0, 1).
fn normal_bins(edges: &[f64], standard: impl Fn(f64) -> f64) -> Vec<LogIntegral> {
    let ends = |i: usize| {
        let at = |i: usize| standard(edges[i]);
        (if i == 0 { f64::NEG_INFINITY } else { at(i - 1) }, if i == edges.len() { f64::INFINITY } else { at(i) })
    };
    let bin = |i: usize| {
        let (low, high) = ends(i);
        // In the tail the difference of two tails of the same side; around the center 1 minus both.
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
