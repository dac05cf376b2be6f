//! Bootstrap bounds of the 2-cut and the k-cut, as in the literature, with their limitations.

use super::method::{Bounds, Draws, Guarantee, MethodRow, Needs, sure};
use super::output_set::OutputSet;
use super::resamples::{Resamples, partition};
use crate::bound::{Direction, LowerBound, Validity};
use crate::counts::PairedCounts;
use crate::error::{Error, Result};
use crate::quantity::{FailureProbability, Order};
use crate::special::{ndtr, ndtri};

// Nominal for a single order and direction, as its authors use it.
pub(super) const BOOTSTRAP_TWO_CUT: MethodRow = MethodRow {
    name: "bootstrap-two-cut",
    when: "To compare with papers that use it. Do not base a claim on it.",
    guarantee: Guarantee::Nominal(Validity::Heuristic),
    needs: Needs::Nothing,
    draws: Draws::Resamples,
    bounds: Bounds::Renyi(|task| {
        let bootstrap = Bootstrap::new(task.counts, &task.guide.sets.sets, task.resamples, task.seed)?;
        Ok(sure(move |order, direction| {
            bootstrap.two_cut(order, direction, task.failure, BootstrapInterval::Percentile)
        }))
    }),
};

pub(super) const BOOTSTRAP_K_CUT: MethodRow = MethodRow {
    name: "bootstrap-k-cut",
    when: "To compare with papers that use it. Do not base a claim on it.",
    guarantee: Guarantee::Nominal(Validity::Heuristic),
    needs: Needs::Nothing,
    draws: Draws::Resamples,
    bounds: Bounds::Renyi(|task| {
        let bootstrap = Bootstrap::new(task.counts, &[], task.resamples, task.seed)?;
        Ok(sure(move |order, direction| bootstrap.k_cut(order, direction, task.failure, BootstrapInterval::Percentile)))
    }),
};

/// Fewer resamples give no usable quantile; more are not worth their time.
const RESAMPLES: std::ops::RangeInclusive<usize> = 100..=1_000_000;
/// The largest number of stored values, 1 GiB.
const MAX_KEPT: usize = 1 << 27;
/// Below this n χ², the intervals cover too rarely; see [`Bootstrap`].
const ENOUGH_SIGNAL: f64 = 1e3;

/// How a bound is obtained from the resampled divergences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BootstrapInterval {
    /// The quantile at the failure probability γ.
    Percentile,
    /// The quantile at Φ(z₀ + (z₀ + z)/(1 - a(z₀ + z))), z = Φ⁻¹(γ): corrected for bias z₀ and acceleration a (Efron
    /// 1987).
    Bca,
}

