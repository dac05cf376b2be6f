//! Moments of the likelihood ratio of two vote histograms that differ in one voter.
//!
//! For H ~ Mult(k, P) and H' ~ Mult(k-1, P) + Mult(1, P'), the ratio is a mean over the voters,
//! ```text
//! L(h) = P(H' = h)/P(H = h) = Σ_y h_y r_y / k,    r_y = P'_y/P_y,
//! ```
//! since P(H' = h) = Σ_y P'_y Mult(k-1, P)(h - e_y) and Mult(k-1, P)(h - e_y) = Mult(k, P)(h) h_y/(k P_y). So
//! (α-1) D_α(H'‖H) = ln E_H L^α and (α-1) D_α(H‖H') = ln E_H L^{1-α}: moments of a mean of k independent variables,
//! for any number of classes.
//!
//! *Positive whole powers.* With M(t) = Σ_y P_y e^{t r_y}, E (kL)^α = α! [t^α] M(t)^k, a power series with positive
//! terms. At the tilt t where kt M'(t)/M(t) = α, M(tz)/M(t) generates a distribution of whole numbers, a mixture of
//! Poisson distributions of means t r_y, and the coefficient is the probability that k of them add up to α, divided by
//! that of Poi(kt) for the constant ratio L = 1.
//!
//! *Negative powers.* E L^{-n} = ∫_0^∞ τ^{n-1} E e^{-τL} dτ / Γ(n) for every real n > 0, with
//! E e^{-τL} = (Σ_y P_y e^{-τ r_y/k})^k. In u = ln τ it is a mixture of ∫ e^{nu - L e^u} du, so the trapezoid rule with
//! step h has a relative error of at most 2 (cos θ)^{-n} e^{-2πθ/h} for every θ < π/2, whatever P, P' and k: below
//! 1e-18 for the step used. The part for L = 1 alone is subtracted inside the integral, which leaves a positive
//! integrand: nothing cancels when the two distributions are close.

use crate::error::{Error, Result};
use crate::special::{exp_remainder, log_poisson_pmf, log_sum_exp};

/// The classes that voters of the dataset may choose, and how often each is that voter's choice.
pub(super) struct MeanRatio {
    k: f64,
    /// P_y > 0, r_y, and r_y - 1, whose digits r_y itself lacks if the distributions are close.
    classes: Vec<(f64, f64, f64)>,
    /// P'(P = 0): the probability of votes that never occur in the dataset.
    outside: f64,
}

/// The largest whole power for which the series is formed.
pub(super) const MAX_POWER: u32 = 1_024;
/// The largest negative power that is integrated.
const MAX_NEGATIVE: f64 = 1e6;
/// Terms below this share of a power series are dropped; the coefficient sought must have a larger share.
const NEGLIGIBLE: f64 = 1e-60;
const SMALLEST_SHARE: f64 = 1e-40;

impl MeanRatio {
    /// k voters with P (`p`) and P' (`p_marked`), both distributions on the same classes.
    pub(super) fn new(k: u64, p: &[f64], p_marked: &[f64]) -> Self {
        let pairs = || p.iter().zip(p_marked).map(|(&p, &marked)| (p, marked));
        Self {
            k: k as f64,
            classes: pairs().filter(|pair| pair.0 > 0.0).map(|(p, marked)| (p, marked / p, (marked - p) / p)).collect(),
            outside: pairs().filter(|pair| pair.0 == 0.0).map(|pair| pair.1).sum(),
        }
    }

    /// ln of the largest ratio, the limit of D_α(H'‖H), rounded up; infinite if H' may take values that H cannot.
    pub(super) fn ln_largest(&self) -> f64 {
        if self.outside > 0.0 {
            return f64::INFINITY;
        }
        libm::log1p(self.classes.iter().map(|class| class.2).fold(-1.0, f64::max)) * UP
    }

    /// -ln of the smallest ratio, the limit of D_α(H‖H'), rounded up; infinite if H may take values that H' cannot.
    pub(super) fn minus_ln_smallest(&self) -> f64 {
        -libm::log1p(self.classes.iter().map(|class| class.2).fold(f64::INFINITY, f64::min)) * UP
    }

