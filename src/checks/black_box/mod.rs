//! Mechanisms as black boxes: programs that are run on neighboring datasets.
//!
//! A [`BlackBox`] gives outputs for a dataset. [`neighbor_pairs`] says on which datasets faults are usually found.

mod aim;
mod boosted;
mod counterexample;
mod dataset;
mod decimal;
mod event;
mod feature;
mod grid;
mod journal;
mod linear;
mod neighbors;
mod output;
pub mod picture;
mod reduction;
mod relation;
mod rounded;
mod sampler;
mod search;
mod shrink;
mod simple;
mod source;
mod trouble;
mod wager;
mod witness;

pub use aim::Aim;
#[doc(hidden)]
pub use aim::Goal;
pub use counterexample::{PairCounterexample, RecordedClaim};
pub use dataset::Dataset;
pub use decimal::Decimal;
pub use event::Event;
pub use feature::{Feature, Features};
pub use grid::Grid;
pub use journal::{Asked, Journal, Reply, Tally};
pub use neighbors::{Domain, Pair, neighbor_pairs};
pub use output::Output;
#[doc(hidden)]
pub use picture::{Bar, picture};
#[doc(hidden)]
pub use reduction::Reduction;
pub use rounded::RoundedBlackBox;
#[doc(hidden)]
pub use sampler::{Sampler, Stage};
#[doc(hidden)]
pub use search::{Candidate, Search};
pub use shrink::Shrink;
#[doc(hidden)]
pub use simple::simplest;
pub use source::{BlackBox, DescribedBlackBox, ExecBlackBox, FunctionBlackBox, LONGEST_ANSWER, LineBlackBox, Ran};
pub use trouble::Trouble;
pub use witness::{Chosen, Doubt, Witness};
