//! The beta distribution with parameters from 1/2 up to 2^53: tails and quantiles on the scale of the log-odds.
//!
//! In t = ln(x/(1-x)) the density is x^a (1-x)^b/B(a, b): smooth and log-concave on the whole line, so its logarithmic
//! tail is concave in t and Newton's method finds quantiles from any start.

use super::beta::beta_fraction;
use super::binomial::{Odds, deviance, stirling_series};
use super::normal::{LN_SQRT_2PI, ndtri};
use crate::error::{Error, Result};

/// Terms of the continued fraction before the integral is cheaper.
const MAX_TERMS: u32 = 200;
/// Newton steps before a quantile is considered not found.
const MAX_STEPS: usize = 100;
/// Log-odds beyond which a point is not distinguished from 0 or 1.
const FURTHEST: f64 = 700.0;

/// Beta(a, b) for a, b ≥ 1/2.
#[derive(Debug, Clone, Copy)]
pub struct BetaDistribution {
    a: f64,
    b: f64,
    log_constant: f64,
}

/// A point of (0, 1) given by its log-odds: x and 1 - x, both to full relative precision.
#[derive(Debug, Clone, Copy)]
pub struct UnitPoint {
    /// x.
    pub value: f64,
    /// 1 - x.
    pub complement: f64,
}

impl UnitPoint {
    /// The point whose log-odds are `t`.
    pub fn of_log_odds(t: f64) -> Self {
        let small = libm::exp(-t.abs());
        let (large, small) = (1.0 / (1.0 + small), small / (1.0 + small));
        if t > 0.0 { Self { value: large, complement: small } } else { Self { value: small, complement: large } }
    }

    const fn mirrored(self) -> Self {
        Self { value: self.complement, complement: self.value }
    }
}

/// Both tails at a point, with the density in the log-odds.
#[derive(Debug, Clone, Copy)]
pub struct BetaTails {
    /// P(X ≤ x).
    pub lower: f64,
    /// P(X > x).
    pub upper: f64,
    /// ln P(X ≤ x), finite even if the probability underflows.
    log_lower: f64,
    /// d ln P(X ≤ x)/dt.
    slope: f64,
}

impl BetaDistribution {
    /// The distribution with these parameters, which must be at least 1/2.
    pub fn new(a: f64, b: f64) -> Self {
        let shape = stirling_error(a + b) - stirling_error(a) - stirling_error(b);
        Self { a, b, log_constant: shape - LN_SQRT_2PI + 0.5 * (a * (b / (a + b))).ln() }
    }

    /// The distribution of 1 - X.
    pub const fn mirrored(self) -> Self {
        Self { a: self.b, b: self.a, log_constant: self.log_constant }
    }

    /// √(1/a + 1/b), of the order of the standard deviation of the log-odds.
    pub fn log_odds_spread(self) -> f64 {
        (1.0 / self.a + 1.0 / self.b).sqrt()
    }

    /// ln of the density of the log-odds, ln[x^a (1-x)^b/B(a, b)], by saddle point: no difference of large logarithms.
    pub fn log_density(self, at: UnitPoint) -> f64 {
        let Self { a, b, .. } = self;
        let both = a + b;
        let (x, y) = (at.value, at.complement);
        // a - (a+b) x from the exact one of x and 1 - x.
        let deviation = if x <= y { x.mul_add(-both, a) } else { -y.mul_add(-both, b) };
        self.log_constant - deviance(a, both * x, deviation) - deviance(b, both * y, -deviation)
    }

    /// Both tails: the smaller of the two to a relative error of about 1e-13 + 1e-16 √(a+b).
    pub fn tails(self, at: UnitPoint) -> BetaTails {
        let log_density = self.log_density(at);
        let lower_side = if at.value <= at.complement {
            at.value * (self.a + self.b) <= self.a
        } else {
            at.complement * (self.a + self.b) >= self.b
        };
        if lower_side {
            let width = self.inverse_hazard(at);
            let log_lower = log_density + width.ln();
            let lower = libm::exp(log_lower).min(1.0);
            BetaTails { lower, upper: 1.0 - lower, log_lower, slope: 1.0 / width }
        } else {
            let width = self.mirrored().inverse_hazard(at.mirrored());
            let upper = libm::exp(log_density + width.ln()).min(1.0);
            let log_lower = libm::log1p(-upper);
            BetaTails { lower: 1.0 - upper, upper, log_lower, slope: libm::exp(log_density - log_lower) }
        }
    }

