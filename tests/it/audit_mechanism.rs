//! `leakbound audit mechanism`: programs of every kind, right, wrong and broken.

use crate::desk::{Desk, rows_of};
#[cfg(unix)]
use crate::desk::{Ran, says};
use crate::json::{codes, number};
use serde_json::Value;

/// A count of records with noise for this ε, claimed to be 1.
fn count(epsilon: f64, more: &str) -> Vec<String> {
    let program = format!("python3 {}/examples/noisy_count.py {epsilon}", crate::ROOT);
    let fixed = ["audit", "mechanism", "--dataset", "[1, 1, 1]", "--relation", "add-remove", "--program", &program];
    let claim = "--claim-epsilon 1 --delta 0 ";
    fixed.into_iter().map(String::from).chain((claim.to_owned() + more).split_whitespace().map(String::from)).collect()
}

/// A wrong claim falls with a counterexample, a right one stands, and both are the same again with the same seed.
#[test]
fn a_wrong_claim_falls_and_a_right_one_stands() {
    let desk = Desk::new();
    let arguments = count(1.5, "--runs 2e4");
    let wrong = desk.answer(3, &arguments);
    assert_eq!(desk.answer(3, &arguments), wrong);
    let found = &wrong["counterexample"];
    assert_eq!((&wrong["repeatable"], &wrong["claims"][0]["refuted"]), (&Value::Bool(true), &Value::Bool(true)));
    assert!(number(&found["p_value"]) < 1e-6 && number(&wrong["claims"][0]["lower"]) < 1.5, "{found}");
    let (runs, counted) = (&wrong["runs"], number(&found["outputs"]));
    assert_eq!(number(&runs["search"]) + number(&runs["bounded"]), 2e4);
    // A pair that is the smallest already takes no runs but those of its test.
    assert!(number(&runs["shrink"]) >= counted && counted > 500.0, "{runs}");
    let right = desk.json(&count(1.0, "--runs 2e4"));
    let lower = number(&right["claims"][0]["lower"]);
    assert!(right["counterexample"].is_null() && lower > 0.85 && lower <= 1.0, "{lower}");
    let other = desk.json(&count(1.0, "--runs 2e4 --seed 1"));
    assert_ne!(other["epsilon"], right["epsilon"]);
}

/// A search that stops early needs few runs, and bounds nothing.
#[test]
fn a_gross_fault_is_found_soon() {
    let desk = Desk::new();
    let found = desk.answer(3, &count(3.0, "--stop-early"));
    assert!(number(&found["runs"]["search"]) < 2_000.0, "{}", found["runs"]);
    assert!(found["bounds"].as_array().unwrap().is_empty());
    assert!(number(&found["counterexample"]["p_value"]) <= 0.05);
    let text = desk.run(&count(3.0, "--stop-early")).printed(3);
    assert!(text.contains("Counterexample") && text.contains("REFUTED by an ordinary event ("), "{text}");
}

#[test]
fn a_rare_event_is_called_so() {
    let desk = Desk::new();
    desk.file(
        "rare.py",
        "import json, random, sys\nfor line in sys.stdin:\n    r = json.loads(line)\n    s = random.Random(r['seed'])\n    \
         leaks = .02 if r['dataset'] else 0\n    outputs = [s.random() < leaks for _ in range(r['runs'])]\n    \
         print(json.dumps({'id': r['id'], 'outputs': outputs}), flush=True)\n",
    );
    let audit = "--dataset [1] --relation add-remove --claim-epsilon 1 --delta 1e-3 --runs 2e4";
    let audit = format!("audit mechanism --program 'python3 rare.py' {audit}");
    let text = desk.run(&shell_words::split(&audit).unwrap()).printed(3);
    assert!(text.contains("REFUTED by a rare event, seen in less than 5% of the outputs of each dataset ("), "{text}");
}

