//! Logistic regression with a penalty, for one sample: many fits to the same few rows, of which one is left out in turn.

use crate::error::{Error, Result};
use crate::vectorized::{Arch, vectorized};

/// Steps of Newton's method; six are usual.
const MOST_STEPS: usize = 200;

/// The squared Newton decrement at which a fit is done: the objective is then within half of it of its minimum.
const DECREMENT: f64 = 1e-22;

/// Rows side by side. Sums over rows have as many partial sums on every machine, so that results are the same.
const LANES: usize = 8;

/// Partial sums.
type Lanes = [f64; LANES];

/// Features of a model, and whether it was trained on the sample.
pub(super) type Row<'a> = (&'a [f64], bool);

/// Features of models, column by column, with the truth and a weight for each.
///
/// Rows of weight 0 fill up the last lanes; they add nothing to any sum.
pub(super) struct Design {
    /// Features and the constant 1, which is the last column.
    columns: Vec<Vec<Lanes>>,
    /// 1 inside, 0 outside.
    truth: Vec<Lanes>,
    weight: Vec<Lanes>,
    /// The largest magnitude in each row.
    largest: Vec<f64>,
}

impl Design {
    /// Rows of equal length with their truth, each of weight 0.
    pub(super) fn new(rows: &[Row<'_>]) -> Self {
        let features = rows.first().map_or(0, |(x, _)| x.len());
        let blocks = rows.len().div_ceil(LANES);
        let gathered = |number: &dyn Fn(&Row<'_>) -> f64| {
            let mut column = vec![[0.0; LANES]; blocks];
            rows.iter().enumerate().for_each(|(row, x)| column[row / LANES][row % LANES] = number(x));
            column
        };
        let mut columns: Vec<Vec<Lanes>> = (0..features).map(|feature| gathered(&|(x, _)| x[feature])).collect();
        columns.push(gathered(&|_| 1.0));
        Self {
            columns,
            truth: gathered(&|(_, member)| f64::from(u8::from(*member))),
            weight: vec![[0.0; LANES]; blocks],
            largest: rows.iter().map(|(x, _)| x.iter().fold(1.0, |most: f64, x| most.max(x.abs()))).collect(),
        }
    }

    /// Adds to the weight of a row.
    pub(super) fn add(&mut self, row: usize, weight: f64) {
        self.weight[row / LANES][row % LANES] += weight;
    }

    /// Whether there are models inside and models outside.
    pub(super) fn both_sides(&self) -> bool {
        [0.0, 1.0].into_iter().all(|side| {
            let mut pairs = self.truth.iter().flatten().zip(self.weight.iter().flatten());
            pairs.any(|(&truth, &weight)| truth == side && weight > 0.0)
        })
    }

    /// Weights and intercept of this many.
    pub(super) fn size(&self) -> usize {
        self.columns.len()
    }
}

/// w·x + b; the intercept is the last weight.
fn linear(weights: &[f64], x: &[f64]) -> f64 {
    weights.iter().zip(x).map(|(w, x)| w * x).sum::<f64>() + weights[x.len()]
}

/// 1/(1 + exp(-(w·x + b))).
pub(super) fn probability(weights: &[f64], x: &[f64]) -> f64 {
    1.0 / (1.0 + (-linear(weights, x)).exp())
}

/// What Newton's method writes on, kept from fit to fit.
#[derive(Default)]
pub(super) struct Fitter {
    /// w·x + b of each row, and exp(-|w·x + b|).
    margin: Vec<Lanes>,
    small: Vec<Lanes>,
    /// C times weight times p - y, and times p(1 - p).
    pull: Vec<Lanes>,
    curvature: Vec<Lanes>,
    scaled: Vec<Lanes>,
    gradient: Vec<f64>,
    /// The upper triangle, row by row.
    hessian: Vec<f64>,
    step: Vec<f64>,
    next: Vec<f64>,
}

impl Fitter {
    /// Minimizes ½ |w|² + C Σ weight · ln(1 + exp(∓(w·x + b))) from where `weights` are.
    ///
    /// Newton's method with step halving. A convex objective of smooth terms has a quadratic neighborhood of its minimum;
    /// the squared decrement gᵀH⁻¹g bounds twice the distance from the minimal value there. After it is small one more step
    /// doubles the digits.
    pub(super) fn fit(&mut self, design: &Design, c: f64, weights: &mut [f64]) -> Result<()> {
        vectorized(
            Arch::new(),
            #[inline(always)]
            || self.newton(design, c, weights),
        )
    }

