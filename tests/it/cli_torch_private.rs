//! `leakbound torch dpsgd`, `label-dp` and `property`, from images to what is audited in their recordings.

use crate::cli_torch::IMAGES;
use crate::desk::Desk;
use crate::json::{number, row, texts};
use serde_json::Value;

/// Trains with a recipe on the sample, once on one thread and once on two: the same file. Returns the document.
fn recorded_twice(desk: &Desk, recipe: &str, recording: &str) -> Value {
    let train = |threads: u32| {
        let document = desk.done_json(&format!(
            "torch {recipe} --data {IMAGES} --recording {recording} --device cpu --hidden 16 --seed 3 \
             --threads {threads} --quiet"
        ));
        (document, std::fs::read(desk.path(recording)).unwrap())
    };
    let ((document, first), (_, second)) = (train(1), train(2));
    assert!(first == second);
    document
}

#[test]
fn private_models_are_attacked() {
    let desk = Desk::new();
    let recipe = "dpsgd --models 8 --images 800 --canaries 100 --epsilon 8 --epochs 8 --batch 100";
    let document = recorded_twice(&desk, recipe, "private.npz");
    assert_eq!(document["schema"], "leakbound.torch-dpsgd/1");
    assert!(document.to_string().contains("noise-multiplier"), "{document}");
    let stdout = desk.done("membership lira private.npz --quiet");
    assert!(stdout.contains("8 of 8 models as victims, 100 samples"), "{stdout}");
    for (options, words) in [
        ("", "--noise-multiplier"),
        ("--epsilon 1 --noise-multiplier 1", "cannot be used with"),
        ("--noise-multiplier 0", "noise scale = 0"),
        ("--epsilon nan", "epsilon = NaN"),
        ("--epsilon 8 --average 1", "not in [0, 1)"),
    ] {
        desk.ends(2, &format!("torch dpsgd --data x --recording y.npz {options}"), words);
    }
}

/// Many trainings with and without a canary: claims that hold stand, one that is too small is refuted, and a recording
/// without members is rejected.
#[test]
fn last_iterates_of_many_runs_are_audited() {
    let desk = Desk::new();
    let recipe = "dpsgd-runs --runs 60 --images 40 --batch 40 --epochs 10 --noise-multiplier 1.2 --initial-epochs 2";
    let document = recorded_twice(&desk, recipe, "runs.npz");
    assert_eq!(document["schema"], "leakbound.torch-dpsgd-runs/1");
    assert!(document.to_string().contains("initial-test-accuracy"), "{document}");
    let claim = number(&row(&document["facts"], "name", "epsilon")["value"]);
    for (claim, expected) in [(claim, 0), (0.1, 3)] {
        let ran = desk.ends(expected, &format!("audit scores runs.npz --claim-epsilon {claim} --orders 2 --quiet"), "");
        let stdout = ran.stdout;
        assert!(stdout.contains("60 members and 60 non-members") && stdout.contains("k-cut-region"), "{stdout}");
    }
    desk.arrays("half.npz", &[("scores", &ndarray::arr1(&[1.0, 2.0]))]);
    desk.ends(1, "audit scores half.npz", "member");
}

/// A run that keeps its claim stands, one with a quarter of the noise is refuted, and a recording is for its own plan.
#[test]
fn one_run_is_audited_as_it_was_planned() {
    let desk = Desk::new();
    for (name, seed) in [("plan.json", 5), ("other.json", 6)] {
        desk.done(&format!(
            "canaries plan --canaries 600 --mechanism subsampled-gaussian:sigma=2.5,rate=0.1 --times 100 --repetitions 20 \
             --seed {seed} --quiet --format json --output {name}"
        ));
    }
    for (kind, noise, expected) in
        [("dirac", "2.5", 0), ("signs", "2.5", 0), ("images", "2.5", 0), ("dirac", "0.6", 3), ("signs", "0.6", 3)]
    {
        let recipe = format!(
            "dpsgd --canary-plan plan.json --canary-kind {kind} --images 800 --batch 80 --epochs 10 --noise-multiplier {noise}"
        );
        let text = recorded_twice(&desk, &recipe, "run.npz").to_string();
        // The share of images in a step is less where canaries are images too.
        assert_eq!(text.contains("another-claim"), kind == "images" || noise == "0.6", "{text}");
        desk.ends(expected, "canaries audit plan.json run.npz --repetitions 20", "");
    }
    desk.ends(1, "canaries audit other.json run.npz --repetitions 20", "array `plan_sha256`: found");
    let small = format!(
        "torch dpsgd --data {IMAGES} --recording small.npz --canary-plan missing.json --images 100 --hidden 1 \
         --noise-multiplier 1 --batch 10 --epochs 1 --quiet"
    );
    desk.ends(1, &small, "missing.json");
    assert!(!desk.path("small.npz").exists());
}

