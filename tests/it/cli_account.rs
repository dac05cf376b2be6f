//! `leakbound account`, and `leakbound exact` with a threshold test.

use crate::desk::{Desk, json, rows_of, says, stdout};
use crate::json::{ends, losses, number, row, rows, texts};
use ndarray::Array2;
use serde_json::Value;

const FASHION: &str = "validation/data/fashion_votes.npz";
const CONFIDENT: &str = "--noise gaussian:40 --threshold 200 --threshold-noise gaussian:150";

fn curve<'a>(document: &'a Value, name: &str) -> &'a Value {
    row(&document["curves"], "name", name)
}

/// The document about these releases.
fn account(desk: &Desk, releases: &str, options: &str) -> Value {
    desk.file("r.toml", releases);
    desk.json(&format!("account r.toml {options}"))
}

/// A release of a mechanism so often.
fn release(mechanism: &str, times: u32) -> String {
    format!("[[release]]\nmechanism = '{mechanism}'\ntimes = {times}\n")
}

fn epsilon(document: &Value, name: &str) -> f64 {
    number(&curve(document, name)["epsilon"])
}

#[test]
fn abstention_is_the_first_outcome_and_the_accountants_bound_the_distribution() {
    for form in ["max", "per-class"] {
        let document = json(&format!(
            "exact --histogram 14,12,10,8,6 --neighbor 13,13,10,8,6 --noise gaussian:2 --threshold 12 --threshold-noise \
             gaussian:3 --threshold-form {form} --orders 2,10 --epsilons 0.1"
        ));
        let outcomes = rows(&document["outcomes"]);
        assert_eq!((outcomes.len(), &outcomes[0]["label"], &outcomes[1]["label"]), (6, &"abstain".into(), &"0".into()));
        let sum: f64 = outcomes.iter().map(|outcome| number(&outcome["p"])).sum();
        assert!((sum - 1.0).abs() < 1e-14);
        if form == "max" {
            // Φ((12 - 14)/3).
            assert!((number(&outcomes[0]["p"]) - 0.252_492_537_546_923_5).abs() < 1e-14);
        }
        let names = texts(&document["accountants"], "name");
        assert!(names.contains(&"confident-gnmax-data-dependent"));
        assert!(names.contains(&"confident-gnmax-data-independent"));
        for row in rows(&document["accountants"]) {
            let exact = rows(&document["divergences"]).iter().find(|exact| exact["order"] == row["order"]).unwrap();
            assert!(number(&exact["forward"]) <= number(&row["rdp"]));
        }
    }
}

#[test]
fn the_worst_neighbor_is_searched_with_the_test_too() {
    let options = "--noise laplace:2 --threshold 12 --threshold-noise gaussian:3 --worst-neighbor moved --orders 2";
    let document = json(&format!("exact --histogram 14,12,10 {options}"));
    assert_eq!(document["neighbors_searched"], 6);
    let worst = number(&document["divergences"][0]["forward"]);
    for row in rows(&document["accountants"]) {
        assert!(row["name"].as_str().unwrap().starts_with("confident-lnmax") && number(&row["rdp"]) >= worst);
    }
}

#[test]
fn accountants_of_recorded_votes_are_ordered() {
    let document = json(&format!("account {FASHION} --noise gaussian:40 --queries 0,5,7,11 --orders 2,16"));
    assert_eq!((&document["schema"], &document["queries"]), (&"leakbound.account/1".into(), &4.into()));
    let [independent, dependent, exact] =
        ["gnmax-data-independent", "gnmax-data-dependent", "exact-per-query"].map(|name| epsilon(&document, name));
    assert!(exact <= dependent && dependent <= independent, "{exact} {dependent} {independent}");
    let independent = number(&curve(&document, "gnmax-data-independent")["rdp"][1]);
    assert!((independent - 4.0 * 16.0 / 1600.0).abs() < 1e-15, "{independent}");
    let profile = rows(&curve(&document, "gnmax-data-dependent")["profile"]);
    let values: Vec<f64> = profile.iter().map(|at| number(&at["epsilon"])).collect();
    assert!(profile.len() > 15 && values.windows(2).all(|pair| pair[0] <= pair[1]), "{values:?}");
    assert_eq!(document["warnings"][0]["code"], "data-dependent-costs");
}

