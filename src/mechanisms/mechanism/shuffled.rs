//! Answers of many voters, shuffled.

use super::one_by_one::one_by_one;
use super::randomized_response::only_vote;
use super::{Bins, BothLosses, DataKind, LargestLoss, Mechanism, MechanismKind, Parameter, Parameters, draw, required};
use crate::accountant::{Statement, Theorem, WorstCases, rdp_of_own_loss};
use crate::distribution::OutcomeDistribution;
use crate::divergence::{EnclosedLoss, PrivacyLoss};
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::quadrature::LogIntegral;
use crate::quantity::NoiseScale;
use crate::simulate::Sampler;
use crate::special::{log_binomial_pmf, log_sum_exp, softplus};
use rand::RngExt;
use std::f64::consts::LN_2;
use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

/// With more users than this, numbers are not listed one by one.
const MOST_USERS: u64 = 10_000;
/// From this ε on, probabilities leave the range of doubles.
const LARGEST_EPSILON: f64 = 700.0;
/// From this many on, numbers are listed only up to this many standard deviations from the middle.
const MANY: u64 = 128;
const REACH: f64 = 12.0;
/// Rounding error of a probability, in units of 1 and of its logarithm.
const ROUNDING: f64 = 32.0 * f64::EPSILON;

/// The number of ones among the shuffled answers of this many users, each of them true with probability w =
/// e^ε/(e^ε + 1) (binary randomized response). Data are the vote of one user; all others vote for the first class.
///
/// *Theorem*, for ε-differentially private local randomizers R of any kind, and any votes: with C ~ Bin(n-1, e^{-ε}),
/// A ~ Bin(C, 1/2) and Δ = 1 with probability w, otherwise 0, all shuffled answers are post-processing of (A + Δ, C -
/// A + 1 - Δ) with one vote of a user and of (A + 1 - Δ, C - A + Δ) with the other. So no divergence exceeds that of
/// these two, which the theorem of the registry and the upper end of enclosed losses use. Given C and first number i,
/// ```text
/// ln P/Q = ln(w i + (1-w) (C+1-i)) - ln((1-w) i + w (C+1-i)).
/// ```
/// *Proof.* Let R_0 and R_1 be the answers to the two votes. Since R_0 ≥ e^{-ε} R_1 and vice versa, there are Q_0 and
/// Q_1 with R_0 = w Q_0 + (1-w) Q_1 and R_1 = (1-w) Q_0 + w Q_1. The answer of every other user is at least e^{-ε} R_0
/// and e^{-ε} R_1, hence at least e^{-ε} (R_0 + R_1)/2 = e^{-ε} (Q_0 + Q_1)/2: with probability e^{-ε} it is drawn from
/// Q_0 or Q_1 by a fair coin, and otherwise from a distribution that does not depend on the vote in question. The
/// numbers of draws from Q_0 and from Q_1 are the pair above, and the answers are drawn from them and shuffled. ∎
///
/// ```
/// # use leakbound::accountant::WorstCases;
/// # use leakbound::bound::Direction;
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::mechanism::{Bins, Mechanism, parse};
/// # use leakbound::quantity::Order;
/// let [zero, one] = [vec![1, 0], vec![0, 1]].map(|vote| VoteHistogram::new(vote).unwrap());
/// let (alone, shuffled) = (parse("shuffled-response:sigma=1,users=1")?, parse("shuffled-response:sigma=1,users=500")?);
/// let order = Order::new(2.0)?;
/// let bound = |mechanism: &dyn Mechanism| {
///     mechanism.theorems_for(&zero, &WorstCases::default())[0].at(order, Direction::Forward).unwrap().value
/// };
/// let exact = |mechanism: &dyn Mechanism| {
///     mechanism.output_pair(&zero, &one, Bins::at(None)).unwrap().renyi(Direction::Forward, order)
/// };
/// assert!((bound(&*alone) / exact(&*alone) - 1.0).abs() < 1e-9);
/// assert!(exact(&*shuffled) < bound(&*shuffled) && bound(&*shuffled) < 0.02 * bound(&*alone));
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Feldman, McMillan and Talwar (2021), "Hiding among the clones: a simple and nearly optimal analysis of privacy
/// amplification by shuffling", section 3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShuffledResponse {
    /// 1/ε.
    scale: NoiseScale,
    users: u64,
}

