//! The k-cut bound that needs neither a pilot nor an output set: the smallest divergence in a Clopper-Pearson box.

use super::dual_tangent::Tangent;
use super::least_favorable::least_favorable;
use super::method::{Bounds, Draws, Guarantee, MethodRow, Needs, sure};
use crate::bound::{Direction, LowerBound, Validity};
use crate::counts::PairedCounts;
use crate::error::Result;
use crate::interval::clopper_pearson_simultaneous;
use crate::quantity::{FailureProbability, Order};

pub(super) const K_CUT_BOX: MethodRow = MethodRow {
    name: "k-cut-box",
    when: "There is no pilot and no reference distribution.",
    guarantee: Guarantee::OwnEvent,
    needs: Needs::Nothing,
    draws: Draws::Nothing,
    bounds: Bounds::Renyi(|task| {
        let cut = KCutBox::new(task.counts, task.failure)?;
        Ok(sure(move |order, direction| cut.bound(order, direction)))
    }),
};

/// Clopper-Pearson limits of the probabilities of all outcomes in both worlds, and the closest two distributions within
/// them.
///
/// All 4C limits (four for two outcomes, which share theirs) hold simultaneously except with the failure probability,
/// for any number of samples. Then D_α(P‖Q) is at least the smallest divergence of two distributions within the limits:
/// min Σ p^α q^{1-α} over p_l ≤ p ≤ p_u, q_l ≤ q ≤ q_u, Σ p = Σ q = 1. One pair of distributions attains the minimum
/// for all orders and both directions, so it is computed once. Each bound is the value of the tangent there minimized
/// over the whole box, which stays below the true minimum wherever the search ended. For two outcomes it is
/// [`Rectangle::corner`](crate::audit::Rectangle::corner) with four tails.
///
/// One event covers everything: all orders and both directions cost one failure probability.
///
/// ```
/// # use leakbound::audit::KCutBox;
/// # use leakbound::bound::Direction;
/// # use leakbound::counts::PairedCounts;
/// # use leakbound::quantity::{FailureProbability, Order};
/// let labels = ["a", "b", "c"].map(str::to_owned).to_vec();
/// let counts = PairedCounts::new(labels, vec![6_000, 3_000, 1_000], vec![5_000, 3_000, 2_000])?;
/// let limits = KCutBox::new(&counts, FailureProbability::new(0.05)?)?;
/// let bound = limits.bound(Order::new(2.0)?, Direction::Forward);
/// // The divergence of the frequencies themselves is ln(0.36/0.5 + 0.3 + 0.01/0.2) = 0.0677.
/// assert!(bound.value > 0.03 && bound.value < 0.0677);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Clopper and Pearson (1934) for the limits; Huber and Strassen (1973), "Minimax tests and the Neyman-Pearson lemma
/// for capacities", for least favorable pairs; the solution and its certificate are proved in
/// `audit/least_favorable.rs` and `audit/tangent.rs`.
#[derive(Debug, Clone, PartialEq)]
pub struct KCutBox {
    least: Option<Tangent>,
    failure: FailureProbability,
}

impl KCutBox {
    /// Limits from counts: half of the failure probability for each world.
    ///
    /// # Errors
    /// As [`clopper_pearson_simultaneous`].
    pub fn new(counts: &PairedCounts, failure: FailureProbability) -> Result<Self> {
        let half = failure.split(2);
        let p = clopper_pearson_simultaneous(counts.counts(), half)?;
        let q = clopper_pearson_simultaneous(counts.counts_neighbor(), half)?;
        Ok(Self { least: least_favorable(&p, &q), failure })
    }

    /// Lower bound of D_α, `k-cut-box`: finite-sample, rounded down by a relative 1e-12 and the rounding errors of its
    /// sum.
    #[must_use]
    pub fn bound(&self, order: Order, direction: Direction) -> LowerBound {
        let value = self.least.as_ref().map_or(0.0, |least| least.divergence(order, direction));
        LowerBound::new(value, self.failure, K_CUT_BOX.name, Validity::FiniteSample)
    }
}
