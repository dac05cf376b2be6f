//! The joint leakage of the answers to many independent queries, at the price of one linear statistic.

use crate::bound::{Direction, LowerBound, Validity};
use crate::counts::PairedCounts;
use crate::distribution::OutcomeDistribution;
use crate::error::{Error, Result};
use crate::interval::{LevelSplit, LinearFunctional, SimplexBox};
use crate::parallel;
use crate::quantity::{FailureProbability, Order};
use crate::special::{CompensatedSum, ndtri};

/// One query of a product: its counts, and guesses of both distributions made without looking at them.
#[derive(Debug, Clone, Copy)]
pub struct JointQuery<'a> {
    /// Counts of this query.
    pub counts: &'a PairedCounts,
    /// A guess of the distribution under the dataset: an exact distribution, or a pilot's frequencies.
    pub p: &'a OutcomeDistribution,
    /// A guess of the distribution under the neighbor.
    pub q: &'a OutcomeDistribution,
}

/// The ratio of a class is trusted as far as this many expected outputs of it support it.
const BORNE_OUT: f64 = 10.0;

/// Powers of the guessed ratios that are tried: below 1, they trade signal for less noise.
const POWERS: [f64; 8] = [1.0, 0.95, 0.9, 0.8, 0.7, 0.6, 0.45, 0.3];

/// Bounds are rounded down by this share, above the rounding error of a sum of logarithms.
const MARGIN: f64 = 1e-9;

/// A lower bound on the sum over queries of D_α, which is the divergence of all answers together if they are
/// independent under both datasets.
///
/// With any ratios r_c ≥ 0 fixed in advance, the tangent of F = Σ_c P_c^α Q_c^{1-α} at r gives for every query
/// ```text
/// F ≥ 1 + l,   l = Σ_c [α r_c^{α-1} P_c - (α-1) r_c^α Q_c] - 1,   so (α-1) D_α ≥ ln max(1, 1 + l).
/// ```
/// For any weight w fixed in advance, ln max(1, 1+l) = w l + φ(l) with φ concave for l ≥ 0 and not negative for l ≤ 0,
/// so over an interval of l its minimum is at an end or at 0. Then
/// ```text
/// (α-1) Σ_q D_α(q) ≥ Σ_q w_q l_q + Σ_q min φ_q,
/// ```
/// and Σ w_q l_q is one mean of independent bounded variables: one confidence limit for any number of queries. The
/// intervals of the l_q come from the Clopper-Pearson limits that this limit needs anyway. Weights are 1/(1 + l) at the
/// guessed distributions, the slope of the logarithm there; ratios are the guessed ones to a common power that is best
/// for the numbers of samples. Wrong guesses loosen the bound and never invalidate it.
///
/// For Q queries of equal χ² it needs about 5.6 Q times fewer samples than bounds of the single queries, each at
/// failure probability 1/Q.
///
/// # Errors
/// [`Error::Length`] without a query, or if a guess has a different number of outcomes than its counts.
///
/// # Example
/// ```
/// # use leakbound::audit::{JointQuery, expected_counts, joint_bound};
/// # use leakbound::divergence::renyi_divergence;
/// # use leakbound::prelude::*;
/// let (p, q) = (OutcomeDistribution::from_probabilities(&[0.51, 0.49])?, OutcomeDistribution::from_probabilities(&[0.5, 0.5])?);
/// let counts = expected_counts(&p, &q, 100_000)?;
/// let queries = vec![JointQuery { counts: &counts, p: &p, q: &q }; 100];
/// let (order, failure) = (Order::new(2.0)?, FailureProbability::new(0.05)?);
/// let bound = joint_bound(&queries, order, Direction::Forward, failure)?;
/// let exact = 100.0 * renyi_divergence(&p, &q, order)?; // 0.04
/// assert!(bound.value > 0.9 * exact && bound.value < exact);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn joint_bound(
    queries: &[JointQuery],
    order: Order,
    direction: Direction,
    failure: FailureProbability,
) -> Result<LowerBound> {
    Error::check_length(!queries.is_empty(), "queries", 0, "at least 1 query")?;
    for query in queries {
        for distribution in [query.p, query.q] {
            Error::check_size(
                "guessed distribution",
                distribution.outcomes(),
                query.counts.outcomes(),
                " outcomes, as the counts",
            )?;
        }
    }
    let a = order.get();
    let worlds: Vec<Worlds> = queries.iter().map(|query| Worlds::new(query, direction)).collect();
    let power = best_power(&worlds, a, failure);
    let tails = worlds.iter().map(|query| 2 * SimplexBox::tails(query.counts[0].len())).sum();
    let split = LevelSplit::new(failure, tails);
    let terms = parallel::try_map(&worlds, |query| query.term(power, a, &split))?;
    let mut sum = LinearFunctional::default();
    let mut least = CompensatedSum::default();
    for term in &terms {
        for world in 0..2 {
            sum.add(term.counts[world], &term.values[world], &term.limits[world]);
        }
        least.add(term.least);
    }
    // The estimate contains w (1 + l), so the constants are subtracted.
    let constants = terms.iter().map(|term| term.weight).collect::<CompensatedSum>().value();
    let size = constants.abs() + least.value().abs();
    let total = sum.lower_limit(split.main) - constants + least.value() - 8.0 * f64::EPSILON * size;
    let value = if total > 0.0 { total / (a - 1.0) * (1.0 - MARGIN) } else { 0.0 };
    Ok(LowerBound::new(value, failure, "joint-linear", Validity::FiniteSample))
}

