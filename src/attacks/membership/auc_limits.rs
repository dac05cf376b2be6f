//! The area under the ROC of two distributions, and means of such areas, with limits that hold for every number of scores.

use crate::bound::{Interval, Validity};
use crate::error::{Error, Result};
use crate::quantity::FailureProbability;
use crate::roc::Roc;

/// Limits of the area A = P(member above non-member) + ½ P(equal) of two distributions, from m and n independent
/// scores.
///
/// The area Â of the scores is the mean of h(x, y), 1 for x above y and ½ for equal ones, over all pairs. It is also
/// the mean, over all orders of the scores, of the mean over q = min(m, n) disjoint pairs, and each such mean is over q
/// independent numbers in \[0, 1\] with mean A. The exponential is convex, so Chernoff's bound for such means also
/// holds for Â: P(Â ≥ A + t) ≤ exp(-q KL(A + t ‖ A)), with KL(p ‖ a) = p ln(p/a) + (1 - p) ln((1 - p)/(1 - a)), and the
/// same below. The limits are the smallest and the largest a with q KL(Â ‖ a) ≤ ln(2/f), rounded outward.
///
/// No variance is estimated, so few scores and small failure probabilities do no harm. The interval of DeLong, DeLong
/// and Clarke-Pearson (1988), A ± z of an estimated variance, is narrower and does not hold: with 30 scores of each
/// kind and A = 0.95 it misses in 5% of cases when it states 0.09%.
///
/// # Example
/// ```
/// # use leakbound::membership::auc_limits;
/// # use leakbound::quantity::FailureProbability;
/// # use leakbound::roc::Roc;
/// // All of 30 members above all of 30 others: KL(1 ‖ a) = -ln a, and the lower end is (f/2)^(1/30).
/// let roc = Roc::new(&[1.0; 30], &[0.0; 30])?;
/// let limits = auc_limits(&roc, FailureProbability::new(0.05)?);
/// assert!((limits.lower - 0.025f64.powf(1.0 / 30.0)).abs() < 1e-12 && limits.upper == 1.0);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Hoeffding (1963), "Probability inequalities for sums of bounded random variables", equation (2.1) and section 5b,
/// two-sample U-statistics.
#[must_use]
pub fn auc_limits(roc: &Roc, failure: FailureProbability) -> Interval {
    limits(roc.auc(), disjoint_pairs(roc) as f64, failure)
}

/// Limits of the mean of the areas of several pairs of distributions, all of whose scores were drawn independently.
///
/// The areas A_1, ..., A_s may differ, and so may the numbers of scores. As [`auc_limits`] shows, E exp(λ Â_i) is at
/// most (1 - A_i + A_i exp(λ/q_i))^{q_i}, which decreases in q_i, so all q_i may be replaced by the smallest, q. The
/// areas of the scores are independent, and ln(1 - a + a y) is concave in a: with the means M̂ of Â_i and M of A_i,
/// ```text
/// E exp(λ M̂) ≤ Π_i (1 - A_i + A_i exp(λ/(s q)))^q ≤ (1 - M + M exp(λ/(s q)))^{s q},
/// ```
/// and M̂ has the limits of one area with s q pairs. Without independence, the means of the ends of simultaneous
/// intervals are limits of the mean area: [`auc_limits`] with the failure probability divided by their number.
///
/// # Errors
/// [`Error::Length`] without areas.
///
/// # Example
/// ```
/// # use leakbound::membership::mean_auc_limits;
/// # use leakbound::quantity::FailureProbability;
/// # use leakbound::roc::Roc;
/// // Twice 30 members above all of 30 others, or more: KL(1 ‖ a) = -ln a, and the lower end is (f/2)^(1/60).
/// let areas = [Roc::new(&[1.0; 30], &[0.0; 30])?, Roc::new(&[1.0; 40], &[0.0; 50])?];
/// let limits = mean_auc_limits(&areas, FailureProbability::new(0.05)?)?;
/// assert!((limits.lower - 0.025f64.powf(1.0 / 60.0)).abs() < 1e-12 && limits.upper == 1.0);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Hoeffding (1963), theorem 1 for means of numbers with different means, and section 5b.
pub fn mean_auc_limits(areas: &[Roc], failure: FailureProbability) -> Result<Interval> {
    let Some(fewest) = areas.iter().map(disjoint_pairs).min() else {
        return Err(Error::length("areas", 0, "at least 1"));
    };
    Ok(limits(mean_auc(areas), areas.len() as f64 * fewest as f64, failure))
}

