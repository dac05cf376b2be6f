//! `leakbound audit stream` as its user sees it: bounds, claims, rejections, and states that go on bit for bit.

use crate::congruence::Congruence;
use crate::desk::{Desk, rows_of, table};
use serde_json::Value;
use std::fs;

/// The document of a run that ends with this status and says nothing else.
fn answer(desk: &Desk, status: i32, words: &str, stdin: &str) -> Value {
    desk.fed(&format!("{words} --format json"), stdin).json(status)
}

/// The content of a saved state.
pub fn state(desk: &Desk, name: &str) -> Value {
    serde_json::from_str(desk.text(name).split_once('\n').unwrap().1).unwrap()
}

const HEADER: &str = "world,output\n";

/// Rows of a mechanism that answers yes in 70 % under s and 50 % under s_prime, by a fixed linear congruence.
fn rows(count: usize) -> Vec<String> {
    let mut congruence = Congruence(12_345);
    (0..count)
        .map(|row| {
            let (world, yes) = if row % 2 == 0 { ("s", 0.7) } else { ("s_prime", 0.5) };
            format!("{world},{}\n", if congruence.uniform() < yes { "yes" } else { "no" })
        })
        .collect()
}

fn text(rows: &[String]) -> String {
    HEADER.to_owned() + &rows.concat()
}

#[test]
fn a_stream_is_bounded_and_described() {
    let desk = Desk::new();
    desk.file("t.csv", text(&rows(20_000)));
    let document = desk.json("audit stream t.csv --orders 2,8");
    assert_eq!(document["schema"], "leakbound.audit-stream/1");
    assert_eq!(document["inputs"][0]["name"], "t.csv");
    let counted = ["outputs", "pairs", "outcomes"].map(|name| document[name].as_u64());
    assert_eq!(counted, [10_000, 10_000, 2].map(Some));
    let bounds = document["bounds"].as_array().unwrap();
    assert_eq!(bounds.len(), 4);
    // The truth: ln(0.7²/0.5 + 0.3²/0.5) = 0.1484.
    let first = bounds[0]["rdp_lower"].as_f64().unwrap();
    assert!(bounds[0]["order"] == 2.0 && first > 0.1 && first < 0.1484, "{first}");
    assert_eq!((&bounds[0]["method"], &bounds[0]["validity"]), (&"e-process".into(), &"finite-sample".into()));
    // From a pipe the same.
    let piped = answer(&desk, 0, "audit stream - --orders 2,8", &text(&rows(20_000)));
    assert_eq!(piped["bounds"], document["bounds"]);
    assert_eq!(piped["inputs"][0]["sha256"], document["inputs"][0]["sha256"]);
    let shown = desk.stdout("audit stream t.csv");
    let first = "Audit of a stream, t.csv\n10000 outputs of s, 10000 of s_prime, 10000 pairs, 2 outcomes\n";
    assert!(shown.starts_with(first), "{shown}");
    assert_eq!(desk.stdout("audit stream t.csv --format csv").lines().count(), 3);
}

/// All outputs of one world before those of the other: they wait as counts, and the bound is as good.
#[test]
fn worlds_may_come_one_after_the_other() {
    let desk = Desk::new();
    let mut rows = rows(20_000);
    rows.sort_by_key(|row| row.starts_with("s_prime"));
    let document = answer(&desk, 0, "audit stream -", &text(&rows));
    let bound = document["bounds"][0]["rdp_lower"].as_f64().unwrap();
    assert!(document["pairs"] == 10_000 && bound > 0.1 && bound < 0.1484, "{bound}");
    let document = answer(&desk, 0, "audit stream -", &text(&rows[..12_000]));
    assert_eq!(document["pairs"], 2_000);
    assert_eq!(document["warnings"][0]["code"], "unpaired");
}

#[test]
fn reading_stops_as_soon_as_a_claim_is_refuted() {
    let desk = Desk::new();
    let all = text(&rows(20_000));
    let document = answer(&desk, 3, "audit stream - --claim-rdp 2:0.01 --direction forward", &all);
    let line = document["stopped_at_line"].as_u64().unwrap();
    assert!(line < 3_000, "{line}");
    assert_eq!(document["claims"][0]["refuted"], true);
    assert!(document["claims"][0]["lower"].as_f64().unwrap() > 0.01);
    assert_eq!(document["outputs"].as_u64().unwrap() + document["outputs_neighbor"].as_u64().unwrap(), line - 1);
    // What follows is not read, so that it may be wrong; a true claim reads it.
    let tail = format!("{all}s_second,yes\n");
    answer(&desk, 3, "audit stream - --claim-epsilon 0.1 --delta 0.01", &tail);
    let line = desk.fed("audit stream - --claim-epsilon 1 --delta 0.01", &tail).line(1);
    assert!(line.contains("line 20002, column world"), "{line}");
    let document = answer(&desk, 0, "audit stream - --claim-rdp 2:0.15 --claim-rdp 8:0.34 --claim-epsilon 0.6", &all);
    assert_eq!(document["stopped_at_line"], Value::Null);
    assert_eq!(document["claims"].as_array().unwrap().len(), 3);
}

