//! The label-only attack: which views a model answers correctly, and nothing else.

use super::lira::{Guesses, Victims};
use super::logistic::{Design, fit, probability};
use super::shadow_scores::{ShadowScores, blocks};
use crate::error::{Error, Result};
use crate::membership::AttackScores;
use crate::parallel;
use ndarray::{Array2, Axis};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

/// Settings of [`label_only`].
///
/// The default is the published attack: C = 1, and every model has the same weight and is a victim.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelOnlyPlan {
    /// C, the strength of the loss against the penalty.
    pub strength: f64,
    /// Whether models inside have the same total weight as models outside; useful with few models.
    pub balanced: bool,
    /// The models that are attacked.
    pub victims: Victims,
}

impl Default for LabelOnlyPlan {
    fn default() -> Self {
        Self { strength: 1.0, balanced: false, victims: Victims::LeaveOneOut }
    }
}

/// The label-only attack on recorded answers of shadow models.
///
/// For each victim and sample, a logistic regression is fitted to the other models: from the features of their answers,
/// one for each view, to whether they were trained on the sample. Its weights w and intercept b minimize
///
/// ½ |w|² + C Σ_models v ln(1 + exp(-y (w·x + b))),  y = 1 inside and -1 outside,
///
/// with weights v of 1, and the victim's score is its probability 1/(1 + exp(-(w·x + b))). **High means member.** The
/// features are those of `source`: [`ScoredLogits`](crate::membership::ScoredLogits) of
/// [`MembershipScore::Correct`](crate::membership::MembershipScore) for the attack as published; other scores also
/// work.
///
/// The minimum is found by Newton's method with step halving. The objective is smooth and strictly convex if both
/// classes are present. Its dimension is the number of views plus one: each fit takes about five steps of a small
/// Cholesky decomposition, whereas a quasi-Newton method takes tens of gradients. Victims with equal answers and equal
/// truth leave equal models behind and share a fit.
///
/// It is the attack for defenses that mask confidences, such as HAMP: rearranged or invented confidences preserve which
/// class is the largest, so the features are the same to the last bit. Aerni, Zhang and Tramèr use 18 fixed
/// augmentations of the sample, and C = 1 without tuning (appendix A.4: tuning would take other shadow models, and
/// tuning on the victims themselves hardly changes the TPR, appendix B.2).
///
/// Leaving out one of equally many models inside and outside leaves the victim's own side the smaller one, so if the
/// features carry no information, the fitted intercept points away from the truth, and the area under the ROC falls
/// below ½: with 8 models and six coin flips as features to 0.20. That is a property of the published attack, which has
/// 64 models. [`balanced`](LabelOnlyPlan::balanced) fits have less of it: of n models, n₁ of them inside, v = n / (2
/// n₁) inside and n / (2 (n - n₁)) outside, so that the sides weigh the same whichever model is left out. What remains,
/// an area of 0.41 in the same case, is that the mean of the smaller side is less exact. Held-out victims have neither
/// if their membership was drawn independently of that of the others; if each sample is in exactly half of all models,
/// the remainder of the half still carries information.
///
/// Shapes: features \[model, sample, view\]; the result is \[victim, sample\]. A sample that all of the other models
/// were trained on, or none, gives no evidence: score ½, counted in [`Guesses::undecided`].
///
/// ```
/// # use leakbound::membership::{LabelOnlyPlan, MemoryScores, label_only};
/// # use ndarray::{Array2, Array3};
/// // Members answer correctly.
/// let members = Array2::from_shape_fn((8, 1), |(m, _)| m % 2 == 0);
/// let correct = Array3::from_shape_fn((8, 1, 1), |(m, _, _)| f64::from(u8::from(m % 2 == 0)));
/// let guesses = label_only(&MemoryScores::double(correct, members)?, &LabelOnlyPlan::default())?;
/// assert!(guesses.scores.scores()[[0, 0]] > 0.55 && guesses.scores.scores()[[1, 0]] < 0.45);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # Errors
/// [`Error::Domain`] unless C is positive and finite; victims as for [`lira`](crate::membership::lira);
/// [`Error::Rejected`] if no guess has evidence; [`Error::NoConvergence`]; errors in reading the source.
///
/// # References
/// Choquette-Choo, Tramèr, Carlini and Papernot (2021); Aerni, Zhang and Tramèr (2024), section 5.3 (C = 1).
pub fn label_only(source: &impl ShadowScores, plan: &LabelOnlyPlan) -> Result<Guesses> {
    let &LabelOnlyPlan { strength: c, ref victims, .. } = plan;
    Error::check_domain(c > 0.0 && c < f64::INFINITY, "strength C of a logistic regression", c, "(0, inf)")?;
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
                sample_scores(&features, source.views(), &truth, &shadows, &list, plan)
            })
            .collect()
    };
    let parts = parallel::try_map(blocks(source), block)?;
    let mut scores = Array2::zeros((list.len(), samples));
    let mut undecided = 0;
    for (mut column, found) in scores.columns_mut().into_iter().zip(parts.into_iter().flatten()) {
        for (score, found) in column.iter_mut().zip(found) {
            undecided += u64::from(found.is_none());
            *score = found.unwrap_or(0.5);
        }
    }
    let some_decided = undecided != scores.len() as u64;
    Error::check_possible(some_decided, "label-only attack", "every sample has models on one side only")?;
    Ok(Guesses { scores: AttackScores::new(scores, members.select(Axis(0), &list))?, undecided })
}

