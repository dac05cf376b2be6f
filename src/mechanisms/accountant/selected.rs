//! The best of a random number of runs: repeat and select.

use super::halving::halved;
use crate::bound::outward::up;
use crate::divergence::RdpCurve;
use crate::error::{Error, Result};
use crate::order;
use crate::quantity::{Epsilon, Order};
use std::fmt;

/// The distribution of the number of runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RunsDistribution {
    /// Poisson; with no run at all, a special output indicates this.
    Poisson,
    /// The truncated negative binomial distribution with this shape η > -1 and at least one run: geometric for η = 1,
    /// logarithmic for η = 0.
    NegativeBinomial {
        /// η.
        shape: f64,
    },
}

/// The distribution of the number of runs of a mechanism whose best output alone is published.
///
/// A mechanism Q is run K times on the same data, and the largest of the K outputs by some total order is published:
/// hyper-parameters are tuned this way, with the score as a part of the output. Everything that decides which output is
/// best must be part of the output of Q, and its cost part of the curve of Q.
///
/// *Theorem.* Let q(y) be the distribution of Q on data S, Q(≤ y) its distribution function in that order, and
/// f(x) = E x^K. The output is y with probability
/// ```text
/// A(y) = f(Q(≤ y)) - f(Q(< y)) = q(y) E f'(X),   X uniform between Q(< y) and Q(≤ y),
/// ```
/// and nothing with probability f(0) on all data. (u, v) → u^α v^{1-α} is jointly convex and homogeneous, so with the
/// same for S', and X and X' at the same relative position,
/// ```text
/// exp((α-1) D_α(A‖A')) ≤ f(0) + exp((α-1) D_α(Q‖Q')) sup f'(X)^α f'(X')^{1-α}.
/// ```
/// X = E_Q g and X' = E_Q' g for one g with values in [0, 1]: the share of the order that is below.
///
/// *Truncated negative binomial*, of ratio 1-γ: f'(x) = E K (γ/(1-(1-γ)x))^{1+η}, and f(0) = 0. Let u and u' be 1-(1-γ)x
/// at X and X': means of 1-(1-γ)g, which lies in [γ, 1]. With a bound D_β(Q'‖Q) ≤ ρ(β) of any order β ≥ 1,
/// u' ≤ (u e^ρ(β))^{1-1/β}, and u ≥ γ gives
/// ```text
/// D_α(A‖A') ≤ ρ(α) + (1+η) ((1-1/β) ρ(β) + ln(1/γ)/β) + ln E K/(α-1),
/// ```
/// the smallest over β (Papernot and Steinke 2022, Theorem 2). For α, β → ∞ this is (2+η) ε for pure differential
/// privacy, and 3 ε for the geometric distribution (Liu and Talwar 2019).
///
/// *Poisson* with mean m: f'(x) = m e^{m(x-1)} and f(0) = e^-m. If Q' is (ε, δ)-indistinguishable from Q at e^ε =
/// α/(α-1), then (α-1)(1-X') ≤ α(1-X) + (α-1) δ, that is, α X - (α-1) X' - 1 ≤ (α-1) δ, so
/// ```text
/// exp((α-1) D_α(A‖A')) ≤ e^-m + m exp((α-1) (ρ(α) + m δ)).
/// ```
/// Papernot and Steinke (2022), Theorem 6, omits e^-m, the probability of no run: for m < 1 and Q = Q' that would be a
/// negative divergence. Here it is included, so any mean is allowed.
///
/// Divergences do not decrease with the order, so each order gets the smallest bound at orders from it on.
///
/// ```
/// # use leakbound::accountant::Runs;
/// # use leakbound::divergence::{RdpCurve, order_grid};
/// // A pure 0.1 costs at most 0.3 when the best of a geometric number of runs is published.
/// let pure = RdpCurve::from_fn(&order_grid(), |_| 0.1);
/// let selected = Runs::negative_binomial(1.0, 10.0)?.best_of(&pure);
/// assert!(selected.values().iter().all(|value| *value < 0.3001));
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot and Steinke (2022), "Hyperparameter tuning with Rényi differential privacy", Theorems 2 and 6, Lemma 7;
/// Liu and Talwar (2019), "Private selection from private candidates".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Runs {
    distribution: RunsDistribution,
    mean: f64,
    /// An upper bound on ln 1/γ.
    ln_inverse: f64,
}

/// The largest mean.
const MOST: f64 = (1u64 << 53) as f64;
/// How far ln 1/γ is moved up, relatively and absolutely, for the rounding error of its mean.
const ROOT: [f64; 2] = [1e-11, 1e-13];

