//! ε from one training run by all clear scores together: the clearer a score, the more its guess counts.

use super::one_run_ranks::{GuessedSides, OneRunAudit, OneRunGuesses, cumulated, ranked, right};
use super::scores::CanaryScores;
use crate::bound::{LowerBound, Validity};
use crate::error::{Error, Result};
use crate::parallel;
use crate::quantity::{Delta, FailureProbability};
use crate::special::{ndtr, ndtri};
use leakbound_fft::{Complex, Planner};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::f64::consts::PI;
use std::sync::OnceLock;

/// L: the largest weight of a guess.
const LEVELS: usize = 10;
/// Number of tested values of ε: [`tested_epsilon`] from 0 to this.
const TESTS: usize = 500;
/// The first values differ by this step, the others by this factor.
const STEP: f64 = 0.005;
const EVEN_STEPS: usize = 100;
const FACTOR: f64 = 1.01;
/// No attack is assumed to be clearer than this.
const LARGEST_MU: f64 = 60.0;
/// Standard deviations beyond which no normal score is expected.
const FAR: f64 = 9.0;
/// The smallest number of points in the integral of κ.
const FEWEST_POINTS: usize = 256;
/// Characteristic functions below exp(-200) count as 0: all points together contribute less than the rounding of one.
const NOTHING: f64 = 200.0;
/// Number of tests that are constructed together.
const AT_ONCE: usize = 32;
/// Half a unit in the last place.
const UNIT: f64 = 0.5 * f64::EPSILON;

/// Tests of (ε, δ)-differential privacy of one training run for increasing ε, and the bound that they give.
///
/// Canaries are ranked by their scores. With K guesses a side, the K highest are called members and, if both sides are
/// guessed ([`GuessedSides`]), the K lowest non-members. A test of ε adds up the right guesses of L = 10 nested numbers
/// K₁ ≥ ... ≥ K_L, so a guess counts once for each number that includes it, at most L times. It refutes ε if the sum
/// ```text
/// S = Σ_l right(K_l)  reaches the smallest v with  P(S* ≥ v) + (1-q) m δ κ ≤ f.
/// ```
/// S* is S with all guesses right independently with probability q = e^ε/(1+e^ε), and
/// ```text
/// κ = 1/π ∫ min(w, 1/sin(θ/2)) (1 - e^{-A(θ)})/A(θ) dθ over [0, π],  at most 1,
/// A(θ) = Σ_l n_l a_l(θ) - max_l a_l(θ),  a_l(θ) = 1 - |q + (1-q) e^{ilθ}|,
/// ```
/// with the number n_l of guesses that count l times and the largest such l, w. The bound is the largest of the tested
/// ε (multiples of 0.005, from 0.5 on in steps of 1%) up to which all are refuted. *Finite-sample*: the training is
/// also (ε', δ)-private for the smallest tested ε' that is at least the true ε, and a bound above the true ε has
/// refuted ε'. The failure probability f is spent once, on ε alone.
///
/// **Why.** Let R_k indicate that guess k is right, and let φ be any increasing function of all R with values in [0, 1],
/// which may depend on the model. Order the canaries in any way, and let h_k be the expectation of φ when the first k
/// guesses are unchanged and the others are independently right with probability q. Then φ - h_0 = Σ_k (R_k - q) Δ_k,
/// where Δ_k ≥ 0 is the change in that expectation between a right and a wrong guess k. Given the coins before it, the
/// models with and without canary k are (ε, δ)-indistinguishable, and 1-q = e^{-ε} q, so each summand has expectation
/// at most (1-q) δ max Δ_k, which is 0 for δ = 0.
///
/// For a sum, Δ_k is the probability that the remaining guesses add up to one of some w_k neighboring values. It is at
/// most the mean over the circle of |sin(w_k θ/2)/sin(θ/2)| |ψ(θ)| for their characteristic function ψ. The order may
/// be random, because it enters only this proof. At position x of a random order, uniform on [0, 1], each other guess
/// is still to come with probability 1-x, so |ψ| is at most e^{-(1-x) A} on average, and the average of that over x is
/// the fraction in κ. The integral is evaluated by the trapezoidal rule with a spacing below the width of the
/// integrand, and 2% is added.
///
/// **Which numbers.** Any choice that does not depend on the coins is valid; this one is a function of m, δ, f and ε. For
/// normal scores at distance μ, the best weight of a guess is its log-odds minus ε if that is positive (Neyman and
/// Pearson 1933). For each ε, μ is the value at which ε is refuted half of the time by normal approximation, so that an
/// attack of any strength is weighted suitably at the ε where it matters. The weights are rounded to L even steps, up
/// to that of the clearest guess of a side, or of the clearest 8 e^{-ε} (m δ/f)² if δ lets a mechanism reveal canaries.
///
/// If all canaries are equally certain, as under randomized response, one declared number of guesses shows more.
///
/// # Example
/// ```
/// # use leakbound::audit::{CanaryScores, GuessedSides, NestedTests};
/// # use leakbound::prelude::*;
/// let tests = NestedTests::new(1_000, GuessedSides::Both, Delta::new(1e-5)?, FailureProbability::new(0.05)?)?;
/// // A run that shows every canary.
/// let scores = CanaryScores::new(vec![1.0; 500], vec![0.0; 500])?;
/// let audit = tests.audit(&scores, 0)?;
/// assert!((audit.epsilon.value - 5.78).abs() < 0.01 && audit.epsilon.value == tests.most());
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Steinke, Nasr and Jagielski (2023), "Privacy auditing with one (1) training run", for guesses and their domination
/// where δ = 0. Weights, and the term for δ, are new in this library.
#[derive(Debug)]
pub struct NestedTests {
    canaries: u64,
    sides: GuessedSides,
    delta: Delta,
    failure: FailureProbability,
    /// Tests of [`tested_epsilon`], constructed when needed.
    tests: Vec<OnceLock<Option<NestedTest>>>,
}

