//! Divergences between two laws. Nothing here sees a sample.

mod convert;
mod epsilon;
mod hockey_stick;
mod renyi;
mod worst_neighbor;

pub use convert::{RdpCurve, classic_epsilon_of_rdp, delta_of_rdp, epsilon_of_rdp, order_grid};
pub use epsilon::{epsilon_at_delta, gdp_of_laws};
pub use hockey_stick::hockey_stick;
pub use renyi::{bernoulli_renyi, renyi_divergence};
pub use worst_neighbor::{Supremum, WorstNeighbors, worst_neighbors};

use crate::error::{Error, Result};
use crate::law::OutcomeLaw;

/// Two laws can be compared only on the same outcomes.
fn same_outcomes(p: &OutcomeLaw, q: &OutcomeLaw) -> Result<()> {
    if p.outcomes() == q.outcomes() {
        return Ok(());
    }
    Err(Error::Length {
        quantity: "law of the neighbour",
        found: q.outcomes(),
        expected: format!("{} outcomes, as the other law", p.outcomes()),
    })
}
