//! `leakbound torch` in both builds.

use crate::desk::Desk;

/// The images that the tests train with.
#[cfg(feature = "torch")]
pub const IMAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../validation/data/fashion_sample.npz");

/// Trains all recordings of a study; then what was removed of them, on another number of threads, and nothing else; and
/// not with another seed. Returns the names of the recordings, and the document, of which these parts were the same both
/// times.
#[cfg(feature = "torch")]
pub fn trained_again(study: &str, [kept, removed]: [&str; 2], parts: [&str; 4]) -> (Vec<String>, serde_json::Value) {
    let desk = Desk::new();
    let words = |more: &str| format!("{study} --recordings r --quiet {more}");
    let first = desk.done_json(&words(""));
    let names = crate::desk::names(&desk.path("r"));
    let bytes = || [kept, removed].map(|name| std::fs::read(desk.path(&format!("r/{name}.npz"))).unwrap());
    let before = bytes();
    std::fs::remove_file(desk.path(&format!("r/{removed}.npz"))).unwrap();
    let second = desk.done_json(&words("--threads 1"));
    assert!(bytes() == before);
    for part in parts {
        assert_eq!(first[part], second[part], "{part}");
    }
    // Another seed is another plan.
    let line = desk.run(&words("--seed 4")).line(1);
    assert!(line.contains("plan.seed: found 3, expected 4, as the study wants it; hint: "), "{line}");
    (names, first)
}

#[cfg(not(feature = "torch"))]
#[test]
fn a_build_without_libtorch_says_how_to_make_one_with_it() {
    for arguments in ["torch", "torch teachers --epochs 3", "torch device"] {
        let line = Desk::new().run(arguments).line(1);
        assert!(line.starts_with("torch: this program was built without the feature `torch`; "), "{line}");
        assert!(line.contains("cargo build --release --features torch"), "{line}");
    }
}

#[cfg(feature = "torch")]
mod with_libtorch {
    use super::{Desk, IMAGES};
    use crate::desk::{pairs, rows_of, signal};
    use std::process::{Child, Stdio};

    #[test]
    fn the_device_is_named_or_rejected_in_one_line() {
        let desk = Desk::new();
        assert_eq!(desk.done("torch device --device cpu --threads 2"), "CPU, 2 threads\n");
        let ran = desk.run("torch device --device cuda");
        match ran.status {
            0 => assert!(ran.stdout.starts_with("CUDA GPU"), "{ran:?}"),
            _ => assert!(ran.line(1).starts_with("device cuda: "), "{ran:?}"),
        }
        assert_eq!(desk.run("torch device --device tpu").status, 2);
    }

    /// From images to an audit, and the same file again on another number of threads.
    #[test]
    fn recorded_votes_are_audited_and_are_the_same_again() {
        let desk = Desk::new();
        for (recording, threads) in [("first.npz", 1), ("second.npz", 2)] {
            let stdout = desk.done(&format!(
                "torch teachers --data {IMAGES} --recording {recording} --device cpu --teachers 10 --images 100 \
                 --hidden 16 --instantiations 2 --queries 40 --adversarial 4 --retrainings 3 --epochs 6 --seed 3 \
                 --threads {threads} --quiet"
            ));
            assert!(stdout.contains("teacher"), "{stdout}");
        }
        desk.are_the_same(["first.npz", "second.npz"]);
        for (model, adversary) in [("pate", "pois-advq"), ("pate", "pois-natq"), ("capc", "nat-advq")] {
            let stdout = desk.done(&format!(
                "audit votes first.npz --model {model} --adversary {adversary} --noise gaussian:10 --samples 1e4 \
                 --format json"
            ));
            assert!(stdout.contains("\"schema\"") && stdout.contains("exact"), "{stdout}");
        }
    }

