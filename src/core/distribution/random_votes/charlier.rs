//! Expectations over multinomial votes as series in w = z - 1, whose terms are Charlier's polynomials.
//!
//! For N ~ Poi(μ) and any function u,
//! ```text
//! E[u(N) z^N] = e^{μw} Σ_r a_r w^r,   a_r = E[u(N) t_r(N)],   Σ_r t_r(n) w^r = (1+w)^n e^{-μw}.
//! ```
//! With independent N_i of means kP_i the product over the classes is e^{kw} A(w), A = Π_i Σ_r a_{i,r} w^r, and Mult(d, P)
//! is their distribution given Σ N_i = d, so that
//! ```text
//! E[Π u_i(N_i)] = Σ_R A_R [z^d](e^{kw} w^R) / P(Poi(k) = d).
//! ```
//! The t_r are orthogonal, E[t_r²] = μ^r/r!; if u_i has hardly any curvature over the spread √μ of the votes, A_R falls
//! like a geometric sequence. All coefficients here are those of powers of v = w√k, which keeps them near 1.

#![allow(clippy::needless_range_loop, reason = "the same lane of several arrays")]

use super::lanes::{LANES, Lane};
use crate::special::log_poisson_pmf;
use crate::vectorized::{Arch, in_vectors};

/// Number of products that are summed side by side.
const TERMS: usize = 4;
/// The rows end where all entries are below this. The functions that weight the rows may differ by many powers of ten
/// between the end and the mean of the votes.
const NEGLIGIBLE: f64 = 1e-30;
/// The least mean of a class whose functions are shifted by their coefficients: with fewer votes, the coefficients have
/// errors that the division by the mean would increase.
const LEAST_MEAN: f64 = 4.0;

/// A number of coefficients up to this degree that the loops are made for.
pub(super) const fn coefficients_up_to(degree: usize) -> usize {
    (degree + 1).next_multiple_of(TERMS)
}

/// P(N = n) t_r(n) k^(-r/2) of a class, for the relevant n.
#[derive(Debug)]
pub(super) struct Weights {
    /// The smallest n.
    pub(super) first: i64,
    /// A multiple of [`TERMS`].
    pub(super) terms: usize,
    /// Row by row.
    values: Vec<f64>,
    /// μ, and √k/μ.
    mean: f64,
    slope: f64,
}

impl Weights {
    /// For votes with this mean among k, and this many coefficients.
    pub(super) fn new(mean: f64, voters: f64, terms: usize) -> Self {
        in_vectors!(Arch::new(), Self::from_mode(mean, voters, terms))
    }

    /// From the mode upward and downward, until nothing more matters.
    #[inline(always)]
    fn from_mode(mean: f64, voters: f64, terms: usize) -> Self {
        let mode = mean.floor();
        let polynomials = Polynomials { mean, share: mean / voters, inverse_root: 1.0 / voters.sqrt() };
        let peak = libm::exp(log_poisson_pmf(mode as u64, mean));
        let mut values: Vec<f64> = Vec::new();
        let mut block = vec![[0.0; LANES]; terms];
        // Backward first: these rows are reversed.
        let (mut n, mut mass) = (mode, peak);
        let mut matters = true;
        while matters && n > 0.0 {
            let (mut numbers, mut masses) = ([-1.0; LANES], [0.0; LANES]);
            for lane in 0..LANES {
                mass *= n / mean;
                n -= 1.0;
                (numbers[lane], masses[lane]) = (n, mass);
            }
            matters = polynomials.fill(&numbers, &masses, &mut block);
            append(&mut values, &block, numbers.iter().take_while(|&&n| n >= 0.0).count());
        }
        let below = values.len() / terms;
        for row in 0..below / 2 {
            for term in 0..terms {
                values.swap(row * terms + term, (below - 1 - row) * terms + term);
            }
        }
        (n, mass) = (mode, peak);
        matters = true;
        while matters {
            let (mut numbers, mut masses) = ([0.0; LANES], [0.0; LANES]);
            for lane in 0..LANES {
                (numbers[lane], masses[lane]) = (n, mass);
                n += 1.0;
                mass *= mean / n;
            }
            matters = polynomials.fill(&numbers, &masses, &mut block);
            append(&mut values, &block, LANES);
        }
        let first = mode as i64 - below as i64;
        Self { first, terms, values, mean, slope: voters.sqrt() / mean }
    }

