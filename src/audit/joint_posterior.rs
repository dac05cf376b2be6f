//! The joint posterior of P(O) and Q(O), and its probability that a pair is private, by quadrature.

use crate::error::{Error, Result};
use crate::interval::BinomialCounts;
use crate::quantity::Delta;
use crate::special::{BetaDistribution, UnitPoint, ndtri};

/// The required absolute error of each integral, as a share of the failure probability.
const INTEGRAL: f64 = 1e-11;
/// Posterior mass of Q(O) omitted from the integrals at either end, as a share of the failure probability.
const OUTSIDE: f64 = 1e-12;
/// Points of the trapezoidal rule over the window, about 16 standard deviations: the first and the last number tried.
const FEWEST_POINTS: u32 = 16;
const MOST_POINTS: u32 = 512;
/// Two rules agree if they differ by less than this share of the failure probability: the error of the finer one is
/// then about the square of it.
const AGREEMENT: f64 = 1e-7;
/// Steps of the root search: bisection alone needs fewer.
const MAX_STEPS: usize = 200;

/// The inequalities that the pair (p, q) must satisfy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inequalities {
    /// p ≤ e^ε q + δ.
    One,
    /// The same for both directions and both sides.
    All,
}

/// ln(x/(1-x)).
fn log_odds(at: UnitPoint) -> f64 {
    (at.value / at.complement).ln()
}

/// Independent posteriors of p and q under Jeffreys priors, and the inequalities that make a pair private.
pub(super) struct Posterior {
    p: BetaDistribution,
    q: BetaDistribution,
    /// (p, 1-p) and (q, 1-q) at the means.
    p_mean: UnitPoint,
    q_mean: UnitPoint,
    delta: f64,
    inequalities: Inequalities,
}

fn distribution(counts: BinomialCounts) -> (BetaDistribution, UnitPoint) {
    let (a, b) = (counts.successes() as f64 + 0.5, (counts.trials() - counts.successes()) as f64 + 0.5);
    (BetaDistribution::new(a, b), UnitPoint { value: a / (a + b), complement: b / (a + b) })
}

impl Posterior {
    pub(super) fn new(p: BinomialCounts, q: BinomialCounts, delta: Delta, inequalities: Inequalities) -> Self {
        let ((p, p_mean), (q, q_mean)) = (distribution(p), distribution(q));
        Self { p, q, p_mean, q_mean, delta: delta.get(), inequalities }
    }

    /// The largest ε > `least` with P(private at ε) ≤ f; `None` if there is none.
    pub(super) fn limit(&self, f: f64, least: f64) -> Result<Option<f64>> {
        // On the normal scale, the probability is nearly linear in ε, so secants converge fast.
        let target = ndtri(f);
        let window = self.window(f)?;
        let score = |epsilon: f64| ndtri(self.private(epsilon, f, window)) - target;
        let mut low = (least, score(least));
        if !(low.1 < 0.0) {
            return Ok(None);
        }
        let mut high = (f64::INFINITY, f64::INFINITY);
        let mut next = self.guess(target).max(least + 1e-3);
        let mut width = f64::INFINITY;
        for _ in 0..MAX_STEPS {
            let value = score(next);
            let here = (next, value);
            if value.abs() <= 1e-10 {
                return Ok(Some(next));
            }
            let before =
                if value < 0.0 { std::mem::replace(&mut low, here) } else { std::mem::replace(&mut high, here) };
            if high.0 - low.0 <= 1e-11 * (1.0 + low.0) {
                return Ok(Some(low.0));
            }
            let inside = |x: f64| x > low.0 && x < high.0;
            // Through the last two points, or through the ends.
            let secant = |a: (f64, f64), b: (f64, f64)| a.0 - a.1 * (b.0 - a.0) / (b.1 - a.1);
            let shrinks = high.0 - low.0 <= 0.5 * width;
            width = high.0 - low.0;
            let candidates = [secant(here, before), secant(low, high)];
            next = match candidates.into_iter().find(|x| x.is_finite() && inside(*x)) {
                Some(x) if shrinks || width.is_infinite() || (value.abs() < 0.1 && x != next) => x,
                _ if high.0.is_finite() => 0.5 * (low.0 + high.0),
                _ => 2.0 * low.0 + 1e-3,
            };
        }
        Err(Error::no_convergence("joint posterior limit", width, 1e-11, MAX_STEPS))
    }

