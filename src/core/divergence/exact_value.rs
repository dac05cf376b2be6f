//! Divergences with a bound on their numerical error.

use super::Pair;
use super::epsilon::{Mass, by_falling_ratio, log_ratio};
use crate::bound::{AtLeast, Direction, Exact};
use crate::distribution::{OutcomeDistribution, OutputPair};
use crate::quantity::{Delta, Epsilon, Order};
use crate::special::{CompensatedSum, normal_tail_ratio};

/// The relative error assumed for a probability if the distribution does not state one.
pub const LEAST_ERROR: f64 = 2e-13;
/// All error bounds are to first order and doubled.
const SAFETY: f64 = 2.0;

/// ln of the smallest double.
const SMALLEST_LOG: f64 = -745.0;

/// Relative error of a probability. Above one half it is the error of the sum of the others.
fn relative_error(distribution: &OutcomeDistribution, i: usize) -> f64 {
    // Impossible outcomes are known exactly.
    if distribution.ln_p()[i] == f64::NEG_INFINITY {
        return 0.0;
    }
    let error =
        distribution.error().max(LEAST_ERROR) + 4.0 * f64::EPSILON * (1.0 + distribution.ln_p()[i].abs().min(1e300));
    if distribution.p()[i] > 0.5 {
        error * distribution.complement()[i] + f64::EPSILON * distribution.complement()[i]
    } else {
        error
    }
}

/// The outcomes possible under the first distribution, each with the relative errors of both of its probabilities.
fn possible<'a>(
    p: &'a OutcomeDistribution,
    q: &'a OutcomeDistribution,
) -> impl Iterator<Item = (usize, [f64; 2])> + 'a {
    let errors = move |i: usize| [p, q].map(|distribution| SAFETY * relative_error(distribution, i));
    (0..p.outcomes()).filter(|&i| p.ln_p()[i] > f64::NEG_INFINITY).map(move |i| (i, errors(i)))
}

impl OutputPair {
    /// A lower bound on D_α of every pair of distributions whose probabilities are within the errors of these.
    #[must_use]
    pub fn renyi_at_least(&self, direction: Direction, order: Order) -> AtLeast {
        self.exact_renyi(direction, order).at_least()
    }

    /// D_α(P‖Q) with its error.
    ///
    /// With relative errors e_i of the probabilities, F = Σ p^α q^{1-α} is off by at most (2α-1) max e_i of itself, and,
    /// from the form Σ [p expm1((α-1) l) - (α-1) q expm1(l)], l = ln p/q, by at most
    /// Σ e_i (2α p |expm1((α-1) l)| + |p expm1((α-1) l) - (α-1) q expm1(l)|). The smaller one is used.
    pub fn exact_renyi(&self, direction: Direction, order: Order) -> Exact {
        let value = self.renyi(direction, order);
        let [p, q] = self.in_direction(direction);
        let a = order.get();
        let errors = || (0..p.outcomes()).map(|i| relative_error(p, i).max(relative_error(q, i)));
        // Divided by α - 1 first: the largest orders overflow.
        let everywhere = (2.0 + 1.0 / (a - 1.0)) * errors().fold(0.0, f64::max);
        // By terms if the divergence is small; then no term exceeds e, whatever its factors are.
        let of_log = if (a - 1.0) * value > 1.0 {
            everywhere
        } else {
            let term = |(i, error): (usize, f64)| {
                let (p_i, q_i, l) = (p.p()[i], q.p()[i], p.ln_p()[i] - q.ln_p()[i]);
                if p_i == 0.0 && q_i == 0.0 && !((a - 1.0) * l + p.ln_p()[i] > SMALLEST_LOG) {
                    return 0.0;
                }
                let first = if (a - 1.0) * l > 700.0 || p_i < f64::MIN_POSITIVE {
                    libm::exp((a - 1.0) * l + p.ln_p()[i]) - p_i
                } else {
                    p_i * libm::expm1((a - 1.0) * l)
                };
                let second = (a - 1.0) * if l.abs() > 1.0 { p_i - q_i } else { q_i * libm::expm1(l) };
                error * (2.0 * a * first.abs() + (first - second).abs())
            };
            let by_terms: f64 = errors().enumerate().map(term).sum::<f64>() / libm::exp((a - 1.0) * value) / (a - 1.0);
            // NaN if an outcome is impossible.
            if by_terms < everywhere { by_terms } else { everywhere }
        };
        Exact { value, error: SAFETY * of_log + 4e-12 * value }
    }

