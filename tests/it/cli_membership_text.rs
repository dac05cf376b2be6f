//! `leakbound membership text`: scores of texts from log-probabilities of their tokens.

use crate::arrays::{Arrays, packed};
use crate::desk::Desk;
use crate::json::{codes, number, numbers, rows};
use crate::report_pages::checked;
use ndarray::{Array1, Array2};
use serde_json::Value;
use std::collections::HashMap;

const FILE: &str = "validation/data/text_tokens.jsonl";

/// Area and advantage, sequences without a value, and the most vulnerable sequence with its score.
type Expected = (&'static str, [f64; 2], u64, (u64, f64));

/// By NumPy and the zlib of CPython, from the definitions, with pairs counted one by one.
const EXPECTED: [Expected; 8] = [
    ("loss", [0.8555555555555555, 0.6333333333333333], 0, (80, -1.6588181818181817)),
    ("zlib", [0.7377777777777778, 0.4000000000000001], 0, (97, -0.035502354788069075)),
    ("min-k", [0.8, 0.5], 0, (97, -3.045)),
    ("min-k-plus-plus", [0.8122222222222222, 0.5333333333333333], 0, (97, -0.6016436736816129)),
    ("reference", [0.95, 0.8666666666666667], 0, (117, 2.8680000000000003)),
    ("neighborhood", [0.93, 0.7333333333333334], 0, (117, 3.5548333333333337)),
    ("surprise", [0.6477777777777778, 0.3], 72, (97, -2.854)),
    ("exposure", [0.7277777777777777, 0.4666666666666667], 0, (39, 3.9068905956085187)),
];

fn lines() -> Vec<Value> {
    let text = Desk::root().text(FILE);
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A folder with the same sequences as an archive `t.npz`, with the sizes of compressed texts.
fn archived(bytes: &[u64], compressed: bool) -> Desk {
    let (desk, lines) = (Desk::new(), lines());
    let of = |key: &str| -> Vec<Vec<f64>> { lines.iter().map(|line| numbers(&line[key])).collect() };
    let (mut offsets, mut end) = (vec![0i64], 0);
    for tokens in of("log_probabilities") {
        end += tokens.len() as i64;
        offsets.push(end);
    }
    let flat = |name: &str| Array1::from(of(name).concat());
    let losses = |name: &str| {
        let losses = of(name);
        Array2::from_shape_vec((losses.len(), losses[0].len()), losses.concat()).unwrap()
    };
    let mut known: HashMap<&str, i32> = HashMap::new();
    let documents = lines.iter().map(|line| {
        let next = known.len() as i32;
        *known.entry(line["document"].as_str().unwrap()).or_insert(next)
    });
    let arrays: &Arrays<'_> = &[
        ("offsets", &Array1::from(offsets)),
        ("log_probabilities", &flat("log_probabilities")),
        ("log_probability_mean", &flat("log_probability_mean")),
        ("log_probability_deviation", &flat("log_probability_deviation")),
        ("reference_log_probabilities", &flat("reference_log_probabilities")),
        ("neighbor_losses", &losses("neighbor_losses")),
        ("candidate_losses", &losses("candidate_losses")),
        ("member", &Array1::from_iter(lines.iter().map(|line| line["member"].as_bool().unwrap()))),
        ("zlib_bytes", &Array1::from(bytes.to_vec())),
        ("document", &Array1::from_iter(documents)),
    ];
    desk.file("t.npz", packed(compressed, arrays));
    desk
}

#[test]
fn all_scores_are_those_of_their_definitions() {
    let document = Desk::root().json(&format!("membership text {FILE}"));
    assert_eq!(document["schema"], "leakbound.membership-text/1");
    assert_eq!(codes(&document), ["sizes-computed", "undecided-sequences", "few-non-members", "few-non-members"]);
    let attacks = rows(&document["attacks"]);
    for (row, (score, [auc, advantage], undecided, (sequence, value))) in attacks.iter().zip(EXPECTED) {
        assert_eq!(row["score"], score);
        let top = rows(&document["vulnerable"]).iter().find(|row| row["score"] == score).unwrap();
        // Sizes of compressed texts differ by some bytes from those of CPython.
        let loose = if score == "zlib" { 0.02 } else { 1e-12 };
        assert!((number(&row["auc"]) - auc).abs() < loose, "{score} {}", row["auc"]);
        assert!((number(&row["advantage"]) - advantage).abs() < loose.max(1e-12) * 2.0, "{score} {}", row["advantage"]);
        assert!((number(&top["value"]) - value).abs() < loose.min(3e-3), "{score} {top}");
        assert_eq!((row["undecided"].as_u64(), top["sequence"].as_u64()), (Some(undecided), Some(sequence)), "{score}");
        assert_eq!(row["auc_validity"], "finite-sample");
        for at in rows(&row["at"]) {
            // The rule that the limits are about: a score of a non-member above which few of them are.
            assert!(at["above"].is_number() && at.get("threshold").is_none(), "{at}");
            assert!(number(&at["fpr"]) <= number(&at["target_fpr"]), "{at}");
        }
        assert!(number(&row["auc_lower"]) <= auc && auc <= number(&row["auc_upper"]) + loose);
    }
    // Eight intervals of areas, and three limits at each of two rates.
    assert_eq!(number(&document["each_failure_probability"]), 0.05 / 56.0);
    assert_eq!(attacks[0]["undecided_documents"], 0);
    let surprise = attacks[6]["undecided_documents"].as_u64().unwrap();
    assert!((1..60).contains(&surprise), "{surprise}");
    assert_eq!(rows(&document["vulnerable"]).len(), 80);
    assert_eq!(document["sizes"]["members"], 30);
}

#[test]
fn archives_say_the_same_as_lines() {
    let of_lines = Desk::root().json(&format!(
        "membership text {FILE} --scores min-k,min-k-plus-plus,surprise,reference,neighborhood,exposure,zlib,loss"
    ));
    let bytes = vec![80; lines().len()];
    for compressed in [false, true] {
        let desk = archived(&bytes, compressed);
        let of_arrays = desk.json(
            "membership text t.npz --scores min-k,min-k-plus-plus,surprise,reference,neighborhood,exposure,zlib,loss",
        );
        assert!(!codes(&of_arrays).contains(&"sizes-computed"));
        for (line, array) in rows(&of_lines["attacks"]).iter().zip(rows(&of_arrays["attacks"])) {
            // The sizes of texts are others here.
            assert!(line == array || line["score"] == "zlib", "{line} {array}");
        }
        // With one size for all it is the loss.
        assert_eq!(of_arrays["attacks"][6]["auc"], of_arrays["attacks"][7]["auc"]);
    }
}

/// As pandas and Polars write them: other compressions, groups of rows, types of lists.
#[test]
fn tables_say_the_same_as_lines() {
    let of_lines = Desk::root().json(&format!("membership text {FILE}"));
    for table in ["text_tokens.parquet", "text_tokens_polars.parquet"] {
        let mut of_table = Desk::root().json(&format!("membership text validation/data/{table}"));
        assert_eq!(of_table["inputs"][0]["name"], format!("validation/data/{table}"));
        for key in ["inputs", "options", "command"] {
            of_table[key] = of_lines[key].clone();
        }
        assert_eq!(of_table, of_lines, "{table}");
    }
}

#[test]
fn text_csv_and_page_have_a_row_for_each_score() {
    let desk = Desk::new();
    desk.file("t.jsonl", Desk::root().text(FILE));
    let ran = desk.run("membership text t.jsonl --fpr 0.1 --report page.html");
    assert_eq!(ran.status, 0, "{ran:?}");
    for (score, ..) in EXPECTED {
        assert!(ran.stdout.contains(&format!("  {score} ")), "{score}: {}", ran.stdout);
    }
    assert!(ran.stdout.contains("60 documents, which all limits count"), "{}", ran.stdout);
    let page = desk.text("page.html");
    checked(&page, |_| ());
    assert!(page.contains("ROC of each score") && page.contains("text-") && page.contains("score &gt; "), "{page}");
    let csv = desk.run("membership text t.jsonl --format csv").stdout;
    assert_eq!(csv.lines().count(), 1 + 8 * 2, "{csv}");
    assert!(csv.starts_with("score,members,non_members,auc,auc_lower,auc_upper,"), "{csv}");
}

#[test]
fn what_is_not_recorded_is_left_out_unless_it_is_named() {
    let desk = Desk::new();
    let line = |value: f64, member: bool| format!("{{\"log_probabilities\": [{value}, -1], \"member\": {member}}}\n");
    let text: String = (0..20).map(|place| line(-0.1 * f64::from(place), place % 2 == 0)).collect();
    desk.file("t.jsonl", text);
    let document = desk.json("membership text t.jsonl --fpr 0.2");
    let scores: Vec<&str> = rows(&document["attacks"]).iter().map(|row| row["score"].as_str().unwrap()).collect();
    assert_eq!(scores, ["loss", "min-k"]);
    assert_eq!(codes(&document), [vec!["score-left-out"; 6], vec!["documents-unknown"]].concat());
    assert_eq!(document["attacks"][0]["at"][0]["validity"], "heuristic");
    let told = desk.rejected(2, "membership text t.jsonl --scores loss,zlib");
    assert_eq!(told, "score of texts: zlib needs `zlib_bytes` or `text`, which is not recorded");
    desk.file("one.jsonl", line(-1.0, true));
    let told = desk.rejected(1, "membership text one.jsonl");
    assert_eq!(told, "one.jsonl: whole file: found no non-members, expected sequences of both kinds");
    assert!(desk.rejected(2, "membership text t.jsonl --share 0").contains("share of the tokens = 0 is not in (0, 1]"));
}

/// 24 models, each trained on about half of 20 texts, which it finds easier. The texts differ more in difficulty than members
/// from others, so that only a comparison of models tells them apart.
#[test]
fn values_of_several_models_feed_lira() {
    let desk = Desk::new();
    for model in 0..24u32 {
        let line = |text: u32| {
            let member = ((model * model + 3 * text * text + model * text) % 13).is_multiple_of(2);
            let noise = f64::from((model * 7 + text * 11) % 13) / 50.0;
            let value = -1.0 - f64::from(text) - noise + if member { 0.6 } else { 0.0 };
            format!("{{\"log_probabilities\": [{value}, {value}], \"member\": {member}, \"document\": {text}}}\n")
        };
        // Each model's program goes through the texts in an order of its own.
        desk.file("t.jsonl", (0..20).map(|place| line((place * 7 + model) % 20)).collect::<String>());
        let options = format!("t.jsonl --scores loss --fpr 0.2 --scores-output m{model:02}.npz");
        let alone = desk.json(&format!("membership text {options}"));
        assert!(number(&alone["attacks"][0]["auc"]) < 0.75, "{alone}");
    }
    let lira = desk.json("membership lira m*.npz --variance pooled --resamples 0");
    assert!(number(&lira["levels"][0]["auc"]) > 0.95, "{}", lira["levels"][0]);
    desk.is_rejected(2, "membership text t.jsonl --scores loss,min-k --scores-output x.npz", "name one by --scores");
    let line = desk.rejected(1, "membership text t.jsonl --scores loss --scores-output t.jsonl");
    assert!(line.contains("a file that this command reads or writes otherwise"), "{line}");
}

#[test]
fn a_document_without_a_value_makes_no_recording() {
    let desk = Desk::new();
    desk.file("t.jsonl", Desk::root().text(FILE));
    let line = desk.rejected(2, "membership text t.jsonl --scores surprise --scores-output x.npz");
    let why = " of 60 documents have no value of surprise";
    assert!(line.starts_with("--scores-output: ") && line.contains(why), "{line}");
    assert!(!desk.path("x.npz").exists());
    let ran = desk.run("membership text t.jsonl --scores surprise --fpr 0.1");
    let said = ran.stdout + &ran.stderr;
    assert!(said.contains("72 of 129 sequences and ") && said.contains("rank lowest, by convention"), "{said}");
}