#[test]
fn budgets_are_spent_and_never_exceeded() {
    let command = format!("account {FASHION} {CONFIDENT} --budget 1,2 --delta 1e-6 --conversion classic --no-exact");
    let document = json(&command);
    let rows = rows(&document["budgets"]);
    let number = |row: &Value, name: &str| number(&row[name]);
    for row in rows {
        assert!(number(row, "epsilon") <= number(row, "budget") && row["exhausted"] == true, "{row}");
        assert!(number(row, "labels") <= number(row, "queries") && number(row, "label_accuracy") > 0.6, "{row}");
    }
    assert!(number(&rows[0], "queries") < number(&rows[1], "queries"));
    assert_eq!(json(&command)["budgets"], document["budgets"]);
    assert_ne!(json(&format!("{command} --seed 1"))["budgets"], document["budgets"]);
    let all = stdout(&command);
    assert!(all.contains("label accuracy") && all.contains("Mironov 2017"), "{all}");
    let csv = stdout(&format!("{command} --format csv"));
    assert!(csv.starts_with("kind,name,at,value\n") && csv.contains("\nbudget,queries,1,"), "{csv}");
}

#[test]
fn scenarios_have_accountants_and_an_exact_sum() {
    let document = json("account validation/scenarios/prompt-pate.toml --delta 1e-6");
    assert!(epsilon(&document, "exact-sum") <= epsilon(&document, "gnmax-data-independent"));
    assert_eq!(curve(&document, "exact-sum")["meaning"], "exact-of-scenario");
}

/// Teachers that are trained once, and neighbors that differ from query to query: the worst answer, and no sum.
#[test]
fn costs_that_do_not_add_up_are_not_added() {
    for (name, queries) in [("pate", 4), ("private-knn", 3)] {
        let scenario = format!("account validation/scenarios/{name}.toml");
        let document = json(&scenario);
        let worst = |document: &Value| {
            let curve = curve(document, "exact-largest-answer");
            assert_eq!(curve["meaning"], "exact-of-one-answer");
            number(&curve["epsilon"])
        };
        let alone: Vec<f64> =
            (0..queries).map(|query| worst(&json(&format!("{scenario} --queries {query}")))).collect();
        let (found, largest) = (worst(&document), alone.iter().copied().fold(0.0, f64::max));
        assert!(largest <= found && found < alone.iter().sum(), "{found} {alone:?}");
        let line = Desk::root().rejected(2, &format!("{scenario} --composition pld"));
        assert!(line.contains("composed only where answers are independent"), "{line}");
    }
}

/// ε by privacy losses lies between its two ends: far below what holds for any votes, and for the two worlds of a
/// scenario both ends meet below the conversion of the exact divergences.
#[test]
fn privacy_losses_enclose_epsilon() {
    let document = json(&format!("account {FASHION} --noise gaussian:40 --queries 0,1,2,3,4,5 --composition pld"));
    let [lower, upper] = losses(&document);
    assert!(0.0 < lower && lower <= upper && upper < epsilon(&document, "gnmax-worst-case"));
    assert!(lower <= epsilon(&document, "exact-per-query"));
    assert_eq!(document["losses"]["meaning"], "exact-given-votes");
    for at in rows(&document["losses"]["profile"]) {
        assert!(number(&at["lower"]) <= number(&at["upper"]));
    }
    let document = json("account validation/scenarios/prompt-pate.toml --composition pld");
    let [lower, upper] = losses(&document);
    assert!(lower <= upper && upper <= lower * 1.001 && upper < epsilon(&document, "exact-sum"));
    assert!(json("account validation/scenarios/prompt-pate.toml")["losses"].is_null());
}

