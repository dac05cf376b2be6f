//! Simultaneous limits of the whole trade-off between false positives and false negatives, from below and from above.

use super::output_set::OutputSet;
use super::rectangle::Rectangle;
use crate::bound::{Direction, LowerBound};
use crate::counts::PairedCounts;
use crate::error::{Error, Result};
use crate::interval::{ProportionLimit, clopper_pearson_lower, clopper_pearson_upper, dkw_limits};
use crate::order;
use crate::quantity::{Delta, Epsilon, FailureProbability};

/// Rectangles of (P(O), Q(O)) for every threshold of a score, which hold simultaneously.
///
/// With O = {score ≥ t} as the positive answer of an attack, P(O) is its true and Q(O) its false positive rate.
#[derive(Debug, Clone, PartialEq)]
pub struct TradeOffBand {
    /// The sets O, from the highest threshold down: each is contained in the next.
    pub sets: Vec<OutputSet>,
    /// The rectangle of each set.
    pub rectangles: Vec<Rectangle>,
    failure: FailureProbability,
}

/// The simultaneous band for all thresholds of a score. Outcomes with equal scores stay together; the empty set and the
/// set of all outcomes are left out.
///
/// `score` has one number per outcome and must be chosen before the counts are seen: from an exact distribution (p/q),
/// a pilot, or the meaning of the outcomes. An outcome that the counts do not list is treated as having the lowest
/// score, and an outcome unknown when the scores were chosen must have the lowest score as well
/// ([`Guide::score`](crate::audit::Guide::score) ensures this).
///
/// **Validity.** Let t_1 > ... > t_D be the different scores, where the t_i depend only on prior knowledge, and O_i =
/// {score ≥ t_i}. Every set O_1, ..., O_{D-1} is a fixed set of outcomes: it is listed in full, because unlisted
/// outcomes have the score t_D and belong to its complement, which is bounded with it (P of the complement is 1 -
/// P(O)). So N(O_i) ~ Bin(n, P(O_i)) with a probability that does not depend on the counts, the number of sets does not
/// depend on them either, and the union over 4 (D-1) limits is one over fixed events. The samples' scores are
/// independent with the distribution of the score of all outcomes, listed or not, to which the inequality of Dvoretzky,
/// Kiefer and Wolfowitz applies.
///
/// Half of the failure probability goes to the 4 (D-1) Clopper-Pearson limits, the other half to one
/// Dvoretzky-Kiefer-Wolfowitz band in each world, whose width does not depend on D. Each limit is the tighter of the
/// two, which is valid because all of them hold simultaneously by the union bound. *Finite-sample*.
///
/// # Errors
/// [`Error::Length`] if the scores do not fit the counts, [`Error::Domain`] for a score that is NaN; as
/// [`clopper_pearson_lower`].
///
/// # Example
/// ```
/// # use leakbound::audit::{rectangles, trade_off_band};
/// # use leakbound::prelude::*;
/// let labels = ["0", "1", "2"].map(String::from).to_vec();
/// let counts = PairedCounts::new(labels, vec![600, 300, 100], vec![200, 300, 500])?;
/// let band = trade_off_band(&counts, &[3.0, 2.0, 1.0], FailureProbability::new(0.05)?)?;
/// let [low, high] = band.rectangles[0].inside();
/// assert!(low.value > 0.55 && low.value < 0.6 && high.value > 0.6 && high.value < 0.65);
/// let epsilon = band.epsilon(Delta::new(0.0)?, Direction::Forward);
/// assert!(epsilon.value > 0.8 && epsilon.value < 3f64.ln());
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Clopper and Pearson (1934); Massart (1990), "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality".
pub fn trade_off_band(counts: &PairedCounts, score: &[f64], failure: FailureProbability) -> Result<TradeOffBand> {
    Error::check_size("scores", score.len(), counts.outcomes(), ", one per outcome")?;
    Error::check_domain_of_all(score, |value| !value.is_nan(), "score", "[-inf, inf]")?;
    let mut thresholds = score.to_vec();
    order::falling(&mut thresholds);
    thresholds.dedup_by(|a, b| a == b);
    thresholds.pop();
    let mut band = TradeOffBand { sets: Vec::new(), rectangles: Vec::new(), failure };
    let (single, world) = (failure.split(8 * thresholds.len()), failure.split(4));
    for threshold in thresholds {
        let set = OutputSet::new(score.iter().map(|score| *score >= threshold).collect());
        let mut limits = [[ProportionLimit::ZERO; 2]; 2];
        for (limits, inside) in limits.iter_mut().zip(set.inside(counts)?) {
            let [low, high] = dkw_limits(inside, world);
            *limits = [
                tighter(clopper_pearson_lower(inside, single)?, low, |one, two| one > two),
                tighter(clopper_pearson_upper(inside, single)?, high, |one, two| one < two),
            ];
        }
        band.rectangles.push(Rectangle::from_limits(limits[0], limits[1], failure));
        band.sets.push(set);
    }
    Ok(band)
}

/// The tighter of two limits, compared by the better known of x and 1 - x.
fn tighter(one: ProportionLimit, two: ProportionLimit, inside: impl Fn(f64, f64) -> bool) -> ProportionLimit {
    let first = if one.value <= 0.5 { inside(one.value, two.value) } else { inside(two.complement, one.complement) };
    if first { one } else { two }
}

