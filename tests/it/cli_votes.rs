//! `leakbound audit votes` beyond PATE as it is recorded: models, adversaries, groups, sampling, repeated answers.

use crate::arrays::archive;
use crate::desk::{Desk, rows_of, says};
use crate::json::{codes, curve, number, row, rows};
use ndarray::{Array1, Array2, Array3, array};
use serde_json::Value;

const FASHION: &str = "validation/data/fashion_votes.npz";

/// The document of an audit of votes of the repository.
fn json(words: &str) -> Value {
    Desk::root().json(&format!("audit votes {words}"))
}

#[test]
fn options_of_another_model_are_rejected() {
    let rows = &rows_of("cli_votes", "options_of_another_model_are_rejected");
    Desk::root().rejects("audit votes validation/data/fashion_votes.npz --noise gaussian:40", rows);
}

#[test]
fn what_a_recording_does_not_have_is_named() {
    let desk = Desk::new();
    desk.arrays("ranked.npz", &[("neighbour_labels", &Array2::<u8>::zeros((2, 60)))]);
    desk.arrays("features.npz", &[("query_features", &array![[0.0f32, 1.0]])]);
    desk.arrays("train.npz", &[("features", &array![[0.0f32], [1.0]]), ("labels", &array![0u8, 1])]);
    let rows = &rows_of("cli_votes", "what_a_recording_does_not_have_is_named");
    desk.rejects("audit votes --model private-knn --noise gaussian:2 --rate 0.9", rows);
}

#[test]
fn counts_drawn_from_the_distribution_say_so() {
    let arguments = format!("{FASHION} --model pate --noise gaussian:40 --queries 18 --samples 1e12 --orders 2");
    let document = json(&format!("{arguments} --sampling exact-distribution"));
    assert_eq!(document["options"]["sampling"], "exact-distribution");
    assert!(codes(&document).contains(&"exact-distribution-sampling"));
    let query = &document["queries"][0];
    let total: u64 = rows(&query["counts"]).iter().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(total, 1_000_000_000_000);
    let exact = number(&query["exact"][0]["forward"]);
    let first = &query["lower"][0];
    assert_eq!((&first["method"], &first["direction"]), (&"k-cut-region".into(), &"forward".into()));
    let lower = number(&first["rdp_lower"]);
    assert!(lower < exact && lower > 0.99 * exact, "{lower} {exact}");
    let shown = Desk::root().stdout(&format!("audit votes {arguments} --sampling exact-distribution"));
    assert!(shown.contains("drawn from the distribution itself and not simulated"), "{shown}");
}

/// P = (0.52, 0.48) and P' = (0.22, 0.78), 250 teachers: a thousand answers leak 1.41e-3 at order 2, and their sum
/// says 47 times as much.
#[test]
fn repeated_answers_of_the_same_teachers_are_capped() {
    let desk = Desk::new();
    let side = |zeros: usize, all: usize| (0..all).map(move |vote| u8::from(vote >= zeros));
    let votes = Array3::from_shape_vec((1, 1, 250), side(130, 250).collect()).unwrap();
    let poisoned = Array2::from_shape_vec((1, 50), side(11, 50).collect()).unwrap();
    desk.arrays("two.npz", &[("pate_votes", &votes), ("adv_query", &array![0i32]), ("pate_pois_advq", &poisoned)]);
    let arguments = "audit votes two.npz --model pate --noise gaussian:40 --orders 2 --samples 1e4 --n-queries 1000";
    let document = desk.json(arguments);
    let composed = &document["composed"];
    let place = rows(&composed["orders"]).iter().position(|order| order == 2.0).unwrap();
    let value = |name: &str, direction: &str| {
        let curve = curve(&document, name, direction);
        assert!(name == "exact-sum" || curve["meaning"] == "bound", "{curve}");
        number(&curve["values"][place])
    };
    for (name, expected) in [("exact-sum", 6.58e-2), ("joint-exact", 1.41e-3), ("shared-teachers-cap", 1.44e-3)] {
        assert!((value(name, "reverse") / expected - 1.0).abs() < 5e-3, "{name}: {}", value(name, "reverse"));
    }
    assert!(value("joint-exact", "forward") <= value("shared-teachers-cap", "forward"));
    let warning = row(&document["warnings"], "code", "sum-above-joint");
    assert!(warning["message"].as_str().unwrap().contains("times the most that they leak together"), "{warning}");
    // Trained anew for every answer, the divergences add and there is nothing to warn of.
    let fresh = desk.stdout(&format!("{arguments} --composition independent --format json"));
    assert!(!fresh.contains("sum-above-joint") && !fresh.contains("shared-teachers-cap"));
}