/// DP-SGD: below the theorem by Rényi orders, and narrow; eight releases of one mechanism, on one line or on eight, cost
/// the same; releases of several kinds, each with its data.
#[test]
fn releases_of_any_mechanisms_are_composed() {
    let document = json("account validation/data/dp_sgd.toml --composition pld");
    let [lower, upper] = losses(&document);
    assert!(10.04 < lower && lower < 10.054 && lower < upper && upper < 1.002 * lower, "{lower} {upper}");
    assert!(upper < epsilon(&document, "least-theorems"));
    assert_eq!((&document["queries"], &document["losses"]["meaning"]), (&10_000.into(), &"any-data".into()));

    let desk = Desk::new();
    let account = |text: &str| {
        let mut document = account(&desk, text, "--composition pld --delta 1e-6");
        ["curves", "losses", "queries"].map(|key| document[key].take())
    };
    let one = "[[release]]\nmechanism = 'laplace:sigma=4'\n";
    assert_eq!(account(&format!("{one}times = 8\n")), account(&one.repeat(8)));
    let several = format!(
        "{one}[[release]]\nmechanism = 'gnmax:sigma=4'\nhistogram = [5, 4, 1]\ntimes = 3\n\
         [[release]]\nmechanism = 'randomized-response:sigma=2'\nhistogram = [0, 1, 0]\n"
    );
    let [curves, losses, queries] = account(&several);
    let [lower, upper] = ends(&losses["epsilon"]);
    assert!(0.25 + 0.5 < lower && lower <= upper && upper < number(&row(&curves, "name", "least-theorems")["epsilon"]));
    assert_eq!((&losses["meaning"], queries), (&"exact-given-votes".into(), 5.into()));
}

/// Of answers above a threshold every answer changes: 26 neighbors of three answers, none further than the theorem.
/// No two datasets differ in a record that is added and in one that is replaced.
#[test]
fn releases_without_common_neighbors_are_rejected() {
    let desk = Desk::new();
    let [added, replaced] = ["subsampled-gaussian", "subsampled-gaussian-replace"]
        .map(|name| release(&format!("{name}:sigma=1,rate=0.1"), 100));
    desk.file("mixed.toml", format!("{added}\n{}histogram = [1, 0]\n", replaced));
    for words in ["account mixed.toml", "account mixed.toml --composition pld"] {
        let line = desk.rejected(2, words);
        says(&line, &["line 2", "line 6", "added or removed", "subsampled-gaussian-replace about", "no two datasets"]);
    }
    // The noise of a count is about both.
    desk.file("counts.toml", format!("{}\n{}histogram = [1, 0]\n", release("laplace:sigma=9", 100), replaced));
    assert!(epsilon(&desk.json("account counts.toml"), "least-theorems") > 0.0);
}

#[test]
fn answers_above_a_threshold_are_composed() {
    let desk = Desk::new();
    let threshold = release("above-threshold:noise=laplace,threshold=3,threshold_sigma=4,sigma=8", 4);
    let answers = format!("{threshold}histogram = [3, 1, 4]\n");
    let document = account(&desk, &answers, "--composition pld --delta 1e-6");
    let [lower, upper] = losses(&document);
    // Each is pure 1/4 + 2/8.
    assert!(0.2 < lower && lower <= upper && upper < 2.0, "{lower} {upper}");
    assert!(upper < epsilon(&document, "least-theorems") && epsilon(&document, "least-theorems") <= 2.0 + 1e-9);
    assert_eq!(document["losses"]["meaning"], "exact-given-votes");
    desk.file("r.toml", &threshold);
    desk.is_rejected(1, "account r.toml", "no key `histogram`, expected the answers to the queries, such as [3, 1, 4]");
    desk.file("r.toml", format!("{threshold}histogram = [1, 1, 1, 1, 1, 1, 1]\n"));
    let line = desk.rejected(2, "account r.toml --composition pld");
    assert!(line.contains("a histogram has 2186 neighbors; 2000 different ones are looked at"), "{line}");
}

