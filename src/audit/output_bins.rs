//! Real-valued outputs, and the bins in which they are counted.

use crate::counts::PairedCounts;
use crate::error::{Error, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Binomial, Distribution};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The most bins: the union bound over more would leave nothing to see.
const MOST_BINS: usize = 1000;

/// Real-valued outputs of both worlds, with how often each value was seen.
///
/// A value may be added several times. Infinite values count as the largest finite number of their sign; NaN is refused.
///
/// ```
/// # use leakbound::audit::RealOutputs;
/// let mut outputs = RealOutputs::default();
/// outputs.add(0.5, [1, 0])?;
/// outputs.add(f64::INFINITY, [0, 2])?;
/// assert_eq!(outputs.totals(), [1, 2]);
/// assert!(outputs.add(f64::NAN, [1, 0]).is_err());
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RealOutputs {
    values: Vec<(f64, [u64; 2])>,
}

impl RealOutputs {
    /// Adds a value with its counts under the dataset and under its neighbor.
    ///
    /// # Errors
    /// [`Error::Domain`] for NaN.
    pub fn add(&mut self, value: f64, counts: [u64; 2]) -> Result<()> {
        if value.is_nan() {
            return Err(Error::Domain { quantity: "output", value, domain: "[-inf, inf]" });
        }
        // Adding 0 makes -0 the same number as 0.
        self.values.push((value.clamp(f64::MIN, f64::MAX) + 0.0, counts));
        Ok(())
    }

    /// How many values were added.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether none was.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Outputs under the dataset and under its neighbor.
    #[must_use]
    pub fn totals(&self) -> [u64; 2] {
        let total = |world: usize| self.values.iter().fold(0u64, |sum, (_, counts)| sum.saturating_add(counts[world]));
        [total(0), total(1)]
    }

    /// Puts each output into the first part, the pilot, with probability `fraction`, independently; the second part is
    /// the rest.
    ///
    /// Given its size the pilot is independent of the rest, so that bins and output sets chosen from it cost no failure
    /// probability. The split is a function of the outputs in their order and the seed.
    ///
    /// # Errors
    /// [`Error::Domain`] unless 0 < `fraction` < 1; [`Error::Refused`] when a world has no output left in one of the
    /// parts.
    ///
    /// # Example
    /// ```
    /// # use leakbound::audit::RealOutputs;
    /// let mut outputs = RealOutputs::default();
    /// for output in 0..100 {
    ///     outputs.add(f64::from(output), [1, 1])?;
    /// }
    /// let (pilot, rest) = outputs.split(0.1, 7)?;
    /// assert_eq!(pilot.totals()[0] + rest.totals()[0], 100);
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    pub fn split(&self, fraction: f64, seed: u64) -> Result<(Self, Self)> {
        let outside = || Error::Domain { quantity: "pilot fraction", value: fraction, domain: "(0, 1)" };
        if !(fraction > 0.0 && fraction < 1.0) {
            return Err(outside());
        }
        let mut stream = ChaCha8Rng::seed_from_u64(seed);
        let mut thin = |count: u64| -> Result<u64> {
            Ok(match count {
                0 => 0,
                1 => u64::from(stream.random_bool(fraction)),
                _ => Binomial::new(count, fraction).map_err(|_| outside())?.sample(&mut stream),
            })
        };
        let (mut pilot, mut rest) = (Self::default(), Self::default());
        for &(value, [count, count_neighbor]) in &self.values {
            let taken = [thin(count)?, thin(count_neighbor)?];
            let left = [count - taken[0], count_neighbor - taken[1]];
            for (part, counts) in [(&mut pilot, taken), (&mut rest, left)] {
                if counts != [0, 0] {
                    part.values.push((value, counts));
                }
            }
        }
        if pilot.totals().contains(&0) || rest.totals().contains(&0) {
            return Err(Error::Refused {
                operation: "pilot split",
                reason: format!("a fraction of {fraction} leaves a world without samples"),
            });
        }
        Ok((pilot, rest))
    }

    /// The outputs as counts of the bins in which they lie.
    ///
    /// # Errors
    /// [`Error::Domain`] when a world has no output, or more than 2^53.
    pub fn binned(&self, bins: &OutputBins) -> Result<PairedCounts> {
        let mut worlds = [vec![0u64; bins.bins()], vec![0u64; bins.bins()]];
        for &(value, counts) in &self.values {
            let bin = bins.bin(value);
            for (world, count) in worlds.iter_mut().zip(counts) {
                world[bin] = world[bin].saturating_add(count);
            }
        }
        let [counts, counts_neighbor] = worlds;
        PairedCounts::new(bins.labels(), counts, counts_neighbor)
    }
}

