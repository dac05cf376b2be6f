//! Lower bounds from transcripts: all positions, answered repeatedly by the ensemble and by each neighbor.
//!
//! A transcript is one answer at every position. Its privacy loss against a neighbor, the sum over positions of
//! ln(P(token)/Q(token)) by the recorded distributions, is a function of the transcript, and the best one to tell the
//! two ensembles apart if these distributions are correct. Groups of similar losses are a k-cut of everything that was
//! answered: by data processing no divergence of their probabilities exceeds that of the transcripts, whatever produced
//! the tokens. A tenth of the transcripts is a pilot that defines the groups and guides the bounds; it is not counted.

use super::answer::{TranscriptMemberRow, TranscriptRenyiRow, TranscriptSource, TranscriptsSection};
use super::request::TokensStudy;
use super::sums::Sums;
use super::transcript_losses::Losses;
use crate::audit::{Guide, OutputBins, RealOutputs};
use crate::bound::Direction;
use crate::error::Result;
use crate::parallel;
use crate::quantity::{FailureProbability, Order};
use crate::study::claim::Quantity;
use crate::study::evidence::{Evidence, Wanted};
use crate::study::number::Number;

/// Groups of similar losses.
const GROUPS: usize = 20;
/// Which part of the transcripts is the pilot.
const PILOT: f64 = 0.1;

/// What transcripts show about each neighbor; all of it holds simultaneously.
pub(super) struct TranscriptEvidence {
    pub(super) section: TranscriptsSection,
    /// \[neighbor\]
    pub(super) evidence: Vec<Evidence>,
}

impl TranscriptEvidence {
    /// Whether a mechanism gave the tokens.
    pub(super) fn is_recorded(&self) -> bool {
        self.section.source == TranscriptSource::Recorded
    }
}

impl TokensStudy {
    /// Bounds of all neighbors; None without transcripts. The orders that are shown come first.
    pub(super) fn bounds_by_transcripts(&self, sums: &Sums, orders: &[Order]) -> Result<Option<TranscriptEvidence>> {
        let all = sums.transcripts();
        let Some(first) = all.first() else { return Ok(None) };
        let (count, share) = (first[0].len() as u64, self.failure_of_each().split(all.len()));
        let found = parallel::try_map(all, |losses| of_neighbor(losses, orders, share, self.seed))?;
        let simulated = self.transcripts.is_some();
        let mut section = TranscriptsSection {
            source: if simulated { TranscriptSource::Simulated } else { TranscriptSource::Recorded },
            transcripts: count,
            seed: self.seed,
            renyi: Vec::new(),
            members: Vec::new(),
        };
        for (index, (of, (pilot, groups, evidence))) in sums.neighbors().iter().zip(&found).enumerate() {
            let (member, replaced_by) = (of.owner as u64, of.replaced_by.map(|spare| spare as u64));
            section.members.push(TranscriptMemberRow {
                member,
                replaced_by,
                pilot: *pilot,
                groups: *groups as u64,
                epsilon_at_least: Number(evidence.strongest(Quantity::Epsilon(self.delta)).get()),
                mu_at_least: Number(evidence.strongest(Quantity::Mu).get()),
            });
            let exact = Direction::BOTH.map(|direction| sums.of(index, direction));
            for (place, &order) in orders.iter().enumerate().take(self.orders.len()) {
                let [forward, reverse] =
                    Direction::BOTH.map(|direction| Number(evidence.renyi(order, direction).get()));
                section.renyi.push(TranscriptRenyiRow {
                    member,
                    replaced_by,
                    order: order.get(),
                    forward,
                    exact_forward: Number(exact[0][place]),
                    reverse,
                    exact_reverse: Number(exact[1][place]),
                });
            }
        }
        Ok(Some(TranscriptEvidence { section, evidence: found.into_iter().map(|(.., evidence)| evidence).collect() }))
    }
}

/// Transcripts of the pilot, groups, and what the rest shows.
fn of_neighbor(
    losses: &Losses,
    orders: &[Order],
    share: FailureProbability,
    seed: u64,
) -> Result<(u64, usize, Evidence)> {
    let mut outputs = RealOutputs::default();
    for (losses, counts) in losses.iter().zip([[1, 0], [0, 1]]) {
        losses.iter().try_for_each(|&loss| outputs.add(loss, counts))?;
    }
    let (pilot, rest) = outputs.split(PILOT, seed)?;
    let groups = OutputBins::quantiles(&pilot, GROUPS)?;
    let guide = Guide::from_pilot(&pilot.binned(&groups)?, orders, &Direction::BOTH)?;
    let wanted = Wanted::Both;
    let share = share.split(wanted.events(&guide).len());
    let evidence = Evidence::new(&rest.binned(&groups)?, &guide, share, wanted)?;
    Ok((pilot.totals().iter().sum(), groups.bins(), evidence))
}