#[test]
fn releases_that_make_no_sense_are_rejected_in_one_line() {
    let desk = Desk::new();
    let write = |text: &str| desk.file("r.toml", text);
    write("[[release]]\nmechanism = 'gauss:sigma=4'\n");
    assert!(desk.rejected(1, "account r.toml").contains("r.toml: line 2, mechanism: found `gauss:sigma=4`"));
    write("[[release]]\nmechanism = 'gnss:sigma=5,beta=0.02,step=0.98,width=1,neighbor_width=0.981'\n");
    desk.is_rejected(2, "account r.toml --composition pld", "line 2: no privacy-loss distribution of gnss is known");
    write("[[release]]\nselect = { runs = 'poisson', mean = 3 }\nrelease = [{ mechanism = 'gaussian:sigma=4' }]\n");
    let line = desk.rejected(2, "account r.toml --composition pld");
    assert!(line.contains("line 1: no privacy-loss distribution of the best of several runs"), "{line}");
    write("[[release]]\nmechanism = 'gnmax:sigma=4'\nhistogram = [3, 1]\n");
    let line = desk.rejected(2, "account r.toml --composition pld --group 2");
    assert!(line.contains("line 2: no privacy-loss distribution of gnmax is known for groups"), "{line}");
    write("[[release]]\nmechanism = 'gaussian:sigma=4'\n");
    for option in ["--noise gaussian:2", "--queries 0"] {
        desk.is_rejected_as(2, &format!("account r.toml {option}"), option.split(' ').next().unwrap());
    }
}

/// A release of releases is what it is made of; the best of runs costs what the library says, and more than one run.
#[test]
fn releases_of_releases_are_added_up() {
    let desk = Desk::new();
    let account = |text: &str, options: &str| account(&desk, text, &format!("--delta 1e-6 {options}"));
    let inner = "[[release.release]]\nmechanism = 'laplace:sigma=4'\ntimes = 3\n\
                 [[release.release]]\nmechanism = 'gaussian:sigma=9'\n";
    let nested = account(&format!("[[release]]\ntimes = 4\n{inner}"), "--composition pld");
    let flat = account(&(release("laplace:sigma=4", 12) + &release("gaussian:sigma=9", 4)), "--composition pld");
    for key in ["curves", "losses", "queries"] {
        assert_eq!(nested[key], flat[key], "{key}");
    }
    let one = account(&format!("[[release]]\n{inner}"), "");
    let select = "select = { runs = 'negative-binomial', shape = 1, mean = 10 }";
    let best = account(&format!("[[release]]\n{select}\n{inner}"), "");
    let [one, best, twice] = [one, best, account(&format!("[[release]]\n{select}\ntimes = 2\n{inner}"), "")]
        .map(|document| (epsilon(&document, "least-theorems"), document["queries"].clone()));
    assert!(one.0 < best.0 && best.0 < 4.0 * one.0 && best.0 < twice.0, "{one:?} {best:?} {twice:?}");
    assert_eq!((one.1, best.1, twice.1), (4.into(), 1.into(), 2.into()));
}

/// Several records of one person: a count that moves by m, drawn records, and m answers of their own.
#[test]
fn groups_cost_more_than_one_record() {
    let desk = Desk::new();
    let both = |text: &str, options: &str| {
        let document = account(&desk, text, &format!("--composition pld {options}"));
        (losses(&document), epsilon(&document, "least-theorems"))
    };
    let release = |spec: &str| release(spec, 5);
    for (spec, same) in [("gaussian:sigma=12", "gaussian:sigma=4"), ("laplace:sigma=12", "laplace:sigma=4")] {
        let (group, one) = (both(&release(spec), "--group 3"), both(&release(same), ""));
        assert!(group.0[0] <= one.0[1] && one.0[0] <= group.0[1] && (group.1 / one.1 - 1.0).abs() < 1e-9, "{spec}");
        assert_eq!(both(&format!("group = 3\n{}", release(spec)), ""), group);
    }
    for spec in ["discrete-gaussian:sigma=9", "discrete-laplace:sigma=9", "subsampled-gaussian:sigma=4,rate=0.1"] {
        let (one, three) = (both(&release(spec), ""), both(&release(spec), "--group 3"));
        let narrow = three.0[0] <= three.1 && three.0[1] < 1.02 * three.0[0];
        assert!(three.0[0] > 2.0 * one.0[1] && narrow, "{spec}: {one:?} {three:?}");
    }
    let response = "[[release]]\nmechanism = 'randomized-response:sigma=2'\nhistogram = [1, 0, 0]\n";
    let (group, three) = (both(response, "--group 3"), both(&format!("{response}times = 3\n"), ""));
    assert!(group.0 == three.0 && (group.1 / three.1 - 1.0).abs() < 1e-12, "{group:?} {three:?}");
    let votes = "[[release]]\nmechanism = 'gnmax:sigma=40'\nhistogram = [3, 1]\n";
    let [one, four] = ["", "--group 4"].map(|group| epsilon(&account(&desk, votes, group), "least-theorems"));
    assert!(four > 3.0 * one, "{one} {four}");
}

