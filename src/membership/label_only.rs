//! The label-only attack: which views a model answers correctly, and nothing else.

use super::lira::{Guesses, Victims};
use super::shadow_scores::{ShadowScores, blocks};
use crate::error::{Error, Result};
use crate::membership::AttackScores;
use ndarray::{Array2, Axis};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::collections::HashMap;
use std::ops::Range;

/// Steps of Newton's method; six are usual.
const MOST_STEPS: usize = 200;

/// The squared Newton decrement at which a fit is done: the objective is then within half of it of its minimum.
const DECREMENT: f64 = 1e-22;

/// The label-only attack on recorded answers of shadow models.
///
/// For each victim and sample, a logistic regression is fitted to the other models: from the features of their answers,
/// one for each view, to whether they were trained on the sample. Its weights w and intercept b minimise
///
/// ½ |w|² + C Σ_models ln(1 + exp(-y (w·x + b))),  y = 1 inside and -1 outside,
///
/// and the victim's score is its probability 1/(1 + exp(-(w·x + b))). **High means member.** The features are those of
/// `source`: [`ScoredLogits`](crate::ScoredLogits) of [`MembershipScore::Correct`](crate::MembershipScore) for the attack as
/// published; others serve too.
///
/// The minimum is found by Newton's method with step halving. The objective is smooth and strictly convex where both
/// classes are there, in as many dimensions as views plus one: each fit takes about five steps of a small Cholesky
/// decomposition, where a quasi-Newton method takes tens of gradients. Victims with equal answers and equal truth leave
/// equal models behind and share a fit.
///
/// Leaving out one of equally many models inside and outside leaves the victim's own side the smaller one, so where the
/// features say nothing the fitted intercept points away from the truth, and the area under the ROC falls below ½. That
/// is a property of the published attack; held-out victims do not have it.
///
/// Shapes: features \[model, sample, view\]; the result is \[victim, sample\]. A sample that all of the other models
/// were trained on, or none, gives no evidence: score ½, counted in [`Guesses::undecided`].
///
/// ```
/// # use leakbound::{MemoryScores, Victims, label_only};
/// # use ndarray::{Array2, Array3};
/// // Members answer correctly.
/// let members = Array2::from_shape_fn((8, 1), |(m, _)| m % 2 == 0);
/// let correct = Array3::from_shape_fn((8, 1, 1), |(m, _, _)| f64::from(u8::from(m % 2 == 0)));
/// let guesses = label_only(&MemoryScores::double(correct, members)?, 1.0, &Victims::LeaveOneOut)?;
/// assert!(guesses.scores.scores()[[0, 0]] > 0.55 && guesses.scores.scores()[[1, 0]] < 0.45);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # Errors
/// [`Error::Domain`] unless C is positive and finite; victims as for [`lira`](crate::lira); [`Error::Refused`] where no
/// guess has evidence; [`Error::NoConvergence`]; what the source cannot read.
///
/// # References
/// Choquette-Choo, Tramèr, Carlini and Papernot (2021); Aerni, Zhang and Tramèr (2024), section 5.3 (C = 1).
pub fn label_only(source: &impl ShadowScores, c: f64, victims: &Victims) -> Result<Guesses> {
    if !(c > 0.0 && c < f64::INFINITY) {
        return Err(Error::Domain { quantity: "strength C of a logistic regression", value: c, domain: "(0, inf)" });
    }
    let members = source.members();
    let (models, samples) = members.dim();
    let (list, shadows) = (victims.list(models)?, victims.shadows(models));
    let block = |range: Range<usize>| -> Result<Vec<Vec<Option<f64>>>> {
        let block = source.block(range.clone())?;
        let mut features = Vec::new();
        range
            .enumerate()
            .map(|(index, sample)| {
                block.sample(index, &mut features);
                let truth = members.column(sample).to_vec();
                sample_scores(&features, source.views(), &truth, &shadows, &list, c)
            })
            .collect()
    };
    let parts = blocks(source).into_par_iter().map(block).collect::<Result<Vec<_>>>()?;
    let mut scores = Array2::zeros((list.len(), samples));
    let mut undecided = 0;
    for (mut column, found) in scores.columns_mut().into_iter().zip(parts.into_iter().flatten()) {
        for (score, found) in column.iter_mut().zip(found) {
            undecided += u64::from(found.is_none());
            *score = found.unwrap_or(0.5);
        }
    }
    if undecided == scores.len() as u64 {
        let reason = "every sample has models on one side only".into();
        return Err(Error::Refused { operation: "label-only attack", reason });
    }
    Ok(Guesses { scores: AttackScores::new(scores, members.select(Axis(0), &list))?, undecided })
}

