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
        for fact in ["permuted-accuracy-with-example", "obeyed-instructions", "ensemble-accuracy", "changed-votes"] {
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
    let rejected = |status: i32, options: &str, expected: &str| {
        let arguments = format!("torch prompt-pate --data {IMAGES} --recording {} {SMALL}", recording.display());
        let (found, stdout, stderr) = leakbound(&format!("{arguments} {options}"));
        assert_eq!((found, stdout.as_str()), (status, ""), "{options}: {stderr}");
        assert!(stderr.contains(expected), "{options}: {stderr}");
        assert!(!recording.exists());
    };
    rejected(2, "--adversary cats", "possible values: nat-advq, pois-advq, confident, unconfident, all-same, mapping");
    rejected(2, "--permuted 1", "1 is not in [0, 1)");
    rejected(2, "--shots 0", "--shots");
    let of = |options: &str| format!("--teachers 480 {options}");
    rejected(2, &of(""), "480 teachers with an example each and 30 queries of 500 test images");
    rejected(2, &of("--shots 11"), "11 examples of a teacher for a transformer with a context of 10");
    rejected(2, "--permuted 0.7 --exchanged 0.2", "shares of prompts are");
    rejected(2, "--adversary all-same --class 10", "class 10 of 10, counted from 0");
    rejected(2, "--adversary mapping --class 3", "--class: only --adversary all-same has it");
    rejected(2, "--adversary mapping --context 9", "a mapping of 10 classes has an example of each");
    rejected(2, "--heads 3 --width 17", "a width of 17 for 3 heads");
}