    /// ln E_H L^power for a whole power from 2 to [`MAX_POWER`], rounded up; no class may be outside.
    pub(super) fn ln_moment(&self, power: u32) -> Result<f64> {
        if power == 2 {
            let chi_square: f64 = self.classes.iter().map(|(p, _, d)| p * d * d).sum();
            return Ok(libm::log1p(chi_square / self.k) * UP);
        }
        let degree = u64::from(power);
        let tilt = self.tilt(f64::from(power));
        // ln M(t) - t, the excess over the constant ratio.
        let excess = self.ln_excess(tilt);
        let weights: Vec<f64> = self.classes.iter().map(|(p, _, d)| p * libm::exp(tilt * d - excess)).collect();
        let series = (0..=degree)
            .map(|d| {
                let terms = self.classes.iter().zip(&weights);
                terms.map(|((_, r, _), weight)| weight * libm::exp(log_poisson_pmf(d, tilt * r))).sum()
            })
            .collect();
        let share = coefficient_of_power(series, self.k as u64, power as usize);
        if !(share > SMALLEST_SHARE) {
            return Err(Error::NoConvergence {
                quantity: "power series of the likelihood ratio",
                residual: share,
                tolerance: SMALLEST_SHARE,
                iterations: power as usize,
            });
        }
        let value = self.k * excess + share.ln() - log_poisson_pmf(degree, self.k * tilt);
        // A relative error of every coefficient is multiplied by k, whatever the value.
        let rounding = 4.0 * f64::EPSILON * (self.k + f64::from(power));
        Ok(value * UP + rounding)
    }

    /// t with kt M'(t)/M(t) = power: the mean of r under the tilted distribution lies between 1 and its maximum.
    fn tilt(&self, power: f64) -> f64 {
        let largest = self.classes.iter().map(|class| class.1).fold(1.0, f64::max);
        let (mut low, mut high) = (power / (self.k * largest), power / self.k);
        for _ in 0..60 {
            let t = 0.5 * (low + high);
            let weight = |(p, r, _): &(f64, f64, f64)| p * libm::exp(t * (r - largest));
            let mean = self.classes.iter().map(|class| weight(class) * class.1).sum::<f64>()
                / self.classes.iter().map(weight).sum::<f64>();
            if self.k * t * mean < power { low = t } else { high = t }
        }
        0.5 * (low + high)
    }

    /// ln(Σ_y P_y e^{t r_y}) - t for t of either sign, from Σ P_y (e^{t(r_y-1)} - 1 - t(r_y - 1)), whose terms are
    /// positive; the linear part sums to -t P'(P = 0).
    fn ln_excess(&self, t: f64) -> f64 {
        let largest = self.classes.iter().map(|(_, _, d)| t * d).fold(0.0, f64::max);
        if largest > 500.0 {
            return log_sum_exp(self.classes.iter().map(|(p, _, d)| p.ln() + t * d));
        }
        let curved: f64 = self.classes.iter().map(|(p, _, d)| p * exp_remainder(t * d)).sum();
        libm::log1p(curved - t * self.outside)
    }

    /// ln E_H L^{-n} for n > 0, rounded up; every ratio must be positive. For n beyond 10^6, the largest value of ln
    /// L^{-n} replaces its mean.
    pub(super) fn ln_negative_moment(&self, n: f64) -> f64 {
        if n > MAX_NEGATIVE {
            return n * self.minus_ln_smallest();
        }
        let step = 0.5 / (n + 7.0).sqrt();
        // ln of τ^n (E e^{-τL} - e^{-τ}).
        let integrand = |u: f64| {
            let tau = libm::exp(u);
            let excess = self.k * self.ln_excess(-tau / self.k);
            // For excess = 0, -inf: a term of 0.
            n * u - tau + if excess > 30.0 { excess } else { libm::expm1(excess).ln() }
        };
        // Every part of the mixture has its peak between these.
        let largest = self.classes.iter().map(|class| class.1).fold(0.0, f64::max);
        let first = ((n + 1.0).ln() - largest.ln()) / step;
        let last = ((n + 2.0).ln() + self.minus_ln_smallest()) / step;
        let (first, last) = (first.floor() as i64, last.ceil() as i64);
        let mut terms: Vec<f64> = (first..=last).map(|index| integrand(index as f64 * step)).collect();
        let top = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (end, sign) in [(first, -1), (last, 1)] {
            for distance in 1..MAX_TAIL {
                let term = integrand((end + sign * distance) as f64 * step);
                terms.push(term);
                if !(term > top - 60.0) {
                    break;
                }
            }
        }
        // 1/Γ(n) = n/Γ(n+1) stays small for small n.
        let ln_excess = log_sum_exp(terms.iter().copied()) + (n * step).ln() - libm::lgamma(n + 1.0);
        let value = if ln_excess > 30.0 { ln_excess } else { libm::log1p(libm::exp(ln_excess)) };
        value * UP
    }
}

