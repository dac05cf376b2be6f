//! The aim of a search: how much outputs show of a claimed quantity.

use super::feature::Features;
use crate::bound::Direction;
use crate::divergence::bernoulli_renyi;
use crate::quantity::{Delta, Order};
use crate::special::ndtri;

/// Normal quantile of the limits that are plausible: a search accepts lucky and unlucky outcomes alike.
const PLAUSIBLE: f64 = 1.0;

/// Normal quantile of the limits that a set must meet to be worth a bound.
const SURE: f64 = 2.0;
/// Violations by a factor of up to e^3 in the ratio of probabilities are expected, each as likely as any other.
const RANGE: f64 = 3.0;
/// Steps of the search for the most likely probabilities under a claim.
const HALVINGS: u32 = 40;
/// Up to here e^ε is a finite double.
const LARGEST_EPSILON: f64 = 700.0;
/// Standard deviations are counted in steps, up to a limit.
const STEP: f64 = 0.25;
const STEPS: u32 = 160;
/// More runs are never forecast, and the logarithm of a forecast is that exact.
const MOST_RUNS: f64 = 1e12;
const FORECAST: f64 = 0.01;

/// A quantity and its claimed value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aim {
    /// ε at δ.
    Epsilon(Delta, f64),
    /// The Rényi divergence of an order.
    Rdp(Order, f64),
    /// μ of Gaussian differential privacy.
    Mu(f64),
}

/// The aim of a search, and the features that it uses.
#[derive(Debug, Clone, Copy)]
pub struct Goal<'a> {
    /// The quantities.
    pub aims: &'a [Aim],
    /// Whether they are claims, which are to be refuted.
    pub claimed: bool,
    /// What tells outputs apart.
    pub features: Features,
}

impl Aim {
    /// How much of the claim is plausible if a set of outputs has these counts: above 1 the claim is in doubt. The set
    /// is expected to be likelier in the first world.
    pub(super) fn share(&self, inside: [f64; 2], outputs: [f64; 2], direction: Direction) -> f64 {
        self.share_at(PLAUSIBLE, inside, outputs, direction)
    }

    /// How much of the claim a set of outputs with these counts shows with certainty.
    pub(super) fn certain_share(&self, inside: [f64; 2], outputs: [f64; 2], direction: Direction) -> f64 {
        self.share_at(SURE, inside, outputs, direction)
    }

    /// How strong the evidence against the claim is from a set of outputs with these counts: in standard deviations,
    /// or, if there is none, how much of the claim is plausible.
    pub(super) fn strength(&self, inside: [f64; 2], outputs: [f64; 2], direction: Direction) -> f64 {
        let doubtful = |steps: &u32| self.share_at(f64::from(*steps) * STEP, inside, outputs, direction) > 1.0;
        match (1..=STEPS).take_while(doubtful).last() {
            Some(steps) => 1.0 + f64::from(steps) * STEP,
            None => self.certain_share(inside, outputs, direction).min(1.0),
        }
    }

    /// ln of a rough Bayes factor: how many times likelier such counts are if the claim is violated than if it just
    /// holds; none if they are not evidence against it.
    ///
    /// The likelihood ratio, times the share of all violations that fit the counts, 1 at most: of many frequent sets
    /// whose ratio is as large as the claim allows, some seem to be a little above it, by two standard deviations. That
    /// requires a small violation of a certain size, and is less likely than a rare set of one world alone.
    pub(super) fn log_bayes_factor(&self, inside: [f64; 2], outputs: [f64; 2]) -> Option<f64> {
        let likelihood = match *self {
            Self::Epsilon(delta, epsilon) => log_likelihood_ratio(inside, outputs, epsilon, delta.get()),
            Self::Rdp(..) | Self::Mu(_) => {
                let z = (self.strength(inside, outputs, Direction::Forward) - 1.0).max(0.0);
                0.5 * z * z
            }
        };
        let deviation = (1.0 / (inside[0] + 0.5) + 1.0 / (inside[1] + 0.5)).sqrt();
        let share = std::f64::consts::TAU.sqrt() * deviation / RANGE;
        (likelihood > 0.0).then(|| likelihood + share.ln().min(0.0))
    }

