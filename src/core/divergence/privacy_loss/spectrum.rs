//! Convolution of many lattice distributions by the discrete Fourier transform, with a bound on every rounding error.

use super::gathered::{Gathered, gathered};
use super::lattice::Masses;
use crate::parallel;
use leakbound_fft::{Complex, Planner, Transform};

/// Half a unit in the last place.
const UNIT: f64 = 0.5 * f64::EPSILON;
/// Rounding of one butterfly stage: a product with a rounded root of unity and a sum, with room to spare.
const STAGE: f64 = 8.0 * UNIT;
/// e^-x is 0 from here on.
const UNDERFLOW: f64 = 746.0;
/// Queries multiplied in one piece of work; fixed, so results do not depend on threads.
const CHUNK: usize = 16;

/// The distribution of a sum on N cyclic points.
#[derive(Debug, Clone)]
pub(super) struct CyclicDistribution {
    pub(super) mass: Vec<f64>,
    /// Every mass is within this of the exact one.
    pub(super) error: f64,
}

/// A product of characteristic functions at the frequencies 0 to N/2, with an error bound at each.
struct Product {
    value: Vec<Complex<f64>>,
    error: Vec<f64>,
}

impl Product {
    fn unit(frequencies: usize) -> Self {
        Self { value: vec![Complex::new(1.0, 0.0); frequencies], error: vec![0.0; frequencies] }
    }

    fn multiply(&mut self, value: impl Iterator<Item = (Complex<f64>, f64)>) {
        for ((own, own_error), (other, other_error)) in self.value.iter_mut().zip(&mut self.error).zip(value) {
            let (size, other_size) = (size(*own), size(other));
            *own_error = *own_error * (other_size + other_error) + size * (other_error + 4.0 * UNIT * other_size);
            *own *= other;
        }
    }
}

/// |z| if squares do not underflow, and otherwise an upper bound.
fn size(z: Complex<f64>) -> f64 {
    (z.norm_sqr() + f64::MIN_POSITIVE).sqrt()
}

/// The distribution modulo N of the sum of independent variables, the i-th given by its masses and repeated `times`
/// over.
///
/// Masses must be non-negative and sum to 1, and N must be even. An entry of a transform is a sum of inputs, each times
/// a chain of at most log₂ N roots of unity, so its error is at most about log₂ N stages of rounding times Σ|x|, which
/// is 2 for two queries in one transform, on top of the error of adding up neighbors directly; products add up relative
/// errors; and the inverse transform adds the mean of the errors of all frequencies.
///
/// The planner keeps the roots of unity of the lengths it has seen.
pub(super) fn convolve(queries: Vec<(Masses, u64)>, points: usize, planner: &mut Planner) -> CyclicDistribution {
    let queries = gathered(queries);
    let (forward, inverse) = (planner.forward(points), planner.inverse(points));
    let stage_error = STAGE * ((points as f64).log2() + 2.0);
    let pieces = parallel::map(queries.chunks(CHUNK), |chunk| piece(chunk, points, &forward, 2.0 * stage_error));
    let mut total = Product::unit(points / 2 + 1);
    for piece in pieces {
        total.multiply(piece.value.into_iter().zip(piece.error));
    }
    // The other half of the frequencies are conjugates.
    let mirrored = (1..points / 2).rev();
    let errors: f64 = total.error.iter().sum::<f64>() + mirrored.clone().map(|index| total.error[index]).sum::<f64>();
    let mut whole = total.value;
    whole.extend_from_within(1..points / 2);
    whole[points / 2 + 1..].reverse();
    whole[points / 2 + 1..].iter_mut().for_each(|value| *value = value.conj());
    let sizes: f64 = whole.iter().map(|&value| size(value)).sum();
    inverse.process(&mut whole);
    let scale = 1.0 / points as f64;
    CyclicDistribution {
        mass: whole.iter().map(|value| value.re * scale).collect(),
        error: (errors + stage_error * sizes) * scale * 1.01,
    }
}

