//! The distributions of two neighbors.

use crate::distribution::OutputPair;
use crate::histogram::VoteHistogram;

/// The distributions of a mechanism under the votes of a request and under a neighbor.
pub(super) struct DistributionPair {
    pub distributions: OutputPair,
    pub neighbor: VoteHistogram,
}