/// A cut between two bins: at `at`, which belongs to the bin above, or to the one below if `after` is true.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Cut {
    at: f64,
    after: bool,
}

impl Cut {
    /// Whether the cut is below a value.
    fn is_below(self, value: f64) -> bool {
        if self.after { value > self.at } else { value >= self.at }
    }
}

/// Bins of real numbers: intervals that touch, the outer ones unbounded. Every number lies in one bin.
///
/// Bins are a function of the output, so that every bound for the bins holds for the outputs (data processing), as long
/// as the bins were fixed before the outputs that are counted were looked at.
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
    cuts: Vec<Cut>,
}

impl OutputBins {
    /// Bins between edges: (-inf, e_1), [e_1, e_2), ..., [e_k, inf).
    ///
    /// # Errors
    /// [`Error::Length`] unless there are 1 to 999 edges, [`Error::Refused`] unless they are finite and rise.
    pub fn new(edges: &[f64]) -> Result<Self> {
        if !(1..MOST_BINS).contains(&edges.len()) {
            return Err(Error::Length { quantity: "edges of bins", found: edges.len(), expected: "1 to 999".into() });
        }
        if edges.iter().any(|edge| !edge.is_finite()) || edges.windows(2).any(|pair| pair[0] >= pair[1]) {
            let reason = "edges of bins must be finite and rise, such as -1,0,2.5".into();
            return Err(Error::Refused { operation: "binning", reason });
        }
        Ok(Self { cuts: edges.iter().map(|&at| Cut { at, after: false }).collect() })
    }

    /// About `bins` bins that hold equal shares of a pilot, both worlds taken together.
    ///
    /// The edges are short decimal numbers between neighboring values of the pilot. A value that the pilot repeats so
    /// often that two edges would fall on it is a bin of its own. The pilot must not be part of the outputs that are
    /// counted.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are 2 to 1000 bins, or for an empty pilot.
    ///
    /// # Example
    /// ```
    /// # use leakbound::audit::{OutputBins, RealOutputs};
    /// let mut pilot = RealOutputs::default();
    /// for output in 0..100 {
    ///     // Half of the outputs are exactly 0.
    ///     pilot.add(f64::from(4 * (output - 50).max(0)), [1, 1])?;
    /// }
    /// let bins = OutputBins::quantiles(&pilot, 4)?;
    /// assert_eq!(bins.labels(), ["(-inf, 0]", "(0, 100)", "[100, inf)"]);
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    pub fn quantiles(pilot: &RealOutputs, bins: usize) -> Result<Self> {
        if !(2..=MOST_BINS).contains(&bins) {
            return Err(Error::Length { quantity: "bins", found: bins, expected: "2 to 1000".into() });
        }
        let mut values: Vec<(f64, u128)> =
            pilot.values.iter().map(|&(value, [s, neighbor])| (value, u128::from(s) + u128::from(neighbor))).collect();
        values.retain(|(_, count)| *count > 0);
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        values.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
        let Some(&(last, _)) = values.last() else {
            return Err(Error::Length { quantity: "outputs of the pilot", found: 0, expected: "at least 1".into() });
        };
        let first = values[0].0;
        let total: u128 = values.iter().map(|(_, count)| count).sum();
        let (mut cuts, mut below, mut edge) = (Vec::new(), 0u128, 1u128);
        for (place, &(value, count)) in values.iter().enumerate() {
            // Quantiles edge/bins that fall on this value: below total · edge/bins ≤ ... < below + count.
            let mut fallen = 0;
            while edge < bins as u128 && total * edge < (below + count) * bins as u128 {
                (edge, fallen) = (edge + 1, fallen + 1);
            }
            if fallen > 1 {
                // An atom: cut on both sides of it, unless nothing was seen there.
                cuts.extend((value > first).then_some(Cut { at: value, after: false }));
                cuts.extend((value < last).then_some(Cut { at: value, after: true }));
            } else if fallen == 1 && value > first {
                cuts.push(Cut { at: shortest_between(values[place - 1].0, value), after: false });
            }
            below += count;
        }
        if cuts.is_empty() {
            // One value, or nearly: it alone, and what is on either side of it.
            cuts.extend([false, true].map(|after| Cut { at: first, after }));
        }
        Ok(Self { cuts })
    }