    /// The fewest runs of each world that refute the claim by a set of outputs, if they are fewer than `most`; `most`
    /// otherwise. The probabilities of the set are its frequencies, moved against the claim by this many
    /// standard deviations.
    pub fn runs_to_refute(&self, deviations: f64, inside: [f64; 2], outputs: [f64; 2], most: f64) -> f64 {
        let p = wilson(inside[0], outputs[0], deviations);
        let q = wilson(inside[1], outputs[1], -deviations);
        let refute = |log: f64| {
            let runs = libm::exp(log);
            self.share_at(SURE, [p * runs, q * runs], [runs; 2], Direction::Forward) > 1.0
        };
        let (mut low, mut high) = (0.0, most.min(MOST_RUNS).ln());
        if !refute(high) {
            return most;
        }
        while high - low > FORECAST {
            let middle = f64::midpoint(low, high);
            if refute(middle) { high = middle } else { low = middle }
        }
        libm::exp(high)
    }

    fn share_at(&self, z: f64, inside: [f64; 2], outputs: [f64; 2], direction: Direction) -> f64 {
        let p = wilson(inside[0], outputs[0], -z);
        let q = wilson(inside[1], outputs[1], z);
        if !(p > q) {
            return 0.0;
        }
        let (shown, claimed) = match *self {
            Self::Epsilon(delta, claimed) => (((p - delta.get()).max(0.0) / q).ln().max(0.0), claimed),
            Self::Rdp(order, claimed) => {
                let [p, q] = direction.ordered([(p, 1.0 - p), (q, 1.0 - q)]);
                (bernoulli_renyi(p, q, order), claimed)
            }
            Self::Mu(claimed) => (ndtri(p) - ndtri(q), claimed),
        };
        // A claim of nothing is in doubt as soon as anything is seen.
        shown / claimed.max(1e-3)
    }
}

/// ln of the likelihood of two proportions divided by the largest one with p ≤ e^ε q + δ; 0 if that holds.
fn log_likelihood_ratio([a, b]: [f64; 2], [m, n]: [f64; 2], epsilon: f64, delta: f64) -> f64 {
    let factor = libm::exp(epsilon.min(LARGEST_EPSILON));
    let (mut low, mut high) = (b / n, (a / m - delta) / factor);
    if !(low < high) {
        return 0.0;
    }
    let log = |count: f64, share: f64| if count == 0.0 { 0.0 } else { count * share.max(0.0).ln() };
    let both = |p: f64, q: f64| log(a, p) + log(m - a, 1.0 - p) + log(b, q) + log(n - b, 1.0 - q);
    // On the line p = e^ε q + δ it is concave in q, and largest between the two frequencies.
    let slope = |q: f64| {
        let p = factor * q + delta;
        a / p - (m - a) / (1.0 - p) + (b / q - (n - b) / (1.0 - q)) / factor
    };
    let largest = both(a / m, b / n);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if slope(middle) > 0.0 { low = middle } else { high = middle }
    }
    let on_line = f64::midpoint(low, high);
    (largest - both(factor * on_line + delta, on_line)).max(0.0)
}

