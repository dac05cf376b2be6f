//! `leakbound account`, and `leakbound exact` with a threshold test.

use assert_cmd::Command;
use serde_json::Value;
use std::process::Output;

const FASHION: &str = "validation/data/fashion_votes.npz";
const CONFIDENT: &str = "--noise gaussian:40 --threshold 200 --threshold-noise gaussian:150";

fn run(arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leakbound"));
    command.current_dir(crate::ROOT).args(arguments.split_whitespace()).output().unwrap()
}

fn text(arguments: &str) -> String {
    let output = run(arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""), "{arguments}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &str) -> Value {
    serde_json::from_str(&text(&format!("{arguments} --format json"))).unwrap()
}

/// The one line of a rejection.
fn rejected(status: i32, arguments: &str) -> String {
    let output = run(arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(status), "{stderr}");
    assert!(output.stdout.is_empty());
    stderr.trim_end().strip_prefix("error: ").unwrap_or_else(|| panic!("{stderr}")).to_owned()
}

fn curve<'a>(document: &'a Value, name: &str) -> &'a Value {
    let curves = document["curves"].as_array().unwrap();
    curves.iter().find(|curve| curve["name"] == name).unwrap_or_else(|| panic!("no {name}"))
}

fn epsilon(document: &Value, name: &str) -> f64 {
    curve(document, name)["epsilon"].as_f64().unwrap()
}

#[test]
fn abstention_is_the_first_outcome_and_the_accountants_bound_the_distribution() {
    for form in ["max", "per-class"] {
        let document = json(&format!(
            "exact --histogram 14,12,10,8,6 --neighbor 13,13,10,8,6 --noise gaussian:2 --threshold 12 --threshold-noise \
             gaussian:3 --threshold-form {form} --orders 2,10 --epsilons 0.1"
        ));
        let outcomes = document["outcomes"].as_array().unwrap();
        assert_eq!((outcomes.len(), &outcomes[0]["label"], &outcomes[1]["label"]), (6, &"abstain".into(), &"0".into()));
        let sum: f64 = outcomes.iter().map(|outcome| outcome["p"].as_f64().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-14);
        if form == "max" {
            // Φ((12 - 14)/3).
            assert!((outcomes[0]["p"].as_f64().unwrap() - 0.252_492_537_546_923_5).abs() < 1e-14);
        }
        let names: Vec<&str> =
            document["accountants"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
        assert!(
            names.contains(&"confident-gnmax-data-dependent") && names.contains(&"confident-gnmax-data-independent")
        );
        for row in document["accountants"].as_array().unwrap() {
            let divergences = document["divergences"].as_array().unwrap();
            let exact = divergences.iter().find(|exact| exact["order"] == row["order"]).unwrap();
            assert!(exact["forward"].as_f64().unwrap() <= row["rdp"].as_f64().unwrap());
        }
    }
}

#[test]
fn the_worst_neighbor_is_searched_with_the_test_too() {
    let options = "--noise laplace:2 --threshold 12 --threshold-noise gaussian:3 --worst-neighbor moved --orders 2";
    let document = json(&format!("exact --histogram 14,12,10 {options}"));
    assert_eq!(document["neighbors_searched"], 6);
    let worst = document["divergences"][0]["forward"].as_f64().unwrap();
    for row in document["accountants"].as_array().unwrap() {
        assert!(row["name"].as_str().unwrap().starts_with("confident-lnmax") && row["rdp"].as_f64().unwrap() >= worst);
    }
}

#[test]
fn accountants_of_recorded_votes_are_ordered() {
    let document = json(&format!("account {FASHION} --noise gaussian:40 --queries 0,5,7,11 --orders 2,16"));
    assert_eq!((&document["schema"], &document["queries"]), (&"leakbound.account/1".into(), &4.into()));
    let [independent, dependent, exact] =
        ["gnmax-data-independent", "gnmax-data-dependent", "exact-per-query"].map(|name| epsilon(&document, name));
    assert!(exact <= dependent && dependent <= independent, "{exact} {dependent} {independent}");
    assert!(
        (curve(&document, "gnmax-data-independent")["rdp"][1].as_f64().unwrap() - 4.0 * 16.0 / 1600.0).abs() < 1e-15
    );
    let profile = curve(&document, "gnmax-data-dependent")["profile"].as_array().unwrap();
    let values: Vec<f64> = profile.iter().map(|at| at["epsilon"].as_f64().unwrap()).collect();
    assert!(profile.len() > 15 && values.windows(2).all(|pair| pair[0] <= pair[1]), "{values:?}");
    assert_eq!(document["warnings"][0]["code"], "data-dependent-costs");
}

#[test]
fn budgets_are_spent_and_never_exceeded() {
    let command = format!("account {FASHION} {CONFIDENT} --budget 1,2 --delta 1e-6 --conversion classic --no-exact");
    let document = json(&command);
    let rows = document["budgets"].as_array().unwrap();
    let number = |row: &Value, name: &str| row[name].as_f64().unwrap();
    for row in rows {
        assert!(number(row, "epsilon") <= number(row, "budget") && row["exhausted"] == true, "{row}");
        assert!(number(row, "labels") <= number(row, "queries") && number(row, "label_accuracy") > 0.6, "{row}");
    }
    assert!(number(&rows[0], "queries") < number(&rows[1], "queries"));
    assert_eq!(json(&command)["budgets"], document["budgets"]);
    assert_ne!(json(&format!("{command} --seed 1"))["budgets"], document["budgets"]);
    let all = text(&command);
    assert!(all.contains("label accuracy") && all.contains("Mironov 2017"), "{all}");
    let csv = text(&format!("{command} --format csv"));
    assert!(csv.starts_with("kind,name,at,value\n") && csv.contains("\nbudget,queries,1,"), "{csv}");
}

#[test]
fn scenarios_have_accountants_and_an_exact_sum() {
    let document = json("account validation/scenarios/pate.toml --delta 1e-6");
    assert!(epsilon(&document, "exact-sum") <= epsilon(&document, "gnmax-data-independent"));
    assert_eq!(curve(&document, "exact-sum")["meaning"], "exact-of-scenario");
}

/// ε by privacy losses lies between its two ends: far below what holds for any votes, and for the two worlds of a
/// scenario both ends meet below the conversion of the exact divergences.
#[test]
fn privacy_losses_enclose_epsilon() {
    let document = json(&format!("account {FASHION} --noise gaussian:40 --queries 0,1,2,3,4,5 --composition pld"));
    let ends = |document: &Value| ["lower", "upper"].map(|end| document["losses"]["epsilon"][end].as_f64().unwrap());
    let [lower, upper] = ends(&document);
    assert!(0.0 < lower && lower <= upper && upper < epsilon(&document, "gnmax-worst-case"));
    assert!(lower <= epsilon(&document, "exact-per-query"));
    assert_eq!(document["losses"]["meaning"], "exact-given-votes");
    for at in document["losses"]["profile"].as_array().unwrap() {
        assert!(at["lower"].as_f64().unwrap() <= at["upper"].as_f64().unwrap());
    }
    let document = json("account validation/scenarios/prompt-pate.toml --composition pld");
    let [lower, upper] = ends(&document);
    assert!(lower <= upper && upper <= lower * 1.001 && upper < epsilon(&document, "exact-sum"));
    assert!(json("account validation/scenarios/prompt-pate.toml")["losses"].is_null());
}

/// 300 classes with different counts have 89,700 neighbors, more than are searched; and a single vote costs something.
#[test]
fn other_figures_stand_without_the_exact_one() {
    let folder = tempfile::tempdir().unwrap();
    let archive = |name: &str, counts: ndarray::Array2<u64>| {
        let path = folder.path().join(name);
        let mut writer = ndarray_npy::NpzWriter::new(std::fs::File::create(&path).unwrap());
        writer.add_array("histogram", &counts).unwrap();
        writer.finish().unwrap();
        path.display().to_string()
    };
    let many = archive("many.npz", ndarray::Array2::from_shape_fn((1, 300), |(_, class)| class as u64));
    let document = json(&format!("account {many} --noise gaussian:40"));
    assert_eq!(
        (document["curves"].as_array().unwrap().len(), &document["warnings"][1]["code"]),
        (4, &"exact-left-out".into())
    );
    for (counts, noise) in [(vec![1u64], "laplace:2"), (vec![1 << 53], "gaussian:1e-3"), (vec![0; 7], "laplace:1e9")] {
        for test in ["", "--threshold 3 --threshold-noise gaussian:2 --threshold-form per-class"] {
            let row = ndarray::Array2::from_shape_vec((1, counts.len()), counts.clone()).unwrap();
            let file = archive("one.npz", row);
            let document = json(&format!("account {file} --noise {noise} {test} --budget 1 --delta 0"));
            // Without a vote that can move nothing leaks; accountants need not see that.
            assert_eq!(epsilon(&document, "exact-per-query"), 0.0);
        }
    }
}

#[test]
fn a_page_has_the_figures() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("a.html");
    text(&format!("account {FASHION} {CONFIDENT} --queries 0,1 --budget 1 --report {}", page.display()));
    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.matches("<svg").count() == 2 && html.contains("confident-gnmax-expected"), "{}", html.len());
}