/// Scores of all victims on one sample.
fn sample_scores(
    features: &[f64],
    views: usize,
    truth: &[bool],
    shadows: &[bool],
    victims: &[usize],
    c: f64,
) -> Result<Vec<Option<f64>>> {
    // Models with equal answers and truth are one row with a weight.
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut known: HashMap<(Vec<u64>, bool), usize> = HashMap::new();
    let mut row_of = vec![usize::MAX; truth.len()];
    for model in (0..truth.len()).filter(|&model| shadows[model]) {
        let x = &features[model * views..][..views];
        let key = (x.iter().map(|value| value.to_bits()).collect(), truth[model]);
        let row = *known.entry(key).or_insert_with(|| {
            rows.push(Row { x, member: truth[model], weight: 0.0 });
            rows.len() - 1
        });
        rows[row].weight += 1.0;
        row_of[model] = row;
    }
    // Victims that are no shadow models share one fit, which is also where the others start from.
    let mut start = vec![0.0; views + 1];
    let whole = both_sides(&rows);
    if whole {
        fit(&rows, c, &mut start)?;
    }
    let mut found: HashMap<usize, Option<f64>> = HashMap::new();
    victims
        .iter()
        .map(|&victim| {
            let x = &features[victim * views..][..views];
            if !shadows[victim] {
                return Ok(whole.then(|| probability(&start, x)));
            }
            if let Some(&score) = found.get(&row_of[victim]) {
                return Ok(score);
            }
            rows[row_of[victim]].weight -= 1.0;
            let mut weights = start.clone();
            let score = match both_sides(&rows) {
                true => fit(&rows, c, &mut weights).map(|()| Some(probability(&weights, x))),
                false => Ok(None),
            };
            rows[row_of[victim]].weight += 1.0;
            found.insert(row_of[victim], *score.as_ref().unwrap_or(&None));
            score
        })
        .collect()
}

/// Models with the same answers and the same truth.
struct Row<'a> {
    x: &'a [f64],
    member: bool,
    weight: f64,
}

