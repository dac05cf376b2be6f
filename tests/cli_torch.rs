//! `leakbound torch` in both builds.

use assert_cmd::Command;

/// Exit status, stdout and stderr.
fn leakbound(arguments: &str) -> (i32, String, String) {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("leakbound"));
    let output = command.args(arguments.split_whitespace()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[cfg(not(feature = "torch"))]
#[test]
fn a_build_without_libtorch_says_how_to_make_one_with_it() {
    for arguments in ["torch", "torch teachers --epochs 3", "torch device"] {
        let (status, stdout, stderr) = leakbound(arguments);
        assert_eq!((status, stdout.as_str()), (1, ""), "{stderr}");
        assert!(stderr.starts_with("error: torch: this program was built without the feature `torch`; "), "{stderr}");
        assert!(stderr.contains("cargo build --release --features torch") && stderr.lines().count() == 1, "{stderr}");
    }
}

#[cfg(feature = "torch")]
mod with_libtorch {
    use super::leakbound;
    use leakbound::record::ArrayFile;
    use ndarray::{Array1, Array2};

    #[test]
    fn the_device_is_named_or_refused_in_one_line() {
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
        let images = concat!(env!("CARGO_MANIFEST_DIR"), "/validation/data/fashion_sample.npz");
        let train = |recording: &str, threads: u32| {
            let (status, stdout, stderr) = leakbound(&format!(
                "torch teachers --data {images} --recording {recording} --device cpu --teachers 10 --images 100 \
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

    /// From images to students, the same file again, and what other commands make of it.
    #[test]
    fn recorded_students_are_accounted_and_attacked() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name).display().to_string();
        let images = concat!(env!("CARGO_MANIFEST_DIR"), "/validation/data/fashion_sample.npz");
        let train = |recording: &str, threads: u32| {
            let (status, stdout, stderr) = leakbound(&format!(
                "torch student --data {images} --recording {recording} --device cpu --teachers 10 --hidden 16 --epochs 6 \
                 --threshold 6 --threshold-noise gaussian:3 --noise gaussian:1.5 --budgets 20,50 --student-batch 16 \
                 --private 100 --runs 2 --seed 3 --threads {threads} --quiet --format json"
            ));
            assert_eq!(status, 0, "{stderr}");
            stdout
        };
        let [first, second] = ["first.npz", "second.npz"].map(place);
        let document: serde_json::Value = serde_json::from_str(&train(&first, 1)).unwrap();
        assert_eq!(document["schema"], "leakbound.torch-student/1");
        let rows = document["students"].as_array().unwrap();
        assert_eq!(rows.len(), 4);
        for row in rows {
            assert!(row["epsilon"].as_f64().unwrap() <= row["budget"].as_f64().unwrap(), "{row}");
        }
        let codes: Vec<&str> =
            document["warnings"].as_array().unwrap().iter().map(|warning| warning["code"].as_str().unwrap()).collect();
        assert_eq!(codes, ["data-dependent-costs", "runs-add-up"]);
        train(&second, 2);
        assert!(std::fs::read(&first).unwrap() == std::fs::read(&second).unwrap());
        // The second run again, from its votes, its noise and its order of queries: the same figures to the last digit.
        let mut arrays = ArrayFile::open(&first).unwrap();
        let order: Array2<i32> = arrays.array("query_order").unwrap();
        let seeds: Array1<u64> = arrays.array("label_seed").unwrap();
        let queries: Vec<String> = order.row(1).iter().map(ToString::to_string).collect();
        let (status, stdout, stderr) = leakbound(&format!(
            "account {first} --noise gaussian:1.5 --threshold 6 --threshold-noise gaussian:3 --no-exact --instantiation 1 \
             --queries {} --seed {} --budget 20,50 --format json",
            queries.join(","),
            seeds[1]
        ));
        assert_eq!(status, 0, "{stderr}");
        let account: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        for (account, student) in account["budgets"].as_array().unwrap().iter().zip(&rows[2..]) {
            for field in ["budget", "delta", "epsilon", "queries", "labels", "success_rate", "label_accuracy"] {
                assert_eq!(account[field], student[field], "{field}");
            }
        }
        let (status, stdout, stderr) = leakbound(&format!("membership threshold {first} --resamples 0"));
        assert_eq!(status, 0, "{stderr}");
        assert!(stdout.contains("4 of 4 models as victims, 401 samples"), "{stdout}");
    }

    #[test]
    fn students_that_cannot_be_trained_are_refused_in_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let recording = folder.path().join("students.npz");
        let images = concat!(env!("CARGO_MANIFEST_DIR"), "/validation/data/fashion_sample.npz");
        let refused = |options: &str| {
            let recording = recording.display();
            leakbound(&format!("torch student --data {images} --recording {recording} --device cpu --quiet {options}"))
        };
        for (options, message) in [
            ("--noise laplace:2", "error: --noise: Confident-GNMax has Gaussian noise, not laplace:2\n"),
            ("--teachers 3000", "error: images of a teacher = 0 is not in [1, inf)\n"),
            ("--budgets 0", "error: budget = 0 is not in (0, inf]\n"),
            ("--private 1e5", "error: students: 100000 private images of 2000 training images\n"),
            ("--public 0.999", "error: students: 500 public images and 0 to measure with, of 500\n"),
        ] {
            let (status, stdout, stderr) = refused(options);
            assert_eq!((status, stdout.as_str(), stderr.as_str()), (2, "", message), "{options}");
        }
        for options in ["--budgets nan", "--public 1", "--runs 0", "--delta 2", "--student-decay nan", "--epochs 0"] {
            assert_eq!(refused(options).0, 2, "{options}");
        }
        assert!(!recording.exists());
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
    }
}
