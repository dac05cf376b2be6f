//! Arithmetic of power series, eight side by side, up to the length of the longest. All lengths are even.

#![allow(clippy::needless_range_loop, reason = "the same lane of several arrays")]

use super::lanes::{LANES, Lane};

/// Sums of terms, their absolute size, and the size of the last two.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sum {
    pub(super) value: Lane,
    pub(super) size: Lane,
    pub(super) rest: Lane,
}

/// √(n!).
pub(super) fn root_factorial(n: usize) -> f64 {
    (2..=n).map(|i| i as f64).product::<f64>().sqrt()
}

/// The product of two polynomials, up to the length of the longer one, which is the right one.
#[inline(always)]
pub(super) fn multiply(product: &mut [Lane], left: &[Lane], right: &[Lane]) {
    for (pair, product) in product.chunks_exact_mut(2).enumerate() {
        let place = 2 * pair;
        let mut sums = [[0.0; LANES]; 2];
        for (left, right) in left.iter().zip(right[..=place + 1].windows(2).rev()) {
            add_products(&mut sums, left, right);
        }
        if let Some(left) = left.get(place + 1) {
            add_products(&mut sums[1..], left, &right[..1]);
        }
        product.copy_from_slice(&sums);
    }
}

/// Adds the products with each of some numbers.
#[inline(always)]
fn add_products(sums: &mut [Lane], left: &Lane, right: &[Lane]) {
    for (sum, right) in sums.iter_mut().zip(right) {
        for lane in 0..LANES {
            sum[lane] = left[lane].mul_add(right[lane], sum[lane]);
        }
    }
}

/// target / divisor for power series, up to the length of target.
#[inline(always)]
pub(super) fn divide(target: &mut [Lane], divisor: &[Lane]) {
    let inverse = divisor[0].map(|value| 1.0 / value);
    for place in (0..target.len()).step_by(2) {
        let (known, rest) = target.split_at_mut(place);
        let mut sums = [rest[0], rest[1]];
        // The contribution of a coefficient of the divisor and the quotient this many positions earlier.
        for (divisor, known) in divisor.iter().skip(2).zip(known.windows(2).rev()) {
            add_products(&mut sums, &negative(divisor), known);
        }
        if let (Some(divisor), Some(first)) = (divisor.get(place + 1), known.first()) {
            add_products(&mut sums[1..], &negative(divisor), &[*first]);
        }
        let next = divisor.get(1).map_or([0.0; LANES], negative);
        if let Some(last) = known.last() {
            add_products(&mut sums[..1], &next, &[*last]);
        }
        for lane in 0..LANES {
            sums[0][lane] *= inverse[lane];
            sums[1][lane] = next[lane].mul_add(sums[0][lane], sums[1][lane]) * inverse[lane];
        }
        rest[..2].copy_from_slice(&sums);
    }
}

#[inline(always)]
fn negative(lane: &Lane) -> Lane {
    lane.map(|value| -value)
}

/// target + factor · other, where other may be shorter.
#[inline(always)]
pub(super) fn add_scaled(target: &mut [Lane], other: &[Lane], factor: f64) {
    for (target, other) in target.iter_mut().zip(other) {
        for lane in 0..LANES {
            target[lane] = factor.mul_add(other[lane], target[lane]);
        }
    }
}

/// Σ_R moments_R (left · right)_R, the size of its terms by power of left, and that of the last two.
#[inline(always)]
pub(super) fn functional(left: &[Lane], right: &[Lane], moments: &[f64], scratch: &mut [Lane]) -> Sum {
    // Σ_s left_s Σ_p right_p moments_{s+p}: the inner sums first, which use broadcast numbers.
    let scratch = &mut scratch[..left.len()];
    for (pair, scratch) in scratch.chunks_exact_mut(2).enumerate() {
        let place = 2 * pair;
        let mut sums = [[0.0; LANES]; 2];
        for (right, moments) in right.iter().zip(moments[place..].windows(2)) {
            for (sum, &moment) in sums.iter_mut().zip(moments) {
                for lane in 0..LANES {
                    sum[lane] = moment.mul_add(right[lane], sum[lane]);
                }
            }
        }
        let last = moments.len() - 1;
        for lane in 0..LANES {
            sums[0][lane] = moments[last].mul_add(right[last - place][lane], sums[0][lane]);
        }
        scratch.copy_from_slice(&sums);
    }
    let mut sum = Sum { value: [0.0; LANES], size: [0.0; LANES], rest: [0.0; LANES] };
    let last = left.len() - 2;
    for (place, (left, scratch)) in left.iter().zip(scratch).enumerate() {
        for lane in 0..LANES {
            let term = left[lane] * scratch[lane];
            sum.value[lane] += term;
            sum.size[lane] += term.abs();
            if place >= last {
                sum.rest[lane] += term.abs();
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Series whose coefficients differ from lane to lane.
    fn series(length: usize, seed: f64) -> Vec<Lane> {
        let value = |place: usize, lane: usize| (seed + 1.7 * place as f64 + 0.3 * lane as f64).sin();
        let mut series: Vec<Lane> = (0..length).map(|place| std::array::from_fn(|lane| value(place, lane))).collect();
        series[0] = series[0].map(|value| 3.0 + value);
        series
    }

    /// Coefficient by coefficient.
    fn product(left: &[Lane], right: &[Lane]) -> Vec<Lane> {
        let mut product = vec![[0.0; LANES]; right.len()];
        for (s, left) in left.iter().enumerate() {
            for (p, right) in right.iter().enumerate().take(product.len() - s) {
                for lane in 0..LANES {
                    product[s + p][lane] += left[lane] * right[lane];
                }
            }
        }
        product
    }

    fn assert_close(left: &[Lane], right: &[Lane], what: &str) {
        for (place, (left, right)) in left.iter().zip(right).enumerate() {
            for lane in 0..LANES {
                assert!((left[lane] - right[lane]).abs() < 1e-12, "{what}: {place} {lane}: {left:?} {right:?}");
            }
        }
    }

    #[test]
    fn products_and_quotients_are_those_of_series() {
        for (short, long) in [(2, 2), (4, 4), (4, 12), (8, 12), (12, 12)] {
            let (left, right) = (series(short, 0.4), series(long, 2.0));
            let mut found = vec![[7.0; LANES]; long];
            multiply(&mut found, &left, &right);
            assert_close(&found, &product(&left, &right), "product");
            divide(&mut found, &left);
            assert_close(&found, &right, "quotient");
        }
    }

    #[test]
    fn a_functional_weighs_the_product() {
        for (short, long) in [(2, 2), (4, 12), (12, 12)] {
            let (left, right) = (series(short, 0.9), series(long, 5.0));
            let moments: Vec<f64> = (0..long).map(|r| (1.0 + r as f64).cos()).collect();
            let mut scratch = vec![[7.0; LANES]; long];
            let found = functional(&left, &right, &moments, &mut scratch);
            for lane in 0..LANES {
                let product = product(&left, &right);
                let expected: f64 = product.iter().zip(&moments).map(|(term, moment)| term[lane] * moment).sum();
                assert!((found.value[lane] - expected).abs() < 1e-12, "{short} {long}: {found:?}");
                assert!(found.size[lane] >= expected.abs() - 1e-12 && found.rest[lane] <= found.size[lane]);
            }
        }
    }
}
