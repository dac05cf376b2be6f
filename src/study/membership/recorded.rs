//! Recorded answers of shadow models, from files or from memory.

use crate::error::Result;
use crate::membership::{ScoreBlock, ShadowLogits, ShadowScores, right_answers};
use crate::record::ShadowRecording;
use ndarray::{Array2, ArrayView2, Axis, CowArray, Ix4};
use std::ops::Range;

/// What shadow models answered, and which model was trained on which sample.
#[derive(Clone, Copy)]
pub enum RecordedAnswers<'a> {
    /// Logits, of which each attack makes the scores that it needs.
    Logits(&'a dyn ShadowLogits),
    /// Scores; high means member.
    Scores {
        /// The scores.
        scores: &'a dyn ShadowScores,
        /// The label of each sample, if known.
        labels: Option<&'a [usize]>,
    },
}

impl<'a> From<&'a ShadowRecording> for RecordedAnswers<'a> {
    fn from(recording: &'a ShadowRecording) -> Self {
        match recording {
            ShadowRecording::Logits(logits) => Self::Logits(logits),
            ShadowRecording::Scores(scores) => Self::Scores { scores, labels: scores.labels() },
        }
    }
}

impl<'a> RecordedAnswers<'a> {
    /// The truth \[model, sample\].
    pub(super) fn members(self) -> ArrayView2<'a, bool> {
        match self {
            Self::Logits(logits) => logits.members(),
            Self::Scores { scores, .. } => scores.members(),
        }
    }

    pub(super) fn labels(self) -> Option<&'a [usize]> {
        match self {
            Self::Logits(logits) => Some(logits.labels()),
            Self::Scores { labels, .. } => labels,
        }
    }

    /// Views of a sample.
    pub(super) fn views(self) -> usize {
        match self {
            Self::Logits(logits) => logits.views(),
            Self::Scores { scores, .. } => scores.views(),
        }
    }

    /// Whether each victim predicts the label of each sample, where logits are recorded.
    pub(super) fn right(self, victims: &[usize], watch: Watch<'_>) -> Result<Option<Array2<bool>>> {
        let Self::Logits(source) = self else { return Ok(None) };
        Ok(Some(right_answers(&Watched { source, watch })?.1.select(Axis(0), victims)))
    }
}

/// Called with the number of samples that are read next, from any thread; an error ends the attack.
pub(super) type Watch<'a> = &'a (dyn Fn(u64) -> Result<()> + Sync);

/// Recorded logits or scores whose reading is watched.
pub(super) struct Watched<'a, S: ?Sized> {
    pub(super) source: &'a S,
    pub(super) watch: Watch<'a>,
}

impl<S: ShadowLogits + ?Sized> ShadowLogits for Watched<'_, S> {
    fn members(&self) -> ArrayView2<'_, bool> {
        self.source.members()
    }

    fn labels(&self) -> &[usize] {
        self.source.labels()
    }

    fn views(&self) -> usize {
        self.source.views()
    }

    fn classes(&self) -> usize {
        self.source.classes()
    }

    fn logits(&self, samples: Range<usize>) -> Result<CowArray<'_, f64, Ix4>> {
        (self.watch)(samples.len() as u64)?;
        self.source.logits(samples)
    }
}

impl<S: ShadowScores + ?Sized> ShadowScores for Watched<'_, S> {
    fn members(&self) -> ArrayView2<'_, bool> {
        self.source.members()
    }

    fn views(&self) -> usize {
        self.source.views()
    }

    fn block(&self, samples: Range<usize>) -> Result<ScoreBlock<'_>> {
        (self.watch)(samples.len() as u64)?;
        self.source.block(samples)
    }
}