    /// From images to an attack, and the same file again on another number of threads.
    #[test]
    fn recorded_answers_are_attacked_and_are_the_same_again() {
        let desk = Desk::new();
        let train = |recording: &str, options: &str| {
            desk.done(&format!(
                "torch shadow --data {IMAGES} --recording {recording} --device cpu --models 10 --audit 50 --fixed 200 \
                 --hidden 16 --epochs 15 --flip --shift 1 --views 18 --seed 3 --quiet {options}"
            ))
        };
        let stdout = train("first.npz", "--threads 1");
        assert!(stdout.contains("10 shadow models") && stdout.contains("[10, 50, 18, 10]"), "{stdout}");
        train("second.npz", "--threads 2");
        desk.are_the_same(["first.npz", "second.npz"]);
        train("others.npz", &format!("--canaries out-of-distribution --others {IMAGES}"));
        for attack in ["lira first.npz", "label-only first.npz", "compare first.npz", "lira others.npz"] {
            let stdout = desk.done(&format!("membership {attack} --format json"));
            assert!(stdout.contains("\"schema\""), "{stdout}");
        }
    }

    #[test]
    fn shadow_models_that_cannot_be_trained_are_rejected_and_nothing_is_written() {
        let desk = Desk::new();
        std::fs::copy(IMAGES, desk.path("images.npz")).unwrap();
        let rejected = |status: i32, options: &str, expected: &str| {
            let ran = desk.ends(status, &format!("torch shadow --device cpu {options}"), expected);
            assert_eq!(ran.stdout, "", "{ran:?}");
        };
        rejected(1, "--data nowhere --recording shadow.npz", "nowhere");
        rejected(1, "--data images.npz --recording images.npz", "expected another file");
        for (options, expected) in
            pairs(&rows_of("cli_torch", "shadow_models_that_cannot_be_trained_are_rejected_and_nothing_is_written"))
        {
            rejected(2, &format!("--data {IMAGES} --recording shadow.npz {options}"), expected);
        }
        assert!(!desk.path("shadow.npz").exists());
        assert!(std::fs::read(IMAGES).unwrap() == std::fs::read(desk.path("images.npz")).unwrap());
    }

    /// Each defense, and the same file again on another number of threads.
    #[test]
    fn defended_answers_are_attacked_and_are_the_same_again() {
        let desk = Desk::new();
        // The options, how they are called, what array they leave, a parameter.
        let defenses = r#"
            relaxloss --loss-threshold 1 | RelaxLoss at 1 | logits | "loss_threshold": 1.0
            hamp --entropy-share 0.9 | HAMP with entropy share 0.9 and weight 0.005 | training_time_logits | "entropy_weight": 0.005
            selena --split-models 4 --left-out 2 --neighbors | SELENA of 4 models, 2 of them for an image | split_ai_neighbor_logits | "left_out": 2
            dfkd --network cnn --filters 2 --synthesis-iterations 2 --synthetic-images 8 --generator-filters 2 | DFKD with 2 times 8 synthetic images | synthetic_images | "student_epochs": 5
            dp-sgd --epsilon 8 | DP-SGD with epsilon 8 at delta 1e-5 | noise_multiplier | "clipping_norm": 1.0
        "#;
        for row in defenses.trim().lines() {
            let [defense, title, array, parameter] = row.trim().split(" | ").collect::<Vec<_>>().try_into().unwrap();
            let train = |recording: &str, options: &str| {
                desk.done(&format!(
                    "torch shadow --data {IMAGES} --recording {recording} --device cpu --models 6 --audit 30 \
                     --fixed 120 --epochs 4 --seed 3 --quiet --defense {defense} {options}"
                ))
            };
            let text = train("first.npz", "--threads 1");
            assert!(text.contains(title) && text.contains(array), "{text}");
            // Parameters at their defaults are in the document too.
            let document = train("second.npz", "--threads 2 --format json");
            assert!(document.contains(parameter) && document.contains(&format!("\"{array}\"")), "{document}");
            desk.are_the_same(["first.npz", "second.npz"]);
            let looks_at = if defense.contains("--neighbors") { "neighbor" } else { "sample" };
            desk.done(&format!("membership lira first.npz --answers {looks_at} --format json"));
        }
    }

