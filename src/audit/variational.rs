//! A k-cut bound from one tangent of the Rényi sum: its width does not grow with the number of classes.

use super::clips::clips;
use super::method::{Bounds, Draws, Guarantee, MethodRow, Needs, sure};
use super::reference_distributions::ReferenceDistributions;
use super::tangent::Tangent;
use crate::bound::{Direction, LowerBound, Validity};
use crate::counts::PairedCounts;
use crate::error::{Error, Result};
use crate::interval::{LevelSplit, LinearFunctional, Moments, SimplexBox};
use crate::quantity::{FailureProbability, Order};
use crate::solve::maximize;

pub(super) const K_CUT_VARIATIONAL: MethodRow = MethodRow {
    name: "k-cut-variational",
    when: "You have a pilot or an exact distribution, and one order matters; also far from P = Q.",
    guarantee: Guarantee::OwnEvent,
    needs: Needs::Distributions,
    draws: Draws::Nothing,
    bounds: Bounds::Renyi(|task| {
        let cut = Variational::new(task.counts, task.reference()?, task.failure, task.goals)?;
        Ok(sure(move |order, direction| cut.bound(order, direction)))
    }),
};
/// A bound is rounded down by this share, for the rounding errors of one logarithm and one quotient.
const MARGIN: f64 = 1e-12;
/// Number of evaluations of the predicted bound for each family of tangents.
const EVALUATIONS: u64 = 12;

/// Counts prepared for k-cut-variational bounds of several orders and directions.
///
/// For fixed ratios r ≥ 0, F(P, Q) = Σ P^α Q^{1-α} ≥ Σ [α r^{α-1} P - (α-1) r^α Q], with equality for r = P/Q. The
/// right side is one linear functional of both distributions and is bounded as one mean, for any number C of outcomes.
/// Near P = Q the certified share of the divergence is about (1 - η)², η = z √(2/(n χ²)), for every order.
///
/// r is the guess of [`ReferenceDistributions`], shrunk toward 1 by the factor that is expected to give the largest
/// bound at these sample sizes; nothing else about the counts is used to choose it.
///
/// # References
/// This library: the tangent of a convex function, proved in `audit/tangent.rs`, and the deviation of one mean as in
/// Bennett (1962), "Probability inequalities for the sum of independent random variables", and Tyurin (2009), "New
/// estimates of the convergence rate in the Lyapunov theorem".
#[derive(Debug, Clone)]
pub struct Variational {
    counts: [Vec<u64>; 2],
    boxes: [SimplexBox; 2],
    reference: ReferenceDistributions,
    failure: FailureProbability,
    main: FailureProbability,
}

impl Variational {
    /// Prepares `bounds` bounds, which hold simultaneously except with probability `failure`: a tenth of it limits the
    /// class probabilities, once, and the bounds share the rest equally.
    ///
    /// # Errors
    /// [`Error::Length`] if the reference has other outcomes than the counts; as
    /// [`clopper_pearson_lower`](crate::interval::clopper_pearson_lower).
    pub fn new(
        counts: &PairedCounts,
        reference: &ReferenceDistributions,
        failure: FailureProbability,
        bounds: usize,
    ) -> Result<Self> {
        let counts = reference.grouped(counts)?;
        let LevelSplit { tail, main } = LevelSplit::new(failure, 2 * SimplexBox::tails(reference.groups()));
        let boxes = [SimplexBox::clopper_pearson(&counts[0], tail)?, SimplexBox::clopper_pearson(&counts[1], tail)?];
        Ok(Self { counts, boxes, reference: reference.clone(), failure, main: main.split(bounds) })
    }

    /// Lower bound of D_α in one direction.
    ///
    /// ln(1 + max(0, L))/(α-1) for the lower limit L of Σ P gain - Σ Q cost at the chosen tangent. The logarithm is
    /// rounded down by a relative 1e-12, L by the margins of its sums.
    #[must_use]
    pub fn bound(&self, order: Order, direction: Direction) -> LowerBound {
        let excess = self.tangent(order, direction).map_or(0.0, |tangent| self.excess(&tangent, direction));
        self.lower_bound(excess, order)
    }