/// A test of one ε.
#[derive(Debug, Clone, PartialEq)]
struct NestedTest {
    epsilon: f64,
    /// K₁ ≥ ... ≥ K_L.
    numbers: [u64; LEVELS],
    /// At most this many wrong guesses, each counted with its weight, refute ε.
    most_wrong: u64,
}

/// The tested values of ε.
fn tested_epsilon(index: usize) -> f64 {
    let even = STEP * index.min(EVEN_STEPS) as f64;
    even * libm::pow(FACTOR, index.saturating_sub(EVEN_STEPS) as f64)
}

impl NestedTests {
    /// Tests for m canaries.
    ///
    /// # Errors
    /// [`Error::Domain`] unless there are 2 to 2^53 canaries.
    pub fn new(canaries: u64, sides: GuessedSides, delta: Delta, failure: FailureProbability) -> Result<Self> {
        let legal = (2..=crate::counts::MAX_COUNT).contains(&canaries);
        Error::check_domain(legal, "canaries", canaries as f64, "[2, 2^53]")?;
        Ok(Self { canaries, sides, delta, failure, tests: (0..TESTS).map(|_| OnceLock::new()).collect() })
    }

    /// The bound from the scores of these canaries. Ties are broken at random, as a function of the seed. The guesses
    /// of the audit are those with a positive weight in the test of the largest refuted ε, or of ε = 0 if none is
    /// refuted; μ is not bounded.
    ///
    /// # Errors
    /// [`Error::Length`] for a different number of canaries.
    pub fn audit(&self, scores: &CanaryScores, seed: u64) -> Result<OneRunAudit> {
        self.of_sums(&cumulated(&ranked(scores, &mut ChaCha8Rng::seed_from_u64(seed))))
    }

    /// As [`audit`](Self::audit), from the members among the first k canaries for each k.
    pub(super) fn of_sums(&self, sums: &[u64]) -> Result<OneRunAudit> {
        let found = sums.len().saturating_sub(1);
        Error::check_length(sums.len() as u64 == self.canaries + 1, "scores of canaries", found, self.canaries)?;
        let refuted = |test: &&NestedTest| test.wrong(self.sides, sums).is_ok_and(|wrong| wrong <= test.most_wrong);
        let last = self.tests().take_while(refuted).last();
        let guesses = self.sides.guesses(last.or_else(|| self.tests().next()).map_or(1, |test| test.numbers[0]));
        let epsilon = last.map_or(0.0, |test| test.epsilon);
        let epsilon = LowerBound::new(epsilon, self.failure, "one-run-nested", Validity::FiniteSample);
        Ok(OneRunAudit { guesses, right: right(sums, guesses)?, canaries: self.canaries, epsilon, mu: None })
    }

