//! Bins of a stream, chosen from its first outputs.

use super::output_bins::{MOST_BINS, OutputBins};
use super::real_outputs::RealOutputs;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Bins of a stream: the first outputs, of both worlds together, are a pilot that chooses the bins and is not bounded.
///
/// The pilot ends after a predetermined number of outputs, so the outputs after it are independent of the bins.
///
/// ```
/// # use leakbound::audit::StreamBins;
/// let mut bins = StreamBins::new(2, 100)?;
/// for output in 0..100 {
///     assert_eq!(bins.take(f64::from(output), output as usize % 2)?, None);
/// }
/// assert_eq!((bins.take(3.0, 0)?, bins.take(99.0, 1)?), (Some(0), Some(1)));
/// assert_eq!(bins.pilot(), [50, 50]);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamBins {
    wanted: usize,
    length: u64,
    /// Empty once the bins are chosen.
    pilot: RealOutputs,
    taken: [u64; 2],
    bins: Option<OutputBins>,
}

impl StreamBins {
    /// Bins by quantiles of the first `length` outputs.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are 2 to 1000 bins, [`Error::Domain`] for an empty pilot.
    pub fn new(bins: usize, length: u64) -> Result<Self> {
        Error::check_length((2..=MOST_BINS).contains(&bins), "bins", bins, "2 to 1000")?;
        Error::check_domain(length > 0, "outputs of the pilot", 0.0, "[1, 2^53]")?;
        Ok(Self { wanted: bins, length, pilot: RealOutputs::default(), taken: [0, 0], bins: None })
    }

    /// Declared bins: no output is needed to choose them.
    #[must_use]
    pub fn declared(bins: OutputBins) -> Self {
        Self { wanted: bins.bins(), length: 0, pilot: RealOutputs::default(), taken: [0, 0], bins: Some(bins) }
    }

    /// Takes an output of world 0, the dataset, or 1, its neighbor, and returns its bin; `None` while the pilot lasts.
    ///
    /// # Errors
    /// [`Error::Domain`] for NaN.
    pub fn take(&mut self, value: f64, world: usize) -> Result<Option<usize>> {
        Error::check_domain(!value.is_nan(), "output", value, "[-inf, inf]")?;
        if let Some(bins) = &self.bins {
            return Ok(Some(bins.bin(value)));
        }
        self.pilot.add(value, [1, 0])?;
        self.taken[world.min(1)] += 1;
        if self.taken[0] + self.taken[1] >= self.length {
            self.bins = Some(OutputBins::quantiles(&std::mem::take(&mut self.pilot), self.wanted)?);
        }
        Ok(None)
    }

    /// The bins; `None` while the pilot lasts.
    #[must_use]
    pub const fn bins(&self) -> Option<&OutputBins> {
        self.bins.as_ref()
    }

    /// Outputs of the pilot so far, of the dataset and of its neighbor.
    #[must_use]
    pub const fn pilot(&self) -> [u64; 2] {
        self.taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pilot of a given number of outputs ends with the last of them, whichever worlds they come from.
    #[test]
    fn a_pilot_ends_after_so_many_outputs_of_either_world() {
        for worlds in [[0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 1]] {
            let mut bins = StreamBins::new(2, 4).unwrap();
            for (index, world) in worlds.into_iter().enumerate() {
                assert!(bins.bins().is_none(), "{worlds:?} {index}");
                assert_eq!(bins.take(index as f64, world).unwrap(), None);
            }
            assert!(bins.bins().is_some(), "{worlds:?}");
            assert!(bins.take(0.5, 0).unwrap().is_some());
        }
    }
}
