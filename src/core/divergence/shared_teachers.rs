//! The leakage of one query that is asked repeatedly of teachers that were trained once.

use super::mean_ratio::{MAX_POWER, MeanRatio};
use crate::bound::outward::{product_up, sum_up};
use crate::bound::{Direction, UpperBound, Validity};
use crate::distribution::{Noise, OutcomeDistribution, OutputPair, vote_probabilities};
use crate::error::{Error, Result};
use crate::parallel;
use crate::quadrature::LogIntegral;
use crate::quantity::Order;
use crate::special::{log_binomial_pmf, log_sum_exp, ndtr};

/// The votes of k teachers, m of them trained on changed data, drawn once and then asked the same query n times, with
/// fresh noise for every answer:
/// ```text
/// H ~ Mult(k, P) under the dataset,    H' ~ Mult(k-m, P) + Mult(m, P') under its neighbor.
/// ```
/// Given the votes, the answers are independent; without them they are not, and the divergence of all answers is *not*
/// n times that of one. [`Self::joint_pair`] computes it exactly for two classes; [`Self::cap`] bounds it for any
/// number of classes and answers, even if every answer concerns a different question about the same votes.
///
/// # Example
/// ```
/// # use leakbound::divergence::SharedTeachers;
/// # use leakbound::prelude::*;
/// let teachers = SharedTeachers::new(250, &[0.52, 0.48], &[0.22, 0.78], 1)?;
/// let pair = teachers.joint_pair("gaussian:40".parse()?, 1_000)?;
/// let order = Order::new(2.0)?;
/// let joint = pair.renyi(Direction::Reverse, order);
/// // A thousand times the divergence of one answer would be 0.0658.
/// assert!((joint - 1.41e-3).abs() < 1e-5);
/// let cap = teachers.cap(order, Direction::Reverse)?.value;
/// assert!(joint < cap && (cap - (1.0 + 0.09 / (0.52 * 0.48) / 250.0f64).ln()).abs() < 1e-12);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SharedTeachers {
    k: u64,
    p: Vec<f64>,
    p_marked: Vec<f64>,
    changed: u64,
}

/// The largest number of pairs of a histogram and a number of answers that are added up: some seconds of work.
const MAX_WORK: u64 = 100_000_000;
/// More voters do not raise the cap, whereas rounding would.
const MOST_VOTERS_OF_CAP: u64 = 1_000_000;

impl SharedTeachers {
    /// k teachers (`k`) with vote probabilities P (`p`), m of whom (`changed`) have P' (`p_marked`) under the neighbor.
    /// Each of the two distributions must sum to 1 within 1e-9 and is divided by its sum.
    ///
    /// # Errors
    /// [`Error::Domain`] for a k outside [1, 2^53], an m outside [1, k], a probability outside [0, 1] (NaN included) or
    /// a wrong sum; [`Error::Length`] unless both distributions have the same number of classes, 1 to 10,000.
    pub fn new(k: u64, p: &[f64], p_marked: &[f64], changed: u64) -> Result<Self> {
        const MARKED: &str = "vote probabilities of the changed voter";
        Error::check_domain((1..=1 << 53).contains(&k), "number of voters", k as f64, "[1, 2^53]")?;
        let quantity = "number of changed teachers";
        Error::check_domain((1..=k).contains(&changed), quantity, changed as f64, "[1, number of voters]")?;
        let p = vote_probabilities(p, "vote probabilities")?;
        let p_marked = vote_probabilities(p_marked, MARKED)?;
        Error::check_size(MARKED, p_marked.len(), p.len(), " classes")?;
        Ok(Self { k, p, p_marked, changed })
    }

