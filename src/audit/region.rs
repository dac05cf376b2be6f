//! A k-cut bound for every order and both directions from one event: a box and one half-space of distributions.

use super::method::{Bounds, Draws, Guarantee, MethodRow, Needs, sure};
use super::reference_distributions::ReferenceDistributions;
use super::tangent::Tangent;
use crate::bound::{Direction, LowerBound, Validity};
use crate::counts::PairedCounts;
use crate::error::Result;
use crate::interval::{LevelSplit, LinearFunctional, Moments, SimplexBox};
use crate::quantity::{FailureProbability, Order};
use crate::solve::maximize;

pub(super) const K_CUT_REGION: MethodRow = MethodRow {
    name: "k-cut-region",
    when: "The default with a pilot or an exact distribution: one event covers all orders and both directions.",
    guarantee: Guarantee::OwnEvent,
    needs: Needs::Distributions,
    draws: Draws::Nothing,
    bounds: Bounds::Renyi(|task| {
        let region = Region::new(task.counts, task.reference()?, task.failure)?;
        Ok(sure(move |order, direction| region.bound(order, direction)))
    }),
};
/// A bound is rounded down by this share, for the rounding errors of one logarithm and one quotient.
const MARGIN: f64 = 1e-12;
/// Evaluations of the dual along the exponential tilts.
const TILTS: u64 = 10;
/// Newton steps of the dual in which the numerator is free.
const STEPS: usize = 7;

/// The distributions (P, Q) within limits of every class and with Σ s_c (P_c - Q_c) ≥ Δ for one score s fixed
/// beforehand, the logarithmic ratio of a [`ReferenceDistributions`]. The true pair is one of them except with the
/// failure probability.
///
/// A tenth of the failure probability limits the classes; the rest is for the deviation of the one functional. Every
/// bound is the smallest divergence over the region or slightly less, so all orders and both directions hold
/// simultaneously. Near P = Q the gradients of all Rényi sums are multiples of s, and nothing is lost compared with a
/// bound for one order; if the distributions are far apart and the order is large, k-cut-variational is sharper.
///
/// ```
/// # use leakbound::audit::{ReferenceDistributions, Region};
/// # use leakbound::prelude::*;
/// let (p, q) = ([0.5, 0.3, 0.2], [0.4, 0.3, 0.3]);
/// let reference = ReferenceDistributions::from_distributions(
///     &OutcomeDistribution::from_probabilities(&p)?,
///     &OutcomeDistribution::from_probabilities(&q)?,
/// )?;
/// let counts = |distribution: [f64; 3]| distribution.map(|p| (p * 1e6) as u64).to_vec();
/// let counts = PairedCounts::new(["a", "b", "c"].map(String::from).to_vec(), counts(p), counts(q))?;
/// let region = Region::new(&counts, &reference, FailureProbability::new(0.05)?)?;
/// let bound = region.bound(Order::new(2.0)?, Direction::Forward);
/// let exact = (0.25f64 / 0.4 + 0.09 / 0.3 + 0.04 / 0.3).ln();
/// assert!(bound.value < exact && bound.value > 0.97 * exact);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// This library: weak duality for the tangents of `audit/tangent.rs`, and the deviation of one mean as in Bennett
/// (1962), "Probability inequalities for the sum of independent random variables", and Tyurin (2009), "New estimates of
/// the convergence rate in the Lyapunov theorem".
#[derive(Debug, Clone)]
pub struct Region {
    score: Vec<f64>,
    /// Frequencies with half a count added: where the search starts.
    distributions: [Vec<f64>; 2],
    boxes: [SimplexBox; 2],
    difference: f64,
    failure: FailureProbability,
}

impl Region {
    /// The region of these counts, for the score of the reference.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) if the reference has other outcomes than the counts; as
    /// [`clopper_pearson_lower`](crate::interval::clopper_pearson_lower).
    pub fn new(counts: &PairedCounts, reference: &ReferenceDistributions, failure: FailureProbability) -> Result<Self> {
        let sizes = [counts.trials(), counts.trials_neighbor()];
        let counts = reference.grouped(counts)?;
        let LevelSplit { tail, main } = LevelSplit::new(failure, 2 * SimplexBox::tails(reference.groups()));
        let boxes = [SimplexBox::clopper_pearson(&counts[0], tail)?, SimplexBox::clopper_pearson(&counts[1], tail)?];
        let score = score(reference, sizes, main);
        let mut difference = LinearFunctional::default();
        let negative: Vec<f64> = score.iter().map(|score| -score).collect();
        difference.add(&counts[0], &score, &boxes[0]);
        difference.add(&counts[1], &negative, &boxes[1]);
        let distributions = counts.map(|world| {
            let total = world.iter().sum::<u64>() as f64 + 0.5 * world.len() as f64;
            world.iter().map(|&count| (count as f64 + 0.5) / total).collect()
        });
        Ok(Self { score, distributions, boxes, difference: difference.lower_limit(main), failure })
    }

