//! Bins of real numbers, given by the cuts between them.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The largest number of bins: the union bound over more would be too weak.
pub(super) const MOST_BINS: usize = 1000;

/// A cut between two bins: at `at`, which belongs to the bin above, or to the one below if `after` is true.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Cut {
    pub(super) at: f64,
    pub(super) after: bool,
}

impl Cut {
    /// Whether the cut is below a value.
    fn is_below(self, value: f64) -> bool {
        if self.after { value > self.at } else { value >= self.at }
    }
}

/// Bins of real numbers: adjacent intervals, the outer ones unbounded. Every number lies in one bin.
///
/// Bins are a function of the output, so every bound for the bins holds for the outputs (data processing), provided
/// that the bins were fixed without looking at the outputs that are counted.
///
/// ```
/// # use leakbound::audit::OutputBins;
/// let bins = OutputBins::new(&[0.0, 1.5])?;
/// assert_eq!((bins.bin(-3.0), bins.bin(0.0), bins.bin(7.0)), (0, 1, 2));
/// assert_eq!(bins.labels(), ["(-inf, 0)", "[0, 1.5)", "[1.5, inf)"]);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OutputBins {
    pub(super) cuts: Vec<Cut>,
}

impl OutputBins {
    /// Bins between edges: (-inf, e_1), [e_1, e_2), ..., [e_k, inf).
    ///
    /// # Errors
    /// [`Error::Length`] unless there are 1 to 999 edges, [`Error::Rejected`] unless they are finite and increasing.
    pub fn new(edges: &[f64]) -> Result<Self> {
        Error::check_length((1..MOST_BINS).contains(&edges.len()), "edges of bins", edges.len(), "1 to 999")?;
        let rise = edges.iter().all(|edge| edge.is_finite()) && edges.windows(2).all(|pair| pair[0] < pair[1]);
        Error::check_possible(rise, "binning", "edges of bins must be finite and rise, such as -1,0,2.5")?;
        Ok(Self { cuts: edges.iter().map(|&at| Cut { at, after: false }).collect() })
    }

    /// Number of bins.
    #[must_use]
    pub fn bins(&self) -> usize {
        self.cuts.len() + 1
    }

    /// The bin of a value, counted from 0; NaN lies in the first.
    #[must_use]
    pub fn bin(&self, value: f64) -> usize {
        let value = value.clamp(f64::MIN, f64::MAX);
        self.cuts.partition_point(|cut| cut.is_below(value))
    }

    /// Two or three bins, one of them the union of these neighboring bins, and its index; `None` for all bins.
    pub fn joined(&self, first: usize, last: usize) -> Option<(Self, usize)> {
        let below = first.checked_sub(1).and_then(|cut| self.cuts.get(cut));
        let cuts: Vec<Cut> = below.into_iter().chain(self.cuts.get(last)).copied().collect();
        (!cuts.is_empty()).then(|| (Self { cuts }, usize::from(below.is_some())))
    }

    /// The same with cuts of this many significant digits, if they still increase.
    pub fn rounded(&self, digits: usize) -> Option<Self> {
        let round = |cut: &Cut| {
            let at: f64 = format!("{:.*e}", digits.saturating_sub(1), cut.at).parse().ok()?;
            at.is_finite().then_some(Cut { at, after: cut.after })
        };
        let cuts: Vec<Cut> = self.cuts.iter().map(round).collect::<Option<_>>()?;
        cuts.windows(2).all(|pair| (pair[0].at, pair[0].after) < (pair[1].at, pair[1].after)).then_some(Self { cuts })
    }

    /// The lowest cut.
    pub fn first_cut(&self) -> Option<f64> {
        self.cuts.first().map(|cut| cut.at)
    }

    /// The bins as intervals in text, from below.
    #[must_use]
    pub fn labels(&self) -> Vec<String> {
        let label = |bin: usize| {
            let below = bin.checked_sub(1).map(|cut| self.cuts[cut]);
            let above = self.cuts.get(bin);
            match (below, above) {
                (Some(below), Some(above)) if below.at == above.at => format!("{{{}}}", decimal(below.at)),
                _ => {
                    let low = below.map_or_else(
                        || "(-inf".into(),
                        |cut| format!("{}{}", if cut.after { '(' } else { '[' }, decimal(cut.at)),
                    );
                    let high = above.map_or_else(
                        || "inf)".into(),
                        |cut| format!("{}{}", decimal(cut.at), if cut.after { ']' } else { ')' }),
                    );
                    format!("{low}, {high}")
                }
            }
        };
        (0..self.bins()).map(label).collect()
    }
}

/// A number that reads back exactly, without a long row of zeros.
pub(super) fn decimal(value: f64) -> String {
    let plain = value.to_string();
    if plain.len() <= 24 { plain } else { format!("{value:e}") }
}