/// Shuffled answers of many users by binary randomized response.
pub const SHUFFLED_RESPONSE: &MechanismKind = &MechanismKind {
    name: "shuffled-response",
    example: "shuffled-response:sigma=1,users=1000",
    data: DataKind::OneVoter,
    // 1/ε, as for randomized response.
    parameters: &[Parameter::noise("sigma"), Parameter::number("users", &[1.0, 2.0, 10.0, 100.0])],
    releases: Some(
        "how many of the shuffled answers of `users` users are ones, each the truth with probability \
         e^(1/`sigma`)/(e^(1/`sigma`) + 1); all others vote for the first of two classes",
    ),
    theorems: &[&CLONES],
    // As for one user.
    noise_hides: true,
    read: |parameters| {
        let users = parameters.whole("users", [1, MOST_USERS])?;
        let scale = parameters.in_domain("sigma", |sigma| {
            let scale = NoiseScale::new(sigma)?;
            Error::check_domain(sigma.recip() <= LARGEST_EPSILON, "noise scale", sigma, "[1/700, inf)")?;
            Ok(scale)
        })?;
        Ok(Arc::new(ShuffledResponse { scale, users }))
    },
    draw_data: draw::one_of_two,
    draw: |stream, _| {
        let users = *draw::pick(stream, &[1, 2, 3, 10, 30, 100]);
        Some(Arc::new(ShuffledResponse { scale: draw::scale(stream)?, users }))
    },
};

static CLONES: Statement = Statement::for_any_data(
    "shuffled-response",
    "answers that a shuffler mixes",
    "Feldman, McMillan and Talwar (2021), section 3, by the moments of the privacy loss of the clones",
)
.certified(1e-6);

impl ShuffledResponse {
    /// ε of one user.
    fn epsilon(self) -> f64 {
        self.scale.get().recip()
    }

    /// Number of users.
    #[must_use]
    pub const fn users(&self) -> u64 {
        self.users
    }

    /// ln of the probabilities of this many ones among the others, and of one more from the user.
    fn rows(self, own: usize) -> Vec<LogIntegral> {
        let (others, e) = (self.users - 1, self.epsilon());
        let lie = libm::exp(-softplus(e));
        // For a one from the user, and for a zero.
        let says = if own == 1 { [-softplus(-e), -softplus(e)] } else { [-softplus(e), -softplus(-e)] };
        let ln = |ones: Option<u64>, said: f64| match ones.filter(|&ones| ones <= others) {
            Some(ones) => log_binomial_pmf(ones, others, lie) + said,
            None => f64::NEG_INFINITY,
        };
        let row = |ones: u64| {
            let [a, b] = [ln(ones.checked_sub(1), says[0]), ln(Some(ones), says[1])];
            let ln_value = log_sum_exp([a, b].into_iter());
            let size = if ln_value == f64::NEG_INFINITY { 0.0 } else { ln_value.abs() };
            LogIntegral { ln_value, error: 16.0 * f64::EPSILON * (1.0 + size) }
        };
        (0..=self.users).map(row).collect()
    }

    /// A loss that is at least that of the two numbers of clones; equal in both directions.
    fn clones(self) -> PrivacyLoss {
        let (others, e) = (self.users - 1, self.epsilon());
        let (ln_truth, ln_lie) = (-softplus(-e), -softplus(e));
        let share = libm::exp(-e);
        let mut atoms = Vec::new();
        let (near, mut rest) = near(others, share);
        for clones in near {
            let ln_clones = log_binomial_pmf(clones, others, share);
            let all = clones + 1;
            let (near, beyond) = self::near(all, 0.5);
            rest += libm::exp(ln_clones) * beyond;
            for first in near {
                let [one, other] = [first as f64, (all - first) as f64].map(f64::ln);
                let [p, q] = [[one, other], [other, one]]
                    .map(|[truth, lie]| log_sum_exp([ln_truth + truth, ln_lie + lie].into_iter()));
                let ln = ln_clones + log_binomial_pmf(first, all, 0.5) + LN_2 - (all as f64).ln() + p;
                atoms.push((p - q, libm::exp(ln) * (1.0 + ROUNDING * (1.0 + ln.abs()))));
            }
        }
        // The omitted part has no loss above ε or below -ε: placing it at either end overestimates it.
        atoms.extend([(e, rest), (-e, rest)]);
        PrivacyLoss::of_atoms(atoms)
    }

    fn theorem(self) -> Theorem {
        let clones = OnceLock::new();
        Theorem::alike(&CLONES, move |order| {
            rdp_of_own_loss(order, clones.get_or_init(|| self.clones()), &|_| self.epsilon())
        })
    }
}

