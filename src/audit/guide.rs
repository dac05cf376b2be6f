//! What is known of both worlds before the counts are seen.

use super::output_set::{OutputSet, OutputSets, SetSource};
use super::reference_laws::{ReferenceLaws, shrunken_laws};
use crate::bound::Direction;
use crate::counts::PairedCounts;
use crate::error::Result;
use crate::law::OutcomeLaw;
use crate::quantity::Order;

/// Output sets, and guesses of both laws where there are some: from an exact law, from a pilot, or from nothing.
///
/// A wrong guess loosens bounds and never invalidates one, as long as it was not made by looking at the counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Guide {
    /// The sets that 2-cuts are made at.
    pub sets: OutputSets,
    guess: Option<Guess>,
}

/// An exact law is worth more outputs than any recording has.
const LAW_OUTPUTS: u64 = 1 << 40;

/// Guesses of both laws.
#[derive(Debug, Clone, PartialEq)]
struct Guess {
    laws: [OutcomeLaw; 2],
    /// Outputs per world that it is worth.
    outputs: u64,
    reference: ReferenceLaws,
}

impl Guide {
    /// No knowledge: [`OutputSets::fixed_list`].
    #[must_use]
    pub fn fixed_list(outcomes: usize) -> Self {
        OutputSets::fixed_list(outcomes).into()
    }

    /// One declared set, of which P(O) ≥ Q(O) is expected: [`OutputSets::declared`].
    #[must_use]
    pub fn declared(set: OutputSet) -> Self {
        OutputSets::declared(set).into()
    }

    /// From the laws of both worlds: [`OutputSets::from_laws`].
    ///
    /// # Errors
    /// As [`OutputSets::from_laws`].
    pub fn from_laws(
        p: &OutcomeLaw,
        q: &OutcomeLaw,
        orders: &[Order],
        directions: &[Direction],
        source: SetSource,
    ) -> Result<Self> {
        let sets = OutputSets::from_laws(p, q, orders, directions, source)?;
        let reference = ReferenceLaws::from_laws(p, q)?;
        Ok(Self { sets, guess: Some(Guess { laws: [p.clone(), q.clone()], outputs: LAW_OUTPUTS, reference }) })
    }

    /// From a pilot sample: [`OutputSets::from_pilot`].
    ///
    /// # Errors
    /// As [`OutputSets::from_pilot`].
    pub fn from_pilot(pilot: &PairedCounts, orders: &[Order], directions: &[Direction]) -> Result<Self> {
        let sets = OutputSets::from_pilot(pilot, orders, directions)?;
        let laws = shrunken_laws(pilot)?;
        let reference = ReferenceLaws::from_laws(&laws[0], &laws[1])?;
        Ok(Self { sets, guess: Some(Guess { laws, outputs: pilot.trials().min(pilot.trials_neighbor()), reference }) })
    }

    /// The guessed laws under the dataset and its neighbour; those of a pilot are shrunken towards each other as far as
    /// its noise suggests ([`shrunken_laws`]).
    #[must_use]
    pub fn laws(&self) -> Option<&[OutcomeLaw; 2]> {
        self.guess.as_ref().map(|guess| &guess.laws)
    }

    /// The same, with the number of outputs per world that they are worth.
    pub(super) fn laws_with_outputs(&self) -> Option<(&[OutcomeLaw; 2], u64)> {
        self.guess.as_ref().map(|guess| (&guess.laws, guess.outputs))
    }

    /// The same, with outcomes of equal ratio merged.
    #[must_use]
    pub fn reference(&self) -> Option<&ReferenceLaws> {
        self.guess.as_ref().map(|guess| &guess.reference)
    }
}

impl From<OutputSets> for Guide {
    fn from(sets: OutputSets) -> Self {
        Self { sets, guess: None }
    }
}
