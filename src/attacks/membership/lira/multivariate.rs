//! Views as one normal vector, with a covariance that is regular however few the models are.

use super::sample::{Sample, floor};
use super::side::Side;

/// Covariances of both sides of a sample, as sums of products about the means; lower triangles, row by row.
pub(super) struct Fitted {
    products: [Vec<f64>; 2],
}

impl Fitted {
    pub(super) fn new(sample: &Sample<'_>, sides: &[Side; 2]) -> Self {
        let products = [false, true].map(|member| {
            let side = &sides[usize::from(member)];
            let mut products = vec![0.0; sample.views * (sample.views + 1) / 2];
            for model in sample.side(member) {
                let d = distances(&sample.scores[model * sample.views..], &side.mean);
                rank_one(&mut products, &d, 1.0);
            }
            products
        });
        Self { products }
    }

    /// ln N_in - ln N_out of an answer; the victim is left out of its side, if it has one. `pair` are the remaining
    /// sides, of at least two models each.
    pub(super) fn ratio(&self, sample: &Sample<'_>, answer: &[f64], excluded: Option<usize>, pair: [&Side; 2]) -> f64 {
        let density = |index: usize| {
            let side = pair[index];
            let mut products = self.products[index].clone();
            if excluded.is_some_and(|victim| usize::from(sample.members[victim]) == index) {
                // Products about the mean without the victim: the rank-one form of what Side does for each view. With
                // d' = x - mean', the distance from the mean of the n others, d = d' n/(n+1), and the sum of products
                // falls by d d (n+1)/n = d' d' n/(n+1).
                let left = distances(answer, &side.mean);
                let n = side.models as f64;
                rank_one(&mut products, &left, -n / (n + 1.0));
            }
            let floor = answer.iter().zip(&pair[0].mean).zip(&pair[1].mean).map(|((x, a), b)| floor(*x, *a, *b));
            log_density(&products, answer, side, floor.fold(f64::MIN_POSITIVE, f64::max))
        };
        density(1) - density(0)
    }
}

/// ln N(answer; mean, Σ) without its constant, Σ the shrunk covariance.
///
/// With S = products/n of p views the covariance is (1-ρ) S + ρ (tr S/p) I, where ρ = min(1, ((1-2/p) tr S² + (tr S)²)
/// / ((n+1-2/p) (tr S² - (tr S)²/p))): Chen, Wiesel, Eldar and Hero (2010), equation 23, the oracle approximating
/// shrinkage for normal data. Views of one sample have like variances, so a multiple of the identity is a fair target;
/// the intensity needs S alone, so leaving a victim out is cheap.
fn log_density(products: &[f64], answer: &[f64], side: &Side, floor: f64) -> f64 {
    let (p, n) = (answer.len(), side.models as f64);
    let mut matrix: Vec<f64> = products.iter().map(|sum| sum / n).collect();
    let at = |row: usize, column: usize| row * (row + 1) / 2 + column;
    let trace: f64 = (0..p).map(|i| matrix[at(i, i)].max(0.0)).sum();
    let squared: f64 =
        (0..p).map(|i| (0..=i).map(|j| matrix[at(i, j)].powi(2) * if i == j { 1.0 } else { 2.0 }).sum::<f64>()).sum();
    let views = p as f64;
    let spread = (n + 1.0 - 2.0 / views) * (squared - trace * trace / views);
    let weight = (1.0 - 2.0 / views) * squared + trace * trace;
    // One view, or equal eigenvalues: nothing to shrink toward but itself.
    let intensity = if spread > weight { weight / spread } else { 1.0 };
    matrix.iter_mut().for_each(|value| *value *= 1.0 - intensity);
    for i in 0..p {
        matrix[at(i, i)] += intensity * trace / views + floor;
    }
    // Cholesky; a pivot that rounding made too small counts as the floor.
    let (mut log_determinant, mut squares) = (0.0, 0.0);
    let mut solved = distances(answer, &side.mean);
    for i in 0..p {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| matrix[at(i, k)] * matrix[at(j, k)]).sum();
            let value = matrix[at(i, j)] - sum;
            matrix[at(i, j)] = if i == j { value.max(floor).sqrt() } else { value / matrix[at(j, j)] };
        }
        let sum: f64 = (0..i).map(|k| matrix[at(i, k)] * solved[k]).sum();
        solved[i] = (solved[i] - sum) / matrix[at(i, i)];
        squares += solved[i] * solved[i];
        log_determinant += 2.0 * matrix[at(i, i)].ln();
    }
    -0.5 * (squares + log_determinant)
}

fn distances(answer: &[f64], mean: &[f64]) -> Vec<f64> {
    answer.iter().zip(mean).map(|(x, mean)| x - mean).collect()
}

/// Adds `weight` d dᵀ to a lower triangle.
fn rank_one(triangle: &mut [f64], d: &[f64], weight: f64) {
    let mut rest = triangle;
    for (row, &value) in d.iter().enumerate() {
        let (line, after) = rest.split_at_mut(row + 1);
        line.iter_mut().zip(d).for_each(|(sum, other)| *sum += weight * value * other);
        rest = after;
    }
}
