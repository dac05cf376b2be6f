//! Answers that are repeated from their own documents, and several studies in one file: what stands in it is used or
//! rejected, before anything runs.

use crate::arrays::archive;
use crate::desk::{Desk, changed, rows_of, says, table};
use ndarray::{Array1, Array2, Array4};
use serde_json::Value;
use std::fs;

/// A folder with every kind of input.
fn inputs() -> Desk {
    let desk = Desk::new();
    for name in ["data/counts.csv", "data/prompt_votes.npz", "data/fashion_lira_original.npz", "scenarios/pate.toml"] {
        let content = fs::read(Desk::root().path("validation").join(name)).unwrap();
        desk.file(name.split_once('/').unwrap().1, content);
    }
    let scores = (0..60).map(|canary| format!("{},{}\n", (canary * 37 % 60) as f64 / 20.0, canary % 2));
    desk.file("scores.csv", "score,member\n".to_owned() + &scores.collect::<String>());
    let plan = "canaries plan --canaries 60 --mechanism subsampled-gaussian:sigma=1,rate=0.1 --repetitions 5 --seed 4";
    desk.stdout(&format!("{plan} --format json --output plan.json"));
    let scores = (0..60).map(|canary| format!("{canary},{}\n", canary * 37 % 60));
    desk.file("canaries.csv", "canary,score\n".to_owned() + &scores.collect::<String>());
    let outputs = (0..300).map(|index| format!("{},{}\n", ["s", "s_prime"][index % 2], index * 7 % 5));
    desk.file("outputs.csv", "world,output\n".to_owned() + &outputs.collect::<String>());
    let labels = archive(&[
        ("probabilities", &Array2::from_shape_fn((90, 3), |(row, class)| [0.2f32, 0.3, 0.5][(row + class) % 3])),
        ("labels_true", &Array1::<i64>::zeros(90)),
        ("labels_trained", &Array1::from_iter((0..90i64).map(|row| 1 + row % 2))),
    ]);
    desk.file("labels.npz", labels);
    let first = |value: usize, member: usize| 0.5 + 0.2 * value as f64 + 0.01 * member as f64;
    let answer = |(value, member, _, class): (usize, usize, usize, usize)| {
        if class == 0 { first(value, member) } else { 1.0 - first(value, member) }
    };
    let (student, ensembles) = (Array2::from_elem((4, 2), 0.5), Array4::from_shape_fn((2, 3, 4, 2), answer));
    desk.arrays("answers.npz", &[("student", &student), ("ensembles", &ensembles)]);
    desk
}

/// Every command that computes from files, with options of every form.
#[test]
fn every_answer_is_repeated_from_its_own_document() {
    let desk = inputs();
    desk.stdout("simulate pate.toml --samples 3e4 --format json --output simulated.json");
    let mut commands = std::collections::BTreeSet::new();
    for arguments in rows_of("rerun", "every_answer_is_repeated_from_its_own_document").lines() {
        let made = desk.run(&format!("{arguments} --format json --quiet --threads 1"));
        assert!(matches!(made.status, 0 | 3), "{made:?}");
        desk.file("result.json", &made.stdout);
        let repeated = desk.stdout("rerun result.json");
        assert!(repeated.contains("\nidentical: all "), "{arguments}: {repeated}");
        let document: Value = serde_json::from_str(&made.stdout).unwrap();
        assert!(document["options"].as_object().unwrap().values().all(|value| !value.is_object()), "{arguments}");
        commands.insert(document["command"].as_str().unwrap().to_owned());
    }
    // Options of all commands but those that train, measure time or repeat.
    assert_eq!(commands.len(), 24, "{commands:?}");
}

#[test]
fn what_changed_is_shown_and_nothing_runs_on_other_inputs() {
    let desk = inputs();
    desk.stdout("audit counts counts.csv --orders 2 --format json --output result.json");
    let document = desk.text("result.json");

    // Another number.
    let mut changed: Value = serde_json::from_str(&document).unwrap();
    changed["bounds"][0]["rdp_lower"] = 0.125.into();
    changed["version"] = "0.0".into();
    desk.file("changed.json", changed.to_string());
    let shown = desk.run("rerun changed.json").printed(3);
    says(&shown, &["\n1 of ", "bounds[0].rdp_lower", "0.125", "warning: the document is of version 0.0"]);
    let rows = desk.run("rerun changed.json --format csv").printed(3);
    assert!(rows.starts_with("place,recorded,repeated\nbounds[0].rdp_lower,0.125,"), "{rows}");

    // An option that is none, a value that is none, no document at all.
    let fails = |text: &str, expected: &str| {
        desk.file("bad.json", text);
        let line = desk.rejected(1, "rerun bad.json");
        assert!(line.contains("bad.json") && line.contains(expected), "{line}");
    };
    fails(&document.replace("\"orders\"", "\"ordres\""), "`ordres`");
    fails(&document.replace("\"audit counts\"", "\"audit\""), "must be followed by one of");
    fails(&document.replace("\"audit counts\"", "\"bench\""), "the options of `leakbound bench`");
    fails("{}", "command");
    fails("[1]", "a document of leakbound");

    // Another input.
    desk.file("counts.csv", "outcome,count,count_neighbor\na,10,20\nb,20,10\n");
    fails(&document, "the file has changed since");
    fs::remove_file(desk.path("counts.csv")).unwrap();
    fails(&document, "inputs, counts.csv");
}