    /// Number of bins.
    #[must_use]
    pub fn bins(&self) -> usize {
        self.cuts.len() + 1
    }

    /// The bin of a value, from 0; NaN lies in the first.
    #[must_use]
    pub fn bin(&self, value: f64) -> usize {
        let value = value.clamp(f64::MIN, f64::MAX);
        self.cuts.partition_point(|cut| cut.is_below(value))
    }

    /// The bins as intervals in words, from below.
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
fn decimal(value: f64) -> String {
    let plain = value.to_string();
    if plain.len() <= 24 { plain } else { format!("{value:e}") }
}

/// The number with the fewest digits in (low, high], for low < high.
fn shortest_between(low: f64, high: f64) -> f64 {
    let middle = low / 2.0 + high / 2.0;
    let of_digits = |digits: usize| format!("{middle:.digits$e}").parse::<f64>().ok();
    (0..17).filter_map(of_digits).find(|&value| low < value && value <= high).unwrap_or(high)
}

/// How bins are chosen.
///
/// ```
/// # use leakbound::audit::BinRule;
/// assert_eq!("quantile:20".parse::<BinRule>()?.to_string(), "quantile:20");
/// assert!("edges:2,1".parse::<BinRule>().is_err());
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum BinRule {
    /// So many bins with equal shares of a pilot ([`OutputBins::quantiles`]); written `quantile:K`.
    Quantiles(usize),
    /// Bins that were declared ([`OutputBins::new`]); written `edges:A,B,...`.
    Edges(OutputBins),
}

impl fmt::Display for BinRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quantiles(bins) => write!(formatter, "quantile:{bins}"),
            Self::Edges(bins) => {
                let edges: Vec<String> = bins.cuts.iter().map(|cut| decimal(cut.at)).collect();
                write!(formatter, "edges:{}", edges.join(","))
            }
        }
    }
}

impl FromStr for BinRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let unknown = || Error::Syntax {
            quantity: "bins",
            value: text.to_owned(),
            expected: "quantile:K with K from 2 to 1000, or edges:A,B,... with rising numbers",
        };
        let (kind, rest) = text.split_once(':').ok_or_else(unknown)?;
        match kind {
            "quantile" => {
                let bins = rest.parse().ok().filter(|bins| (2..=MOST_BINS).contains(bins)).ok_or_else(unknown)?;
                Ok(Self::Quantiles(bins))
            }
            "edges" => {
                let edges: Option<Vec<f64>> = rest.split(',').map(|edge| edge.trim().parse().ok()).collect();
                Ok(Self::Edges(OutputBins::new(&edges.ok_or_else(unknown)?).map_err(|_| unknown())?))
            }
            _ => Err(unknown()),
        }
    }
}

impl Serialize for BinRule {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Bins of a stream: the first outputs, of both worlds together, are the pilot that chooses them and are not bounded.
///
/// The pilot ends after a number of outputs that was fixed before, so that the outputs after it are independent of the
/// bins.
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
    /// Empty as soon as the bins are chosen.
    pilot: RealOutputs,
    taken: [u64; 2],
    bins: Option<OutputBins>,
}

impl StreamBins {
    /// Bins by quantiles of the first `length` outputs.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are 2 to 1000 bins, [`Error::Domain`] for a pilot of no output.
    pub fn new(bins: usize, length: u64) -> Result<Self> {
        if !(2..=MOST_BINS).contains(&bins) {
            return Err(Error::Length { quantity: "bins", found: bins, expected: "2 to 1000".into() });
        }
        if length == 0 {
            return Err(Error::Domain { quantity: "outputs of the pilot", value: 0.0, domain: "[1, 2^53]" });
        }
        Ok(Self { wanted: bins, length, pilot: RealOutputs::default(), taken: [0, 0], bins: None })
    }

    /// Bins that were declared: no output is needed to choose them.
    #[must_use]
    pub fn declared(bins: OutputBins) -> Self {
        Self { wanted: bins.bins(), length: 0, pilot: RealOutputs::default(), taken: [0, 0], bins: Some(bins) }
    }