    /// The exact distributions, under the dataset and under its neighbor, of how many of n (`answers`) noisy argmaxes
    /// of two classes are class 0: outcome j of 0 to n is j of them.
    ///
    /// ```text
    /// P(j) = Σ_h P(H_0 = h) P(Bin(n, w(2h - k)) = j),    w(d) = P(Z_1 - Z_0 < d).
    /// ```
    /// The count is sufficient, so the [`renyi_divergence`](crate::divergence::renyi_divergence) of the two
    /// distributions is that of the whole sequence of answers. The cost grows like nk: 20 ms for k = 250 and n = 1,000.
    ///
    /// # Errors
    /// [`Error::Rejected`] unless there are two classes, one answer or more, and (n+1)(k+1) ≤ 10^8.
    pub fn joint_pair(&self, noise: Noise, answers: u64) -> Result<OutputPair> {
        let rejected = |reason| Error::rejected("exact distribution of repeated answers", reason);
        if self.p.len() != 2 {
            return Err(rejected(format!("it is known for 2 classes, not for {}", self.p.len())));
        }
        if answers == 0 || (answers.saturating_add(1)).saturating_mul(self.k + 1) > MAX_WORK {
            return Err(rejected(format!(
                "{answers} answers of {} voters; there must be 1 or more, and answers times voters below {MAX_WORK:e}",
                self.k,
                MAX_WORK = MAX_WORK as f64
            )));
        }
        let votes = [self.ln_votes(0), self.ln_votes(self.changed)];
        let wins: Vec<[f64; 2]> = (0..=self.k).map(|h| win(noise, 2.0 * h as f64 - self.k as f64)).collect();
        let mixtures: Vec<[f64; 2]> = parallel::map(0..=answers, |j| {
            let given: Vec<f64> = wins.iter().map(|&win| ln_binomial(j, answers, win)).collect();
            [0, 1].map(|world: usize| log_sum_exp(votes[world].iter().zip(&given).map(|(votes, given)| votes + given)))
        });
        let distribution = |world: usize| {
            let error = 1e-14 * (self.k as f64).sqrt().max(1.0);
            let integrals: Vec<LogIntegral> =
                mixtures.iter().map(|ln| LogIntegral { ln_value: ln[world], error }).collect();
            OutcomeDistribution::from_integrals(&integrals)
        };
        OutputPair::new(distribution(0)?, distribution(1)?)
    }

    /// An upper bound, rounded up, of the Rényi divergence of *all* answers together, for any number of answers and any
    /// questions about the votes: by data processing, that of the votes themselves, D_α(H‖H') forward and D_α(H'‖H) in
    /// reverse.
    ///
    /// For one changed teacher (m = 1), with r_y = P'_y/P_y and the mean ratio L = Σ_y H_y r_y/k,
    /// ```text
    /// D_α(H'‖H) = ln E_H L^α / (α-1) ≈ (α/2) χ²(P'‖P)/k,    D_α(H‖H') = ln E_H L^{1-α} / (α-1).
    /// ```
    /// Forward, it is computed for every α up to 10^6 + 1. In reverse, it is computed for whole α up to 1,024; between
    /// whole orders (α-1) D_α, which is convex in α, is interpolated, from 0 at α = 1. Beyond these orders it is the
    /// limit D_∞. For m > 1 the voters are divided into m groups of k/m with one changed voter each: the votes are a
    /// function of those of the groups, and the divergences of the groups add, to about m² (α/2) χ²/k.
    ///
    /// It is infinite forward if a class has P'_y = 0 < P_y, and in reverse if P_y = 0 < P'_y: a vote for that class
    /// alone reveals the dataset, however unlikely it is, and noise would hide it.
    ///
    /// # Errors
    /// [`Error::NoConvergence`] when the distribution of the ratio is too uneven for its power series.
    ///
    /// # References
    /// Data processing and additivity: van Erven and Harremoës (2014), "Rényi divergence and Kullback-Leibler
    /// divergence", Theorems 9 and 28; convexity of (α-1) D_α: Corollary 2 there. The moments are new here.
    pub fn cap(&self, order: Order, direction: Direction) -> Result<UpperBound> {
        let bound = |value| UpperBound::new(value, "shared-teachers-cap", Validity::NumericallyCertified);
        if self.p == self.p_marked {
            return Ok(bound(0.0));
        }
        let (base, longer) = (self.k / self.changed, self.k % self.changed);
        let mut value = 0.0;
        for (groups, voters) in [(self.changed - longer, base), (longer, base + 1)] {
            if groups > 0 {
                let ratio = MeanRatio::new(voters.min(MOST_VOTERS_OF_CAP), &self.p, &self.p_marked);
                value = sum_up(value, product_up(groups as f64, one_changed(&ratio, order.get(), direction)?));
            }
        }
        Ok(bound(value))
    }