const SUITE: &str = "[[study]]\nname = 'four teachers'\ncommand = 'exact'\nhistogram = [3, 1]\nneighbor = [2, 2]\n\
                     noise = 'gaussian:2'\nclaim-epsilon = 9\n\n\
                     [[study]]\ncommand = 'audit counts'\nfile = 'counts.csv'\norders = [2, 5.5]\nclaim_rdp = { 2 = 1e-9 }\n\
                     output = 'counts.txt'\n\n\
                     [[study]]\ncommand = 'exact'\nmechanism = 'exponential:sigma=2'\nhistogram = [3, 1]\nneighbor = [2, 2]\n\
                     deltas = [1e-5]\nclaim-epsilon = 1\n";

#[test]
fn several_studies_run_from_one_file() {
    let (desk, elsewhere) = (inputs(), Desk::new());
    let suite = desk.file("studies.toml", SUITE);
    // Paths are relative to the file, wherever the command runs.
    let words = format!("run {}", suite.display());
    let run = |more: &str| elsewhere.run(&format!("{words} {more}"));
    let shown = run("").printed(3);
    says(&shown, &["\n\n== four teachers ==\nNoisy argmax", "== audit counts 2 ==\n"]);
    says(&shown, &["four teachers    exact          passed", "refuted\n"]);
    let document = elsewhere.answer(3, &words);
    assert_eq!((&document["schema"], &document["command"]), (&"leakbound.run/1".into(), &"run".into()));
    assert_eq!(document["studies"][0]["document"]["schema"], "leakbound.exact/1");
    assert_eq!(document["studies"][1]["outcome"], "refuted");
    assert_eq!(document["studies"][2]["document"]["mechanism"], "exponential:sigma=2");
    // In the form that its study requests, which is text by default.
    assert!(desk.text("counts.txt").starts_with("Audit of "));
    assert_eq!(run("--format csv").printed(3).lines().count(), 4);

    // A study that fails does not end the others; a request that is wrong ends all of them before they begin.
    let with = |change: &str| {
        desk.file("studies.toml", changed(SUITE, change));
        run("")
    };
    let ran = with("'counts.csv' | 'gone.csv'");
    assert_eq!((ran.status, ran.stderr.as_str()), (1, "error: 1 of 3 studies failed\n"));
    assert!(ran.stdout.contains("gone.csv: cannot read") && ran.stdout.contains("passed"), "{ran:?}");
    table(&rows_of("rerun", "several_studies_run_from_one_file"), |change| {
        let line = with(change).line(1);
        assert!(line.contains("studies.toml"), "{line}");
        line
    });
    desk.file("studies.toml", "");
    assert!(run("").line(1).contains("found no study"));
}

const EXACT: &str =
    "[[study]]\nname = 'votes'\ncommand = 'exact'\nhistogram = [3, 1]\nneighbor = [2, 2]\nnoise = 'gaussian:2'\n";
const COUNTS: &str = "[[study]]\ncommand = 'audit counts'\nfile = 'c.csv'\n";
const TABLE: &str = "outcome,count,count_neighbor\na,600,500\nb,400,500\n";

/// The line about a file of studies that nothing comes of.
fn rejected(text: &str) -> String {
    let desk = Desk::new();
    desk.file("c.csv", TABLE);
    desk.file("s.toml", text);
    let line = desk.rejected(1, "run s.toml");
    assert!(line.starts_with("s.toml: "), "{text}: {line}");
    line
}

#[test]
fn no_value_is_ignored() {
    table(&rows_of("rerun", "no_value_is_ignored"), |option| {
        let line = rejected(&format!("{EXACT}{option}\n"));
        // Which study it is, where the option is known to be one.
        assert!(line.contains("study `votes` from line 1: ") || line.starts_with("s.toml: line "), "{option}: {line}");
        line
    });
    table(&rows_of("rerun", "no_value_is_ignored 2"), |option| {
        let line = rejected(&format!("{COUNTS}{option}\n"));
        assert!(line.contains("study `audit counts 1` from line 1: "), "{option}: {line}");
        line
    });
}

