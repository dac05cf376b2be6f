//! A whole simulation.

use super::engine::Sampler;
use super::partial::PartialCounts;
use super::simulation::Simulation;
use crate::counts::PairedCounts;
use crate::error::Result;
use std::ops::ControlFlow;

/// Counts the outcomes of a mechanism in both worlds; their labels are the indices `0` to `C-1`.
///
/// The blocks of both worlds are distributed among the threads of rayon's current pool. The counts depend only on the
/// mechanism and on `simulation`, and memory does not grow with the samples. `progress` is called with the number of
/// samples drawn so far in both worlds, from any thread and not always in order; it ends at 2 ·
/// [`Simulation::samples`]. [`PartialCounts`] draws the same counts in parts.
///
/// # Errors
/// [`Error::Length`](crate::Error::Length) unless the mechanism has 1 to 2^20 outcomes,
/// [`Error::Rejected`](crate::Error::Rejected) if it does not count the requested number of outcomes.
///
/// # Example
/// ```
/// use leakbound::histogram::VoteHistogram;
/// use leakbound::model::PromptPateModel;
/// use leakbound::simulate::{ArgmaxSampler, Simulation, simulate};
///
/// let model = PromptPateModel::new(VoteHistogram::new(vec![3, 1])?, VoteHistogram::new(vec![2, 2])?)?;
/// let mechanism = ArgmaxSampler::new(&model.into(), "laplace:1".parse()?);
/// let counts = simulate(&mechanism, Simulation::new(1_000_000)?, |_| ())?;
/// // A difference of n votes is kept with probability 1 - (n+2) exp(-n)/4: 0.86466 for 2 votes, 1/2 for none.
/// assert!(counts.counts()[0].abs_diff(864_665) < 2_000);
/// assert!(counts.counts_neighbor()[0].abs_diff(500_000) < 2_500);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn simulate<M, F>(mechanism: &M, simulation: Simulation, progress: F) -> Result<PairedCounts>
where
    M: Sampler + ?Sized,
    F: Fn(u64) + Sync,
{
    let mut all = PartialCounts::new(simulation, mechanism.outcomes())?;
    all.advance(mechanism, 0..simulation.blocks(), |done| {
        progress(done);
        ControlFlow::Continue(())
    })?;
    all.counts()
}
