//! Outputs of programs as they are read, and programs that give none.

#![cfg(unix)]

use crate::desk::{Desk, Ran};
use crate::json::{codes, number, rows, texts};
use std::time::{Duration, Instant};

const CLAIM: &str = "--claim-epsilon 1 --delta 0 --stop-early --shrink-runs 0";

/// An audit of a program that prints one text for datasets with records and another for the empty one, as an output of a
/// request or of a run.
fn audit(desk: &Desk, words: &[&str]) -> Ran {
    let fixed = ["audit", "mechanism", "--dataset", "[1]", "--relation", "add-remove"];
    let claim: Vec<&str> = CLAIM.split_whitespace().collect();
    desk.run(&[&fixed[..], &claim, words].concat())
}

/// The one line of an audit that fails.
fn line(ran: &Ran) -> String {
    assert_eq!(ran.status, 1, "{ran:?}");
    ran.line(1)
}

/// A program that answers requests with one of these bytes as each output.
fn answering(desk: &Desk) -> impl Fn(&str, &str) -> Ran {
    desk.file(
        "answer.py",
        "import json, sys\nfull, empty = (text.encode('latin-1') for text in sys.argv[1:])\n\
         for line in sys.stdin:\n    r = json.loads(line)\n    \
         outputs = b','.join([full if r['dataset'] else empty] * r['runs'])\n    \
         sys.stdout.buffer.write(b'{\"id\":%d,\"outputs\":[%s]}\\n' % (r['id'], outputs))\n    sys.stdout.flush()\n",
    );
    let desk = desk.path("");
    move |full: &str, empty: &str| {
        let program = format!("{}/answer.py", desk.display());
        let command = shell_words::join(["env", "PYTHONUTF8=1", "python3", &program, full, empty]);
        audit(&Desk::new(), &["--program", &command, "--runs", "1000"])
    }
}

/// A function of the output that differs between two worlds refutes any claim; equal values refute none.
#[test]
fn outputs_that_differ_are_never_one() {
    let desk = Desk::new();
    let told_apart = answering(&desk);
    for (full, empty) in [
        ("18446744073709551616", "18446744073709551617"),
        ("-9223372036854775809", "-9223372036854775810"),
        ("9007199254740992", "9007199254740993"),
        ("0.12345678901234567891", "0.12345678901234567892"),
        ("[2, 1e400]", "[2, 1e401]"),
        ("{\"a\": [18446744073709551616]}", "{\"a\": [18446744073709551617]}"),
        ("true", "\"true\""),
        ("1", "\"1\""),
        ("null", "\"null\""),
    ] {
        assert_eq!(told_apart(full, empty).status, 3, "{full} and {empty}");
    }
    for (full, empty) in [
        ("0", "-0.0"),
        ("[0, {\"a\": 0}]", "[-0.0, {\"a\": -0}]"),
        ("[0.0, 0.0]", "[-0.0, 0.0]"),
        ("1", "1.00e0"),
        ("100", "1E+2"),
        ("{\"a\": 1, \"b\": 2}", "{\"b\": 2.0, \"a\": 1}"),
        ("\"a\"", "\"\\u0061\""),
        ("NaN", "\"nan\""),
    ] {
        assert_eq!(told_apart(full, empty).status, 0, "{full} and {empty}");
    }
    for (output, expected) in [
        ("{\"a\": 1, \"a\": 2}", "the key `a` comes twice in an object"),
        ("\"\u{ff}\"", "has the byte 0xFF after "),
        ("\"\\ud800\"", "`\"\\ud800\"`: "),
        ("\"\\udc00\"", "`\"\\udc00\"`: "),
    ] {
        let line = line(&told_apart(output, output));
        assert!(line.contains("malformed: ") && line.contains(expected), "{line}");
    }
}

/// The same for programs that are run once per output, which may print anything.
#[test]
fn whatever_is_printed_is_an_output_of_its_own() {
    let desk = Desk::new();
    desk.file("print.sh", "case $(cat \"$3\") in '[]') printf \"$2\";; *) printf \"$1\";; esac\n");
    let told_apart = |full: &str, empty: &str| {
        let command = shell_words::join(["sh", "print.sh", full, empty, "{dataset}"]);
        audit(&desk, &["--exec", &command, "--runs", "300"])
    };
    for (full, empty) in [
        ("\\377", "\\376"),
        ("a\\377", "a\\376"),
        ("18446744073709551616", "18446744073709551617"),
        ("yes", "\"yes\""),
        ("yes", "yes "),
        ("yes", "yes\\n\\n"),
        ("1", "01"),
        ("{\"a\":1,\"a\":2}", "{\"a\":2}"),
    ] {
        let ran = told_apart(full, empty);
        assert_eq!(ran.status, 3, "{full} and {empty}: {ran:?}");
    }
    for (full, empty) in [("0", "-0.0\\n"), ("yes", "yes\\n"), ("[1,2]", " [1, 2.0]\\n")] {
        let ran = told_apart(full, empty);
        assert_eq!(ran.status, 0, "{full} and {empty}: {ran:?}");
    }
}

/// The number of records with Laplace noise in doubles, as a number, in a vector and in an object.
fn float_noise(desk: &Desk) {
    desk.file(
        "noise.py",
        "import json, math, random, sys\nfor line in sys.stdin:\n    r = json.loads(line)\n    \
         s = random.Random(r['seed'])\n    \
         noise = lambda: s.choice([-1, 1]) * math.log(1 - s.random())\n    n = len(r['dataset'])\n    \
         one = {'number': lambda: n + noise(), 'vector': lambda: [n + noise(), noise()],\n           \
         'object': lambda: {'n': n + noise(), 'k': 'a'}}[sys.argv[1]]\n    \
         print(json.dumps({'id': r['id'], 'outputs': [one() for _ in range(r['runs'])]}), flush=True)\n",
    );
}

