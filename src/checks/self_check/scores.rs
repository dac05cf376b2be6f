//! Audits of simulated scores, with the user's numbers of canaries.

use super::check::{BoundTightness, CheckCase, CheckRuns, CheckedQuantity, MethodCheck};
use crate::audit::{
    CanaryScores, GuessSelection, GuessedSides, NestedTests, ThresholdSelection, audit_one_run, audit_scores,
};
use crate::bound::{Direction, LowerBound, Validity};
use crate::divergence::gdp_epsilon;
use crate::error::{Error, Result};
use crate::parallel;
use crate::quantity::{Delta, FailureProbability};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// μ of the known case.
const KNOWN_MU: f64 = 1.0;

/// Selections of a threshold, with the names of their checks.
const THRESHOLDS: [(&str, ThresholdSelection); 5] = [
    ("explicit", ThresholdSelection::Explicit(0.5 * KNOWN_MU)),
    ("split", ThresholdSelection::Split),
    ("multi-split", ThresholdSelection::MultiSplit),
    ("uniform", ThresholdSelection::Uniform),
    ("naive", ThresholdSelection::Naive),
];

/// Selections of numbers of guesses.
const GUESSES: [(&str, GuessSelection); 4] = [
    ("one-run split", GuessSelection::Split),
    ("one-run paid-for", GuessSelection::PaidFor),
    ("one-run nested", GuessSelection::Nested(GuessedSides::Both)),
    ("one-run naive", GuessSelection::Naive),
];

/// Simulates audits of scores and counts, for every selection, how often any of its bounds was above the truth: of ε at
/// `delta` in both directions, and of μ.
///
/// Scores of others are N(0, 1); those of members are N(0, 1) as well in the null case, where every positive bound is
/// wrong, and N(1, 1) in the known case, where μ = 1 and ε = [`gdp_epsilon`]. There are `sizes` members and others for
/// selections of a threshold; for one run the same total of canaries have separate fair coins. Results are the same for
/// any number of threads. `done` is called after each audit; its error ends the work.
///
/// # Errors
/// [`Error::Domain`] without audits; as [`audit_scores`] and [`audit_one_run`].
///
/// # Example
/// ```
/// # use leakbound::prelude::*;
/// # use leakbound::self_check::{CheckCase, CheckRuns, CheckVerdict, self_check_scores};
/// let (delta, failure) = (Delta::new(0.0)?, FailureProbability::new(0.05)?);
/// let runs = CheckRuns { repetitions: 50, seed: 1 };
/// let checks = self_check_scores([60, 60], CheckCase::Null, delta, failure, runs, || Ok(()))?;
/// let uniform = checks.iter().find(|check| check.method == "uniform").unwrap();
/// assert_eq!(uniform.verdict(), CheckVerdict::Kept);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn self_check_scores(
    sizes: [usize; 2],
    case: CheckCase,
    delta: Delta,
    failure: FailureProbability,
    runs: CheckRuns,
    done: impl Fn() -> Result<()> + Sync,
) -> Result<Vec<MethodCheck>> {
    Error::check_domain(runs.repetitions > 0, "number of repetitions", 0.0, "[1, 2^53]")?;
    let mu = if case == CheckCase::Null { 0.0 } else { KNOWN_MU };
    let truth = Truth { mu, epsilon: gdp_epsilon(mu, delta)?.get() };
    let nested = NestedTests::new(sizes.iter().map(|&size| size as u64).sum(), GuessedSides::Both, delta, failure)?;
    let one = |repetition: u64| -> Result<Vec<Found>> {
        let mut stream = ChaCha8Rng::seed_from_u64(runs.seed);
        stream.set_stream(2 * repetition + u64::from(case == CheckCase::Known));
        let found = audit(sizes, mu, &nested, (delta, failure), repetition, &mut stream)?;
        done()?;
        Ok(found)
    };
    let all = parallel::try_map(0..runs.repetitions, one)?;
    let names = THRESHOLDS.iter().map(|row| row.0).chain(GUESSES.iter().map(|row| row.0));
    Ok(names
        .enumerate()
        .map(|(index, name)| tally(name, case, delta, truth, failure, all.iter().map(|found| &found[index])))
        .collect())
}

#[derive(Debug, Clone, Copy)]
struct Truth {
    mu: f64,
    epsilon: f64,
}

