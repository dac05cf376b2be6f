//! Polynomials with non-negative coefficients: products never cancel, so every coefficient keeps its relative accuracy.

use std::ops::RangeInclusive;

/// Σ_i exp(ln_scale) coefficients[i] z^(low + i).
///
/// The largest coefficient is 1, and coefficients below e^-DROP of it are left out at both ends.
#[derive(Debug, Clone)]
pub(super) struct Polynomial {
    low: usize,
    coefficients: Vec<f64>,
    ln_scale: f64,
}

/// Coefficients below exp(-56) = 5e-25 of the largest are dropped at the ends.
pub(super) const DROP: f64 = 56.0;
const DROP_RATIO: f64 = 4.8e-25;

impl Polynomial {
    /// The polynomial 1.
    pub(super) fn one() -> Self {
        Self { low: 0, coefficients: vec![1.0], ln_scale: 0.0 }
    }

    /// The polynomial with ln coefficients given by a concave function on 0..=degree; `mode` is where to look for the
    /// largest first and is updated to where it was found. None when every coefficient is 0.
    pub(super) fn from_log_concave(
        degree: usize,
        mode: &mut usize,
        ln_coefficient: impl Fn(usize) -> f64,
    ) -> Option<Self> {
        let mut at = (*mode).min(degree);
        let mut top = ln_coefficient(at);
        // A start outside the support has no slope to follow: look for the support first.
        if top == f64::NEG_INFINITY {
            at = (0..=degree).find(|&n| ln_coefficient(n) > f64::NEG_INFINITY)?;
            top = ln_coefficient(at);
        }
        let mut climb = |next: &dyn Fn(usize) -> Option<usize>| {
            while let Some(n) = next(at).filter(|&n| n <= degree) {
                let value = ln_coefficient(n);
                if value <= top {
                    break;
                }
                (at, top) = (n, value);
            }
        };
        climb(&|n| n.checked_add(1));
        climb(&|n| n.checked_sub(1));
        *mode = at;
        let mut below: Vec<f64> = (0..at)
            .rev()
            .map(&ln_coefficient)
            .take_while(|value| *value > top - DROP)
            .map(|value| libm::exp(value - top))
            .collect();
        let low = at - below.len();
        below.reverse();
        below.push(1.0);
        below.extend(
            (at + 1..=degree)
                .map(&ln_coefficient)
                .take_while(|value| *value > top - DROP)
                .map(|value| libm::exp(value - top)),
        );
        Some(Self { low, coefficients: below, ln_scale: top })
    }

    /// The lowest degree kept.
    pub(super) const fn low(&self) -> usize {
        self.low
    }

    /// The highest degree kept.
    pub(super) fn high(&self) -> usize {
        self.low + self.coefficients.len() - 1
    }

    /// Sum of the coefficients, their mean degree and its variance: those of the tilted number of votes.
    pub(super) fn moments(&self) -> Moments {
        let (mut mass, mut first, mut second) = (0.0, 0.0, 0.0);
        for (index, &value) in self.coefficients.iter().enumerate() {
            let n = index as f64;
            mass += value;
            first += n * value;
            second += n * n * value;
        }
        let mean = first / mass;
        Moments {
            ln_mass: self.ln_scale + mass.ln(),
            mean: self.low as f64 + mean,
            variance: (second / mass - mean * mean).max(0.0),
        }
    }

    /// The terms of the product with degrees in a range; None when there are none.
    pub(super) fn times(&self, other: &Self, degrees: RangeInclusive<usize>) -> Option<Self> {
        let low = (self.low + other.low).max(*degrees.start());
        let high = (self.high() + other.high()).min(*degrees.end());
        if low > high {
            return None;
        }
        Self::trimmed(low, self.window(other, low, high), self.ln_scale + other.ln_scale)
    }

    /// The sum of two polynomials.
    pub(super) fn plus(&self, other: &Self) -> Option<Self> {
        let scale = self.ln_scale.max(other.ln_scale);
        let low = self.low.min(other.low);
        let mut sum = vec![0.0; self.high().max(other.high()) - low + 1];
        for part in [self, other] {
            let factor = libm::exp(part.ln_scale - scale);
            for (target, value) in sum[part.low - low..].iter_mut().zip(&part.coefficients) {
                *target += factor * value;
            }
        }
        Self::trimmed(low, sum, scale)
    }

    /// The coefficients multiplied by a positive number.
    pub(super) fn scaled(mut self, factor: f64) -> Self {
        self.ln_scale += factor.ln();
        self
    }