    /// Number of n.
    pub(super) fn rows(&self) -> usize {
        self.values.len() / self.terms
    }

    /// The coefficients of eight functions, given by their values for n = `first`, `first` + 1, ...
    #[inline(always)]
    pub(super) fn coefficients(&self, functions: &[Lane], coefficients: &mut [Lane]) {
        for (block, coefficients) in coefficients.chunks_exact_mut(TERMS).enumerate() {
            let mut sums = [[0.0; LANES]; TERMS];
            for (function, weights) in functions.iter().zip(self.values.chunks_exact(self.terms)) {
                let weights = &weights[block * TERMS..][..TERMS];
                for (sum, &weight) in sums.iter_mut().zip(weights) {
                    for (sum, value) in sum.iter_mut().zip(function) {
                        *sum = weight.mul_add(*value, *sum);
                    }
                }
            }
            coefficients.copy_from_slice(&sums);
        }
    }

    /// The coefficients of n -> u(n + 1) from those of u, except the last: E[Δ^r u] is a_r r!/μ^r.
    #[inline(always)]
    pub(super) fn shifted(&self, coefficients: &[Lane], shifted: &mut [Lane]) {
        for (r, (shifted, pair)) in shifted.iter_mut().zip(coefficients.windows(2)).enumerate() {
            let factor = (r + 1) as f64 * self.slope;
            for lane in 0..LANES {
                shifted[lane] = factor.mul_add(pair[1][lane], pair[0][lane]);
            }
        }
        if let (Some(shifted), Some(last)) = (shifted.last_mut(), coefficients.last()) {
            *shifted = *last;
        }
    }

    /// Whether [`shifted`](Self::shifted) keeps the accuracy of the coefficients.
    pub(super) const fn shifts(&self) -> bool {
        self.mean >= LEAST_MEAN
    }
}

/// From (1+w) G' = nG - μ(1+w) G for G = (1+w)^n e^{-μw}: (r+1) t_{r+1} = (n - μ - r) t_r - μ t_{r-1}.
struct Polynomials {
    /// μ.
    mean: f64,
    /// μ/k.
    share: f64,
    /// 1/√k.
    inverse_root: f64,
}

impl Polynomials {
    /// P(N = n) t_r(n) k^(-r/2) for r = 0, 1, ... and eight n of these masses, and whether any of the last n matters.
    #[inline(always)]
    fn fill(&self, numbers: &Lane, masses: &Lane, block: &mut [Lane]) -> bool {
        let (mut last, mut value, mut root_factorial, mut largest) = ([0.0; LANES], *masses, 1.0, 0.0f64);
        for (r, entry) in block.iter_mut().enumerate() {
            let r = r as f64;
            *entry = value;
            largest = largest.max(value[LANES - 1].abs() * root_factorial);
            let inverse = 1.0 / (r + 1.0);
            for lane in 0..LANES {
                let slope = (numbers[lane] - self.mean - r) * self.inverse_root;
                let next = (slope * value[lane] - self.share * last[lane]) * inverse;
                (last[lane], value[lane]) = (value[lane], next);
            }
            root_factorial *= (r + 1.0).sqrt();
        }
        largest > NEGLIGIBLE
    }
}

/// Appends the first columns of a block as rows, up to this number.
#[inline(always)]
fn append(values: &mut Vec<f64>, block: &[Lane], columns: usize) {
    for column in 0..columns {
        values.extend(block.iter().map(|entry| entry[column]));
    }
}