    /// Takes an output of world 0, the dataset, or 1, its neighbor, and gives its bin; `None` while the pilot lasts.
    ///
    /// # Errors
    /// [`Error::Domain`] for NaN.
    pub fn take(&mut self, value: f64, world: usize) -> Result<Option<usize>> {
        if value.is_nan() {
            return Err(Error::Domain { quantity: "output", value, domain: "[-inf, inf]" });
        }
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
    use proptest::prelude::*;

    proptest! {
        /// Every number lies in exactly one bin, labels are distinct, and quantile bins of distinct values are even.
        #[test]
        fn bins_cover_the_line(values in prop::collection::vec(-1e6f64..1e6, 1..200), bins in 2usize..40) {
            let mut pilot = RealOutputs::default();
            values.iter().for_each(|&value| pilot.add(value, [1, 0]).unwrap());
            let found = OutputBins::quantiles(&pilot, bins).unwrap();
            prop_assert!(found.bins() >= 2 && found.bins() <= 2 * bins + 1);
            for pair in found.cuts.windows(2) {
                prop_assert!((pair[0].at, pair[0].after) < (pair[1].at, pair[1].after));
            }
            let mut labels = found.labels();
            labels.sort();
            labels.dedup();
            prop_assert_eq!(labels.len(), found.bins());
            prop_assert_eq!((found.bin(f64::NEG_INFINITY), found.bin(f64::INFINITY)), (0, found.bins() - 1));
            let mut distinct = values;
            distinct.sort_by(f64::total_cmp);
            distinct.dedup();
            if distinct.len() == pilot.len() && distinct.len() >= 2 * bins {
                let mut counts = vec![0usize; found.bins()];
                distinct.iter().for_each(|&value| counts[found.bin(value)] += 1);
                let even = distinct.len() / bins;
                prop_assert!(counts.iter().all(|&count| count + 1 >= even && count <= even + 2), "{counts:?}");
            }
        }
    }

    #[test]
    fn atoms_are_bins_and_odd_values_have_a_place() {
        let mut pilot = RealOutputs::default();
        for value in [-1.0, -0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 3.0] {
            pilot.add(value, [1, 1]).unwrap();
        }
        let bins = OutputBins::quantiles(&pilot, 4).unwrap();
        assert_eq!(bins.labels(), ["(-inf, 0)", "{0}", "(0, 1)", "[1, inf)"]);
        assert_eq!([-0.0, 0.0, 1e-300, f64::INFINITY].map(|value| bins.bin(value)), [1, 1, 2, 3]);
        let mut constant = RealOutputs::default();
        constant.add(f64::INFINITY, [5, 5]).unwrap();
        let bins = OutputBins::quantiles(&constant, 20).unwrap();
        assert_eq!((bins.bins(), bins.bin(0.0), bins.bin(f64::MAX)), (3, 0, 1));
        let text = serde_json::to_string(&bins).unwrap();
        assert_eq!(serde_json::from_str::<OutputBins>(&text).unwrap(), bins);
    }

    /// The split depends on the seed and keeps every output; a large count is thinned at once.
    #[test]
    fn a_split_keeps_every_output() {
        let mut outputs = RealOutputs::default();
        (0..1000).for_each(|value| outputs.add(f64::from(value), [1, 3]).unwrap());
        outputs.add(0.5, [1 << 50, 0]).unwrap();
        let (pilot, rest) = outputs.split(0.25, 3).unwrap();
        assert_eq!(outputs.split(0.25, 3).unwrap(), (pilot.clone(), rest.clone()));
        assert_ne!(outputs.split(0.25, 4).unwrap().0, pilot);
        let all = outputs.totals();
        assert_eq!([0, 1].map(|world| pilot.totals()[world] + rest.totals()[world]), all);
        let share = pilot.totals()[1] as f64 / all[1] as f64;
        // Six standard errors.
        assert!((share - 0.25).abs() < 6.0 * (0.25f64 * 0.75 / all[1] as f64).sqrt(), "{share}");
        assert!(outputs.split(1e-12, 3).is_err() && outputs.split(1.0, 3).is_err());
    }

    #[test]
    fn edges_between_values_are_short() {
        assert_eq!(shortest_between(0.623_456, 0.698_765), 0.66);
        for (low, high) in [(0.0, 1.0), (1.0, 1.0f64.next_up()), (-3.7, -3.69), (f64::MIN, f64::MAX), (-1e-300, 1e300)]
        {
            let edge = shortest_between(low, high);
            assert!(low < edge && edge <= high, "{low} {edge} {high}");
        }
    }

    /// A pilot of a number of outputs ends with the last of them, whichever worlds they come from.
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