    /// The limit if ln((p-δ)/q) were normal, at z = Φ⁻¹(f) standard deviations.
    fn guess(&self, z: f64) -> f64 {
        let excess = (self.p_mean.value - self.delta).max(1e-3 * self.p_mean.value);
        let spread = self.p.log_odds_spread() * self.p_mean.value * self.p_mean.complement / excess;
        let spread_q = self.q.log_odds_spread() * self.q_mean.complement;
        let forward = (excess / self.q_mean.value).ln();
        let size = if self.inequalities == Inequalities::All { forward.abs() } else { forward };
        (size + z * spread.hypot(spread_q)).clamp(0.0, 1e3)
    }

    /// Log-odds of q that contain all of its relevant posterior.
    fn window(&self, f: f64) -> Result<[f64; 2]> {
        let outside = (OUTSIDE * f).max(f64::MIN_POSITIVE);
        // The upper quantile is computed as the mirror image of a lower one, which keeps the digits of its tail.
        let (low, high) = (self.q.quantile(outside)?, self.q.mirrored().quantile(outside)?);
        Ok([log_odds(low), -log_odds(high)])
    }

    /// P(private at ε): the posterior probability that the inequalities hold.
    fn private(&self, epsilon: f64, f: f64, window: [f64; 2]) -> f64 {
        self.private_by_sum(epsilon, f, window).unwrap_or_else(|| self.private_by_integrals(epsilon, f, window))
    }

    /// By the trapezoidal rule with increasing numbers of points. One inequality with all limits of p inside (0, 1)
    /// leaves an analytic integrand that vanishes at both ends of the window, so the error falls faster than any power
    /// of the spacing (Trefethen and Weideman 2014). `None` if a limit has a kink, or without agreement.
    fn private_by_sum(&self, epsilon: f64, f: f64, [first, last]: [f64; 2]) -> Option<f64> {
        let bend = (1.0 - self.delta) * libm::exp(-epsilon);
        let smooth = self.inequalities == Inequalities::One && bend > UnitPoint::of_log_odds(last).value;
        if !smooth {
            return None;
        }
        let integrand = |t: f64| {
            let q = UnitPoint::of_log_odds(t);
            libm::exp(self.q.log_density(q)) * self.between(self.range(q, epsilon))
        };
        let width = last - first;
        let sum = |points: u32, offset: f64| -> f64 {
            let at = |i: u32| integrand(first + width * (f64::from(i) + offset) / f64::from(points));
            (0..points).map(at).sum::<f64>() * width / f64::from(points)
        };
        let mut points = FEWEST_POINTS;
        let mut coarse = sum(points, 0.0);
        while points < MOST_POINTS {
            // The points between the existing ones.
            let fine = 0.5 * (coarse + sum(points, 0.5));
            // The error is squared from one rule to the next, so this leaves digits to spare.
            if (fine - coarse).abs() <= AGREEMENT * f {
                return Some(fine.clamp(0.0, 1.0));
            }
            (coarse, points) = (fine, 2 * points);
        }
        None
    }

    fn private_by_integrals(&self, epsilon: f64, f: f64, [first, last]: [f64; 2]) -> f64 {
        let mut ends = vec![first, last, log_odds(self.q_mean)];
        ends.extend(self.kinks(epsilon).into_iter().filter(|t| *t > first && *t < last));
        ends.sort_by(f64::total_cmp);
        let integrand = |t: f64| {
            let q = UnitPoint::of_log_odds(t);
            let share = self.between(self.range(q, epsilon));
            if share > 0.0 { libm::exp(self.q.log_density(q)) * share } else { 0.0 }
        };
        let mut sum = 0.0;
        for pair in ends.windows(2).filter(|pair| pair[1] > pair[0]) {
            sum += quadrature::integrate(integrand, pair[0], pair[1], INTEGRAL * f).integral;
        }
        sum.clamp(0.0, 1.0)
    }