/// A query as seen by the divergence: the first distribution comes first.
struct Worlds<'a> {
    counts: [&'a [u64]; 2],
    trials: [f64; 2],
    distributions: [&'a [f64]; 2],
}

/// The contribution of a query to the statistic.
struct Term<'a> {
    weight: f64,
    counts: [&'a [u64]; 2],
    values: [Vec<f64>; 2],
    limits: [SimplexBox; 2],
    /// The minimum of φ.
    least: f64,
}

impl<'a> Worlds<'a> {
    fn new(query: &JointQuery<'a>, direction: Direction) -> Self {
        let counts = query.counts;
        Self {
            counts: direction.ordered([counts.counts(), counts.counts_neighbor()]),
            trials: direction.ordered([counts.trials() as f64, counts.trials_neighbor() as f64]),
            distributions: direction.ordered([query.p.p(), query.q.p()]),
        }
    }

    /// The tangent's values in both worlds, α r^{α-1} and -(α-1) r^α.
    fn tangent(&self, power: f64, a: f64) -> [Vec<f64>; 2] {
        let least = BORNE_OUT / self.trials[0].min(self.trials[1]);
        let ratios = self.distributions[0]
            .iter()
            .zip(self.distributions[1])
            .map(|(&p, &q)| (p.max(least) / q.max(least)).powf(power));
        // A ratio whose power overflows would make the bound useless, though not wrong.
        let most = 1e100_f64.powf(1.0 / a);
        let (front, back) = ratios
            .map(|ratio| ratio.clamp(most.recip(), most))
            .map(|ratio| (a * ratio.powf(a - 1.0), (1.0 - a) * ratio.powf(a)))
            .unzip();
        [front, back]
    }

    /// l, the weight and the variance of the estimated w l under the guessed distributions.
    fn expected(&self, values: &[Vec<f64>; 2]) -> (f64, f64, f64) {
        let mean = |world: usize, map: &dyn Fn(f64) -> f64| {
            let terms = self.distributions[world].iter().zip(&values[world]).map(|(&p, &value)| p * map(value));
            terms.collect::<CompensatedSum>().value()
        };
        let means = [0, 1].map(|world| mean(world, &|value| value));
        let variance: f64 =
            (0..2).map(|world| mean(world, &|value| (value - means[world]).powi(2)) / self.trials[world]).sum();
        let l = means[0] + means[1] - 1.0;
        let weight = 1.0 / (1.0 + l.max(0.0));
        (l, weight, weight * weight * variance)
    }

    fn term(&self, power: f64, a: f64, split: &LevelSplit) -> Result<Term<'a>> {
        let mut values = self.tangent(power, a);
        let (_, weight, _) = self.expected(&values);
        let limits = [0, 1].map(|world| SimplexBox::clopper_pearson(self.counts[world], split.tail));
        let [front, back] = limits;
        let limits = [front?, back?];
        let low = limits[0].minimum(&values[0]) + limits[1].minimum(&values[1]) - 1.0;
        let high = limits[0].maximum(&values[0]) + limits[1].maximum(&values[1]) - 1.0;
        // ln_1p of a possibly far larger number: both parts of φ are rounded down.
        let phi = |l: f64| {
            let l = l.max(0.0);
            let log = libm::log1p(l);
            log - weight * l - 4.0 * f64::EPSILON * (log + weight * l)
        };
        let least = phi(low).min(phi(high)).min(if low < 0.0 { 0.0 } else { f64::INFINITY });
        values.iter_mut().flatten().for_each(|value| *value *= weight);
        Ok(Term { weight, counts: self.counts, values, limits, least })
    }
}

