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
    use crate::cli_torch::{IMAGES, trained_again};
    use crate::json::{number, rows, texts};

    const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../validation/studies/labels_sample.toml");

    /// From images to the table; again without training; and again what was removed.
    #[test]
    fn missing_recordings_are_trained_and_others_are_not() {
        let names = ["alibi-1", "alibi-4", "lp-2st", "pate-gaussian-1", "pate-gaussian-2", "response"];
        let [rr, pate] = [names[5], names[3]];
        let parts = ["mechanisms", "findings", "claims", "inputs"];
        let (recordings, first) = trained_again(&format!("label-dp mechanisms {SAMPLE}"), ["lp-2st", pate], parts);
        // Votes that students share are gone when all are trained.
        assert_eq!(recordings, names.map(|name| format!("{name}.npz")));
        assert_eq!(texts(&first["mechanisms"], "name"), [names[0], names[1], names[2], rr, pate, names[4]]);
        let findings = texts(&first["findings"], "finding");
        let count = |finding: &str| findings.iter().filter(|other| **other == finding).count();
        assert_eq!((count("alibi-before-stages"), count("stages-before-response")), (1, 1), "{findings:?}");
        assert_eq!(count("unlabeled-images-help"), 2, "{findings:?}");
        // More noise is more privacy, from the same teachers.
        let epsilon = |row: usize| number(&rows(&first["mechanisms"])[row]["epsilon"]);
        assert!(epsilon(4) > epsilon(5), "{} {}", epsilon(4), epsilon(5));
    }

    #[test]
    fn options_that_cannot_be_trained_with_are_named_with_their_line() {
        let desk = Desk::new();
        let alibi = "[[mechanism]]\nname = 'a'\nmechanism = 'alibi'\n";
        for (study, expected) in [
            (format!("{alibi}epoch = 3\n"), "line 8: found the option `epoch`, which it does not have"),
            (alibi.to_owned(), "line 5: found --epsilon: required by this mechanism"),
            (format!("{alibi}vary = {{ epsilon = [1, 0] }}\n"), "line 8: found "),
            (format!("{alibi}epsilon = 1\nteachers = 3\n"), "line 9: found the option `teachers`"),
            (alibi.replace("'alibi'", "'pate-fm'") + "noise = 'laplace:3'\n", "line 8: found --noise"),
        ] {
            desk.file("s.toml", format!("[label-dp]\ndata = '{IMAGES}'\n[pate-fm]\ndata = '{IMAGES}'\n{study}"));
            desk.is_rejected_as(1, "label-dp mechanisms s.toml", &format!("s.toml: {expected}"));
        }
        assert!(!desk.path("s-recordings").exists());
    }
}
