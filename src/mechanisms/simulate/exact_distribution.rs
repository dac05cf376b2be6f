//! Counts of N independent outputs, drawn in one step from an exact distribution.

use super::engine::labels;
use super::simulation::Simulation;
use super::stream::World;
use crate::counts::PairedCounts;
use crate::distribution::OutcomeDistribution;
use crate::divergence::same_outcomes;
use crate::error::{Error, Result};
use crate::variate::Multinomial;

/// The block whose streams draw from exact distributions. A simulation has at most 2^37 blocks and never reaches it, so
/// no count drawn from a distribution shares a stream with a simulated one.
const BLOCK: u64 = 1 << 63;
/// The largest accepted total variation distance from the counts of the true distributions.
const MAX_DISTANCE: f64 = 1e-3;

/// Draws the counts that a Monte Carlo simulation of mechanisms with these output distributions would give, without a
/// simulation: Mult(N, p) for the dataset, Mult(N, q) for its neighbor, N = [`Simulation::samples`]. The labels are `0`
/// to `C-1`.
///
/// It takes the same time for every N up to 2^53, a few microseconds. The counts depend only on the distributions and
/// on `simulation`; their streams differ from those of [`simulate`](crate::simulate::simulate) for every seed and
/// query.
///
/// *Purpose.* The outputs of N audits of a model whose distribution p is known are independent with distribution p, so
/// their counts are exactly Mult(N, p), and an audit that sees only counts cannot tell the difference. It shows what
/// such an audit would certify; it contains no information beyond p, from which the leakage itself is known.
///
/// *When it may replace a simulation.* (i) Every output has fresh training randomness and fresh noise. (ii) The audit
/// concerns the model in real arithmetic, where ties have probability 0. (iii) Only counts are used. (iv) The
/// distributions are accurate enough: if every probability has a relative error of at most e, Pinsker's inequality
/// gives
/// ```text
/// TV(Mult(N, p), Mult(N, p̃)) ≤ √(N KL(p‖p̃)/2) ≤ e √(N/2),
/// ```
/// 2e-7 for e = 1e-13 and N = 10^13. [`OutcomeDistribution::error`] of both distributions must keep this below 1e-3;
/// otherwise they are rejected.
///
/// *When it may not.* It does not test an implementation: its random numbers, rounding, ties or noise scale. It takes
/// distributions and therefore cannot replace the simulation of a [`Sampler`](crate::simulate::Sampler). If the
/// distributions were fitted to data, certified bounds hold for the fit.
///
/// # Errors
/// [`Error::Length`] if the distributions have different numbers of outcomes, [`Error::Rejected`] if they are not
/// accurate enough for this many samples.
///
/// # Example
/// ```
/// use leakbound::model::{PateModel, VoteModel};
/// use leakbound::prelude::*;
/// use leakbound::simulate::sample_distributions;
///
/// let model = VoteModel::from(PateModel::new(10, &[0.1492, 0.5883, 0.2625], &[0.5036, 0.1086, 0.3878])?);
/// let [distribution, neighbor] = model.output_pair("gaussian:4".parse()?)?.into_distributions();
/// let counts = sample_distributions(&distribution, &neighbor, Simulation::new(10_000_000_000_000)?)?;
/// assert_eq!(counts.trials(), 10_000_000_000_000);
/// // Ten standard deviations of 1.2 million.
/// assert!((counts.counts()[0] as f64 - 1e13 * distribution.p()[0]).abs() < 1.2e7);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Pinsker's inequality: Tsybakov (2009), "Introduction to nonparametric estimation", Lemma 2.5.
pub fn sample_distributions(
    distribution: &OutcomeDistribution,
    neighbor: &OutcomeDistribution,
    simulation: Simulation,
) -> Result<PairedCounts> {
    same_outcomes(distribution, neighbor)?;
    let error = distribution.error().max(neighbor.error());
    let distance = error * (simulation.samples() as f64 / 2.0).sqrt();
    let reason = format_args!(
        "with a relative error of {error:.1e} in the distribution, counts of {:e} samples may be {distance:.1e} off in \
                 total variation, more than {MAX_DISTANCE:e}",
        simulation.samples() as f64
    );
    Error::check_possible(distance <= MAX_DISTANCE, "sampling from the exact distribution", reason)?;
    PairedCounts::new(
        labels(distribution.outcomes()),
        counts(distribution, simulation, World::Dataset),
        counts(neighbor, simulation, World::Neighbor),
    )
}

fn counts(distribution: &OutcomeDistribution, simulation: Simulation, world: World) -> Vec<u64> {
    let mut counts = vec![0; distribution.outcomes()];
    let mut stream = simulation.stream(world, BLOCK);
    Multinomial::new(distribution.p()).add(simulation.samples(), &mut stream, |outcome, count| counts[outcome] = count);
    counts
}