fn piece(queries: &[Gathered], points: usize, forward: &Transform, error: f64) -> Product {
    let half = points / 2;
    let mut product = Product::unit(half + 1);
    let mut buffer = vec![Complex::new(0.0, 0.0); points];
    let mut scratch = Vec::new();
    for pair in queries.chunks(2) {
        buffer.fill(Complex::new(0.0, 0.0));
        let place = |point: i64| point.rem_euclid(points as i64) as usize;
        pair[0].masses.iter().for_each(|&(point, mass)| buffer[place(point)].re += mass);
        if let Some(second) = pair.get(1) {
            second.masses.iter().for_each(|&(point, mass)| buffer[place(point)].im += mass);
        }
        forward.process_with(&mut buffer, &mut scratch);
        // Two real sequences in one transform: their spectra are its even and odd parts.
        for (member, Gathered { times, error: own, .. }) in pair.iter().enumerate() {
            let error = error + own;
            let part = (0..=half).map(|index| {
                let (here, there) = (buffer[index], buffer[(points - index) % points].conj());
                if member == 0 {
                    (here + there) * 0.5
                } else {
                    let odd = (here - there) * 0.5;
                    Complex::new(odd.im, -odd.re)
                }
            });
            if *times == 1 {
                product.multiply(part.map(|value| (value, error)));
            } else {
                product.multiply(part.map(|value| power(value, *times, error)));
            }
        }
    }
    product
}

/// x^k with |x̂^k - x^k| ≤ k e (|x̂| + e)^{k-1}, plus 4k roundings.
fn power(value: Complex<f64>, times: u64, error: f64) -> (Complex<f64>, f64) {
    let (k, most) = (times as f64, size(value) + error);
    // Most powers of many answers are below the range of doubles: (|x̂| + e)^k ≤ e^{k (|x̂| + e - 1)}.
    if k * (1.0 - most) > UNDERFLOW {
        return (Complex::new(0.0, 0.0), f64::MIN_POSITIVE);
    }
    let (mut result, mut square, mut rest) = (Complex::new(1.0, 0.0), value, times);
    while rest > 0 {
        if rest & 1 == 1 {
            result *= square;
        }
        square *= square;
        rest >>= 1;
    }
    (result, k * (error + 4.0 * UNIT) * libm::pow(most, k - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error bound covers both halves of the frequencies and grows with the number of answers.
    #[test]
    fn the_error_bound_grows_with_the_answers() {
        let masses: Masses = vec![(0, 0.5), (1, 0.5)];
        let points = 1 << 12;
        let [one, many] =
            [1u64, 1_000].map(|times| convolve(vec![(masses.clone(), times)], points, &mut Planner::new()));
        assert!((one.mass[0] - 0.5).abs() <= one.error && (one.mass[1] - 0.5).abs() <= one.error);
        // P(Bin(1000, 1/2) = 500).
        let expected = crate::special::log_binomial_pmf(500, 1_000, 0.5).exp();
        assert!((many.mass[500] - expected).abs() <= many.error, "{} {expected}", many.mass[500]);
        // x^k is off by k e |x|^(k-1), and about 2 sqrt(N^2 / k) frequencies have a size near 1.
        assert!(many.error > 10.0 * one.error, "{} {}", many.error, one.error);
        assert!(many.error < 1e-9, "{}", many.error);
    }

    /// (a ± d)(b ± e) is off by d (b + e) + a e, and a product of exact numbers by four roundings.
    #[test]
    fn errors_of_factors_are_those_of_their_product() {
        let of = |own_error: f64, other_error: f64| {
            let mut product = Product { value: vec![Complex::new(0.0, 3.0)], error: vec![own_error] };
            product.multiply([(Complex::new(2.0, 0.0), other_error)].into_iter());
            assert_eq!(product.value, [Complex::new(0.0, 6.0)]);
            product.error[0]
        };
        assert!((of(0.1, 0.05) / (0.1 * 2.05 + 3.0 * 0.05) - 1.0).abs() < 1e-14, "{}", of(0.1, 0.05));
        assert!((of(0.0, 0.0) / (24.0 * UNIT) - 1.0).abs() < 1e-14, "{}", of(0.0, 0.0));
    }

    /// A third power that is off by e ends within 3 e (|x| + e)² of the exact one.
    #[test]
    fn errors_of_powers_grow_with_the_power() {
        let (value, error) = power(Complex::new(2.0, 0.0), 3, 0.1);
        assert_eq!(value, Complex::new(8.0, 0.0));
        // With 10^5 answers nothing is left of a frequency of 0.99, and nearly all of one of 1 - 1e-9.
        assert_eq!(power(Complex::new(0.99, 0.0), 100_000, 1e-15), (Complex::new(0.0, 0.0), f64::MIN_POSITIVE));
        let (kept, _) = power(Complex::new(1.0 - 1e-9, 0.0), 100_000, 1e-15);
        assert!((kept.re - libm::exp(-1e-4)).abs() < 1e-9, "{kept}");
        assert!(2.1f64.powi(3) - 8.0 <= error && (error / (0.3 * 2.1 * 2.1) - 1.0).abs() < 1e-12, "{error}");
    }
}