/// Resampled counts of both worlds, from which the bounds `bootstrap-two-cut` and `bootstrap-k-cut` are read for all
/// orders and directions.
///
/// Each resample is Mult(n, p̂) and Mult(n', q̂) with the observed frequencies; its plug-in divergence is
/// ln(Σ_c p_c^α q_c^{1-α})/(α-1) over the cells of a partition of the outcomes: an output set and its complement, or
/// or, for the k-cut, every outcome alone. If an outcome was never seen in one world, the plug-in is infinite; the
/// k-cut therefore puts all such outcomes into one cell, together with the rarest others if necessary for the cell to
/// be seen in both worlds. A coarser partition has a smaller divergence. A resample may still be infinite; if the
/// quantile is infinite, the bound is 0.
///
/// # No guarantee
/// Validity is [`Validity::Heuristic`]. Percentile bounds **never cover a divergence of 0**: resampled distributions of
/// equal worlds differ, so the lower quantile is above 0 in every run. At n χ² ≈ 8 (χ² = Σ (p-q)²/q, n samples a side),
/// the percentile k-cut claimed more than the truth in 30% to 40% of runs at a nominal 5%, at n χ² ≈ 80 in 9%, at 800
/// in 6% to 10%; it is close to nominal in Fig. 6 of Chadha et al. (n χ² ≈ 2,700). BCa bounds cover 0 in 30% to 80% of
/// runs and cost a fifth of the bound at n χ² ≈ 80. [`Bootstrap::is_doubtful`] tells when a bound should not be
/// trusted.
///
/// # Example
/// ```
/// # use leakbound::audit::{Bootstrap, BootstrapInterval, OutputSet};
/// # use leakbound::prelude::*;
/// let labels = ["a", "b", "c"].map(String::from).to_vec();
/// let counts = PairedCounts::new(labels, vec![7_000, 2_000, 1_000], vec![5_000, 4_000, 1_000])?;
/// let bootstrap = Bootstrap::new(&counts, &[OutputSet::new(vec![true, false, false])], 2_000, 0)?;
/// let (order, failure) = (Order::new(2.0)?, FailureProbability::new(0.05)?);
/// let bound = bootstrap.k_cut(order, Direction::Forward, failure, BootstrapInterval::Percentile);
/// // The frequencies themselves give ln(1.18) = 0.1655.
/// assert!(bound.value > 0.14 && bound.value < 0.166 && !bootstrap.is_doubtful(&bound));
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Chadha et al. (2024), "Auditing Private Prediction", appendix B; Efron and Tibshirani (1993), "An Introduction to
/// the Bootstrap", chapters 13 and 14; Efron (1987), "Better bootstrap confidence intervals"; Andrews (2000) for the
/// failure at a boundary.
#[derive(Debug, Clone)]
pub struct Bootstrap {
    k_cut: Resamples,
    two_cuts: Vec<Resamples>,
    signal: f64,
}

impl Bootstrap {
    /// Resamples both worlds this many times. The sets, none for the k-cut alone, must not have been chosen by looking
    /// at the counts. The result is a function of the arguments alone, for any number of threads.
    ///
    /// # Errors
    /// [`Error::Domain`] unless there are 100 to 1,000,000 resamples; [`Error::Length`] if a set has a different number
    /// of outcomes; [`Error::Rejected`] if outcomes and sets times resamples would need more than 1 GiB.
    pub fn new(counts: &PairedCounts, sets: &[OutputSet], resamples: usize, seed: u64) -> Result<Self> {
        Error::check_domain(RESAMPLES.contains(&resamples), "resamples", resamples as f64, "[100, 1000000]")?;
        for set in sets {
            set.inside(counts)?;
        }
        let own = partition(counts);
        let cells = own.iter().max().map_or(0, |most| most + 1);
        let kept = (4 * cells + 8 * sets.len()).saturating_mul(resamples);
        let reason =
            format_args!("{resamples} resamples of {cells} outcomes and {} sets need more than 1 GiB", sets.len());
        Error::check_possible(kept <= MAX_KEPT, "bootstrap", reason)?;
        let of_set = |set: &OutputSet| set.contains().iter().map(|&inside| usize::from(!inside)).collect();
        let mut partitions: Vec<Vec<usize>> = sets.iter().map(of_set).collect();
        partitions.push(own);
        let mut all = Resamples::draw(counts, &partitions, resamples, seed);
        let Some(k_cut) = all.pop() else {
            return Err(Error::length("bootstrap", 0, "at least 1 partition"));
        };
        Ok(Self { k_cut, two_cuts: all, signal: signal(counts) })
    }

    /// Bound `bootstrap-two-cut`: the largest over the sets, which share the failure probability; 0 without sets.
    /// Nominal for this order and direction alone.
    #[must_use]
    pub fn two_cut(
        &self,
        order: Order,
        direction: Direction,
        failure: FailureProbability,
        interval: BootstrapInterval,
    ) -> LowerBound {
        let share = failure.split(self.two_cuts.len());
        let bounds = self.two_cuts.iter().map(|set| quantile(set, order, direction, share, interval));
        bound(BOOTSTRAP_TWO_CUT.name, failure, bounds.fold(0.0, f64::max))
    }

    /// Bound `bootstrap-k-cut`. Nominal for this order and direction alone.
    #[must_use]
    pub fn k_cut(
        &self,
        order: Order,
        direction: Direction,
        failure: FailureProbability,
        interval: BootstrapInterval,
    ) -> LowerBound {
        bound(BOOTSTRAP_K_CUT.name, failure, quantile(&self.k_cut, order, direction, failure, interval))
    }