const KNN: &str = "validation/data/fashion_knn.npz";

/// Queries that an adversary chooses are each about another neighbor: fresh answers to them do not add up, and those to
/// one of them do.
#[test]
fn leakage_under_different_neighbors_does_not_add_up() {
    for model in [format!("{FASHION} --model pate"), format!("{KNN} --model private-knn")] {
        let arguments =
            format!("audit votes {model} --noise gaussian:40 --orders 2 --samples 1e3 --sampling exact-distribution");
        let independent = format!("{arguments} --composition independent");
        let line = Desk::root().rejected(2, &format!("{independent} --adversary pois-advq"));
        assert!(line.starts_with("composition: each query has its own neighboring dataset"), "{line}");
        for more in ["--adversary pois-natq", "--adversary nat-advq --n-queries 10"] {
            let document = Desk::root().json(&format!("{independent} {more}"));
            assert_eq!(document["composed"]["composition"], "independent", "{model} {more}");
        }
    }
}

/// Values of one order in a list of rows of JSON.
fn at<'a>(value: &'a Value, order: f64, name: Option<&str>) -> &'a Value {
    let fits = |row: &&Value| row["order"] == order && name.is_none_or(|name| row["name"] == name);
    rows(value).iter().find(fits).unwrap_or_else(|| panic!("no {name:?} at {order} in {value}"))
}

/// The distribution of CaPC is a series, and nothing calls it exact.
#[test]
fn a_series_is_never_called_exact() {
    let arguments = format!("{FASHION} --model capc --noise gaussian:40 --queries 18,266 --orders 2,8 --samples 1e4");
    let document = json(&arguments);
    assert_eq!(document["distribution"], "series");
    assert!(number(&document["series"]["remainder"]) < 1e-9, "{}", document["series"]);
    assert!(codes(&document).contains(&"series"));
    for query in rows(&document["queries"]) {
        assert_eq!(rows(&query["exact"]).len(), 0);
        let distribution = at(&query["approximate"], 2.0, None)["forward"].as_f64().unwrap();
        let dependent = at(&query["upper"], 2.0, Some("gnmax-data-dependent"))["rdp"].as_f64().unwrap();
        assert!(distribution > 1e-5 && distribution < dependent, "{distribution} {dependent}");
    }
    let check = &document["series_check"];
    let value = |name: &str| number(&check[name]);
    // A standard error of a fixed seed: a correct program fails this with probability 6e-7.
    assert!((value("series") - value("estimate")).abs() < 5.0 * value("standard_error"), "{check}");
    assert!(value("standard_error") < 1e-3 * value("series"), "{check}");
    let shown = Desk::root().stdout(&format!("audit votes {arguments}"));
    says(&shown, &[" series   ", "Check: query 266", "series-sum"]);
    assert!(!shown.contains(" exact   ") && !shown.contains("exact-sum"), "{shown}");
    let rows = Desk::root().stdout(&format!("audit votes {arguments} --format csv"));
    assert!(rows.contains(",approximate,series,") && !rows.contains(",exact,"), "{rows}");
}

