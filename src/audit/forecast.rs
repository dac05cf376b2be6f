//! The number of samples that a method would need.

use super::reference_distributions::ReferenceDistributions;
use crate::counts::{MAX_COUNT, PairedCounts};
use crate::distribution::OutcomeDistribution;
use crate::error::{Error, Result};
use crate::order;
use crate::variate::Multinomial;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Samples per world are searched on a grid of this ratio, 2^(1/16).
const STEP: f64 = 1.044_273_782_427_413_8;

/// Number of draws of counts whose median represents an audit if expected counts cannot.
const DRAWS: u64 = 5;

/// Expected counts replace drawn ones while rounding them moves at most this share of the distance of both
/// distributions.
const FAITHFUL: f64 = 0.05;

/// The smallest number of samples per world, within 5%, at which a bound reaches `goal` if these are the distributions.
///
/// It is the number of samples at which [`typical_bound`] reaches the goal: a forecast, not a guarantee. `bound` must
/// not decrease in n.
///
/// # Errors
/// [`Error::Length`] if the distributions differ in outcomes; those of `bound`.
///
/// # Example
/// ```
/// # use leakbound::audit::{Rectangle, samples_to_reach};
/// # use leakbound::bound::Direction;
/// # use leakbound::interval::BinomialCounts;
/// # use leakbound::distribution::OutcomeDistribution;
/// # use leakbound::quantity::{FailureProbability, Order};
/// let (p, q) = (OutcomeDistribution::from_probabilities(&[0.6, 0.4])?, OutcomeDistribution::from_probabilities(&[0.5, 0.5])?);
/// let (order, failure) = (Order::new(2.0)?, FailureProbability::new(0.05)?);
/// let half = 0.5 * leakbound::divergence::renyi_divergence(&p, &q, order)?;
/// let samples = samples_to_reach(&p, &q, half, |counts| {
///     let inside = BinomialCounts::new(counts.counts()[0], counts.trials())?;
///     let inside_neighbor = BinomialCounts::new(counts.counts_neighbor()[0], counts.trials_neighbor())?;
///     Ok(Rectangle::four_tails(inside, inside_neighbor, failure)?.corner(order, Direction::Forward).value)
/// })?;
/// assert!((5_400..6_100).contains(&samples.unwrap()));
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn samples_to_reach(
    p: &OutcomeDistribution,
    q: &OutcomeDistribution,
    goal: f64,
    bound: impl Fn(&PairedCounts) -> Result<f64>,
) -> Result<Option<u64>> {
    let samples = |step: u32| (STEP.powi(step as i32).ceil() as u64).min(MAX_COUNT);
    let reached = |step: u32| Ok::<_, Error>(typical_bound(p, q, samples(step), &bound)? >= goal);
    let (mut below, mut above) = (0, (53.0 * 16.0) as u32);
    if reached(below)? {
        return Ok(Some(1));
    }
    if !reached(above)? {
        return Ok(None);
    }
    while above - below > 1 {
        let middle = below.midpoint(above);
        if reached(middle)? { above = middle } else { below = middle }
    }
    Ok(Some(samples(above)))
}

/// A typical bound, halfway between the luckiest and the unluckiest audit, with `samples` outputs of each distribution.
///
/// With many samples of each outcome, this is the bound at the expected counts. With few, expected counts are
/// fractions, and rounding them would create artificial differences between the worlds and hide their noise. If
/// rounding moves more than a twentieth of the distance Σ|p - q|, the value is the median bound of five draws. The
/// draws are counts of outcomes within groups of equal ratio p/q (nearly equal beyond 64 groups), and the groups have
/// their expected counts, so that the luck of a few draws does not decide; if even the groups have few samples, all
/// counts are drawn. The seeds are fixed: the value is a function of the distributions and the samples.
///
/// # Errors
/// [`Error::Length`] if the distributions differ in outcomes; those of `bound`.
///
/// # Example
/// ```
/// # use leakbound::audit::typical_bound;
/// # use leakbound::distribution::OutcomeDistribution;
/// let uniform = OutcomeDistribution::from_probabilities(&vec![1e-3; 1000])?;
/// // Ten samples of a thousand outcomes are ten different outcomes, not the first ten.
/// let both = typical_bound(&uniform, &uniform, 10, |counts| {
///     let pairs = counts.counts().iter().zip(counts.counts_neighbor());
///     Ok(pairs.filter(|(x, y)| **x > 0 && **y > 0).count() as f64)
/// })?;
/// assert_eq!(both, 0.0);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn typical_bound(
    p: &OutcomeDistribution,
    q: &OutcomeDistribution,
    samples: u64,
    bound: impl Fn(&PairedCounts) -> Result<f64>,
) -> Result<f64> {
    let counts = typical_counts([p, q], [samples; 2])?;
    Ok(median(counts.iter().map(bound).collect::<Result<Vec<f64>>>()?))
}

