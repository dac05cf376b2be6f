//! The sum of independent discrete Laplace variables.

use crate::quadrature::LogIntegral;
use crate::special::softplus;

/// S = Z₁ + ... + Z_k, each Z an integer with probability proportional to r^{|z|}, r = e^{-1/σ}.
///
/// Its generating function is [G/((1-rx)(1-r/x))·(1-r²)/G]^k up to a constant, with G = (1-r)/(1+r), and the coefficient
/// of x^z, z ≥ 0, is a hypergeometric sum, which Pfaff's transformation makes finite and positive:
/// ```text
/// P(S = z) = G^k r^z Σ_{i<k} C(k-1+i, i) y^i C(z+k-1, k-1-i),   y = r²/(1-r²).
/// ```
/// By Vandermonde's C(z+k-1, k-1-i) = Σ_l C(z, l) C(k-1, i+l) it is G^k r^z Σ_l a_l C(z, l) with
/// a_l = Σ_i C(k-1+i, i) y^i C(k-1, i+l), and since Σ_{w≥z} r^w C(w, i) = r^z Σ_{l≤i} C(z, l) r^{i-l}/(1-r)^{i-l+1}, so is
/// the tail, P(S ≥ z) = G^k r^z Σ_l b_l C(z, l) with b_l = Σ_{i≥l} a_i r^{i-l}/(1-r)^{i-l+1}. Every term is positive,
/// so no digits are lost, however large z is.
///
/// *Ratios.* P(S = z)/P(S = z-1) does not increase with z: geometric sequences are log-concave, and so are their
/// convolutions (Hoggar 1974). It lies between 1/r and r, as it is a mean of such ratios, and tends to r for z → ∞.
#[derive(Debug, Clone)]
pub struct DiscreteLaplaceSum {
    terms: f64,
    /// 1/σ.
    rate: f64,
    /// ln of the factor of all coefficients, G^k max(1, y)^{k-1}.
    ln_factor: f64,
    /// a_l and b_l over max(1, y)^{k-1}.
    density: Vec<f64>,
    tail: Vec<f64>,
}

impl DiscreteLaplaceSum {
    /// A sum of 1 to 40 variables of this scale, at most 10^6; 1/σ must be finite. Arguments may be up to 10^8.
    pub fn new(terms: u32, sigma: f64) -> Self {
        let (k, rate) = (terms as usize, sigma.recip());
        let (r, rest) = (libm::exp(-rate), -libm::expm1(-rate));
        let y = libm::expm1(2.0 * rate).recip();
        let scale = y.max(1.0);
        // C(k-1+i, i) y^i over the scale.
        let weight = |i: usize| {
            let choose: f64 = (1..=i).map(|j| (k - 1 + j) as f64 / j as f64).product();
            choose * (y / scale).powi(i as i32) * scale.powi(i as i32 + 1 - k as i32)
        };
        let weights: Vec<f64> = (0..k).map(weight).collect();
        let choose =
            |of: usize, chosen: usize| -> f64 { (0..chosen).map(|j| (of - j) as f64 / (j + 1) as f64).product() };
        let density: Vec<f64> = (0..k).map(|l| (0..k - l).map(|i| weights[i] * choose(k - 1, i + l)).sum()).collect();
        let mut tail = vec![0.0; k];
        // b_l = (a_l + r b_{l+1})/(1-r).
        for l in (0..k).rev() {
            let above = tail.get(l + 1).copied().unwrap_or(0.0);
            tail[l] = (density[l] + r * above) / rest;
        }
        let ln_share = rest.ln() - softplus(-rate);
        let ln_factor = k as f64 * ln_share + (k as f64 - 1.0) * scale.ln();
        Self { terms: f64::from(terms), rate, ln_factor, density, tail }
    }

    /// ln of the product of the factor, r^z and a sum, which is off by a few roundings per term.
    fn ln(&self, coefficients: &[f64], z: f64) -> LogIntegral {
        let ln_value = self.ln_factor - z * self.rate + horner(coefficients, z).ln();
        let size = 4.0 * self.terms * (1.0 + self.rate) + z * self.rate + self.ln_factor.abs() + ln_value.abs();
        LogIntegral { ln_value, error: 2.0 * f64::EPSILON * (4.0 + size) }
    }

    /// ln P(S = z).
    pub fn at(&self, z: i64) -> LogIntegral {
        self.ln(&self.density, z.unsigned_abs() as f64)
    }

    /// ln P(S ≥ z) for z ≥ 0.
    fn from(&self, z: i64) -> LogIntegral {
        self.ln(&self.tail, z as f64)
    }

    /// ln P(low ≤ S ≤ high), with `None` for an infinite end. The interval must not contain numbers on both sides of 0.
    pub fn between(&self, low: Option<i64>, high: Option<i64>) -> LogIntegral {
        let (near, far) = match (low, high) {
            (Some(low), high) if low >= 0 => (low, high),
            // Mirrored.
            (low, Some(high)) => (-high, low.map(|low| -low)),
            _ => return LogIntegral { ln_value: 0.0, error: 0.0 },
        };
        match far {
            None => self.from(near.max(0)),
            Some(far) if far - near < FEW => {
                let all: Vec<LogIntegral> = (near..=far).map(|z| self.at(z)).collect();
                let error = all.iter().map(|one| one.error).fold(0.0, f64::max);
                let ln_value = crate::special::log_sum_exp(all.iter().map(|one| one.ln_value));
                LogIntegral { ln_value, error: error + f64::EPSILON * all.len() as f64 }
            }
            Some(far) => {
                let (larger, smaller) = (self.from(near), self.from(far + 1));
                let share = -libm::expm1(smaller.ln_value - larger.ln_value);
                let error = (larger.error + smaller.error) / share;
                LogIntegral { ln_value: larger.ln_value + share.ln(), error }
            }
        }
    }