    /// P(X ≤ x) over the density of the log-odds at x.
    fn inverse_hazard(self, at: UnitPoint) -> f64 {
        let exact = at.value.min(at.complement);
        let odds = Odds { success: at.value, failure: at.complement, success_is_exact: at.value == exact };
        match beta_fraction(self.a, self.b, odds, MAX_TERMS) {
            Ok(fraction) if fraction > 0.0 && fraction.is_finite() => fraction / self.a,
            _ => self.inverse_hazard_by_integral(at),
        }
    }

    /// ∫ exp(-φ(v)) dv over v ≥ 0, with φ(v) the decrease of the log-density from t to t - v, by the double exponential
    /// rule for a half line.
    ///
    /// φ(v) = a v + (a+b) ln(1 + x (e^{-v} - 1)) = -b v + (a+b) ln(1 + (1-x) (e^v - 1)): the first form keeps its
    /// digits for small x, the second for small 1 - x.
    fn inverse_hazard_by_integral(self, at: UnitPoint) -> f64 {
        let Self { a, b, .. } = self;
        let both = a + b;
        let fall = |v: f64| {
            if at.value > at.complement {
                if v > 600.0 {
                    a * v + both * at.complement.ln()
                } else {
                    (-b).mul_add(v, both * libm::log1p(at.complement * libm::expm1(v)))
                }
            } else {
                a.mul_add(v, both * libm::log1p(at.value * libm::expm1(-v)))
            }
        };
        // A length over which the density falls by a factor of about e.
        let mut length = self.log_odds_spread();
        for _ in 0..200 {
            let at_length = fall(length);
            if at_length > 3.0 {
                length *= 0.5;
            } else if at_length < 0.3 {
                length *= 1.5;
            } else {
                break;
            }
        }
        // The rule's error falls as exp(-c steps): c is 5 for the shape of a normal distribution, about 2 close to 0
        // or 1.
        let steps = if a.min(b) > 40.0 { 12 } else { 32 };
        let sum: f64 = (-4 * steps..=5 * steps)
            .map(|index| {
                let u = f64::from(index) / f64::from(steps);
                let shrink = libm::exp(-u);
                let v = libm::exp(u - shrink);
                (1.0 + shrink) * v * libm::exp(-fall(length * v))
            })
            .sum();
        sum * length / f64::from(steps)
    }

    /// The point with P(X ≤ x) = f, or log-odds -700 if it is further out.
    ///
    /// # Errors
    /// [`Error::NoConvergence`] if Newton's method does not settle (never seen).
    pub fn quantile(self, f: f64) -> Result<UnitPoint> {
        if f > 0.5 {
            return Ok(self.mirrored().quantile(1.0 - f)?.mirrored());
        }
        let target = f.ln();
        let spread = self.log_odds_spread();
        let mut t = ((self.a / self.b).ln() + ndtri(f) * spread).clamp(-FURTHEST, FURTHEST);
        let mut step = f64::INFINITY;
        for _ in 0..MAX_STEPS {
            let tails = self.tails(UnitPoint::of_log_odds(t));
            step = (target - tails.log_lower) / tails.slope;
            if t <= -FURTHEST && step < 0.0 {
                return Ok(UnitPoint::of_log_odds(t)); // x < 1e-304
            }
            t = (t + step).clamp(-FURTHEST, FURTHEST);
            // Newton's error after a step is about its square in units of the spread.
            if step.abs() <= 1e-7 * spread.min(1.0) {
                return Ok(UnitPoint::of_log_odds(t));
            }
        }
        Err(Error::no_convergence("beta quantile", step.abs(), 1e-7 * spread.min(1.0), MAX_STEPS))
    }
}

