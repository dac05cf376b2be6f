//! The bootstrap over victims: how much the metrics of pooled guesses vary from model to model.

use super::attack_scores::AttackScores;
use super::order_statistics::order_statistics;
use crate::bound::{Interval, Validity};
use crate::error::{Error, Result};
use crate::parallel;
use crate::quantity::{FailureProbability, Probability};
use crate::vectorized::{Arch, in_vectors};
use ndarray::ArrayView1;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Fewer resamples show nothing about a quantile; more are not worth their time.
const RESAMPLES: std::ops::RangeInclusive<usize> = 100..=1_000_000;
/// The most guesses: a product of two of their counts, doubled, is a whole number of 64 bits.
const MOST_GUESSES: usize = (1 << 31) - 1;
/// Resamples that are walked through side by side, so that the guesses are read once for all of them.
const LANES: usize = 8;

/// A whole number for each of them.
type Lane = [u32; LANES];

/// Intervals of pooled metrics from resampled victims.
#[derive(Debug, Clone, PartialEq)]
pub struct VictimBootstrap {
    /// TPR at each target FPR, in the order requested.
    pub tpr: Vec<Interval>,
    /// Area under the ROC.
    pub auc: Interval,
    /// Resamples that were used: those with both members and non-members.
    pub resamples: usize,
}

/// Percentile intervals of the pooled metrics when whole victims are resampled.
///
/// The guesses about one victim share its training run, so they are not independent; victims trained separately are.
/// Each resample draws the same number of victims with replacement, keeps all guesses of a victim together, and sets
/// its thresholds again. Resample r draws from ChaCha8 with the seed's key and stream number r, whatever the number of
/// threads.
///
/// # No guarantee
/// The intervals are [`Validity::Heuristic`]: percentiles hold only in the limit of many victims; at a small FPR the
/// threshold depends on a few non-members, and a TPR of 0 or 1 in every victim gives an interval without width.
///
/// # Errors
/// [`Error::Rejected`] with a single victim, with 2^31 guesses or more, or when no resample has both classes;
/// [`Error::Length`] unless there are 100 to 1,000,000 resamples.
///
/// # Example
/// ```
/// # use leakbound::membership::{AttackScores, victim_bootstrap};
/// # use leakbound::prelude::*;
/// # use ndarray::Array2;
/// // Eight victims with a shift of their own: victims differ, samples do not.
/// let members = Array2::from_shape_fn((8, 50), |(v, s)| (v + s) % 2 == 0);
/// let scores = Array2::from_shape_fn((8, 50), |(v, s)| v as f64 + 3.0 * f64::from(members[[v, s]]) + 0.01 * s as f64);
/// let guesses = AttackScores::new(scores, members)?;
/// let bands = victim_bootstrap(&guesses, &[Probability::new(0.1)?], 200, FailureProbability::new(0.05)?, 0)?;
/// assert!(bands.auc.lower < 0.9 && bands.auc.upper > 0.9 && bands.auc.validity == Validity::Heuristic);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapter 13; Davison and Hinkley (1997), "Bootstrap
/// Methods and their Application", section 3.8, for clusters.
pub fn victim_bootstrap(
    guesses: &AttackScores,
    fprs: &[Probability],
    resamples: usize,
    failure: FailureProbability,
    seed: u64,
) -> Result<VictimBootstrap> {
    let operation = "bootstrap over victims";
    let victims = guesses.victims();
    let reason = "one victim does not show how victims differ; record at least 2";
    Error::check_possible(victims >= 2, operation, reason)?;
    Error::check_domain(RESAMPLES.contains(&resamples), "resamples", resamples as f64, "[100, 1000000]")?;
    if guesses.scores().len() > MOST_GUESSES {
        let reason = format!("{} guesses are too many; at most {MOST_GUESSES} are resampled", guesses.scores().len());
        return Err(Error::rejected(operation, reason));
    }
    let ranking = Ranking::new(guesses);
    let side_by_side = |block: usize| {
        let first = block * LANES;
        let mut weights = vec![[0u32; LANES]; victims];
        // What is beyond the last resample has no weight, and no metrics.
        for (lane, index) in (first..resamples.min(first + LANES)).enumerate() {
            let mut stream = ChaCha8Rng::seed_from_u64(seed);
            stream.set_stream(index as u64);
            for _ in 0..victims {
                weights[stream.random_range(0..victims)][lane] += 1;
            }
        }
        metrics(&ranking, &weights, fprs)
    };
    let found = parallel::map(0..resamples.div_ceil(LANES), side_by_side);
    let found: Vec<Vec<f64>> = found.into_iter().flatten().flatten().collect();
    Error::check_possible(!found.is_empty(), operation, "no resample has both members and non-members")?;
    let interval = |place: usize| percentiles(found.iter().map(|values| values[place]).collect(), failure);
    Ok(VictimBootstrap { tpr: (1..=fprs.len()).map(interval).collect(), auc: interval(0), resamples: found.len() })
}

