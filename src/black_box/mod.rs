//! Mechanisms as black boxes: programs that are run on neighboring datasets.
//!
//! A [`BlackBox`] gives outputs for a dataset. [`neighbor_pairs`] says on which datasets faults are usually found.

mod aim;
mod dataset;
mod event;
mod feature;
mod linear;
mod neighbors;
mod output;
mod relation;
mod sampler;
mod search;
mod source;
mod wager;
mod witness;

pub use aim::Aim;
pub use dataset::Dataset;
pub use event::Event;
pub use feature::Feature;
pub use neighbors::{Domain, Pair, neighbor_pairs};
pub use output::Output;
pub use relation::Relation;
pub(crate) use sampler::Sampler;
pub use sampler::Trouble;
pub(crate) use search::{Candidate, Search};
pub use source::{BlackBox, ExecBlackBox, FunctionBlackBox, LONGEST_ANSWER, LineBlackBox, Ran};
pub use witness::{Chosen, Witness};