/// The listed numbers of successes of a binomial distribution, and a bound on the probability of all others.
fn near(n: u64, p: f64) -> (RangeInclusive<u64>, f64) {
    if n < MANY {
        return (0..=n, 0.0);
    }
    let (trials, mean) = (n as f64, n as f64 * p);
    let reach = REACH * (mean * (1.0 - p)).sqrt() + 2.0 * REACH;
    let (least, most) = ((mean - reach).max(0.0) as u64, ((mean + reach) as u64).min(n));
    // Chernoff's bound for the numbers from `k` on, away from the mean.
    let beyond = |k: u64| {
        let share = k as f64 / trials;
        let part = |share: f64, p: f64| if share == 0.0 { 0.0 } else { share * (share / p).ln() };
        libm::exp(-trials * (part(share, p) + part(1.0 - share, 1.0 - p)) * (1.0 - ROUNDING))
    };
    let below = if least > 0 { beyond(least - 1) } else { 0.0 };
    let above = if most < n { beyond(most + 1) } else { 0.0 };
    (least..=most, below + above)
}

/// The vote of the user, of two.
fn own(data: &VoteHistogram) -> Result<usize> {
    let reason = format_args!("the vote of a user is for one of two classes, not of {}", data.classes());
    required(data.classes() == 2, reason)?;
    only_vote(data)
}