impl Runs {
    /// A Poisson number of runs.
    ///
    /// # Errors
    /// [`Error::Domain`] for a mean outside (0, 2^53].
    pub fn poisson(mean: f64) -> Result<Self> {
        Error::check_domain(mean > 0.0 && mean <= MOST, "mean number of runs", mean, "(0, 2^53]")?;
        Ok(Self { distribution: RunsDistribution::Poisson, mean, ln_inverse: 0.0 })
    }

    /// A number of runs from the truncated negative binomial distribution of this shape and mean.
    ///
    /// # Errors
    /// [`Error::Domain`] for a shape outside [-0.999, 1e6] and a mean outside [1, 2^53].
    pub fn negative_binomial(shape: f64, mean: f64) -> Result<Self> {
        Error::check_domain((-0.999..=1e6).contains(&shape), "shape of the number of runs", shape, "[-0.999, 1e6]")?;
        Error::check_domain((1.0..=MOST).contains(&mean), "mean number of runs", mean, "[1, 2^53]")?;
        let distribution = RunsDistribution::NegativeBinomial { shape };
        Ok(Self { distribution, mean, ln_inverse: ln_inverse_ratio(shape, mean) })
    }

    /// The distribution.
    #[must_use]
    pub const fn distribution(&self) -> RunsDistribution {
        self.distribution
    }

    /// E K.
    #[must_use]
    pub const fn mean(&self) -> f64 {
        self.mean
    }

    /// The RDP of the best of the runs, from a curve of one run that holds in both directions. Rounded up.
    #[must_use]
    pub fn best_of(&self, one: &RdpCurve) -> RdpCurve {
        let mut values: Vec<f64> = match self.distribution {
            RunsDistribution::Poisson => {
                one.orders().iter().zip(one.values()).map(|(&order, &rdp)| self.of_poisson(order, rdp, one)).collect()
            }
            RunsDistribution::NegativeBinomial { shape } => {
                let more = self.of_all_orders(shape, one);
                let at = |(order, rdp): (&Order, &f64)| up(rdp + more + self.mean.ln() / (order.get() - 1.0), 8.0);
                one.orders().iter().zip(one.values()).map(at).collect()
            }
        };
        // With one run there is no selection.
        if self.distribution != RunsDistribution::Poisson && self.mean == 1.0 {
            values.copy_from_slice(one.values());
        }
        let by_order = order::positions(values.len(), |a, b| one.orders()[b].get().total_cmp(&one.orders()[a].get()));
        let mut least = f64::INFINITY;
        for index in by_order {
            least = least.min(values[index]);
            values[index] = least;
        }
        RdpCurve::new(one.orders().to_vec(), values).unwrap_or_else(|_| one.repeated(f64::INFINITY))
    }

    /// (1+η) times the smallest of (1-1/β) ρ(β) + ln(1/γ)/β over the orders, and of ln 1/γ at order 1.
    fn of_all_orders(&self, shape: f64, one: &RdpCurve) -> f64 {
        let at = |(order, rdp): (&Order, &f64)| {
            let share = order.get().recip();
            up((1.0 - share).max(0.0) * rdp + self.ln_inverse * share, 8.0)
        };
        let least = one.orders().iter().zip(one.values()).map(at).fold(self.ln_inverse, f64::min);
        up((1.0 + shape) * least, 4.0)
    }

    /// ρ + m δ + ln(m + e^{-m-x})/(α-1) for x = (α-1) (ρ + m δ).
    fn of_poisson(&self, order: Order, rdp: f64, one: &RdpCurve) -> f64 {
        let (less, mean) = (order.get() - 1.0, self.mean);
        // Rounded down: a smaller ε has a larger δ.
        let epsilon = libm::log1p(less.recip()) * (1.0 - 8.0 * f64::EPSILON);
        let delta = Epsilon::new(epsilon).map_or(1.0, |epsilon| one.delta(epsilon).0);
        let of_one = up(rdp + up(mean * delta, 2.0), 2.0);
        let log = (mean + libm::exp(-mean - less * of_one)).ln();
        let (value, size) = (of_one + log / less, of_one + (log.abs() + f64::EPSILON) / less);
        up((value + 16.0 * f64::EPSILON * size).max(0.0), 2.0)
    }
}

/// The name of the distribution with its parameters.
impl fmt::Display for Runs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.distribution {
            RunsDistribution::Poisson => write!(formatter, "poisson:mean={}", self.mean),
            RunsDistribution::NegativeBinomial { shape } => {
                write!(formatter, "negative-binomial:shape={shape},mean={}", self.mean)
            }
        }
    }
}

