//! A linear score of two worlds, by logistic regression.

use crate::order;
use crate::parallel;
use argmin::core::{CostFunction, Executor, Gradient, State};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use serde::{Deserialize, Serialize};

use super::feature::Feature;
use super::output::Output;

/// Steps of L-BFGS; a fit that has not converged by then is merely a worse witness.
const MOST_STEPS: u64 = 60;
/// Remembered steps.
const MEMORY: usize = 7;
/// Standardized features beyond this are cut, so that one output far out decides nothing.
const FARTHEST: f64 = 8.0;
/// Penalties that are compared, as equivalent numbers of outputs.
const PENALTIES: [f64; 4] = [1.0, 10.0, 100.0, 1000.0];
/// Rows that one thread sums at a time: sums do not depend on the number of threads.
const ROWS: usize = 1024;

/// What argmin's traits return.
type Outcome<T> = std::result::Result<T, argmin::core::Error>;

/// A weighted sum of standardized features: large if the output is likelier under the dataset than under its neighbor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct LinearScore {
    /// Feature, center, scale and weight.
    terms: Vec<(Feature, f64, f64, f64)>,
}

impl LinearScore {
    /// Fits the score to outputs of both worlds; the penalty is chosen on every third output. None if no feature
    /// varies.
    pub(super) fn fit(features: &[Feature], worlds: [&[Output]; 2]) -> Option<Self> {
        let mut terms: Vec<(Feature, f64, f64, f64)> = Vec::new();
        for feature in features {
            let values: Vec<f64> = worlds.iter().flat_map(|world| world.iter()).map(|o| feature.measure(o)).collect();
            let finite: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
            let (center, scale) = spread(finite)?;
            // Numbers near the largest one have no such distance.
            if scale > 0.0 && scale.is_finite() {
                terms.push((feature.clone(), center, scale, 0.0));
            }
        }
        if terms.is_empty() {
            return None;
        }
        let mut fit = Self { terms };
        let rows: Vec<(Vec<f64>, f64)> = (0..2)
            .flat_map(|world| worlds[world].iter().map(move |output| (output, if world == 0 { 1.0 } else { -1.0 })))
            .map(|(output, sign)| (fit.row(output), sign))
            .collect();
        let (held, trained): (Vec<_>, Vec<_>) = rows.iter().enumerate().partition(|(index, _)| index % 3 == 0);
        let [held, trained] = [held, trained].map(|part| part.into_iter().map(|(_, row)| row).collect::<Vec<_>>());
        let loss = |penalty: f64| {
            let weights = regress(&trained, penalty)?;
            Some((held.iter().map(|(x, sign)| log_loss(sign * dot(&weights, x))).sum::<f64>(), penalty))
        };
        let best = PENALTIES.into_iter().filter_map(loss).min_by(|a, b| a.0.total_cmp(&b.0))?;
        let weights = regress(&rows.iter().collect::<Vec<_>>(), best.1)?;
        fit.terms.iter_mut().zip(weights).for_each(|(term, weight)| term.3 = weight);
        Some(fit)
    }

    /// Standardized features and the constant 1.
    fn row(&self, output: &Output) -> Vec<f64> {
        let standard = |(feature, center, scale, _): &(Feature, f64, f64, f64)| {
            let value = (feature.measure(output) - center) / scale;
            // Missing features carry no information here; other witnesses look at them.
            if value.is_nan() { 0.0 } else { value.clamp(-FARTHEST, FARTHEST) }
        };
        self.terms.iter().map(standard).chain([1.0]).collect()
    }

    pub(super) fn score(&self, output: &Output) -> f64 {
        let row = self.row(output);
        self.terms.iter().zip(&row).map(|((.., weight), x)| weight * x).sum()
    }

    /// The features of the largest weights, with these.
    pub(super) fn heaviest(&self, most: usize) -> Vec<(&Feature, f64)> {
        let mut terms: Vec<(&Feature, f64)> =
            self.terms.iter().map(|(feature, .., weight)| (feature, *weight)).collect();
        order::sort(&mut terms, |a, b| b.1.abs().total_cmp(&a.1.abs()));
        terms.truncate(most);
        terms
    }
}