#[test]
fn values_that_can_be_used_are() {
    let desk = Desk::new();
    desk.file("c.csv", TABLE);
    // A flag that is off, a name that needs quotes, a negative zero, numbers in every form, a default.
    let studies = format!(
        "{EXACT}claim-rdp = [[2, 9], [4.0, 9e0]]\nclaim-epsilon = 0x9\ndeltas = [1e-5]\norders = '2..4'\n\
         [[study]]\nname = 'of \"quotes\" and ü'\ncommand = 'audit counts'\nfile = './c.csv'\ntrade_off = false\n\
         claim-epsilon = -0.0\nfailure-per = 'answer'\nseed = 0\n"
    );
    desk.file("s.toml", studies);
    let document = desk.answer(3, "run s.toml");
    let [first, second] = [0, 1].map(|study| &document["studies"][study]);
    assert_eq!((&first["outcome"], &second["outcome"]), (&"passed".into(), &"refuted".into()));
    assert_eq!(first["document"]["claims"].as_array().unwrap().len(), 3);
    assert_eq!(second["name"], "of \"quotes\" and ü");
    assert_eq!(second["document"]["options"]["trade_off"], false);
}

/// A seed that is given overrules a scenario's, and 0 is one.
#[test]
fn the_seed_is_the_one_that_is_written() {
    let desk = Desk::new();
    desk.file("p.toml", "samples = 1000\nseed = 5\nmodel = 'prompt-pate'\nnoise = 'gaussian:2'\nhistogram = [3, 1]\nhistogram_neighbor = [2, 2]\n");
    desk.file("s.toml", "[[study]]\ncommand = 'simulate'\nscenario = 'p.toml'\nseed = 0\n[[study]]\ncommand = 'simulate'\nscenario = 'p.toml'\n");
    let document = desk.json("run s.toml");
    let seed = |study: usize| document["studies"][study]["document"]["seed"].clone();
    assert_eq!((seed(0), seed(1)), (0.into(), 5.into()));
    // The document has the seed, so that anyone can repeat it.
    desk.stdout("simulate p.toml --seed 0 --format json --output d.json");
    assert!(desk.stdout("rerun d.json").contains("\nidentical: all "));
}

#[test]
fn files_of_studies_are_whole() {
    table(&rows_of("rerun", "files_of_studies_are_whole"), rejected);
    let twice = EXACT.to_owned() + &EXACT.replace("'votes'", "\"votes\"");
    assert!(rejected(&twice).contains("line 7: found the name `votes` a second time, first in line 1"));
    // Also where one has no name of its own.
    let unnamed = EXACT.replace("'votes'", "'exact 2'") + "[[study]]\ncommand = 'exact'\n";
    assert!(rejected(&unnamed).contains("found the name `exact 2` a second time"));
}

#[cfg(unix)]
#[test]
fn no_result_replaces_another() {
    let desk = Desk::new();
    desk.file("c.csv", TABLE);
    std::fs::create_dir(desk.path("sub")).unwrap();
    std::fs::create_dir(desk.path("figures")).unwrap();
    std::os::unix::fs::symlink(desk.path("sub"), desk.path("link")).unwrap();
    let study = |name: &str, more: &str| format!("{}{more}\n", EXACT.replace("'votes'", &format!("'{name}'")));
    let pair = |first: &str, second: &str| study("one", first) + &study("two", second);
    let fails = |text: &str, words: &str, expected: &str| {
        desk.file("s.toml", text);
        let before = desk.names();
        let line = desk.run(&format!("run s.toml {words}")).line(1);
        assert!(line.contains(expected), "{text}: {line}");
        assert_eq!(desk.names(), before, "{text}");
    };
    for (first, other, option) in [
        ("output = 'a'", "output = 'a'", "output"),
        ("output = 'a'", "output = './a'", "output"),
        ("output = 'a'", "output = 'sub/../a'", "output"),
        ("output = 'gone/a'", "output = 'gone/./a'", "output"),
        ("output = 'a'", "report = 'a'", "output"),
        ("report = 'a.html'", "report = 'a.html'", "report"),
        ("report = 'a.html'\nfigures = 'figures'", "report = 'sub/a.html'\nfigures = './figures'", "figures"),
        ("output = 'sub/a'", "output = 'link/a'", "output"),
    ] {
        // Each line of the first study moves the second.
        let second = format!("study `two` from line {}: found ", 8 + first.matches('\n').count());
        fails(&pair(first, other), "", &second);
        let of_first = format!("which is `{option}` of study `one`, expected a file of its own");
        fails(&pair(first, other), "", &of_first);
    }
    fails(&study("one", "output = 's.toml'"), "", "`output = s.toml`, which is the file of studies itself");
    fails(&study("one", "output = 'a'\nreport = 'a'"), "", "which is `output` of study `one`");
    fails(&format!("{COUNTS}output = './c.csv'\n"), "", "which is `file` of study `audit counts 1`");
    fails(&format!("{COUNTS}{}", study("two", "output = 'c.csv'")), "", "which is `file` of study `audit counts 1`");
    let output = "a: --output: found `output` of study `one`, expected another file";
    fails(&study("one", "output = 'a'"), "--output a", output);
    fails(&study("one", "report = 'a'"), "--report ./a", "--report: found `report` of study `one`");
    // What one study writes another may read, and a device takes it all.
    let simulated = "samples = 1000\nmodel = 'prompt-pate'\nnoise = 'gaussian:2'\nhistogram = [3, 1]\nhistogram_neighbor = [2, 2]\n";
    desk.file("p.toml", simulated);
    let chain = "[[study]]\ncommand = 'simulate'\nscenario = 'p.toml'\noutput = 'n.json'\nformat = 'json'\n\
                 [[study]]\ncommand = 'audit counts'\nfile = 'n.json'\noutput = '/dev/null'\n\
                 [[study]]\nname = 'again'\ncommand = 'audit counts'\nfile = 'n.json'\noutput = '/dev/null'\n";
    desk.file("s.toml", chain);
    desk.stdout("run s.toml");
}