    #[inline(always)]
    fn newton(&mut self, design: &Design, c: f64, weights: &mut [f64]) -> Result<()> {
        let size = weights.len();
        // No gradient is more exact than the rounding of the terms that it is made of; the Hessian is at least 1 in the
        // directions of the weights.
        let weighted = design.weight.iter().flatten().zip(&design.largest);
        let terms: f64 = weighted.map(|(weight, largest)| c * weight * largest).sum();
        let done = DECREMENT + (64.0 * f64::EPSILON * terms).powi(2);
        let mut decrement = f64::INFINITY;
        for _ in 0..MOST_STEPS {
            self.look(design, weights);
            self.derive(design, c, weights);
            self.solve(size);
            decrement = self.step.iter().zip(&self.gradient).map(|(s, g)| s * g).sum::<f64>();
            if decrement.is_nan() {
                break;
            }
            let last = decrement < done;
            self.moved(weights, 1.0);
            // Near the minimum the objective no longer tells steps apart.
            if decrement > 1e-12 {
                let before = self.objective(design, c, weights);
                let mut length = 1.0;
                while decrement > 1e-12 * (1.0 + before) && length > 1e-30 {
                    let next = std::mem::take(&mut self.next);
                    self.look(design, &next);
                    let after = self.objective(design, c, &next);
                    self.next = next;
                    if !(after > before - 0.25 * length * decrement) {
                        break;
                    }
                    length *= 0.5;
                    self.moved(weights, length);
                }
            }
            weights.copy_from_slice(&self.next);
            if last && weights.iter().all(|w| w.is_finite()) {
                return Ok(());
            }
        }
        Err(Error::NoConvergence {
            quantity: "logistic regression",
            residual: decrement,
            tolerance: done,
            iterations: MOST_STEPS,
        })
    }

    /// Margins of all rows.
    #[inline(always)]
    fn look(&mut self, design: &Design, weights: &[f64]) {
        self.margin.clear();
        self.margin.resize(design.truth.len(), [0.0; LANES]);
        for (column, &w) in design.columns.iter().zip(weights) {
            for (margin, x) in self.margin.iter_mut().zip(column) {
                for lane in 0..LANES {
                    margin[lane] += w * x[lane];
                }
            }
        }
        self.small.clear();
        self.small.extend(self.margin.iter().map(|margin| margin.map(|margin| (-margin.abs()).exp())));
    }

    /// The objective at the weights that were looked at.
    #[inline(always)]
    fn objective(&self, design: &Design, c: f64, weights: &[f64]) -> f64 {
        let features = weights.len() - 1;
        let mut loss = 0.0;
        for block in 0..self.margin.len() {
            for lane in 0..LANES {
                let (weight, inside) = (design.weight[block][lane], design.truth[block][lane] > 0.5);
                if weight > 0.0 {
                    // ln(1 + exp(∓margin)) without overflow.
                    let margin = self.margin[block][lane];
                    let wrong = if inside { -margin } else { margin };
                    loss += weight * (wrong.max(0.0) + self.small[block][lane].ln_1p());
                }
            }
        }
        0.5 * weights[..features].iter().map(|w| w * w).sum::<f64>() + c * loss
    }

