//! The fast path against the formula, the formula against tables, and samples that leave nothing to compute.

use crate::membership::shadow_scores::ScoreBlock;
use crate::membership::{LiraMode, LiraPlan, LiraVariance, LiraVariant, LiraViews, MemoryScores, Victims, lira};
use ndarray::{Array2, Array3, Axis};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use serde_json::Value;

fn table() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/reference/membership.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[test]
fn every_variant_agrees_with_its_table() {
    let table = table();
    let rows = table["scores"].as_array().unwrap();
    let (models, samples) = (rows.len(), rows[0].as_array().unwrap().len());
    let views = rows[0][0].as_array().unwrap().len();
    let scores = Array3::from_shape_fn((models, samples, views), |(m, s, v)| rows[m][s][v].as_f64().unwrap());
    let keep = Array2::from_shape_fn((models, samples), |(m, s)| table["keep"][m][s].as_u64() == Some(1));
    for case in table["cases"].as_array().unwrap() {
        let text = |name: &str| case[name].as_str().unwrap();
        let plan = LiraPlan {
            variant: text("variant").parse().unwrap(),
            mode: if text("mode") == "online" { LiraMode::Online } else { LiraMode::Offline },
            variance: if text("variance") == "pooled" { LiraVariance::Pooled } else { LiraVariance::PerSample },
            views: if text("views") == "multivariate" { LiraViews::Multivariate } else { LiraViews::Independent },
            victims: text("victims").parse().unwrap(),
        };
        let views = if plan.variant == LiraVariant::LeakPro { 1 } else { views };
        let scores = scores.slice_axis(ndarray::Axis(2), (0..views).into()).to_owned();
        let got = lira(&MemoryScores::double(scores, keep.clone()).unwrap(), &plan).unwrap();
        assert_eq!(got.undecided, 0);
        for (row, expected) in case["expected"].as_array().unwrap().iter().enumerate() {
            for (sample, expected) in numbers(expected).into_iter().enumerate() {
                let got = got.scores.scores()[[row, sample]];
                assert!((got - expected).abs() <= 1e-10 * (1.0 + expected.abs()), "{case}: {got} {expected}");
            }
        }
    }
}

/// Scores of 21 models on 37 samples: fewer lanes than a tile at the end, models on both sides in random numbers.
fn recorded(models: usize, samples: usize, views: usize, seed: u64) -> (Array3<f32>, Array2<bool>) {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let keep = Array2::from_shape_simple_fn((models, samples), || generator.random::<f64>() < 0.5);
    let centers: Vec<f64> = (0..samples).map(|_| 3.0 * generator.sample::<f64, _>(StandardNormal)).collect();
    let scores = Array3::from_shape_fn((models, samples, views), |(m, s, _)| {
        let noise: f64 = generator.sample(StandardNormal);
        (centers[s] + noise + 2.0 * f64::from(u8::from(keep[[m, s]]))) as f32
    });
    (scores, keep)
}

/// The formula in doubles, and the sum of the magnitudes of its terms.
fn direct(scores: &Array3<f32>, keep: &Array2<bool>, victim: usize, sample: usize) -> Option<(f64, f64)> {
    let side = |member: bool| -> Vec<usize> {
        (0..keep.nrows()).filter(|&m| m != victim && keep[[m, sample]] == member).collect()
    };
    let sides = [side(false), side(true)];
    if sides.iter().any(|side| side.len() < 2) {
        return None;
    }
    let (mut sum, mut magnitude) = (0.0, 0.0);
    for view in 0..scores.dim().2 {
        let x = |model: usize| f64::from(scores[[model, sample, view]]);
        for (side, sign) in sides.iter().zip([0.5, -0.5]) {
            let n = side.len() as f64;
            let mean = side.iter().map(|&m| x(m)).sum::<f64>() / n;
            let variance = side.iter().map(|&m| (x(m) - mean).powi(2)).sum::<f64>() / (n - 1.0);
            for term in [(x(victim) - mean).powi(2) / variance, variance.ln()] {
                sum += sign * term;
                magnitude += 0.5 * f64::abs(term);
            }
        }
    }
    Some((sum, magnitude))
}