    /// D₁(P‖Q) = Σ q f(l), f(l) = l e^l - e^l + 1 ≥ 0, l = ln p/q, with its error: f' = l e^l, and l is off by 2 e_i.
    pub fn exact_kullback_leibler(&self, direction: Direction) -> Exact {
        let [p, q] = self.in_direction(direction);
        let (mut value, mut error) = (0.0, 0.0);
        for i in 0..p.outcomes() {
            let (p_i, q_i, l) = (p.p()[i], q.p()[i], p.ln_p()[i] - q.ln_p()[i]);
            if p_i == 0.0 {
                // A term that underflows counts as 0, unless the other distribution lacks the outcome altogether.
                value += if l == f64::INFINITY { l } else { q_i };
                continue;
            }
            // l²/2 + l³/3 + l⁴/8 where the difference would cancel.
            let term = if l.abs() < 1e-3 {
                q_i * l * l * (0.5 + l * (1.0 / 3.0 + l / 8.0))
            } else {
                // q expm1(l) is p - q, which never overflows.
                (p_i * l - if l > 1.0 { p_i - q_i } else { q_i * libm::expm1(l) }).max(0.0)
            };
            value += term;
            error += relative_error(p, i).max(relative_error(q, i)) * (2.0 * p_i * l.abs() + term);
        }
        Exact { value, error: SAFETY * error + 1e-9 * value }
    }

    /// A lower bound on δ(ε) of every pair of distributions whose probabilities are within the errors e_i of these:
    /// Σ p (1 - e_i) (1 - e^{ε-l})⁺, with each loss l as small as it may be.
    #[must_use]
    pub fn delta_at_least(&self, direction: Direction, epsilon: Epsilon) -> AtLeast {
        let [p, q] = self.in_direction(direction);
        let term = |(i, [of_p, of_q]): (usize, [f64; 2])| {
            let l = Pair::of(p, q, i).log_ratio();
            let least = if l < f64::INFINITY { l - of_p - of_q - 4.0 * f64::EPSILON * l.abs() } else { l };
            let excess = if least > epsilon.get() { -libm::expm1(epsilon.get() - least) } else { 0.0 };
            p.p()[i] * (1.0 - of_p - 8.0 * f64::EPSILON) * excess
        };
        let sum = possible(p, q).map(term).collect::<CompensatedSum>().value();
        AtLeast::new(sum * (1.0 - 8.0 * f64::EPSILON))
    }

    /// δ(ε) with its error. A value below the range of doubles becomes the smallest double, because it is not 0.
    pub fn exact_delta(&self, direction: Direction, epsilon: Epsilon) -> Exact {
        let (value, least) = (self.delta(direction, epsilon), self.delta_at_least(direction, epsilon).get());
        let none = Delta::new(0.0).map(|none| self.epsilon_at_least(direction, none));
        if least == 0.0 && none.is_ok_and(|none| none.refutes(epsilon.into())) {
            return Exact { value: value.max(f64::from_bits(1)), error: value };
        }
        Exact { value, error: value - least }
    }

    /// The smallest ε ≥ 0 with δ(ε) ≤ δ, with its error.
    pub fn exact_epsilon(&self, direction: Direction, delta: Delta) -> Exact {
        let (value, least) = (self.epsilon(direction, delta).get(), self.epsilon_at_least(direction, delta).get());
        // Infinite by rounding, or certainly infinite.
        if value == f64::INFINITY { Exact { value: least, error: 0.0 } } else { Exact { value, error: value - least } }
    }

    /// A lower bound on the smallest ε ≥ 0 with δ(ε) ≤ δ, for every pair of distributions whose probabilities are
    /// within the errors of these: every set S of outcomes has ε ≥ ln((P(S) - δ)/Q(S)).
    #[must_use]
    pub fn epsilon_at_least(&self, direction: Direction, delta: Delta) -> AtLeast {
        let [p, q] = self.in_direction(direction);
        if delta.get() == 0.0 {
            let ratio = |(i, [of_p, of_q]): (usize, [f64; 2])| {
                let l = log_ratio(p, q, i);
                AtLeast::new(if l < f64::INFINITY { l - of_p - of_q - 4.0 * f64::EPSILON * l.abs() } else { l })
            };
            return possible(p, q).map(ratio).max().unwrap_or(AtLeast::NOTHING);
        }
        let (mut inside, mut inside_neighbor, mut error) = (Mass::default(), Mass::default(), 0.0);
        let sets = by_falling_ratio(p, q).into_iter().map(|i| {
            inside.add(p, i);
            inside_neighbor.add(q, i);
            error = f64::max(error, relative_error(p, i).max(relative_error(q, i)));
            let error = SAFETY * error + (p.outcomes() as f64 + 4.0) * f64::EPSILON;
            let [ln_p, ln_q] = [inside.reduced(error).ln_beyond(delta.get()), inside_neighbor.ln()];
            // An outcome impossible under Q remains so, whatever the errors are.
            let slack =
                if ln_q == f64::NEG_INFINITY { 0.0 } else { error + 4.0 * f64::EPSILON * (ln_p.abs() + ln_q.abs()) };
            AtLeast::new(ln_p - ln_q - slack)
        });
        sets.max().unwrap_or(AtLeast::NOTHING)
    }