    /// ln P(H_0 = h) for h = 0..=k, where `changed` voters have P'.
    fn ln_votes(&self, changed: u64) -> Vec<f64> {
        let pair = |p: &[f64]| [p[0], p[1]];
        (0..=self.k)
            .map(|h| {
                let parts = h.saturating_sub(self.k - changed)..=changed.min(h);
                log_sum_exp(parts.map(|marked| {
                    ln_binomial(marked, changed, pair(&self.p_marked))
                        + ln_binomial(h - marked, self.k - changed, pair(&self.p))
                }))
            })
            .collect()
    }
}

/// The divergence of the votes of one group with one changed voter.
fn one_changed(ratio: &MeanRatio, a: f64, direction: Direction) -> Result<f64> {
    let largest = match direction {
        Direction::Forward => ratio.minus_ln_smallest(),
        Direction::Reverse => ratio.ln_largest(),
    };
    if !largest.is_finite() {
        return Ok(f64::INFINITY);
    }
    let moment = match direction {
        Direction::Forward => ratio.ln_negative_moment(a - 1.0),
        Direction::Reverse => {
            let (below, above) = (a.floor(), a.ceil());
            if above > f64::from(MAX_POWER) {
                return Ok(largest);
            }
            // At α = 1 it is ln E L = 0.
            let at = |power: f64| if power < 2.0 { Ok(0.0) } else { ratio.ln_moment(power as u32) };
            if above > below { (above - a) * at(below)? + (a - below) * at(above)? } else { at(a)? }
        }
    };
    Ok((moment / (a - 1.0)).min(largest))
}

/// P(Z_1 - Z_0 < lead) and its complement: how often a class ahead by `lead` votes wins against another.
fn win(noise: Noise, lead: f64) -> [f64; 2] {
    let behind = |votes: f64| match noise {
        Noise::Gaussian(sigma) => ndtr(-votes / sigma.get() * std::f64::consts::FRAC_1_SQRT_2),
        // For the sum of two Laplace variables, (2 + x) e^{-x}/4 beyond x scales.
        Noise::Laplace(b) => {
            let x = votes / b.get();
            // Beyond this the exponential dominates.
            if x > 800.0 { 0.0 } else { (2.0 + x) / 4.0 * libm::exp(-x) }
        }
    };
    let tail = behind(lead.abs());
    if lead < 0.0 { [tail, 1.0 - tail] } else { [1.0 - tail, tail] }
}

