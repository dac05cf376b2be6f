//! Bins that hold equal shares of a pilot.

use super::output_bins::{Cut, MOST_BINS, OutputBins};
use super::real_outputs::RealOutputs;
use crate::error::{Error, Result};
use crate::order;

impl OutputBins {
    /// About `bins` bins that hold equal shares of a pilot, both worlds taken together.
    ///
    /// The edges are short decimal numbers between neighboring values of the pilot. A value that the pilot repeats so
    /// often that two edges would fall on it gets its own bin. The pilot must not be part of the outputs that are
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
        Error::check_length((2..=MOST_BINS).contains(&bins), "bins", bins, "2 to 1000")?;
        let mut values: Vec<(f64, u128)> =
            pilot.values.iter().map(|&(value, [s, neighbor])| (value, u128::from(s) + u128::from(neighbor))).collect();
        values.retain(|(_, count)| *count > 0);
        order::sort(&mut values, |a, b| a.0.total_cmp(&b.0));
        values.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
        let Some(&(last, _)) = values.last() else {
            return Err(Error::length("outputs of the pilot", 0, "at least 1"));
        };
        let first = values[0].0;
        let total: u128 = values.iter().map(|(_, count)| count).sum();
        let (mut cuts, mut below, mut edge) = (Vec::new(), 0u128, 1u128);
        for (place, &(value, count)) in values.iter().enumerate() {
            // Quantiles edge/bins at this value: below total · edge/bins ≤ ... < below + count.
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
            // A single value, or nearly: that value alone, and everything on either side of it.
            cuts.extend([false, true].map(|after| Cut { at: first, after }));
        }
        Ok(Self { cuts })
    }

    /// These bins with one more cut on each side of the median of sorted values: in the widest gap, if it is wider than
    /// its distance from the median. Rare values far from all others then do not share a bin with frequent ones.
    pub fn split_at_gaps(mut self, sorted: &[f64]) -> Self {
        let (below, above) = sorted.split_at(sorted.len() / 2);
        let Some(&median) = above.first() else { return self };
        for part in [below, above] {
            let widest = part.windows(2).max_by(|a, b| (a[1] - a[0]).total_cmp(&(b[1] - b[0])));
            let Some(&[low, high]) = widest else { continue };
            let bin = self.bin(low);
            let near = if high <= median { median - high } else { low - median };
            if high - low > near && bin == self.bin(high) {
                self.cuts.insert(bin, Cut { at: shortest_between(low, high), after: false });
            }
        }
        self
    }
}

/// The number with the fewest digits in (low, high], for low < high.
fn shortest_between(low: f64, high: f64) -> f64 {
    let middle = low / 2.0 + high / 2.0;
    let of_digits = |digits: usize| format!("{middle:.digits$e}").parse::<f64>().ok();
    (0..17).filter_map(of_digits).find(|&value| low < value && value <= high).unwrap_or(high)
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

    #[test]
    fn gaps_part_what_is_far_from_frequent_values() {
        let values = [-9.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 700.0, 700.0];
        let bins = OutputBins::new(&[0.0, 0.4]).unwrap().split_at_gaps(&values);
        assert_eq!(bins.labels(), ["(-inf, -5)", "[-5, 0)", "[0, 0.4)", "[0.4, 400)", "[400, inf)"]);
        // No cut is repeated, and none lies between equal values.
        assert_eq!(bins.clone().split_at_gaps(&values), bins);
        for values in [&[] as &[f64], &[1.0], &[1.0; 5], &[f64::MIN, f64::MIN, f64::MAX, f64::MAX]] {
            assert_eq!(bins.clone().split_at_gaps(values), bins);
        }
        let wide = OutputBins::new(&[0.0]).unwrap().split_at_gaps(&[f64::MIN, f64::MIN, 1.0, f64::MAX]);
        assert_eq!((wide.bin(1.0), wide.bin(f64::MAX)), (1, 2));
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
}