#[test]
fn a_saved_stream_goes_on_bit_for_bit() {
    let desk = Desk::new();
    let rows = rows(9_000);
    let options = "--orders 2,5 --claim-epsilon 2 --horizon 4000 --seed 5";
    let whole = answer(&desk, 0, &format!("audit stream - {options} --state whole"), &text(&rows));
    let mut last = Value::Null;
    for part in [&rows[..1_001], &rows[1_001..1_002], &rows[1_002..8_000], &rows[8_000..]] {
        last = answer(&desk, 0, &format!("audit stream - {options} --state parts"), &text(part));
    }
    for member in ["bounds", "claims", "pairs", "outputs", "outputs_neighbor", "outcomes", "warnings"] {
        assert_eq!(last[member], whole[member], "{member}");
    }
    // The same pairs to the last bit; the batches that they came in differ.
    assert_eq!(state(&desk, "parts")["stream"], state(&desk, "whole")["stream"]);
    assert_eq!(["whole", "parts"].map(|name| state(&desk, name)["batches"].as_array().unwrap().len()), [1, 4]);
    // A refuted claim stays refuted, and nothing more is read.
    let question = "audit stream - --claim-rdp 2:0.01 --state refuted";
    answer(&desk, 3, question, &text(&rows));
    answer(&desk, 3, question, "not even a header");
}

#[test]
fn a_state_answers_only_what_it_was_asked() {
    let desk = Desk::new();
    let text = text(&rows(100));
    answer(&desk, 0, "audit stream - --state s", &text);
    let another = "s: whole file: found a state of `--direction both --failure-probability 0.05 --seed 0`, expected \
                   one of `--orders 3 --direction both --failure-probability 0.05 --seed 0`, as requested; hint: what is \
                   asked must be fixed before the outputs are seen";
    assert_eq!(desk.fed("audit stream - --state s --orders 3", &text).line(1), another);
    let good = fs::read(desk.path("s")).unwrap();
    for (change, words) in [
        (good[..good.len() - 1].to_vec(), "changed or cut off"),
        ([&good[..], b" "].concat(), "changed or cut off"),
        (String::from_utf8(good.clone()).unwrap().replace("yes", "yeS").into_bytes(), "changed or cut off"),
        (b"world,output\n".to_vec(), "another kind of file"),
        (Vec::new(), "another kind of file"),
    ] {
        fs::write(desk.path("s"), &change).unwrap();
        let line = desk.fed("audit stream - --state s", &text).line(1);
        assert!(line.starts_with("s: whole file: found") && line.contains(words), "{line}");
        assert_eq!(fs::read(desk.path("s")).unwrap(), change);
    }
}

#[test]
fn wrong_rows_are_named_and_leave_the_state_alone() {
    let desk = Desk::new();
    table(&rows_of("audit_stream", "wrong_rows_are_named_and_leave_the_state_alone"), |text| {
        let line = desk.fed("audit stream - --state s", text).line(1);
        assert!(!desk.path("s").exists());
        line
    });
    assert!(desk.rejected(1, "audit stream absent.csv").starts_with("absent.csv: cannot read: "));
    let folder = ".: whole file: found a directory, expected a file; hint: name one file inside it";
    assert_eq!(desk.rejected(1, "audit stream ."), folder);
}

/// Ctrl-C while the program waits for more: what was read is saved, and the rest makes it what it would have been.
#[cfg(unix)]
#[test]
fn an_interrupted_stream_goes_on() {
    use crate::desk::{PROGRAM, Ran, signal};
    use std::io::Write;
    use std::process::{Command, Stdio};
    let desk = Desk::new();
    let rows = rows(3_000);
    let options = "audit stream - --orders 2 --seed 3";
    // What starts the tests may ignore Ctrl-C, as a shell does for its background.
    let mut child = Command::new("env")
        .args(["--default-signal=INT", PROGRAM])
        .current_dir(desk.path(""))
        .args(options.split_whitespace())
        .args(["--state", "s.txt"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // The last line is not complete, and must not be taken for one.
    stdin.write_all((text(&rows[..1_000]) + "s,ye").as_bytes()).unwrap();
    stdin.flush().unwrap();
    // Long enough to begin; how far it came by then does not matter.
    std::thread::sleep(std::time::Duration::from_secs(2));
    signal(&child, "-INT");
    let told = Ran::from(child.wait_with_output().unwrap()).line(130);
    drop(stdin);
    let line = told.split("interrupted after line ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    let read = line.parse::<usize>().unwrap().saturating_sub(1);
    assert!(read <= 1_000, "{told}");
    let rest = answer(&desk, 0, &format!("{options} --state s.txt"), &text(&rows[read..]));
    let whole = answer(&desk, 0, options, &text(&rows));
    assert_eq!((&rest["bounds"], &rest["pairs"]), (&whole["bounds"], &whole["pairs"]));
}
