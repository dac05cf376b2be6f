//! Data-dependent cost of one noisy argmax over known votes, in both directions.

use super::confident::{ConfidentCost, threshold_data_dependent, threshold_data_independent};
use super::gnmax::{LN_Q_UNITS, gnmax_data_dependent, gnmax_data_independent, log_flip_probability};
use super::laplace::lnmax_data_independent;
use super::lnmax::{lnmax_data_dependent, log_flip_probability_laplace};
use crate::bound::Direction;
use crate::bound::outward::{log_probability_up, sum_up};
use crate::distribution::{Noise, ThresholdTest};
use crate::histogram::{VoteChange, VoteHistogram};
use crate::quantity::{NoiseScale, Order};
use crate::special::{log_ndtr, log_sum_exp};
use std::f64::consts::{LN_2, SQRT_2};

/// ln q for each direction: q is at least the probability, under the dataset that comes *first* in the divergence, that
/// the likeliest outcome is not printed.
///
/// A data-dependent theorem (Papernot et al. 2018, Theorem 6; Papernot et al. 2017, Theorem 3) bounds D(M(X)‖M(X')) by
/// a function of q ≥ P(M(X) ≠ i*). The neighboring relation is symmetric, so with X = S it bounds the forward
/// divergence D(S‖S') through the q of S, and with X = S' the reverse divergence D(S'‖S) through the q of S'. One q
/// bounds only one direction: with small noise, the reverse divergence may be many times the forward cost.
///
/// If S' is not known, the reverse q is a bound for every neighbor of S. The theorems hold for any q that is large
/// enough, so no monotonicity is needed.
///
/// ```
/// # use leakbound::accountant::FlipProbability;
/// # use leakbound::bound::Direction;
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::distribution::Noise;
/// let noise: Noise = "laplace:0.5".parse()?;
/// let (votes, neighbor) = (VoteHistogram::new(vec![6, 0])?, VoteHistogram::new(vec![5, 1])?);
/// let pair = FlipProbability::of_pair(&votes, &neighbor, noise);
/// // (2 + g)/4 e^-g at g = 12 and g = 8.
/// assert!((pair.log_q(Direction::Forward) - (3.5f64.ln() - 12.0)).abs() < 1e-12);
/// assert!((pair.log_q(Direction::Reverse) - (2.5f64.ln() - 8.0)).abs() < 1e-12);
/// // No neighbor of S flips more often.
/// let any = FlipProbability::of_moved_vote(&votes, noise);
/// assert!((any.log_q(Direction::Reverse) - pair.log_q(Direction::Reverse)).abs() < 1e-12);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlipProbability {
    /// ln q under S, then under S'.
    log_q: [f64; 2],
}

impl FlipProbability {
    /// From ln q under S and under S'.
    #[must_use]
    pub const fn new(log_q: f64, log_q_neighbor: f64) -> Self {
        Self { log_q: [log_q, log_q_neighbor] }
    }

    /// The noisy argmax of two known histograms, by the union bound.
    #[must_use]
    pub fn of_pair(votes: &VoteHistogram, neighbor: &VoteHistogram, noise: Noise) -> Self {
        Self::new(union_bound(votes, noise), union_bound(neighbor, noise))
    }

    /// The noisy argmax of a known histogram against every histogram one moved vote away from it.
    ///
    /// A moved vote lowers the lead of the plurality class i* over one class by at most 2 votes and over every other
    /// class by at most 1:
    /// ```text
    /// q' = min(1 - 1/C, max_j [t(n_{i*} - n_j - 2) + Σ_{i ≠ i*, j} t(n_{i*} - n_i - 1)])
    /// ```
    /// with t(d) the probability that the difference of two noises exceeds d. The first term bounds P(M(S') ≠ i*); the
    /// second bounds P(M(S') ≠ i') for the plurality class i' of S' itself.
    #[must_use]
    pub fn of_moved_vote(votes: &VoteHistogram, noise: Noise) -> Self {
        let log_q = union_bound(votes, noise);
        let movable = votes.classes() > 1 && votes.counts().iter().any(|count| *count > 0);
        Self::new(log_q, if movable { union_bound_of_neighbors(votes, noise) } else { log_q })
    }

    /// The answer of a threshold test under two known histograms: q = min(P(pass), P(fail)).
    #[must_use]
    pub fn of_test_pair(test: &ThresholdTest, votes: &VoteHistogram, neighbor: &VoteHistogram) -> Self {
        Self::new(log_rare_answer(test, votes), log_rare_answer(test, neighbor))
    }

