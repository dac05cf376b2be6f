//! The true-positive rate at a false-positive rate, with the limits that a few guesses allow.

use crate::bound::{Interval, Validity};
use crate::error::Result;
use crate::interval::{BinomialCounts, clopper_pearson_lower, clopper_pearson_upper};
use crate::quantity::{FailureProbability, Probability};
use crate::roc::Roc;

/// TPR at an FPR: the frequency, limits of the rule found, and a band of the ROC itself.
///
/// With N non-members and a target α let k be the most false positives with k/N ≤ α, and c the non-member score of rank
/// k + 1 from above. The rule is "member where score > c"; it depends on the non-members alone. "Score ≥ t", with t the
/// lowest score above c, decides the recorded scores in the same way, but t may be a member's score, and what follows
/// does not hold for that rule.
///
/// Three statements of different kinds follow. Each is wrong with at most the failure probability f, if the guesses
/// about members are independent draws from one distribution, those about non-members from another, and both groups are
/// independent:
///
/// - [`tpr`](Self::tpr): Clopper-Pearson limits of the TPR **of this rule**. Given the non-members the rule is fixed,
///   and the members above c are a binomial count: the threshold needs no correction, although it was read off the
///   data.
/// - [`fpr_upper`](Self::fpr_upper): the FPR of this rule is at most the upper Clopper-Pearson limit of k in N. The FPR
///   is stochastically at most the (k+1)-th smallest of N uniform numbers (equal to it for a continuous distribution),
///   and that exceeds u with probability P(Bin(N, u) ≤ k), which is f at the limit. It may well exceed the target
///   itself: 32 non-members without an error only show that the FPR is below 9%.
/// - [`curve`](Self::curve): the ROC of the two distributions at α, R(α) = sup {TPR(A): A = {score > t} or {score ≥ t},
///   FPR(A) ≤ α}. *Lower end*: let j be the largest count with P(Bin(N, α) ≤ j) ≤ f/4. By the argument above the rule
///   "score > rank j + 1" has an FPR of at most α except with probability f/4, so R(α) is at least its TPR, and the
///   lower Clopper-Pearson limit of this TPR at f/4 is reported; 0 if N is too small for any j. *Upper end*: let m be
///   the smallest count with P(Bin(N, α) ≥ m) ≤ f/4. The union A* of the sets with FPR ≤ α is an upper set with FPR ≤
///   α; except with probability f/4 it holds fewer than m non-members, hence lies inside "score > rank m", whose upper
///   limit at f/4 is reported.
///
/// Several guesses of one victim share its training; if that makes them dependent, the limits are too narrow, and
/// [`victim_bootstrap`](crate::membership::victim_bootstrap) shows by how much.
///
/// # References
/// Clopper and Pearson (1934); Wilks (1941), "Determination of sample sizes for setting tolerance limits"; Carlini et
/// al. (2022), "Membership inference attacks from first principles", for the metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TprAtFpr {
    /// α.
    pub target: Probability,
    /// c, the largest non-member score that is not accused: "member" is guessed where score > c; none: always.
    pub above: Option<f64>,
    /// Members found among members.
    pub true_positives: BinomialCounts,
    /// Non-members accused among non-members.
    pub false_positives: BinomialCounts,
    /// Limits of the TPR of the rule "score > c".
    pub tpr: Interval,
    /// Upper limit of the FPR of the rule "score > c".
    pub fpr_upper: f64,
    /// Limits of the ROC of the two distributions at α.
    pub curve: Interval,
}

impl TprAtFpr {
    /// The frequency of found members.
    #[must_use]
    pub fn tpr_estimate(&self) -> f64 {
        frequency(self.true_positives)
    }

    /// The frequency of accused non-members, at most the target.
    #[must_use]
    pub fn fpr_estimate(&self) -> f64 {
        frequency(self.false_positives)
    }

    /// The same rates with limits 0 and 1 only, for samples that were selected by these guesses: a binomial limit
    /// ignores the selection, and the largest of many rates is large by luck alone.
    pub(super) fn selected(self) -> Self {
        let nothing = |interval: Interval| Interval { lower: 0.0, upper: 1.0, ..interval };
        Self { tpr: nothing(self.tpr), fpr_upper: 1.0, curve: nothing(self.curve), ..self }
    }
}

fn frequency(counts: BinomialCounts) -> f64 {
    counts.successes() as f64 / counts.trials() as f64
}