impl Mechanism for ShuffledResponse {
    fn kind(&self) -> &'static MechanismKind {
        SHUFFLED_RESPONSE
    }

    fn parameters(&self) -> Parameters {
        Parameters::default().with("sigma", self.scale.get()).with("users", self.users as f64)
    }

    fn theorems_for(&self, _: &VoteHistogram, _: &WorstCases) -> Vec<Theorem> {
        vec![self.theorem()]
    }

    fn largest_loss(&self, _: &VoteHistogram) -> LargestLoss {
        // All others may have given the same answer.
        LargestLoss::over(1.0, self.scale)
    }

    fn output_distribution(&self, data: &VoteHistogram, _: Bins) -> Result<OutcomeDistribution> {
        OutcomeDistribution::from_integrals(&self.rows(own(data)?))
    }

    fn sampler(&self, data: &VoteHistogram, neighbor: &VoteHistogram, _: Bins) -> Result<Box<dyn Sampler>> {
        let (votes, users) = ([own(data)?, own(neighbor)?], self.users);
        let truth = 1.0 / (1.0 + libm::exp(-self.epsilon()));
        Ok(one_by_one(users as usize + 1, move |world, stream| {
            let vote = |user: u64| user == 0 && votes[world.index()] == 1;
            (0..users).filter(|&user| stream.random_bool(truth) == vote(user)).count()
        }))
    }

    /// At least the losses of these votes, at most those of any votes of the others and of any local randomizer.
    fn enclosed_losses(&self, data: &VoteHistogram, neighbor: &VoteHistogram, _: usize) -> Result<BothLosses> {
        let exact = (self as &dyn Mechanism).known_losses(data, neighbor)?;
        if data == neighbor {
            return Ok(exact);
        }
        let at_most = self.clones();
        Ok(exact.map(|loss| EnclosedLoss { at_least: loss.at_least, at_most: at_most.clone() }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::super::tests::either_vote;
    use super::*;
    use crate::bound::Direction;
    use crate::quantity::{Epsilon, Order};

    fn mechanism(sigma: f64, users: u64) -> ShuffledResponse {
        *parse(&format!("shuffled-response:sigma={sigma},users={users}")).unwrap().downcast().unwrap()
    }

    /// Two users with e^ε = 2, written out.
    #[test]
    fn two_users_are_those_written_out() {
        let [zero, one] = either_vote();
        let sigma = 2f64.ln().recip();
        for (vote, expected) in [(&zero, [4.0, 4.0, 1.0]), (&one, [2.0, 5.0, 2.0])] {
            let found = mechanism(sigma, 2).output_distribution(vote, Bins::at(None)).unwrap();
            let close = found.p().iter().zip(expected).all(|(a, b)| (a - b / 9.0).abs() < 1e-14);
            assert!(close, "{found:?}");
        }
    }

    /// The pair of the clones by its definition, number by number, compared with its loss.
    #[test]
    fn the_loss_of_the_clones_is_that_of_their_definition() {
        for (sigma, users) in [(1.0, 1), (1.0, 2), (0.5, 7), (3.0, 40)] {
            let e: f64 = 1.0 / sigma;
            let (w, share) = (libm::exp(e) / (libm::exp(e) + 1.0), libm::exp(-e));
            let (mut p, mut q) = (Vec::new(), Vec::new());
            for clones in 0..users {
                for first in 0..=clones + 1 {
                    let binomial = |k: Option<u64>| {
                        k.filter(|&k| k <= clones).map_or(0.0, |k| libm::exp(log_binomial_pmf(k, clones, 0.5)))
                    };
                    let [with, without] = [binomial(first.checked_sub(1)), binomial(Some(first))];
                    let weight = libm::exp(log_binomial_pmf(clones, users - 1, share));
                    p.push(weight * (w * with + (1.0 - w) * without));
                    q.push(weight * ((1.0 - w) * with + w * without));
                }
            }
            let [p, q] = [p, q].map(|p| OutcomeDistribution::from_probabilities(&p).unwrap());
            for a in [1.5, 2.0, 20.0] {
                let order = Order::new(a).unwrap();
                let expected = crate::divergence::renyi_divergence(&p, &q, order).unwrap();
                let bound = mechanism(sigma, users).theorem().at(order, Direction::Forward).unwrap().value;
                assert!(
                    bound >= expected && bound < expected * (1.0 + 1e-6),
                    "{sigma} {users} {a}: {bound} {expected}"
                );
            }
        }
    }

    /// The exact divergence stays below the theorem, also with other votes of the others, and equals it for one user.
    #[test]
    fn exact_divergences_are_below_the_theorem() {
        let [zero, one] = either_vote();
        for (sigma, users) in [(0.3, 3), (1.0, 20), (1.0, 1000), (4.0, 100)] {
            let mechanism = mechanism(sigma, users);
            let pair = (&mechanism as &dyn Mechanism).output_pair(&zero, &one, Bins::at(None)).unwrap();
            for a in [1.1, 2.0, 30.0] {
                let order = Order::new(a).unwrap();
                for direction in Direction::BOTH {
                    let bound = mechanism.theorem().at(order, direction).unwrap().value;
                    assert!(pair.renyi(direction, order) <= bound, "{sigma} {users} {a}");
                }
            }
        }
        // More users hide more, at every ε.
        let delta = |users: u64| {
            let pair = (&mechanism(1.0, users) as &dyn Mechanism).output_pair(&zero, &one, Bins::at(None)).unwrap();
            pair.delta(Direction::Forward, Epsilon::new(0.2).unwrap())
        };
        assert!(delta(10) < delta(2) && delta(1000) < delta(100));
    }

    /// Rounding does not hide how little of a tiny divergence remains, at any order.
    #[test]
    fn little_is_left_of_much_noise() {
        let [zero, one] = either_vote();
        for users in [1, 2, 100] {
            let mechanism = mechanism(1e6, users);
            let pair = (&mechanism as &dyn Mechanism).output_pair(&zero, &one, Bins::at(None)).unwrap();
            for a in [1.5, 76.0, 1e4] {
                let order = Order::new(a).unwrap();
                let (exact, bound) =
                    (pair.renyi(Direction::Forward, order), mechanism.theorem().at(order, Direction::Forward).unwrap());
                // For one user α ε²/2 + O(ε⁴), and no more for many.
                assert!(bound.value <= 0.5 * a * 1e-12 * (1.0 + 1e-5), "{users} {a}: {}", bound.value);
                assert!(bound.value >= exact * (1.0 - 1e-6), "{users} {a}: {} {exact}", bound.value);
            }
        }
    }

    #[test]
    fn what_is_no_number_of_users_is_rejected() {
        for (text, words) in [
            ("shuffled-response:sigma=1,users=0", "users = 0 is not in [1, 10000]"),
            ("shuffled-response:sigma=1,users=100000", "users = 100000 is not in [1, 10000]"),
            ("shuffled-response:sigma=1,users=1.5", "users = 1.5 is not a whole number"),
            ("shuffled-response:sigma=1,users=1e9", "users = 1000000000 is not in [1, 10000]"),
            ("shuffled-response:sigma=1,users=nan", "users = NaN is not in [1, 10000]"),
            ("shuffled-response:sigma=1e-3,users=2", "sigma: noise scale = 0.001 is not in [1/700, inf)"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(words) && !error.contains('\n'), "{text}: {error}");
        }
        let other = VoteHistogram::new(vec![1, 0, 0]).unwrap();
        assert!(mechanism(1.0, 3).output_distribution(&other, Bins::at(None)).is_err());
    }
}
