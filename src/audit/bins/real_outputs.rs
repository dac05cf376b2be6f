//! Real-valued outputs of both worlds.

use super::output_bins::OutputBins;
use crate::counts::PairedCounts;
use crate::error::{Error, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Binomial, Distribution};
use serde::{Deserialize, Serialize};

/// Real-valued outputs of both worlds, with the number of times each value was seen.
///
/// A value may be added several times. Infinite values count as the largest finite number of their sign; NaN is
/// rejected.
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
    pub(super) values: Vec<(f64, [u64; 2])>,
}

impl RealOutputs {
    /// Adds a value with its counts under the dataset and under its neighbor.
    ///
    /// # Errors
    /// [`Error::Domain`] for NaN.
    pub fn add(&mut self, value: f64, counts: [u64; 2]) -> Result<()> {
        Error::check_domain(!value.is_nan(), "output", value, "[-inf, inf]")?;
        // Adding 0 makes -0 the same number as 0.
        self.values.push((value.clamp(f64::MIN, f64::MAX) + 0.0, counts));
        Ok(())
    }

    /// Number of values added.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether no value was added.
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
    /// Given its size, the pilot is independent of the rest, so bins and output sets chosen from it cost no failure
    /// probability. The split is a function of the outputs in their order and the seed.
    ///
    /// # Errors
    /// [`Error::Domain`] unless 0 < `fraction` < 1; [`Error::Rejected`] if a world has no output left in one of the
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
        let reason = format_args!("a fraction of {fraction} leaves a world without samples");
        Error::check_possible(!pilot.totals().contains(&0) && !rest.totals().contains(&0), "pilot split", reason)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The split depends on the seed and keeps every output; a large count is thinned in one step.
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
}
