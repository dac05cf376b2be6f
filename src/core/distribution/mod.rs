//! Exact output distributions: the probability of each output of a mechanism.

mod argmax_table;
mod categorical;
mod class_groups;
mod confident;
mod count_groups;
mod cumulant_series;
mod custom_argmax;
mod discrete_laplace_sum;
mod enumerated_votes;
mod gaussian_argmax;
mod independent_counts;
mod laplace_argmax;
mod noise;
mod output_pair;
mod poisson_multinomial;
mod random_votes;
mod selection;
mod sparse_vector;

#[doc(hidden)]
pub use argmax_table::{ArgmaxTable, Change, Workspace};
pub use categorical::OutcomeDistribution;
#[doc(hidden)]
pub use class_groups::ClassGroups;
pub use confident::{
    ThresholdForm, ThresholdOdds, ThresholdTest, confident_argmax_distribution, interactive_argmax_distribution,
};
pub use custom_argmax::{LogConcaveNoise, custom_argmax_distribution};
#[doc(hidden)]
pub use discrete_laplace_sum::DiscreteLaplaceSum;
pub use noise::Noise;
pub use output_pair::OutputPair;
pub use poisson_multinomial::{ExpandedDistribution, poisson_multinomial_argmax_distribution};
#[doc(hidden)]
pub use random_votes::normalized as vote_probabilities;
pub use random_votes::{
    Displacement, displaced_argmax_distributions, marked_argmax_distribution, marked_argmax_distributions,
    multinomial_argmax_distribution,
};
pub use selection::{exponential_distribution, permute_and_flip_distribution};
pub use sparse_vector::{NoisyThreshold, ReportedAbove, sparse_vector_distribution, sparse_vector_outcomes};

use count_groups::{CountGroups, Spread};

use crate::error::Result;
use crate::histogram::VoteHistogram;

/// The distribution of the noisy argmax of a fixed histogram n: class c wins if n_c + Z_c is largest, Z_c iid.
///
/// ```text
/// P(c) = ∫ f((x - n_c)/s)/s Π_{i≠c} F((x - n_i)/s) dx
/// ```
/// with density f and distribution function F of the noise of scale s. Probabilities have a relative error of 1e-13 for
/// ln P > -200; below, ln P has an error of 1e-15 (1 + |ln P|).
///
/// # Errors
/// [`Error::Domain`](crate::Error::Domain) when the counts spread over more than 10^17 standard deviations of Gaussian
/// noise or 10^100 scales of Laplace noise,
/// [`Error::NoConvergence`](crate::Error::NoConvergence) when an integral does not reach its tolerance.
///
/// # Example
/// ```
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::distribution::{Noise, noisy_argmax_distribution};
/// # use leakbound::quantity::NoiseScale;
/// let noise = Noise::Gaussian(NoiseScale::new(2.0)?);
/// let distribution = noisy_argmax_distribution(&VoteHistogram::new(vec![14, 12, 10, 8, 6])?, noise)?;
/// assert!((distribution.p()[0] - 0.725_072_624_332_703_4).abs() < 1e-14);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Chadha et al. (2024), "Auditing Private Prediction", Eq. (4).
pub fn noisy_argmax_distribution(histogram: &VoteHistogram, noise: Noise) -> Result<OutcomeDistribution> {
    let spread = match noise {
        Noise::Gaussian(_) => Spread::LATTICE,
        Noise::Laplace(_) => Spread { most: 1e100, domain: "[0, 1e100]" },
    };
    let groups = CountGroups::new(histogram, noise.scale(), spread)?;
    let distributions = match noise {
        Noise::Gaussian(_) => gaussian_argmax::distribution(&groups)?,
        Noise::Laplace(_) => laplace_argmax::distribution(&groups)?,
    };
    OutcomeDistribution::from_groups(&groups.of_class, &groups.multiplicities(), &distributions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::NoiseScale;

    #[test]
    fn counts_far_apart_keep_their_exponents() {
        // m tied classes d above one: the peak is -d² m/(2(m+1)).
        for (ties, exponent) in [(1usize, 0.25), (3, 0.375)] {
            for d in [1e9, 9.007e15, 0.9e17] {
                let mut counts = vec![1u64 << 40; ties];
                counts.push(0);
                let noise = Noise::Gaussian(NoiseScale::new((1u64 << 40) as f64 / d).unwrap());
                let distribution = noisy_argmax_distribution(&VoteHistogram::new(counts).unwrap(), noise).unwrap();
                assert!(
                    (distribution.ln_p()[ties] / (-exponent * d * d) - 1.0).abs() < 1e-14,
                    "{ties} {d}: {distribution:?}"
                );
            }
        }
        let noise = Noise::Gaussian(NoiseScale::new(1e-30).unwrap());
        assert!(noisy_argmax_distribution(&VoteHistogram::new(vec![1, 0]).unwrap(), noise).is_err());
    }

    /// ln P of a class far behind is about -d²/4 for a gap of d standard deviations, ln(d/4) - d for d Laplace scales.
    #[test]
    fn counts_any_number_of_scales_apart_have_a_distribution() {
        for exponent in 0..=14 {
            for form in ["gaussian", "laplace"] {
                let noise: Noise = format!("{form}:{}", 39_421.0 * 10f64.powi(-exponent)).parse().unwrap();
                let histogram = VoteHistogram::new(vec![14, 39_435, 0]).unwrap();
                let distribution =
                    noisy_argmax_distribution(&histogram, noise).unwrap_or_else(|error| panic!("{noise}: {error}"));
                let gap = 39_421.0 / noise.scale();
                let expected = if form == "gaussian" { -0.25 * gap * gap } else { (0.25 * gap).ln() - gap };
                let relative = distribution.ln_p()[0] / expected - 1.0;
                assert!(exponent < 3 || relative.abs() < 0.02, "{noise}: {} is not {expected}", distribution.ln_p()[0]);
                assert!(
                    exponent < 13 || relative.abs() < 1e-14,
                    "{noise}: {} is not {expected}",
                    distribution.ln_p()[0]
                );
            }
        }
    }

    /// Distributions of neighbors are close for all distances of the counts, and every peak is found beyond rounding.
    #[test]
    fn neighbors_far_apart_have_close_logarithms() {
        let counts = vec![39_321, 47_513, 256, 833, 14, 2_572];
        let histogram = VoteHistogram::new(counts).unwrap();
        for scale in [5.968683880475112e-12, 6e-12, 1e-9, 1e-7, 3e-5, 1e-2] {
            let noise = Noise::Gaussian(NoiseScale::new(scale).unwrap());
            let distribution = noisy_argmax_distribution(&histogram, noise).unwrap();
            for change in histogram.neighbors(crate::histogram::VoteChange::Moved) {
                let other = noisy_argmax_distribution(&histogram.neighbor(change).unwrap(), noise).unwrap();
                for (a, b) in distribution.ln_p().iter().zip(other.ln_p()) {
                    assert!((a - b).abs() <= 1e-3 * a.abs() + 1e-9, "{scale} {change:?}: {a} {b}");
                }
            }
        }
    }
}