/// A limit of a proportion (Wilson 1927): below the frequency for a negative quantile, above for a positive one.
fn wilson(count: f64, trials: f64, z: f64) -> f64 {
    let (share, square) = (count / trials, z * z / trials);
    let width = z * ((share * (1.0 - share) + square / 4.0) / trials).sqrt();
    ((share + square / 2.0 + width) / (1.0 + square)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_grow_with_the_evidence() {
        let delta = Delta::new(0.0).unwrap();
        for aim in [Aim::Epsilon(delta, 1.0), Aim::Rdp(Order::new(2.0).unwrap(), 0.5), Aim::Mu(1.0)] {
            let share = |scale: f64| {
                let (inside, outputs) = ([60.0 * scale, 20.0 * scale], [100.0 * scale; 2]);
                Direction::BOTH.map(|direction| aim.share(inside, outputs, direction))
            };
            let (few, many) = (share(0.1), share(100.0));
            assert!(few.iter().zip(many).all(|(few, many)| *few < many && *few >= 0.0), "{aim:?} {few:?} {many:?}");
            assert_eq!(aim.share([20.0, 60.0], [100.0, 100.0], Direction::Forward), 0.0);
        }
        let share = Aim::Epsilon(delta, 1.0).share([5e6, 1e6], [1e7, 1e7], Direction::Forward);
        assert!((share - 5f64.ln()).abs() < 2e-3, "{share}");
        let soonest = |aim: Aim, deviations: f64, inside: [f64; 2], outputs: f64| {
            aim.runs_to_refute(deviations, inside, [outputs; 2], f64::INFINITY)
        };
        // k outputs in the set and none of the other world: k - 2 sqrt(k) + 2 = 4 e at 2 standard deviations, k = 17.2.
        let pure = Aim::Epsilon(delta, 1.0);
        let rare = soonest(pure, 0.0, [1.0, 0.0], 1000.0);
        assert!((rare / 17_200.0 - 1.0).abs() < 0.05, "{rare}");
        assert_eq!(soonest(pure, 0.0, [0.5, 0.5 / 1f64.exp()], 1.0), f64::INFINITY);
        // What was not seen in n runs may have a probability of 3/n, which below δ is not a violation.
        let approximate = Aim::Epsilon(Delta::new(0.01).unwrap(), 1.0);
        let hidden = |runs: f64| soonest(approximate, 1.732, [0.0; 2], runs);
        assert!(hidden(100.0) < 1500.0 && hidden(299.0) == f64::INFINITY, "{} {}", hidden(100.0), hidden(299.0));
        assert!(soonest(Aim::Mu(1.0), 0.0, [0.01, 0.0], 1.0) < soonest(Aim::Mu(1.0), 0.0, [0.001, 0.0], 1.0));
        assert!((wilson(0.0, 10.0, 1.0) - 1.0 / 11.0).abs() < 1e-12 && wilson(0.0, 10.0, -1.0) == 0.0);
    }

    /// 13 outputs of one world alone against e = e¹ q/p: 13 ln((1 + e)/e), by Poisson; normal approximation of frequent
    /// ones: z²/2 with z = 2, and a share of 0.031 of all violations.
    #[test]
    fn rare_outputs_of_one_world_speak_louder_than_frequent_ones() {
        let aim = Aim::Epsilon(Delta::new(0.0).unwrap(), 1.0);
        let factor = |inside| aim.log_bayes_factor(inside, [1e6; 2]);
        let e = 1f64.exp();
        assert!((factor([13.0, 0.0]).unwrap() - 13.0 * ((1.0 + e) / e).ln()).abs() < 1e-3);
        let deviation = (1e-3f64 + 1e-3 / e).sqrt();
        let frequent = factor([1000.0 * e * (2.0 * deviation).exp(), 1000.0]).unwrap();
        assert!((frequent - (2.0 + (std::f64::consts::TAU.sqrt() * 0.0364 / 3.0).ln())).abs() < 0.1, "{frequent}");
        assert_eq!([factor([2718.0, 1000.0]), factor([0.0, 0.0]), factor([0.0, 5.0])], [None; 3]);
        // What a claimed δ allows speaks for nothing, and e^ε may overflow.
        let allowed = |epsilon, delta: f64| Aim::Epsilon(Delta::new(delta).unwrap(), epsilon);
        assert_eq!(allowed(1.0, 2e-5).log_bayes_factor([13.0, 0.0], [1e6; 2]), None);
        assert_eq!(allowed(1e6, 0.0).log_bayes_factor([13.0, 1.0], [1e6; 2]), None);
        assert!(allowed(1.0, 5e-6).log_bayes_factor([13.0, 0.0], [1e6; 2]).unwrap() < factor([13.0, 0.0]).unwrap());
    }
}
