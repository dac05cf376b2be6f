//! Lower bounds from transcripts: all positions, answered again and again by the ensemble and by each neighbor.
//!
//! A transcript is one answer at every position. Its privacy loss against a neighbor, the sum over positions of
//! ln(P(token)/Q(token)) by the recorded distributions, is a function of the transcript, and the best one to tell both
//! ensembles apart if these distributions are right. Groups of similar losses are a k-cut of everything that was answered:
//! by data processing no divergence of their probabilities is above that of the transcripts, whatever gave the tokens. A
//! tenth of the transcripts is a pilot that places the groups and guides the bounds; it is not counted.

use super::answer::{TranscriptMemberRow, TranscriptRenyiRow, TranscriptSource, TranscriptsSection};
use super::sums::Sums;
use super::transcript_losses::Losses;
use crate::audit::{Guide, OutputBins, RealOutputs};
use crate::bound::Direction;
use crate::error::{Error, Result};
use crate::parallel;
use crate::quantity::{Delta, FailureProbability, Order};
use crate::study::claim::Quantity;
use crate::study::evidence::{Evidence, Wanted};
use crate::study::number::Number;

/// Groups of similar losses.
const GROUPS: usize = 20;
/// Which part of the transcripts is the pilot.
const PILOT: f64 = 0.1;
/// Fewer are not bounded: nothing would be seen.
pub(super) const FEWEST: u64 = 100;
/// Transcripts times ensembles, of which losses are kept.
pub(super) const MOST_LOSSES: u64 = 20_000_000;

/// What transcripts are bounded for.
pub(super) struct TranscriptPlan<'a> {
    pub(super) source: TranscriptSource,
    /// Those that are shown come first.
    pub(super) orders: &'a [Order],
    pub(super) shown: usize,
    pub(super) delta: Delta,
    /// For all neighbors together.
    pub(super) failure: FailureProbability,
    pub(super) seed: u64,
}

/// What transcripts show of each neighbor; all of it holds at once.
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

impl TranscriptPlan<'_> {
    /// Bounds of all neighbors; None where there are no transcripts.
    pub(super) fn bounded(&self, sums: &Sums) -> Result<Option<TranscriptEvidence>> {
        let all = sums.transcripts();
        let Some(first) = all.first() else { return Ok(None) };
        let (count, share) = (first[0].len() as u64, self.failure.split(all.len()));
        let found = parallel::try_map(all, |losses| self.of_neighbor(losses, share))?;
        let mut section = TranscriptsSection {
            source: self.source,
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
            for (place, &order) in self.orders.iter().enumerate().take(self.shown) {
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

    /// Transcripts of the pilot, groups, and what the rest shows.
    fn of_neighbor(&self, losses: &Losses, share: FailureProbability) -> Result<(u64, usize, Evidence)> {
        let mut outputs = RealOutputs::default();
        for (losses, counts) in losses.iter().zip([[1, 0], [0, 1]]) {
            losses.iter().try_for_each(|&loss| outputs.add(loss, counts))?;
        }
        let (pilot, rest) = outputs.split(PILOT, self.seed)?;
        let groups = OutputBins::quantiles(&pilot, GROUPS)?;
        let guide = Guide::from_pilot(&pilot.binned(&groups)?, self.orders, &Direction::BOTH)?;
        let wanted = Wanted::Both;
        let share = share.split(wanted.events(&guide).len());
        let evidence = Evidence::new(&rest.binned(&groups)?, &guide, share, wanted)?;
        Ok((pilot.totals().iter().sum(), groups.bins(), evidence))
    }
}

/// Rejects transcripts that cannot be bounded.
pub(super) fn check_transcripts(count: u64, ensembles: usize) -> Result<()> {
    let wrong = |reason| Err(Error::Rejected { operation: "audit of tokens", reason });
    if count < FEWEST {
        return wrong(format!("{count} transcripts: at least {FEWEST} of each ensemble are needed"));
    }
    if count.saturating_mul(ensembles as u64) > MOST_LOSSES {
        return wrong(format!(
            "{count} transcripts of {ensembles} ensembles; together there may be {MOST_LOSSES} at most"
        ));
    }
    Ok(())
}