    /// The lower limit Δ of Σ s_c (P_c - Q_c).
    #[must_use]
    pub const fn difference(&self) -> f64 {
        self.difference
    }

    /// Lower bound of D_α in one direction.
    ///
    /// For every ratio r ≥ 0 with its tangent (gain, cost) and every κ ≥ 0, all pairs of the region have
    /// F - 1 ≥ Σ P gain - Σ Q cost ≥ κ Δ + Σ P (gain - κ s) + Σ Q (κ s - cost), which is at least
    /// κ Δ + min_P Σ P (gain - κ s) + min_Q Σ Q (κ s - cost) with the minima over each box alone: two fractional
    /// knapsacks. Any (r, κ) is a certificate, so the search may use the counts, and the best one found is returned.
    /// The search follows exponential tilts r ∝ e^{τ s}, and ratios with r^{α-1} linear in s, for which the first
    /// minimum does not depend on the box.
    ///
    /// Rounded down by a relative 1e-12 of the bound and by the margins of the sums.
    #[must_use]
    pub fn bound(&self, order: Order, direction: Direction) -> LowerBound {
        let negative: Vec<f64>;
        let (top, base, score) = match direction {
            Direction::Forward => (0, 1, &self.score),
            Direction::Reverse => {
                negative = self.score.iter().map(|score| -score).collect();
                (1, 0, &negative)
            }
        };
        let dual = Dual {
            order,
            score,
            top: &self.boxes[top],
            base: &self.boxes[base],
            distribution: &self.distributions[base],
            difference: self.difference,
        };
        let excess = if self.difference > 0.0 { dual.best_tilt().max(dual.best_with_free_numerator()) } else { 0.0 };
        let value = if excess > 0.0 { libm::log1p(excess) / (order.get() - 1.0) * (1.0 - MARGIN) } else { 0.0 };
        LowerBound::new(value, self.failure, K_CUT_REGION.name, Validity::FiniteSample)
    }
}

/// The logarithmic ratio of the reference, cut where rare outcomes would cost more than they tell: of a few cuts, the
/// one with the largest predicted Δ in standard deviations of the score; divergences are proportional to its square.
///
/// A function of the reference, the sample sizes and the level only.
fn score(reference: &ReferenceDistributions, sizes: [u64; 2], main: FailureProbability) -> Vec<f64> {
    let [p, q] = reference.distributions();
    let predicted = |score: &[f64]| {
        let negative: Vec<f64> = score.iter().map(|score| -score).collect();
        let ((mean, gain), (mean_cost, cost)) = (Moments::under(p, score), Moments::under(q, &negative));
        let width = gain.of_mean(sizes[0]).and(cost.of_mean(sizes[1])).width(main);
        (mean + mean_cost - width) / (gain.variance_high + cost.variance_high).sqrt()
    };
    let clips = super::clips::clips(reference.log_ratio(), p, q, sizes[0].min(sizes[1]));
    clips
        .into_iter()
        .map(|score| (predicted(&score), score))
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map_or_else(Vec::new, |(_, score)| score)
}

/// The dual of one order and direction: F of a distribution in `top` against a distribution in `base`.
struct Dual<'a> {
    order: Order,
    score: &'a [f64],
    top: &'a SimplexBox,
    base: &'a SimplexBox,
    /// A guess of the distribution in `base`.
    distribution: &'a [f64],
    difference: f64,
}