/// A guess in the order of falling scores.
#[derive(Debug, Clone, Copy)]
struct Ranked {
    victim: u32,
    /// All bits for a member, none for a non-member: a branch would be mispredicted half of the time.
    member: u32,
    /// Whether the next guess has a lower score.
    ends_tie: bool,
}

/// The guesses in order, and how many members and non-members each victim has.
struct Ranking {
    guesses: Vec<Ranked>,
    sizes: Vec<[u32; 2]>,
}

impl Ranking {
    fn new(guesses: &AttackScores) -> Self {
        let (scores, members) = (guesses.scores(), guesses.members());
        let mut order: Vec<(f64, u32, bool)> = scores
            .indexed_iter()
            .zip(members.iter())
            .map(|(((victim, _), &score), &member)| (score + 0.0, victim as u32, member))
            .collect();
        // Ties are walked together, so that their order does not matter.
        order.par_sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let ranked = |place: usize| Ranked {
            victim: order[place].1,
            member: u32::from(order[place].2).wrapping_neg(),
            ends_tie: order.get(place + 1).is_none_or(|next| next.0 < order[place].0),
        };
        let size = |members: ArrayView1<'_, bool>| {
            let inside = members.iter().filter(|&&member| member).count();
            [inside as u32, (members.len() - inside) as u32]
        };
        Self { guesses: (0..order.len()).map(ranked).collect(), sizes: members.outer_iter().map(size).collect() }
    }

    /// Members and non-members when each victim has this weight.
    fn totals(&self, weights: &[Lane]) -> [Lane; 2] {
        let mut totals = [[0; LANES]; 2];
        for (size, weight) in self.sizes.iter().zip(weights) {
            for (total, size) in totals.iter_mut().zip(size) {
                for lane in 0..LANES {
                    total[lane] += size * weight[lane];
                }
            }
        }
        totals
    }
}

/// AUC and TPR at each FPR with these weights of the victims, for resamples side by side; none without both classes.
fn metrics(ranking: &Ranking, weights: &[Lane], fprs: &[Probability]) -> [Option<Vec<f64>>; LANES] {
    let totals = ranking.totals(weights);
    // Whole numbers decide in the loop: a quotient for each guess would take most of the time.
    let of_lanes = |target: &Probability| totals[1].map(|others| allowed(u64::from(others), target.get()) as u32);
    let allowed: Vec<Lane> = fprs.iter().map(of_lanes).collect();
    let walked = in_vectors!(Arch::new(), walk(&ranking.guesses, weights, &allowed));
    std::array::from_fn(|lane| {
        let [members, non_members] = totals.map(|total| f64::from(total[lane]));
        let pairs = members * non_members;
        (pairs > 0.0).then(|| {
            let mut values = vec![walked.doubled[lane] as f64 / (2.0 * pairs)];
            values.extend(walked.found.iter().map(|found| f64::from(found[lane]) / members));
            values
        })
    })
}

/// Sums over all guesses, of resamples side by side.
struct Walked {
    /// Twice the pairs of a member above a non-member; ties count half.
    doubled: [u64; LANES],
    /// The most true positives with the allowed number of false ones.
    found: Vec<Lane>,
}

