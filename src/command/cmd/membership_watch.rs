//! Recordings whose readers tell how many samples they have read: that is how far an attack is, and where it can end.

use crate::Result;
use crate::membership::{ScoreBlock, ShadowLogits, ShadowScores};
use ndarray::{ArrayView2, CowArray, Ix4};
use std::ops::Range;

/// Told how many more samples were read, from any thread.
pub type Watch<'a> = &'a (dyn Fn(u64) + Sync);

/// Recorded logits or scores that are watched.
pub struct Watched<'a, S> {
    pub source: &'a S,
    pub watch: Watch<'a>,
}

impl<S: ShadowLogits> ShadowLogits for Watched<'_, S> {
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
        (self.watch)(samples.len() as u64);
        self.source.logits(samples)
    }
}

impl<S: ShadowScores> ShadowScores for Watched<'_, S> {
    fn members(&self) -> ArrayView2<'_, bool> {
        self.source.members()
    }

    fn views(&self) -> usize {
        self.source.views()
    }

    fn block(&self, samples: Range<usize>) -> Result<ScoreBlock<'_>> {
        (self.watch)(samples.len() as u64);
        self.source.block(samples)
    }
}
