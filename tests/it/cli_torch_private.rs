//! `leakbound torch dpsgd`, `label-dp` and `property`, from images to what is audited in their recordings.

use crate::cli_torch::{IMAGES, leakbound};

/// Trains with a recipe on the sample, once on one thread and once on two: the same file. Returns what it prints.
fn recorded_twice(recipe: &str, recording: &std::path::Path) -> String {
    let train = |threads: u32| {
        let (status, stdout, stderr) = leakbound(&format!(
            "torch {recipe} --data {IMAGES} --recording {} --device cpu --hidden 16 --seed 3 --threads {threads} \
             --quiet --format json",
            recording.display()
        ));
        assert_eq!(status, 0, "{stderr}");
        (stdout, std::fs::read(recording).unwrap())
    };
    let ((text, first), (_, second)) = (train(1), train(2));
    assert!(first == second);
    text
}

#[test]
fn private_models_are_attacked() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("private.npz");
    let recipe = "dpsgd --models 8 --images 800 --canaries 100 --epsilon 8 --epochs 8 --batch 100";
    let text = recorded_twice(recipe, &recording);
    assert!(text.contains("leakbound.torch-dpsgd/1") && text.contains("noise-multiplier"), "{text}");
    let (status, stdout, stderr) = leakbound(&format!("membership lira {} --quiet", recording.display()));
    assert_eq!(status, 0, "{stderr}");
    assert!(stdout.contains("8 of 8 models as victims, 100 samples"), "{stdout}");
    for (options, words) in [
        ("", "--noise-multiplier"),
        ("--epsilon 1 --noise-multiplier 1", "cannot be used with"),
        ("--noise-multiplier 0", "noise scale = 0"),
        ("--epsilon nan", "epsilon = NaN"),
        ("--epsilon 8 --average 1", "not in [0, 1)"),
    ] {
        let (status, _, stderr) = leakbound(&format!("torch dpsgd --data x --recording y.npz {options}"));
        assert!(status == 2 && stderr.contains(words), "{options}: {stderr}");
    }
}

/// Many trainings with and without a canary: claims that hold stand, one that is too small is refuted, and a recording
/// without members is rejected.
#[test]
fn last_iterates_of_many_runs_are_audited() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("runs.npz");
    let recipe = "dpsgd-runs --runs 60 --images 40 --batch 40 --epochs 10 --noise-multiplier 1.2 --initial-epochs 2";
    let text = recorded_twice(recipe, &recording);
    assert!(text.contains("leakbound.torch-dpsgd-runs/1") && text.contains("initial-test-accuracy"), "{text}");
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let fact = document["facts"].as_array().unwrap().iter().find(|fact| fact["name"] == "epsilon").unwrap();
    let claim = fact["value"].as_f64().unwrap();
    for (claim, expected) in [(claim, 0), (0.1, 3)] {
        let words = format!("audit scores {} --claim-epsilon {claim} --orders 2 --quiet", recording.display());
        let (status, stdout, stderr) = leakbound(&words);
        assert_eq!(status, expected, "{stdout} {stderr}");
        assert!(stdout.contains("60 members and 60 non-members") && stdout.contains("k-cut-region"), "{stdout}");
    }
    let half = crate::arrays::archive(|writer| writer.add_array("scores", &ndarray::arr1(&[1.0, 2.0])).unwrap());
    std::fs::write(folder.path().join("half.npz"), half).unwrap();
    let (status, _, stderr) = leakbound(&format!("audit scores {}", folder.path().join("half.npz").display()));
    assert!(status == 1 && stderr.contains("member"), "{stderr}");
}

