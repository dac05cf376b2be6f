//! Mechanisms as black boxes: programs that are run on neighboring datasets.
//!
//! A [`BlackBox`] gives outputs for a dataset. [`neighbor_pairs`] lists the datasets on which faults are usually found.

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
#[doc(hidden)]
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

pub use counterexample::{PairCounterexample, RecordedClaim};
pub use dataset::Dataset;
pub use decimal::Decimal;
pub use event::Event;
pub use feature::{Feature, Features};
pub use grid::Grid;
pub use journal::Journal;
pub use neighbors::{Domain, Pair, neighbor_pairs};
pub use output::Output;
pub use rounded::RoundedBlackBox;
pub use shrink::Shrink;
pub use source::{BlackBox, DescribedBlackBox, ExecBlackBox, FunctionBlackBox, LineBlackBox, Ran};
pub use witness::Witness;

#[doc(hidden)]
pub use self::{
    aim::Aim,
    aim::Goal,
    journal::{Asked, Reply, Tally},
    picture::{Bar, picture},
    reduction::Reduction,
    sampler::{Sampler, Stage},
    search::{Candidate, Search},
    simple::simplest,
    source::LONGEST_ANSWER,
    trouble::Trouble,
    witness::{Chosen, Doubt},
};