    /// Gradient and Hessian at the weights that were looked at.
    #[inline(always)]
    fn derive(&mut self, design: &Design, c: f64, weights: &[f64]) {
        let size = weights.len();
        let blocks = self.margin.len();
        self.pull.clear();
        self.curvature.clear();
        for block in 0..blocks {
            let (mut pull, mut curvature) = ([0.0; LANES], [0.0; LANES]);
            for lane in 0..LANES {
                let (e, weight) = (self.small[block][lane], c * design.weight[block][lane]);
                let larger = 1.0 / (1.0 + e);
                let p = if self.margin[block][lane] < 0.0 { e * larger } else { larger };
                pull[lane] = weight * (p - design.truth[block][lane]);
                curvature[lane] = weight * (e * larger * larger);
            }
            self.pull.push(pull);
            self.curvature.push(curvature);
        }
        self.gradient.clear();
        self.gradient.extend(weights);
        self.gradient[size - 1] = 0.0;
        self.hessian.clear();
        self.hessian.resize(size * size, 0.0);
        for i in 0..size {
            self.gradient[i] += total(&self.pull, &design.columns[i]);
            self.scaled.clear();
            for (x, d) in design.columns[i].iter().zip(&self.curvature) {
                self.scaled.push(std::array::from_fn(|lane| x[lane] * d[lane]));
            }
            for j in i..size {
                self.hessian[i * size + j] = total(&self.scaled, &design.columns[j]);
            }
            if i + 1 < size {
                self.hessian[i * size + i] += 1.0;
            }
        }
    }

    /// H⁻¹ g, by the decomposition H = UᵀU with an upper triangle U, in place.
    #[inline(always)]
    fn solve(&mut self, size: usize) {
        let Self { hessian, gradient, step, .. } = self;
        step.clear();
        step.extend(gradient.iter());
        for k in 0..size {
            let (above, below) = hessian.split_at_mut((k + 1) * size);
            let row = &mut above[k * size..];
            // A pivot that rounding made too small: the intercept where all fitted probabilities are 0 or 1.
            let pivot = row[k].max(1e-12).sqrt();
            row[k] = pivot;
            let inverse = 1.0 / pivot;
            row[k + 1..].iter_mut().for_each(|value| *value *= inverse);
            step[k] *= inverse;
            let forward = step[k];
            for i in k + 1..size {
                let factor = row[i];
                step[i] -= factor * forward;
                let into = &mut below[(i - k - 1) * size..][i..size];
                into.iter_mut().zip(&row[i..]).for_each(|(into, value)| *into -= factor * value);
            }
        }
        for k in (0..size).rev() {
            let row = &hessian[k * size..][..size];
            let sum: f64 = row[k + 1..].iter().zip(&step[k + 1..]).map(|(u, x)| u * x).sum();
            step[k] = (step[k] - sum) / row[k];
        }
    }

    /// Where a step of this length leads.
    #[inline(always)]
    fn moved(&mut self, weights: &[f64], length: f64) {
        self.next.clear();
        self.next.extend(weights.iter().zip(&self.step).map(|(w, s)| w - length * s));
    }
}

/// Σ over rows of a product, in as many partial sums as there are lanes.
#[inline(always)]
fn total(a: &[Lanes], b: &[Lanes]) -> f64 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn design(x: &[Vec<f64>], member: &[bool]) -> Design {
        let rows: Vec<(&[f64], bool)> = x.iter().map(Vec::as_slice).zip(member.iter().copied()).collect();
        let mut design = Design::new(&rows);
        (0..rows.len()).for_each(|row| design.add(row, 1.0));
        design
    }