#[test]
fn what_makes_no_sense_is_rejected_in_one_line() {
    insta::assert_snapshot!(
        [
            rejected(2, &format!("account {FASHION}")),
            rejected(1, &format!("account {FASHION} --noise gaussian:40 --instantiation 12")),
            rejected(1, &format!("account {FASHION} --noise gaussian:40 --queries 1000")),
            rejected(2, "account validation/scenarios/pate.toml --noise gaussian:40"),
            rejected(2, &format!("account {FASHION} --noise gaussian:40 --threshold 200 --threshold-noise laplace:3")),
            rejected(2, &format!("account {FASHION} --noise gaussian:40 --threshold inf --threshold-noise gaussian:3")),
            rejected(2, &format!("account {FASHION} --noise gaussian:40 --conversion best")),
            rejected(2, &format!("account {FASHION} --noise gaussian:40 --budget 1,-1")),
        ]
        .join("\n"),
        @r"
        --noise: recorded votes say nothing of the noise; it is gaussian:SIGMA or laplace:B
        validation/data/fashion_votes.npz: array `pate_votes`: found 12 instantiations, expected more than 12 instantiations
        validation/data/fashion_votes.npz: --queries: found position 1000, expected a position from 0 to 999
        --noise: only recorded votes (.npz) have it; a scenario describes its own mechanism
        --threshold-noise: the threshold test has Gaussian noise, not laplace:3
        invalid value 'inf' for '--threshold <T>': threshold = inf is not in (-inf, inf)
        invalid value 'best' for '--conversion <NAME>': conversion `best` cannot be read; expected improved or classic
        invalid value '1,-1' for '--budget <E,...>': epsilon = -1 is not in [0, inf)
        "
    );
}