    /// ln P(S = y)/P(S = y-1), and a bound on its error.
    pub fn log_ratio(&self, y: i64) -> [f64; 2] {
        // Mirrored, P(S = y)/P(S = y-1) is P(S = 1-y-1)/P(S = 1-y).
        let (sign, z) = if y >= 1 { (1.0, y as f64) } else { (-1.0, 1.0 - y as f64) };
        let ratio = (horner(&self.density, z) / horner(&self.density, z - 1.0)).ln();
        let slack = 32.0 * f64::EPSILON * (2.0 + self.terms + self.rate);
        [sign * (ratio - self.rate).clamp(-self.rate, 0.0), slack]
    }
}

/// Up to this many integers, probabilities are summed one by one.
const FEW: i64 = 16;

/// Σ_l c_l C(z, l).
fn horner(coefficients: &[f64], z: f64) -> f64 {
    let last = coefficients.len() - 1;
    (0..last).rev().fold(coefficients[last], |inner, l| {
        let factor = (z - l as f64) / (l as f64 + 1.0);
        // All binomial coefficients beyond z are 0.
        coefficients[l] + if factor <= 0.0 { 0.0 } else { factor * inner }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// k-fold convolutions over the integers.
    #[test]
    fn probabilities_are_convolutions() {
        for (terms, sigma) in [(1, 2.0f64), (2, 1.0), (2, 0.2), (3, 2.5), (5, 0.7), (7, 4.0)] {
            let reach = 600i64;
            let r = libm::exp(-sigma.recip());
            let one: Vec<f64> =
                (-reach..=reach).map(|z| (1.0 - r) / (1.0 + r) * libm::pow(r, z.abs() as f64)).collect();
            let mut sum = one.clone();
            for _ in 1..terms {
                let convolved = |z: i64| -> f64 {
                    (-reach..=reach)
                        .filter(|w| (z - w).abs() <= reach)
                        .map(|w| sum[(w + reach) as usize] * one[(z - w + reach) as usize])
                        .sum()
                };
                sum = (-reach..=reach).map(convolved).collect();
            }
            let found = DiscreteLaplaceSum::new(terms, sigma);
            let near = |found: LogIntegral, expected: f64| {
                assert!((found.ln_value - expected.ln()).abs() < 2e-13, "{terms} {sigma}: {found:?} {}", expected.ln());
            };
            for z in [0, 1, 2, 3, 5, 10, 30, -1, -7] {
                near(found.at(z), sum[(z + reach) as usize]);
            }
            let whole = |low: i64, high: i64| sum[(low + reach) as usize..=(high + reach) as usize].iter().sum();
            near(found.between(Some(0), None), whole(0, reach));
            near(found.between(None, Some(-1)), whole(-reach, -1));
            near(found.between(Some(3), Some(9)), whole(3, 9));
            near(found.between(Some(-40), Some(0)), whole(-40, 0));
            near(found.between(Some(2), Some(60)), whole(2, 60));
            for y in [-20, -1, 0, 1, 2, 15] {
                let expected = (sum[(y + reach) as usize] / sum[(y - 1 + reach) as usize]).ln();
                let [ratio, slack] = found.log_ratio(y);
                assert!((ratio - expected).abs() < slack + 1e-13, "{terms} {sigma} {y}: {ratio} {expected}");
            }
        }
    }

    /// Ratios fall from 1/r to r; the largest numbers of terms and the largest scales stay finite.
    #[test]
    fn ratios_fall_and_nothing_overflows() {
        for (terms, sigma) in [(1, 1e6), (40, 1e6), (40, 0.05), (2, 1e-3), (12, 300.0)] {
            let sum = DiscreteLaplaceSum::new(terms, sigma);
            let places = [-100_000_000, -1_000_000, -10_000, -100, -3, 0, 1, 2, 50, 5_000, 1 << 20, 1 << 26];
            let ratios: Vec<[f64; 2]> = places.iter().map(|&y| sum.log_ratio(y)).collect();
            for pair in ratios.windows(2) {
                assert!(pair[0][0] + pair[0][1] >= pair[1][0], "{terms} {sigma}: {ratios:?}");
            }
            assert!(ratios.iter().all(|ratio| ratio[0].abs() <= sigma.recip()), "{ratios:?}");
            for z in [0, 1, 1000, 1 << 26] {
                assert!(sum.at(z).ln_value.is_finite() && sum.from(z).ln_value.is_finite(), "{terms} {sigma} {z}");
            }
            let half = libm::exp(sum.from(0).ln_value) - 0.5 * libm::exp(sum.at(0).ln_value);
            assert!((half - 0.5).abs() < 1e-11, "{terms} {sigma}: {half}");
        }
    }
}