/// The middle one of an odd number of values.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Typical counts of samples of both distributions: one pair if rounding does not matter, otherwise an odd number of
/// draws.
pub(super) fn typical_counts([p, q]: [&OutcomeDistribution; 2], trials: [u64; 2]) -> Result<Vec<PairedCounts>> {
    Error::check_size("distribution of the neighbor", q.outcomes(), p.outcomes(), " outcomes")?;
    let expected = expected_counts_of([p, q], trials)?;
    if faithful([p.p(), q.p()], [expected.counts(), expected.counts_neighbor()], trials) {
        return Ok(vec![expected]);
    }
    let reference = ReferenceDistributions::from_distributions(p, q)?;
    let worlds = [p.p(), q.p()];
    let groups = [0, 1].map(|world| rounded(reference.distributions()[world], trials[world]));
    let parts: Vec<Vec<usize>> = if faithful(reference.distributions(), [&groups[0], &groups[1]], trials) {
        reference.members()
    } else {
        vec![(0..p.outcomes()).collect()]
    };
    let stratified = parts.len() > 1;
    // For each world, the distribution within each part.
    let distributions = worlds.map(|distribution| {
        let within = |part: &Vec<usize>| {
            let total: f64 = part.iter().map(|&outcome| distribution[outcome]).sum();
            let share = |&outcome: &usize| if total > 0.0 { distribution[outcome] / total } else { 0.0 };
            Multinomial::new(&part.iter().map(share).collect::<Vec<f64>>())
        };
        parts.iter().map(within).collect::<Vec<_>>()
    });
    let draw = |seed: u64| {
        let mut stream = ChaCha8Rng::seed_from_u64(seed);
        let [counts, counts_neighbor] = [0, 1].map(|world| {
            let mut counts = vec![0; p.outcomes()];
            for (part, (distribution, members)) in distributions[world].iter().zip(&parts).enumerate() {
                let total = if stratified { groups[world][part] } else { trials[world] };
                distribution.add(total, &mut stream, |place, count| counts[members[place]] += count);
            }
            counts
        });
        PairedCounts::new(expected.labels().to_vec(), counts, counts_neighbor)
    };
    (0..DRAWS).map(draw).collect()
}

/// Whether rounding n p and n' q to these counts moves little of the distance of the distributions.
fn faithful(distributions: [&[f64]; 2], counts: [&[u64]; 2], trials: [u64; 2]) -> bool {
    let moved = |world: usize| -> f64 {
        let share = |count: u64| count as f64 / trials[world] as f64;
        distributions[world].iter().zip(counts[world]).map(|(p, &count)| (p - share(count)).abs()).sum()
    };
    let distance: f64 = distributions[0].iter().zip(distributions[1]).map(|(p, q)| (p - q).abs()).sum();
    // The rounding of doubles is nothing that drawing would fix.
    moved(0).max(moved(1)) <= FAITHFUL * distance + f64::EPSILON * distributions[0].len() as f64
}

/// The expected counts of n samples of both distributions, rounded to whole numbers that sum to n.
///
/// # Errors
/// As [`PairedCounts::new`].
pub fn expected_counts(p: &OutcomeDistribution, q: &OutcomeDistribution, samples: u64) -> Result<PairedCounts> {
    expected_counts_of([p, q], [samples; 2])
}

/// The same for separate numbers of samples.
pub(super) fn expected_counts_of([p, q]: [&OutcomeDistribution; 2], trials: [u64; 2]) -> Result<PairedCounts> {
    let labels = (0..p.outcomes()).map(|outcome| outcome.to_string()).collect();
    PairedCounts::new(labels, rounded(p.p(), trials[0]), rounded(q.p(), trials[1]))
}

