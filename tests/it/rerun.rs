//! Answers that are repeated from their own documents, and several studies in one file.

use assert_cmd::Command;
use ndarray::{Array1, Array2, Array4};
use ndarray_npy::NpzWriter;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

fn run_in(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leakbound"));
    command.current_dir(folder).args(shell_words::split(arguments).unwrap()).output().unwrap()
}

fn text(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// A folder with every kind of input.
fn inputs() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let data = Path::new(crate::ROOT).join("validation");
    for name in ["data/counts.csv", "data/prompt_votes.npz", "data/fashion_lira_original.npz", "scenarios/pate.toml"] {
        let path = data.join(name);
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let scores = (0..60).map(|canary| format!("{},{}\n", (canary * 37 % 60) as f64 / 20.0, canary % 2));
    write("scores.csv", &("score,member\n".to_owned() + &scores.collect::<String>()));
    let outputs = (0..300).map(|index| format!("{},{}\n", ["s", "s_prime"][index % 2], index * 7 % 5));
    write("outputs.csv", &("world,output\n".to_owned() + &outputs.collect::<String>()));
    let archive = |name: &str| NpzWriter::new(fs::File::create(folder.path().join(name)).unwrap());
    let mut labels = archive("labels.npz");
    labels
        .add_array(
            "probabilities",
            &Array2::from_shape_fn((90, 3), |(row, class)| [0.2f32, 0.3, 0.5][(row + class) % 3]),
        )
        .unwrap();
    labels.add_array("labels_true", &Array1::<i64>::zeros(90)).unwrap();
    labels.add_array("labels_trained", &Array1::from_iter((0..90i64).map(|row| 1 + row % 2))).unwrap();
    labels.finish().unwrap();
    let mut answers = archive("answers.npz");
    answers.add_array("student", &Array2::from_elem((4, 2), 0.5)).unwrap();
    let first = |value: usize, member: usize| 0.5 + 0.2 * value as f64 + 0.01 * member as f64;
    let ensembles =
        Array4::from_shape_fn(
            (2, 3, 4, 2),
            |(value, member, _, class)| {
                if class == 0 { first(value, member) } else { 1.0 - first(value, member) }
            },
        );
    answers.add_array("ensembles", &ensembles).unwrap();
    answers.finish().unwrap();
    folder
}

/// Every command that computes from files, with options of every form.
const COMMANDS: [&str; 27] = [
    "exact --histogram 14,12,10 --neighbor 13,13,10 --noise gaussian:2 --orders 2,10 --claim-rdp 2:0.5 --claim-rdp 10:3",
    "exact --histogram 14,12,10 --worst-neighbor moved --noise laplace:2 --threshold 10 --threshold-noise gaussian:3 \
     --threshold-form per-class --epsilons 0.1,1",
    "account prompt_votes.npz --noise gaussian:40 --queries 0,3 --budget 1,2 --composition pld --orders 2..5",
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
    let folder = inputs();
    let simulate = "simulate pate.toml --samples 3e4 --format json --output simulated.json";
    assert_eq!(text(&run_in(folder.path(), simulate)).0, 0);
    let mut commands = std::collections::BTreeSet::new();
    for arguments in COMMANDS.into_iter().chain(MORE) {
        let made = run_in(folder.path(), &format!("{arguments} --format json --quiet --threads 1"));
        let (status, document, line) = text(&made);
        assert!(matches!(status, 0 | 3), "{arguments}: {line}");
        fs::write(folder.path().join("result.json"), &document).unwrap();
        let (status, repeated, line) = text(&run_in(folder.path(), "rerun result.json"));
        assert_eq!(status, 0, "{arguments}: {repeated}{line}");
        assert!(repeated.contains("\nidentical: all "), "{arguments}: {repeated}");
        let document: Value = serde_json::from_str(&document).unwrap();
        assert!(document["options"].as_object().unwrap().values().all(|value| !value.is_object()), "{arguments}");
        commands.insert(document["command"].as_str().unwrap().to_owned());
    }
    // Options of all commands but those that train, measure time or repeat.
    assert_eq!(commands.len(), 21, "{commands:?}");
}

#[test]
fn what_changed_is_shown_and_nothing_runs_on_other_inputs() {
    let folder = inputs();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    let made = "audit counts counts.csv --orders 2 --format json --output result.json";
    assert_eq!(text(&run_in(folder.path(), made)).0, 0);
    let document = fs::read_to_string(path("result.json")).unwrap();

    // Another number.
    let mut changed: Value = serde_json::from_str(&document).unwrap();
    changed["bounds"][0]["rdp_lower"] = 0.125.into();
    changed["version"] = "0.0".into();
    fs::write(path("changed.json"), changed.to_string()).unwrap();
    let (status, shown, _) = text(&run_in(folder.path(), "rerun changed.json"));
    assert_eq!(status, 3);
    assert!(shown.contains("\n1 of ") && shown.contains("bounds[0].rdp_lower") && shown.contains("0.125"), "{shown}");
    assert!(shown.contains("warning: the document is of version 0.0"), "{shown}");
    let (_, rows, _) = text(&run_in(folder.path(), "rerun changed.json --format csv"));
    assert!(rows.starts_with("place,recorded,repeated\nbounds[0].rdp_lower,0.125,"), "{rows}");

    // An option that is none, a value that is none, no document at all.
    let fails = |text_of: &str, expected: &str| {
        fs::write(path("bad.json"), text_of).unwrap();
        let (status, shown, line) = text(&run_in(folder.path(), "rerun bad.json"));
        assert!(status == 1 && shown.is_empty() && line.lines().count() == 1, "{status} {line}");
        assert!(line.contains("bad.json") && line.contains(expected), "{line}");
    };
    fails(&document.replace("\"orders\"", "\"ordres\""), "`ordres`");
    fails(&document.replace("\"audit counts\"", "\"audit\""), "goes on with one of");
    fails(&document.replace("\"audit counts\"", "\"bench\""), "the options of `leakbound bench`");
    fails("{}", "command");
    fails("[1]", "a document of leakbound");

    // Another input.
    fs::write(path("counts.csv"), "outcome,count,count_neighbor\na,10,20\nb,20,10\n").unwrap();
    fails(&document, "the file has changed since");
    fs::remove_file(path("counts.csv")).unwrap();
    fails(&document, "inputs, counts.csv");
}

const SUITE: &str = "[[study]]\nname = 'four teachers'\ncommand = 'exact'\nhistogram = [3, 1]\nneighbor = [2, 2]\n\
                     noise = 'gaussian:2'\nclaim-epsilon = 9\n\n\
                     [[study]]\ncommand = 'audit counts'\nfile = 'counts.csv'\norders = [2, 5.5]\nclaim_rdp = { 2 = 1e-9 }\n\
                     output = 'counts.txt'\n";

#[test]
fn several_studies_run_from_one_file() {
    let folder = inputs();
    let elsewhere = tempfile::tempdir().unwrap();
    let suite = folder.path().join("studies.toml");
    fs::write(&suite, SUITE).unwrap();
    // Paths are relative to the file, wherever the command runs.
    let run = |more: &str| text(&run_in(elsewhere.path(), &format!("run {} {more}", suite.display())));
    let (status, shown, line) = run("");
    assert_eq!(status, 3, "{line}");
    assert!(
        shown.contains("\n\n== four teachers ==\nNoisy argmax") && shown.contains("== audit counts 2 ==\n"),
        "{shown}"
    );
    assert!(shown.contains("four teachers    exact          passed") && shown.contains("refuted\n"), "{shown}");
    let (_, document, _) = run("--format json");
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!((&document["schema"], &document["command"]), (&"leakbound.run/1".into(), &"run".into()));
    assert_eq!(document["studies"][0]["document"]["schema"], "leakbound.exact/1");
    assert_eq!(document["studies"][1]["outcome"], "refuted");
    // In the form that its study requests, which is text by default.
    assert!(fs::read_to_string(folder.path().join("counts.txt")).unwrap().starts_with("Audit of "));
    assert_eq!(run("--format csv").1.lines().count(), 3);

    // A study that fails does not end the others; a request that is wrong ends all of them before they begin.
    let changed = |from: &str, to: &str| {
        fs::write(&suite, SUITE.replace(from, to)).unwrap();
        run("")
    };
    let (status, shown, line) = changed("'counts.csv'", "'gone.csv'");
    assert_eq!((status, line.as_str()), (1, "error: 1 of 2 studies failed\n"));
    assert!(shown.contains("gone.csv: cannot read") && shown.contains("passed"), "{shown}");
    for (from, to, expected) in [
        ("noise = ", "nois = ", "found the option `nois`, which it does not have"),
        ("'gaussian:2'", "'gaussian:-2'", "study `four teachers` from line 1: found invalid value"),
        ("'gaussian:2'", "true", "found `noise = true`, which is not a number, a text or a list"),
        ("'audit counts'", "'audit'", "study `audit 2` from line 9"),
        ("'audit counts'", "'man'", "study `man 2`"),
        ("command = 'exact'", "", "missing field `command`"),
        ("[[study]]", "[[studies]]", "unknown field `studies`"),
        ("[3, 1]", "[3, 1", "line 5"),
    ] {
        let (status, shown, line) = changed(from, to);
        assert!(status == 1 && shown.is_empty() && line.lines().count() == 1, "{to}: {status} {shown}{line}");
        assert!(line.contains("studies.toml") && line.contains(expected), "{to}: {line}");
    }
    fs::write(&suite, "").unwrap();
    assert!(run("").2.contains("missing field `study`"), "{}", run("").2);
}