    /// Estimate of n χ² from the counts: Σ_c (p̂-q̂)²/((p̂+q̂)/2) minus its expectation by chance, times the harmonic
    /// mean of the samples of both worlds; 0 if chance explains everything.
    #[must_use]
    pub const fn signal(&self) -> f64 {
        self.signal
    }

    /// Whether bootstrap bounds from these counts should not be trusted, without resampling: n χ² is below 1,000.
    #[must_use]
    pub fn is_doubtful_for(counts: &PairedCounts) -> bool {
        signal(counts) < ENOUGH_SIGNAL
    }

    /// Whether a bound of this bootstrap should not be trusted: n χ² is below 1,000, or the bound is 0.
    #[must_use]
    pub fn is_doubtful(&self, bound: &LowerBound) -> bool {
        self.signal < ENOUGH_SIGNAL || !(bound.value > 0.0)
    }
}

fn bound(method: &'static str, failure: FailureProbability, value: f64) -> LowerBound {
    // An infinite quantile bounds nothing.
    let value = if value > 0.0 && value.is_finite() { value * (1.0 - 1e-9) } else { 0.0 };
    LowerBound::new(value, failure, method, Validity::Heuristic)
}

/// The resampled divergence with the rank required by the interval; 0 if there are too few resamples for it.
fn quantile(
    resamples: &Resamples,
    order: Order,
    direction: Direction,
    failure: FailureProbability,
    interval: BootstrapInterval,
) -> f64 {
    let mut values = resamples.divergences(order.get(), direction);
    let level = match interval {
        BootstrapInterval::Percentile => failure.get(),
        BootstrapInterval::Bca => {
            let observed = resamples.observed(order.get(), direction);
            if !observed.is_finite() {
                return 0.0;
            }
            let acceleration = resamples.acceleration(order.get(), direction);
            corrected_level(failure.get(), bias(&values, observed), acceleration)
        }
    };
    let rank = ((values.len() + 1) as f64 * level).floor() as usize;
    if rank == 0 {
        return 0.0;
    }
    let at = rank.min(values.len()) - 1;
    let (_, value, _) = values.select_nth_unstable_by(at, f64::total_cmp);
    if value.is_finite() { *value } else { 0.0 }
}

/// z₀ = Φ⁻¹ of the share of resamples below the observed value, ties by half; limited to what this many resamples can
/// resolve.
fn bias(values: &[f64], observed: f64) -> f64 {
    let below = values.iter().filter(|&&value| value < observed).count() as f64;
    let equal = values.iter().filter(|&&value| value == observed).count() as f64;
    let total = values.len() as f64;
    ndtri(((below + 0.5 * equal) / total).clamp(0.5 / total, 1.0 - 0.5 / total))
}

/// Φ(z₀ + (z₀ + z)/(1 - a(z₀ + z))), 0 beyond the pole, where there is no quantile.
fn corrected_level(failure: f64, bias: f64, acceleration: f64) -> f64 {
    let sum = bias + ndtri(failure);
    let room = 1.0 - acceleration * sum;
    if room > 0.0 { ndtr(bias + sum / room) } else { 0.0 }
}

/// n χ² after subtracting its bias.
fn signal(counts: &PairedCounts) -> f64 {
    let (n, m) = (counts.trials() as f64, counts.trials_neighbor() as f64);
    let (mut sum, mut seen) = (0.0, 0u64);
    for (&x, &y) in counts.counts().iter().zip(counts.counts_neighbor()) {
        let (p, q) = (x as f64 / n, y as f64 / m);
        if p + q > 0.0 {
            sum += (p - q) * (p - q) / (0.5 * (p + q));
            seen += 1;
        }
    }
    let chance = seen.saturating_sub(1) as f64 * (1.0 / n + 1.0 / m);
    ((sum - chance) * 2.0 / (1.0 / n + 1.0 / m)).max(0.0)
}

#[cfg(test)]
mod tests;