/// Whole numbers with sum n close to n p: the largest remainders are rounded up.
fn rounded(p: &[f64], samples: u64) -> Vec<u64> {
    let exact: Vec<f64> = p.iter().map(|p| p * samples as f64).collect();
    let mut counts: Vec<u64> = exact.iter().map(|value| value.floor() as u64).collect();
    let remainder = |outcome: usize| exact[outcome] - exact[outcome].floor();
    let order = order::positions(p.len(), |a, b| remainder(b).total_cmp(&remainder(a)));
    // Rounding of large products may leave a sum on either side.
    let mut missing = i128::from(samples) - counts.iter().map(|&count| i128::from(count)).sum::<i128>();
    while missing != 0 {
        for &outcome in &order {
            if missing > 0 && (exact[outcome] > 0.0) {
                counts[outcome] += 1;
                missing -= 1;
            } else if missing < 0 && counts[outcome] > 0 {
                counts[outcome] -= 1;
                missing += 1;
            }
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn expected_counts_sum_to_the_samples(
            weights in prop::collection::vec(0.0f64..1.0, 1..40),
            samples in prop_oneof![1..100u64, 1..MAX_COUNT, Just(MAX_COUNT)],
        ) {
            let total: f64 = weights.iter().sum();
            prop_assume!(total > 0.0);
            let distribution = OutcomeDistribution::from_probabilities(&weights.iter().map(|w| w / total).collect::<Vec<_>>()).unwrap();
            let counts = expected_counts(&distribution, &distribution, samples).unwrap();
            prop_assert_eq!(counts.trials(), samples);
            for (count, p) in counts.counts().iter().zip(distribution.p()) {
                prop_assert!((*count as f64 - p * samples as f64).abs() <= 1.0 + 1e-15 * 40.0 * samples as f64);
                prop_assert!(*count == 0 || *p > 0.0);
            }
        }
    }

    #[test]
    fn what_cannot_be_reached_is_not() {
        let distribution = OutcomeDistribution::from_probabilities(&[0.5, 0.5]).unwrap();
        assert_eq!(samples_to_reach(&distribution, &distribution, 1.0, |_| Ok(0.5)).unwrap(), None);
        assert_eq!(samples_to_reach(&distribution, &distribution, 0.0, |_| Ok(0.0)).unwrap(), Some(1));
        let needed = samples_to_reach(&distribution, &distribution, 1.0, |counts| {
            Ok(f64::from(u8::from(counts.trials() >= 1000)))
        });
        assert!((1000..1050).contains(&needed.unwrap().unwrap()));
    }

    /// Twenty outputs of ten outcomes with two ratios: no outcome has a whole expected count, but both groups have, and
    /// every draw matches it.
    #[test]
    fn draws_have_the_trials_of_each_group_of_ratios() {
        let distribution = |first: f64| {
            let p: Vec<f64> = (0..10).map(|outcome| if outcome < 5 { first } else { 0.2 - first }).collect();
            OutcomeDistribution::from_probabilities(&p).unwrap()
        };
        let draws = typical_counts([&distribution(0.12), &distribution(0.08)], [20, 20]).unwrap();
        assert_eq!(draws.len() as u64, DRAWS);
        for counts in &draws {
            assert_eq!(counts.counts()[..5].iter().sum::<u64>(), 12);
            assert_eq!([counts.trials(), counts.trials_neighbor()], [20, 20]);
        }
        assert!(draws.iter().any(|counts| counts != &draws[0]));
        // Rounding that moves 0.06 is large compared with a distance of 0.4.
        assert_eq!(typical_counts([&distribution(0.12), &distribution(0.08)], [70, 70]).unwrap().len() as u64, DRAWS);
        // Whole numbers need no draw; if no group has a whole number, all outcomes are drawn together.
        assert_eq!(typical_counts([&distribution(0.12), &distribution(0.08)], [25, 25]).unwrap().len(), 1);
        let together = typical_counts([&distribution(0.12), &distribution(0.08)], [11, 13]).unwrap();
        assert_eq!(together.len() as u64, DRAWS);
        assert!(together.iter().all(|counts| [counts.trials(), counts.trials_neighbor()] == [11, 13]));
    }
}