/// Twice the sum of all pairs stays below 2^62: see [`MOST_GUESSES`].
#[inline(always)]
fn walk(guesses: &[Ranked], weights: &[Lane], allowed: &[Lane]) -> Walked {
    let (mut now, mut before) = ([[0u32; LANES]; 2], [[0u32; LANES]; 2]);
    let mut walked = Walked { doubled: [0; LANES], found: vec![[0; LANES]; allowed.len()] };
    // Whether some resample has false positives left at some target.
    let mut open = !allowed.is_empty();
    for guess in guesses {
        let weight = &weights[guess.victim as usize];
        for lane in 0..LANES {
            now[0][lane] += weight[lane] & guess.member;
            now[1][lane] += weight[lane] & !guess.member;
        }
        if !guess.ends_tie {
            continue;
        }
        for lane in 0..LANES {
            let (new, both) = (now[1][lane] - before[1][lane], now[0][lane] + before[0][lane]);
            walked.doubled[lane] += u64::from(new) * u64::from(both);
        }
        if open {
            let mut within = 0;
            for (found, allowed) in walked.found.iter_mut().zip(allowed) {
                for lane in 0..LANES {
                    // All bits set if there are more than allowed; both are below 2^31.
                    let beyond = (allowed[lane].wrapping_sub(now[1][lane]) as i32 >> 31) as u32;
                    found[lane] = now[0][lane] & !beyond | found[lane] & beyond;
                    within |= !beyond;
                }
            }
            open = within != 0;
        }
        before = now;
    }
    walked
}

/// The most false positives among this many non-members whose share, as a double, is at most the target.
fn allowed(non_members: u64, target: f64) -> u64 {
    let near = (target * non_members as f64).floor() as u64;
    let from = near.saturating_sub(1);
    let within = |count: &u64| *count as f64 / non_members as f64 <= target;
    (from..=(near + 1).min(non_members)).rev().find(within).unwrap_or(0)
}