    /// The lines that a checkpoint has.
    fn lines(desk: &Desk, checkpoint: &str) -> usize {
        std::fs::read(desk.path(checkpoint)).map_or(0, |bytes| bytes.split(|&byte| byte == b'\n').count())
    }

    /// Waits until it has so many, or until the run that writes it has ended.
    fn wait_for_lines(desk: &Desk, checkpoint: &str, run: &mut Child, count: usize) {
        while lines(desk, checkpoint) < count && run.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    /// A run is killed after some groups, in the middle of a line; one that goes on ends with the same file.
    #[test]
    fn a_killed_run_goes_on_to_the_same_file() {
        let desk = Desk::new();
        let train = |recording: &str, more: &str| {
            format!(
                "torch teachers --data {IMAGES} --recording {recording} --device cpu --teachers 16 --images 60 --hidden 8 \
                 --instantiations 2 --queries 20 --adversarial 2 --retrainings 2 --epochs 4 --seed 5 --threads 1 {more}"
            )
        };
        desk.done(&train("whole.npz", "--quiet"));
        let arguments = train("resumed.npz", "--checkpoint a.checkpoint");
        let mut run = desk.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_for_lines(&desk, "a.checkpoint", &mut run, 6);
        run.kill().unwrap();
        run.wait().unwrap();
        let bytes = std::fs::read(desk.path("a.checkpoint")).unwrap();
        desk.file("a.checkpoint", &bytes[..bytes.len() - 3]);
        desk.ends(1, &arguments, "--resume continues where it ends");
        let other = arguments.replace("--hidden 8", "--hidden 9") + " --resume";
        assert_eq!(desk.ends(1, &other, ": plan: found {").stderr.lines().count(), 1);
        desk.ends(0, &format!("{arguments} --resume"), " networks are in ");
        desk.are_the_same(["whole.npz", "resumed.npz"]);
    }

    /// The first Ctrl-C saves the networks in training, says how to go on, and leaves no recording.
    #[test]
    fn an_interrupted_run_says_how_to_go_on() {
        let desk = Desk::new();
        for (more, way) in [("", "--resume continues"), ("--resume", "the same command continues")] {
            let before = lines(&desk, "a.checkpoint");
            let arguments = format!(
                "torch teachers --data {IMAGES} --recording votes.npz --device cpu --teachers 2 --images 200 --hidden 8 \
                 --instantiations 500 --queries 20 --adversarial 2 --retrainings 2 --epochs 4 --threads 1 \
                 --checkpoint a.checkpoint {more}"
            );
            let mut run = desk.command(&arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
            wait_for_lines(&desk, "a.checkpoint", &mut run, before.max(3) + 2);
            signal(&run, "-INT");
            let run = run.wait_with_output().unwrap();
            let stderr = String::from_utf8(run.stderr).unwrap();
            assert_eq!(run.status.code(), Some(130), "{stderr}");
            let end = format!("error: a.checkpoint: cannot complete: interrupted; what is done is saved, and {way}\n");
            assert!(stderr.ends_with(&end), "{stderr}");
            assert!(!desk.path("votes.npz").exists());
        }
    }

    #[test]
    fn images_that_are_missing_are_named_and_nothing_is_written() {
        let desk = Desk::new();
        let line = desk.run("torch teachers --data nowhere --recording votes.npz").line(1);
        assert!(line.contains("nowhere"), "{line}");
        assert!(!desk.path("votes.npz").exists());
        // None is enough of some.
        let none = "torch teachers --data x --recording y.npz --adversarial -1";
        desk.ends(2, none, "`-1` is not a whole number in [0, 1e6]");
    }
}