    /// The smallest and the largest p that are private together with q.
    fn range(&self, q: UnitPoint, epsilon: f64) -> [UnitPoint; 2] {
        let (grown, more, delta) = (libm::exp(epsilon), libm::expm1(epsilon), self.delta);
        let UnitPoint { value: x, complement: y } = q;
        let mut high = UnitPoint { value: grown * x + delta, complement: y - more * x - delta };
        let mut low = UnitPoint { value: 0.0, complement: 1.0 };
        if self.inequalities == Inequalities::All {
            let (shrunk, less) = (libm::exp(-epsilon), libm::expm1(-epsilon));
            // 1-q ≤ e^ε (1-p) + δ
            let other = UnitPoint { value: x - y * less + delta * shrunk, complement: (y - delta) * shrunk };
            if other.complement > high.complement {
                high = other;
            }
            // 1-p ≤ e^ε (1-q) + δ and q ≤ e^ε p + δ
            let lows = [
                UnitPoint { value: x - more * y - delta, complement: grown * y + delta },
                UnitPoint { value: (x - delta) * shrunk, complement: y - x * less + delta * shrunk },
            ];
            for other in lows {
                if other.value > low.value {
                    low = other;
                }
            }
        }
        [low, high]
    }

    /// P(low ≤ p ≤ high).
    fn between(&self, [low, high]: [UnitPoint; 2]) -> f64 {
        let tails = |at: UnitPoint| {
            if !(at.value > 0.0) {
                (0.0, 1.0)
            } else if !(at.complement > 0.0) {
                (1.0, 0.0)
            } else {
                let tails = self.p.tails(at);
                (tails.lower, tails.upper)
            }
        };
        let (below_high, above_high) = tails(high);
        if self.inequalities == Inequalities::One {
            return below_high;
        }
        let (below_low, above_low) = tails(low);
        // The difference of the smaller tails.
        if below_high <= 0.5 {
            below_high - below_low
        } else if above_low <= 0.5 {
            above_low - above_high
        } else {
            1.0 - below_low - above_high
        }
    }

    /// Log-odds of q where the integrand has a kink: where a limit of p leaves (0, 1), where two limits cross, and
    /// where one passes the mean of p.
    fn kinks(&self, epsilon: f64) -> Vec<f64> {
        let (grown, shrunk, delta) = (libm::exp(epsilon), libm::exp(-epsilon), self.delta);
        let UnitPoint { value: p, complement: p_other } = self.p_mean;
        // As q, or as 1 - q if that is the known one.
        let mut below = vec![(1.0 - delta) * shrunk, (p - delta) * shrunk];
        let mut above = vec![];
        if self.inequalities == Inequalities::All {
            below.extend([delta, p * grown + delta, (1.0 - delta) / (1.0 + grown)]);
            above.extend([
                delta,
                (1.0 - delta) * shrunk,
                (p_other - delta) * shrunk,
                p_other * grown + delta,
                (1.0 - delta) / (1.0 + grown),
            ]);
        }
        let proper = |x: &f64| *x > 0.0 && *x < 1.0;
        let log_odds = |x: f64| x.ln() - libm::log1p(-x);
        let below = below.into_iter().filter(proper).map(log_odds);
        below.chain(above.into_iter().filter(proper).map(|x| -log_odds(x))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At a kink of the integrand, a limit of p is 0, 1, the mean of p or another limit; all ten places are found.
    #[test]
    fn limits_of_p_bend_at_the_kinks_alone() {
        let counts = |successes| BinomialCounts::new(successes, 100).unwrap();
        let delta = Delta::new(0.01).unwrap();
        let posterior = Posterior::new(counts(40), counts(30), delta, Inequalities::All);
        let epsilon: f64 = 0.3;
        let (grown, delta, mean) = (epsilon.exp(), delta.get(), posterior.p_mean.value);
        let kinks = posterior.kinks(epsilon);
        assert_eq!(kinks.len(), 10);
        for t in kinks {
            let q = 1.0 / (1.0 + (-t).exp());
            let highest = [grown * q + delta, 1.0 - (1.0 - q - delta) / grown];
            let lowest = [1.0 - grown * (1.0 - q) - delta, (q - delta) / grown];
            let bends = [highest, lowest]
                .into_iter()
                .flat_map(|[one, other]| [one - other, one - mean, other - mean, one, other, one - 1.0, other - 1.0]);
            let nearest = bends.map(f64::abs).fold(f64::INFINITY, f64::min);
            assert!(nearest < 1e-12, "{q}: {nearest}");
        }
    }
}