/// TPR at a target FPR, with its limits: see [`TprAtFpr`].
///
/// # Errors
/// [`Error::NoConvergence`](crate::Error::NoConvergence) as [`clopper_pearson_lower`].
///
/// # Example
/// ```
/// # use leakbound::membership::tpr_at_fpr;
/// # use leakbound::prelude::*;
/// # use leakbound::roc::Roc;
/// // 1000 non-members, 0 to 999; half of 100 members are above them all, half below.
/// let non_members: Vec<f64> = (0..1000).map(f64::from).collect();
/// let members: Vec<f64> = (0..100).map(|i| if i % 2 == 0 { 2000.0 } else { -1.0 }).collect();
/// let roc = Roc::new(&members, &non_members)?;
/// let at = tpr_at_fpr(&roc, Probability::new(0.01)?, FailureProbability::new(0.05)?)?;
/// assert_eq!((at.above, at.false_positives.successes()), (Some(989.0), 10));
/// // Clopper-Pearson of 50 in 100 and of 10 in 1000.
/// assert!((at.tpr.lower - 0.3983).abs() < 1e-4 && (at.fpr_upper - 0.0169).abs() < 1e-4);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn tpr_at_fpr(roc: &Roc, target: Probability, failure: FailureProbability) -> Result<TprAtFpr> {
    let (members, non_members) = (roc.members(), roc.non_members());
    let allowed = roc.allowed(target);
    let point = roc.within(allowed);
    let true_positives = BinomialCounts::new(point.true_positives, members)?;
    let half = failure.split(2);
    Ok(TprAtFpr {
        target,
        above: roc.next_non_member(allowed),
        true_positives,
        false_positives: BinomialCounts::new(point.false_positives, non_members)?,
        tpr: Interval {
            lower: clopper_pearson_lower(true_positives, half)?.value,
            upper: clopper_pearson_upper(true_positives, half)?.value,
            failure_probability: failure,
            validity: Validity::FiniteSample,
        },
        fpr_upper: clopper_pearson_upper(BinomialCounts::new(allowed, non_members)?, failure)?.value,
        curve: curve_at(roc, target, failure)?,
    })
}

fn curve_at(roc: &Roc, target: Probability, failure: FailureProbability) -> Result<Interval> {
    let (quarter, non_members) = (failure.split(4), roc.non_members());
    // P(Bin(N, α) ≤ j) ≤ f is "the upper limit of j is at most α", and limits are rounded outwards.
    let sure = first(0, non_members, |j| {
        Ok(clopper_pearson_upper(BinomialCounts::new(j, non_members)?, quarter)?.value > target.get())
    })?;
    // Rank j + 1 leaves j above it at most.
    let lower = match sure.checked_sub(1) {
        None => 0.0,
        Some(j) => clopper_pearson_lower(found(roc, j)?, quarter)?.value,
    };
    let upper = curve_upper(roc, target.get(), failure.split(2))?;
    Ok(Interval { lower, upper, failure_probability: failure, validity: Validity::FiniteSample })
}

/// The upper end of the ROC at an FPR, half of the failure probability on each class: see [`TprAtFpr`].
pub(super) fn curve_upper(roc: &Roc, fpr: f64, failure: FailureProbability) -> Result<f64> {
    let (half, non_members) = (failure.split(2), roc.non_members());
    let beyond = first(1, non_members + 1, |m| {
        Ok(clopper_pearson_lower(BinomialCounts::new(m, non_members)?, half)?.value >= fpr)
    })?;
    if beyond > non_members { Ok(1.0) } else { Ok(clopper_pearson_upper(found(roc, beyond - 1)?, half)?.value) }
}

/// Members above the threshold that leaves at most this many non-members above it.
fn found(roc: &Roc, false_positives: u64) -> Result<BinomialCounts> {
    BinomialCounts::new(roc.within(false_positives).true_positives, roc.members())
}