    /// ln of the coefficient of z^degree in self · (left · right); -inf when it is 0.
    pub(super) fn ln_coefficient_of_product(&self, left: &Self, right: &Self, degree: usize) -> f64 {
        // Only the degrees of left · right that self completes to `degree` are needed.
        let Some(high) = degree.checked_sub(self.low) else { return f64::NEG_INFINITY };
        let high = high.min(left.high() + right.high());
        let low = degree.saturating_sub(self.high()).max(left.low + right.low);
        if low > high {
            return f64::NEG_INFINITY;
        }
        let window = left.window(right, low, high);
        let sum: f64 = window
            .iter()
            .enumerate()
            .map(|(offset, value)| value * self.coefficients[degree - (low + offset) - self.low])
            .sum();
        self.ln_scale + left.ln_scale + right.ln_scale + sum.ln()
    }

    /// Unscaled coefficients of degrees low..=high of the product.
    ///
    /// Blocks of coefficients are summed in registers over the shorter factor; the longer one is padded with zeros so
    /// that the inner loop has no edges, and the compiler vectorises it.
    fn window(&self, other: &Self, low: usize, high: usize) -> Vec<f64> {
        const BLOCK: usize = 8;
        let (short, long) =
            if self.coefficients.len() <= other.coefficients.len() { (self, other) } else { (other, self) };
        let (terms, length) = (short.coefficients.len(), high - low + 1);
        // padded[i] is the coefficient of `long` of index i + offset, for all indices that the block loop touches.
        let mut padded = vec![0.0; length + terms + BLOCK];
        let offset = low as isize - (short.low + long.low + terms - 1) as isize;
        let (to, from) = if offset < 0 { (offset.unsigned_abs(), 0) } else { (0, offset as usize) };
        if let (Some(target), Some(source)) = (padded.get_mut(to..), long.coefficients.get(from..)) {
            let count = target.len().min(source.len());
            target[..count].copy_from_slice(&source[..count]);
        }
        let reversed: Vec<f64> = short.coefficients.iter().rev().copied().collect();
        let mut product = Vec::with_capacity(length + BLOCK);
        for start in (0..length).step_by(BLOCK) {
            let mut sums = [0.0; BLOCK];
            let windows = padded[start..].array_windows::<BLOCK>();
            for (values, &factor) in windows.zip(reversed.iter()) {
                for lane in 0..BLOCK {
                    sums[lane] += factor * values[lane];
                }
            }
            product.extend_from_slice(&sums);
        }
        product.truncate(length);
        product
    }

    fn trimmed(low: usize, mut coefficients: Vec<f64>, ln_scale: f64) -> Option<Self> {
        let largest = coefficients.iter().copied().fold(0.0, f64::max);
        if !(largest > 0.0) {
            return None;
        }
        let keep = largest * DROP_RATIO;
        let first = coefficients.iter().position(|&value| value > keep)?;
        let last = coefficients.iter().rposition(|&value| value > keep)?;
        coefficients.truncate(last + 1);
        coefficients.drain(..first);
        let inverse = 1.0 / largest;
        coefficients.iter_mut().for_each(|value| *value *= inverse);
        Some(Self { low: low + first, coefficients, ln_scale: ln_scale + largest.ln() })
    }
}

/// Mass, mean and variance of the votes of a class under the tilted weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moments {
    pub(super) ln_mass: f64,
    pub(super) mean: f64,
    pub(super) variance: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(low: usize, coefficients: &[f64]) -> Polynomial {
        Polynomial::trimmed(low, coefficients.to_vec(), 0.0).unwrap()
    }

    #[test]
    fn products_sums_and_coefficients_agree_with_arithmetic_by_hand() {
        let (a, b, c) = (from(1, &[1.0, 2.0]), from(0, &[3.0, 0.5, 1.0]), from(2, &[4.0]));
        // (z + 2z²)(3 + z/2 + z²) = 3z + 6.5z² + 2z³ + 2z⁴
        let product = a.times(&b, 0..=9).unwrap();
        let values: Vec<f64> = product.coefficients.iter().map(|v| v * product.ln_scale.exp()).collect();
        assert_eq!(product.low, 1);
        for (value, expected) in values.iter().zip([3.0, 6.5, 2.0, 2.0]) {
            assert!((value - expected).abs() < 1e-14);
        }
        assert!((c.ln_coefficient_of_product(&a, &b, 5).exp() - 8.0).abs() < 1e-13);
        assert_eq!(c.ln_coefficient_of_product(&a, &b, 2), f64::NEG_INFINITY);
        let sum = a.plus(&c).unwrap();
        assert!((sum.coefficients[1] * sum.ln_scale.exp() - 6.0).abs() < 1e-14);
    }
}