#[test]
fn a_file_that_runs_itself_is_rejected() {
    let desk = Desk::new();
    let run = |file: &str| format!("[[study]]\ncommand = 'run'\nfile = '{file}'\n");
    desk.file("s.toml", run("./s.toml"));
    let line = desk.rejected(1, "run s.toml");
    let expected = "s.toml: study `run 1` from line 1: found the file ./s.toml, which this study belongs to, expected a \
                    file that does not run itself";
    assert!(line.starts_with(expected), "{line}");
    // Through other files; the first of them names work that is never begun.
    desk.file("a.toml", format!("{EXACT}output = 'a.txt'\n{}", run("b.toml")));
    desk.file("b.toml", run("c.toml"));
    desk.file("c.toml", run("a.toml"));
    desk.is_rejected_as(1, "run a.toml", "c.toml: study `run 1` from line 1: found the file a.toml");
    // A chain that is long enough for any use.
    for file in 0..20 {
        desk.file(&format!("{file}.toml"), run(&format!("{}.toml", file + 1)));
    }
    desk.file("20.toml", EXACT);
    desk.is_rejected(1, "run 0.toml", "expected at most 16 files, each run by the one before it");
    desk.stdout("run 10.toml");
    // A result that another file's study writes, too, and a file that is wrong.
    desk.file("a.toml", format!("{EXACT}output = 'a.txt'\n{}", run("b.toml")));
    desk.file("b.toml", format!("{EXACT}output = 'a.txt'\n"));
    let line = desk.rejected(1, "run a.toml");
    assert!(line.starts_with("b.toml: ") && line.contains("which is `output` of study `votes`"), "{line}");
    desk.file("b.toml", format!("{EXACT}claim-epsilon = nan\n"));
    let line = desk.rejected(1, "run a.toml");
    assert!(line.starts_with("b.toml: ") && line.contains("epsilon = NaN"), "{line}");
}

/// An option that is infinite is one.
#[test]
fn infinite_options_are_repeated() {
    let desk = Desk::new();
    let scores: String = (0..40).map(|canary| format!("{},{}\n", canary * 37 % 40, canary % 2)).collect();
    desk.file("s.csv", format!("score,member\n{scores}"));
    let line = |member: bool, value: f64| {
        format!("{{\"member\": {member}, \"log_probabilities\": [{value}], \"entropy\": [9]}}\n")
    };
    desk.file("t.jsonl", (0..20).map(|index| line(index % 2 == 0, -f64::from(index + 1))).collect::<String>());
    for (words, option) in [
        ("audit scores s.csv --threshold=-inf", "threshold"),
        ("audit scores s.csv --threshold inf", "threshold"),
        ("membership text t.jsonl --fpr 0.1 --scores surprise --entropy-limit inf", "entropy_limit"),
    ] {
        // A warning may come with it.
        let made = desk.run(&format!("{words} --format json"));
        assert!(made.stdout.contains(&format!("\"{option}\": \"")), "{words}: {made:?}");
        desk.file("d.json", &made.stdout);
        assert!(desk.stdout("rerun d.json").contains("\nidentical: all "), "{words}");
    }
}

/// A document that somebody changed.
#[test]
fn documents_that_are_repeated_are_read_whole() {
    let desk = Desk::new();
    desk.file("c.csv", TABLE);
    desk.stdout("audit counts c.csv --orders 2 --claim-rdp 2:9 --format json --output d.json");
    let document = desk.text("d.json");
    assert!(desk.stdout("rerun d.json").contains("\nidentical: all "));
    table(&rows_of("rerun", "documents_that_are_repeated_are_read_whole"), |change| {
        desk.file("bad.json", changed(&document, change));
        desk.rejected(1, "rerun bad.json")
    });
}