/// A filter stops before its budget, also inside a release of releases, and says so.
#[test]
fn releases_pass_a_filter_until_the_budget_is_spent() {
    let desk = Desk::new();
    let account = |text: &str| account(&desk, text, "--budget 0.5,1,1e3");
    let document = account(&release("gaussian:sigma=40", 1000));
    let passed: Vec<u64> = rows(&document["filters"]).iter().map(|row| row["releases"].as_u64().unwrap()).collect();
    // As many as Gaussian noise of 40/√n has ε at a Rényi order: n = 96 at order 16 for ε = 1.
    assert!(passed[0] < passed[1] && (96..=110).contains(&passed[1]) && passed[2] == 1000, "{passed:?}");
    for row in rows(&document["filters"]) {
        assert!(number(&row["epsilon"]) <= number(&row["budget"]), "{row}");
        assert_eq!(row["exhausted"], row["releases"] != 1000);
    }
    let nested = account("[[release]]\ntimes = 100\nrelease = [{ mechanism = 'gaussian:sigma=40', times = 10 }]\n");
    let of = |document: &Value| -> Vec<Value> {
        rows(&document["filters"]).iter().map(|row| row["releases"].clone()).collect()
    };
    assert_eq!(of(&nested), of(&document));
    let best = "[[release]]\nselect = { runs = 'poisson', mean = 5 }\ntimes = 100\nrelease = [{ mechanism = 'gaussian:sigma=40', times = 10 }]\n";
    let selected = account(best)["filters"][1]["releases"].as_u64().unwrap();
    assert!(selected > 0 && selected < 10, "{selected}");
    let all = desk.stdout("account r.toml --budget 1");
    says(&all, &["Feldman and Zrnic 2021", "of 100 releases together"]);
    assert!(!all.contains("answers"), "{all}");
    let csv = desk.stdout("account r.toml --budget 1 --format csv");
    assert!(csv.contains("\nfilter,releases,1,"), "{csv}");
    let line = Desk::root().rejected(2, "account validation/scenarios/pate.toml --budget 1");
    assert!(line.starts_with("--budget: only recorded votes"), "{line}");
}

/// Events of dp_accounting as it writes them are the releases that they mean.
#[test]
fn events_of_dp_accounting_are_read() {
    let desk = Desk::new();
    let event = "[\"dp_accounting.dp_event\", \"SelfComposedDpEvent\", [\"dp_accounting.dp_event\", \"PoissonSampledDpEvent\", \
                 0.01, [\"dp_accounting.dp_event\", \"GaussianDpEvent\", 0.8]], 10000]";
    desk.file("e.json", event);
    let document = desk.json("account e.json --composition pld");
    let releases = json("account validation/data/dp_sgd.toml --composition pld");
    for key in ["curves", "losses", "queries"] {
        assert_eq!(document[key], releases[key], "{key}");
    }
    let event = "[\"m\", \"ComposedDpEvent\", [[\"m\", \"RepeatAndSelectDpEvent\", [\"m\", \"GaussianDpEvent\", 4.0], 10, Infinity], \
                 [\"m\", \"DiscreteLaplaceDpEvent\", 0.5, 2]]]";
    desk.file("e.json", event);
    let text = desk.stdout("account e.json");
    assert!(text.contains("1 x the best of several runs (poisson:mean=10), 1 x discrete-laplace:sigma=2"), "{text}");
    let line = desk.rejected(2, "account e.json --composition pld");
    assert!(line.contains("event.events[0]: no privacy-loss distribution of the best"), "{line}");
    desk.file("e.json", "[\"m\", \"NonPrivateDpEvent\"]");
    desk.is_rejected(1, "account e.json", "e.json: event: found NonPrivateDpEvent, expected one of");
    Desk::root().is_rejected_as(2, "account validation/scenarios/pate.toml --group 2", "--group: only releases");
}

