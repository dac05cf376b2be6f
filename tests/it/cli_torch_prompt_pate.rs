//! `leakbound torch prompt-pate`, from images to audits of every adversary.

use crate::cli_torch::IMAGES;
use crate::desk::{Desk, says};
use leakbound::record::ArrayFile;
use ndarray::{Array1, Array2};
use std::process::Stdio;

const ADVERSARIES: [&str; 6] = ["nat-advq", "pois-advq", "confident", "unconfident", "all-same", "mapping"];

/// A small transformer of a few steps.
const SMALL: &str = "--device cpu --width 16 --depth 1 --heads 2 --steps 80 --batch 8 --learning-rate 0.003 --teachers 20 \
                     --queries 30 --instructed 0.2 --seed 3 --quiet";

/// One transformer, kept in a file, serves every adversary; the recording of another run on two threads is the same.
#[test]
fn votes_of_prompts_are_audited_for_every_adversary() {
    let desk = Desk::new();
    let train = |recording: &str, options: &str| {
        desk.done(&format!("torch prompt-pate --data {IMAGES} --recording {recording} {SMALL} {options}"))
    };
    let mut votes = Vec::new();
    for adversary in ADVERSARIES {
        let recording = format!("{adversary}.npz");
        let class = if adversary == "all-same" { "--class 4" } else { "" };
        let options = format!("--adversary {adversary} {class} --threads 1 --checkpoint kept --resume");
        let stdout = train(&recording, &options);
        assert!(stdout.contains("20 prompts with 1 private example each (transformer of 1 block,"), "{stdout}");
        let is_warned = stdout.contains("each row of `votes_prime` is of another neighbor");
        assert_eq!(is_warned, adversary.ends_with("advq"), "{stdout}");
        says(&stdout, &["permuted accuracy with example", "obeyed instructions", "ensemble accuracy", "changed votes"]);
        let mut arrays = ArrayFile::open(desk.path(&recording)).unwrap();
        let of_one: Array2<u8> = arrays.array("votes").unwrap();
        votes.push(of_one);
        let changed: Array1<i32> = arrays.array("changed_teacher").unwrap();
        assert_eq!(changed.len(), 30);
        let audit = format!("audit votes {recording} --model prompt-pate --noise gaussian:4 --samples 1e4");
        let stdout = desk.done(&format!("{audit} --n-queries 30 --format json"));
        assert!(stdout.contains("\"schema\"") && stdout.contains("exact"), "{stdout}");
        // What leaks under different neighbors does not add up.
        assert_eq!(desk.done_json(&audit)["composed"].is_null(), is_warned, "{adversary}");
        let ran = desk.run(&format!("{audit} --composition independent"));
        assert_eq!(ran.status == 0, !is_warned, "{ran:?}");
        assert!(!is_warned || ran.stderr.contains("repeat the worst (`n-queries`)"), "{ran:?}");
    }
    assert!(votes.iter().all(|of_one| of_one == votes[0]));
    // Without the checkpoint and on two threads.
    train("again.npz", "--adversary mapping --threads 2");
    desk.are_the_same(["again.npz", "mapping.npz"]);
}

/// The transformer is saved after each tenth of its training; another one is not mistaken for it.
#[test]
fn a_killed_run_goes_on_to_the_same_file() {
    let desk = Desk::new();
    let train = |recording: &str, more: &str| {
        format!("torch prompt-pate --data {IMAGES} --recording {recording} {SMALL} --adversary confident {more}")
    };
    desk.done(&train("whole.npz", ""));
    let arguments = train("resumed.npz", "--checkpoint kept");
    let mut run = desk.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let is_saved = || std::fs::read_to_string(desk.path("kept")).is_ok_and(|text| text.lines().count() > 2);
    while !is_saved() && run.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let other = arguments.replace("--width 16", "--width 18") + " --resume";
    assert_eq!(desk.ends(1, &other, ": plan: found {").stderr.lines().count(), 1);
    desk.done(&format!("{arguments} --resume"));
    desk.are_the_same(["whole.npz", "resumed.npz"]);
}

/// What the options of the transformer and of the prompts say of themselves.
#[test]
fn the_help_names_every_adversary_and_share() {
    let help = Desk::new().done("torch prompt-pate --help");
    let of_options = |names: &[&str]| -> String {
        let parts =
            help.split("\n      --").filter(|part| names.iter().any(|name| part.starts_with(&format!("{name} "))));
        // Of what stands after an option, headings and the request for help are not its own.
        let own = |(at, line): &(usize, &str)| {
            *at == 0 || line.starts_with("          ") && !line.trim().is_empty() && !line.contains("Print help")
        };
        let lines = parts.flat_map(|part| part.lines().enumerate().filter(own).map(|(_, line)| line.trim_end()));
        lines.map(|line| format!("{line}\n")).collect()
    };
    let shown = of_options(&["adversary", "shots", "context", "permuted", "exchanged", "instructed"]);
    insta::assert_snapshot!(shown);
}

#[test]
fn prompts_that_cannot_be_asked_are_rejected_and_nothing_is_written() {
    let desk = Desk::new();
    let names = format!("expected {}", ADVERSARIES.join(", "));
    for (options, expected) in [
        ("--adversary cats", names.as_str()),
        ("--permuted 1", "1 is not in [0, 1)"),
        ("--shots 0", "`0` is not a whole number in [1, 1e6]"),
        ("--teachers 480", "480 teachers with an example each and 30 queries of 500 test images"),
        ("--shots 11", "11 examples of a teacher for a transformer with a context of 10"),
        ("--permuted 0.7 --exchanged 0.3", "more than 1 together: 0.7 permuted, 0.3 exchanged, 0.1 instructed"),
        ("--adversary all-same --class 10", "class 10 of 10, counted from 0"),
        ("--adversary mapping --class 3", "--class: only --adversary all-same has it"),
        ("--adversary mapping --context 9", "a mapping of 10 classes has an example of each"),
        ("--heads 3", "a width of 64 for 3 heads"),
    ] {
        let arguments = format!("torch prompt-pate --data {IMAGES} --recording votes.npz --device cpu --queries 30");
        let ran = desk.ends(2, &format!("{arguments} --quiet {options}"), expected);
        assert!(ran.stdout.is_empty() && ran.stderr.lines().count() <= 2, "{ran:?}");
        assert!(!desk.path("votes.npz").exists());
    }
}