/// Scores of all victims on one sample.
fn sample_scores(
    features: &[f64],
    views: usize,
    truth: &[bool],
    shadows: &[bool],
    victims: &[usize],
    &LabelOnlyPlan { strength: c, balanced, .. }: &LabelOnlyPlan,
) -> Result<Vec<Option<f64>>> {
    // Models with equal answers and truth are one row with a weight.
    let mut rows: Vec<(&[f64], bool)> = Vec::new();
    let mut known: HashMap<(Vec<u64>, bool), usize> = HashMap::new();
    let mut row_of = vec![usize::MAX; truth.len()];
    for model in (0..truth.len()).filter(|&model| shadows[model]) {
        let x = &features[model * views..][..views];
        let key = (x.iter().map(|value| value.to_bits()).collect(), truth[model]);
        row_of[model] = *known.entry(key).or_insert_with(|| {
            rows.push((x, truth[model]));
            rows.len() - 1
        });
    }
    let mut design = Design::new(&rows);
    row_of.iter().filter(|&&row| row != usize::MAX).for_each(|&row| design.add(row, 1.0));
    // Victims that are not shadow models share one fit, which is also the starting point of the others.
    let work = RefCell::default();
    let mut start = vec![0.0; design.size()];
    let whole = design.both_sides();
    if whole {
        if balanced {
            design.balance();
        }
        fit(&design, c, &mut start, &work)?;
    }
    let mut weights = start.clone();
    let mut found: HashMap<usize, Option<f64>> = HashMap::new();
    victims
        .iter()
        .map(|&victim| {
            let x = &features[victim * views..][..views];
            if !shadows[victim] {
                return Ok(whole.then(|| probability(&start, x)));
            }
            let row = row_of[victim];
            if let Some(&score) = found.get(&row) {
                return Ok(score);
            }
            design.add(row, -1.0);
            let score = if design.both_sides() {
                weights.copy_from_slice(&start);
                if balanced {
                    design.balance();
                }
                fit(&design, c, &mut weights, &work)?;
                Some(probability(&weights, x))
            } else {
                None
            };
            design.add(row, 1.0);
            found.insert(row, score);
            Ok(score)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::membership::MemoryScores;
    use crate::roc::Roc;
    use ndarray::{Array3, array};
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn a_shared_fit_is_that_of_each_victim() {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(3);
        let features: Vec<f64> = (0..12 * 3).map(|_| f64::from(u8::from(generator.random::<f64>() < 0.6))).collect();
        let truth: Vec<bool> = (0..12).map(|_| generator.random::<f64>() < 0.5).collect();
        let shadows = [true; 12];
        let all: Vec<usize> = (0..12).collect();
        for balanced in [false, true] {
            let plan = LabelOnlyPlan { balanced, ..LabelOnlyPlan::default() };
            let found = sample_scores(&features, 3, &truth, &shadows, &all, &plan).unwrap();
            for victim in 0..12 {
                let mut held_out = shadows;
                held_out[victim] = false;
                let alone = sample_scores(&features, 3, &truth, &held_out, &[victim], &plan).unwrap()[0].unwrap();
                assert!((found[victim].unwrap() - alone).abs() < 1e-12, "{balanced}");
            }
        }
    }

    /// Answers without information: the published attack points away from the truth, a balanced one hardly; with
    /// information both find it.
    #[test]
    fn balanced_fits_hardly_point_away_from_the_truth() {
        let auc = |models: usize, balanced: bool, informed: f64| {
            let mut generator = Xoshiro256PlusPlus::seed_from_u64(11);
            // Exactly half of the models.
            let members = Array2::from_shape_fn((models, 400), |(model, sample)| (model + sample) % 2 == 0);
            let features = Array3::from_shape_fn((models, 400, 6), |(model, sample, _)| {
                let known = if members[[model, sample]] { informed } else { -informed };
                f64::from(u8::from(generator.random::<f64>() < 0.5 + known))
            });
            let source = MemoryScores::double(features, members.clone()).unwrap();
            let plan = LabelOnlyPlan { balanced, ..LabelOnlyPlan::default() };
            let scores = label_only(&source, &plan).unwrap().scores.scores().to_owned();
            let of = |member: bool| -> Vec<f64> {
                let pairs = scores.iter().zip(&members);
                pairs.filter(|&(_, &truth)| truth == member).map(|(&score, _)| score).collect()
            };
            Roc::new(&of(true), &of(false)).unwrap().auc()
        };
        for (models, bias) in [(8, 0.12), (16, 0.05), (64, 0.02)] {
            let [published, balanced] =
                [false, true].map(|balanced| [0.0, 0.3].map(|informed| auc(models, balanced, informed)));
            println!("{models}: AUC without and with information: published {published:?}, balanced {balanced:?}");
            // 3,200 guesses or more: a standard error below 0.011, if they were independent.
            assert!((balanced[0] - 0.5).abs() < bias && published[0] < balanced[0], "{published:?} {balanced:?}");
            assert!(balanced[1] > 0.9 && balanced[1] > published[1], "{published:?} {balanced:?}");
        }
    }

    /// Repeating the models of the smaller side is the same fit.
    #[test]
    fn balance_is_that_of_repeated_models() {
        let (zero, one) = ([0.0], [1.0]);
        let rows: [(&[f64], bool); 6] =
            [(&one, true), (&zero, true), (&one, false), (&zero, false), (&zero, false), (&zero, false)];
        let weights = |counts: [f64; 6], balanced: bool, c: f64| {
            let mut design = Design::new(&rows);
            counts.iter().enumerate().for_each(|(row, &count)| design.add(row, count));
            if balanced {
                design.balance();
            }
            let mut weights = vec![0.0; 2];
            fit(&design, c, &mut weights, &RefCell::default()).unwrap();
            weights
        };
        // Two inside weigh 3/2 each, four outside 3/4: as if those inside were there twice, at 3/4 of the strength.
        let balanced = weights([1.0; 6], true, 1.0);
        let repeated = weights([2.0, 2.0, 1.0, 1.0, 1.0, 1.0], false, 0.75);
        assert!(balanced.iter().zip(&repeated).all(|(a, b)| (a - b).abs() < 1e-12), "{balanced:?} {repeated:?}");
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
                let plan = LabelOnlyPlan { strength: c, ..LabelOnlyPlan::default() };
                match label_only(&source(value, |m, _| m % 2 == 0), &plan) {
                    Ok(guesses) => assert!(guesses.scores.scores().iter().all(|p| (0.0..=1.0).contains(p))),
                    // Bits always have a minimum that is found; numbers of a million times C may not.
                    Err(error) => assert!(index > 2 && matches!(error, Error::NoConvergence { .. }), "{c}: {error}"),
                }
            }
        }
        let published = LabelOnlyPlan::default();
        let guesses = label_only(&source(|_, _| 1.0, |m, s| s == 0 || m == 0), &published).unwrap();
        // All in; and one in, which is alone on its side as a shadow model and leaves none as victim.
        assert_eq!(guesses.undecided, 7);
        assert_eq!(guesses.scores.scores().column(0), array![0.5, 0.5, 0.5, 0.5, 0.5, 0.5]);
        assert!(label_only(&source(|_, _| 1.0, |_, _| true), &published).is_err());
        let wrong = LabelOnlyPlan { strength: f64::NAN, ..published };
        assert!(label_only(&source(|_, _| 1.0, |m, _| m < 3), &wrong).is_err());
    }
}