    /// The answer of a threshold test on a known histogram against every histogram one moved vote away.
    ///
    /// A moved vote raises one count and lowers another by one. P(pass) increases with every count, so it is at most
    /// that of the histogram with one more vote for the best class, and P(fail) at most that with one vote fewer. The
    /// smaller of the two maxima is at least min(P(pass), P(fail)) under every neighbor.
    #[must_use]
    pub fn of_test_moved_vote(test: &ThresholdTest, votes: &VoteHistogram) -> Self {
        let log_q = log_rare_answer(test, votes);
        let largest = |kind, pick: fn(crate::distribution::ThresholdOdds) -> f64| {
            let changed = votes.neighbors(kind).into_iter().filter_map(|change| votes.neighbor(change).ok());
            changed.map(|changed| pick(test.odds(&changed))).fold(f64::NEG_INFINITY, f64::max)
        };
        let pass = largest(VoteChange::Added, |odds| odds.ln_pass);
        let fail = largest(VoteChange::Removed, |odds| odds.ln_fail);
        // Without a vote to remove, nothing can move.
        Self::new(
            log_q,
            if fail == f64::NEG_INFINITY { log_q } else { log_probability_up(pass.min(fail), units(votes)).max(log_q) },
        )
    }

    /// ln q under the dataset that comes first in a divergence of this direction.
    #[must_use]
    pub const fn log_q(self, direction: Direction) -> f64 {
        self.log_q[direction as usize]
    }
}

/// ln min(P(pass), P(fail)) of a known histogram, rounded up.
fn log_rare_answer(test: &ThresholdTest, votes: &VoteHistogram) -> f64 {
    log_probability_up(test.odds(votes).log_q(), units(votes))
}

/// Rounding of a product over the classes.
fn units(votes: &VoteHistogram) -> f64 {
    8.0 + 2.0 * votes.classes() as f64
}

/// ln q of a known histogram.
fn union_bound(votes: &VoteHistogram, noise: Noise) -> f64 {
    match noise {
        Noise::Gaussian(sigma) => log_flip_probability(votes, sigma),
        Noise::Laplace(b) => log_flip_probability_laplace(votes, b),
    }
}

/// ln q' of every histogram one moved vote away.
fn union_bound_of_neighbors(votes: &VoteHistogram, noise: Noise) -> f64 {
    let counts = votes.counts();
    let (top, &most) = counts.iter().enumerate().max_by_key(|(_, count)| **count).unwrap_or((0, &0));
    let leads: Vec<f64> =
        counts.iter().enumerate().filter(|(class, _)| *class != top).map(|(_, &count)| (most - count) as f64).collect();
    // Which class gains the vote matters most where t(d - 2) - t(d - 1) is largest, and that depends only on d.
    let mut different = leads.clone();
    different.sort_by(f64::total_cmp);
    different.dedup();
    let union = |gaining: f64| {
        let gains = leads.iter().position(|lead| *lead == gaining);
        let lower = |place| if Some(place) == gains { 2.0 } else { 1.0 };
        log_sum_exp(leads.iter().enumerate().map(|(place, lead)| log_exceedance(noise, lead - lower(place))))
    };
    let largest = different.into_iter().map(union).fold(f64::NEG_INFINITY, f64::max);
    log_probability_up(largest.min(libm::log1p(-1.0 / counts.len() as f64)), LN_Q_UNITS)
}

/// ln P(X - Y > d) for two independent noises.
fn log_exceedance(noise: Noise, d: f64) -> f64 {
    match noise {
        Noise::Gaussian(sigma) => log_ndtr(-d / (sigma.get() * SQRT_2)),
        Noise::Laplace(b) => {
            let g = d.abs() / b.get();
            let tail = libm::log1p(0.5 * g) - LN_2 - g;
            if d < 0.0 { libm::log1p(-libm::exp(tail)) } else { tail }
        }
    }
}