impl Dual<'_> {
    /// A lower bound on F - 1 over the region, from the ratios e^l and the multiplier κ ≥ 0; NaN or `-inf` if it
    /// overflows.
    fn certificate(&self, log_ratio: &[f64], multiplier: f64) -> f64 {
        if !(multiplier >= 0.0) {
            return f64::NEG_INFINITY;
        }
        let tangent = Tangent::new(log_ratio.iter().copied(), self.order);
        let scaled = || self.score.iter().map(|score| multiplier * score);
        let above: Vec<f64> = tangent.gain.iter().zip(scaled()).map(|(gain, score)| gain - score).collect();
        let below: Vec<f64> = tangent.cost.iter().zip(scaled()).map(|(cost, score)| score - cost).collect();
        let size = |values: &[f64]| values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        let pull = multiplier * self.difference;
        let sizes = size(&tangent.gain) + size(&tangent.cost) + 2.0 * multiplier * size(self.score) + pull;
        // Two roundings of each value, three of the sum.
        pull + self.top.minimum(&above) + self.base.minimum(&below) - 4.0 * f64::EPSILON * sizes
    }

    /// The best certificate among the tilts r = e^{τ s}/Z of the base distribution, each with the multiplier dF/dΔ
    /// along them.
    fn best_tilt(&self) -> f64 {
        let a = self.order.get();
        let certificate = |strength: f64| {
            let weights: Vec<f64> =
                self.distribution.iter().zip(self.score).map(|(q, score)| q * libm::exp(strength * score)).collect();
            let total: f64 = weights.iter().sum();
            let mean = weights.iter().zip(self.score).map(|(w, score)| w * score).sum::<f64>() / total;
            let log_ratio: Vec<f64> = self.score.iter().map(|score| strength * score - total.ln()).collect();
            // With P = Q r: dF/dτ = Σ Q a r^a (s - E_P s) and dΔ/dτ = Σ P s (s - E_P s).
            let (mut rise, mut shift) = (0.0, 0.0);
            for ((weight, score), ratio) in weights.iter().zip(self.score).zip(&log_ratio) {
                let centered = weight / total * (score - mean);
                rise += a * libm::exp((a - 1.0) * ratio) * centered;
                shift += centered * (score - mean);
            }
            // As a logarithm, whose size varies less.
            libm::log1p(self.certificate(&log_ratio, rise / shift).max(-0.999_999))
        };
        maximize([0.0, 1.1], 1e-3, TILTS, certificate).map_or(0.0, |(_, value)| libm::expm1(value))
    }

    /// The best certificate with gain = α (ν + κ' s) and κ = α κ', so that every distribution has the same Σ P (gain -
    /// κ s): then P need not be in its box, and the dual is concave in (ν, κ').
    ///
    /// Newton's method on J = α(κ' Δ + ν) - Σ Q (cost - κ s), with ∂J/∂ν = α (1 - Σ Q r), ∂J/∂κ' = α (Δ - Σ Q (r-1) s)
    /// and dr/dy = r/((α-1)(1+y)) at r^{α-1} = 1 + y, at the frequencies Q.
    /// The loop is written here because each of its points is certified and the best one is kept.
    fn best_with_free_numerator(&self) -> f64 {
        let a = self.order.get();
        let (mut level, mut slope, mut best) = (0.0, 0.0, 0.0);
        for step in 0..STEPS {
            let shift: Vec<f64> = self.score.iter().map(|score| level + slope * score).collect();
            let log_ratio: Vec<f64> = shift.iter().map(|y| libm::log1p(*y) / (a - 1.0)).collect();
            if step > 0 {
                best = f64::max(best, self.certificate(&log_ratio, a * slope));
            }
            let (mut flow, mut pull) = (0.0, self.difference);
            let (mut second, mut mixed, mut squares) = (0.0, 0.0, 0.0);
            for (((q, score), ratio), y) in self.distribution.iter().zip(self.score).zip(&log_ratio).zip(&shift) {
                let (mass, change) = (q * libm::exp(*ratio), q * libm::expm1(*ratio));
                flow -= change;
                pull -= change * score;
                let weight = mass / ((a - 1.0) * (1.0 + y));
                second += weight;
                mixed += weight * score;
                squares += weight * score * score;
            }
            let determinant = second * squares - mixed * mixed;
            let level_step = (flow * squares - pull * mixed) / determinant;
            let slope_step = (pull * second - flow * mixed) / determinant;
            // At most nine tenths of the way to 1 + y = 0.
            let mut share: f64 = 1.0;
            for (score, y) in self.score.iter().zip(&shift) {
                let fall = -(level_step + slope_step * score);
                if fall > 0.0 {
                    share = share.min(0.9 * (1.0 + y) / fall);
                }
            }
            level += share * level_step;
            slope += share * slope_step;
            if !(level.is_finite() && slope.is_finite()) {
                break;
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::tests::{counts, failure, order};
    use crate::audit::variational::tests::{FIG_6, FIVE, TEN, TIE, reference_and_counts, share};
    use crate::distribution::OutcomeDistribution;
    use proptest::prelude::*;

    /// Methods 2.2 and 5: for small signals, a region is as good as a bound for one order; half of the five-class case
    /// is certified with a tenth of a million samples.
    #[test]
    fn typical_shares_are_as_tabulated() {
        for (case, n, a, least) in [
            (TIE, 1e5, 2.0, 0.52),
            (TIE, 1e5, 10.0, 0.52),
            (FIVE, 1e5, 2.0, 0.51),
            (FIVE, 1e5, 10.0, 0.51),
            (FIVE, 1e6, 2.0, 0.82),
            (FIVE, 1e6, 10.0, 0.82),
            (FIVE, 1e8, 32.0, 0.97),
            (TEN, 1e5, 2.0, 0.47),
            (TEN, 1e6, 10.0, 0.80),
            (FIG_6, 1e5, 2.0, 0.96),
            (FIG_6, 1e5, 10.0, 0.951),
            (FIG_6, 1e5, 32.0, 0.95),
            (FIG_6, 1e3, 2.0, 0.6),
        ] {
            let found = share(case, n, order(a), |counts, reference| {
                Region::new(counts, reference, failure(0.05)).unwrap().bound(order(a), Direction::Forward).value
            });
            println!("{:?}, n = {n:e}, order {a}: {found:.4}", case.0);
            assert!(found > least && found < 1.0, "{:?} {n} {a}: {found}", case.0);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Pairs of distributions inside the region are never below the bound.
        #[test]
        fn no_pair_of_the_region_is_below_the_bound(
            weights in prop::collection::vec((20u64..2000, -0.7f64..0.7), 2..6), a in 1.05f64..20.0,
            moves in prop::collection::vec((0usize..6, 0usize..6, 0.0f64..1.0, any::<bool>()), 1..30),
        ) {
            let q: Vec<u64> = weights.iter().map(|weight| weight.0).collect();
            let p: Vec<u64> = weights.iter().map(|weight| (weight.0 as f64 * weight.1.exp()) as u64 + 1).collect();
            let counts = counts(p, q);
            let reference = ReferenceDistributions::from_pilot(&counts).unwrap();
            let region = Region::new(&counts, &reference, failure(0.3)).unwrap();
            let mut distributions = region.distributions.clone();
            // Walk inside box and half-space, toward the boundary of the half-space more often than not.
            for (from, to, step, first) in moves {
                let (world, classes) = (usize::from(first), region.score.len());
                let (from, to) = (from % classes, to % classes);
                let limits = &region.boxes[world];
                let mut most = (distributions[world][from] - limits.low()[from]).min(limits.high()[to] - distributions[world][to]);
                let per_unit = (region.score[to] - region.score[from]) * if world == 0 { 1.0 } else { -1.0 };
                let gap: f64 = (0..classes).map(|c| region.score[c] * (distributions[0][c] - distributions[1][c])).sum::<f64>()
                    - region.difference;
                if per_unit < 0.0 {
                    most = most.min(gap / -per_unit);
                }
                if most > 0.0 {
                    let step = if per_unit < 0.0 { step.sqrt() } else { 0.3 * step * step };
                    distributions[world][from] -= step * most;
                    distributions[world][to] += step * most;
                }
            }
            let gap: f64 = (0..region.score.len()).map(|c| region.score[c] * (distributions[0][c] - distributions[1][c])).sum();
            let inside = |world: usize| distributions[world].iter().enumerate().all(|(c, p)| {
                (region.boxes[world].low()[c]..=region.boxes[world].high()[c]).contains(p)
            });
            prop_assume!(gap >= region.difference && inside(0) && inside(1));
            let distributions = distributions.map(|distribution| OutcomeDistribution::from_probabilities(&distribution).unwrap());
            for direction in Direction::BOTH {
                let (x, y) = if direction == Direction::Forward { (0, 1) } else { (1, 0) };
                let divergence = crate::divergence::renyi_divergence(&distributions[x], &distributions[y], order(a)).unwrap();
                let bound = region.bound(order(a), direction).value;
                prop_assert!(bound <= divergence * (1.0 + 1e-12), "{bound} {divergence}");
            }
        }

        /// Any counts, reference and level: finite, never NaN.
        #[test]
        fn extreme_counts_give_numbers(
            p in prop::collection::vec(prop_oneof![Just(0u64), Just(1), Just(1_000_000_000_000), 0u64..100], 1..7),
            q in prop::collection::vec(prop_oneof![Just(0u64), Just(1), Just(1 << 50), 0u64..100], 7),
            a in prop_oneof![Just(1.0 + 1e-12), Just(1e5), Just(1e300), 1.1f64..60.0],
            f in prop_oneof![Just(1e-300), Just(0.999), Just(0.05)], pilot in any::<bool>(),
        ) {
            let q = q[..p.len()].to_vec();
            prop_assume!(p.iter().sum::<u64>() > 0 && q.iter().sum::<u64>() > 0);
            let counts = counts(p, q);
            let reference = if pilot {
                ReferenceDistributions::from_pilot(&counts).unwrap()
            } else {
                let distribution = |counts: &[u64], total: u64| {
                    let p: Vec<f64> = counts.iter().map(|&count| count as f64 / total as f64).collect();
                    OutcomeDistribution::from_probabilities(&p).unwrap()
                };
                ReferenceDistributions::from_distributions(
                    &distribution(counts.counts(), counts.trials()), &distribution(counts.counts_neighbor(), counts.trials_neighbor()),
                ).unwrap()
            };
            let region = Region::new(&counts, &reference, failure(f)).unwrap();
            for direction in Direction::BOTH {
                let value = region.bound(order(a), direction).value;
                prop_assert!(value.is_finite() && value >= 0.0);
                let value =
                    crate::audit::variational_bound(&counts, &reference, order(a), direction, failure(f)).unwrap().value;
                prop_assert!(value.is_finite() && value >= 0.0);
            }
        }
    }

    /// More samples with the same frequencies give a larger bound, and in the limit nearly all of the divergence.
    #[test]
    fn bounds_grow_with_the_sample_and_approach_the_divergence() {
        for case in [FIG_6, FIVE] {
            for a in [1.5, 2.0, 8.0] {
                let mut last = 0.0;
                for n in [1e3, 1e4, 1e5, 1e6, 1e8, 1e10, 1e12, 1e14] {
                    let (reference, counts) = reference_and_counts(case, n);
                    let region = Region::new(&counts, &reference, failure(0.05)).unwrap();
                    let found = region.bound(order(a), Direction::Reverse).value;
                    assert!(found >= last, "{:?} {n} {a}", case.0);
                    last = found;
                }
                let end = share(case, 1e14, order(a), |counts, reference| {
                    Region::new(counts, reference, failure(0.05)).unwrap().bound(order(a), Direction::Forward).value
                });
                assert!(end > 0.9985 && end < 1.0, "{:?} {a}: {end}", case.0);
            }
        }
    }

    /// Close to one Q, the smallest χ² of distributions with Σ s (P - Q) = Δ is Δ²/Var_Q s, by Cauchy and Schwarz.
    #[test]
    fn the_free_numerator_finds_the_least_chi_square() {
        let (p, q) = ([0.5, 0.3, 0.2], [0.1, 0.3, 0.6]);
        let distribution = |p: &[f64]| OutcomeDistribution::from_probabilities(p).unwrap();
        let reference = ReferenceDistributions::from_distributions(&distribution(&p), &distribution(&q)).unwrap();
        let counts = |distribution: [f64; 3]| distribution.map(|p| (p * 1e14).round() as u64).to_vec();
        let labels = ["a", "b", "c"].map(String::from).to_vec();
        let counts = PairedCounts::new(labels, counts(p), counts(q)).unwrap();
        let region = Region::new(&counts, &reference, failure(0.05)).unwrap();
        let ([top, base], distribution) = (&region.boxes, &region.distributions[1]);
        let difference = region.difference;
        let dual = Dual { order: order(2.0), score: &region.score, top, base, distribution, difference };
        let mean: f64 = distribution.iter().zip(&region.score).map(|(q, s)| q * s).sum();
        let variance: f64 = distribution.iter().zip(&region.score).map(|(q, s)| q * (s - mean).powi(2)).sum();
        let (found, least) = (dual.best_with_free_numerator(), difference * difference / variance);
        assert!(found > 0.0 && (found / least - 1.0).abs() < 1e-4, "{found} {least}");
    }
}
