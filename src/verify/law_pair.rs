//! The distributions of two neighbors.

use crate::histogram::VoteHistogram;
use crate::law::OutputPair;

/// The laws of a mechanism under the votes of a request and under a neighbor.
pub(super) struct LawPair {
    pub laws: OutputPair,
    pub neighbor: VoteHistogram,
}