impl TradeOffBand {
    /// The largest ε bound over the thresholds ([`Rectangle::epsilon`]).
    #[must_use]
    pub fn epsilon(&self, delta: Delta, direction: Direction) -> LowerBound {
        self.best(|rectangle| rectangle.epsilon(delta, direction))
    }

    /// The largest δ bound over the thresholds ([`Rectangle::delta`]).
    #[must_use]
    pub fn delta(&self, epsilon: Epsilon, direction: Direction) -> LowerBound {
        self.best(|rectangle| rectangle.delta(epsilon, direction))
    }

    /// The largest μ bound over the thresholds ([`Rectangle::gdp`]).
    #[must_use]
    pub fn gdp(&self) -> LowerBound {
        self.best(Rectangle::gdp)
    }

    fn best(&self, bound: impl Fn(&Rectangle) -> LowerBound) -> LowerBound {
        let value = self.rectangles.iter().map(|rectangle| bound(rectangle).value).fold(0.0, f64::max);
        LowerBound::new(value, self.failure, "trade-off-band", crate::bound::Validity::FiniteSample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::tests::{assert_rarely_wrong, counts};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Binomial, Distribution};

    fn draw(p: &[f64], n: u64, stream: &mut ChaCha8Rng) -> Vec<u64> {
        let (mut left, mut mass) = (n, 1.0);
        let last = p.len() - 1;
        p.iter()
            .enumerate()
            .map(|(class, &p)| {
                let share: f64 = if class == last { 1.0 } else { (p / mass).clamp(0.0, 1.0) };
                let count = Binomial::new(left, share).unwrap().sample(stream);
                (left, mass) = (left - count, mass - p);
                count
            })
            .collect()
    }

    /// All limits hold simultaneously in at least 1 - f of the audits: a correct program would fail with probability at
    /// most 3e-5 (four standard errors), and hardly ever because the union bound is wide.
    #[test]
    fn the_band_holds_everywhere_at_once() {
        const AUDITS: usize = 2_000;
        const FAILURE: f64 = 0.2;
        let (p, q) = ([0.4, 0.3, 0.2, 0.06, 0.04], [0.2, 0.2, 0.2, 0.2, 0.2]);
        let mut stream = ChaCha8Rng::seed_from_u64(11);
        let mut wrong = 0;
        for _ in 0..AUDITS {
            let counts = counts(draw(&p, 300, &mut stream), draw(&q, 200, &mut stream));
            let band =
                trade_off_band(&counts, &[5.0, 4.0, 3.0, 2.0, 1.0], FailureProbability::new(FAILURE).unwrap()).unwrap();
            let holds = band.rectangles.iter().enumerate().all(|(index, rectangle)| {
                let contains = |[low, high]: [ProportionLimit; 2], distribution: &[f64]| {
                    let truth: f64 = distribution[..=index].iter().sum();
                    low.value <= truth && truth <= high.value
                };
                contains(rectangle.inside(), &p) && contains(rectangle.inside_neighbor(), &q)
            });
            wrong += usize::from(!holds);
        }
        assert_rarely_wrong(wrong, AUDITS, FAILURE, 4.0);
    }

    /// With many thresholds, the uniform band is tighter in the middle, the exact limits at the ends.
    #[test]
    fn both_bands_are_used() {
        let classes = 1000;
        let counts = counts(vec![10; classes], vec![10; classes]);
        let score: Vec<f64> = (0..classes).map(|class| -(class as f64)).collect();
        let failure = FailureProbability::new(0.05).unwrap();
        let band = trade_off_band(&counts, &score, failure).unwrap();
        assert_eq!(band.rectangles.len(), classes - 1);
        let of_set = |index: usize| band.sets[index].inside(&counts).unwrap()[0];
        let dkw = |index: usize| dkw_limits(of_set(index), failure.split(4))[0];
        assert_eq!(band.rectangles[499].inside()[0], dkw(499));
        assert!(band.rectangles[9].inside()[0].value > dkw(9).value);
        assert_eq!((band.epsilon(Delta::new(0.0).unwrap(), Direction::Forward).value, band.gdp().value), (0.0, 0.0));
    }

    #[test]
    fn ties_stay_together_and_odd_scores_are_rejected() {
        let counts = |n: usize| PairedCounts::new(vec![String::new(); n], vec![1; n], vec![1; n]).unwrap();
        let failure = FailureProbability::new(0.05).unwrap();
        let band = trade_off_band(&counts(4), &[0.0, -0.0, 1.0, f64::NEG_INFINITY], failure).unwrap();
        let members: Vec<Vec<usize>> = band.sets.iter().map(OutputSet::members).collect();
        assert_eq!(members, [vec![2], vec![0, 1, 2]]);
        let empty = trade_off_band(&counts(1), &[1.0], failure).unwrap();
        assert!(
            empty.rectangles.is_empty() && empty.delta(Epsilon::new(0.0).unwrap(), Direction::Forward).value == 0.0
        );
        assert!(trade_off_band(&counts(2), &[1.0, f64::NAN], failure).is_err());
        assert!(trade_off_band(&counts(2), &[1.0], failure).is_err());
    }
}