/// δ(x) = ln Γ(x+1) - [½ ln(2πx) + x ln x - x] for x ≥ 1/2: Stirling's series from 16 on, and below that
/// δ(x) = δ(x+1) + (x + ½) ln(1 + 1/x) - 1.
fn stirling_error(x: f64) -> f64 {
    let (mut at, mut sum) = (x, 0.0);
    while at < 16.0 {
        sum += (at + 0.5) * libm::log1p(1.0 / at) - 1.0;
        at += 1.0;
    }
    sum + stirling_series(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(x: f64) -> UnitPoint {
        UnitPoint { value: x, complement: 1.0 - x }
    }

    /// Values of Γ at one half and at whole numbers.
    #[test]
    fn stirling_errors_are_those_of_gamma() {
        for (x, log_gamma) in [(0.5, (std::f64::consts::PI.sqrt() / 2.0).ln()), (1.0, 0.0), (3.0, 6f64.ln())] {
            let stirling = LN_SQRT_2PI + 0.5 * f64::ln(x) + x * f64::ln(x) - x;
            assert!((stirling_error(x) - (log_gamma - stirling)).abs() < 2e-15, "{x}");
        }
    }

    /// Beta(1/2, 1/2) is the arcsine distribution: P(X ≤ x) = (2/π) asin √x.
    #[test]
    fn the_arcsine_distribution() {
        let distribution = BetaDistribution::new(0.5, 0.5);
        for x in [1e-12, 1e-3, 0.2, 0.5, 0.6, 0.999] {
            let exact = std::f64::consts::FRAC_2_PI * f64::asin(f64::sqrt(x));
            let tails = distribution.tails(point(x));
            assert!((tails.lower / exact - 1.0).abs() < 2e-13, "{x}: {tails:?}");
            let back = distribution.quantile(exact).unwrap();
            assert!((back.value / x - 1.0).abs() < 1e-11, "{x}: {back:?}");
        }
    }

    /// The continued fraction and the integral share no code.
    #[test]
    fn two_evaluations_of_the_tail_agree() {
        let mut worst: f64 = 0.0;
        for a in [0.5, 1.5, 2.5, 7.5, 40.5, 1000.5, 1e6 + 0.5, 1e9 + 0.5] {
            for b in [0.5, 1.5, 3.5, 20.5, 300.5, 1e5 + 0.5, 1e12 + 0.5] {
                let distribution = BetaDistribution::new(a, b);
                for sds in [0.2, 1.0, 3.0, 8.0] {
                    let t = (a / b).ln() - sds * distribution.log_odds_spread();
                    let at = UnitPoint::of_log_odds(t);
                    if at.value * (a + b) > a {
                        continue;
                    }
                    let (one, two) = (distribution.inverse_hazard(at), distribution.inverse_hazard_by_integral(at));
                    let error = (one / two - 1.0).abs() / (1.0 + 1e-3 * (a * b / (a + b)).sqrt());
                    worst = worst.max(error);
                    assert!(error < 2e-12, "{a} {b} {sds}: {one} {two}");
                }
            }
        }
        println!("worst {worst:e}");
    }

    #[test]
    fn quantiles_have_their_probability_in_every_corner() {
        for a in [0.5, 1.5, 30.5, 1e6 + 0.5, 1e12 + 0.5] {
            for b in [0.5, 1.5, 30.5, 1e6 + 0.5, 1e12 + 0.5] {
                for f in [1e-300, 1e-15, 0.0125, 0.3, 0.5, 0.7, 0.999, 1.0 - 1e-12] {
                    let distribution = BetaDistribution::new(a, b);
                    let at = distribution.quantile(f).unwrap();
                    if at.value < 1e-303 {
                        continue; // the furthest point
                    }
                    let tails = distribution.tails(at);
                    let (got, wanted) = if f <= 0.5 { (tails.lower, f) } else { (tails.upper, 1.0 - f) };
                    assert!((got / wanted - 1.0).abs() < 1e-6, "{a} {b} {f:e}: {at:?} {got:e}");
                    assert!(at.value > 0.0 && at.complement > 0.0 && at.value <= 1.0, "{a} {b} {f:e}: {at:?}");
                }
            }
        }
    }
}
