//! Counts of N independent outputs drawn at once from an exact law.

use super::simulation::Simulation;
use super::stream::World;
use crate::counts::PairedCounts;
use crate::error::{Error, Result};
use crate::law::OutcomeLaw;
use crate::variate::Multinomial;

/// The block whose streams draw from exact laws. A simulation has at most 2^37 blocks and never comes here, so that no
/// count drawn from a law shares a stream with a simulated one.
const BLOCK: u64 = 1 << 63;
/// The largest total-variation distance from the counts of the true laws that is accepted.
const MAX_DISTANCE: f64 = 1e-3;

/// Draws the counts that a Monte Carlo simulation of mechanisms with these output laws would give, without simulating:
/// Mult(N, p) for the dataset, Mult(N, q) for its neighbor, N = [`Simulation::samples`]. The labels are `0` to `C-1`.
///
/// It takes the same time for every N up to 2^53, a few microseconds. The counts depend on the laws and on
/// `simulation` alone; their streams differ from those of [`simulate`](crate::simulate::simulate) for every seed and query.
///
/// *What it is for.* The outputs of N audits of a model whose law p is known are independent with law p, so that their
/// counts are Mult(N, p) exactly, and an audit that sees only counts cannot tell. It shows what such an audit would
/// certify; it holds no information beyond p, from which the leakage itself is known.
///
/// *When it may stand for a simulation.* (i) Every output has fresh training randomness and fresh noise. (ii) What is
/// audited is the model in real arithmetic, where ties have probability 0. (iii) Only counts are used. (iv) The laws
/// are accurate enough: if every probability has a relative error of at most e, Pinsker's inequality gives
/// ```text
/// TV(Mult(N, p), Mult(N, p̃)) ≤ √(N KL(p‖p̃)/2) ≤ e √(N/2),
/// ```
/// 2e-7 for e = 1e-13 and N = 10^13. Both laws' [`OutcomeLaw::error`] must keep this below 1e-3, else it is refused.
///
/// *When it may not.* It says nothing about an implementation: its random numbers, rounding, ties or noise scale. It
/// takes laws and therefore cannot replace the simulation of a [`Sampler`](crate::simulate::Sampler). If the laws were fitted
/// to data, whatever is certified holds for the fit.
///
/// # Errors
/// [`Error::Length`] when the laws have different numbers of outcomes, [`Error::Refused`] when they are not accurate
/// enough for so many samples.
///
/// # Example
/// ```
/// use leakbound::model::{PateModel, VoteModel};
/// use leakbound::prelude::*;
/// use leakbound::simulate::sample_laws;
///
/// let model = VoteModel::from(PateModel::new(10, &[0.1492, 0.5883, 0.2625], &[0.5036, 0.1086, 0.3878])?);
/// let [law, neighbor] = model.output_pair("gaussian:4".parse()?)?.into_distributions();
/// let counts = sample_laws(&law, &neighbor, Simulation::new(10_000_000_000_000)?)?;
/// assert_eq!(counts.trials(), 10_000_000_000_000);
/// // Ten standard deviations of 1.2 million.
/// assert!((counts.counts()[0] as f64 - 1e13 * law.p()[0]).abs() < 1.2e7);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Pinsker's inequality: Tsybakov (2009), "Introduction to nonparametric estimation", Lemma 2.5.
pub fn sample_laws(law: &OutcomeLaw, neighbor: &OutcomeLaw, simulation: Simulation) -> Result<PairedCounts> {
    if neighbor.outcomes() != law.outcomes() {
        return Err(Error::Length {
            quantity: "law of the neighbor",
            found: neighbor.outcomes(),
            expected: format!("{} outcomes, as the other law", law.outcomes()),
        });
    }
    let error = law.error().max(neighbor.error());
    let distance = error * (simulation.samples() as f64 / 2.0).sqrt();
    if !(distance <= MAX_DISTANCE) {
        return Err(Error::Refused {
            operation: "sampling from the exact law",
            reason: format!(
                "with a relative error of {error:.1e} in the law, counts of {:e} samples may be {distance:.1e} off in \
                 total variation, more than {MAX_DISTANCE:e}",
                simulation.samples() as f64
            ),
        });
    }
    let labels = (0..law.outcomes()).map(|outcome| outcome.to_string()).collect();
    PairedCounts::new(labels, counts(law, simulation, World::Dataset), counts(neighbor, simulation, World::Neighbor))
}