/// Data-dependent RDP of one query: a noisy argmax, after a threshold test if there is one, when one vote moves.
///
/// Each direction has a separate cost; see [`FlipProbability`].
///
/// ```
/// # use leakbound::accountant::VoteCost;
/// # use leakbound::bound::Direction;
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::distribution::Noise;
/// # use leakbound::quantity::Order;
/// // Fourteen votes against one with little noise: the reverse direction costs far more.
/// let noise: Noise = "gaussian:2".parse()?;
/// let cost = VoteCost::of_moved_vote(noise, None, &VoteHistogram::new(vec![14, 1])?);
/// let order = Order::new(2.0)?;
/// let [forward, reverse] = Direction::BOTH.map(|direction| cost.at(order, direction).whole());
/// assert!(reverse > 5.0 * forward);
/// assert_eq!(cost.in_both_directions(order).whole(), reverse);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2018), Theorem 6 and Propositions 7 and 10; Papernot et al. (2017), Theorem 3, for Laplace noise;
/// composition of the test and the argmax by Mironov (2017), Proposition 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VoteCost {
    noise: Noise,
    argmax: FlipProbability,
    test: Option<(NoiseScale, FlipProbability)>,
    pass: f64,
}

impl VoteCost {
    /// The cost for known votes against every histogram one moved vote away.
    #[must_use]
    pub fn of_moved_vote(noise: Noise, test: Option<&ThresholdTest>, votes: &VoteHistogram) -> Self {
        Self {
            noise,
            argmax: FlipProbability::of_moved_vote(votes, noise),
            test: test.map(|test| (test.sigma(), FlipProbability::of_test_moved_vote(test, votes))),
            pass: test.map_or(1.0, |test| test.odds(votes).pass()),
        }
    }

    /// The cost for two known histograms that differ by one moved vote.
    #[must_use]
    pub fn of_pair(
        noise: Noise,
        test: Option<&ThresholdTest>,
        votes: &VoteHistogram,
        neighbor: &VoteHistogram,
    ) -> Self {
        Self {
            noise,
            argmax: FlipProbability::of_pair(votes, neighbor, noise),
            test: test.map(|test| (test.sigma(), FlipProbability::of_test_pair(test, votes, neighbor))),
            pass: test.map_or(1.0, |test| test.odds(votes).pass()),
        }
    }

    /// The cost in one direction, in nats, part by part.
    #[must_use]
    pub fn at(&self, order: Order, direction: Direction) -> ConfidentCost {
        let test = |(sigma, flip): (NoiseScale, FlipProbability)| {
            threshold_data_dependent(order, sigma, flip.log_q(direction))
        };
        ConfidentCost {
            threshold: self.test.map_or(0.0, test),
            answer: argmax_data_dependent(self.noise, order, self.argmax.log_q(direction)),
            pass: self.pass,
        }
    }

    /// For each part, the larger cost of both directions: an upper bound in both.
    #[must_use]
    pub fn in_both_directions(&self, order: Order) -> ConfidentCost {
        let [forward, reverse] = Direction::BOTH.map(|direction| self.at(order, direction));
        ConfidentCost {
            threshold: forward.threshold.max(reverse.threshold),
            answer: forward.answer.max(reverse.answer),
            pass: self.pass,
        }
    }
}

/// Data-dependent RDP of a noisy argmax from ln q, in the direction whose first distribution has this q, when one vote
/// moves: [`gnmax_data_dependent`] or [`lnmax_data_dependent`].
#[must_use]
pub fn argmax_data_dependent(noise: Noise, order: Order, log_q: f64) -> f64 {
    match noise {
        Noise::Gaussian(sigma) => gnmax_data_dependent(order, sigma, log_q),
        Noise::Laplace(b) => lnmax_data_dependent(order, b, log_q),
    }
}