/// ln P(Bin(n, p) = j), given p and 1 - p; the smaller of the two is exact.
fn ln_binomial(j: u64, n: u64, [p, other]: [f64; 2]) -> f64 {
    if p <= other { log_binomial_pmf(j, n, p) } else { log_binomial_pmf(n - j, n, other) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::{marked_argmax_distribution, multinomial_argmax_distribution};

    const GAUSSIAN: &str = "gaussian:40";

    fn divergence(pair: &OutputPair, order: f64, direction: Direction) -> f64 {
        pair.renyi(direction, Order::new(order).unwrap())
    }

    /// A table from an independent prototype: the joint divergence of order 2, and its cap of 1.44e-3.
    #[test]
    fn repeated_answers_saturate() {
        let teachers = SharedTeachers::new(250, &[0.52, 0.48], &[0.22, 0.78], 1).unwrap();
        for (answers, expected) in [(1, 6.58e-5), (10, 4.66e-4), (100, 1.19e-3), (1_000, 1.41e-3)] {
            let distributions = teachers.joint_pair(GAUSSIAN.parse().unwrap(), answers).unwrap();
            for direction in Direction::BOTH {
                let joint = divergence(&distributions, 2.0, direction);
                println!("{answers} answers, {direction:?}: {joint:e}");
                assert!((joint / expected - 1.0).abs() < 0.02);
                for order in [1.01, 1.5, 2.0, 7.3, 64.0] {
                    let cap = teachers.cap(Order::new(order).unwrap(), direction).unwrap().value;
                    assert!(divergence(&distributions, order, direction) < cap);
                }
            }
        }
        let cap = teachers.cap(Order::new(2.0).unwrap(), Direction::Reverse).unwrap();
        assert!((cap.value - 1.44e-3).abs() < 1e-5);
    }

    /// A single answer has the distributions of a marked vote.
    #[test]
    fn one_answer_is_the_noisy_argmax() {
        let (p, marked) = ([0.6, 0.4], [0.1, 0.9]);
        for noise in ["gaussian:2", "gaussian:0.3"] {
            let noise: Noise = noise.parse().unwrap();
            let distributions = SharedTeachers::new(17, &p, &marked, 1).unwrap().joint_pair(noise, 1).unwrap();
            let expected = multinomial_argmax_distribution(17, &p, noise).unwrap().p()[0];
            assert!((distributions.dataset().p()[1] - expected).abs() < 1e-13);
            let expected = marked_argmax_distribution(17, &p, &marked, noise).unwrap().p()[0];
            assert!((distributions.neighbor().p()[1] - expected).abs() < 1e-12);
        }
    }

    /// Summed over every sequence of answers and every vote, for both kinds of noise and two changed teachers.
    #[test]
    fn joint_pair_are_those_of_an_enumeration() {
        let (k, changed, answers) = (5u32, 2u32, 3u64);
        let (p, marked) = ([0.3, 0.7], [0.8, 0.2]);
        let teachers = SharedTeachers::new(u64::from(k), &p, &marked, u64::from(changed)).unwrap();
        for noise in ["gaussian:1.5", "laplace:0.8"] {
            let noise: Noise = noise.parse().unwrap();
            let distributions = teachers.joint_pair(noise, answers).unwrap();
            for (world, distribution) in distributions.into_distributions().iter().enumerate() {
                let mut expected = vec![0.0; 4];
                for votes in 0u32..1 << k {
                    let probability = |voter: u32| {
                        let of = if world == 1 && voter < changed { marked } else { p };
                        of[(votes >> voter & 1) as usize]
                    };
                    let weight: f64 = (0..k).map(probability).product();
                    let zeros = u64::from(k - votes.count_ones());
                    let histogram = crate::histogram::VoteHistogram::new(vec![zeros, u64::from(k) - zeros]).unwrap();
                    let win = crate::distribution::noisy_argmax_distribution(&histogram, noise).unwrap();
                    for sequence in 0u32..1 << answers {
                        let answer = |place: u64| win.p()[(sequence >> place & 1) as usize];
                        let ones = sequence.count_ones() as usize;
                        expected[3 - ones] += weight * (0..answers).map(answer).product::<f64>();
                    }
                }
                for (found, expected) in distribution.p().iter().zip(&expected) {
                    assert!((found / expected - 1.0).abs() < 1e-12, "{noise} {world}: {found} {expected}");
                }
            }
        }
    }

    /// Histograms of 3 classes by enumerating all votes of k voters, where `changed` of them have P'.
    fn histograms(k: u32, changed: u32, p: [f64; 3], marked: [f64; 3]) -> OutcomeDistribution {
        let mut distribution = vec![0.0; ((k + 1) * (k + 1)) as usize];
        for votes in 0..3u32.pow(k) {
            let (mut rest, mut weight, mut counts) = (votes, 1.0, [0; 3]);
            for voter in 0..k {
                let class = (rest % 3) as usize;
                rest /= 3;
                weight *= if voter < changed { marked } else { p }[class];
                counts[class] += 1;
            }
            distribution[(counts[0] * (k + 1) + counts[1]) as usize] += weight;
        }
        OutcomeDistribution::from_probabilities(&distribution).unwrap()
    }

    /// Whole orders (reverse) and all orders (forward) are exact for one changed teacher. Elsewhere the cap is above,
    /// and with two changed teachers not much above the sum for two teachers changed one after the other.
    #[test]
    fn caps_hold_for_every_histogram() {
        for (k, p, marked) in [
            (6, [0.2, 0.5, 0.3], [0.6, 0.3, 0.1]),
            (8, [0.05, 0.9, 0.05], [0.3, 0.3, 0.4]),
            (3, [0.3, 0.4, 0.3], [0.31, 0.39, 0.3]),
        ] {
            for changed in [1, 2, 3] {
                let distributions =
                    OutputPair::new(histograms(k, 0, p, marked), histograms(k, changed, p, marked)).unwrap();
                let teachers = SharedTeachers::new(u64::from(k), &p, &marked, u64::from(changed)).unwrap();
                for direction in Direction::BOTH {
                    for order in [1.1, 1.5, 2.0, 2.5, 3.0, 4.0, 7.7, 16.0, 64.0, 1024.0, 1025.0, 1e9] {
                        let exact = divergence(&distributions, order, direction);
                        let cap = teachers.cap(Order::new(order).unwrap(), direction).unwrap().value;
                        assert!(cap >= exact * (1.0 - 1e-12), "{k} {changed} {direction:?} {order}: {cap} < {exact}");
                        let whole = direction == Direction::Forward || order.fract() == 0.0 && order <= 1024.0;
                        if changed == 1 && whole && order <= 1025.0 {
                            assert!((cap / exact - 1.0).abs() < 1e-8, "{k} {direction:?} {order}: {cap} {exact}");
                        } else if order >= 2.0 {
                            assert!(cap < 1.6 * exact, "{k} {changed} {direction:?} {order}: {cap} {exact}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn votes_that_tell_the_dataset_have_no_cap() {
        let cap = |p: &[f64], marked: &[f64], direction| {
            SharedTeachers::new(9, p, marked, 1).unwrap().cap(Order::new(3.0).unwrap(), direction).unwrap().value
        };
        let (all, some) = ([0.2, 0.3, 0.5], [0.0, 0.4, 0.6]);
        assert_eq!(cap(&all, &some, Direction::Forward), f64::INFINITY);
        assert!(cap(&all, &some, Direction::Reverse).is_finite());
        assert_eq!(cap(&some, &all, Direction::Reverse), f64::INFINITY);
        assert!(cap(&some, &all, Direction::Forward).is_finite());
        assert_eq!(cap(&all, &all, Direction::Forward), 0.0);
    }

    #[test]
    fn every_fault_is_named() {
        let message = |result: Result<SharedTeachers>| result.unwrap_err().to_string();
        let joint = |p: &[f64], k, answers| {
            let teachers = SharedTeachers::new(k, p, p, 1).unwrap();
            teachers.joint_pair(GAUSSIAN.parse().unwrap(), answers).unwrap_err().to_string()
        };
        insta::assert_snapshot!(
            [
                message(SharedTeachers::new(0, &[1.0], &[1.0], 1)),
                message(SharedTeachers::new(2, &[1.0], &[1.0], 3)),
                message(SharedTeachers::new(2, &[1.0], &[0.5, 0.5], 1)),
                message(SharedTeachers::new(2, &[f64::NAN], &[1.0], 1)),
                joint(&[0.2, 0.2, 0.6], 5, 1),
                joint(&[0.4, 0.6], 5, 0),
                joint(&[0.4, 0.6], 1 << 53, u64::MAX),
            ]
            .join("\n"),
            @"
            number of voters = 0 is not in [1, 2^53]
            number of changed teachers = 3 is not in [1, number of voters]
            vote probabilities of the changed voter has length 2; expected 1 classes
            vote probabilities = NaN is not in [0, 1]
            exact distribution of repeated answers: it is known for 2 classes, not for 3
            exact distribution of repeated answers: 0 answers of 5 voters; there must be 1 or more, and answers times voters below 1e8
            exact distribution of repeated answers: 18446744073709551615 answers of 9007199254740992 voters; there must be 1 or more, and answers times voters below 1e8
            "
        );
    }

    /// The complement of a probability below 2^-53 is 1 in doubles.
    #[test]
    fn rare_successes_keep_their_digits() {
        let found = ln_binomial(1, 10, [1e-20, 1.0]);
        assert!((found - (10.0f64.ln() + 1e-20f64.ln())).abs() < 1e-12, "{found}");
        assert_eq!(ln_binomial(9, 10, [1.0, 1e-20]), found);
    }
}