fn counts(law: &OutcomeLaw, simulation: Simulation, world: World) -> Vec<u64> {
    let mut counts = vec![0; law.outcomes()];
    let mut stream = simulation.stream(world, BLOCK);
    Multinomial::new(law.p()).add(simulation.samples(), &mut stream, |outcome, count| counts[outcome] = count);
    counts
}

#[cfg(test)]
mod tests {
    use super::super::goodness_of_fit::p_value;
    use super::super::simulation::BLOCK_SAMPLES;
    use super::*;
    use crate::counts::MAX_COUNT;
    use crate::quadrature::LogIntegral;
    use proptest::prelude::*;

    fn law(p: &[f64]) -> OutcomeLaw {
        OutcomeLaw::from_probabilities(p).unwrap()
    }

    /// Pearson's statistic of multinomial counts is chi-square: 2,000 p-values are uniform, in ten cells of 200. Four
    /// tests that fail with probability 1e-6 each.
    #[test]
    fn counts_are_multinomial() {
        let laws = [law(&[0.02, 0.5, 0.3, 0.0, 0.18]), law(&[0.9, 0.01, 0.05, 0.0, 0.04])];
        for samples in [1_000_000, 10_000_000_000_000] {
            let mut cells = [[0u64; 10]; 2];
            for seed in 0..2_000 {
                let simulation = Simulation::new(samples).unwrap().seed(seed).query(samples);
                let counts = sample_laws(&laws[0], &laws[1], simulation).unwrap();
                for (world, found) in [counts.counts(), counts.counts_neighbor()].into_iter().enumerate() {
                    cells[world][((p_value(found, laws[world].p()) * 10.0) as usize).min(9)] += 1;
                }
            }
            for cells in cells {
                let fit = p_value(&cells, &[0.1; 10]);
                println!("{samples} samples: {cells:?}, p-value {fit:.4}");
                assert!(fit > 1e-6);
            }
        }
    }

    /// The streams are a third and a fourth set beside those of the blocks, and counts never change.
    #[test]
    fn counts_are_repeatable() {
        let laws = [law(&[0.25, 0.75]), law(&[0.5, 0.5])];
        let simulation = Simulation::new(1_000).unwrap().seed(3).query(1);
        let draw = |simulation| sample_laws(&laws[0], &laws[1], simulation).unwrap();
        assert_eq!(draw(simulation), draw(simulation));
        assert_ne!(draw(simulation), draw(simulation.seed(4)));
        assert_ne!(draw(simulation), draw(simulation.query(2)));
        let same = sample_laws(&laws[0], &laws[0], simulation).unwrap();
        assert_ne!(same.counts(), same.counts_neighbor());
        assert!(Simulation::new(MAX_COUNT).unwrap().blocks() <= MAX_COUNT / BLOCK_SAMPLES && BLOCK > MAX_COUNT);
    }

    #[test]
    fn inaccurate_laws_are_refused() {
        let integral = |p: f64| LogIntegral { ln_value: p.ln(), error: 1e-6 };
        let rough = OutcomeLaw::from_integrals(&[integral(0.25), integral(0.75)]).unwrap();
        let sample = |first, second, samples| {
            sample_laws(first, second, Simulation::new(samples).unwrap()).map_err(|error| error.to_string())
        };
        assert!(sample(&rough, &rough, 1_000_000).is_ok());
        insta::assert_snapshot!(
            [
                sample(&law(&[0.5, 0.5]), &rough, 100_000_000).unwrap_err(),
                sample(&law(&[1.0]), &rough, 1).unwrap_err(),
            ]
            .join("\n"),
            @"
            sampling from the exact law: with a relative error of 1.0e-6 in the law, counts of 1e8 samples may be 7.1e-3 off in total variation, more than 1e-3
            law of the neighbor has length 2; expected 1 outcomes, as the other law
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
            let law = law(&weights.iter().map(|weight| weight / total).collect::<Vec<_>>());
            let counts = sample_laws(&law, &law, Simulation::new(samples).unwrap().seed(seed)).unwrap();
            prop_assert_eq!((counts.trials(), counts.trials_neighbor()), (samples, samples));
            prop_assert!(counts.counts().iter().zip(law.p()).all(|(&count, &p)| count == 0 || p > 0.0));
        }
    }
}