/// A run that keeps its claim stands, one with a quarter of the noise is refuted, and a recording is for its own plan.
#[test]
fn one_run_is_audited_as_it_was_planned() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    for (name, seed) in [("plan.json", 5), ("other.json", 6)] {
        let (status, _, stderr) = leakbound(&format!(
            "canaries plan --canaries 600 --mechanism subsampled-gaussian:sigma=2.5,rate=0.1 --times 100 --repetitions 20 \
             --seed {seed} --quiet --format json --output {}",
            at(name)
        ));
        assert_eq!(status, 0, "{stderr}");
    }
    let recording = folder.path().join("run.npz");
    let audit = |plan: &str| leakbound(&format!("canaries audit {} {} --repetitions 20", at(plan), at("run.npz")));
    for (kind, noise, expected) in
        [("dirac", "2.5", 0), ("signs", "2.5", 0), ("images", "2.5", 0), ("dirac", "0.6", 3), ("signs", "0.6", 3)]
    {
        let recipe = format!(
            "dpsgd --canary-plan {} --canary-kind {kind} --images 800 --batch 80 --epochs 10 --noise-multiplier {noise}",
            at("plan.json")
        );
        let text = recorded_twice(&recipe, &recording);
        // The share of images in a step is less where canaries are images too.
        assert_eq!(text.contains("another-claim"), kind == "images" || noise == "0.6", "{text}");
        let (status, stdout, stderr) = audit("plan.json");
        assert_eq!(status, expected, "{kind}, {noise}: {stdout} {stderr}");
    }
    let (status, _, stderr) = audit("other.json");
    assert!(status == 1 && stderr.contains("array `plan_sha256`: found"), "{stderr}");
    let (status, _, stderr) = leakbound(&format!(
        "torch dpsgd --data {IMAGES} --recording {} --canary-plan {} --images 100 --hidden 1 --noise-multiplier 1 \
         --batch 10 --epochs 1 --quiet",
        at("small.npz"),
        at("missing.json")
    ));
    assert!(status == 1 && stderr.contains("missing.json"), "{stderr}");
    assert!(!folder.path().join("small.npz").exists());
}

#[test]
fn memorized_labels_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("canaries.npz");
    let of = |mechanism: &str| folder.path().join(format!("{mechanism}.npz"));
    for (mechanism, delta) in [("alibi", "0"), ("agibi", "1e-5"), ("randomized-response", "0"), ("lp-2st", "0")] {
        let recipe = format!("label-dp --mechanism {mechanism} --epsilon 6 --canaries 150 --models 2 --epochs 6");
        let text = recorded_twice(&recipe, &recording);
        assert!(text.contains("leakbound.torch-label-dp/1"), "{text}");
        // A valid guarantee is refuted for one seed in twenty.
        let (status, stdout, stderr) = leakbound(&format!(
            "label-dp memorization {} --delta {delta} --claim-epsilon 6 --quiet",
            recording.display()
        ));
        assert_eq!(status, 0, "{stdout} {stderr}");
        std::fs::rename(&recording, of(mechanism)).unwrap();
    }
    let named: Vec<String> = ["alibi", "randomized-response", "lp-2st"]
        .iter()
        .map(|name| format!("{name}={}", of(name).display()))
        .collect();
    let (status, stdout, stderr) = leakbound(&format!("label-dp compare {} --quiet", named.join(" ")));
    assert_eq!(status, 0, "{stderr}");
    assert!(stdout.contains("ALIBI is more accurate than LP-2ST at the same ε"), "{stdout}");
    assert!(stdout.contains("LP-2ST is more accurate than randomized response at the same ε"), "{stdout}");
    let (status, _, stderr) = leakbound("label-dp compare alibi");
    assert!(status == 2 && stderr.contains("expected MECHANISM=FILE.npz"), "{stderr}");
    let votes = concat!(env!("CARGO_MANIFEST_DIR"), "/../validation/data/fashion_sample.npz");
    let (status, _, stderr) = leakbound(&format!("label-dp compare mine={votes} --quiet"));
    assert!(status == 1 && stderr.lines().count() == 1 && stderr.contains("`probabilities` and `logits`"), "{stderr}");
    for (options, message) in [
        ("--epsilon 0", "epsilon = 0 is not in (0, inf)"),
        ("", "--epsilon: required by this mechanism; `--mechanism not-private` has none"),
        ("--mechanism not-private --epsilon 1", "--epsilon: labels that are not private have none"),
    ] {
        let (status, _, stderr) = leakbound(&format!("torch label-dp --data x --recording y.npz {options}"));
        assert_eq!((status, stderr), (2, format!("error: {message}\n")));
    }
    for stages in ["0.5", "0.5,0.6", "1,0"] {
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../validation/data/fashion_sample.npz");
        let options = format!("--mechanism lp-2st --epsilon 1 --stages {stages} --recording {}", recording.display());
        let (status, _, stderr) = leakbound(&format!("torch label-dp --data {sample} {options} --quiet"));
        assert!(status == 2 && stderr.lines().count() == 1, "{stages}: {status} {stderr}");
    }
}