/// A program of the shell that answers each request with what the script prints; `$id` is the number of the request.
#[cfg(unix)]
fn answering(script: &str) -> String {
    let number = r#"id=${x#*\"id\":}; id=${id%%,*}"#;
    shell_words::join(["sh", "-c", &format!("while read -r x; do {number}; {script}; done")])
}

/// Whatever a program does wrong is one line about it.
#[cfg(unix)]
#[test]
fn programs_that_fail_are_told_in_one_line() {
    let desk = Desk::new();
    let audit = |program: &str, more: &[&str]| {
        let fixed = ["audit", "mechanism", "--dataset", "[1]", "--relation", "add-remove", "--program", program];
        desk.rejected(1, &[&fixed[..], more].concat())
    };
    let another = "echo '{\"id\":77,\"outputs\":[1,2,3,4,5]}'";
    let rejects = "echo \"{\\\"id\\\":$id,\\\"error\\\":\\\"at least two records\\\"}\"";
    let five = |output: &str| format!("echo \"{{\\\"id\\\":$id,\\\"outputs\\\":[{output}]}}\"");
    for (script, expected) in [
        ("sleep 100".to_owned(), "time-out: no answer in 0.3 s"),
        ("echo oops >&2; exit 3".to_owned(), "crash: the program ended (exit status: 3); stderr: oops"),
        ("echo hello".to_owned(), "malformed: `hello` is not an answer"),
        (another.to_owned(), "malformed: it answered request 77 when it was sent request 1"),
        (five("1,2"), "malformed: 2 outputs where 5 were requested"),
        (five("1,2,,"), "malformed: "),
        (rejects.to_owned(), "it was rejected: at least two records"),
        ("head -c 80000000 /dev/zero | tr '\\0' x; echo".to_owned(), "too-long: a line of more than 67108864 bytes"),
    ] {
        let limits: &[&str] = if script.starts_with("sleep") { &["--start-timeout", "0.3"] } else { &[] };
        let line = audit(&answering(&script), limits);
        let complete = ["dataset [", "expected outputs", expected].iter().all(|part| line.contains(part));
        assert!(complete, "{script}: {line}");
    }
}