/// The interval between the quantiles at f/2 and 1 - f/2, order statistics rounded outwards.
fn percentiles(values: Vec<f64>, failure: FailureProbability) -> Interval {
    let cut = ((failure.get() / 2.0 * values.len() as f64).floor() as usize).min((values.len() - 1) / 2);
    let last = values.len() - 1;
    let ends = order_statistics(values, &[cut, last - cut]);
    Interval { lower: ends[0], upper: ends[1], failure_probability: failure, validity: Validity::Heuristic }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roc::Roc;
    use ndarray::Array2;
    use rand_distr::{Distribution, StandardNormal};

    fn guesses(victims: usize, samples: usize, between: f64, seed: u64) -> AttackScores {
        let mut stream = ChaCha8Rng::seed_from_u64(seed);
        let mut normal = || -> f64 { StandardNormal.sample(&mut stream) };
        let shifts: Vec<f64> = (0..victims).map(|_| between * normal()).collect();
        let members = Array2::from_shape_fn((victims, samples), |(v, s)| (v + s) % 2 == 0);
        let scores = Array2::from_shape_fn((victims, samples), |(v, s)| {
            // Rounded, for ties.
            let score: f64 = shifts[v] + f64::from(u8::from(members[[v, s]])) + normal();
            (8.0 * score).round() / 8.0
        });
        AttackScores::new(scores, members).unwrap()
    }

    fn fprs() -> Vec<Probability> {
        [0.0, 0.01, 0.1].map(|fpr| Probability::new(fpr).unwrap()).to_vec()
    }

    #[test]
    fn equal_weights_give_the_metrics_of_the_roc() {
        let guesses = guesses(6, 40, 0.5, 3);
        let ranking = Ranking::new(&guesses);
        let values = metrics(&ranking, &[[1; LANES]; 6], &fprs())[0].clone().unwrap();
        let of = |wanted: bool| -> Vec<f64> {
            let pairs = guesses.scores().into_iter().zip(guesses.members());
            pairs.filter(|(_, member)| **member == wanted).map(|(score, _)| *score).collect()
        };
        let roc = Roc::new(&of(true), &of(false)).unwrap();
        assert!((values[0] - roc.auc()).abs() < 1e-14);
        for (value, target) in values[1..].iter().zip(fprs()) {
            assert_eq!(*value, roc.tpr(roc.at_fpr(target)));
        }
        // Twice each victim is the same.
        assert_eq!(metrics(&ranking, &[[2; LANES]; 6], &fprs())[3].clone().unwrap(), values);
    }

    /// Each resample separately, guess by guess, with ties and without them; a lane without weight has no metrics.
    #[test]
    fn resamples_side_by_side_are_those_one_by_one() {
        for scale in [1.0, 0.1234] {
            let coarse = guesses(9, 25, 0.7, 11);
            let wobble = |((victim, sample), &score): ((usize, usize), &f64)| {
                score + (scale - 1.0) * 1e-3 * ((31 * victim + 17 * sample) % 225) as f64
            };
            let scores = Array2::from_shape_vec((9, 25), coarse.scores().indexed_iter().map(wobble).collect()).unwrap();
            let guesses = AttackScores::new(scores, coarse.members().to_owned()).unwrap();
            let ranking = Ranking::new(&guesses);
            let mut stream = ChaCha8Rng::seed_from_u64(2);
            let mut weights: Vec<Lane> = (0..9).map(|_| std::array::from_fn(|_| stream.random_range(0..4))).collect();
            weights.iter_mut().for_each(|weight| weight[5] = 0);
            let found = metrics(&ranking, &weights, &fprs());
            for lane in 0..LANES {
                let (scores, members) = (guesses.scores(), guesses.members());
                let repeated = |wanted: bool| -> Vec<f64> {
                    let of_class = scores.indexed_iter().zip(members).filter(|(_, member)| **member == wanted);
                    let times = |victim: usize| weights[victim][lane] as usize;
                    of_class.flat_map(|(((victim, _), score), _)| std::iter::repeat_n(*score, times(victim))).collect()
                };
                let (members, non_members) = (repeated(true), repeated(false));
                if lane == 5 {
                    assert!(members.is_empty() && found[lane].is_none());
                    continue;
                }
                let roc = Roc::new(&members, &non_members).unwrap();
                let values = found[lane].as_ref().unwrap();
                assert!((values[0] - roc.auc()).abs() < 1e-14);
                for (value, target) in values[1..].iter().zip(fprs()) {
                    assert_eq!(*value, roc.tpr(roc.at_fpr(target)));
                }
            }
        }
    }

    /// 200 data sets of 30 victims whose shifts differ: the pooled AUC is Φ(1/√(2 + 2·0.25)). Intervals at 10% miss it
    /// in 20 on average; more than 38 have a probability below 1e-4. Guesses taken as independent would miss far more
    /// often.
    #[test]
    fn intervals_respect_what_victims_share() {
        let truth = crate::special::ndtr(1.0 / (2.0f64 + 2.0 * 0.25).sqrt());
        let failure = FailureProbability::new(0.1).unwrap();
        let missed = (0..200)
            .filter(|&seed| {
                let bands = victim_bootstrap(&guesses(30, 20, 0.5, seed), &[], 200, failure, seed).unwrap();
                truth < bands.auc.lower || truth > bands.auc.upper
            })
            .count();
        println!("missed in {missed} of 200");
        assert!(missed <= 38, "{missed}");
    }

    #[test]
    fn the_same_on_any_number_of_threads() {
        let (guesses, failure) = (guesses(5, 30, 1.0, 1), FailureProbability::new(0.05).unwrap());
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| victim_bootstrap(&guesses, &fprs(), 300, failure, 7).unwrap())
        };
        assert_eq!(run(1), run(3));
    }

    #[test]
    fn what_cannot_be_resampled_is_rejected() {
        let failure = FailureProbability::new(0.05).unwrap();
        let one = guesses(1, 10, 0.0, 0);
        assert!(victim_bootstrap(&one, &fprs(), 200, failure, 0).unwrap_err().to_string().contains("one victim"));
        let two = guesses(2, 10, 0.0, 0);
        assert!(victim_bootstrap(&two, &fprs(), 99, failure, 0).is_err());
        let members = AttackScores::new(Array2::zeros((3, 2)), Array2::from_elem((3, 2), true)).unwrap();
        assert!(victim_bootstrap(&members, &fprs(), 200, failure, 0).is_err());
        for failure in [1e-300, 0.999] {
            let bands = victim_bootstrap(&two, &fprs(), 100, FailureProbability::new(failure).unwrap(), 0).unwrap();
            assert!(bands.auc.lower <= bands.auc.upper);
        }
    }
}
