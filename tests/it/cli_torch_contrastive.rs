//! `leakbound torch shadow` with encoders, from images to the attack on what encoders recorded.

use crate::cli_torch::IMAGES;
use crate::desk::Desk;
use crate::json::{number, texts};

/// A training of encoders that takes a second, of which next to nothing is learned.
fn words(recording: &str, defense: &str) -> String {
    format!(
        "torch shadow --data {IMAGES} --recording {recording} --device cpu --models 8 --audit 50 --fixed 30 \
         --canaries original --hidden 32 --encoder-epochs 8 --encoder-batch 32 --encoder-views 6 --classifier-epochs 5 \
         --classifier-batch 32 --seed 3 --quiet --defense {defense}"
    )
}

#[test]
fn recorded_encoders_are_attacked_and_are_the_same_again() {
    let desk = Desk::new();
    for (defense, title, parameter) in [
        ("simclr", "SimCLR, 8 epochs at temperature 0.5", r#""temperature": null"#),
        (
            "moco --queue 40 --key-momentum 0.9 --temperature 0.2",
            "MoCo, 8 epochs at temperature 0.2, a queue of 40 keys",
            r#""key_momentum": 0.9"#,
        ),
    ] {
        let text = desk.stdout(&format!("{} --threads 1", words("first.npz", defense)));
        assert!(text.contains(title) && text.contains("[8, 50, 6, 128]"), "{text}");
        let document = desk.json(&format!("{} --threads 2", words("second.npz", defense)));
        assert!(serde_json::to_string_pretty(&document).unwrap().contains(parameter), "{document}");
        desk.are_the_same(["first.npz", "second.npz"]);
        for attack in ["lira", "threshold", "lira --pairs disjoint --variance pooled"] {
            let document = desk.json(&format!("membership {attack} first.npz --answers encoder --resamples 0"));
            let auc = number(&document["levels"][0]["auc"]);
            println!("{defense}, {attack}: AUC {auc}");
            assert!((0.0..=1.0).contains(&auc), "{defense}, {attack}: {auc}");
        }
        let compared = desk.json("membership compare first.npz --resamples 0");
        let attacks = texts(&compared["levels"], "attack");
        for attack in ["lira", "encoder-lira", "encoder-threshold"] {
            assert!(attacks.contains(&attack), "{attacks:?}");
        }
    }
}

#[test]
fn encoders_that_cannot_be_trained_are_one_line_and_nothing_is_written() {
    let desk = Desk::new();
    for (options, expected) in [
        ("--defense simclr --encoder-batch 1", "`1` is not a whole number in [2, 1e6]"),
        ("--defense simclr --temperature 0", "0 is not in (0, 1000]"),
        ("--defense moco --key-momentum 1", "1 is not in [0, 1)"),
        ("--defense simclr --queue 64", "--queue is an option of moco, not of simclr"),
        ("--defense hamp --encoder-epochs 3", "--encoder-epochs is an option of simclr, not of hamp"),
        ("--defense simclr --epochs 3", "--epochs is for networks that learn labels"),
        ("--defense moco --flip", "--flip is for networks that learn labels"),
        ("--defense simclr --fixed 300", "a batch of 512 for an encoder of "),
        ("--defense moco --fixed 300 --encoder-batch 32", "a queue of 4096 keys for an encoder of "),
        ("--defense moco --encoder-batch 64 --queue 32", "a queue of 32 keys has no room for a batch of 64"),
        ("--defense simclr --encoder-views 100000", "more than 4 GiB of embeddings"),
    ] {
        let words = format!("torch shadow --data {IMAGES} --recording encoders.npz --device cpu --quiet {options}");
        let ran = desk.ends(2, &words, expected);
        assert!(ran.stdout.is_empty() && ran.stderr.starts_with("error: "), "{ran:?}");
        assert!(!desk.path("encoders.npz").exists());
    }
}