#[test]
fn a_property_is_inferred() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("answers.npz");
    let recipe = "property --class 1 --percentages 100,5 --student-percentage 5 --teachers 6 --points 150 --sigma 1";
    recorded_twice(recipe, &recording);
    let (status, stdout, stderr) =
        leakbound(&format!("property distance {} --permutations 99 --format json", recording.display()));
    assert_eq!(status, 0, "{stderr}");
    assert!(stdout.contains("\"inferred\": 1"), "{stdout}");
    let (status, _, stderr) = leakbound("torch property --data x --recording y.npz --student-percentage 30");
    let message = "error: --student-percentage: 30 is none of --percentages [100.0, 50.0, 25.0]\n";
    assert_eq!((status, stderr.as_str()), (2, message));
}

/// A checkpoint that ends in the middle of a line, as a killed run leaves it; the run that goes on ends with the same
/// file.
#[test]
fn killed_recipes_go_on_to_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let recipes = [
        "dpsgd --models 4 --images 300 --canaries 50 --noise-multiplier 1 --epochs 2 --batch 100",
        "property --teachers 4 --points 50 --percentages 100,10 --student-percentage 10 --epochs 2 --student-epochs 2",
    ];
    for recipe in recipes {
        let place = |end: &str| folder.path().join(format!("{}.{end}", &recipe[..5]));
        let [whole, resumed, checkpoint] = ["whole.npz", "resumed.npz", "checkpoint"].map(place);
        let train = |recording: &std::path::Path, more: &str| {
            let arguments = format!("--data {IMAGES} --recording {} --device cpu --hidden 8", recording.display());
            leakbound(&format!("torch {recipe} {arguments} --checkpoint {} {more}", checkpoint.display()))
        };
        assert_eq!(train(&whole, "--quiet").0, 0);
        let bytes = std::fs::read(&checkpoint).unwrap();
        std::fs::write(&checkpoint, &bytes[..bytes.len() - 3]).unwrap();
        let (status, _, stderr) = train(&resumed, "--seed 1 --resume");
        assert!(status == 1 && stderr.contains(": plan: found {"), "{stderr}");
        let (status, _, stderr) = train(&resumed, "--resume");
        assert!(status == 0 && stderr.contains(" networks are in "), "{stderr}");
        assert!(std::fs::read(&whole).unwrap() == std::fs::read(&resumed).unwrap());
    }
}

/// Weights recorded twice, judged, and judged again from the recording.
#[test]
fn a_property_is_inferred_from_recorded_weights() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("weights.npz");
    let recipe = "meta-classifier --networks 30 --images 100 --epochs 6 --points 20 --meta-epochs 3 --flat-blocks 3 \
                  --permutations 99";
    let text = recorded_twice(recipe, &recording);
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["schema"], "leakbound.torch-meta-classifier/1");
    let names: Vec<_> = document["attacks"].as_array().unwrap().iter().map(|row| row["attack"].clone()).collect();
    assert_eq!(names, ["flat", "set", "distance"]);
    assert_eq!(document["truths"], serde_json::json!([0, 0, 0, 1, 1, 1]));
    let again = format!(
        "property meta-classifier {} --device cpu --meta-epochs 3 --flat-blocks 3 --permutations 99 --seed 3 --quiet \
         --format json",
        recording.display()
    );
    let (status, stdout, stderr) = leakbound(&again);
    assert_eq!(status, 0, "{stderr}");
    let again: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&again["attacks"], &again["pairs"]), (&document["attacks"], &document["pairs"]));
    let missing = folder.path().join("missing.npz");
    let (status, _, stderr) = leakbound(&format!("property meta-classifier {}", missing.display()));
    assert!(status == 1 && stderr.lines().count() == 1, "{stderr}");
    let (status, _, stderr) = leakbound(&format!(
        "torch meta-classifier --data {IMAGES} --recording {} --networks 2 --quiet",
        missing.display()
    ));
    let line = "error: networks of a value, for training, validation and test = 2 is not in [3, inf)\n";
    assert_eq!((status, stderr.as_str()), (2, line));
    assert!(!missing.exists());
}
