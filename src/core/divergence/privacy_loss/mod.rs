//! The privacy loss of a pair of distributions, and of many pairs together.

mod amplified;
mod cells;
mod composed;
mod directions;
mod dominating;
mod gathered;
mod lattice;
mod quantiles;
mod spectrum;
mod tail;
#[cfg(test)]
mod tests;

pub use cells::{EnclosedLoss, LossCell};
pub use composed::{Bracket, ComposedDirection};
pub use directions::{ComposedLoss, compose_losses};
pub use quantiles::LossQuantiles;

use super::{Pair, same_outcomes};
use crate::distribution::OutcomeDistribution;
use crate::error::Result;
use crate::order;

/// One outcome with positive probability in both distributions.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Atom {
    /// ln p - ln q.
    l: f64,
    p: f64,
}

/// The privacy loss of P against Q: ln p_i/q_i with probability p_i, infinite where q_i = 0.
///
/// It determines the privacy profile, δ(ε) = P(L = ∞) + E (1 - e^{ε-L})⁺ over finite L, and the losses of independent
/// outputs add up, so a sequence of outputs is composed by convolution: [`compose_losses`]. The two directions of a
/// pair have different losses.
///
/// ```
/// # use leakbound::divergence::PrivacyLoss;
/// # use leakbound::distribution::OutcomeDistribution;
/// let (p, q) = (OutcomeDistribution::from_probabilities(&[0.75, 0.25])?, OutcomeDistribution::from_probabilities(&[0.25, 0.75])?);
/// assert!((PrivacyLoss::of_distributions(&p, &q)?.largest() - 3f64.ln()).abs() < 1e-15);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PrivacyLoss {
    /// Largest loss first.
    atoms: Vec<Atom>,
    /// P(q = 0).
    infinite: f64,
}

impl PrivacyLoss {
    /// The loss of P against Q.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) when the distributions have different numbers of outcomes.
    pub fn of_distributions(p: &OutcomeDistribution, q: &OutcomeDistribution) -> Result<Self> {
        same_outcomes(p, q)?;
        Ok(of_same_outcomes(p, q))
    }
    /// The largest loss, ε at δ = 0.
    #[must_use]
    pub fn largest(&self) -> f64 {
        let finite = self.atoms.first().map_or(f64::NEG_INFINITY, |atom| atom.l);
        if self.infinite > 0.0 { f64::INFINITY } else { finite }
    }

    /// From losses with their probabilities.
    pub fn of_atoms(atoms: Vec<(f64, f64)>) -> Self {
        let mut atoms: Vec<Atom> = atoms.into_iter().filter(|(_, p)| *p > 0.0).map(|(l, p)| Atom { l, p }).collect();
        order::sort(&mut atoms, |a, b| b.l.total_cmp(&a.l));
        Self { atoms, infinite: 0.0 }
    }

    /// Finite losses, largest first, with their probabilities.
    pub fn atoms(&self) -> impl Iterator<Item = (f64, f64)> {
        self.atoms.iter().map(|atom| (atom.l, atom.p))
    }

    /// δ(0), the total variation distance of the pair.
    fn total_variation(&self) -> f64 {
        let positive = self.atoms.iter().take_while(|atom| atom.l > 0.0);
        self.infinite + positive.map(|atom| atom.p * -libm::expm1(-atom.l)).sum::<f64>()
    }

    /// The probability of an infinite loss, a lower bound on every δ.
    #[must_use]
    pub const fn infinite(&self) -> f64 {
        self.infinite
    }
}

/// What is possible has at least this probability, also where it underflows.
const LEAST: f64 = f64::from_bits(1);

/// The loss of P against Q, which are known to have the same outcomes.
pub(super) fn of_same_outcomes(p: &OutcomeDistribution, q: &OutcomeDistribution) -> PrivacyLoss {
    let possible = |i: &usize| p.ln_p()[*i] > f64::NEG_INFINITY;
    let both = |i: &usize| q.ln_p()[*i] > f64::NEG_INFINITY;
    let outcomes = (0..p.outcomes()).filter(possible);
    let infinite = outcomes.clone().filter(|i| !both(i)).map(|i| p.p()[i].max(LEAST)).sum();
    let mut atoms: Vec<Atom> =
        outcomes.filter(both).map(|i| Atom { l: Pair::of(p, q, i).log_ratio(), p: p.p()[i] }).collect();
    order::sort(&mut atoms, |a, b| b.l.total_cmp(&a.l));
    PrivacyLoss { atoms, infinite }
}