    /// The same at given ratios: `log_ratio[g]` is ln r of group g of the reference, in increasing order of its ratios.
    /// They must not have been chosen by looking at the counts.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is one ratio per group, [`Error::Domain`] for NaN.
    pub fn bound_at(&self, log_ratio: &[f64], order: Order, direction: Direction) -> Result<LowerBound> {
        Error::check_size("logarithmic ratios", log_ratio.len(), self.reference.groups(), ", one for each group")?;
        Error::check_domain_of_all(log_ratio, |ratio| !ratio.is_nan(), "logarithmic ratio", "[-inf, inf]")?;
        let tangent = Tangent::new(log_ratio.iter().copied(), order);
        Ok(self.lower_bound(self.excess(&tangent, direction), order))
    }

    /// The lower limit of Σ P gain - Σ Q cost.
    fn excess(&self, tangent: &Tangent, direction: Direction) -> f64 {
        let [top, base] = direction.ordered([0, 1]);
        let mut functional = LinearFunctional::default();
        let cost: Vec<f64> = tangent.cost.iter().map(|cost| -cost).collect();
        functional.add(&self.counts[top], &tangent.gain, &self.boxes[top]);
        functional.add(&self.counts[base], &cost, &self.boxes[base]);
        functional.lower_limit(self.main)
    }

    fn lower_bound(&self, excess: f64, order: Order) -> LowerBound {
        let value = if excess > 0.0 { libm::log1p(excess) / (order.get() - 1.0) * (1.0 - MARGIN) } else { 0.0 };
        LowerBound::new(value, self.failure, K_CUT_VARIATIONAL.name, Validity::FiniteSample)
    }

    /// The tangent with the largest predicted bound, a function only of reference, sample sizes, order and level.
    fn tangent(&self, order: Order, direction: Direction) -> Option<Tangent> {
        let a = order.get();
        let [p, q] = self.reference.distributions();
        let sizes = [0, 1].map(|world: usize| self.counts[world].iter().sum::<u64>());
        let (sign, top, base, sizes) = match direction {
            Direction::Forward => (1.0, p, q, sizes),
            Direction::Reverse => (-1.0, q, p, [sizes[1], sizes[0]]),
        };
        let log_ratio: Vec<f64> = self.reference.log_ratio().iter().map(|ratio| sign * ratio).collect();
        let predicted = |tangent: &Tangent| {
            let cost: Vec<f64> = tangent.cost.iter().map(|cost| -cost).collect();
            let (mean, gain) = Moments::under(top, &tangent.gain);
            let (mean_cost, cost) = Moments::under(base, &cost);
            let moments = gain.of_mean(sizes[0]).and(cost.of_mean(sizes[1]));
            // As a divergence, whose size varies less; below 0 it still shows which tangent is closer to a bound.
            libm::log1p((mean + mean_cost - moments.width(self.main)).max(-0.999_999))
        };
        let mut best: Option<(f64, Tangent)> = None;
        for clipped in clips(&log_ratio, top, base, sizes[0].min(sizes[1])) {
            // Two paths from r = 1 to the guess: along ln r, and along r^{α-1}, whose gain is linear in the shift.
            let along_logarithm = |s: f64| Tangent::new(clipped.iter().map(|ratio| s * ratio), order);
            let along_power = |s: f64| {
                let shifted = |ratio: &f64| libm::log1p(s * libm::expm1((a - 1.0) * ratio)) / (a - 1.0);
                Tangent::new(clipped.iter().map(shifted), order)
            };
            let families: [&dyn Fn(f64) -> Tangent; 2] = [&along_logarithm, &along_power];
            for family in families {
                if let Some((s, value)) = maximize([0.0, 1.0], 1e-3, EVALUATIONS, |s| predicted(&family(s)))
                    && best.as_ref().is_none_or(|(most, _)| value > *most)
                {
                    best = Some((value, family(s)));
                }
            }
        }
        best.map(|(_, tangent)| tangent)
    }
}