    #[test]
    fn one_view_has_a_closed_form_of_its_stationary_point() {
        // One feature, 0 or 1: the gradient of w is w + C Σ_{x=1} (p - y) = 0, and that of b is Σ (p - y) = 0.
        let x = [1.0, 1.0, 1.0, 0.0, 0.0, 1.0].map(|x| vec![x]);
        let member = [true, true, false, false, false, true];
        for c in [1e-3, 1.0, 100.0] {
            let mut weights = vec![0.0; 2];
            Fitter::default().fit(&design(&x, &member), c, &mut weights).unwrap();
            let pull = |row: usize| probability(&weights, &x[row]) - f64::from(u8::from(member[row]));
            assert!((0..6).map(pull).sum::<f64>().abs() < 1e-12);
            let sum: f64 = (0..6).map(|row| x[row][0] * pull(row)).sum();
            assert!((weights[0] + c * sum).abs() < 1e-11 * (1.0 + c), "{c}");
        }
    }

    /// Coordinate by coordinate, each by bisection of the derivative: slow, and without a Hessian.
    fn by_bisection(x: &[Vec<f64>], member: &[bool], c: f64) -> Vec<f64> {
        let features = x[0].len();
        let mut weights = vec![0.0; features + 1];
        for _ in 0..4000 {
            let mut most: f64 = 0.0;
            for place in 0..=features {
                let slope = |value: f64, weights: &mut Vec<f64>| {
                    weights[place] = value;
                    let pulls = x.iter().zip(member).map(|(x, &member)| {
                        let feature = if place == features { 1.0 } else { x[place] };
                        feature * (probability(weights, x) - f64::from(u8::from(member)))
                    });
                    (if place == features { 0.0 } else { value }) + c * pulls.sum::<f64>()
                };
                let before = weights[place];
                let (mut low, mut high) = (-50.0, 50.0);
                while high - low > 1e-14 {
                    let middle = 0.5 * (low + high);
                    if middle <= low || middle >= high {
                        break;
                    }
                    if slope(middle, &mut weights) > 0.0 { high = middle } else { low = middle }
                }
                weights[place] = 0.5 * (low + high);
                most = most.max((weights[place] - before).abs());
            }
            if most < 1e-13 {
                break;
            }
        }
        weights
    }

    #[test]
    fn minima_are_those_of_coordinate_descent() {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(8);
        for (models, features, bits, c) in [(11, 3, true, 1.0), (20, 4, false, 1.0), (9, 2, true, 0.01)] {
            let mut number = || {
                let uniform: f64 = generator.random();
                if bits { f64::from(u8::from(uniform < 0.6)) } else { 4.0 * uniform - 2.0 }
            };
            let x: Vec<Vec<f64>> = (0..models).map(|_| (0..features).map(|_| number()).collect()).collect();
            let member: Vec<bool> = (0..models).map(|model| model % 2 == 0).collect();
            let expected = by_bisection(&x, &member, c);
            let mut weights = vec![0.0; features + 1];
            Fitter::default().fit(&design(&x, &member), c, &mut weights).unwrap();
            for (got, expected) in weights.iter().zip(&expected) {
                assert!((got - expected).abs() < 1e-10, "{weights:?} {expected}");
            }
        }
    }

    #[test]
    fn rows_without_weight_are_not_there() {
        let x: Vec<Vec<f64>> = (0..10).map(|row| vec![f64::from(row % 3), f64::from(row % 4)]).collect();
        let member: Vec<bool> = (0..10).map(|row| row % 2 == 0).collect();
        let mut all = design(&x, &member);
        all.add(9, -1.0);
        let (mut with, mut without) = (vec![0.0; 3], vec![0.0; 3]);
        Fitter::default().fit(&all, 1.0, &mut with).unwrap();
        Fitter::default().fit(&design(&x[..9], &member[..9]), 1.0, &mut without).unwrap();
        assert!(with.iter().zip(&without).all(|(a, b)| (a - b).abs() < 1e-14), "{with:?} {without:?}");
        assert!(all.both_sides());
        (0..9).step_by(2).for_each(|row| all.add(row, -1.0));
        assert!(!all.both_sides());
    }
}
