//! Divergences between two distributions. Nothing here uses samples.

mod best_order;
mod certified_profile;
mod convert;
mod epsilon;
mod exact_value;
mod gaussian_trade_off;
mod hockey_stick;
mod mean_ratio;
mod output_pair;
mod privacy_loss;
mod renyi;
mod rounded_up;
mod shared_teachers;
mod test_power;
mod worst_neighbor;

pub use best_order::{Conversion, smallest_epsilon};
pub use certified_profile::CertifiedProfile;
pub use convert::{RdpCurve, classic_epsilon_of_rdp, delta_of_rdp, epsilon_of_rdp, order_grid};
pub use epsilon::{epsilon_at_delta, gdp_of_distributions};
#[doc(hidden)]
pub use exact_value::LEAST_ERROR;
pub use gaussian_trade_off::{gaussian_sigma, gdp_delta, gdp_epsilon};
pub use hockey_stick::hockey_stick;
pub use privacy_loss::{
    Bracket, ComposedDirection, ComposedLoss, EnclosedLoss, LossCell, LossQuantiles, PrivacyLoss, compose_losses,
};
pub use renyi::{bernoulli_renyi, renyi_divergence};
#[doc(hidden)]
pub use renyi::{bernoulli_renyi_of_logs, two_ratios_renyi};
pub use shared_teachers::SharedTeachers;
pub use test_power::TestPower;
#[doc(hidden)]
pub use worst_neighbor::searched;
pub use worst_neighbor::{Supremum, WorstNeighbors, worst_neighbors, worst_neighbors_of};

use crate::distribution::OutcomeDistribution;
use crate::error::{Error, Result};

/// Two distributions can be compared only on the same outcomes.
#[doc(hidden)]
pub fn same_outcomes(p: &OutcomeDistribution, q: &OutcomeDistribution) -> Result<()> {
    Error::check_size(
        "distribution of the neighbor",
        q.outcomes(),
        p.outcomes(),
        " outcomes, as the other distribution",
    )
}

/// One outcome under both distributions, with the complements of its probabilities.
#[derive(Debug, Clone, Copy)]
struct Pair {
    p: f64,
    q: f64,
    p_other: f64,
    q_other: f64,
    ln_p: f64,
    ln_q: f64,
}

impl Pair {
    /// Outcome `i` of two distributions.
    fn of(p: &OutcomeDistribution, q: &OutcomeDistribution, i: usize) -> Self {
        Self {
            p: p.p()[i],
            q: q.p()[i],
            p_other: p.complement()[i],
            q_other: q.complement()[i],
            ln_p: p.ln_p()[i],
            ln_q: q.ln_p()[i],
        }
    }

    /// l = ln p - ln q. If p and q are close, ln(1 + (p-q)/q): the difference is exact, unlike that of two rounded
    /// logarithms. Close to 1 it is computed from the complements, which have the digits there.
    fn log_ratio(self) -> f64 {
        let difference = if self.p > 0.5 { self.q_other - self.p_other } else { self.p - self.q };
        if self.q >= SMALLEST_FOR_DIFFERENCE && difference.abs() <= 0.25 * self.q {
            return libm::log1p(difference / self.q);
        }
        self.ln_p - self.ln_q
    }
}

/// Below this a probability loses digits to underflow, but its logarithm does not.
const SMALLEST_FOR_DIFFERENCE: f64 = 1e-290;