/// The bounds of one selection in one audit: ε forward and reverse, μ if it has one.
struct Found {
    epsilon: [LowerBound; 2],
    mu: Option<LowerBound>,
}

fn audit(
    sizes: [usize; 2],
    mu: f64,
    nested: &NestedTests,
    (delta, failure): (Delta, FailureProbability),
    seed: u64,
    stream: &mut ChaCha8Rng,
) -> Result<Vec<Found>> {
    let mut draw = |size: usize, shift: f64| -> Vec<f64> {
        StandardNormal.sample_iter(&mut *stream).take(size).map(|z: f64| z + shift).collect()
    };
    let scores = CanaryScores::new(draw(sizes[0], mu), draw(sizes[1], 0.0))?;
    let mut found = Vec::new();
    for (_, selection) in THRESHOLDS {
        let evidence = audit_scores(&scores, selection, delta, failure, seed)?;
        found.push(Found {
            epsilon: Direction::BOTH.map(|direction| evidence.epsilon(delta, direction)),
            mu: Some(evidence.gdp()),
        });
    }
    let coins = coins(sizes[0] + sizes[1], mu, stream)?;
    for (_, selection) in GUESSES {
        let audit = match selection {
            GuessSelection::Nested(_) => nested.audit(&coins, seed)?,
            selection => audit_one_run(&coins, selection, delta, failure, seed)?,
        };
        found.push(Found { epsilon: [audit.epsilon; 2], mu: audit.mu });
    }
    Ok(found)
}

/// Canaries with fair coins; if all coins agree, one is turned, so that there are both kinds.
fn coins(canaries: usize, mu: f64, stream: &mut ChaCha8Rng) -> Result<CanaryScores> {
    let members = (0..canaries).filter(|_| stream.random::<bool>()).count().clamp(1, canaries - 1);
    let mut draws: Vec<f64> = StandardNormal.sample_iter(&mut *stream).take(canaries).collect();
    let others = draws.split_off(members);
    CanaryScores::new(draws.into_iter().map(|z| z + mu).collect(), others)
}

fn tally<'a>(
    method: &'static str,
    case: CheckCase,
    delta: Delta,
    truth: Truth,
    failure: FailureProbability,
    audits: impl Iterator<Item = &'a Found>,
) -> MethodCheck {
    let row = |direction| BoundTightness {
        quantity: CheckedQuantity::Epsilon(delta),
        direction,
        truth: truth.epsilon,
        mean_bound: 0.0,
        wrong: 0,
    };
    let mut tightness = Direction::BOTH.map(row).to_vec();
    let (mut wrong_in, mut repetitions, mut validity) = (Vec::new(), 0, Validity::FiniteSample);
    for found in audits {
        // NaN counts as wrong.
        let mut above = found.mu.is_some_and(|mu| !(mu.value <= truth.mu));
        for (row, epsilon) in tightness.iter_mut().zip(found.epsilon) {
            let holds = epsilon.value <= truth.epsilon;
            row.mean_bound += epsilon.value;
            row.wrong += u64::from(!holds);
            above |= !holds;
        }
        wrong_in.extend(above.then_some(repetitions));
        repetitions += 1;
        validity = found.epsilon[0].validity;
    }
    for row in &mut tightness {
        row.mean_bound /= repetitions as f64;
    }
    MethodCheck {
        case,
        method,
        validity,
        failure_probability: failure.get(),
        repetitions,
        wrong: wrong_in.len() as u64,
        wrong_in,
        tightness,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_checks() {
        let (delta, failure) = (Delta::new(1e-3).unwrap(), FailureProbability::new(0.05).unwrap());
        let runs = CheckRuns { repetitions: 20, seed: 3 };
        let check = |case| self_check_scores([80, 50], case, delta, failure, runs, || Ok(())).unwrap();
        for case in CheckCase::ALL {
            let checks = check(case);
            assert_eq!(checks, check(case));
            assert_eq!(checks.len(), THRESHOLDS.len() + GUESSES.len());
            assert!(checks.iter().all(|check| check.repetitions == 20 && check.tightness.len() == 2));
        }
        let none = CheckRuns { repetitions: 0, seed: 3 };
        assert!(self_check_scores([80, 50], CheckCase::Null, delta, failure, none, || Ok(())).is_err());
        // One canary cannot be split.
        assert!(self_check_scores([1, 50], CheckCase::Null, delta, failure, runs, || Ok(())).is_err());
    }
}