#[cfg(test)]
mod tests {
    use super::super::simulation::BLOCK_SAMPLES;
    use super::*;
    use crate::counts::MAX_COUNT;
    use crate::quadrature::LogIntegral;
    use crate::variate::p_value;
    use proptest::prelude::*;

    fn distribution(p: &[f64]) -> OutcomeDistribution {
        OutcomeDistribution::from_probabilities(p).unwrap()
    }

    /// Pearson's statistic of multinomial counts is chi-square: 2,000 p-values are uniform, in ten cells of 200. Four
    /// tests that fail with probability 1e-6 each.
    #[test]
    fn counts_are_multinomial() {
        let distributions = [distribution(&[0.02, 0.5, 0.3, 0.0, 0.18]), distribution(&[0.9, 0.01, 0.05, 0.0, 0.04])];
        for samples in [1_000_000, 10_000_000_000_000] {
            let mut cells = [[0u64; 10]; 2];
            for seed in 0..2_000 {
                let simulation = Simulation::new(samples).unwrap().seed(seed).query(samples);
                let counts = sample_distributions(&distributions[0], &distributions[1], simulation).unwrap();
                for (world, found) in [counts.counts(), counts.counts_neighbor()].into_iter().enumerate() {
                    cells[world][((p_value(found, distributions[world].p()) * 10.0) as usize).min(9)] += 1;
                }
            }
            for cells in cells {
                let fit = p_value(&cells, &[0.1; 10]);
                println!("{samples} samples: {cells:?}, p-value {fit:.4}");
                assert!(fit > 1e-6);
            }
        }
    }

    /// The streams are a third and a fourth set, separate from those of the blocks, and counts never change.
    #[test]
    fn counts_are_repeatable() {
        let distributions = [distribution(&[0.25, 0.75]), distribution(&[0.5, 0.5])];
        let simulation = Simulation::new(1_000).unwrap().seed(3).query(1);
        let draw = |simulation| sample_distributions(&distributions[0], &distributions[1], simulation).unwrap();
        assert_eq!(draw(simulation), draw(simulation));
        assert_ne!(draw(simulation), draw(simulation.seed(4)));
        assert_ne!(draw(simulation), draw(simulation.query(2)));
        let same = sample_distributions(&distributions[0], &distributions[0], simulation).unwrap();
        assert_ne!(same.counts(), same.counts_neighbor());
        assert!(Simulation::new(MAX_COUNT).unwrap().blocks() <= MAX_COUNT / BLOCK_SAMPLES && BLOCK > MAX_COUNT);
    }

    #[test]
    fn inaccurate_distributions_are_rejected() {
        let integral = |p: f64| LogIntegral { ln_value: p.ln(), error: 1e-6 };
        let rough = OutcomeDistribution::from_integrals(&[integral(0.25), integral(0.75)]).unwrap();
        let sample = |first, second, samples| {
            sample_distributions(first, second, Simulation::new(samples).unwrap()).map_err(|error| error.to_string())
        };
        assert!(sample(&rough, &rough, 1_000_000).is_ok());
        insta::assert_snapshot!(
            [
                sample(&distribution(&[0.5, 0.5]), &rough, 100_000_000).unwrap_err(),
                sample(&distribution(&[1.0]), &rough, 1).unwrap_err(),
            ]
            .join("\n"),
            @"
            sampling from the exact distribution: with a relative error of 1.0e-6 in the distribution, counts of 1e8 samples may be 7.1e-3 off in total variation, more than 1e-3
            distribution of the neighbor has length 2; expected 1 outcomes, as the other distribution
            "
        );
    }

    proptest! {
        #[test]
        fn all_samples_are_counted(
            weights in prop::collection::vec(prop::option::of(-745.0..0.0f64), 1..8),
            samples in prop_oneof![1..50u64, 1..=MAX_COUNT, Just(MAX_COUNT)],
            seed: u64,
        ) {
            let weights: Vec<f64> = weights.iter().map(|weight| weight.map_or(0.0, f64::exp)).collect();
            let total: f64 = weights.iter().sum();
            prop_assume!(total > 1e-300);
            let distribution = distribution(&weights.iter().map(|weight| weight / total).collect::<Vec<_>>());
            let counts = sample_distributions(&distribution, &distribution, Simulation::new(samples).unwrap().seed(seed)).unwrap();
            prop_assert_eq!((counts.trials(), counts.trials_neighbor()), (samples, samples));
            prop_assert!(counts.counts().iter().zip(distribution.p()).all(|(&count, &p)| count == 0 || p > 0.0));
        }
    }
}
