//! The claim about a training, as bounds and as scores.

use crate::audit::{CanaryScoreModel, ClaimedBounds};
use crate::divergence::{LossQuantiles, compose_losses, gdp_epsilon};
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::mechanism::{DataKind, Mechanism};
use crate::quantity::{Delta, Epsilon};
use crate::record::TrainingClaim;

/// Cells of real outputs, and the width of the enclosure of a claimed ε.
const CELLS: usize = 4_000;
const WIDTH: f64 = 1e-3;

/// The data without a record and with it.
fn worlds() -> Result<[VoteHistogram; 2]> {
    Ok([VoteHistogram::new(vec![0])?, VoteHistogram::new(vec![1])?])
}

fn check_relation(mechanism: &dyn Mechanism) -> Result<()> {
    if mechanism.kind().data == DataKind::OneRecord {
        return Ok(());
    }
    let reason = format!(
        "{} is not about a record that is added or removed, as canaries are; subsampled-gaussian is",
        mechanism.kind()
    );
    Err(Error::Rejected { operation: "claim of a training", reason })
}

/// Scores of canaries, as clear as the claim allows.
pub(super) fn score_model(claim: &TrainingClaim, delta: Delta) -> Result<CanaryScoreModel> {
    match claim {
        TrainingClaim::Epsilon(epsilon) => Ok(CanaryScoreModel::Approximate { epsilon: *epsilon, delta }),
        TrainingClaim::Mu(mu) => CanaryScoreModel::gaussian(*mu),
        TrainingClaim::Mechanism { mechanism, times } => {
            check_relation(&**mechanism)?;
            if let Some(mu) = claim.mu() {
                return CanaryScoreModel::gaussian(mu);
            }
            let [without, with] = worlds()?;
            let [forward, reverse] = mechanism.enclosed_losses(&without, &with, CELLS)?;
            let losses = LossQuantiles::new([&reverse.at_most, &forward.at_most], *times)?;
            Ok(CanaryScoreModel::Losses(losses))
        }
    }
}

/// ε at δ of a claim, rounded up, and its μ if it has one.
pub(super) fn claimed_bounds(claim: &TrainingClaim, delta: Delta) -> Result<ClaimedBounds> {
    // Roots are found within 1e-13 of themselves.
    let gaussian = |mu: f64| -> Result<ClaimedBounds> {
        let mu = (mu * (1.0 + 1e-12)).min(f64::MAX);
        Ok(ClaimedBounds { epsilon: gdp_epsilon(mu, delta)?, mu: Some(mu) })
    };
    claim.check()?;
    match claim {
        TrainingClaim::Epsilon(epsilon) => Ok(ClaimedBounds { epsilon: *epsilon, mu: None }),
        TrainingClaim::Mu(mu) => gaussian(*mu),
        TrainingClaim::Mechanism { mechanism, times } => {
            check_relation(&**mechanism)?;
            if let Some(mu) = claim.mu() {
                return gaussian(mu);
            }
            let [without, with] = worlds()?;
            let losses = mechanism.enclosed_losses(&without, &with, CELLS)?;
            let epsilon = compose_losses(&[(&losses, *times)], delta, WIDTH)?.epsilon(delta);
            Ok(ClaimedBounds { epsilon: Epsilon::new(epsilon.upper)?, mu: None })
        }
    }
}