fn both_sides(rows: &[Row<'_>]) -> bool {
    [false, true].into_iter().all(|member| rows.iter().any(|row| row.member == member && row.weight > 0.0))
}

/// w·x + b; the intercept is the last weight.
fn linear(weights: &[f64], x: &[f64]) -> f64 {
    weights.iter().zip(x).map(|(w, x)| w * x).sum::<f64>() + weights[x.len()]
}

fn probability(weights: &[f64], x: &[f64]) -> f64 {
    1.0 / (1.0 + (-linear(weights, x)).exp())
}

/// ln(1 + exp(x)) without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

fn objective(rows: &[Row<'_>], c: f64, weights: &[f64]) -> f64 {
    let views = weights.len() - 1;
    let penalty = 0.5 * weights[..views].iter().map(|w| w * w).sum::<f64>();
    let loss = |row: &Row<'_>| {
        let margin = linear(weights, row.x);
        row.weight * softplus(if row.member { -margin } else { margin })
    };
    penalty + c * rows.iter().filter(|row| row.weight > 0.0).map(loss).sum::<f64>()
}

/// Newton's method from where `weights` are; they end at the minimum.
fn fit(rows: &[Row<'_>], c: f64, weights: &mut Vec<f64>) -> Result<()> {
    let size = weights.len();
    let (mut gradient, mut hessian) = (vec![0.0; size], vec![0.0; size * size]);
    let mut decrement = f64::INFINITY;
    let mut last = false;
    // No gradient is more exact than the rounding of the terms that it is made of; the Hessian is at least 1 in the
    // directions of the weights.
    let terms: f64 =
        rows.iter().map(|row| c * row.weight * row.x.iter().fold(1.0, |most: f64, x| most.max(x.abs()))).sum();
    let done = DECREMENT + (64.0 * f64::EPSILON * terms).powi(2);
    for _ in 0..MOST_STEPS {
        gradient[..size - 1].copy_from_slice(&weights[..size - 1]);
        gradient[size - 1] = 0.0;
        hessian.fill(0.0);
        (0..size - 1).for_each(|i| hessian[i * size + i] = 1.0);
        for row in rows.iter().filter(|row| row.weight > 0.0) {
            let p = probability(weights, row.x);
            let pull = c * row.weight * (p - f64::from(u8::from(row.member)));
            let curvature = c * row.weight * p * (1.0 - p);
            let feature = |i: usize| if i + 1 == size { 1.0 } else { row.x[i] };
            for i in 0..size {
                gradient[i] += pull * feature(i);
                let scaled = curvature * feature(i);
                if scaled != 0.0 {
                    for j in 0..=i {
                        hessian[i * size + j] += scaled * feature(j);
                    }
                }
            }
        }
        let step = solved(&mut hessian, &gradient);
        decrement = step.iter().zip(&gradient).map(|(s, g)| s * g).sum::<f64>();
        if last || decrement.is_nan() {
            break;
        }
        // One more step where convergence is already quadratic: it costs little and doubles the digits.
        last = decrement < done;
        let before = objective(rows, c, weights);
        let mut length = 1.0;
        let moved = |length: f64| weights.iter().zip(&step).map(|(w, s)| w - length * s).collect::<Vec<f64>>();
        let mut next = moved(length);
        // Near the minimum the objective no longer tells steps apart.
        while decrement > 1e-12 * (1.0 + before)
            && objective(rows, c, &next) > before - 0.25 * length * decrement
            && length > 1e-30
        {
            length *= 0.5;
            next = moved(length);
        }
        *weights = next;
    }
    if last && weights.iter().all(|w| w.is_finite()) {
        return Ok(());
    }
    Err(Error::NoConvergence {
        quantity: "logistic regression",
        residual: decrement,
        tolerance: done,
        iterations: MOST_STEPS,
    })
}

/// H⁻¹ g by Cholesky decomposition of the lower triangle, in place.
fn solved(hessian: &mut [f64], gradient: &[f64]) -> Vec<f64> {
    let size = gradient.len();
    let mut x = gradient.to_vec();
    for i in 0..size {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| hessian[i * size + k] * hessian[j * size + k]).sum();
            let value = hessian[i * size + j] - sum;
            // A pivot that rounding made too small: the intercept where all fitted probabilities are 0 or 1.
            hessian[i * size + j] = if i == j { value.max(1e-12).sqrt() } else { value / hessian[j * size + j] };
        }
        let sum: f64 = (0..i).map(|k| hessian[i * size + k] * x[k]).sum();
        x[i] = (x[i] - sum) / hessian[i * size + i];
    }
    for i in (0..size).rev() {
        let sum: f64 = (i + 1..size).map(|k| hessian[k * size + i] * x[k]).sum();
        x[i] = (x[i] - sum) / hessian[i * size + i];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryScores;
    use ndarray::{Array3, array};
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn one_view_has_a_closed_form_of_its_stationary_point() {
        // One feature, 0 or 1: the gradient of w is w + C Σ_{x=1} (p - y) = 0, and that of b is Σ (p - y) = 0.
        let x = [1.0, 1.0, 1.0, 0.0, 0.0, 1.0];
        let member = [true, true, false, false, false, true];
        let rows: Vec<Row<'_>> =
            x.iter().zip(member).map(|(x, member)| Row { x: std::slice::from_ref(x), member, weight: 1.0 }).collect();
        for c in [1e-3, 1.0, 100.0] {
            let mut weights = vec![0.0; 2];
            fit(&rows, c, &mut weights).unwrap();
            let pull = |row: &Row<'_>| probability(&weights, row.x) - f64::from(u8::from(row.member));
            assert!(rows.iter().map(pull).sum::<f64>().abs() < 1e-12);
            let sum: f64 = rows.iter().map(|row| row.x[0] * pull(row)).sum();
            assert!((weights[0] + c * sum).abs() < 1e-11 * (1.0 + c), "{c}");
        }
    }

    #[test]
    fn a_shared_fit_is_that_of_each_victim() {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(3);
        let features: Vec<f64> = (0..12 * 3).map(|_| f64::from(u8::from(generator.random::<f64>() < 0.6))).collect();
        let truth: Vec<bool> = (0..12).map(|_| generator.random::<f64>() < 0.5).collect();
        let shadows = [true; 12];
        let all: Vec<usize> = (0..12).collect();
        let found = sample_scores(&features, 3, &truth, &shadows, &all, 1.0).unwrap();
        for victim in 0..12 {
            let mut held_out = shadows;
            held_out[victim] = false;
            let alone = sample_scores(&features, 3, &truth, &held_out, &[victim], 1.0).unwrap()[0].unwrap();
            assert!((found[victim].unwrap() - alone).abs() < 1e-12);
        }
    }

    #[test]
    fn extremes_converge_or_give_no_evidence() {
        let source = |value: fn(usize, usize) -> f64, member: fn(usize, usize) -> bool| {
            let members = Array2::from_shape_fn((6, 2), |(m, s)| member(m, s));
            MemoryScores::double(Array3::from_shape_fn((6, 2, 4), |(m, _, v)| value(m, v)), members).unwrap()
        };
        let values: [fn(usize, usize) -> f64; 5] =
            [|_, _| 0.0, |_, _| 1.0, |m, _| (m % 2) as f64, |m, v| 1e3 * (m * v) as f64, |m, _| -1e6 * m as f64];
        for (index, value) in values.into_iter().enumerate() {
            for c in [1e-12, 1.0, 1e6] {
                match label_only(&source(value, |m, _| m % 2 == 0), c, &Victims::LeaveOneOut) {
                    Ok(guesses) => assert!(guesses.scores.scores().iter().all(|p| (0.0..=1.0).contains(p))),
                    // Bits always have a minimum that is found; numbers of a million times C may not.
                    Err(error) => assert!(index > 2 && matches!(error, Error::NoConvergence { .. }), "{c}: {error}"),
                }
            }
        }
        let guesses = label_only(&source(|_, _| 1.0, |m, s| s == 0 || m == 0), 1.0, &Victims::LeaveOneOut).unwrap();
        // All in; and one in, which is alone on its side as a shadow model and leaves none as victim.
        assert_eq!(guesses.undecided, 7);
        assert_eq!(guesses.scores.scores().column(0), array![0.5, 0.5, 0.5, 0.5, 0.5, 0.5]);
        assert!(label_only(&source(|_, _| 1.0, |_, _| true), 1.0, &Victims::LeaveOneOut).is_err());
        assert!(label_only(&source(|_, _| 1.0, |m, _| m < 3), f64::NAN, &Victims::LeaveOneOut).is_err());
    }
}