/// The mean of areas.
pub fn mean_auc(areas: &[Roc]) -> f64 {
    areas.iter().map(Roc::auc).sum::<f64>() / areas.len() as f64
}

/// q, the pairs of a member and another without a score in common.
fn disjoint_pairs(roc: &Roc) -> u64 {
    roc.members().min(roc.non_members())
}

/// The smallest and the largest a with q KL(Â ‖ a) ≤ ln(2/f), rounded outward.
fn limits(area: f64, pairs: f64, failure: FailureProbability) -> Interval {
    // ln(2/f); the quotient itself overflows for the smallest f.
    let allowed = std::f64::consts::LN_2 - failure.get().ln();
    // The mean of areas that are all 1 may be rounded beyond it.
    let area = area.min(1.0);
    Interval {
        lower: lower_end(area, pairs, allowed),
        upper: (1.0 - lower_end(1.0 - area, pairs, allowed)).next_up().min(1.0),
        failure_probability: failure,
        validity: Validity::FiniteSample,
    }
}

/// Halvings: an end below 2^-200 is reported as what is left of it.
const STEPS: usize = 200;

/// A number just below the smallest a with q KL(Â ‖ a) ≤ `allowed`; 0 where Â is.
fn lower_end(area: f64, pairs: f64, allowed: f64) -> f64 {
    let (mut outside, mut inside) = (0.0, area);
    for _ in 0..STEPS {
        let middle = outside + (inside - outside) / 2.0;
        if middle <= outside || middle >= inside {
            break;
        }
        if pairs * divergence_down(area, middle) <= allowed * (1.0 + 4.0 * f64::EPSILON) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    outside
}

/// KL(p ‖ a) of 0 < a < p ≤ 1, rounded down. The rounding of p itself, of the logarithms and of their sums are each at
/// most a few units of the last place of 1 + |ln a| + |ln(1 - a)|.
fn divergence_down(p: f64, a: f64) -> f64 {
    let [ln_a, ln_rest] = [a.ln(), (-a).ln_1p()];
    let term = |share: f64, ln: f64| if share > 0.0 { share * (share.ln() - ln) } else { 0.0 };
    term(p, ln_a) + term(1.0 - p, ln_rest) - 16.0 * f64::EPSILON * (1.0 - ln_a - ln_rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_distr::StandardNormal;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn limits_of(members: &[f64], others: &[f64], failure: f64) -> Interval {
        auc_limits(&Roc::new(members, others).unwrap(), FailureProbability::new(failure).unwrap())
    }

    /// All outcomes of three members and four others with three possible scores: the exact probability of a miss.
    #[test]
    fn no_area_is_missed_more_often_than_it_may_be() {
        let distributions = [[0.2, 0.3, 0.5], [0.05, 0.15, 0.8], [0.6, 0.3, 0.1], [0.0, 0.5, 0.5], [0.9, 0.1, 0.0]];
        for (p, q) in distributions.iter().flat_map(|p| distributions.iter().map(move |q| (p, q))) {
            let area = (0..3).map(|x| p[x] * (q[..x].iter().sum::<f64>() + q[x] / 2.0)).sum::<f64>();
            for failure in [0.05, 0.3, 0.9] {
                let mut wrong = 0.0;
                for outcome in 0..3usize.pow(7) {
                    let digits: Vec<usize> = (0..7).map(|place| outcome / 3usize.pow(place) % 3).collect();
                    let weights = digits.iter().enumerate().map(|(i, &s)| if i < 3 { p[s] } else { q[s] });
                    let scores: Vec<f64> = digits.iter().map(|&digit| digit as f64).collect();
                    let found = limits_of(&scores[..3], &scores[3..], failure);
                    if area < found.lower - 1e-12 || area > found.upper + 1e-12 {
                        wrong += weights.product::<f64>();
                    }
                }
                assert!(wrong <= failure, "{p:?} {q:?} {failure}: {wrong}");
            }
        }
    }

    /// 30 scores of each kind with A = 0.95, and the share of 0.05 that a limit has among eight scores at two rates: of
    /// 4,000 limits 3.6 may miss. Four such areas, of A = 0.95 and 0.75 in turn, with 30 to 36 scores, have the mean 0.85.
    #[test]
    fn few_scores_and_a_small_failure_probability_do_no_harm() {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(9);
        let failure = FailureProbability::new(0.05).unwrap().split(56);
        let shift = 2f64.sqrt() * crate::special::ndtri(0.95);
        let smaller = 2f64.sqrt() * crate::special::ndtri(0.75);
        let [mut missed, mut means_missed] = [0; 2];
        for _ in 0..4000 {
            let mut draw = |shift: f64, count: usize| -> Vec<f64> {
                (0..count).map(|_| shift + generator.sample::<f64, _>(StandardNormal)).collect()
            };
            let mut roc = |shift: f64, more: usize| Roc::new(&draw(shift, 30 + more), &draw(0.0, 36 - more)).unwrap();
            let misses = |interval: Interval, area| usize::from(!(interval.lower..=interval.upper).contains(&area));
            let areas = [roc(shift, 0), roc(smaller, 2), roc(shift, 6), roc(smaller, 3)];
            missed += misses(auc_limits(&areas[0], failure), 0.95);
            means_missed += misses(mean_auc_limits(&areas, failure).unwrap(), 0.85);
        }
        println!("{missed} areas and {means_missed} means of 4000 missed");
        assert!(missed <= 3 && means_missed <= 3, "{missed} {means_missed}");
    }

    /// All outcomes of two pairs of distributions that have two possible scores, with two members and two others of the
    /// first and one and two of the second: the exact probability of a miss of the mean area.
    #[test]
    fn no_mean_area_is_missed_more_often_than_it_may_be() {
        let shares = [0.1, 0.4, 0.7, 1.0];
        // The probabilities of the higher score: of members and others of the first pair, then of the second.
        let all: Vec<[f64; 4]> =
            (0..256usize).map(|outcome| [0, 2, 4, 6].map(|place| shares[outcome >> place & 3])).collect();
        for failure in [0.05, 0.3, 0.9] {
            let mut wrong = vec![0.0; all.len()];
            for high in 0..1u32 << 7 {
                let bits: Vec<f64> = (0..7).map(|place| f64::from(high >> place & 1)).collect();
                let areas = [Roc::new(&bits[..2], &bits[2..4]).unwrap(), Roc::new(&bits[4..5], &bits[5..]).unwrap()];
                let found = mean_auc_limits(&areas, FailureProbability::new(failure).unwrap()).unwrap();
                for (wrong, p) in wrong.iter_mut().zip(&all) {
                    let area = (2.0 + p[0] - p[1] + p[2] - p[3]) / 4.0;
                    let of = bits.iter().zip([0, 0, 1, 1, 2, 3, 3]);
                    let weight: f64 = of.map(|(&bit, k)| if bit == 1.0 { p[k] } else { 1.0 - p[k] }).product();
                    let missed = area < found.lower - 1e-12 || area > found.upper + 1e-12;
                    *wrong += if missed { weight } else { 0.0 };
                }
            }
            let worst = wrong.into_iter().fold(0.0, f64::max);
            assert!(worst <= failure, "{failure}: {worst}");
        }
        assert!(mean_auc_limits(&[], FailureProbability::new(0.5).unwrap()).is_err());
    }

    #[test]
    fn ends_are_where_the_divergence_is_used_up() {
        for (above, failure) in [(1, 0.05), (17, 1e-3), (25, 1e-30), (49, 0.5)] {
            let members: Vec<f64> = (0..50).map(|place| f64::from(u8::from(place < above))).collect();
            let found = limits_of(&members, &[0.5; 60], failure);
            let area = above as f64 / 50.0;
            let allowed = (2f64.ln() - failure.ln()) / 50.0;
            for end in [found.lower, found.upper] {
                let used = area * (area / end).ln() + (1.0 - area) * ((1.0 - area) / (1.0 - end)).ln();
                assert!((used - allowed).abs() < 1e-9 * allowed.max(1.0), "{above} {failure} {end}: {used}");
            }
            assert!(found.lower < area && area < found.upper);
        }
        let all = limits_of(&[0.0], &[1.0], 1e-300);
        assert!(all.lower == 0.0 && all.upper > 0.99 && all.upper <= 1.0);
        let one = limits_of(&[1.0], &[0.0], f64::from_bits(1));
        assert!((0.0..1e-300).contains(&one.lower) && one.upper == 1.0);
    }
}