/// The first whole number from `low` for which a monotone condition holds; `high`, where it is not tried, if none does.
fn first(mut low: u64, mut high: u64, holds: impl Fn(u64) -> Result<bool>) -> Result<u64> {
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle)? { high = middle } else { low = middle + 1 }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    fn at(members: &[f64], non_members: &[f64], target: f64, failure: f64) -> TprAtFpr {
        let roc = Roc::new(members, non_members).unwrap();
        tpr_at_fpr(&roc, Probability::new(target).unwrap(), FailureProbability::new(failure).unwrap()).unwrap()
    }

    /// All outcomes of three members and four non-members with three possible scores: the exact probability that each
    /// statement is wrong, for several distributions and targets.
    #[test]
    fn no_statement_is_wrong_more_often_than_it_says() {
        let distributions = [[0.2, 0.3, 0.5], [0.05, 0.15, 0.8], [0.6, 0.3, 0.1], [0.0, 0.5, 0.5]];
        for (p, q) in distributions.iter().flat_map(|p| distributions.iter().map(move |q| (p, q))) {
            for (target, failure) in [(0.0, 0.3), (0.25, 0.4), (0.5, 0.4), (0.3, 0.9), (0.8, 0.6), (1.0, 0.4)] {
                let mut wrong = [0.0; 3];
                for outcome in 0..3usize.pow(7) {
                    let digits: Vec<usize> = (0..7).map(|place| outcome / 3usize.pow(place) % 3).collect();
                    let weight: f64 =
                        digits.iter().enumerate().map(|(i, &s)| if i < 3 { p[s] } else { q[s] }).product();
                    let scores: Vec<f64> = digits.iter().map(|&digit| digit as f64).collect();
                    let at = at(&scores[..3], &scores[3..], target, failure);
                    let above = |distribution: &[f64; 3], c: Option<f64>| -> f64 {
                        (0..3).filter(|&s| c.is_none_or(|c| s as f64 > c)).map(|s| distribution[s]).sum()
                    };
                    let (tpr, fpr) = (above(p, at.above), above(q, at.above));
                    let rules = [None, Some(0.0), Some(1.0), Some(2.0)].into_iter();
                    let curve = rules.filter(|&c| above(q, c) <= target).map(|c| above(p, c)).fold(0.0, f64::max);
                    let outside = |interval: Interval, x: f64| x < interval.lower - 1e-12 || x > interval.upper + 1e-12;
                    for (sum, wrong) in wrong.iter_mut().zip([
                        outside(at.tpr, tpr),
                        fpr > at.fpr_upper + 1e-12,
                        outside(at.curve, curve),
                    ]) {
                        *sum += if wrong { weight } else { 0.0 };
                    }
                }
                assert!(wrong.iter().all(|wrong| *wrong <= failure), "{p:?} {q:?} {target} {failure}: {wrong:?}");
            }
        }
    }

    /// Gaussian scores, whose ROC is known: R(α) = Φ(Φ⁻¹(α) + μ). 1,000 repetitions; each rate is allowed three
    /// standard errors above 10%, a false alarm of 0.1% each if the rate were nominal. Half of them are rounded to
    /// ties.
    #[test]
    fn the_band_holds_the_roc_of_gaussians() {
        let (mu, target, failure) = (1.5, 0.02, 0.1);
        let mut stream = ChaCha8Rng::seed_from_u64(11);
        let truth = crate::special::ndtr(crate::special::ndtri(target) + mu);
        let (mut wrong, mut width, repetitions) = ([0u32; 3], 0.0, 1000);
        for _ in 0..repetitions {
            let mut draw = |shift: f64, n: usize| -> Vec<f64> {
                (0..n).map(|_| shift + Distribution::<f64>::sample(&StandardNormal, &mut stream)).collect()
            };
            let (members, non_members) = (draw(mu, 400), draw(0.0, 1000));
            let at = at(&members, &non_members, target, failure);
            let c = at.above.unwrap();
            let (tpr, fpr) = (crate::special::ndtr(mu - c), crate::special::ndtr(-c));
            wrong[0] += u32::from(tpr < at.tpr.lower || tpr > at.tpr.upper);
            wrong[1] += u32::from(fpr > at.fpr_upper);
            wrong[2] += u32::from(truth < at.curve.lower || truth > at.curve.upper);
            width += (at.curve.upper - at.curve.lower) / f64::from(repetitions);
        }
        println!("wrong in {wrong:?} of {repetitions}, mean width of the band {width:.3}");
        let most = 100.0 + 3.0 * (f64::from(repetitions) * 0.09).sqrt();
        assert!(wrong.iter().all(|&wrong| f64::from(wrong) <= most), "{wrong:?}");
        // The FPR of continuous scores meets its limit with equality: neither loose.
        assert!(f64::from(wrong[1]) > 71.0 && width < 0.35, "{wrong:?} {width}");
    }

    #[test]
    fn few_non_members_certify_little() {
        let (members, non_members) = ([1.0; 32], [0.0; 32]);
        let at = at(&members, &non_members, 0.001, 0.05);
        assert_eq!((at.tpr_estimate(), at.fpr_estimate(), at.above), (1.0, 0.0, Some(0.0)));
        // 0.05^(1/32) and 1 - 0.05^(1/32); the TPR at a true FPR of 0.1% is out of reach of 32 non-members.
        assert!((at.tpr.lower - 0.025f64.powf(1.0 / 32.0)).abs() < 1e-12);
        assert!((at.fpr_upper - (1.0 - 0.05f64.powf(1.0 / 32.0))).abs() < 1e-12);
        assert_eq!((at.curve.lower, at.curve.upper), (0.0, 1.0));
    }

    #[test]
    fn absurd_inputs_have_limits() {
        for failure in [1e-300, 0.999] {
            for target in [0.0, 5e-324, 0.5, 1.0] {
                for (members, non_members) in [(vec![0.0], vec![0.0]), (vec![f64::INFINITY; 3], vec![f64::INFINITY; 2])]
                {
                    let at = at(&members, &non_members, target, failure);
                    for interval in [at.tpr, at.curve] {
                        assert!(0.0 <= interval.lower && interval.lower <= interval.upper && interval.upper <= 1.0);
                    }
                    assert!((0.0..=1.0).contains(&at.fpr_upper));
                }
            }
        }
    }
}