/// Relative rounding margin of a published bound: above the errors of the sums, 1e-12 for the largest powers.
const UP: f64 = 1.0 + 1e-10;
/// The largest number of nodes of a tail: it falls at least like e^{-|u|}, so 60 units of u contain 60/h nodes.
const MAX_TAIL: i64 = 200_000;

/// [z^degree] q(z)^k for a q of non-negative coefficients that sum to at most 1.
fn coefficient_of_power(mut square: Vec<f64>, k: u64, degree: usize) -> f64 {
    trim(&mut square);
    let mut product = vec![1.0];
    let mut left = k;
    loop {
        if left & 1 == 1 {
            product = times(&product, &square, degree);
        }
        left >>= 1;
        if left == 0 {
            return product.get(degree).copied().unwrap_or(0.0);
        }
        square = times(&square, &square, degree);
    }
}

/// The terms of a product up to a degree.
fn times(a: &[f64], b: &[f64], degree: usize) -> Vec<f64> {
    let mut product = vec![0.0; (a.len() + b.len() - 1).min(degree + 1)];
    for (i, &x) in a.iter().enumerate() {
        let target = &mut product[i.min(degree)..];
        target.iter_mut().zip(b).for_each(|(sum, y)| *sum += x * y);
    }
    trim(&mut product);
    product
}