/// Median and half the distance of the outer sixths: a center and a scale that heavy tails do not move.
fn spread(mut values: Vec<f64>) -> Option<(f64, f64)> {
    if values.is_empty() {
        return Some((0.0, 0.0));
    }
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share) as usize];
    let scale = (at(0.84) - at(0.16)) / 2.0;
    if scale > 0.0 {
        return Some((at(0.5), scale));
    }
    // Mostly one value: the mean deviation from it.
    let center = at(0.5);
    Some((center, values.iter().map(|value| (value - center).abs()).sum::<f64>() / values.len() as f64))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// ln(1 + e^{-margin}).
fn log_loss(margin: f64) -> f64 {
    if margin > 0.0 { libm::log1p(libm::exp(-margin)) } else { -margin + libm::log1p(libm::exp(margin)) }
}

/// Weights of the least penalized log-loss.
fn regress(rows: &[&(Vec<f64>, f64)], penalty: f64) -> Option<Vec<f64>> {
    let size = rows.first()?.0.len();
    let solver = LBFGS::new(MoreThuenteLineSearch::new(), MEMORY).with_tolerance_grad(1e-6 * rows.len() as f64).ok()?;
    let found = Executor::new(Regression { rows, penalty }, solver)
        .configure(|state| state.param(vec![0.0; size]).max_iters(MOST_STEPS))
        .timer(false)
        .run()
        .ok()?;
    found.state().get_best_param().filter(|weights| weights.iter().all(|weight| weight.is_finite())).cloned()
}

struct Regression<'a> {
    rows: &'a [&'a (Vec<f64>, f64)],
    penalty: f64,
}

impl CostFunction for Regression<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, weights: &Vec<f64>) -> Outcome<f64> {
        let part =
            |rows: &[&(Vec<f64>, f64)]| rows.iter().map(|(x, sign)| log_loss(sign * dot(weights, x))).sum::<f64>();
        let parts = parallel::map(self.rows.chunks(ROWS), part);
        Ok(parts.iter().sum::<f64>() + 0.5 * self.penalty * dot(weights, weights))
    }
}

impl Gradient for Regression<'_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, weights: &Vec<f64>) -> Outcome<Vec<f64>> {
        let part = |rows: &[&(Vec<f64>, f64)]| {
            let mut sum = vec![0.0; weights.len()];
            for (x, sign) in rows {
                let slope = -sign / (1.0 + libm::exp(sign * dot(weights, x)));
                sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += slope * x);
            }
            sum
        };
        let parts = parallel::map(self.rows.chunks(ROWS), part);
        let mut gradient: Vec<f64> = weights.iter().map(|weight| self.penalty * weight).collect();
        for part in parts {
            gradient.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        Ok(gradient)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    /// The score of two normal distributions that are one standard deviation apart in ten dimensions points that way.
    #[test]
    fn the_score_of_normal_worlds_is_the_direction_between_them() {
        let mut stream = ChaCha8Rng::seed_from_u64(1);
        let shift = 1.0 / 10f64.sqrt();
        let mut world = |shift: f64| -> Vec<Output> {
            let mut number = || -> f64 { StandardNormal.sample(&mut stream) };
            (0..4000).map(|_| Output::Vector((0..10).map(|_| number() + shift).collect())).collect()
        };
        let (a, b) = (world(shift), world(0.0));
        let features: Vec<Feature> =
            Feature::of_outputs(a.iter()).into_iter().filter(|f| f.to_string().starts_with("output[")).collect();
        assert_eq!(features.len(), 10);
        let score = LinearScore::fit(&features, [&a, &b]).unwrap();
        let mean = |world: &[Output]| world.iter().map(|output| score.score(output)).sum::<f64>() / world.len() as f64;
        let deviation = |world: &[Output]| {
            let mean = mean(world);
            let square = |output: &Output| (score.score(output) - mean).powi(2);
            (world.iter().map(square).sum::<f64>() / world.len() as f64).sqrt()
        };
        // Fresh outputs: the best direction has a distance of 1, any other one less.
        let (a, b) = (world(shift), world(0.0));
        let distance = (mean(&a) - mean(&b)) / deviation(&b);
        assert!(distance > 0.93, "{distance}");
        assert!(score.heaviest(3).len() == 3 && score.heaviest(3)[0].1 > 0.0);
    }
}