#[test]
fn private_knn_with_every_recorded_adversary() {
    for (adversary, point) in [("nat-advq", None), ("pois-advq", None), ("pois-natq", Some("test"))] {
        let document = json(&format!(
            "{KNN} --model private-knn --noise gaussian:30 --adversary {adversary} --queries 2,1 --orders 2 \
             --samples 1e8 --sampling exact-distribution"
        ));
        assert_eq!((&document["options"]["k"], &document["options"]["rate"]), (&200.into(), &0.2.into()));
        assert_eq!(document["added_point"]["search"].as_str(), point);
        // Only a point that stays the same leaks more with every query.
        let composition = point.map(|_| "independent");
        assert_eq!(document["composed"]["composition"].as_str(), composition, "{adversary}");
        assert!(codes(&document).contains(&"independent-labels"));
        for query in rows(&document["queries"]) {
            let exact = at(&query["exact"], 2.0, None)["forward"].as_f64().unwrap();
            let upper = at(&query["upper"], 2.0, Some("subsampled-gaussian"));
            let closed_form = (0.04 * (2.0 / 900.0f64).exp_m1()).ln_1p();
            assert!((number(&upper["rdp"]) / closed_form - 1.0).abs() < 1e-11, "{upper}");
            assert_eq!(upper["validity"], "numerically-certified");
            assert!(exact <= closed_form && (point.is_some() || exact > 1e-7), "{adversary}: {exact}");
        }
    }
    let added = json(&format!(
        "{KNN} --model private-knn --noise gaussian:30 --adversary pois-natq --candidates train --queries 2 --samples 1"
    ));
    let point = &added["added_point"];
    // The largest E(x) among the 500 recorded training points, by an independent program.
    assert!((number(&point["expected_votes"]) - 3.560_830_618_259).abs() < 1e-9, "{point}");
    assert!(point["row"].as_u64().unwrap() < 500);
}

/// Labels of neighbors from distances are the recorded ones, and an embedding votes on more queries than a candidate.
#[test]
fn features_stand_for_ranked_labels() {
    let desk = Desk::new();
    // Points on a line, classes by turns; queries between them.
    let points = Array2::from_shape_fn((60, 1), |(point, _)| 1.5f64.powi(point as i32 % 30) + point as f64);
    let queries = array![[3.3], [40.1]];
    let ranked = Array2::from_shape_fn((2, 60), |(query, rank)| {
        let mut order: Vec<usize> = (0..60).collect();
        order.sort_by(|a, b| {
            let distance = |point: usize| (points[[point, 0]] - queries[[query, 0]]).abs();
            distance(*a).total_cmp(&distance(*b))
        });
        (order[rank] % 3) as u8
    });
    desk.arrays("ranked.npz", &[("neighbour_labels", &ranked), ("query_label", &array![0u8, 1])]);
    let features = archive(&[
        ("query_features", &queries),
        ("query_label", &array![0u8, 1]),
        ("features", &points),
        ("labels", &Array1::from_shape_fn(60, |point| (point % 3) as u8)),
    ]);
    desk.file("features.npz", features);
    let audit = |more: &str| {
        desk.json(&format!(
            "audit votes {more} --model private-knn --noise gaussian:2 --k 4 --rate 0.8 --orders 2 --samples 1e3"
        ))
    };
    assert_eq!(audit("ranked.npz")["queries"], audit("features.npz")["queries"]);
    let votes = |search: &str| {
        let document = audit(&format!("features.npz --adversary pois-natq --candidates {search}"));
        number(&document["added_point"]["expected_votes"])
    };
    assert!(votes("train") > 0.0 && votes("embedding") >= votes("train"), "{} {}", votes("train"), votes("embedding"));
}

/// Where m teachers or points change, more leaks, and the accountants are those of groups.
#[test]
fn groups_have_accountants_of_their_own() {
    for (file, model, name) in
        [(FASHION, "pate", "gnmax-data-independent"), (KNN, "private-knn", "subsampled-gaussian")]
    {
        let audit = |changed: u32| {
            let document = json(&format!(
                "{file} --model {model} --noise gaussian:40 --queries 42 --orders 2 --samples 1e3 --changed {changed}"
            ));
            let query = &document["queries"][0];
            let upper = |name: &str| {
                rows(&query["upper"]).iter().find(|row| row["name"] == name).map(|row| number(&row["rdp"]))
            };
            (at(&query["exact"], 2.0, None)["forward"].as_f64().unwrap(), upper(name).unwrap(), upper("mironov-group"))
        };
        let ((one, upper_of_one, none), (three, upper_of_three, generic)) = (audit(1), audit(3));
        assert_eq!(none, None);
        assert!(three > 2.0 * one, "{model}: {one} {three}");
        assert!(one < upper_of_one && three < upper_of_three && upper_of_three < generic.unwrap(), "{model}");
        if model == "pate" {
            assert!((upper_of_three / (9.0 * upper_of_one) - 1.0).abs() < 1e-12);
            assert!((generic.unwrap() / (36.0 * upper_of_one) - 1.0).abs() < 1e-12);
        }
    }
}