#[test]
fn single_precision_is_as_good_as_double() {
    let mut worst = 0f64;
    for (models, samples, views, scale, shift) in [
        (21, 37, 3, 1.0, 0.0),
        (64, 40, 18, 1.0, 0.0),
        (64, 17, 45, 1e-8, 1e-6),
        (33, 33, 1, 1e12, 0.0),
        (40, 20, 2, 1.0, 1000.0),
        (40, 20, 2, 1e-3, 1000.0),
        (6, 50, 2, 1.0, 0.0),
        (300, 3, 250, 1.0, 0.0),
    ] {
        let (mut scores, keep) = recorded(models, samples, views, 7);
        scores.mapv_inplace(|x| scale * x + shift);
        // An outlier among the members, and a sample whose two sides are far apart.
        scores[[1, 1, 0]] += 1e4 * scale;
        for model in 0..models {
            scores[[model, 2, 0]] += if keep[[model, 2]] { 1e3 * scale } else { 0.0 };
        }
        let source = MemoryScores::single(scores.clone(), keep.clone()).unwrap();
        let got = lira(&source, &LiraPlan::default()).unwrap();
        let wide = MemoryScores::double(scores.mapv(f64::from), keep.clone()).unwrap();
        let wide = lira(&wide, &LiraPlan::default()).unwrap();
        assert_eq!(got.undecided, wide.undecided);
        for ((victim, sample), &score) in got.scores.scores().indexed_iter() {
            let Some((expected, magnitude)) = direct(&scores, &keep, victim, sample) else {
                assert_eq!(score, 0.0);
                continue;
            };
            let error = (score - expected).abs() / magnitude;
            worst = worst.max(error);
            assert!(error < 1e-5, "{models} x {samples} x {views}, {victim}, {sample}: {score} {expected}");
            let error = (wide.scores.scores()[[victim, sample]] - expected).abs() / magnitude;
            // With a relative spread of 1e-6, the means of the formula itself are not more accurate.
            assert!(error < 1e-10, "{victim}, {sample}: {error}");
        }
    }
    println!("worst error of single precision: {worst:e} of the sum of magnitudes");
}

/// Two values that are as frequent, so that squares are equal and are all rounded to the same side.
#[test]
fn sums_over_thousands_of_models_keep_their_precision() {
    for models in [1024, 2048, 8192] {
        let keep = Array2::from_shape_fn((models, 1), |(m, _)| m % 2 == 1);
        let c = 1.09;
        let scores = Array3::from_shape_fn((models, 1, 1), |(m, _, _)| {
            (if m & 2 == 0 { c } else { -c } + if m % 2 == 1 { 5.0 * c } else { 0.0 }) as f32
        });
        let got = lira(&MemoryScores::single(scores.clone(), keep.clone()).unwrap(), &LiraPlan::default()).unwrap();
        for victim in [0, 1, models / 2, models - 1] {
            let (expected, magnitude) = direct(&scores, &keep, victim, 0).unwrap();
            let error = (got.scores.scores()[[victim, 0]] - expected).abs() / magnitude;
            assert!(error < 3e-6, "{models} models, victim {victim}: {error:e}");
        }
    }
}

/// A victim's own answer, not only the means, sets the resolution of the other side: members at ±1000, the rest within
/// 1e-5.
#[test]
fn a_victim_far_from_the_other_side_meets_the_floor() {
    let keep = Array2::from_shape_fn((12, 1), |(m, _)| m < 6);
    let value = |m: usize| [1.0, -1.0][m % 2] * if m < 6 { 1000.0 } else { 1e-5 };
    let scores = Array3::from_shape_fn((12, 1, 1), |(m, _, _)| value(m));
    let single = MemoryScores::single(scores.mapv(|x| x as f32), keep.clone()).unwrap();
    for source in [single, MemoryScores::double(scores, keep).unwrap()] {
        let got = lira(&source, &LiraPlan::default()).unwrap().scores.scores()[[0, 0]];
        let floor = (f64::from(f32::EPSILON) * 1000.0).powi(2);
        // Five members are left, with mean -200 and variance 1.2e6.
        let expected = 0.5 * (1e6 / floor + floor.ln() - 1200f64.powi(2) / 1.2e6 - 1.2e6f64.ln());
        assert!((got / expected - 1.0).abs() < 1e-6, "{got:e} {expected:e}");
    }
}

