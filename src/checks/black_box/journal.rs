//! Answers of a program that are kept, so that an audit that ended resumes where it was.

use super::output::Output;
use super::trouble::Trouble;
use crate::error::Result;
use serde::{Deserialize, Serialize};

/// A request: the number of its runs, and its seed, which differs for each request of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// Runs.
    pub runs: u64,
    /// The seed.
    pub seed: u64,
}

/// Outputs, or why there are none.
pub type Reply = std::result::Result<Vec<Output>, Trouble>;

/// Fresh outputs of a pair, counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// What is counted: pair and outcomes as text, or a digest of them.
    pub of: String,
    /// Runs of each world.
    pub runs: u64,
    /// Counts of the outcomes.
    pub counts: [Vec<u64>; 2],
}

/// Where answers are kept.
///
/// An audit asks the same questions in the same order each time, as long as it gets the same answers. Once all kept
/// answers are given again, it therefore resumes where it ended.
pub trait Journal: Sync {
    /// The next answer that was kept; none once all of them were given.
    ///
    /// # Errors
    /// An error if it is the answer to another request.
    fn recall(&self, asked: Asked) -> Result<Option<Reply>>;

    /// Whether answers were kept before this audit began.
    fn is_resumed(&self) -> bool;

    /// Keeps an answer.
    ///
    /// # Errors
    /// An error if it cannot be kept.
    fn keep(&self, asked: Asked, reply: &Reply) -> Result<()>;

    /// The last counts that were kept for this text.
    fn recall_tally(&self, of: &str) -> Option<Tally>;

    /// Keeps counts from time to time; `last` if no more are to come.
    ///
    /// # Errors
    /// An error if they cannot be kept.
    fn keep_tally(&self, tally: &Tally, last: bool) -> Result<()>;
}