/// What cannot be requested is one line too.
#[test]
fn requests_that_make_no_sense_are_rejected() {
    let desk = Desk::new();
    desk.file("same.json", r#"[{"dataset": [1], "neighbor": [1]}]"#);
    desk.file("far.json", r#"[{"dataset": [1, 2, 3], "neighbor": [1]}]"#);
    desk.file("text.json", "hello");
    desk.file("none.json", "[]");
    let program = "audit mechanism --program true";
    let rejected = |status: i32, more: &str| desk.rejected(status, &format!("{program} {more}"));
    let on = |more: &str| rejected(2, &format!("--dataset [1,2] --relation add-remove {more}"));
    assert!(on("--runs 0").contains("`0` is not a whole number in [200, 10^12]"));
    assert!(on("--claim-epsilon 1 --delta 1").contains("delta = 1 is not in [0, 1)"));
    assert!(on("--stop-early").contains("an audit that stops early needs a claim"));
    let unused = format!("{program} --dataset [1] --relation add-remove --stop-early --methods all");
    assert!(desk.run(&unused).stderr.contains("cannot be used with '--methods"));
    assert!(on("--features learned").contains("no program `learned` was found; expected auto, identity, or a command"));
    assert!(on("--domain 1,1").contains("must have two finite ends"));
    assert!(rejected(2, "--dataset [\"a\"] --relation l1:1").contains("l1:1 compares vectors of numbers"));
    assert!(rejected(2, "--dataset [] --relation replace-one").contains("a record that can be replaced"));
    assert!(rejected(2, "--dataset [] --relation add-remove").contains("no pair of neighbors"));
    assert!(rejected(2, "--dataset [1 --relation add-remove").contains("a JSON array of records"));
    assert!(rejected(2, "--dataset [1] --relation next").contains("add-remove, replace-one, l1:D or linf:D"));
    assert!(rejected(1, "--pairs same.json").contains("same.json: pair 1: found the same dataset twice"));
    assert!(rejected(1, "--pairs far.json --relation add-remove").contains("expected neighbors under add-remove"));
    assert!(rejected(1, "--pairs none.json").contains("found no pair"));
    assert!(rejected(1, "--pairs text.json").contains("expected JSON"));
    assert!(rejected(1, "--dataset missing.json --relation add-remove").contains("missing.json"));
}

/// Outputs of every kind: a leak in a part of an object, in a string, in a missing value.
#[cfg(unix)]
#[test]
fn leaks_are_found_in_any_kind_of_output() {
    let desk = Desk::new();
    // The length of the dataset shows as the length of the request: [1] against [].
    let shows = |one: &str, none: &str| {
        let outputs = |output: &str| vec![output; 200].join(",");
        let script = format!(
            "case $x in *'\"dataset\":[1]'*) o='{}';; *) o='{}';; esac; echo \"{{\\\"id\\\":$id,\\\"outputs\\\":[$(echo \"$o\" | cut -d, -f1-$(echo $x | sed 's/.*runs\\\":\\([0-9]*\\).*/\\1/'))]}}\"",
            outputs(one),
            outputs(none)
        );
        answering(&script)
    };
    desk.file("pair.json", r#"[{"dataset": [1], "neighbor": []}]"#);
    for (one, none, seen) in [
        ("\"yes\"", "\"no\"", ["yes", "no"]),
        ("null", "0", ["null", "0"]),
        ("{\"a\":[1]}", "{\"a\":[]}", ["[1]", "[]"]),
    ] {
        let program = shows(one, none);
        let fixed = ["audit", "mechanism", "--pairs", "pair.json", "--runs", "400", "--claim-epsilon", "1"];
        let found = desk.answer(3, &[&fixed[..], &["--batch", "200", "--program", &program]].concat());
        let event = found["counterexample"]["event"].as_str().unwrap();
        assert!(seen.iter().any(|seen| event.contains(seen)) || event.contains("output.a"), "{event}");
        assert!(codes(&found).is_empty(), "{:?}", codes(&found));
    }
}

/// A program that is run once for each output, and one that takes no seed.
#[cfg(unix)]
#[test]
fn programs_may_be_run_for_each_output() {
    let desk = Desk::new();
    desk.file("pair.json", r#"[{"dataset": [1, 1], "neighbor": [1]}]"#);
    let fixed = ["audit", "mechanism", "--pairs", "pair.json", "--runs", "200", "--claim-epsilon", "1", "--exec"];
    let found = desk.answer(3, &[&fixed[..], &["sh -c 'wc -c < $0' {dataset}"]].concat());
    assert_eq!(found["witness"]["outcomes"][0]["count"].as_u64().unwrap() % 10, 0);
    let random = desk.json(&[&fixed[..], &["sh -c 'od -An -N1 -tu1 /dev/urandom' {dataset}"]].concat());
    assert_eq!((random["repeatable"].as_bool(), codes(&random)), (Some(false), vec!["not-repeatable"]));
}

/// What refutes a claim is made small, kept, and tested again: against the program that it was found in, and another.
#[test]
fn counterexamples_are_small_and_tested_again() {
    let desk = Desk::new();
    let found = desk.answer(3, &count(1.5, "--runs 2e4 --save-counterexample case.json"));
    let case = &found["counterexample"];
    assert_eq!(case["shrunk"], true, "{case}");
    let length = |name: &str| case[name].as_array().unwrap().len();
    assert_eq!(length("dataset") + length("neighbor"), 1, "{case}");
    let spent = number(&found["runs"]["shrink"]);
    assert!(number(&case["p_value"]) < 0.05 && spent <= 1e4 && number(&case["outputs"]) <= spent, "{case}");
    let bars = case["bars"].as_array().unwrap();
    assert_eq!(bars.iter().map(|bar| number(&bar["count"])).sum::<f64>(), number(&case["outputs"]));
    assert!(bars.iter().any(|bar| bar["inside"] == true) && bars.iter().any(|bar| bar["inside"] == false));
    let whole = desk.answer(3, &count(1.5, "--runs 2e4 --shrink-runs 0"));
    assert_eq!((&whole["counterexample"]["shrunk"], &whole["bounds"]), (&Value::Bool(false), &found["bounds"]));

    let again = desk.answer(3, "audit mechanism --counterexample case.json --runs 1e4");
    let tested = &again["counterexample"];
    assert_eq!((&tested["event"], &tested["dataset"]), (&case["event"], &case["dataset"]));
    assert_eq!((number(&again["runs"]["search"]), number(&tested["outputs"])), (0.0, 1e4));
    assert_ne!(tested["inside"], case["inside"]);
    let mended = format!("python3 {}/examples/noisy_count.py 1", crate::ROOT);
    let repeat = ["audit", "mechanism", "--counterexample", "case.json", "--runs", "1e4"];
    let stands = desk.json(&[&repeat[..], &["--program", &mended]].concat());
    assert_eq!((&stands["claims"][0]["refuted"], &stands["counterexample"]), (&Value::Bool(false), &Value::Null));

    // Another claim than the recorded one, and files that are no counterexamples.
    assert_eq!(desk.json(&[&repeat[..], &["--claim-epsilon", "1.6"]].concat())["claims"][0]["refuted"], false);
    let text = desk.text("case.json");
    desk.file("other.json", text.replace("counterexample/1", "counterexample/9"));
    desk.file("far.json", text.replace("\"outcomes\": [", "\"outcomes\": [900, "));
    desk.file("claim.json", text.replace("\"delta\": 0.0", "\"delta\": 3.0"));
    desk.file("strangers.json", text.replace("\"add-remove\"", "\"replace-one\""));
    desk.file("cut.json", &text[..text.len() / 2]);
    let rows = &rows_of("audit_mechanism", "counterexamples_are_small_and_tested_again");
    desk.rejects("audit mechanism --counterexample", rows);
    let line = desk.rejected(2, "audit mechanism --counterexample case.json --delta 1e-6");
    assert!(line.contains("--claim-epsilon states another claim"), "{line}");
    let both = desk.run("audit mechanism --counterexample case.json --save-counterexample case.json");
    assert!(both.status == 2 && both.stderr.contains("cannot be used with"), "{both:?}");
}

/// Ctrl-C leaves what was seen, and the audit goes on from its checkpoint to what it would have been.
#[cfg(unix)]
#[test]
fn an_interrupted_audit_goes_on() {
    let desk = Desk::new();
    let options = "--runs 2e5 --format json";
    let whole = desk.run(&count(1.0, options)).json(0);
    for lines in [15, 40] {
        let kept = || std::fs::read_to_string(desk.path("c")).map_or(0, |text| text.lines().count());
        let before = kept();
        let mut child = desk.start(&count(1.0, &format!("{options} --checkpoint c --resume")));
        // More than there was: by then the signal is looked after.
        let far = || kept() >= lines && kept() > before;
        while !far() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        if child.try_wait().unwrap().is_none() {
            crate::desk::signal(&child, "-INT");
        }
        let ran = Ran::from(child.wait_with_output().unwrap());
        // The second audit may have ended before the signal came.
        if ran.status == 0 {
            assert!(lines > 15 && ran.stderr.is_empty(), "{ran:?}");
        } else {
            assert_eq!(ran.status, 130, "{ran:?}");
            says(&ran.stderr, &["interrupted after ", "--resume continues"]);
            let seen: Value = serde_json::from_str(&ran.stdout).unwrap();
            assert_eq!((&seen["interrupted"], &seen["claims"][0]["refuted"]), (&true.into(), &false.into()));
        }
    }
    let resumed = desk.run(&count(1.0, &format!("{options} --checkpoint c --resume"))).json(0);
    for part in ["bounds", "epsilon", "claims", "pairs", "witness", "runs"] {
        assert_eq!(resumed[part], whole[part], "{part}");
    }
    let again = desk.run(&count(1.0, &format!("{options} --checkpoint c")));
    assert!(again.line(1).contains("c: checkpoint: found a file that already exists"));
    let other = desk.run(&count(1.0, "--runs 3e5 --checkpoint c --resume"));
    assert!(other.line(1).contains("found the checkpoint of an audit with other options"));
}

/// Outputs may be described by another program, and learned scores are not always wanted.
#[cfg(unix)]
#[test]
fn outputs_are_told_apart_by_what_the_user_says() {
    let desk = Desk::new();
    // The leak is in the parity of the sum, which no feature looks at.
    desk.file(
        "parity.py",
        "import json, random, sys\nfor line in sys.stdin:\n    r = json.loads(line)\n    s = random.Random(r['seed'])\n    \
         def one():\n        x = [s.randrange(1000) for _ in range(3)]\n        \
         x[0] += (sum(x) + len(r['dataset'])) % 2 if s.random() < .8 else 0\n        return x\n    \
         print(json.dumps({'id': r['id'], 'outputs': [one() for _ in range(r['runs'])]}), flush=True)\n",
    );
    desk.file(
        "features.py",
        "import json, sys\nfor line in sys.stdin:\n    r = json.loads(line)\n    \
         print(json.dumps({'id': r['id'], 'outputs': [sum(x) % 2 for x in r['outputs']]}), flush=True)\n",
    );
    desk.file(
        "few.py",
        "import json, sys\nfor line in sys.stdin:\n    print('{\"id\": 1, \"outputs\": []}', flush=True)\n",
    );
    let audit = |features: &str, status: i32| {
        let fixed = "audit mechanism --dataset [1,1] --relation add-remove --claim-epsilon 1 --delta 0 --runs 4000";
        let fixed: Vec<&str> = fixed.split_whitespace().collect();
        let (features, more) =
            features.split_once(" --").map_or((features, String::new()), |(f, more)| (f, format!("--{more}")));
        let more: Vec<&str> = more.split_whitespace().collect();
        let audit = [&fixed[..], &["--program", "python3 parity.py", "--features", features], &more].concat();
        let ran = desk.run(&audit[..]);
        assert_eq!(ran.status, status, "{ran:?}");
        ran
    };
    assert!(audit("auto", 0).stdout.contains("not refuted"));
    let line = audit("identity", 1).line(1);
    assert!(line.contains("no two outputs are equal") && line.contains("the features `auto`"), "{line}");
    assert!(audit("features.py --save-counterexample kept.json", 3).stdout.contains("REFUTED"));
    // What described the outputs is kept with the event.
    assert_eq!(desk.answer(3, "audit mechanism --counterexample kept.json --runs 4000")["claims"][0]["refuted"], true);
    let line = audit("python3 few.py", 1).line(1);
    assert!(line.contains("the program of the features: 0 outputs where 5 were requested"), "{line}");
}

/// The workflow that users copy does what it says, here without the machine that it is for.
#[test]
fn the_example_of_a_workflow_audits() {
    let text = std::fs::read_to_string(format!("{}/examples/audit-workflow.yml", crate::ROOT)).unwrap();
    let block = text.split("run: >\n").nth(1).unwrap();
    let indented = block.lines().take_while(|line| line.starts_with("          "));
    let command = indented.collect::<Vec<_>>().join(" ").replace("examples/", &format!("{}/examples/", crate::ROOT));
    let words = shell_words::split(&command).unwrap();
    assert_eq!(words[0], "leakbound");
    let desk = Desk::new();
    let words: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    assert!(desk.run(&[&words[..], &["--runs", "2e4"]].concat()).printed(0).contains("not refuted"));
    assert_eq!(desk.names(), ["audit.html"]);
    assert!(text.contains("audit.html\n") && text.contains("counterexample.json\n"));
}
