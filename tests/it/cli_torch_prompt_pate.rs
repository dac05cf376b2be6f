//! `leakbound torch prompt-pate`, from images to audits of every adversary.

use crate::cli_torch::{IMAGES, leakbound};
use leakbound::record::ArrayFile;
use ndarray::{Array1, Array2};

const ADVERSARIES: [&str; 6] = ["nat-advq", "pois-advq", "confident", "unconfident", "all-same", "mapping"];

/// A small transformer of a few steps.
const SMALL: &str = "--device cpu --width 16 --depth 1 --heads 2 --steps 80 --batch 8 --learning-rate 0.003 --teachers 20 \
                     --queries 30 --instructed 0.2 --seed 3 --quiet";

/// One transformer, kept in a file, serves every adversary; the recording of another run on two threads is the same.
#[test]
fn votes_of_prompts_are_audited_for_every_adversary() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    let checkpoint = format!("--checkpoint {} --resume", place("transformer.checkpoint"));
    let train = |recording: &str, options: &str| {
        let (status, stdout, stderr) =
            leakbound(&format!("torch prompt-pate --data {IMAGES} --recording {recording} {SMALL} {options}"));
        assert_eq!(status, 0, "{stderr}");
        stdout
    };
    let mut votes = Vec::new();
    for adversary in ADVERSARIES {
        let recording = place(&format!("{adversary}.npz"));
        let class = if adversary == "all-same" { "--class 4" } else { "" };
        let stdout = train(&recording, &format!("--adversary {adversary} {class} --threads 1 {checkpoint}"));
        assert!(stdout.contains("20 prompts with 1 private example each (transformer of 1 block,"), "{stdout}");
        for fact in ["permuted accuracy with example", "obeyed instructions", "ensemble accuracy", "changed votes"] {
            assert!(stdout.contains(fact), "{fact}: {stdout}");
        }
        let mut arrays = ArrayFile::open(&recording).unwrap();
        let of_one: Array2<u8> = arrays.array("votes").unwrap();
        votes.push(of_one);
        let changed: Array1<i32> = arrays.array("changed_teacher").unwrap();
        assert_eq!(changed.len(), 30);
        let (status, stdout, stderr) = leakbound(&format!(
            "audit votes {recording} --model prompt-pate --noise gaussian:4 --samples 1e4 --n-queries 30 --format json"
        ));
        assert_eq!(status, 0, "{adversary}: {stderr}");
        assert!(stdout.contains("\"schema\"") && stdout.contains("exact"), "{stdout}");
    }
    assert!(votes.iter().all(|of_one| of_one == votes[0]));
    // Without the checkpoint and on two threads.
    let again = place("again.npz");
    train(&again, "--adversary mapping --threads 2");
    assert!(std::fs::read(&again).unwrap() == std::fs::read(place("mapping.npz")).unwrap());
}

#[test]
fn prompts_that_cannot_be_asked_are_rejected_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("votes.npz");
    let rejected = |options: &str, expected: &str| {
        let arguments = format!("torch prompt-pate --data {IMAGES} --recording {} --device cpu", recording.display());
        let (status, stdout, stderr) = leakbound(&format!("{arguments} --queries 30 --quiet {options}"));
        assert_eq!((status, stdout.as_str()), (2, ""), "{options}: {stderr}");
        assert!(stderr.contains(expected) && stderr.lines().count() <= 2, "{options}: {stderr}");
        assert!(!recording.exists());
    };
    let names = ADVERSARIES.join(", ");
    rejected("--adversary cats", &format!("expected {names}"));
    rejected("--permuted 1", "1 is not in [0, 1)");
    rejected("--shots 0", "`0` is not a whole number in [1, 1e6]");
    rejected("--teachers 480", "480 teachers with an example each and 30 queries of 500 test images");
    rejected("--shots 11", "11 examples of a teacher for a transformer with a context of 10");
    rejected("--permuted 0.7 --exchanged 0.3", "more than 1 together: 0.7 permuted, 0.3 exchanged, 0.1 instructed");
    rejected("--adversary all-same --class 10", "class 10 of 10, counted from 0");
    rejected("--adversary mapping --class 3", "--class: only --adversary all-same has it");
    rejected("--adversary mapping --context 9", "a mapping of 10 classes has an example of each");
    rejected("--heads 3", "a width of 64 for 3 heads");
}