    /// A lower bound on the smallest μ for μ-GDP, for every pair of distributions whose probabilities are within the
    /// errors of these: every set S of outcomes has μ ≥ Φ⁻¹(P(S)) - Φ⁻¹(Q(S)), and a probability that is off by a share
    /// e moves its quantile z by e Φ(z)/φ(z).
    #[must_use]
    pub fn mu_at_least(&self) -> AtLeast {
        let [p, q] = self.in_direction(Direction::Forward);
        let errors = |distribution| (0..p.outcomes()).map(move |i| relative_error(distribution, i)).fold(0.0, f64::max);
        let error = SAFETY * errors(p).max(errors(q)) + (p.outcomes() as f64 + 8.0) * f64::EPSILON;
        let slack = |z: f64| {
            let tail = normal_tail_ratio(-z.abs());
            if z.is_finite() { error * tail + 8.0 * f64::EPSILON * (1.0 + z.abs()) } else { 0.0 }
        };
        super::epsilon::quantiles_of_sets(p, q)
            .map(|[of_p, of_q]| AtLeast::new(of_p - of_q - slack(of_p) - slack(of_q)))
            .max()
            .unwrap_or(AtLeast::NOTHING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::{Noise, noisy_argmax_distribution};
    use crate::divergence::renyi_divergence;
    use crate::histogram::VoteHistogram;
    use crate::quadrature::LogIntegral;
    use crate::quantity::NoiseScale;

    /// Every probability changed by up to its error: the divergence stays within its own.
    #[test]
    fn errors_of_probabilities_stay_within_the_error_of_the_divergence() {
        let distribution = |counts: &[u64], sigma: f64| {
            let noise = Noise::Gaussian(NoiseScale::new(sigma).unwrap());
            noisy_argmax_distribution(&VoteHistogram::new(counts.to_vec()).unwrap(), noise).unwrap()
        };
        for (p, q, sigma) in [([3, 2, 1], [2, 3, 1], 2.0), ([9, 0, 0], [8, 1, 0], 1.0), ([5, 5, 0], [4, 6, 0], 0.3)] {
            let pair = OutputPair::new(distribution(&p, sigma), distribution(&q, sigma)).unwrap();
            let [p, q] = pair.in_direction(Direction::Forward);
            for a in [1.001, 2.0, 20.0, 300.0] {
                let order = Order::new(a).unwrap();
                let exact = pair.exact_renyi(Direction::Forward, order);
                assert!(exact.error < 1e-6 * exact.value + 1e-12, "{a} {sigma}: {exact:?}");
                for signs in 0..8u32 {
                    let moved: Vec<f64> =
                        (0..3).map(|i| p.p()[i] * (1.0 + if signs >> i & 1 == 1 { 1e-13 } else { -1e-13 })).collect();
                    let total: f64 = moved[1..].iter().sum();
                    let moved = OutcomeDistribution::from_probabilities(&[1.0 - total, moved[1], moved[2]]).unwrap();
                    let other = renyi_divergence(&moved, q, order).unwrap();
                    assert!((other - exact.value).abs() <= exact.error + 1e-14, "{a} {sigma}: {other} {exact:?}");
                }
            }
        }
    }

    fn of_logs(logs: &[f64]) -> OutcomeDistribution {
        with_error(logs, 0.0)
    }

    fn with_error(logs: &[f64], error: f64) -> OutcomeDistribution {
        let rows: Vec<LogIntegral> = logs.iter().map(|&ln_value| LogIntegral { ln_value, error }).collect();
        OutcomeDistribution::from_integrals(&rows).unwrap()
    }

    /// Stated errors far above rounding: at orders near 1, only the sum over terms, divided by α - 1, covers them.
    #[test]
    fn errors_of_the_order_of_one_stay_within_the_error_of_the_divergence() {
        let [p, q] = [[0.5, 0.3, 0.2], [0.4, 0.35, 0.25]].map(|row| with_error(&row.map(f64::ln), 1e-6));
        let pair = OutputPair::new(p.clone(), q.clone()).unwrap();
        for a in [1.0 + 1e-6, 1.01, 1.5, 2.0] {
            let order = Order::new(a).unwrap();
            let exact = pair.exact_renyi(Direction::Forward, order);
            let off = (0..8u32).map(|signs| {
                let moved = |i: usize| p.p()[i] * (1.0 + if signs >> i & 1 == 1 { 0.9e-6 } else { -0.9e-6 });
                let moved = [1.0 - moved(1) - moved(2), moved(1), moved(2)];
                let moved = OutcomeDistribution::from_probabilities(&moved).unwrap();
                (renyi_divergence(&moved, &q, order).unwrap() - exact.value).abs()
            });
            let most = off.fold(0.0, f64::max);
            assert!(most <= exact.error && exact.error < 20.0 * most, "{a}: {most} {exact:?}");
        }
    }

    /// Two outcomes; the probabilities of the second underflow: e^-800 against e^-798.
    #[test]
    fn lower_ends_of_probabilities_that_underflow() {
        let pair = OutputPair::new(of_logs(&[0.0, -800.0]), of_logs(&[0.0, -798.0])).unwrap();
        let delta = |delta: f64| Delta::new(delta).unwrap();
        let epsilon = |direction, value: f64| pair.epsilon_at_least(direction, delta(value)).get();
        let at_zero = epsilon(Direction::Reverse, 0.0);
        assert!(at_zero < 2.0 && at_zero > 2.0 - 1e-11, "{at_zero}");
        assert_eq!(pair.epsilon(Direction::Reverse, delta(0.0)).get(), 2.0);
        assert_eq!([epsilon(Direction::Forward, 0.0), epsilon(Direction::Reverse, 1e-300)], [0.0; 2]);
        // The quantiles of e^-800 and e^-798, to 25 digits: -39.87 and -39.82
        let mu = pair.mu_at_least().get();
        let truth = crate::special::ndtri_exp(-798.0) - crate::special::ndtri_exp(-800.0);
        assert!(mu <= truth && mu > truth * (1.0 - 1e-8) && truth > 0.049, "{mu} {truth}");
        assert!((pair.mu() - truth).abs() < 1e-12);
        // An outcome that only one of them has, however rare.
        let alone = OutputPair::new(of_logs(&[0.0, -800.0]), of_logs(&[0.0, f64::NEG_INFINITY])).unwrap();
        assert_eq!(alone.epsilon_at_least(Direction::Forward, delta(0.0)).get(), f64::INFINITY);
        assert_eq!(alone.exact_kullback_leibler(Direction::Forward).value, f64::INFINITY);
        assert_eq!(alone.mu_at_least().get(), f64::INFINITY);
    }

    /// Probabilities of small whole numbers over their sum, for which all quantities are known to rounding: lower ends
    /// are below the values in doubles, by no more than the stated errors.
    #[test]
    fn lower_ends_are_just_below_the_values() {
        for (p, q) in [([3.0, 4.0, 1.0], [1.0, 5.0, 2.0]), ([1.0, 96.0, 3.0], [3.0, 95.0, 2.0]), ([1.0; 3], [1.0; 3])] {
            let of = |weights: [f64; 3]| {
                let total: f64 = weights.iter().sum();
                OutcomeDistribution::from_probabilities(&weights.map(|weight| weight / total)).unwrap()
            };
            let pair = OutputPair::new(of(p), of(q)).unwrap();
            let close = |least: AtLeast, value: f64| {
                let least = least.get();
                assert!(least <= value && least >= value - 1e-11 * (1.0 + value), "{p:?} {q:?}: {least} {value}");
                assert!(value == 0.0 || value > 1e-9 && least < value, "{p:?} {q:?}: {least} {value}");
            };
            for direction in Direction::BOTH {
                for delta in [0.0, 1e-300, 0.01, 0.2].map(|delta| Delta::new(delta).unwrap()) {
                    close(pair.epsilon_at_least(direction, delta), pair.epsilon(direction, delta).get());
                }
                for epsilon in [0.0, 0.1, 0.5].map(|epsilon| Epsilon::new(epsilon).unwrap()) {
                    close(pair.delta_at_least(direction, epsilon), pair.delta(direction, epsilon));
                }
                for order in [1.1, 2.0, 50.0, f64::MAX].map(|order| Order::new(order).unwrap()) {
                    let value = pair.renyi(direction, order);
                    let least = pair.renyi_at_least(direction, order).get();
                    assert!(least <= value && least >= value - 1e-11, "{p:?} {q:?} {order}: {least} {value}");
                }
            }
            close(pair.mu_at_least(), pair.mu());
        }
    }

    /// An impossible outcome whose mass exceeds δ only by rounding does not prove an infinite ε.
    #[test]
    fn rounding_makes_nothing_infinite() {
        let of = |p: &[f64]| OutcomeDistribution::from_probabilities(p).unwrap();
        let pair = OutputPair::new(of(&[0.1, 0.2, 0.7]), of(&[0.0, 0.0, 1.0])).unwrap();
        let delta = Delta::new(0.3).unwrap();
        assert!(pair.epsilon_at_least(Direction::Forward, delta).get() < 1e-9);
        let delta = Delta::new(0.29).unwrap();
        assert_eq!(pair.epsilon_at_least(Direction::Forward, delta).get(), f64::INFINITY);
    }
}