/// ln of the mean η (1/γ - 1)/(1 - γ^η) at t = ln 1/γ > 0, of (1/γ - 1)/t for η = 0.
fn ln_mean(shape: f64, t: f64) -> f64 {
    // ln (e^x - 1)/x.
    let ratio = |x: f64| {
        if x < 1e-5 { libm::log1p(x * (0.5 + x / 6.0)) } else { x + (-libm::expm1(-x) / x).ln() }
    };
    // ηt/(1 - e^{-ηt}), the mirror image for negative η.
    let x = shape.abs() * t;
    let power = if x < 1e-5 { x - ratio(x) } else { x.ln() - (-libm::expm1(-x)).ln() };
    ratio(t) + if shape < 0.0 { power - x } else { power }
}

/// An upper bound on ln 1/γ of the distribution with this mean; the mean grows with it.
fn ln_inverse_ratio(shape: f64, mean: f64) -> f64 {
    let target = mean.ln();
    let (mut low, mut high) = (0.0, 1.0);
    while ln_mean(shape, high) < target && high < 1e300 {
        (low, high) = (high, 2.0 * high);
    }
    let (_, high) = halved(low, high, 200, |t| ln_mean(shape, t) < target);
    // d ln E K/dt is (1+η)/2 near 0 and 1 + min(η, 0) far from it.
    high * (1.0 + ROOT[0]) + ROOT[1] * (1.0 + (1.0 + shape).recip())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::OutcomeDistribution;
    use crate::divergence::{order_grid, renyi_divergence};

    /// E x^K.
    fn generating(runs: &Runs, x: f64) -> f64 {
        match runs.distribution {
            RunsDistribution::Poisson => libm::exp(runs.mean * (x - 1.0)),
            RunsDistribution::NegativeBinomial { shape } => {
                let ratio = -libm::expm1(-runs.ln_inverse);
                let power = |x: f64| libm::expm1(-shape * libm::log1p(-ratio * x));
                if shape == 0.0 { libm::log1p(-ratio * x) / libm::log1p(-ratio) } else { power(x) / power(1.0) }
            }
        }
    }

    /// The exact distribution of the largest of the outputs 0, 1, ..., and of no output.
    fn best(runs: &Runs, p: &[f64]) -> OutcomeDistribution {
        let (mut below, count) = (0.0, p.len());
        let mut outcomes = vec![generating(runs, 0.0)];
        for (index, p) in p.iter().enumerate() {
            let next = if index + 1 == count { 1.0 } else { below + p };
            outcomes.push(generating(runs, next) - generating(runs, below));
            below = next;
        }
        let total: f64 = outcomes.iter().sum();
        OutcomeDistribution::from_probabilities(&outcomes.iter().map(|p| p / total).collect::<Vec<_>>()).unwrap()
    }

    fn curve(p: &[f64], q: &[f64]) -> RdpCurve {
        let [p, q] = [p, q].map(|p| OutcomeDistribution::from_probabilities(p).unwrap());
        RdpCurve::from_fn(&order_grid(), |order| {
            renyi_divergence(&p, &q, order).unwrap().max(renyi_divergence(&q, &p, order).unwrap()) * (1.0 + 1e-12)
        })
    }

    fn all_runs() -> Vec<Runs> {
        let mut runs: Vec<Runs> = [0.01, 0.3, 1.0, 2.0, 10.0, 100.0].map(|mean| Runs::poisson(mean).unwrap()).to_vec();
        for shape in [-0.9, -0.5, 0.0, 0.5, 1.0, 3.0] {
            runs.extend([1.0, 1.01, 2.0, 10.0, 1e3].map(|mean| Runs::negative_binomial(shape, mean).unwrap()));
        }
        runs
    }

    /// Exact selection from randomized responses and other outputs, in every order of the outputs: never above the
    /// theorem at any order.
    #[test]
    fn the_exact_divergence_of_a_selection_is_at_most_the_theorem() {
        let pairs: [(Vec<f64>, Vec<f64>); 5] = [
            (vec![0.6, 0.4], vec![0.4, 0.6]),
            (vec![0.9, 0.1], vec![0.1, 0.9]),
            (vec![0.5, 0.5], vec![0.5, 0.5]),
            (vec![0.7, 0.2, 0.1], vec![0.6, 0.1, 0.3]),
            (vec![0.001, 0.299, 0.7], vec![0.002, 0.398, 0.6]),
        ];
        let (mut tightest, mut checked) = (0.0f64, 0);
        for runs in all_runs() {
            for (p, q) in &pairs {
                let bound = runs.best_of(&curve(p, q));
                for turned in 0..p.len() {
                    let turn = |p: &[f64]| -> Vec<f64> { (0..p.len()).map(|i| p[(i + turned) % p.len()]).collect() };
                    let (a, b) = (best(&runs, &turn(p)), best(&runs, &turn(q)));
                    for (&order, bound) in bound.orders().iter().zip(bound.values()).step_by(7) {
                        let exact =
                            renyi_divergence(&a, &b, order).unwrap().max(renyi_divergence(&b, &a, order).unwrap());
                        assert!(exact <= bound * (1.0 + 1e-9) + 1e-12, "{runs} {p:?} {}: {exact} {bound}", order.get());
                        if *bound > 1e-3 {
                            tightest = tightest.max(exact / bound);
                        }
                        checked += 1;
                    }
                }
            }
        }
        // Close to the truth in some case.
        assert!(checked > 5_000 && tightest > 0.5, "{checked} {tightest}");
    }

    /// The Poisson theorem as published, without the probability of no run, is wrong below a mean of 1.
    #[test]
    fn the_probability_of_no_run_is_needed() {
        let same = RdpCurve::from_fn(&order_grid(), |_| 0.0);
        let runs = Runs::poisson(0.5).unwrap();
        assert!(0.5f64.ln() < 0.0 && runs.best_of(&same).values().iter().all(|value| *value >= 0.0));
    }

    /// E K for the computed ratio, compared with sums of the probabilities.
    #[test]
    fn ratios_have_the_mean() {
        for (shape, mean) in [(1.0, 10.0), (0.0, 3.0), (-0.5, 2.0), (2.5, 40.0), (0.5, 1.2)] {
            let runs = Runs::negative_binomial(shape, mean).unwrap();
            let gamma = libm::exp(-runs.ln_inverse);
            // P(K = k) is proportional to (1-γ)^k Π (l+η)/(l+1), up to the factor of the first.
            let (mut weight, mut total, mut sum) = (1.0, 0.0, 0.0);
            for k in 1..100_000 {
                total += weight;
                sum += weight * f64::from(k);
                weight *= (1.0 - gamma) * (f64::from(k) + shape) / (f64::from(k) + 1.0);
            }
            assert!((sum / total / mean - 1.0).abs() < 1e-9, "{shape} {mean}: {}", sum / total);
        }
        // The geometric distribution of mean m has γ = 1/m.
        let runs = Runs::negative_binomial(1.0, 1e6).unwrap();
        assert!((runs.ln_inverse / 1e6f64.ln() - 1.0).abs() < 1e-10);
        // Extreme shapes and means also have one.
        for (shape, mean) in [(-0.99, MOST), (1e6, MOST), (1e6, 1.5), (0.0, 1.0 + 1e-12)] {
            let value = Runs::negative_binomial(shape, mean).unwrap().ln_inverse;
            assert!(value.is_finite() && value > 0.0, "{shape} {mean}: {value}");
        }
    }

    /// (2+η) ε for pure differential privacy, 3 ε for the geometric distribution, and ε for a single run.
    #[test]
    fn pure_selections_cost_what_liu_and_talwar_say() {
        let pure = RdpCurve::from_fn(&order_grid(), |_| 0.5);
        for shape in [-0.5, 0.0, 1.0, 2.0] {
            let selected = Runs::negative_binomial(shape, 50.0).unwrap().best_of(&pure);
            let last = *selected.values().last().unwrap();
            assert!(last >= (2.0 + shape) * 0.5 && last < (2.0 + shape) * 0.5 + 1e-3, "{shape}: {last}");
        }
        assert_eq!(Runs::negative_binomial(1.0, 1.0).unwrap().best_of(&pure), pure);
    }

    #[test]
    fn numbers_of_runs_that_are_none_are_rejected() {
        for mean in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Runs::poisson(mean).is_err() && Runs::negative_binomial(1.0, mean).is_err(), "{mean}");
        }
        assert!(Runs::negative_binomial(1.0, 0.99).is_err());
        for shape in [-1.0, -0.9995, f64::NAN, f64::INFINITY] {
            assert!(Runs::negative_binomial(shape, 2.0).is_err(), "{shape}");
        }
        let infinite = RdpCurve::from_fn(&order_grid(), |_| f64::INFINITY);
        for runs in all_runs() {
            assert!(runs.best_of(&infinite).values().iter().all(|value| *value == f64::INFINITY), "{runs}");
        }
    }
}
