//! The memory of an audit of a stream.

use super::bins::StreamBins;
use super::pair_stream::PairStream;
use crate::error::{Error, Result};

/// The world of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputWorld {
    /// `s`, the dataset.
    Dataset,
    /// `s_prime`, its neighbor.
    Neighbor,
}

/// An output of a stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StreamOutput {
    /// The outcome of this number, counted from 0.
    Outcome(usize),
    /// A number, to be counted in a bin.
    Value(f64),
}

/// The memory of an audit of a stream, which does not grow with the outputs.
#[derive(Debug, Clone)]
pub struct StreamCounts {
    /// Outputs of the dataset and of its neighbor, including those of the pilot.
    pub outputs: [u64; 2],
    /// Bins of outputs that are numbers, and the pilot that chooses them.
    pub bins: Option<StreamBins>,
    /// The pairs.
    pub pairs: PairStream,
}

impl StreamCounts {
    /// Counts an output. Outputs of a pilot choose the bins and are not bounded.
    ///
    /// # Errors
    /// [`Error::Rejected`] for a number without bins and for an outcome with bins; [`Error::Domain`] for NaN and for an
    /// outcome that the process does not have.
    pub fn push(&mut self, world: OutputWorld, output: StreamOutput) -> Result<()> {
        let side = usize::from(world == OutputWorld::Neighbor);
        let outcome = match (output, &mut self.bins) {
            (StreamOutput::Outcome(outcome), None) => Some(outcome),
            (StreamOutput::Value(value), Some(bins)) => bins.take(value, side)?,
            (StreamOutput::Outcome(_), Some(_)) | (StreamOutput::Value(_), None) => {
                let reason = "numbers are counted in bins, and other outcomes without bins";
                return Err(Error::rejected("count of an output", reason));
            }
        };
        match (world, outcome) {
            (OutputWorld::Dataset, Some(outcome)) => self.pairs.observe(outcome)?,
            (OutputWorld::Neighbor, Some(outcome)) => self.pairs.observe_neighbor(outcome)?,
            (_, None) => {}
        }
        self.outputs[side] += 1;
        Ok(())
    }
}