/// One k-cut-variational bound: [`Variational`] for a single order and direction.
///
/// # Errors
/// As [`Variational::new`].
///
/// # Example
/// ```
/// # use leakbound::audit::{ReferenceDistributions, variational_bound};
/// # use leakbound::prelude::*;
/// let (p, q) = ([0.5, 0.3, 0.2], [0.4, 0.3, 0.3]);
/// let reference = ReferenceDistributions::from_distributions(
///     &OutcomeDistribution::from_probabilities(&p)?,
///     &OutcomeDistribution::from_probabilities(&q)?,
/// )?;
/// let counts = |distribution: [f64; 3]| distribution.map(|p| (p * 1e6) as u64).to_vec();
/// let counts = PairedCounts::new(["a", "b", "c"].map(String::from).to_vec(), counts(p), counts(q))?;
/// let (order, failure) = (Order::new(2.0)?, FailureProbability::new(0.05)?);
/// let bound = variational_bound(&counts, &reference, order, Direction::Forward, failure)?;
/// let exact = (0.25f64 / 0.4 + 0.09 / 0.3 + 0.04 / 0.3).ln();
/// assert!(bound.value < exact && bound.value > 0.97 * exact);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn variational_bound(
    counts: &PairedCounts,
    reference: &ReferenceDistributions,
    order: Order,
    direction: Direction,
    failure: FailureProbability,
) -> Result<LowerBound> {
    Ok(Variational::new(counts, reference, failure, 1)?.bound(order, direction))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::audit::tests::{counts, failure, order};
    use crate::distribution::{Noise, OutcomeDistribution, noisy_argmax_distribution};
    use crate::divergence::renyi_divergence;
    use crate::histogram::VoteHistogram;
    use crate::quantity::NoiseScale;
    use rand::SeedableRng;
    use rand_distr::{Binomial, Distribution};

    /// Votes, votes of the neighbor, scale of the Gaussian noise.
    pub(crate) type Case = (&'static [u64], &'static [u64], f64);
    pub(crate) const FIG_6: Case = (&[14, 12, 10, 8, 6], &[13, 13, 10, 8, 6], 2.0);
    pub(crate) const TIE: Case = (&[125, 125], &[124, 126], 40.0);
    pub(crate) const FIVE: Case = (&[90, 88, 40, 20, 12], &[89, 89, 40, 20, 12], 40.0);

    pub(crate) fn distributions((votes, neighbor, scale): Case) -> [OutcomeDistribution; 2] {
        let noise = Noise::Gaussian(NoiseScale::new(scale).unwrap());
        [votes, neighbor]
            .map(|votes| noisy_argmax_distribution(&VoteHistogram::new(votes.to_vec()).unwrap(), noise).unwrap())
    }

    /// The tables name only the three largest counts of this case; the others hardly affect its χ² of 6.9e-4.
    pub(crate) const TEN: Case = (&[70, 66, 40, 30, 20, 10, 6, 4, 3, 1], &[69, 67, 40, 30, 20, 10, 6, 4, 3, 1], 40.0);

    /// The exact distributions as reference, and counts at exactly their frequencies.
    pub(crate) fn reference_and_counts(case: Case, n: f64) -> (ReferenceDistributions, PairedCounts) {
        let [p, q] = distributions(case);
        let exact =
            |distribution: &OutcomeDistribution| distribution.p().iter().map(|p| (p * n).round() as u64).collect();
        (ReferenceDistributions::from_distributions(&p, &q).unwrap(), counts(exact(&p), exact(&q)))
    }

    /// The share of the divergence certified at exactly the frequencies of the distributions.
    pub(crate) fn share(
        case: Case,
        n: f64,
        order: Order,
        bound: impl Fn(&PairedCounts, &ReferenceDistributions) -> f64,
    ) -> f64 {
        let [p, q] = distributions(case);
        let (reference, counts) = reference_and_counts(case, n);
        bound(&counts, &reference) / renyi_divergence(&p, &q, order).unwrap()
    }

    /// Methods 1.4, at the frequencies of the distributions; the tabulated values use the normal quantile at 5%, this
    /// one spends a tenth of it on the moments.
    #[test]
    fn typical_shares_are_as_tabulated() {
        for (case, n, expected) in [
            (FIG_6, 1e5, [0.975, 0.983]),
            (FIG_6, 1e8, [0.999, 0.998]),
            (TIE, 1e5, [0.531, 0.534]),
            (TIE, 1e6, [0.837, 0.838]),
            (FIVE, 1e5, [0.522, 0.525]),
            (FIVE, 1e8, [0.983, 0.983]),
            (TEN, 1e5, [0.500, 0.501]),
            (TEN, 1e6, [0.826, 0.826]),
            (TEN, 1e8, [0.982, 0.982]),
        ] {
            for (a, expected) in [2.0, 10.0].into_iter().zip(expected) {
                let found = share(case, n, order(a), |counts, reference| {
                    variational_bound(counts, reference, order(a), Direction::Forward, failure(0.05)).unwrap().value
                });
                println!("{:?}, n = {n:e}, order {a}: {found:.4}, tabulated {expected}", case.0);
                assert!((found - expected).abs() < 0.02, "{:?} {n} {a}: {found}", case.0);
            }
        }
    }

    /// Methods 5: at order 2, ten classes are half certified with 1.0e5 samples a side, and nine tenths with 3.2e6.
    #[test]
    fn half_of_ten_classes_needs_a_hundred_thousand_samples() {
        let certified = |n: f64| {
            share(TEN, n, order(2.0), |counts, reference| {
                variational_bound(counts, reference, order(2.0), Direction::Forward, failure(0.05)).unwrap().value
            })
        };
        for (goal, expected) in [(0.5, 1.0e5), (0.9, 3.2e6)] {
            let (mut low, mut high) = (1e3f64, 1e9f64);
            while high / low > 1.001 {
                let middle = (low * high).sqrt();
                if certified(middle) < goal { low = middle } else { high = middle }
            }
            println!("{goal} of the divergence is certified with n = {high:.4e}");
            assert!((high / expected - 1.0).abs() < 0.15, "{goal}: {high:e}");
        }
    }

    #[test]
    fn bounds_grow_with_the_sample_and_approach_the_divergence() {
        for case in [FIG_6, FIVE] {
            for a in [1.5, 2.0, 8.0] {
                let bound = |counts: &PairedCounts, reference: &ReferenceDistributions| {
                    variational_bound(counts, reference, order(a), Direction::Forward, failure(0.05)).unwrap().value
                };
                let shares = [1e3, 1e4, 1e5, 1e6, 1e8, 1e10, 1e12, 1e14].map(|n| share(case, n, order(a), bound));
                assert!(shares.is_sorted(), "{shares:?}");
                assert!(shares[7] > 0.9999 && shares[7] < 1.0, "{shares:?}");
            }
        }
    }

    /// A wrong reference loses power, possibly all of it, and stays valid.
    #[test]
    fn a_reversed_guess_certifies_nothing() {
        let [p, q] = distributions(FIG_6);
        let (_, counts) = reference_and_counts(FIG_6, 1e6);
        let reversed = ReferenceDistributions::from_distributions(&q, &p).unwrap();
        for direction in Direction::BOTH {
            let bound = variational_bound(&counts, &reversed, order(2.0), direction, failure(0.05)).unwrap();
            assert_eq!(bound.value, 0.0);
        }
    }

    /// Multinomial counts by conditional binomials.
    fn draw(distribution: &OutcomeDistribution, n: u64, stream: &mut rand_chacha::ChaCha8Rng) -> Vec<u64> {
        let (mut left, mut mass) = (n, 1.0);
        distribution
            .p()
            .iter()
            .map(|p| {
                let count = Binomial::new(left, (p / mass).clamp(0.0, 1.0)).unwrap().sample(stream);
                left -= count;
                mass -= p;
                count
            })
            .collect()
    }

    /// 1,000 audits of each case with f = 0.2: at most 200 + 4.5 standard deviations failures, which a bound that fails
    /// with probability 0.2 exceeds with probability 4e-6 a case.
    #[test]
    fn failures_are_no_more_frequent_than_stated() {
        let f = failure(0.2);
        let null: Case = (&[14, 12, 10], &[14, 12, 10], 2.0);
        for (case, n, a) in [(FIG_6, 1_000, 2.0), (FIG_6, 300, 8.0), (FIVE, 100_000, 2.0), (null, 1_000, 2.0)] {
            let [p, q] = distributions(case);
            let exact = renyi_divergence(&p, &q, order(a)).unwrap();
            // Under equal distributions, the reference of Figure 6 is as good as any.
            let [p0, q0] =
                if exact == 0.0 { distributions((&[14, 12, 10], &[13, 13, 10], 2.0)) } else { distributions(case) };
            let reference = ReferenceDistributions::from_distributions(&p0, &q0).unwrap();
            let mut stream = rand_chacha::ChaCha8Rng::seed_from_u64(7);
            let mut failed = [0; 2];
            for _ in 0..1000 {
                let counts = counts(draw(&p, n, &mut stream), draw(&q, n, &mut stream));
                let bound = variational_bound(&counts, &reference, order(a), Direction::Forward, f).unwrap().value;
                failed[0] += u32::from(bound > exact);
                let region = crate::audit::Region::new(&counts, &reference, f).unwrap();
                let bound = region.bound(order(a), Direction::Forward).value;
                failed[1] += u32::from(bound > exact);
            }
            println!("{:?}, n = {n}, order {a}: variational and region failed {failed:?} times in 1000", case.0);
            assert!(failed.iter().all(|&failed| failed < 257));
        }
    }
}
