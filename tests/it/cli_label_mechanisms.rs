//! `leakbound label-dp mechanisms`: mechanisms of label privacy from training and from recordings.

use crate::desk::Desk;

#[test]
fn what_cannot_be_studied_is_one_line() {
    let desk = Desk::new();
    let rejected = |study: &str| {
        desk.file("s.toml", study);
        desk.rejected(1, "label-dp mechanisms s.toml")
    };
    let recording = "[[recording]]\nname = 'a'\nmechanism = 'alibi'\n";
    let line = rejected(&format!("{recording}file = 'nowhere.npz'\n"));
    assert!(line.contains("nowhere.npz"), "{line}");
    let line = rejected(recording);
    assert_eq!(line, "s.toml: line 1, file: found no file, expected the path of a recording");
    let line = rejected("[[mechanism]]\nname = 'a'\nmechanism = 'alib'\n");
    assert!(line.starts_with("s.toml: line 3, mechanism: found `alib`, expected one of not-private, alibi"), "{line}");
}

#[cfg(not(feature = "torch"))]
#[test]
fn what_is_missing_cannot_be_trained_without_libtorch() {
    let desk = Desk::new();
    desk.file("s.toml", "[[mechanism]]\nname = 'a'\nmechanism = 'alibi'\n");
    let line = desk.rejected(1, "label-dp mechanisms s.toml");
    assert!(line.starts_with("training: s-recordings/a.npz is missing, and this program was built"), "{line}");
}

#[cfg(feature = "torch")]
mod with_libtorch {
    use super::*;
    use crate::json::{rows, texts};
    use serde_json::Value;
    use std::fs;

    const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../validation/studies/labels_sample.toml");
    const IMAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../validation/data/fashion_sample.npz");

    /// From images to the table; again without training; and again what was removed.
    #[test]
    fn missing_recordings_are_trained_and_others_are_not() {
        let desk = Desk::new();
        let study = |more: &str| format!("label-dp mechanisms {SAMPLE} --recordings r --quiet {more}");
        let run = |more: &str| {
            let ran = desk.run(&study(&format!("--format json {more}")));
            assert_eq!(ran.status, 0, "{ran:?}");
            let document: Value = serde_json::from_str(&ran.stdout).unwrap();
            document
        };
        let first = run("");
        let names = ["alibi-1", "alibi-4", "lp-2st", "pate-gaussian-1", "pate-gaussian-2", "response"];
        // Votes that students share are gone when all are trained.
        assert_eq!(crate::desk::names(&desk.path("r")), names.map(|name| format!("{name}.npz")));
        let [rr, pate] = [names[5], names[3]];
        assert_eq!(texts(&first["mechanisms"], "name"), [names[0], names[1], names[2], rr, pate, names[4]]);
        let findings = texts(&first["findings"], "finding");
        let count = |finding: &str| findings.iter().filter(|other| **other == finding).count();
        assert_eq!((count("alibi-before-stages"), count("stages-before-response")), (1, 1), "{findings:?}");
        assert_eq!(count("unlabeled-images-help"), 2, "{findings:?}");
        // More noise is more privacy, from the same teachers.
        let epsilon = |row: usize| rows(&first["mechanisms"])[row]["epsilon"].as_f64().unwrap();
        assert!(epsilon(4) > epsilon(5), "{} {}", epsilon(4), epsilon(5));
        let bytes = |name: &str| fs::read(desk.path(&format!("r/{name}.npz"))).unwrap();
        let (kept, again) = (bytes("lp-2st"), bytes(pate));
        fs::remove_file(desk.path(&format!("r/{pate}.npz"))).unwrap();
        let second = run("--threads 1");
        assert!(bytes("lp-2st") == kept && bytes(pate) == again);
        for part in ["mechanisms", "findings", "claims", "inputs"] {
            assert_eq!(first[part], second[part], "{part}");
        }
        // Another seed is another plan.
        let line = desk.run(&study("--seed 4")).line(1);
        assert!(line.contains("plan.seed: found 3, expected 4, as the study wants it; hint: "), "{line}");
    }

    #[test]
    fn options_that_cannot_be_trained_with_are_named_with_their_line() {
        let desk = Desk::new();
        let rejected = |study: &str| {
            desk.file("s.toml", format!("[label-dp]\ndata = '{IMAGES}'\n[pate-fm]\ndata = '{IMAGES}'\n{study}"));
            desk.rejected(1, "label-dp mechanisms s.toml")
        };
        let alibi = "[[mechanism]]\nname = 'a'\nmechanism = 'alibi'\n";
        for (study, expected) in [
            (format!("{alibi}epoch = 3\n"), "s.toml: line 8: found the option `epoch`, which it does not have"),
            (alibi.to_owned(), "s.toml: line 5: found --epsilon: required by this mechanism"),
            (format!("{alibi}vary = {{ epsilon = [1, 0] }}\n"), "s.toml: line 8: found "),
            (format!("{alibi}epsilon = 1\nteachers = 3\n"), "s.toml: line 9: found the option `teachers`"),
            (
                "[[mechanism]]\nname = 'a'\nmechanism = 'pate-fm'\nnoise = 'laplace:3'\n".to_owned(),
                "s.toml: line 8: found --noise",
            ),
        ] {
            let line = rejected(&study);
            assert!(line.starts_with(expected), "{study}: {line}");
        }
        assert!(!desk.path("s-recordings").exists());
    }
}