fn trim(series: &mut Vec<f64>) {
    while series.len() > 1 && series.last().is_some_and(|&last| last < NEGLIGIBLE) {
        series.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::CompensatedSum;
    use proptest::prelude::*;

    /// ln E L^power over all histograms of k votes among three classes, by enumeration.
    fn enumerated(k: u64, p: [f64; 3], marked: [f64; 3], power: f64) -> f64 {
        let factorial = |n: u64| (1..=n).map(|n| n as f64).product::<f64>();
        let mut sum = CompensatedSum::default();
        for a in 0..=k {
            for b in 0..=k - a {
                let votes = [a, b, k - a - b];
                let ways = factorial(k) / votes.iter().map(|&n| factorial(n)).product::<f64>();
                let probability = ways * (0..3).map(|y| p[y].powi(votes[y] as i32)).product::<f64>();
                if probability > 0.0 {
                    let parts = (0..3).filter(|&y| p[y] > 0.0).map(|y| votes[y] as f64 * marked[y] / p[y]);
                    sum.add(probability * (parts.sum::<f64>() / k as f64).powf(power));
                }
            }
        }
        sum.value().ln()
    }

    const CASES: [(u64, [f64; 3], [f64; 3]); 6] = [
        (1, [0.2, 0.5, 0.3], [0.6, 0.3, 0.1]),
        (2, [0.2, 0.5, 0.3], [0.6, 0.3, 0.1]),
        (7, [0.02, 0.9, 0.08], [0.3, 0.3, 0.4]),
        (12, [0.02, 0.9, 0.08], [0.9, 0.001, 0.099]),
        (30, [1e-3, 0.4, 0.599], [0.5, 0.4, 0.1]),
        (12, [0.0, 0.4, 0.6], [0.0, 0.7, 0.3]),
    ];

    #[test]
    fn powers_are_those_of_an_enumeration() {
        let mut worst = 0.0f64;
        for (k, p, marked) in CASES {
            for power in [2, 3, 4, 5, 8, 16, 33, 64, 100] {
                let expected = enumerated(k, p, marked, f64::from(power));
                let found = MeanRatio::new(k, &p, &marked).ln_moment(power).unwrap();
                worst = worst.max((found / expected - 1.0).abs());
                assert!(found >= expected * (1.0 - 1e-13), "{k} {p:?} {power}: {found} {expected}");
            }
        }
        println!("largest relative difference {worst:e}");
        assert!(worst < 1e-9);
    }

    #[test]
    fn negative_powers_are_those_of_an_enumeration() {
        let mut worst = 0.0f64;
        let outside = (9, [0.0, 0.4, 0.6], [0.3, 0.5, 0.2]);
        for (k, p, marked) in CASES.into_iter().chain([outside]) {
            for n in [1e-3, 0.1, 0.5, 1.0, 1.5, 3.0, 9.0, 31.0, 100.0] {
                let expected = enumerated(k, p, marked, -n);
                let found = MeanRatio::new(k, &p, &marked).ln_negative_moment(n);
                worst = worst.max((found / expected - 1.0).abs());
                assert!((found / expected - 1.0).abs() < 1e-9, "{k} {p:?} {n}: {found} {expected}");
            }
        }
        println!("largest relative difference {worst:e}");
    }

    /// Close distributions: E L^α - 1 = α(α-1)/2 χ²/k + O(d³), and E L^{-n} with n(n+1)/2.
    #[test]
    fn close_distributions_keep_their_digits() {
        let d = 1e-7;
        let chi_square = d * d * (1.0 / 0.3 + 1.0 / 0.7);
        let ratio = MeanRatio::new(250, &[0.3, 0.7], &[0.3 + d, 0.7 - d]);
        for n in [0.5, 1.0, 9.0] {
            let expected = n * (n + 1.0) / 2.0 * chi_square / 250.0;
            assert!((ratio.ln_negative_moment(n) / expected - 1.0).abs() < 1e-6, "{n}");
        }
        assert!((ratio.ln_moment(2).unwrap() / (chi_square / 250.0) - 1.0).abs() < 1e-6);
        // The power series is rounded up by 4ε(k + α).
        assert!(ratio.ln_moment(10).unwrap() < 1e-12);
    }

    #[test]
    fn the_exponential_loses_nothing_next_to_zero() {
        for (x, expected) in
            [(1e-8, 5.000_000_016_666_667e-17), (-0.3, 0.040_818_220_681_717_866), (2.0, 4.389_056_098_930_65)]
        {
            assert!((exp_remainder(x) / expected - 1.0).abs() < 4e-16, "{x} {}", exp_remainder(x));
        }
    }

    proptest! {
        /// Between the trivial limits, even for the largest numbers of voters and powers.
        #[test]
        fn moments_are_bounded(
            k in prop_oneof![1..300u64, Just(1_000_000u64)],
            weights in prop::collection::vec((1e-9..1.0f64, 1e-9..1.0f64), 2..6),
            power in 2..=MAX_POWER,
            n in prop_oneof![1e-9..1.0f64, 1.0..1e4f64],
        ) {
            let sums = weights.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
            let p: Vec<f64> = weights.iter().map(|pair| pair.0 / sums.0).collect();
            let marked: Vec<f64> = weights.iter().map(|pair| pair.1 / sums.1).collect();
            let ratio = MeanRatio::new(k, &p, &marked);
            let slack = 1e-8;
            let value = ratio.ln_moment(power).unwrap();
            prop_assert!((0.0..=f64::from(power) * ratio.ln_largest() + slack).contains(&value), "{}", value);
            let value = ratio.ln_negative_moment(n);
            prop_assert!((0.0..=n * ratio.minus_ln_smallest() + slack).contains(&value), "{}", value);
        }
    }

    /// The smallest ratio, a quarter, has probability 0.4: far out, the moment is 0.4 times the limit.
    #[test]
    fn beyond_a_million_the_limit_of_negative_powers_stands_for_them() {
        let ratio = MeanRatio::new(1, &[0.4, 0.6], &[0.1, 0.9]);
        let limit = |n: f64| n * 4f64.ln();
        assert!((ratio.ln_negative_moment(1e6) / (limit(1e6) + 0.4f64.ln()) - 1.0).abs() < 1e-9);
        assert!((ratio.ln_negative_moment(1e6) - limit(1e6)).abs() > 0.5);
        assert!((ratio.ln_negative_moment(2e6) / limit(2e6) - 1.0).abs() < 2e-10);
        assert!(ratio.ln_negative_moment(2e6) >= limit(2e6));
    }
}