    /// The largest bound: with every guess right.
    #[must_use]
    pub fn most(&self) -> f64 {
        for first in (0..TESTS).step_by(AT_ONCE) {
            let made = parallel::map(first..TESTS.min(first + AT_ONCE), |index| self.made(index).is_some());
            if made.contains(&false) {
                break;
            }
        }
        self.tests().last().map_or(0.0, |test| test.epsilon)
    }

    /// The test with this index; `None` if no guesses could refute its ε.
    fn made(&self, index: usize) -> Option<&NestedTest> {
        let new = || NestedTest::new((self.canaries, self.sides), tested_epsilon(index), self.delta, self.failure);
        self.tests[index].get_or_init(new).as_ref()
    }

    /// Up to the first ε beyond the reach of all guesses.
    fn tests(&self) -> impl Iterator<Item = &NestedTest> {
        (0..TESTS).map_while(|index| self.made(index))
    }
}

impl NestedTest {
    /// `None` if no guesses could refute this ε.
    fn new(
        (canaries, sides): (u64, GuessedSides),
        epsilon: f64,
        delta: Delta,
        failure: FailureProbability,
    ) -> Option<Self> {
        let small = libm::exp(-epsilon);
        let wrong = small / (1.0 + small);
        // Canaries that δ may reveal anyway, compared with those that f concerns: this many count alike, harmlessly.
        let shown = canaries as f64 * delta.get() / failure.get();
        let alike = 8.0 * small * shown * shown;
        // Half of the canaries are on each side of the middle.
        let numbers = nested_numbers((canaries / 2, sides), alike, (epsilon, wrong), failure.get())?;
        let guesses = Weighted::new(&numbers, sides, wrong);
        let left = failure.get() - wrong * canaries as f64 * delta.get() * guesses.influence();
        Some(Self { epsilon, numbers, most_wrong: guesses.most_wrong(left)? })
    }

    fn wrong(&self, sides: GuessedSides, sums: &[u64]) -> Result<u64> {
        let mut sum = 0;
        for &number in self.numbers.iter().take_while(|&&number| number > 0) {
            let right = right(sums, sides.guesses(number))?;
            sum += right.trials() - right.successes();
        }
        Ok(sum)
    }
}

/// K₁ to K_L if each side has P canaries and at least some of them are to count alike: see [`NestedTests`].
fn nested_numbers(
    (half, sides): (u64, GuessedSides),
    alike: f64,
    (epsilon, wrong): (f64, f64),
    failure: f64,
) -> Option<[u64; LEVELS]> {
    let OneRunGuesses { members, others } = sides.guesses(half);
    let (all, guesses) = (half as f64, (members + others) as f64);
    // With f of one half or more, any sign of leakage would suffice.
    let needed = (-ndtri(failure)).max(0.5);
    if clearness(LARGEST_MU, epsilon, wrong, guesses) < needed {
        return None;
    }
    let mu = bisected([0.0, LARGEST_MU], |mu| clearness(mu, epsilon, wrong, guesses) < needed);
    // The share of scores that are further than x from the middle.
    let share = |x: f64| ndtr(0.5 * mu - x) + ndtr(-0.5 * mu - x);
    let furthest = bisected([0.0, 0.5 * mu + FAR], |x| all * share(x) > alike.clamp(1.0, all));
    let step = ((mu * furthest - epsilon) / LEVELS as f64).max(0.0);
    let mut numbers = std::array::from_fn(|level| {
        let x = (epsilon + (level as f64 + 0.5) * step) / mu;
        (all * share(x)).round().min(all) as u64
    });
    numbers[0] = numbers[0].max(1);
    Some(numbers)
}