/// What only the last binary places show is said in the verdict, and is gone on a grid.
#[test]
fn rounded_outputs_show_no_binary_places() {
    let desk = Desk::new();
    float_noise(&desk);
    let audit = |kind: &str, more: &str| {
        let fixed = "audit mechanism --dataset [1,1] --relation add-remove --delta 0 --runs 2e4 --claim-epsilon";
        let program = format!("python3 noise.py {kind}");
        let words: Vec<&str> = fixed.split_whitespace().chain(more.split_whitespace()).collect();
        desk.run(&[&words[..], &["--program", &program]].concat())
    };
    let by = "claim ε ≤ 1 at δ = 0: REFUTED by the last binary places of the outputs";
    let text = audit("number", "1 --save-counterexample bits.json").printed(3);
    assert!(text.contains(by) && text.contains("rounding tests the program"), "{text}");
    let again = desk.run("audit mechanism --counterexample bits.json --runs 2e4").printed(3);
    assert!(again.contains(by), "{again}");
    for kind in ["number", "vector", "object"] {
        let document = audit(kind, "1 --round 0.001 --format json").json(0);
        assert_eq!((number(&document["round"]), codes(&document)), (0.001, vec![]), "{kind}");
        let lower = number(&document["claims"][0]["lower"]);
        assert!(lower > 0.7 && lower <= 1.0, "{kind}: {lower}");
    }
    let text = audit("number", "1 --round 0.001").printed(0);
    assert!(text.contains("; outputs rounded to multiples of 0.001\n"), "{text}");
    // Vectors are equal only on a grid.
    let line = audit("vector", "1 --features identity").line(1);
    assert!(line.contains("no two outputs are equal") && line.contains("rounding to a grid"), "{line}");
    let document = audit("vector", "1 --features identity --round 0.5 --format json").json(0);
    assert!(number(&document["claims"][0]["lower"]) > 0.3, "{}", document["claims"]);
    // A grid does not hide a claim that is wrong, and is kept with what refutes it.
    let found = audit("number", "0.5 --round 0.01 --save-counterexample case.json --format json").json(3);
    assert!(rows(&found["warnings"]).is_empty(), "{}", found["warnings"]);
    let repeat = "audit mechanism --counterexample case.json --runs 2e4";
    assert_eq!(desk.answer(3, repeat)["round"], 0.01);
    assert_eq!(desk.answer(3, &format!("{repeat} --round 0.25"))["round"], 0.25);
    for (grid, expected) in
        [("0", "grid of outputs = 0 is not in (0, inf)"), ("x", "`x` is not a number"), ("-1", "(0, inf)")]
    {
        assert!(audit("number", &format!("1 --round {grid}")).line(2).contains(expected), "{grid}");
    }
}

/// A checkpoint is that of its grid.
#[test]
fn a_checkpoint_is_bound_to_the_grid() {
    let desk = Desk::new();
    float_noise(&desk);
    let audit = |more: &str| {
        let fixed = "audit mechanism --dataset [1,1] --relation add-remove --runs 2000 --checkpoint c --resume";
        let words: Vec<&str> = fixed.split_whitespace().chain(more.split_whitespace()).collect();
        desk.run(&[&words[..], &["--program", "python3 noise.py number"]].concat())
    };
    let whole = audit("--round 0.1").printed(0);
    assert_eq!(audit("--round 0.1").printed(0), whole);
    for other in ["--round 0.2", ""] {
        assert!(audit(other).line(1).contains("found the checkpoint of an audit with other options"));
    }
}

/// One start without an answer is enough, and the first thing that is said of it is all.
#[test]
fn a_program_that_never_answers_is_started_once() {
    let desk = Desk::new();
    desk.file("hang.sh", "echo >> starts\nexec sleep 100\n");
    let starts = || {
        let starts = desk.text("starts").len();
        std::fs::remove_file(desk.path("starts")).unwrap();
        starts
    };
    let start = Instant::now();
    let verify = "verify --program 'sh hang.sh' --start-timeout 1 --answer-timeout 1 --cases 50";
    let words = shell_words::split(verify).unwrap();
    let document = desk.answer(3, &words);
    assert_eq!(starts(), 1);
    let verdicts = texts(&document["properties"], "verdict");
    assert!(verdicts.len() > 2 && verdicts[0] == "refuted", "{verdicts:?}");
    assert!(verdicts[1..].iter().all(|verdict| *verdict == "not-tested"), "{verdicts:?}");
    let fault = &document["properties"][0]["counterexample"]["fault"];
    assert_eq!(fault["kind"], "time-out");
    assert_eq!(fault["message"], "no answer in 1 s; it is not started again");
    let told = line(&audit(&desk, &["--program", "sh hang.sh", "--start-timeout", "1"]));
    assert!(told.contains("time-out: no answer in 1 s; it is not started again"), "{told}");
    assert_eq!(starts(), 1);
    let told = line(&audit(&desk, &["--exec", "sh hang.sh {dataset}", "--answer-timeout", "1", "--threads", "1"]));
    assert!(told.contains("time-out: it did not end in 1 s"), "{told}");
    assert!(starts() <= 2);
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}
