//! Logistic regression with a penalty, for one sample: many fits to the same few rows, each leaving one row out.

use crate::error::{Error, Result};
use crate::vectorized::{Arch, in_vectors};
use argmin::core::{
    Executor, Gradient, Hessian, IterState, KV, Problem, Solver, State as _, TerminationReason, TerminationStatus,
};
use argmin::solver::newton::Newton;
use argmin_math::{ArgminDot, ArgminInv, ArgminScaledSub};
use std::cell::RefCell;

/// What argmin's traits return.
type Outcome<T> = std::result::Result<T, argmin::core::Error>;

/// Steps of Newton's method; six are usual.
const MOST_STEPS: u64 = 200;

/// The squared Newton decrement at which a fit is done: the objective is then within half of it of its minimum.
const DECREMENT: f64 = 1e-22;

/// Rows side by side. Sums over rows have the same number of partial sums on every machine, so that results are the
/// same.
const LANES: usize = 8;

/// Partial sums.
type Lanes = [f64; LANES];

/// Features of a model, and whether it was trained on the sample.
pub(super) type Row<'a> = (&'a [f64], bool);

/// Features of models, column by column, with the truth and a count for each.
///
/// Rows of count 0 fill up the last lanes; they add nothing to any sum.
pub(super) struct Design {
    /// Features and the constant 1, which is the last column.
    columns: Vec<Vec<Lanes>>,
    /// 1 inside, 0 outside.
    truth: Vec<Lanes>,
    /// How often each row is there.
    count: Vec<Lanes>,
    /// Its weight in a fit.
    weight: Vec<Lanes>,
    /// The largest magnitude in each row.
    largest: Vec<f64>,
}

impl Design {
    /// Rows of equal length with their truth, each of count 0.
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
            count: vec![[0.0; LANES]; blocks],
            weight: vec![[0.0; LANES]; blocks],
            largest: rows.iter().map(|(x, _)| x.iter().fold(1.0, |most: f64, x| most.max(x.abs()))).collect(),
        }
    }

    /// Adds to the count of a row, which is its weight.
    pub(super) fn add(&mut self, row: usize, count: f64) {
        let (block, lane) = (row / LANES, row % LANES);
        self.count[block][lane] += count;
        self.weight[block][lane] = self.count[block][lane];
    }

    /// Models outside and inside.
    fn sides(&self) -> [f64; 2] {
        [0.0, 1.0].map(|side| {
            let pairs = self.truth.iter().flatten().zip(self.count.iter().flatten());
            pairs.filter(|&(&truth, _)| truth == side).map(|(_, count)| count).sum()
        })
    }

    /// Whether there are models inside and models outside.
    pub(super) fn both_sides(&self) -> bool {
        self.sides().iter().all(|&count| count > 0.0)
    }

    /// Gives the models inside together as much weight as those outside, n / 2 of n models each.
    pub(super) fn balance(&mut self) {
        let sides = self.sides();
        let half = 0.5 * (sides[0] + sides[1]);
        for ((weight, count), truth) in self.weight.iter_mut().zip(&self.count).zip(&self.truth) {
            for lane in 0..LANES {
                weight[lane] = count[lane] * (half / sides[usize::from(truth[lane] > 0.5)]);
            }
        }
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

/// Minimizes ½ |w|² + C Σ weight · ln(1 + exp(∓(w·x + b))) from where `weights` are.
///
/// Newton's method with step halving. A convex objective of smooth terms has a quadratic neighborhood of its minimum;
/// the squared decrement gᵀH⁻¹g bounds twice the distance from the minimal value there. After it is small one more step
/// doubles the digits.
pub(super) fn fit(design: &Design, c: f64, weights: &mut [f64], work: &RefCell<Work>) -> Result<()> {
    // No gradient is more exact than the rounding of the terms that it is made of; the Hessian is at least 1 in the
    // directions of the weights.
    let weighted = design.weight.iter().flatten().zip(&design.largest);
    let terms: f64 = weighted.map(|(weight, largest)| c * weight * largest).sum();
    let tolerance = DECREMENT + (64.0 * f64::EPSILON * terms).powi(2);
    // Margins of another design.
    work.borrow_mut().at.clear();
    let regression = Regression { design, c, work };
    let solver = Damped { newton: Newton::new(), tolerance, decrement: f64::INFINITY };
    let start = Weights(weights.to_vec());
    let run =
        Executor::new(&regression, solver).configure(|state| state.param(start).max_iters(MOST_STEPS)).ctrlc(false);
    let (found, residual) = run.run().map_or((None, f64::NAN), |run| (run.state.param, run.solver.decrement));
    match found.filter(|found| residual < tolerance && found.0.iter().all(|w| w.is_finite())) {
        Some(found) => {
            weights.copy_from_slice(&found.0);
            Ok(())
        }
        None => {
            let (quantity, iterations) = ("logistic regression", MOST_STEPS as usize);
            Err(Error::no_convergence(quantity, residual, tolerance, iterations))
        }
    }
}

/// One objective, as argmin asks for it.
struct Regression<'a> {
    design: &'a Design,
    c: f64,
    work: &'a RefCell<Work>,
}

impl Gradient for &Regression<'_> {
    type Param = Weights;
    type Gradient = Vec<f64>;

    fn gradient(&self, Weights(weights): &Weights) -> Outcome<Vec<f64>> {
        let mut work = self.work.borrow_mut();
        in_vectors!(Arch::new(), {
            work.look(self.design, weights);
            work.derive(self.design, self.c, weights);
        });
        Ok(work.gradient.clone())
    }
}

