//! Knowledge about both worlds before the counts are seen.

use super::output_set::{OutputSet, OutputSets, SetSource, shown};
use super::reference_distributions::{ReferenceDistributions, shrunken_pair};
use crate::bound::Direction;
use crate::counts::PairedCounts;
use crate::distribution::{OutcomeDistribution, OutputPair};
use crate::error::Result;
use crate::quantity::Order;

/// Output sets, and guesses of both distributions if available: from an exact distribution, from a pilot, or none.
///
/// A wrong guess loosens bounds and never invalidates one, provided it was not made by looking at the counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Guide {
    /// The sets used for 2-cuts.
    pub sets: OutputSets,
    guess: Option<Guess>,
}

/// An exact distribution counts for more outputs than any recording has.
const DISTRIBUTION_OUTPUTS: u64 = 1 << 40;

/// Guesses of both distributions.
#[derive(Debug, Clone, PartialEq)]
struct Guess {
    pair: OutputPair,
    /// The number of outputs per world that it counts for.
    outputs: u64,
    reference: ReferenceDistributions,
    /// ln(P/Q) of each outcome, by which a trade-off band sorts.
    score: Vec<f64>,
}

impl Guide {
    /// No knowledge: [`OutputSets::fixed_list`].
    #[must_use]
    pub fn fixed_list(outcomes: usize) -> Self {
        OutputSets::fixed_list(outcomes).into()
    }

    /// One declared set with expected P(O) ≥ Q(O): [`OutputSets::declared`].
    #[must_use]
    pub fn declared(set: OutputSet) -> Self {
        OutputSets::declared(set).into()
    }

    /// From the distributions of both worlds: [`OutputSets::from_distributions`].
    ///
    /// # Errors
    /// As [`OutputSets::from_distributions`].
    pub fn from_distributions(
        p: &OutcomeDistribution,
        q: &OutcomeDistribution,
        orders: &[Order],
        directions: &[Direction],
        source: SetSource,
    ) -> Result<Self> {
        let sets = OutputSets::from_distributions(p, q, orders, directions, source)?;
        let reference = ReferenceDistributions::from_distributions(p, q)?;
        let pair = OutputPair::new(p.clone(), q.clone())?;
        let score = log_ratio(&pair);
        let guess = Guess { pair, outputs: DISTRIBUTION_OUTPUTS, reference, score };
        Ok(Self { sets, guess: Some(guess) })
    }

    /// From a pilot sample: [`OutputSets::from_pilot`].
    ///
    /// # Errors
    /// As [`OutputSets::from_pilot`].
    pub fn from_pilot(pilot: &PairedCounts, orders: &[Order], directions: &[Direction]) -> Result<Self> {
        let sets = OutputSets::from_pilot(pilot, orders, directions)?;
        let pair = shrunken_pair(pilot)?;
        let reference = ReferenceDistributions::from_distributions(pair.dataset(), pair.neighbor())?;
        let (shown, members) = shown(pilot)?;
        let of_shown = log_ratio(&shrunken_pair(&shown)?);
        let lowest = of_shown.iter().copied().fold(f64::INFINITY, f64::min);
        let mut score = vec![lowest; pilot.outcomes()];
        members.iter().zip(&of_shown).for_each(|(&member, &ratio)| score[member] = ratio);
        let outputs = pilot.trials().min(pilot.trials_neighbor());
        Ok(Self { sets, guess: Some(Guess { pair, outputs, reference, score }) })
    }

    /// The guessed distributions under the dataset and its neighbor; those of a pilot are shrunk toward each other as
    /// far as its noise suggests ([`shrunken_pair`]).
    #[must_use]
    pub fn pair(&self) -> Option<&OutputPair> {
        self.guess.as_ref().map(|guess| &guess.pair)
    }

    /// The same, with the number of outputs per world that they count for.
    pub(super) fn pair_with_outputs(&self) -> Option<(&OutputPair, u64)> {
        self.guess.as_ref().map(|guess| (&guess.pair, guess.outputs))
    }

    /// The guessed ln(P/Q) of each outcome, the score of a [`trade_off_band`](crate::audit::trade_off_band).
    ///
    /// An outcome not seen in a pilot gets the lowest score among those seen. So no set of the band except the set of
    /// all outcomes contains it, whether it is seen later or never: the sets are lists of outcomes seen in the pilot,
    /// fixed before anything else is examined.
    #[must_use]
    pub fn score(&self) -> Option<&[f64]> {
        self.guess.as_ref().map(|guess| &*guess.score)
    }

    /// The guessed distributions with outcomes of equal ratio merged.
    #[must_use]
    pub fn reference(&self) -> Option<&ReferenceDistributions> {
        self.guess.as_ref().map(|guess| &guess.reference)
    }
}

/// ln p - ln q, 0 if they are equal, as for two impossible outcomes.
fn log_ratio(pair: &OutputPair) -> Vec<f64> {
    pair.dataset().ln_p().iter().zip(pair.neighbor().ln_p()).map(|(p, q)| if p == q { 0.0 } else { p - q }).collect()
}

impl From<OutputSets> for Guide {
    fn from(sets: OutputSets) -> Self {
        Self { sets, guess: None }
    }
}
