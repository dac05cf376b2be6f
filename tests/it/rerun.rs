//! Answers that are repeated from their own documents, and several studies in one file.

use crate::arrays::archive;
use crate::desk::{Desk, says};
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
const COMMANDS: [&str; 33] = [
    "exact --histogram 14,12,10 --neighbor 13,13,10 --noise gaussian:2 --orders 2,10 --claim-rdp 2:0.5 --claim-rdp 10:3",
    "exact --histogram 14,12,10 --worst-neighbor moved --noise laplace:2 --threshold 10 --threshold-noise gaussian:3 \
     --threshold-form per-class --epsilons 0.1,1",
    "exact --mechanism permute-and-flip:sigma=2 --histogram 3,1,4,1,5 --worst-neighbor moved --deltas 1e-5,0.1",
    "exact --mechanism subsampled-gaussian:sigma=2,rate=0.01 --claim-rdp 2:1 --claim-epsilon 9 --claim-mu 2",
    "account prompt_votes.npz --noise gaussian:40 --queries 0,3 --budget 1,2 --composition pld --orders 2..5",
    "calibrate --mechanism gaussian:sigma=? --epsilon 1 --delta 1e-6 --times 4",
    "calibrate --mechanism randomized-response:sigma=? --histogram 1,0,0 --posterior 0.6 --fpr 0.1 --prior 0.4",
    "account pate.toml --no-exact --conversion classic --delta 1e-6",
    "audit counts counts.csv --orders 2,5 --methods k-cut-region,clopper-pearson --pilot-fraction 0.1 --seed 7",
    "audit counts counts.csv --trade-off --epsilons 0.1,1 --direction forward --failure-per query --claim-mu 3",
    "audit counts counts.csv --pilot counts.csv --methods all --resamples 100",
    "audit confusion --tp 90 --fn 10 --fp 5 --tn 95 --claim-epsilon 1",
    "audit scores scores.csv --threshold 1.5 --flip --epsilons 0.5",
    "audit scores scores.csv --selection split --seed 3",
    "audit scores scores.csv --one-run --guesses 10,10 --claim-epsilon 4",
    "audit scores scores.csv --one-run --guess-selection paid-for",
    "audit votes prompt_votes.npz --model prompt-pate --noise gaussian:40 --samples 1e4 --queries 0,1 --orders 2 \
     --sampling exact-distribution --composition independent --n-queries 100",
    "audit votes prompt_votes.npz --model prompt-pate --noise laplace:9 --samples 1000 --queries 2 --answer-queries 9",
    "audit stream outputs.csv --orders 2 --claim-epsilon 3 --horizon 200",
    "audit stream outputs.csv --bins edges:-1,1.5,9 --claim-rdp 2:9",
    "membership lira fashion_lira_original.npz --resamples 0 --top 5,10 --victims 0,3 --variant carlini-2022 --per-class",
    "membership label-only fashion_lira_original.npz --resamples 100 --strength 0.5 --victims 1,2",
    "membership threshold fashion_lira_original.npz --score entropy --fpr 0.01,0.1 --level population",
    "membership rmia fashion_lira_original.npz --mode offline --slope 0.4 --resamples 0",
    "membership risk fashion_lira_original.npz --bins 5 --resamples 0 --victims 0",
    "membership attacker fashion_lira_original.npz --resamples 0 --seed 2",
    "membership compare fashion_lira_original.npz --attacks threshold,entropy --resamples 0 --failure-per query",
    "canaries plan --canaries 60 --claim-epsilon 1 --repetitions 5 --seed 4",
    "canaries audit plan.json canaries.csv --repetitions 5",
    "label-dp memorization labels.npz --threshold 0.4 --claim-epsilon 9",
    "property distance answers.npz --permutations 50",
    "self-check audit counts counts.csv --orders 2 --repetitions 4",
    "self-check audit scores scores.csv --repetitions 3 --delta 0",
];

const MORE: [&str; 4] = [
    "simulate pate.toml --samples 2e4 --shard 1/1 --sampling exact-distribution",
    "merge simulated.json --partial",
    "verify --accountant broken:gnmax-half --cases 3 --property monotone-in-order,rdp-covers-exact",
    "verify --accountant gnmax-data-dependent --simulate 1000 --cases 2",
];

#[test]
fn every_answer_is_repeated_from_its_own_document() {
    let desk = inputs();
    desk.stdout("simulate pate.toml --samples 3e4 --format json --output simulated.json");
    let mut commands = std::collections::BTreeSet::new();
    for arguments in COMMANDS.into_iter().chain(MORE) {
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
    fails(&document.replace("\"audit counts\"", "\"audit\""), "goes on with one of");
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
    let changed = |from: &str, to: &str| {
        desk.file("studies.toml", SUITE.replace(from, to));
        run("")
    };
    let ran = changed("'counts.csv'", "'gone.csv'");
    assert_eq!((ran.status, ran.stderr.as_str()), (1, "error: 1 of 3 studies failed\n"));
    assert!(ran.stdout.contains("gone.csv: cannot read") && ran.stdout.contains("passed"), "{ran:?}");
    for (from, to, expected) in [
        ("noise = ", "nois = ", "found the option `nois`, which it does not have"),
        ("'gaussian:2'", "'gaussian:-2'", "study `four teachers` from line 1: found invalid value"),
        ("'gaussian:2'", "true", "found `noise = true`, which is not a number, a text or a list"),
        ("'audit counts'", "'audit'", "study `audit 2` from line 9"),
        ("'audit counts'", "'man'", "study `man 2`"),
        ("command = 'exact'", "", "line 1: found a study without `command`"),
        ("[[study]]", "[[studies]]", "found the key `studies`"),
        ("[3, 1]", "[3, 1", "line 5"),
    ] {
        let line = changed(from, to).line(1);
        assert!(line.contains("studies.toml") && line.contains(expected), "{to}: {line}");
    }
    desk.file("studies.toml", "");
    assert!(run("").line(1).contains("found no study"));
}
