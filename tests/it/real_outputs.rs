//! Outputs that are real numbers: rejected where nothing could be proved of them, and counted in bins that were fixed
//! before.

use crate::audit_stream::state;
use crate::congruence::Congruence;
use crate::desk::{Desk, says};
use crate::json::{codes, number, rows};
use std::fmt::Write;

/// Pairs of outputs of a number plus Laplace noise of scale 1: the number is 0 under s and `shift` under s_prime. By a
/// fixed linear congruence.
fn laplace(pairs: usize, shift: f64) -> String {
    let mut congruence = Congruence(54_321);
    let mut noise = move || {
        let uniform = ((congruence.draw() >> 11) as f64 + 0.5) / (1u64 << 53) as f64 - 0.5;
        -uniform.signum() * (1.0 - 2.0 * uniform.abs()).ln()
    };
    let mut text = "world,output\n".to_owned();
    for _ in 0..pairs {
        writeln!(text, "s,{}\ns_prime,{}", noise(), shift + noise()).unwrap();
    }
    text
}

/// (1, 0)-differentially private outputs. Before, both commands answered "not refuted" to every claim.
#[test]
fn unbinned_numbers_are_rejected_and_binned_ones_refute_a_false_claim() {
    let desk = Desk::new();
    desk.file("l.csv", laplace(2000, 1.0));
    let line = desk.rejected(1, "audit counts l.csv --claim-epsilon 0.5");
    assert_eq!(
        line,
        "l.csv: whole file: found 4000 different outcomes in 4000 outputs, expected outcomes that repeat: what is seen \
         once or never in a world shows nothing of its probability; hint: count them in bins: --bins quantile:20 \
         --pilot-fraction 0.1"
    );
    assert!(desk.rejected(1, "audit counts l.csv --pilot-fraction 0.1").contains("--bins quantile:20"));
    for bins in ["quantile:20 --pilot-fraction 0.1", "edges:-1,0,0.5,1,2", "edges:0.5 --pilot-fraction 0.1"] {
        let arguments = format!("audit counts l.csv --bins {bins} --delta 0 --claim-epsilon");
        let document = desk.answer(3, &format!("{arguments} 0.5"));
        assert_eq!(document["claims"][0]["refuted"], true);
        // What is true is refuted with probability 0.05 at most: the seed is fixed.
        let document = desk.json(&format!("{arguments} 1 --trade-off"));
        assert!(rows(&document["epsilon"]).iter().all(|row| number(&row["epsilon_lower"]) <= 1.0));
        let text = desk.stdout(&format!("{arguments} 1"));
        assert!(text.len() < 10_000, "{}", text.len());
    }
    let document = desk.json("audit counts l.csv --bins quantile:20 --pilot-fraction 0.1");
    assert_eq!(document["warnings"][0]["code"], "bins-chosen");
    assert_eq!(desk.json("audit counts l.csv --bins quantile:20 --pilot-fraction 0.1"), document);
    let other = desk.json("audit counts l.csv --bins quantile:20 --pilot-fraction 0.1 --seed 1");
    assert_ne!(other["warnings"], document["warnings"]);
}

#[test]
fn binning_says_what_it_needs() {
    let desk = Desk::new();
    desk.file("l.csv", laplace(200, 1.0));
    desk.file("nan.csv", "world,output\ns,0.5\ns_prime,nan\n");
    desk.file("words.csv", "world,output\ns,0.5\ns_prime,cat\n");
    desk.is_rejected(2, "audit counts l.csv --bins quantile:5", "add --pilot-fraction 0.1, or declare");
    for command in ["audit counts", "audit stream"] {
        let line = desk.rejected(1, &format!("{command} nan.csv --bins edges:0"));
        assert!(line.starts_with("nan.csv: line 3, column output: found `nan`"), "{line}");
        let line = desk.rejected(1, &format!("{command} words.csv --bins edges:0"));
        assert!(line.ends_with("expected a number, to be counted in bins"), "{line}");
    }
    for wrong in ["quantile:1", "quantile:many", "edges:2,1", "edges:inf", "mean:3", "20"] {
        desk.rejected(2, &format!("audit counts l.csv --bins {wrong}"));
    }
    // A pilot from another file, and infinite outputs, which lie in the outer bins.
    desk.file("inf.csv", laplace(200, 1.0) + "s,inf\ns_prime,-inf\n");
    let document = desk.json("audit counts inf.csv --pilot l.csv --bins quantile:4");
    assert_eq!(rows(&document["inputs"]).len(), 2);
    // Numbers with few repeats are bounded, with a warning.
    let rounded = |line: &str| match line.split_once(',') {
        Some((world, output)) => format!("{world},{:.2}\n", output.parse::<f64>().unwrap_or_default()),
        None => line.to_owned(),
    };
    let text: String = laplace(1000, 1.0).lines().skip(1).map(rounded).collect();
    desk.file("r.csv", format!("world,output\n{text}"));
    let document = desk.json("audit counts r.csv");
    assert!(codes(&document).contains(&"few-repeats"), "{:?}", codes(&document));
}