/// How many standard deviations the weighted sum of right guesses is expected to lie above its mean under ε, for normal
/// scores at distance μ: the weight of a score at x from the middle is μx - ε.
fn clearness(mu: f64, epsilon: f64, wrong: f64, guesses: f64) -> f64 {
    let (from, to) = (epsilon / mu, 0.5 * mu + FAR);
    if !(from < to) {
        return 0.0;
    }
    let density = |x: f64| libm::exp(-0.5 * (x - 0.5 * mu).powi(2)) + libm::exp(-0.5 * (x + 0.5 * mu).powi(2));
    let weight = |x: f64| mu * x - epsilon;
    let integral = |f: &dyn Fn(f64) -> f64| quadrature::integrate(f, from, to, 1e-9 * mu).integral;
    // Right with probability 1/(1 + e^{-μx}).
    let gain = integral(&|x| density(x) * weight(x) * (wrong - 1.0 / (1.0 + libm::exp(mu * x))));
    let square = integral(&|x| density(x) * weight(x).powi(2));
    let normalized = (2.0 * PI).sqrt();
    (guesses / normalized).sqrt() * gain / (square * wrong * (1.0 - wrong)).sqrt().max(f64::MIN_POSITIVE)
}

/// The point where a condition that holds on the left stops holding.
fn bisected([mut low, mut high]: [f64; 2], holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if holds(middle) { low = middle } else { high = middle }
    }
    high
}

/// sin²(πk/N) of whole k, for N a power of two.
struct Squares(Vec<f64>);

impl Squares {
    fn new(points: usize) -> Self {
        let square = |index: usize| libm::sin(PI * index as f64 / points as f64).powi(2);
        let half: Vec<f64> = (0..=points / 2).map(square).collect();
        let rest: Vec<f64> = half[1..points - points / 2].iter().rev().copied().collect();
        Self([half, rest].concat())
    }

    /// At a point times a whole weight.
    fn at(&self, index: usize, weight: f64) -> f64 {
        self.0[(index * weight as usize) & (self.0.len() - 1)]
    }
}

/// Guesses that count 1 to L times, each wrong with the same probability independently.
struct Weighted {
    /// n_1 to n_L.
    counts: [u64; LEVELS],
    wrong: f64,
}

impl Weighted {
    fn new(numbers: &[u64; LEVELS], sides: GuessedSides, wrong: f64) -> Self {
        let OneRunGuesses { members, others } = sides.guesses(1);
        let next = |level: usize| numbers.get(level + 1).copied().unwrap_or(0);
        Self { counts: std::array::from_fn(|level| (members + others) * (numbers[level] - next(level))), wrong }
    }

    /// Weights that occur, with the number of guesses that have each.
    fn weighted(&self) -> impl DoubleEndedIterator<Item = (f64, f64)> {
        let all = self.counts.iter().enumerate().map(|(level, &count)| ((level + 1) as f64, count as f64));
        all.filter(|&(_, n)| n > 0.0)
    }

    /// κ.
    fn influence(&self) -> f64 {
        let (p, q) = (self.wrong, 1.0 - self.wrong);
        let most = self.weighted().next_back().map_or(0.0, |(weight, _)| weight);
        let points = self.points().max(FEWEST_POINTS);
        let squares = Squares::new(points);
        let integrand = |index: usize| {
            let (mut sum, mut largest) = (0.0, 0.0f64);
            for (weight, n) in self.weighted() {
                // 1 - √(1 - x) with its digits.
                let square = (4.0 * p * q * squares.at(index, weight)).min(1.0);
                let lost = square / (1.0 + (1.0 - square).sqrt());
                sum += n * lost;
                largest = largest.max(lost);
            }
            let rest = (sum - largest).max(0.0);
            let mean = if rest > 0.0 { -libm::expm1(-rest) / rest } else { 1.0 };
            mean * most.min(1.0 / squares.at(index, 1.0).sqrt().max(f64::MIN_POSITIVE))
        };
        let ends = 0.5 * (integrand(0) + integrand(points / 2));
        let sum: f64 = ends + (1..points / 2).map(integrand).sum::<f64>();
        (1.02 * sum * 2.0 / points as f64).min(1.0)
    }

    /// Number of points of a window that holds all relevant E: beyond half of them from the mean there is at most 2
    /// exp(-40) (Hoeffding 1963).
    fn points(&self) -> usize {
        let squares: f64 = self.weighted().map(|(weight, n)| weight * weight * n).sum();
        let points = (self.total() + 1.0).min(9.0 * squares.sqrt() + 8.0).max(8.0) as usize;
        points.next_power_of_two()
    }