#[test]
fn memorized_labels_are_bounded() {
    let desk = Desk::new();
    for (mechanism, delta) in [("alibi", "0"), ("agibi", "1e-5"), ("randomized-response", "0"), ("lp-2st", "0")] {
        let recipe = format!("label-dp --mechanism {mechanism} --epsilon 6 --canaries 150 --models 2 --epochs 6");
        let recording = format!("{mechanism}.npz");
        let document = recorded_twice(&desk, &recipe, &recording);
        assert_eq!(document["schema"], "leakbound.torch-label-dp/1");
        // A valid guarantee is refuted for one seed in twenty.
        desk.done(&format!("label-dp memorization {recording} --delta {delta} --claim-epsilon 6 --quiet"));
    }
    let named = ["alibi", "randomized-response", "lp-2st"].map(|name| format!("{name}={name}.npz")).join(" ");
    let stdout = desk.done(&format!("label-dp compare {named} --quiet"));
    assert!(stdout.contains("ALIBI is more accurate than LP-2ST at the same ε"), "{stdout}");
    assert!(stdout.contains("LP-2ST is more accurate than randomized response at the same ε"), "{stdout}");
    desk.ends(2, "label-dp compare alibi", "expected MECHANISM=FILE.npz");
    let ran = desk.ends(1, &format!("label-dp compare mine={IMAGES} --quiet"), "`probabilities` and `logits`");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    for (options, message) in [
        ("--epsilon 0", "epsilon = 0 is not in (0, inf)"),
        ("", "--epsilon: required by this mechanism; `--mechanism not-private` has none"),
        ("--mechanism not-private --epsilon 1", "--epsilon: labels that are not private have none"),
    ] {
        let ran = desk.run(&format!("torch label-dp --data x --recording y.npz {options}"));
        assert_eq!((ran.status, ran.stderr), (2, format!("error: {message}\n")));
    }
    for stages in ["0.5", "0.5,0.6", "1,0"] {
        let options = format!("--mechanism lp-2st --epsilon 1 --stages {stages} --recording canaries.npz");
        let ran = desk.run(&format!("torch label-dp --data {IMAGES} {options} --quiet"));
        assert!(ran.status == 2 && ran.stderr.lines().count() == 1, "{ran:?}");
    }
}

#[test]
fn a_property_is_inferred() {
    let desk = Desk::new();
    let recipe = "property --class 1 --percentages 100,5 --student-percentage 5 --teachers 6 --points 150 --sigma 1";
    recorded_twice(&desk, recipe, "answers.npz");
    assert_eq!(desk.done_json("property distance answers.npz --permutations 99")["inferred"], 1);
    let ran = desk.run("torch property --data x --recording y.npz --student-percentage 30");
    let message = "error: --student-percentage: 30 is not one of --percentages [100.0, 50.0, 25.0]\n";
    assert_eq!((ran.status, ran.stderr.as_str()), (2, message));
}

/// A checkpoint that ends in the middle of a line, as a killed run leaves it; the run that goes on ends with the same
/// file.
#[test]
fn killed_recipes_go_on_to_the_same_file() {
    let desk = Desk::new();
    for (name, recipe) in [
        ("dpsgd", "dpsgd --models 4 --images 300 --canaries 50 --noise-multiplier 1 --epochs 2 --batch 100"),
        (
            "property",
            "property --teachers 4 --points 50 --percentages 100,10 --student-percentage 10 --epochs 2 --student-epochs 2",
        ),
    ] {
        let [whole, resumed, checkpoint] =
            ["whole.npz", "resumed.npz", "checkpoint"].map(|end| format!("{name}.{end}"));
        let train = |recording: &str, more: &str| {
            let arguments = format!("--data {IMAGES} --recording {recording} --device cpu --hidden 8");
            format!("torch {recipe} {arguments} --checkpoint {checkpoint} {more}")
        };
        desk.done(&train(&whole, "--quiet"));
        let bytes = std::fs::read(desk.path(&checkpoint)).unwrap();
        desk.file(&checkpoint, &bytes[..bytes.len() - 3]);
        desk.ends(1, &train(&resumed, "--seed 1 --resume"), ": plan: found {");
        desk.ends(0, &train(&resumed, "--resume"), " networks are in ");
        desk.are_the_same([&whole, &resumed]);
    }
}

/// Weights recorded twice, judged, and judged again from the recording.
#[test]
fn a_property_is_inferred_from_recorded_weights() {
    let desk = Desk::new();
    let recipe = "meta-classifier --networks 30 --images 100 --epochs 6 --points 20 --meta-epochs 3 --flat-blocks 3 \
                  --permutations 99";
    let document = recorded_twice(&desk, recipe, "weights.npz");
    assert_eq!(document["schema"], "leakbound.torch-meta-classifier/1");
    assert_eq!(texts(&document["attacks"], "attack"), ["flat", "set", "distance"]);
    assert_eq!(document["truths"], serde_json::json!([0, 0, 0, 1, 1, 1]));
    let again = desk.done_json(
        "property meta-classifier weights.npz --device cpu --meta-epochs 3 --flat-blocks 3 --permutations 99 --seed 3 \
         --quiet",
    );
    assert_eq!((&again["attacks"], &again["pairs"]), (&document["attacks"], &document["pairs"]));
    let ran = desk.ends(1, "property meta-classifier missing.npz", "");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    let ran = desk.run(&format!("torch meta-classifier --data {IMAGES} --recording missing.npz --networks 2 --quiet"));
    let line = "error: networks of a value, for training, validation and test = 2 is not in [3, inf)\n";
    assert_eq!((ran.status, ran.stderr.as_str()), (2, line));
    assert!(!desk.path("missing.npz").exists());
}