/// RDP of a noisy argmax after a threshold test, if there is one, for all votes and in both directions, when one vote
/// moves: [`gnmax_data_independent`] or [`lnmax_data_independent`], and [`threshold_data_independent`].
#[must_use]
pub fn argmax_data_independent(noise: Noise, test: Option<&ThresholdTest>, order: Order) -> f64 {
    let threshold = test.map_or(0.0, |test| threshold_data_independent(order, test.sigma()));
    let argmax = match noise {
        Noise::Gaussian(sigma) => gnmax_data_independent(order, sigma),
        Noise::Laplace(b) => lnmax_data_independent(order, b),
    };
    sum_up(threshold, argmax)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::{ThresholdForm, confident_argmax_distribution, noisy_argmax_distribution};
    use crate::divergence::renyi_divergence;
    use proptest::prelude::*;

    fn noise(kind: bool, scale: f64) -> Noise {
        let scale = NoiseScale::new(scale).unwrap();
        if kind { Noise::Gaussian(scale) } else { Noise::Laplace(scale) }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Both forms of the cost compared with exact divergences in both directions, for every move.
        #[test]
        fn each_direction_is_above_its_exact_divergence(
            mut counts in prop::collection::vec(0u64..30, 2..5), consensus in 0u64..40, gaussian: bool,
            (scale, a, threshold) in (-1.5f64..3.0, 0.01f64..4.0, 0.0f64..50.0), tested: bool, max: bool,
        ) {
            counts[0] += consensus;
            let votes = VoteHistogram::new(counts).unwrap();
            let noise = noise(gaussian, scale.exp());
            let form = if max { ThresholdForm::Max } else { ThresholdForm::PerClass };
            let test = ThresholdTest::new(threshold, NoiseScale::new(scale.exp()).unwrap(), form).unwrap();
            let test = tested.then_some(test);
            let order = Order::new(1.0 + a.exp()).unwrap();
            let distribution = |votes: &VoteHistogram| match &test {
                Some(test) => confident_argmax_distribution(votes, test, noise).unwrap(),
                None => noisy_argmax_distribution(votes, noise).unwrap(),
            };
            let p = distribution(&votes);
            let any = VoteCost::of_moved_vote(noise, test.as_ref(), &votes);
            for change in votes.neighbors(VoteChange::Moved) {
                let neighbor = votes.neighbor(change).unwrap();
                let q = distribution(&neighbor);
                let pair = VoteCost::of_pair(noise, test.as_ref(), &votes, &neighbor);
                for (direction, first, second) in [(Direction::Forward, &p, &q), (Direction::Reverse, &q, &p)] {
                    let exact = renyi_divergence(first, second, order).unwrap();
                    for cost in [pair, any] {
                        let cost = cost.at(order, direction).whole();
                        prop_assert!(
                            exact <= cost * (1.0 + 1e-9) + 1e-14,
                            "{votes} {neighbor} {noise} {direction} {}: {exact} {cost}", order.get()
                        );
                    }
                }
            }
        }

        /// The q of unknown neighbors is at least the q of every neighbor.
        #[test]
        fn no_neighbor_flips_more_often(
            counts in prop::collection::vec(0u64..20, 2..6), gaussian: bool, scale in -2.0f64..3.0,
            threshold in 0.0f64..25.0, max: bool,
        ) {
            let (votes, noise) = (VoteHistogram::new(counts).unwrap(), noise(gaussian, scale.exp()));
            let form = if max { ThresholdForm::Max } else { ThresholdForm::PerClass };
            let test = ThresholdTest::new(threshold, NoiseScale::new(scale.exp()).unwrap(), form).unwrap();
            let [argmax, answer] =
                [FlipProbability::of_moved_vote(&votes, noise), FlipProbability::of_test_moved_vote(&test, &votes)];
            for change in votes.neighbors(VoteChange::Moved) {
                let neighbor = votes.neighbor(change).unwrap();
                let known = FlipProbability::of_pair(&votes, &neighbor, noise);
                prop_assert!(known.log_q(Direction::Reverse) <= argmax.log_q(Direction::Reverse) + 1e-12);
                let known = FlipProbability::of_test_pair(&test, &votes, &neighbor);
                prop_assert!(known.log_q(Direction::Reverse) <= answer.log_q(Direction::Reverse) + 1e-12);
            }
        }
    }

    #[test]
    fn nothing_moves_without_votes_or_classes() {
        let noise = noise(true, 1.0);
        for counts in [vec![0, 0], vec![7]] {
            let flip = FlipProbability::of_moved_vote(&VoteHistogram::new(counts).unwrap(), noise);
            assert_eq!(flip.log_q(Direction::Forward), flip.log_q(Direction::Reverse));
        }
    }

    /// (2 + g)/4 e^-g at g = 8 for the best neighbor of 6:0 with Laplace noise of 0.5; a lead of less than two votes
    /// may be reversed.
    #[test]
    fn the_flip_probability_of_a_moved_vote_is_the_tail_of_its_lead() {
        let noise = noise(false, 0.5);
        let flip = FlipProbability::of_moved_vote(&VoteHistogram::new(vec![6, 0]).unwrap(), noise);
        assert!((flip.log_q(Direction::Reverse) - (2.5f64.ln() - 8.0)).abs() < 1e-12, "{flip:?}");
        assert!((log_exceedance(noise, -1.0) - f64::ln_1p(-libm::exp(-2.0))).abs() < 1e-12);
        let flip = FlipProbability::of_moved_vote(&VoteHistogram::new(vec![3, 2]).unwrap(), noise);
        assert!((flip.log_q(Direction::Reverse) + LN_2).abs() < 1e-12, "{flip:?}");
    }
}