/// Every sample of a long block has the scores that it has alone, whatever its neighbors are.
#[test]
fn samples_do_not_depend_on_the_tile_they_are_in() {
    let (models, samples) = (12, 64 + 64 + 32 + 5);
    for views in [1, 3, 18] {
        let (mut scores, mut keep) = recorded(models, samples, views, 9);
        // Samples without spread, with an unusable value, and with one member.
        scores.index_axis_mut(Axis(1), 70).fill(2.5);
        scores[[3, 71, 0]] = 1e30;
        keep.index_axis_mut(Axis(1), 72).slice_axis_mut(Axis(0), (1..).into()).fill(false);
        let wide = scores.mapv(f64::from);
        let found = |range: std::ops::Range<usize>, single: bool| {
            let part = range.clone().into();
            let block = if single {
                ScoreBlock::Single(scores.slice_axis(Axis(1), part).into())
            } else {
                ScoreBlock::Double(wide.slice_axis(Axis(1), part).into())
            };
            let mut found = Array2::from_elem((models, range.len()), -1.0);
            let slow =
                super::tile::leave_one_out(&block, keep.slice_axis(Axis(1), range.into()), &mut found.view_mut());
            (found, slow)
        };
        for single in [true, false] {
            let (together, slow) = found(0..samples, single);
            assert!(slow.iter().any(|(sample, _)| *sample == 70) && slow.iter().any(|(sample, _)| *sample == 72));
            for sample in 0..samples {
                let (alone, slow_alone) = found(sample..sample + 1, single);
                for model in 0..models {
                    assert_eq!(alone[[model, 0]].to_bits(), together[[model, sample]].to_bits(), "{views} {sample}");
                }
                let slow_here: Vec<_> = slow.iter().filter(|(other, _)| *other == sample).map(|s| &s.1).collect();
                assert_eq!(slow_here, slow_alone.iter().map(|s| &s.1).collect::<Vec<_>>(), "{views} {sample}");
            }
        }
    }
}

#[test]
fn the_layout_and_the_threads_do_not_matter() {
    let (scores, keep) = recorded(21, 37, 3, 8);
    let plan = LiraPlan::default();
    let expected = lira(&MemoryScores::single(scores.clone(), keep.clone()).unwrap(), &plan).unwrap();
    let mut fortran = Array3::zeros(ndarray::ShapeBuilder::f((21, 37, 3)));
    fortran.assign(&scores);
    assert_eq!(lira(&MemoryScores::single(fortran, keep.clone()).unwrap(), &plan).unwrap(), expected);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let source = MemoryScores::single(scores.clone(), keep.clone()).unwrap();
        assert_eq!(pool.install(|| lira(&source, &plan)).unwrap(), expected);
    }
}

fn all_plans() -> Vec<LiraPlan> {
    let mut plans = Vec::new();
    for variant in LiraVariant::ALL {
        for mode in [LiraMode::Online, LiraMode::Offline, LiraMode::InOnly] {
            for variance in [LiraVariance::PerSample, LiraVariance::Pooled] {
                for views in [LiraViews::Independent, LiraViews::Multivariate] {
                    for victims in [Victims::LeaveOneOut, Victims::HeldOut(vec![1])] {
                        plans.push(LiraPlan { variant, mode, variance, views, victims });
                    }
                }
            }
        }
    }
    plans
}