impl Hessian for &Regression<'_> {
    type Param = Weights;
    type Hessian = Triangle;

    /// At the weights of the gradient, which the solver takes first.
    fn hessian(&self, weights: &Weights) -> Outcome<Triangle> {
        Ok(Triangle { rows: std::mem::take(&mut self.work.borrow_mut().hessian), size: weights.0.len() })
    }
}

impl Regression<'_> {
    /// The objective anywhere.
    fn objective(&self, weights: &[f64]) -> f64 {
        let mut work = self.work.borrow_mut();
        in_vectors!(Arch::new(), {
            work.look(self.design, weights);
            work.objective(self.design, self.c, weights)
        })
    }
}

/// Weights and the intercept.
#[derive(Clone, Default)]
struct Weights(Vec<f64>);

impl ArgminScaledSub<Self, f64, Self> for Weights {
    fn scaled_sub(&self, length: &f64, step: &Self) -> Self {
        Self(self.0.iter().zip(&step.0).map(|(w, s)| w - length * s).collect())
    }
}

type State = IterState<Weights, Vec<f64>, (), Triangle, (), f64>;

/// Newton steps, each halved until the objective falls by a quarter of what its slope promises.
///
/// argmin's L-BFGS took 10 to 50 times as long here, and its line searches end before the last digits.
struct Damped {
    newton: Newton<f64>,
    tolerance: f64,
    /// gᵀH⁻¹g of the last step.
    decrement: f64,
}

impl<'a> Solver<&'a Regression<'a>, State> for Damped {
    fn name(&self) -> &str {
        "Newton's method with step halving"
    }

    fn next_iter(&mut self, problem: &mut Problem<&'a Regression<'a>>, state: State) -> Outcome<(State, Option<KV>)> {
        let before = state.get_param().cloned().unwrap_or_default();
        let (mut state, log) = self.newton.next_iter(problem, state)?;
        let mut next = state.take_param().unwrap_or_default();
        let step = before.scaled_sub(&1.0, &next);
        if let Some(regression) = problem.problem {
            self.decrement = step.0.iter().zip(&regression.work.borrow().gradient).map(|(s, g)| s * g).sum();
            // Near the minimum the objective no longer tells steps apart.
            if self.decrement > 1e-12 {
                let value = regression.work.borrow().objective(regression.design, regression.c, &before.0);
                let mut length = 1.0;
                while self.decrement > 1e-12 * (1.0 + value) && length > 1e-30 {
                    if !(regression.objective(&next.0) > value - 0.25 * length * self.decrement) {
                        break;
                    }
                    length *= 0.5;
                    next = before.scaled_sub(&length, &step);
                }
            }
        }
        Ok((state.param(next), log))
    }

    fn terminate(&mut self, _: &State) -> TerminationStatus {
        if self.decrement < self.tolerance || self.decrement.is_nan() {
            TerminationStatus::Terminated(TerminationReason::SolverConverged)
        } else {
            TerminationStatus::NotTerminated
        }
    }
}

/// A symmetric matrix by its upper triangle, row by row; or, instead of its inverse, the triangle U of H = UᵀU.
#[derive(Clone)]
struct Triangle {
    rows: Vec<f64>,
    size: usize,
}

impl ArgminInv<Self> for Triangle {
    fn inv(&self) -> Outcome<Self> {
        let mut factor = self.clone();
        in_vectors!(Arch::new(), factor.decompose());
        Ok(factor)
    }
}

impl Triangle {
    #[inline(always)]
    fn decompose(&mut self) {
        let size = self.size;
        for k in 0..size {
            let (above, below) = self.rows.split_at_mut((k + 1) * size);
            let row = &mut above[k * size..];
            // A pivot that rounding made too small: the intercept where all fitted probabilities are 0 or 1.
            let pivot = row[k].max(1e-12).sqrt();
            row[k] = pivot;
            let inverse = 1.0 / pivot;
            row[k + 1..].iter_mut().for_each(|value| *value *= inverse);
            for i in k + 1..size {
                let factor = row[i];
                let into = &mut below[(i - k - 1) * size..][i..size];
                into.iter_mut().zip(&row[i..]).for_each(|(into, value)| *into -= factor * value);
            }
        }
    }

    /// H⁻¹ x instead of x.
    #[inline(always)]
    fn solve(&self, x: &mut [f64]) {
        let row = |k: usize| &self.rows[k * self.size..][..self.size];
        for k in 0..self.size {
            x[k] *= 1.0 / row(k)[k];
            let forward = x[k];
            x[k + 1..].iter_mut().zip(&row(k)[k + 1..]).for_each(|(x, factor)| *x -= factor * forward);
        }
        for k in (0..self.size).rev() {
            let sum: f64 = row(k)[k + 1..].iter().zip(&x[k + 1..]).map(|(u, x)| u * x).sum();
            x[k] = (x[k] - sum) / row(k)[k];
        }
    }
}

impl ArgminDot<Vec<f64>, Weights> for Triangle {
    fn dot(&self, gradient: &Vec<f64>) -> Weights {
        let mut x = gradient.clone();
        in_vectors!(Arch::new(), self.solve(&mut x));
        Weights(x)
    }
}

/// What objective, gradient and Hessian are computed on, kept from fit to fit.
#[derive(Default)]
pub(super) struct Work {
    /// The weights of the margins.
    at: Vec<f64>,
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
}

impl Work {
    /// Margins of all rows; those of an accepted step are there from its objective.
    #[inline(always)]
    fn look(&mut self, design: &Design, weights: &[f64]) {
        if self.at == weights {
            return;
        }
        self.at.clear();
        self.at.extend(weights);
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
}

/// Σ over rows of a product, in one partial sum per lane.
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
mod tests;