/// The growth of rounding errors from the first to the last of this many moments, and of polynomials.
///
/// Beyond about R = ek, the moments are the smallest solution of their recurrence, and their errors are any solution.
pub(super) fn growth(voters: f64, terms: usize) -> f64 {
    (1..=terms).map(|r| (r as f64 / voters).sqrt()).product()
}

/// [z^(k-`fewer`)](e^{kw} v^R) / P(Poi(k) = k) for R = 0, 1, ..., up to this number of terms.
///
/// For k votes, κ_{R+1} = -R (κ_R/√k + κ_{R-1}); one vote fewer is a factor z = 1 + v/√k.
pub(super) fn moments(voters: f64, fewer: usize, terms: usize) -> Vec<f64> {
    let inverse_root = 1.0 / voters.sqrt();
    let mut moments = vec![1.0, 0.0];
    for r in 1..terms + fewer {
        moments.push(-(r as f64) * (moments[r] * inverse_root + moments[r - 1]));
    }
    for _ in 0..fewer {
        for r in 0..moments.len() - 1 {
            moments[r] += moments[r + 1] * inverse_root;
        }
        moments.pop();
    }
    moments.truncate(terms);
    moments
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Σ_n P(N = n) t_r(n) t_s(n) k^(-(r+s)/2) is P^r/r! for r = s and 0 otherwise.
    #[test]
    fn the_polynomials_are_orthogonal() {
        for (mean, voters) in [(0.0, 10.0), (0.02, 10.0), (3.0, 10.0), (85.3, 250.0), (249.0, 250.0), (900.0, 3000.0)] {
            let weights = Weights::new(mean, voters, 24);
            let rows: Vec<&[f64]> = weights.values.chunks_exact(24).collect();
            assert_eq!(rows.len(), weights.rows());
            let pmf = |row: usize| libm::exp(log_poisson_pmf((weights.first + row as i64) as u64, mean));
            let mut square = 1.0;
            for r in 0..24 {
                for s in 0..=r {
                    let scale = (mean / voters).powf((r + s) as f64 / 2.0)
                        / ((1..=r).chain(1..=s).map(|i| i as f64).product::<f64>()).sqrt();
                    let possible = rows.iter().enumerate().filter(|&(n, _)| pmf(n) > 0.0);
                    let sum: f64 = possible.map(|(n, row)| row[r] * row[s] / pmf(n)).sum();
                    let expected = if r == s { square } else { 0.0 };
                    assert!((sum - expected).abs() <= 2e-13 * scale + 1e-19, "{mean} {r} {s}: {sum} {expected}");
                }
                square *= mean / voters / (r + 1) as f64;
            }
        }
    }

    /// The coefficients of e^{kw} v^R, by the power series of e^{kz} and the binomial theorem.
    #[test]
    fn moments_are_coefficients() {
        for (voters, fewer) in [(5, 0), (5, 1), (12, 0), (12, 3)] {
            let k = f64::from(voters);
            let pmf = |n: i32| if n < 0 { 0.0 } else { libm::exp(log_poisson_pmf(n as u64, k)) };
            for (r, moment) in moments(k, fewer, 9).into_iter().enumerate() {
                let (mut binomial, mut expected, mut size) = (1.0, 0.0, 0.0);
                for power in 0..=r {
                    let sign = if (r - power) % 2 == 0 { 1.0 } else { -1.0 };
                    let term = binomial * pmf(voters - fewer as i32 - power as i32);
                    (expected, size) = (expected + sign * term, size + term);
                    binomial *= (r - power) as f64 / (power + 1) as f64;
                }
                let scale = k.powf(r as f64 / 2.0) / pmf(voters);
                assert!((moment - expected * scale).abs() < 1e-14 * size * scale, "{voters} {fewer} {r}");
            }
        }
    }
}