#[test]
fn degenerate_recordings_have_an_answer_or_one_line() {
    let keep = |of: fn(usize, usize) -> bool| Array2::from_shape_fn((8, 5), |(m, s)| of(m, s));
    let truths = [
        keep(|m, _| m % 2 == 0),
        // Always in, always out, one model in, two in, all but one in.
        keep(|m, s| [true, false, m == 3, m < 2, m > 0][s]),
        keep(|_, _| true),
    ];
    let values: [fn(usize, usize, usize) -> f64; 6] = [
        |_, _, _| 0.0,
        |_, _, _| -7.25,
        |m, _, _| if m % 2 == 0 { 5.0 } else { 3.0 },
        |m, _, _| if m == 0 { 1e100 } else { -1e100 },
        |m, s, v| 1e-300 * (m + s + v) as f64,
        |m, s, v| ((m * 7 + s * 5 + v * 3) % 11) as f64,
    ];
    let (mut answered, mut rejected) = (0, 0);
    for truth in &truths {
        for value in values {
            for views in [1, 3] {
                let scores = Array3::from_shape_fn((8, 5, views), |(m, s, v)| value(m, s, v));
                let source = MemoryScores::double(scores, truth.clone()).unwrap();
                for plan in all_plans() {
                    match lira(&source, &plan) {
                        Ok(_) => answered += 1,
                        Err(error) => {
                            rejected += 1;
                            assert!(!error.to_string().contains("NaN"), "{plan:?}: {error}");
                        }
                    }
                }
            }
        }
    }
    println!("{answered} answers, {rejected} rejections");
    assert!(answered > 900);
}

#[test]
fn equal_scores_are_no_evidence_and_separated_ones_are() {
    let keep = Array2::from_shape_fn((8, 1), |(m, _)| m % 2 == 0);
    let run = |value: fn(usize) -> f64| {
        let scores = Array3::from_shape_fn((8, 1, 1), |(m, _, _)| value(m));
        lira(&MemoryScores::double(scores, keep.clone()).unwrap(), &LiraPlan::default()).unwrap().scores
    };
    assert!(run(|_| 4.5).scores().iter().all(|&score| score == 0.0));
    for (victim, &score) in run(|m| if m % 2 == 0 { 5.0 } else { 3.0 }).scores().iter().enumerate() {
        assert!(if victim % 2 == 0 { score > 1e10 } else { score < -1e10 }, "{victim}: {score}");
    }
}

#[test]
fn impossible_wishes_are_one_line() {
    let keep = Array2::from_shape_fn((4, 1), |(m, _)| m % 2 == 0);
    let source = MemoryScores::single(Array3::zeros((4, 1, 2)), keep).unwrap();
    let message = |plan: LiraPlan| lira(&source, &plan).unwrap_err().to_string();
    let variant = |variant| LiraPlan { variant, ..LiraPlan::default() };
    let victims = |victims: &[usize]| LiraPlan { victims: Victims::HeldOut(victims.to_vec()), ..LiraPlan::default() };
    insta::assert_snapshot!(
        [
            message(LiraPlan::default()),
            message(victims(&[4])),
            message(victims(&[1, 1])),
            message(victims(&[])),
            message(victims(&[0, 1, 2])),
            message(variant(LiraVariant::LeakPro)),
            message(LiraPlan { mode: LiraMode::Offline, ..variant(LiraVariant::Aerni2024) }),
            message(LiraPlan { mode: LiraMode::InOnly, ..variant(LiraVariant::Leakbound) }),
            message(LiraPlan { views: LiraViews::Multivariate, ..variant(LiraVariant::TfAmia) }),
            "x".parse::<Victims>().unwrap_err().to_string(),
            "x".parse::<LiraVariant>().unwrap_err().to_string(),
        ]
        .join("\n"),
        @"
        LiRA: every sample has too few models that were trained on it, or too few that were not
        victim = 4 is not in the models that were recorded, each once
        victim = 1 is not in the models that were recorded, each once
        victims has length 0; expected at least 1
        shadow models other than a victim has length 1; expected at least 2
        LiRA: variant leakpro has one view of a sample, not 2
        LiRA: variant aerni-2024 is online only
        LiRA: variant leakbound does not attack with members only; tf-amia does
        LiRA: variant tf-amia takes views as independent
        victims `x` cannot be read; expected loo, or numbers of models counted from 0, such as 0,5
        variant of LiRA `x` cannot be read; expected leakbound, carlini-2022, tf-amia, tf-offset, aerni-2024 or leakpro
        "
    );
}