/// The power of the ratios with the largest expected bound, by the normal approximation.
fn best_power(worlds: &[Worlds], a: f64, failure: FailureProbability) -> f64 {
    let quantile = -ndtri(0.9 * failure.get());
    let expected = |power: f64| {
        let parts = worlds.iter().map(|query| query.expected(&query.tangent(power, a)));
        let (sum, variance) =
            parts.fold((0.0, 0.0), |(sum, variance), (l, _, part)| (sum + libm::log1p(l.max(0.0)), variance + part));
        sum - quantile * variance.sqrt()
    };
    POWERS
        .into_iter()
        .map(|power| (power, expected(power)))
        .fold((1.0, f64::NEG_INFINITY), |best, next| if next.1 > best.1 { next } else { best })
        .0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::expected_counts;
    use crate::audit::tests::{failure, order};
    use crate::divergence::renyi_divergence;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Binomial, Distribution};

    const FAILURE: f64 = 0.05;

    /// Pairs of distributions on five classes whose χ² spreads over three orders of magnitude.
    fn pairs(queries: usize, scale: f64) -> Vec<[OutcomeDistribution; 2]> {
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        let mut distribution = |change: f64, weights: &[f64; 5]| {
            let changed: Vec<f64> = weights.iter().map(|w| w * (change * (rng.random::<f64>() - 0.5)).exp()).collect();
            let total: f64 = changed.iter().sum();
            OutcomeDistribution::from_probabilities(&changed.iter().map(|w| w / total).collect::<Vec<_>>()).unwrap()
        };
        (0..queries)
            .map(|query| {
                let weights = [0.5, 0.3, 0.1, 0.07, 0.03];
                let change = scale * 10f64.powf(-1.5 * query as f64 / queries as f64);
                [distribution(0.0, &weights), distribution(change, &weights)]
            })
            .collect()
    }

    fn total(pairs: &[[OutcomeDistribution; 2]], a: f64) -> f64 {
        pairs.iter().map(|[p, q]| renyi_divergence(p, q, order(a)).unwrap()).sum()
    }

    fn bound(pairs: &[[OutcomeDistribution; 2]], counts: &[PairedCounts], a: f64) -> f64 {
        let queries: Vec<JointQuery> =
            pairs.iter().zip(counts).map(|([p, q], counts)| JointQuery { counts, p, q }).collect();
        joint_bound(&queries, order(a), Direction::Forward, failure(FAILURE)).unwrap().value
    }

    #[test]
    fn bounds_rise_to_the_sum_of_divergences() {
        let pairs = pairs(50, 0.5);
        for a in [1.5, 2.0, 10.0, 64.0] {
            let exact = total(&pairs, a);
            let mut last = 0.0;
            for samples in [1_000, 100_000, 10_000_000, 1_000_000_000_000] {
                let counts: Vec<PairedCounts> =
                    pairs.iter().map(|[p, q]| expected_counts(p, q, samples).unwrap()).collect();
                let bound = bound(&pairs, &counts, a);
                println!("order {a}, {samples} samples: {:.4} of {exact:.4}", bound / exact);
                assert!(bound >= last && bound <= exact);
                last = bound;
            }
            assert!(last > 0.999 * exact);
        }
    }

    /// 400 audits each of equal and of different distributions: more than 40 failures have probability below 2e-5 each.
    #[test]
    fn coverage_holds() {
        let different = pairs(60, 0.2);
        let equal: Vec<[OutcomeDistribution; 2]> = different.iter().map(|[p, _]| [p.clone(), p.clone()]).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let samples = 10_000;
        for (guesses, truth) in [(&different, &different), (&different, &equal)] {
            let exact = total(truth, 2.0);
            let (mut failures, mut mean) = (0, 0.0);
            for _ in 0..400 {
                let mut draw = |distribution: &OutcomeDistribution| {
                    let (mut left, mut mass) = (samples, 1.0f64);
                    distribution
                        .p()
                        .iter()
                        .map(|p| {
                            let drawn = Binomial::new(left, (p / mass).clamp(0.0, 1.0)).unwrap().sample(&mut rng);
                            left -= drawn;
                            mass -= p;
                            drawn
                        })
                        .collect::<Vec<u64>>()
                };
                let counts: Vec<PairedCounts> = truth
                    .iter()
                    .map(|[p, q]| {
                        let (mut first, mut second) = (draw(p), draw(q));
                        // The remainder from rounding goes to the last share.
                        first[4] += samples - first.iter().sum::<u64>();
                        second[4] += samples - second.iter().sum::<u64>();
                        PairedCounts::new(vec![String::new(); 5], first, second).unwrap()
                    })
                    .collect();
                let bound = bound(guesses, &counts, 2.0);
                failures += u32::from(bound > exact);
                mean += bound / 400.0;
            }
            println!("{failures} of 400 fail; mean bound {mean:.5} of {exact:.5}");
            assert!(failures <= 40);
        }
    }

    /// A hundred equal queries need 5.6 · 100 times fewer samples together than each separately.
    #[test]
    fn a_hundred_queries_pay_one_quantile() {
        let p = OutcomeDistribution::from_probabilities(&[0.51, 0.49]).unwrap();
        let q = OutcomeDistribution::from_probabilities(&[0.5, 0.5]).unwrap();
        let exact = 100.0 * renyi_divergence(&p, &q, order(2.0)).unwrap();
        let samples = crate::audit::samples_to_reach(&p, &q, 0.5 * exact, |counts| {
            Ok(bound(&vec![[p.clone(), q.clone()]; 100], &vec![counts.clone(); 100], 2.0))
        });
        // 23.3 z²/χ² over 100, with z = 1.695 and χ² = 4e-4.
        let expected = 23.3 * 1.695f64.powi(2) / 4e-4 / 100.0;
        let samples = samples.unwrap().unwrap() as f64;
        println!("{samples} samples a query, {expected} by the distribution of small χ²");
        assert!((samples / expected - 1.0).abs() < 0.25);
    }

    proptest! {
        #[test]
        fn any_counts_give_a_number(
            worlds in prop::collection::vec((0u64..3, 0u64..1_000_000_000_000, 0u64..3, 0u64..2), 1..5),
            guess in prop::collection::vec(0.0f64..1.0, 8),
            a in prop_oneof![1.0001f64..1.1, 2.0f64..100.0, Just(1e6)],
            f in prop_oneof![Just(1e-300), Just(0.999), 1e-6f64..0.5],
        ) {
            let labels = vec![String::new(); 3];
            let counts: Vec<PairedCounts> = worlds
                .iter()
                .filter_map(|&(x, y, z, w)| PairedCounts::new(labels.clone(), vec![x, y, z], vec![y, w, z]).ok())
                .collect();
            prop_assume!(!counts.is_empty());
            let distribution = |weights: &[f64]| {
                let total: f64 = weights.iter().sum();
                OutcomeDistribution::from_probabilities(&weights.iter().map(|w| w / total).collect::<Vec<_>>())
            };
            let (Ok(p), Ok(q)) = (distribution(&guess[..3]), distribution(&[guess[3], 0.0, guess[4]])) else { return Ok(()) };
            let queries: Vec<JointQuery> = counts.iter().map(|counts| JointQuery { counts, p: &p, q: &q }).collect();
            for direction in Direction::BOTH {
                let bound = joint_bound(&queries, order(a), direction, FailureProbability::new(f).unwrap()).unwrap();
                prop_assert!(bound.value >= 0.0 && !bound.value.is_nan(), "{}", bound.value);
            }
        }
    }
}