    /// The largest value of E.
    fn total(&self) -> f64 {
        self.weighted().map(|(weight, n)| weight * n).sum()
    }

    /// The largest e with P(E ≤ e) ≤ `probability` for the weight E of the wrong guesses.
    fn most_wrong(&self, probability: f64) -> Option<u64> {
        let (total, points) = (self.total(), self.points());
        let first =
            if total < points as f64 { 0.0 } else { (self.wrong * total - 0.5 * points as f64).floor().max(0.0) };
        let (masses, error) = self.masses(points);
        let mut sum = error + 2.0 * libm::exp(-40.0);
        let mut most = None;
        for e in 0..points as u64 {
            let mass = masses[((first as u64 + e) % points as u64) as usize];
            // Negative values come from rounding; NaN ends the sum.
            sum += if mass < 0.0 { 0.0 } else { mass };
            if !(sum <= probability) {
                break;
            }
            most = Some(first as u64 + e);
        }
        most
    }

    /// The distribution of E modulo the number of points, and a bound on the error of any sum of its masses.
    fn masses(&self, points: usize) -> (Vec<f64>, f64) {
        let (p, q) = (self.wrong, 1.0 - self.wrong);
        let squares = Squares::new(points);
        let characteristic = |index: usize| {
            // A guess has |ψ|² = 1 - 4 pq sin², so ln |ψ| of all guesses is below -2 pq times this.
            let lost: f64 = self.weighted().map(|(weight, n)| n * squares.at(index, weight)).sum();
            if 2.0 * p * q * lost > NOTHING {
                return Complex::ZERO;
            }
            let (mut log_size, mut angle) = (0.0, 0.0);
            for (weight, n) in self.weighted() {
                let turn = 2.0 * PI * (index as f64 * weight % points as f64) / points as f64;
                log_size += 0.5 * n * libm::log1p((-4.0 * p * q * squares.at(index, weight)).max(-1.0));
                angle += n * libm::atan2(p * libm::sin(turn), q + p * libm::cos(turn));
            }
            Complex::from_polar(libm::exp(log_size), angle)
        };
        let mut values: Vec<Complex<f64>> = (0..=points / 2).map(characteristic).collect();
        values.extend((1..points - points / 2).rev().map(|index| values[index].conj()).collect::<Vec<_>>());
        let sizes: f64 = values.iter().map(|value| value.norm()).sum();
        Planner::new().forward(points).process(&mut values);
        // Angles are sums of up to π for each guess, and a transform has log₂ N stages.
        let guesses: f64 = self.weighted().map(|(_, n)| n).sum();
        let error = sizes * UNIT * (64.0 * (guesses + 64.0) + 8.0 * ((points as f64).log2() + 2.0));
        (values.into_iter().map(|value| value.re / points as f64).collect(), error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::tests::assert_rarely_wrong;
    use crate::special::log_binomial_pmf;
    use rand::RngExt;
    use rand_distr::{Distribution, StandardNormal};

    fn tests(canaries: u64, delta: f64, failure: f64) -> NestedTests {
        NestedTests::new(
            canaries,
            GuessedSides::Both,
            Delta::new(delta).unwrap(),
            FailureProbability::new(failure).unwrap(),
        )
        .unwrap()
    }

    /// P(E = e) by adding one guess after the other.
    fn by_steps(guesses: &Weighted) -> Vec<f64> {
        let mut masses = vec![1.0];
        for (weight, count) in (1..).zip(guesses.counts) {
            for _ in 0..count {
                let mut next = vec![0.0; masses.len() + weight];
                for (e, mass) in masses.iter().enumerate() {
                    next[e] += (1.0 - guesses.wrong) * mass;
                    next[e + weight] += guesses.wrong * mass;
                }
                masses = next;
            }
        }
        masses
    }

    #[test]
    fn critical_values_are_those_of_the_exact_distribution() {
        for (pairs, wrong) in [
            ([3, 2, 2, 1, 1, 1, 1, 0, 0, 0], 0.3),
            ([40, 31, 20, 13, 9, 6, 4, 3, 2, 1], 0.5),
            ([90, 4, 4, 4, 1, 0, 0, 0, 0, 0], 0.01),
            ([1, 0, 0, 0, 0, 0, 0, 0, 0, 0], 0.2),
            ([9, 4, 4, 0, 0, 0, 0, 0, 0, 0], 0.5),
        ] {
            let guesses = Weighted::new(&pairs, GuessedSides::Both, wrong);
            let exact = by_steps(&guesses);
            for probability in [0.9, 0.5, 0.05, 1e-3, 1e-8] {
                let mut sum = 0.0;
                let below = exact.iter().take_while(|&&mass| {
                    sum += mass;
                    sum <= probability
                });
                let expected = (below.count() as u64).checked_sub(1);
                assert_eq!(guesses.most_wrong(probability), expected, "{pairs:?} {wrong} {probability}");
            }
            assert_eq!(guesses.most_wrong(-0.1), None);
        }
    }

    /// One binomial distribution of many guesses, in a window of few points.
    #[test]
    fn a_window_holds_all_that_matters() {
        let guesses = Weighted::new(&[50_000, 0, 0, 0, 0, 0, 0, 0, 0, 0], GuessedSides::Both, 0.4);
        let (masses, error) = guesses.masses(4096);
        assert!(error < 1e-8);
        for wrong in [39_000u64, 39_900, 40_000, 40_400] {
            let expected = log_binomial_pmf(wrong, 100_000, 0.4).exp();
            assert!((masses[wrong as usize % 4096] - expected).abs() < 1e-12, "{wrong}");
        }
    }

    /// How much a guess with the largest weight changes the probability that a sum is large, averaged over random
    /// orders, if the guesses before it maximize the change.
    #[test]
    fn the_influence_of_a_guess_is_bounded() {
        for (pairs, wrong) in [
            ([6, 2, 1, 0, 0, 0, 0, 0, 0, 0], 0.5),
            ([6, 2, 1, 0, 0, 0, 0, 0, 0, 0], 0.1),
            ([30, 20, 12, 6, 3, 1, 0, 0, 0, 0], 0.3),
            ([60, 0, 0, 0, 0, 0, 0, 0, 0, 0], 0.4),
            ([40, 40, 40, 40, 1, 0, 0, 0, 0, 0], 0.2),
        ] {
            let guesses = Weighted::new(&pairs, GuessedSides::Both, wrong);
            let most = guesses.counts.iter().rposition(|&count| count > 0).unwrap();
            let mut mean = 0.0;
            let mut stream = ChaCha8Rng::seed_from_u64(5);
            for order in 0..200 {
                let share = (f64::from(order) + 0.5) / 200.0;
                let mut rest = Weighted { counts: [0; LEVELS], wrong };
                for (level, count) in guesses.counts.iter().enumerate() {
                    let others = count - u64::from(level == most);
                    rest.counts[level] = (0..others).filter(|_| stream.random::<f64>() < share).count() as u64;
                }
                let masses = by_steps(&rest);
                let windows = (0..masses.len()).map(|e| masses[e..].iter().take(most + 1).sum::<f64>());
                mean += windows.fold(0.0, f64::max) / 200.0;
            }
            let bound = guesses.influence();
            println!("{pairs:?} {wrong}: {mean} of {bound}");
            assert!(mean <= bound && bound <= 1.0);
        }
    }

    /// Many canaries at a δ that is not small compared with their number.
    #[test]
    fn many_canaries_show_much() {
        let most = [(1_000, 1e-5), (5_000, 1e-4), (100_000, 1e-5)]
            .map(|(canaries, delta)| tests(canaries, delta, 0.05).most());
        println!("{most:?}");
        assert!(most.windows(2).all(|pair| pair[1] > pair[0]) && most[0] > 5.7);
    }

    /// The maximum over all mechanisms for four canaries, by linear programming (SciPy's HiGHS): at most the documented
    /// bound, for a sum of right guesses that counts the first pair twice.
    #[test]
    fn no_mechanism_is_above_the_bound() {
        // v, ε, δ, largest P(S ≥ v).
        for (v, epsilon, delta, largest) in
            [(2u64, 1.0f64, 0.01, 0.948_94), (3, 0.0, 0.01, 0.635_71), (5, 1.0, 0.1, 0.542_03), (6, 0.0, 0.1, 0.109_38)]
        {
            let wrong = 1.0 / (1.0 + epsilon.exp());
            let guesses = Weighted::new(&[2, 1, 0, 0, 0, 0, 0, 0, 0, 0], GuessedSides::Both, wrong);
            let below: f64 = by_steps(&guesses)[..=(6 - v) as usize].iter().sum();
            let bound = below + wrong * 4.0 * delta * guesses.influence();
            println!("{v} {epsilon} {delta}: {largest} {below} {bound}");
            assert!(largest <= bound + 1e-5);
        }
    }

    /// Randomized response on every coin, the least private ε-private mechanism, with scores that state which guesses
    /// are clear and lie about it. In addition, each coin is revealed with probability δ: one at a time, or many
    /// together in few of the runs. The bound exceeds ε in at most a share f of the runs. A correct program fails with
    /// probability 3e-6 (five standard errors, ten cases).
    #[test]
    fn randomized_response_is_covered() {
        const RUNS: usize = 1_000;
        const CANARIES: usize = 300;
        const FAILURE: f64 = 0.1;
        let mut stream = ChaCha8Rng::seed_from_u64(8);
        let failure = FailureProbability::new(FAILURE).unwrap();
        for sides in [GuessedSides::Both, GuessedSides::Members] {
            for (epsilon, delta, together) in
                [(0.0f64, 0.0, 1), (0.5, 0.0, 1), (2.0, 0.0, 1), (0.5, 1e-3, 1), (0.5, 1e-3, 20)]
            {
                let tests = NestedTests::new(CANARIES as u64, sides, Delta::new(delta).unwrap(), failure).unwrap();
                let q = 1.0 / (1.0 + (-epsilon).exp());
                let wrong = (0..RUNS).filter(|_| {
                    // Groups of coins that are shown or not: each with probability δ.
                    let shown: Vec<bool> = (0..CANARIES / together).map(|_| stream.random::<f64>() < delta).collect();
                    let scores = CanaryScores::of_coins((0..CANARIES).map(|canary| {
                        let (member, lie): (bool, bool) = (stream.random(), stream.random::<f64>() > q);
                        let shown = shown[canary / together];
                        let size = if shown { 2.0 } else { stream.random::<f64>() };
                        (member, if member == (lie && !shown) { -size } else { size })
                    }))
                    .unwrap();
                    tests.audit(&scores, 0).unwrap().epsilon.value > epsilon
                });
                let wrong = wrong.count();
                println!("{sides:?}, ε = {epsilon}, δ = {delta}, {together} together");
                assert_rarely_wrong(wrong, RUNS, FAILURE, 5.0);
            }
        }
    }

    /// Three planned attacks on one training that leaks nothing, each with separate scores: the largest of their bounds
    /// is above 0 in at most a share f of the runs (five standard errors).
    #[test]
    fn the_best_of_planned_attacks_is_covered() {
        use crate::audit::{GuessSelection, OneRunPlan};
        const RUNS: usize = 1_000;
        const FAILURE: f64 = 0.1;
        let (delta, failure) = (Delta::new(0.0).unwrap(), FailureProbability::new(FAILURE).unwrap());
        let plan = OneRunPlan::new(300, 1, GuessSelection::Nested(GuessedSides::Both), delta, failure).unwrap();
        let each = plan.with_attacks(3).unwrap().failure_of_each();
        let tests = NestedTests::new(300, GuessedSides::Both, delta, each).unwrap();
        let mut stream = ChaCha8Rng::seed_from_u64(10);
        let wrong = (0..RUNS).filter(|_| {
            let coins: Vec<bool> = (0..300).map(|_| stream.random()).collect();
            let shown = (0..3).filter(|_| {
                let scores = coins.iter().map(|&coin| (coin, stream.random::<f64>()));
                tests.audit(&CanaryScores::of_coins(scores).unwrap(), 0).unwrap().epsilon.value > 0.0
            });
            shown.count() > 0
        });
        let wrong = wrong.count();
        assert_rarely_wrong(wrong, RUNS, FAILURE, 5.0);
    }

    /// Normal scores of known μ: bounds are below the ε of that μ, and above those of single numbers of guesses chosen
    /// with full knowledge.
    #[test]
    fn normal_scores_show_more_than_the_best_number_of_guesses() {
        use super::super::one_run::one_run_epsilon;
        let (delta, failure) = (Delta::new(1e-5).unwrap(), FailureProbability::new(0.05).unwrap());
        let tests = tests(2_000, 1e-5, 0.05);
        let mut stream = ChaCha8Rng::seed_from_u64(3);
        let (mut nested, mut best) = (Vec::new(), vec![Vec::new(); 8]);
        for _ in 0..41 {
            let canaries = (0..2_000).map(|_| {
                let (member, normal): (bool, f64) = (stream.random(), StandardNormal.sample(&mut stream));
                (member, if member { normal + 1.0 } else { normal })
            });
            let scores = CanaryScores::of_coins(canaries).unwrap();
            let sums = cumulated(&ranked(&scores, &mut stream));
            nested.push(tests.of_sums(&sums).unwrap().epsilon.value);
            for (power, best) in best.iter_mut().enumerate() {
                let pairs = 1_000 >> power;
                let right = right(&sums, OneRunGuesses { members: pairs, others: pairs }).unwrap();
                best.push(one_run_epsilon(right, 2_000, delta, failure).unwrap().value);
            }
        }
        let median = |mut bounds: Vec<f64>| {
            bounds.sort_by(f64::total_cmp);
            bounds[20]
        };
        let (nested, best) = (median(nested), best.into_iter().map(median).fold(0.0, f64::max));
        println!("{nested} {best} of {}", tests.most());
        assert!(nested > 1.02 * best && nested < 4.0 && tests.most() > 6.0);
    }

    /// A few members are revealed very clearly, nobody else: guesses at members alone show more, as rarely wrong.
    #[test]
    fn members_alone_show_more_where_others_are_not_shown() {
        let (delta, failure) = (Delta::new(0.0).unwrap(), FailureProbability::new(0.1).unwrap());
        let both = tests(1_000, 0.0, 0.1);
        let members = NestedTests::new(1_000, GuessedSides::Members, delta, failure).unwrap();
        let mut stream = ChaCha8Rng::seed_from_u64(9);
        let (mut sums, mut wrong) = ([0.0; 2], 0);
        for run in 0..200 {
            // A tenth of the members is revealed in one half of the runs, and nobody in the other.
            let canaries = (0..1_000).map(|_| {
                let (member, normal): (bool, f64) = (stream.random(), StandardNormal.sample(&mut stream));
                let shown = run % 2 == 0 && member && stream.random::<f64>() < 0.1;
                (member, if shown { normal + 5.0 } else { normal })
            });
            let scores = CanaryScores::of_coins(canaries).unwrap();
            let bounds = [&both, &members].map(|tests| tests.audit(&scores, 0).unwrap().epsilon.value);
            if run % 2 == 0 {
                sums = [sums[0] + bounds[0], sums[1] + bounds[1]];
            } else {
                wrong += u32::from(bounds[1] > 0.0);
            }
        }
        println!("{sums:?} {wrong}");
        // 10 of 100 and five standard errors.
        assert!(sums[1] > 1.2 * sums[0] && wrong < 25);
        let audit = members.of_sums(&(0..=1_000u64).map(|k| k.min(500)).collect::<Vec<_>>()).unwrap();
        assert!(audit.guesses.others == 0 && audit.epsilon.value == members.most());
    }

    #[test]
    fn extremes_are_numbers() {
        for canaries in [2, 3, 7, 1_000] {
            for delta in [0.0, 1e-300, 1e-3, 0.999] {
                for failure in [1e-300, 1e-9, 0.05, 0.999] {
                    let tests = tests(canaries, delta, failure);
                    let sure = (0..=canaries).map(|k| k.min(canaries / 2)).collect::<Vec<_>>();
                    let audit = tests.of_sums(&sure).unwrap();
                    let most = tests.most();
                    assert!(audit.epsilon.value == most && most.is_finite(), "{canaries} {delta} {failure}");
                    assert!(audit.mu.is_none() && audit.right.trials() >= 2);
                }
            }
        }
        assert!(
            NestedTests::new(1, GuessedSides::Both, Delta::new(0.0).unwrap(), FailureProbability::new(0.05).unwrap())
                .is_err()
        );
        assert!(tests(10, 0.0, 0.05).of_sums(&[0, 1]).is_err());
    }
}
