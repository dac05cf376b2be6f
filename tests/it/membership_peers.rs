//! Scores that other tools print: validation/reference/peers/membership.json names the sources. Where their scores mean
//! member when they are low, they are turned round.

use crate::json::{number, numbers, reference, rows};
use leakbound::membership::{
    LabelOnlyPlan, LiraMode, LiraPlan, LiraVariance, LiraVariant, LiraViews, MembershipScore, MemoryScores, Victims,
    label_only, lira,
};
use ndarray::{Array2, Array3, Axis};
use serde_json::Value;

fn peers(prefix: &str) -> Vec<Value> {
    let all: Vec<Value> = reference("peers/membership.json");
    all.into_iter().filter(|entry| entry["id"].as_str().unwrap().starts_with(prefix)).collect()
}

fn compare(entry: &Value, got: impl IntoIterator<Item = f64>, expected: &[f64]) {
    let tolerance = number(&entry["tolerance"]).min(1e-9);
    let got: Vec<f64> = got.into_iter().collect();
    assert_eq!(got.len(), expected.len());
    for (got, expected) in got.into_iter().zip(expected) {
        assert!((got - expected).abs() <= tolerance * (1.0 + expected.abs()), "{}: {got} {expected}", entry["id"]);
    }
}

/// Scores \[model, sample, view\] of a nested list and truth \[model, sample\].
fn recording(inputs: &Value) -> (Array3<f64>, Array2<bool>) {
    let (scores, keep) = (&inputs["scores"], &inputs["keep"]);
    let shape = (rows(scores).len(), rows(&scores[0]).len());
    let views = rows(&scores[0][0]).len();
    let array = Array3::from_shape_fn((shape.0, shape.1, views), |(m, s, v)| number(&scores[m][s][v]));
    (array, Array2::from_shape_fn(shape, |(m, s)| keep[m][s].as_u64() == Some(1)))
}

#[test]
fn scores_of_logits() {
    let mut checked = 0;
    for entry in peers("stat").into_iter().chain(peers("mpe-hinge")) {
        let score = match entry["id"].as_str().unwrap() {
            "stat-logit" => MembershipScore::Logit,
            "stat-conf with prob" => MembershipScore::Confidence,
            _ => MembershipScore::Hinge,
        };
        let logits = entry["inputs"]["logits"].as_array().unwrap();
        let labels = numbers(&entry["inputs"]["labels"]);
        let got = logits.iter().zip(labels).map(|(row, label)| score.of(&numbers(row), label as usize).unwrap());
        compare(&entry, got, &numbers(&entry["expected"]));
        checked += 1;
    }
    assert_eq!(checked, 3);
}

/// The target is model 0; then come the models inside, then those outside.
#[test]
fn tf_amia() {
    let mut checked = 0;
    for entry in peers("lira-tf").into_iter().chain(peers("lira-offset")) {
        let inputs = &entry["inputs"];
        let sides = ["stat_in", "stat_out"].map(|name| inputs[name].as_array().unwrap().clone());
        let (samples, inside) = (sides[0].len(), rows(&sides[0][0]).len());
        let models = 1 + inside + rows(&sides[1][0]).len();
        let scores = Array3::from_shape_fn((models, samples, 1), |(model, sample, _)| {
            let score = match model {
                0 => &inputs["stat_target"][sample][0],
                _ if model <= inside => &sides[0][sample][model - 1][0],
                _ => &sides[1][sample][model - 1 - inside][0],
            };
            number(score)
        });
        let keep = Array2::from_shape_fn((models, samples), |(model, _)| model <= inside);
        let offset = entry["id"] == "lira-offset-both";
        let plan = LiraPlan {
            variant: if offset { LiraVariant::TfOffset } else { LiraVariant::TfAmia },
            mode: match inputs["option"].as_str().unwrap() {
                "both" => LiraMode::Online,
                "in" => LiraMode::InOnly,
                _ => LiraMode::Offline,
            },
            variance: if inputs["fix_variance"] == true { LiraVariance::Pooled } else { LiraVariance::PerSample },
            views: LiraViews::Independent,
            victims: Victims::HeldOut(vec![0]),
        };
        let got = lira(&MemoryScores::double(scores, keep).unwrap(), &plan).unwrap();
        let sign = if offset { 1.0 } else { -1.0 };
        compare(&entry, got.scores.scores().iter().map(|score| sign * score), &numbers(&entry["expected"]));
        checked += 1;
    }
    assert_eq!(checked, 7);
}

#[test]
fn carlini_2022() {
    for entry in peers("lira-ref") {
        let (scores, keep) = recording(&entry["inputs"]);
        let offline = entry["id"].as_str().unwrap().contains("offline");
        let plan = LiraPlan {
            variant: LiraVariant::Carlini2022,
            mode: if offline { LiraMode::Offline } else { LiraMode::Online },
            victims: Victims::HeldOut(vec![scores.len_of(Axis(0)) - 1]),
            ..LiraPlan::default()
        };
        let got = lira(&MemoryScores::double(scores, keep).unwrap(), &plan).unwrap();
        compare(&entry, got.scores.scores().iter().map(|score| -score), &numbers(&entry["expected"]));
    }
}

#[test]
fn aerni_2024() {
    let (scores, keep) = recording(&peers("lira-ref-online")[0]["inputs"]);
    let first = |axis: Axis| (axis, (0..8).into());
    let (axis, slice) = first(Axis(0));
    let scores = scores.slice_axis(axis, slice).to_owned();
    let keep = keep.slice_axis(axis, slice).to_owned();
    let entry = &peers("mpe-lira-loo")[0];
    let plan = LiraPlan { variant: LiraVariant::Aerni2024, ..LiraPlan::default() };
    let got = lira(&MemoryScores::double(scores, keep).unwrap(), &plan).unwrap();
    compare(entry, got.scores.scores().iter().copied(), &numbers(&entry["expected"]));
}

#[test]
fn label_only_attack() {
    let entry = &peers("mpe-labelonly")[0];
    let (features, membership) = (&entry["inputs"]["features"], &entry["inputs"]["membership"]);
    let (samples, models) = (rows(features).len(), rows(&features[0]).len());
    let views = rows(&features[0][0]).len();
    let source = MemoryScores::double(
        Array3::from_shape_fn((models, samples, views), |(m, s, v)| number(&features[s][m][v])),
        Array2::from_shape_fn((models, samples), |(m, s)| membership[s][m].as_u64() == Some(1)),
    );
    let plan = LabelOnlyPlan { strength: number(&entry["inputs"]["C"]), ..LabelOnlyPlan::default() };
    let guesses = label_only(&source.unwrap(), &plan).unwrap();
    let mut worst = 0f64;
    for ((model, sample), got) in guesses.scores.scores().indexed_iter() {
        worst = worst.max((got - number(&entry["expected"][sample][model])).abs());
    }
    // That tool's solver was stopped at a gradient of 1e-10.
    println!("largest difference {worst:e}");
    assert!(worst < 1e-6);
}
