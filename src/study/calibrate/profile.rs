//! The certain profile of a mechanism that is run many times.

use crate::accountant::WorstCases;
use crate::bound::outward::up;
use crate::divergence::{CertifiedProfile, ComposedLoss, RdpCurve, compose_losses};
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::mechanism::{DataKind, Mechanism};
use crate::parallel;
use crate::quantity::{Delta, Order};
use crate::record::Release;
use crate::study::account::{Losses, all_orders, least_theorem, of_release};
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// What bounds the leakage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ProfileKind {
    /// The closed form of Gaussian noise.
    Gaussian,
    /// The upper side of composed privacy-loss distributions.
    PrivacyLosses,
    /// The largest privacy loss of one output, which adds up: ε without a δ.
    LargestLoss,
    /// Theorems for any data, as Rényi divergences that add up and are converted (Balle et al. 2020, Theorem 21).
    RenyiDivergences,
}

impl fmt::Display for ProfileKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Gaussian => "closed form of Gaussian noise",
            Self::PrivacyLosses => "composed privacy-loss distributions",
            Self::LargestLoss => "the largest privacy loss, which adds up",
            Self::RenyiDivergences => "theorems for any data, as Rényi divergences",
        })
    }
}

/// An enclosure in ε.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Enclosure {
    /// Decides far from a goal, in a fraction of the time.
    Rough,
    /// Decides close to a goal.
    Fine,
}

impl Enclosure {
    /// Its relative width.
    const fn width(self) -> f64 {
        match self {
            Self::Rough => 0.02,
            Self::Fine => 1e-4,
        }
    }

    /// Cells of real outputs.
    const fn cells(self) -> usize {
        match self {
            Self::Rough => 1_000,
            Self::Fine => 4_000,
        }
    }
}

/// Profiles of mechanisms on the same data.
pub(super) struct Profiles {
    data: VoteHistogram,
    times: u64,
    known: WorstCases,
}

impl Profiles {
    pub(super) fn new(data: VoteHistogram, times: u64) -> Self {
        Self { data, times, known: WorstCases::default() }
    }

    /// From above, well known around these δ.
    pub(super) fn above(&self, mechanism: &dyn Mechanism, deltas: &[f64]) -> Result<(CertifiedProfile, ProfileKind)> {
        if let Some(mu) = mechanism.gaussian_mu() {
            return Ok((self.gaussian(mu)?, ProfileKind::Gaussian));
        }
        match self.enclosed(mechanism, deltas, Enclosure::Fine)? {
            Some(profile) => Ok((profile, ProfileKind::PrivacyLosses)),
            None => Ok((self.of_theorems(mechanism)?, ProfileKind::RenyiDivergences)),
        }
    }

    /// From both sides; None if no lower bound is known.
    pub(super) fn both(
        &self,
        mechanism: &dyn Mechanism,
        deltas: &[f64],
        enclosure: Enclosure,
    ) -> Result<Option<CertifiedProfile>> {
        match mechanism.gaussian_mu() {
            Some(mu) => self.gaussian(mu).map(Some),
            None => self.enclosed(mechanism, deltas, enclosure),
        }
    }

    fn enclosed(
        &self,
        mechanism: &dyn Mechanism,
        deltas: &[f64],
        enclosure: Enclosure,
    ) -> Result<Option<CertifiedProfile>> {
        let Some(losses) = self.losses(mechanism, enclosure.cells())? else { return Ok(None) };
        composed(&losses, deltas, enclosure.width()).map(|composed| Some(CertifiedProfile::of_losses(composed)))
    }

    /// μ² adds up.
    fn gaussian(&self, mu: f64) -> Result<CertifiedProfile> {
        CertifiedProfile::gaussian(up(mu * (self.times as f64).sqrt(), 4.0))
    }

    /// None if votes may move anywhere, because then no pair is the worst, and if no losses are known.
    fn losses(&self, mechanism: &dyn Mechanism, cells: usize) -> Result<Option<Losses>> {
        match mechanism.kind().data {
            DataKind::OneRecord | DataKind::OneVoter => {}
            DataKind::Votes | DataKind::Answers => return Ok(None),
        }
        match of_release(&self.release(mechanism)?, 1, Order::new(2.0)?, cells) {
            // Theorems may know more.
            Err(Error::Rejected { .. }) => Ok(None),
            losses => losses,
        }
    }

    fn release(&self, mechanism: &dyn Mechanism) -> Result<Release> {
        let mechanism: Arc<dyn Mechanism> = (mechanism.kind().read)(&mechanism.parameters())?;
        let (data, times, place) = (self.data.clone(), self.times, String::new());
        Ok(Release { mechanism, data, times, distance: 1, place })
    }

    fn of_theorems(&self, mechanism: &dyn Mechanism) -> Result<CertifiedProfile> {
        let orders = all_orders(&[]);
        let (values, _) = least_theorem(&self.release(mechanism)?, 1, &orders, &self.known);
        let values: Vec<f64> = values.into_iter().map(|value| up(value * self.times as f64, 2.0)).collect();
        Ok(CertifiedProfile::of_rdp(RdpCurve::new(orders, values)?))
    }
}

/// Once for each δ.
fn composed(losses: &Losses, deltas: &[f64], width: f64) -> Result<Vec<ComposedLoss>> {
    let losses = [(&losses.enclosed, losses.times)];
    parallel::try_map(deltas, |&delta| compose_losses(&losses, Delta::new(delta)?, width))
}