#[test]
fn a_stream_of_numbers_is_rejected_or_binned_by_its_first_outputs() {
    let desk = Desk::new();
    let text = laplace(2000, 1.0);
    desk.file("l.csv", &text);
    let line = desk.rejected(1, "audit stream l.csv --claim-epsilon 0.5");
    assert!(line.contains("found 1024 different outcomes in 1024 outputs"), "{line}");
    assert!(line.ends_with("--bins quantile:20"), "{line}");
    let document = desk.answer(3, "audit stream l.csv --bins quantile:8 --delta 0 --claim-epsilon 0.5");
    assert!(document["stopped_at_line"].as_u64().unwrap() < 3000);
    let bins = &document["bins"];
    assert_eq!((&bins["pilot_outputs"], &bins["pilot_outputs_neighbor"]), (&80.into(), &80.into()));
    assert_eq!(rows(&bins["labels"]).len(), 8);
    let arguments = "--bins quantile:8 --delta 0 --claim-epsilon 1";
    let whole = desk.json(&format!("audit stream l.csv {arguments}"));
    assert_eq!(whole["claims"][0]["refuted"], false);
    // In two parts, the first of which ends within the pilot.
    let lines: Vec<&str> = text.lines().collect();
    desk.file("first.csv", lines[..101].join("\n") + "\n");
    desk.file("second.csv", format!("world,output\n{}\n", lines[101..].join("\n")));
    let first = desk.json(&format!("audit stream first.csv {arguments} --state s"));
    assert_eq!((&first["warnings"][0]["code"], &first["pairs"]), (&"pilot-lasts".into(), &0.into()));
    let second = desk.json(&format!("audit stream second.csv {arguments} --state s"));
    for member in ["bounds", "bins", "pairs"] {
        assert_eq!(second[member], whole[member], "{member}");
    }
    let shown = desk.stdout(&format!("audit stream l.csv {arguments}"));
    says(&shown, &["the first outputs (80 of s, 80 of s_prime) choose the bins and are not bounded"]);
    let edges = desk.answer(3, "audit stream l.csv --bins edges:0,0.5,1 --delta 0 --claim-epsilon 0.5");
    assert_eq!((&edges["outcomes"], &edges["bins"]["pilot_outputs"]), (&4.into(), &0.into()));
    // Another rule is another question.
    let line = desk.rejected(1, "audit stream second.csv --bins quantile:9 --delta 0 --claim-epsilon 1 --state s");
    assert!(line.contains("must be fixed before"), "{line}");
}

/// Wherever a run ends, within the pilot or after it, the same input goes on from there: bins, bounds and state are
/// those of one run, also where it takes several pieces to know that rows were counted before.
#[test]
fn a_binned_stream_goes_on_where_it_ended() {
    let desk = Desk::new();
    let text = laplace(3000, 1.0);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    desk.file("whole.csv", &text);
    for (pilot, cut) in [(160, 100), (160, 2_000), (5_000, 4_500), (5_000, 5_500)] {
        let audit = format!("--bins quantile:8 --pilot-outputs {pilot} --state-seconds 0 --state");
        let name = |kind: &str| format!("{kind}-{pilot}-{cut}");
        let whole = desk.json(&format!("audit stream whole.csv {audit} {}", name("whole")));
        let wanted = state(&desk, &name("whole"));
        assert_eq!(wanted["rows"], serde_json::json!([3000, 3000]));
        // A log that grows, and a file whose next line is wrong at first.
        desk.file("log.csv", lines[..cut].concat());
        desk.json(&format!("audit stream log.csv {audit} {}", name("log")));
        assert!(desk.rejected(1, &format!("audit stream log.csv {audit} {}", name("log"))).contains("counted already"));
        assert_eq!(state(&desk, &name("log"))["bins"]["taken"][0], (cut / 2).min(pilot / 2));
        desk.file("log.csv", &text);
        let log = desk.json(&format!("audit stream log.csv {audit} {} --repeated skip", name("log")));
        desk.file("wrong.csv", lines[..cut].concat() + "s,many\n");
        // What came before the wrong line is saved.
        desk.run(&format!("audit stream wrong.csv {audit} {}", name("wrong"))).line(1);
        let wrong = desk.json(&format!("audit stream whole.csv {audit} {}", name("wrong")));
        for (document, name) in [(log, name("log")), (wrong, name("wrong"))] {
            assert_eq!(document["warnings"][0]["code"], "resumed");
            for member in ["bounds", "bins", "pairs", "outputs", "outputs_neighbor", "outcomes"] {
                assert_eq!(document[member], whole[member], "{name} {member}");
            }
            let found = state(&desk, &name);
            for member in ["bins", "rows", "stream"] {
                assert_eq!(found[member], wanted[member], "{name} {member}");
            }
        }
    }
}