/// Orders that lie too far apart make an exact ε larger than a bound of it: few votes and many, little noise and so much
/// that only the largest orders matter.
#[test]
fn an_exact_epsilon_is_never_above_a_bound_of_it() {
    let desk = Desk::new();
    for (counts, noise) in [
        ([40u64, 1], "gaussian:2"),
        ([40, 1], "laplace:2"),
        ([30, 20], "gaussian:5"),
        ([3, 2], "gaussian:1000"),
        ([200, 10], "gaussian:20"),
    ] {
        let votes = Array2::from_shape_fn((5, 2), |(_, class)| counts[class]);
        desk.arrays("h.npz", &[("histogram", &votes)]);
        for conversion in ["improved", "classic"] {
            let document = desk.json(&format!("account h.npz --noise {noise} --conversion {conversion}"));
            let profile = |name: &str| -> Vec<f64> {
                rows(&curve(&document, name)["profile"]).iter().map(|at| number(&at["epsilon"])).collect()
            };
            let exact = profile("exact-per-query");
            for bound in rows(&document["curves"]).iter().filter(|curve| curve["directions"] == "both") {
                let name = bound["name"].as_str().unwrap();
                let above = exact.iter().zip(profile(name)).filter(|(exact, bound)| **exact > bound * (1.0 + 1e-9));
                assert_eq!(above.count(), 0, "{counts:?} {noise} {conversion} {name}");
            }
        }
    }
}

/// 300 classes with different counts have 89,700 neighbors, more than are searched; and a single vote costs something.
#[test]
fn other_figures_stand_without_the_exact_one() {
    let desk = Desk::new();
    let histogram = |counts: &[u64]| {
        let row = Array2::from_shape_vec((1, counts.len()), counts.to_vec()).unwrap();
        desk.arrays("h.npz", &[("histogram", &row)]);
    };
    histogram(&(0..300).collect::<Vec<_>>());
    let document = desk.json("account h.npz --noise gaussian:40");
    assert_eq!((rows(&document["curves"]).len(), &document["warnings"][1]["code"]), (4, &"exact-left-out".into()));
    for (counts, noise) in [(vec![1u64], "laplace:2"), (vec![1 << 53], "gaussian:1e-3"), (vec![0; 7], "laplace:1e9")] {
        for test in ["", "--threshold 3 --threshold-noise gaussian:2 --threshold-form per-class"] {
            histogram(&counts);
            let document = desk.json(&format!("account h.npz --noise {noise} {test} --budget 1 --delta 0"));
            // Without a vote that can move nothing leaks; accountants need not see that.
            assert_eq!(epsilon(&document, "exact-per-query"), 0.0);
        }
    }
}

#[test]
fn a_page_has_the_figures() {
    let desk = Desk::new();
    let page = desk.path("a.html");
    stdout(&format!("account {FASHION} {CONFIDENT} --queries 0,1 --budget 1 --report {}", page.display()));
    let html = desk.text("a.html");
    assert!(html.matches("<svg").count() == 2 && html.contains("confident-gnmax-expected"), "{}", html.len());
}

#[test]
fn what_makes_no_sense_is_rejected_in_one_line() {
    let rows = &rows_of("cli_account", "what_makes_no_sense_is_rejected_in_one_line");
    Desk::root().rejects("account", rows);
}
