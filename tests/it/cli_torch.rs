//! `leakbound torch` in both builds.

use crate::desk::Desk;
#[cfg(feature = "torch")]
use crate::desk::Ran;

/// The images that the tests train with.
#[cfg(feature = "torch")]
pub const IMAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../validation/data/fashion_sample.npz");

/// Exit status, stdout and stderr.
#[cfg(feature = "torch")]
pub fn leakbound(arguments: &str) -> (i32, String, String) {
    let Ran { status, stdout, stderr, .. } = Desk::new().run(arguments);
    (status, stdout, stderr)
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
    use super::{Desk, IMAGES, leakbound};

    #[test]
    fn the_device_is_named_or_rejected_in_one_line() {
        let (status, stdout, _) = leakbound("torch device --device cpu --threads 2");
        assert_eq!((status, stdout.as_str()), (0, "CPU, 2 threads\n"));
        let (status, stdout, stderr) = leakbound("torch device --device cuda");
        match status {
            0 => assert!(stdout.starts_with("CUDA GPU"), "{stdout}"),
            _ => {
                assert_eq!(status, 1);
                assert!(stderr.starts_with("error: device cuda: ") && stderr.lines().count() == 1, "{stderr}");
            }
        }
        assert_eq!(leakbound("torch device --device tpu").0, 2);
    }

    /// From images to an audit, and the same file again on another number of threads.
    #[test]
    fn recorded_votes_are_audited_and_are_the_same_again() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name).display().to_string();
        let train = |recording: &str, threads: u32| {
            let (status, stdout, stderr) = leakbound(&format!(
                "torch teachers --data {IMAGES} --recording {recording} --device cpu --teachers 10 --images 100 \
                 --hidden 16 --instantiations 2 --queries 40 --adversarial 4 --retrainings 3 --epochs 6 --seed 3 \
                 --threads {threads} --quiet"
            ));
            assert_eq!(status, 0, "{stderr}");
            assert!(stdout.contains("teacher"), "{stdout}");
        };
        let [first, second] = ["first.npz", "second.npz"].map(place);
        train(&first, 1);
        train(&second, 2);
        assert!(std::fs::read(&first).unwrap() == std::fs::read(&second).unwrap());
        for (model, adversary) in [("pate", "pois-advq"), ("pate", "pois-natq"), ("capc", "nat-advq")] {
            let (status, stdout, stderr) = leakbound(&format!(
                "audit votes {first} --model {model} --adversary {adversary} --noise gaussian:10 --samples 1e4 --format json"
            ));
            assert_eq!(status, 0, "{model} {adversary}: {stderr}");
            assert!(stdout.contains("\"schema\"") && stdout.contains("exact"), "{stdout}");
        }
    }

    /// From images to an attack, and the same file again on another number of threads.
    #[test]
    fn recorded_answers_are_attacked_and_are_the_same_again() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name).display().to_string();
        let train = |recording: &str, options: &str| {
            let (status, stdout, stderr) = leakbound(&format!(
                "torch shadow --data {IMAGES} --recording {recording} --device cpu --models 10 --audit 50 --fixed 200 \
                 --hidden 16 --epochs 15 --flip --shift 1 --views 18 --seed 3 --quiet {options}"
            ));
            assert_eq!(status, 0, "{stderr}");
            stdout
        };
        let [first, second, others] = ["first.npz", "second.npz", "others.npz"].map(place);
        let stdout = train(&first, "--threads 1");
        assert!(stdout.contains("10 shadow models") && stdout.contains("[10, 50, 18, 10]"), "{stdout}");
        train(&second, "--threads 2");
        assert!(std::fs::read(&first).unwrap() == std::fs::read(&second).unwrap());
        let attack = |command: &str, recording: &str| {
            let (status, stdout, stderr) = leakbound(&format!("membership {command} {recording} --format json"));
            assert_eq!(status, 0, "{command}: {stderr}");
            assert!(stdout.contains("\"schema\""), "{stdout}");
        };
        for command in ["lira", "label-only", "compare"] {
            attack(command, &first);
        }
        train(&others, &format!("--canaries out-of-distribution --others {IMAGES}"));
        attack("lira", &others);
    }

    #[test]
    fn shadow_models_that_cannot_be_trained_are_rejected_and_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("images.npz");
        std::fs::copy(IMAGES, &copy).unwrap();
        let copy = copy.display().to_string();
        let recording = folder.path().join("shadow.npz").display().to_string();
        let rejected = |status: i32, data: &str, recording: &str, options: &str, expected: &str| {
            let arguments = format!("torch shadow --data {data} --recording {recording} --device cpu {options}");
            let (found, stdout, stderr) = leakbound(&arguments);
            assert_eq!((found, stdout.as_str()), (status, ""), "{arguments}: {stderr}");
            assert!(stderr.contains(expected), "{arguments}: {stderr}");
        };
        rejected(1, "nowhere", &recording, "", "nowhere");
        rejected(2, IMAGES, &recording, "--audit 2000", "2000 audited images and 0 fixed ones of 2000 training images");
        rejected(2, IMAGES, &recording, "--models 3", "3 models have no exact half");
        rejected(2, IMAGES, &recording, "--views 18 --view-shift 28", "a shift of 28 pixels leaves nothing");
        rejected(2, IMAGES, &recording, &format!("--others {IMAGES}"), "take no images of another data set");
        rejected(1, &copy, &copy, "", "expected another file");
        rejected(2, IMAGES, &recording, "--canaries out-of-distribution", "--others");
        rejected(2, IMAGES, &recording, "--canaries cats", "expected original, mislabeled");
        rejected(2, IMAGES, &recording, "--learning-rate NaN", "--learning-rate");
        rejected(2, IMAGES, &recording, "--views 7", "--views");
        rejected(
            2,
            IMAGES,
            &recording,
            "--defense cats",
            "expected none, relaxloss, hamp, selena, dfkd, dp-sgd, simclr, moco",
        );
        rejected(2, IMAGES, &recording, "--defense relaxloss --loss-threshold -1", "-1 is not in [0, inf)");
        rejected(2, IMAGES, &recording, "--defense hamp --entropy-share 1", "1 is not in [0, 1)");
        rejected(2, IMAGES, &recording, "--defense hamp --loss-threshold 1", "an option of relaxloss, not of hamp");
        let split = "--defense selena --split-models 5 --left-out 5";
        rejected(2, IMAGES, &recording, split, "5 of 5 models of SELENA leave out an image");
        rejected(2, IMAGES, &recording, "--left-out 3", "an option of selena, not of none");
        rejected(
            2,
            IMAGES,
            &recording,
            "--loss-threshold 1",
            "--loss-threshold is an option of relaxloss, not of none",
        );
        rejected(2, IMAGES, &recording, "--models 0", "--models");
        rejected(2, IMAGES, &recording, "--neighbors --audit 30 --fixed 20", "among 20 fixed images; take more");
        rejected(2, IMAGES, &recording, "--defense dfkd", "has none; take a network that has, such as --network cnn");
        rejected(2, IMAGES, &recording, "--synthetic-images 9", "an option of dfkd, not of none");
        rejected(2, IMAGES, &recording, "--defense dfkd --network cnn --synthetic-images 1", "= 1 is not in [2, inf)");
        rejected(2, IMAGES, &recording, "--defense dp-sgd", "DP-SGD: it needs --noise-multiplier or --epsilon");
        rejected(2, IMAGES, &recording, "--defense hamp --epsilon 8", "an option of dp-sgd, not of hamp");
        rejected(2, IMAGES, &recording, "--defense dp-sgd --epsilon 8 --network cnn", "normalizes batches");
        let views = "--defense dp-sgd --epsilon 8 --gradient-views 4";
        rejected(2, IMAGES, &recording, views, "4 views of an image need --flip or --shift to differ");
        assert!(!std::path::Path::new(&recording).exists());
        assert!(std::fs::read(IMAGES).unwrap() == std::fs::read(&copy).unwrap());
    }

    /// Each defense, and the same file again on another number of threads.
    #[test]
    fn defended_answers_are_attacked_and_are_the_same_again() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name).display().to_string();
        let defenses = [
            ("relaxloss --loss-threshold 1", "RelaxLoss at 1", "logits", r#""loss_threshold": 1.0"#),
            (
                "hamp --entropy-share 0.9",
                "HAMP with entropy share 0.9 and weight 0.005",
                "training_time_logits",
                r#""entropy_weight": 0.005"#,
            ),
            (
                "selena --split-models 4 --left-out 2 --neighbors",
                "SELENA of 4 models, 2 of them for an image",
                "split_ai_neighbor_logits",
                r#""left_out": 2"#,
            ),
            (
                "dfkd --network cnn --filters 2 --synthesis-iterations 2 --synthetic-images 8 --generator-filters 2",
                "DFKD with 2 times 8 synthetic images",
                "synthetic_images",
                r#""student_epochs": 5"#,
            ),
            (
                "dp-sgd --epsilon 8",
                "DP-SGD with epsilon 8 at delta 1e-5",
                "noise_multiplier",
                r#""clipping_norm": 1.0"#,
            ),
        ];
        for (defense, title, array, parameter) in defenses {
            let [first, second] = ["first.npz", "second.npz"].map(place);
            let train = |recording: &str, options: &str| {
                let (status, stdout, stderr) = leakbound(&format!(
                    "torch shadow --data {IMAGES} --recording {recording} --device cpu --models 6 --audit 30 \
                     --fixed 120 --epochs 4 --seed 3 --quiet --defense {defense} {options}"
                ));
                assert_eq!(status, 0, "{stderr}");
                stdout
            };
            let text = train(&first, "--threads 1");
            assert!(text.contains(title) && text.contains(array), "{text}");
            // Parameters at their defaults are in the document too.
            let document = train(&second, "--threads 2 --format json");
            assert!(document.contains(parameter) && document.contains(&format!("\"{array}\"")), "{document}");
            assert!(std::fs::read(&first).unwrap() == std::fs::read(&second).unwrap(), "{defense}");
            let looks_at = if defense.contains("--neighbors") { "neighbor" } else { "sample" };
            let (status, _, stderr) = leakbound(&format!("membership lira {first} --answers {looks_at} --format json"));
            assert_eq!(status, 0, "{defense}: {stderr}");
        }
    }

    /// A run is killed after some groups, in the middle of a line; one that goes on ends with the same file.
    #[test]
    fn a_killed_run_goes_on_to_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name).display().to_string();
        let [whole, resumed, checkpoint] = ["whole.npz", "resumed.npz", "a.checkpoint"].map(place);
        let train = |recording: &str, more: &str| {
            format!(
                "torch teachers --data {IMAGES} --recording {recording} --device cpu --teachers 16 --images 60 --hidden 8 \
                 --instantiations 2 --queries 20 --adversarial 2 --retrainings 2 --epochs 4 --seed 5 --threads 1 {more}"
            )
        };
        assert_eq!(leakbound(&train(&whole, "--quiet")).0, 0);
        let arguments = train(&resumed, &format!("--checkpoint {checkpoint}"));
        let mut run = Desk::root()
            .command(&arguments)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let lines = || std::fs::read(&checkpoint).map_or(0, |bytes| bytes.split(|&byte| byte == b'\n').count());
        while lines() < 6 && run.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        run.kill().unwrap();
        run.wait().unwrap();
        let bytes = std::fs::read(&checkpoint).unwrap();
        std::fs::write(&checkpoint, &bytes[..bytes.len() - 3]).unwrap();
        let (status, _, stderr) = leakbound(&arguments);
        assert!(status == 1 && stderr.contains("--resume goes on where it ends"), "{stderr}");
        let other = arguments.replace("--hidden 8", "--hidden 9") + " --resume";
        let (status, _, stderr) = leakbound(&other);
        assert!(status == 1 && stderr.contains(": plan: found {") && stderr.lines().count() == 1, "{stderr}");
        let (status, _, stderr) = leakbound(&format!("{arguments} --resume"));
        assert!(status == 0 && stderr.contains(" networks are in "), "{stderr}");
        assert!(std::fs::read(&whole).unwrap() == std::fs::read(&resumed).unwrap());
    }

    /// The first Ctrl-C saves the networks in training, says how to go on, and leaves no recording.
    #[test]
    fn an_interrupted_run_says_how_to_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name).display().to_string();
        let [recording, checkpoint] = ["votes.npz", "a.checkpoint"].map(place);
        let arguments = |more: &str| {
            format!(
                "torch teachers --data {IMAGES} --recording {recording} --device cpu --teachers 2 --images 200 --hidden 8 \
                 --instantiations 500 --queries 20 --adversarial 2 --retrainings 2 --epochs 4 --threads 1 \
                 --checkpoint {checkpoint} {more}"
            )
        };
        for (more, way) in [("", "--resume goes on"), ("--resume", "the same command goes on")] {
            let lines = || std::fs::read(&checkpoint).map_or(0, |bytes| bytes.split(|&byte| byte == b'\n').count());
            let before = lines();
            let mut run = Desk::root()
                .command(&arguments(more))
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::piped())
                .spawn()
                .unwrap();
            while lines() < before.max(3) + 2 && run.try_wait().unwrap().is_none() {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            crate::desk::signal(&run, "-INT");
            let run = run.wait_with_output().unwrap();
            let stderr = String::from_utf8(run.stderr).unwrap();
            assert_eq!(run.status.code(), Some(130), "{stderr}");
            let end = format!("error: {checkpoint}: cannot complete: interrupted; what is done is saved, and {way}\n");
            assert!(stderr.ends_with(&end), "{stderr}");
            assert!(!std::path::Path::new(&recording).exists());
        }
    }

    #[test]
    fn images_that_are_missing_are_named_and_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let recording = folder.path().join("votes.npz");
        let (status, stdout, stderr) =
            leakbound(&format!("torch teachers --data nowhere --recording {}", recording.display()));
        assert_eq!((status, stdout.as_str()), (1, ""), "{stderr}");
        assert!(stderr.contains("nowhere") && stderr.lines().count() == 1, "{stderr}");
        assert!(!recording.exists());
        // None is enough of some.
        let (status, _, stderr) = leakbound("torch teachers --data x --recording y.npz --adversarial -1");
        assert!(status == 2 && stderr.contains("`-1` is not a whole number in [0, 1e6]"), "{stderr}");
    }
}
