//! `leakbound membership defenses`: defenses side by side, from recordings and from training.

use crate::arrays::Arrays;
use crate::desk::Desk;
use crate::json::{codes, number, row, rows, texts};
use crate::membership_defenses::normal;
use crate::report_pages::{checked, tags, text_of};
use ndarray::{Array1, Array2, Array3, Array4, Axis};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

const MODELS: usize = 16;
const SAMPLES: usize = 40;
const CLASSES: usize = 4;
const VIEWS: usize = 6;

fn keep() -> Array2<bool> {
    Array2::from_shape_fn((MODELS, SAMPLES), |(m, s)| (m + s) % 2 == 0)
}

/// The label's logit is so much higher for members, in noise of 1.
fn logits(gap: f64, stream: &mut ChaCha8Rng) -> Array4<f32> {
    let keep = keep();
    Array4::from_shape_fn((MODELS, SAMPLES, VIEWS, CLASSES), |(m, s, _, c)| {
        let own = if c == s % CLASSES { 1.0 } else { 0.0 };
        (normal(stream) + own * if keep[[m, s]] { gap } else { 0.0 }) as f32
    })
}

/// Random confidences in the order of the true ones.
fn masked(logits: &Array4<f32>, stream: &mut ChaCha8Rng) -> Array4<f32> {
    let mut masked = logits.clone();
    for mut row in masked.rows_mut() {
        let mut order: Vec<usize> = (0..row.len()).collect();
        order.sort_by(|&a, &b| row[a].total_cmp(&row[b]));
        let scale = 20.0 * stream.random::<f64>();
        let mut random: Vec<f64> = order.iter().map(|_| scale * normal(stream)).collect();
        random.sort_by(f64::total_cmp);
        order.iter().zip(random).for_each(|(&class, value)| row[class] = value as f32);
    }
    masked
}

/// A recording of these logits, with the accuracies and what else the defense leaves behind.
fn record(desk: &Desk, name: &str, logits: &Array4<f32>, further: &Arrays<'_>) {
    let answers: &Arrays<'_> = &[
        ("logits", logits),
        ("labels", &Array1::from_shape_fn(SAMPLES, |s| (s % CLASSES) as i64)),
        ("keep", &keep()),
        ("audit_index", &Array1::from_shape_fn(SAMPLES, |s| s as i32)),
        ("test_accuracy", &Array1::from_shape_fn(MODELS, |m| 0.8 + 0.01 * (m % 2) as f32)),
    ];
    desk.compressed(name, &[answers, further].concat());
}

const STUDY: &str = "fprs = [0.05]\nvariance = 'pooled'\nresamples = 200\n\
    [[recording]]\nname = 'masked'\ndefense = 'hamp'\noriginal = 'hamp.npz'\n\
    canaries = [{ kind = 'mislabeled', file = 'hamp.npz' }]\n\
    [[recording]]\nname = 'split'\ndefense = 'selena'\n\
    canaries = [{ kind = 'duplicated', file = 'strong.npz' }, { kind = 'mislabeled', file = 'split.npz' }]\n\
    [[recording]]\nname = 'encoder'\ndefense = 'simclr'\noriginal = 'encoder.npz'\n\
    canaries = [{ kind = 'out-of-distribution', file = 'strange.npz' }]\n\
    [[recording]]\nname = 'new'\ncanaries = [{ kind = 'mislabeled', file = 'none.npz' }]\n\
    [[recording]]\nname = 'distilled'\ndefense = 'dfkd'\ncanaries = [{ kind = 'mislabeled', file = 'strong.npz' }]\n\
    [[recording]]\nname = 'private'\ndefense = 'dp-sgd'\ncanaries = [{ kind = 'mislabeled', file = 'weak.npz' }]\n";

/// Recordings of defenses that do what was published of them, and of one more that leaks nothing.
fn desk() -> Desk {
    let (desk, mut stream) = (Desk::new(), ChaCha8Rng::seed_from_u64(1));
    let [strong, weak, none] = [2.5, 0.4, 0.0].map(|gap| logits(gap, &mut stream));
    record(&desk, "hamp.npz", &masked(&strong, &mut stream), &[("training_time_logits", &strong)]);
    record(&desk, "strong.npz", &strong, &[]);
    record(&desk, "weak.npz", &weak, &[]);
    record(&desk, "none.npz", &none, &[]);
    record(&desk, "split.npz", &weak, &[("split_ai_logits", &none), ("split_ai_neighbor_logits", &strong)]);
    let keep = keep();
    let mut embeddings = |spread: f64| {
        Array4::from_shape_fn((MODELS, SAMPLES, VIEWS, 6), |(m, s, _, d)| {
            let center = if d == s % 6 { 3.0 } else { 0.0 };
            (center + normal(&mut stream) * if keep[[m, s]] { spread } else { 1.0 }) as f32
        })
    };
    record(&desk, "encoder.npz", &weak, &[("embeddings", &embeddings(0.75))]);
    record(&desk, "strange.npz", &weak, &[("embeddings", &embeddings(0.3))]);
    desk.file("s.toml", STUDY);
    desk
}

/// Finding, defense and decision of each row.
fn decisions(document: &Value) -> Vec<(&str, &str, &str)> {
    let text = |row: &'_ Value, name: &str| row[name].as_str().unwrap().to_owned();
    let rows = rows(&document["findings"]).iter();
    rows.map(|row| {
        assert!(!text(row, "finding").is_empty());
        (row["finding"].as_str().unwrap(), row["defense"].as_str().unwrap(), row["decision"].as_str().unwrap())
    })
    .collect()
}

#[test]
fn findings_are_decided_by_bands() {
    let document = desk().json("membership defenses s.toml");
    assert_eq!(document["schema"], "leakbound.membership-defenses/1");
    for row in rows(&document["evaluations"]) {
        println!("{} {} {}: {}", row["defense"], row["canaries"], row["attack"], row["at"]);
    }
    assert_eq!(
        decisions(&document),
        [
            ("test-time-defense-masks", "masked", "agrees"),
            ("labels-show-what-is-masked", "masked", "undecided"),
            ("test-time-defense-masks", "masked", "agrees"),
            ("labels-show-what-is-masked", "masked", "undecided"),
            ("duplicates-leak-more", "split", "agrees"),
            ("neighbors-show-what-is-left-out", "split", "agrees"),
            ("encoder-leaks-more", "encoder", "undecided"),
            ("encoder-leaks-more", "encoder", "agrees"),
            ("out-of-distribution-leaks-more", "encoder", "agrees"),
            ("distilled-canaries-leak", "distilled", "agrees"),
            ("dp-sgd-leaks-less", "masked", "agrees"),
            ("dp-sgd-leaks-less", "split", "agrees"),
            ("dp-sgd-leaks-less", "encoder", "agrees"),
            ("dp-sgd-leaks-less", "new", "undecided"),
            ("dp-sgd-leaks-less", "distilled", "agrees"),
        ]
    );
    let of = |name: &str| row(&document["defenses"], "defense", name);
    // Accuracies alternate between 0.80 and 0.81.
    let accuracy = &of("masked")["test_accuracy"];
    assert!((number(&accuracy["mean"]) - 0.805).abs() < 1e-6, "{accuracy}");
    assert!((number(&accuracy["deviation"]) - 0.005 * (16.0f64 / 15.0).sqrt()).abs() < 1e-6, "{accuracy}");
    assert_eq!((&of("masked")["attack"], &of("encoder")["attack"]), (&"label-only".into(), &"encoder-lira".into()));
    assert!(rows(&of("private")["original"]).is_empty());
    assert_eq!(of("split")["ours"][0], row(&document["evaluations"], "defense", "split")["at"][0]);
    assert!(!codes(&document).contains(&"single-view"));
}

/// A row is what the command of its attack finds.
#[test]
fn attacks_are_those_of_their_commands() {
    let desk = desk();
    let document = desk.json("membership defenses s.toml");
    for (defense, attack, alone) in [
        ("masked", "label-only", "label-only hamp.npz --balanced"),
        ("masked", "lira", "lira hamp.npz --variance pooled"),
        ("encoder", "encoder-lira", "lira encoder.npz --answers encoder --variance pooled"),
    ] {
        // All attacks of the study share the failure probability.
        let share = 0.05 / rows(&document["evaluations"]).len() as f64;
        let alone = desk.json(&format!("membership {alone} --fpr 0.05 --resamples 200 --failure-probability {share}"));
        let expected = &alone["levels"][0];
        let found =
            rows(&document["evaluations"]).iter().find(|row| row["defense"] == defense && row["attack"] == attack);
        let found = found.unwrap();
        assert_eq!(found["auc"], expected["auc"], "{attack}");
        let [found, expected] = [&found["at"][0], &expected["at"][0]];
        assert_eq!(found["tpr"], expected["tpr"], "{attack}");
        let end = |name: &str| number(&expected[name]);
        assert_eq!(number(&found["lower"]), end("bootstrap_lower").min(end("tpr_lower")));
        assert_eq!(number(&found["upper"]), end("bootstrap_upper").max(end("tpr_upper")));
    }
}

#[test]
fn every_form_has_the_study() {
    let desk = desk();
    let text = desk.stdout("membership defenses s.toml --report page.html");
    let first = "6 defenses against membership inference; published findings: 11 agree, 0 differ, 4 undecided";
    assert!(text.starts_with(first), "{text}");
    assert!(text.contains("LiRA finds more without the test-time defense") && text.contains("AGREES"), "{text}");
    checked(&desk.text("page.html"), |root| {
        // TPR of all defenses, and ROCs of each.
        assert_eq!(tags(root, "svg"), 7);
        assert!(text_of(root).contains("TPR at FPR 5% on original samples and on canaries"));
    });
    let csv = desk.stdout("membership defenses s.toml --format csv");
    let document = desk.json("membership defenses s.toml");
    assert_eq!(csv.lines().count(), 1 + rows(&document["evaluations"]).len(), "{csv}");
    assert!(csv.starts_with("defense,family,canaries,role,attack,"), "{csv}");
    assert_eq!(texts(&document["roc"], "defense").len(), rows(&document["evaluations"]).len());
}

#[test]
fn what_cannot_be_studied_is_one_line() {
    let desk = desk();
    let rejected = |study: &str| {
        desk.file("s.toml", study);
        desk.rejected(1, "membership defenses s.toml")
    };
    let hamp = "[[recording]]\nname = 'a'\ndefense = 'hamp'\noriginal = 'hamp.npz'\n";
    let begins = |study: &str, beginning: &str| {
        let line = rejected(study);
        assert!(line.starts_with(beginning), "{study}: {line}");
    };
    assert!(rejected("[[recording]]\nname = 'a'\noriginal = 'nowhere.npz'\n").contains("nowhere.npz"));
    let line = rejected(&format!("{hamp}{hamp}"));
    assert_eq!(line, "s.toml: line 5: found the name `a` a second time, first in line 1, expected each name once");
    begins(&format!("fprs = [0]\n{hamp}"), "s.toml: line 1, fprs: found 0, expected numbers between 0 and 1");
    let line = rejected(&format!("{hamp}attak = 'lira'\n"));
    let named = line.starts_with("s.toml: line 5: found the key `attak`");
    assert!(named && line.ends_with("did you mean `attack`?"), "{line}");
    let without = "s.toml: line 1: found the attack encoder-lira on hamp.npz, which has no `embeddings`";
    begins(&hamp.replace("'hamp'", "'simclr'"), without);
    assert!(rejected("seed = 1\n").contains("expected at least one table [[defense]] or [[recording]]"));
    // Fewer models, and other samples, of the same defense.
    let other = |name: &str, models: usize, from: i32| {
        let scores = Array3::<f32>::zeros((models, SAMPLES, 1));
        let keep = keep().select(Axis(0), &(0..models).collect::<Vec<_>>());
        let index = Array1::from_shape_fn(SAMPLES, |s| s as i32 + from);
        desk.compressed(name, &[("scores", &scores), ("keep", &keep), ("audit_index", &index)]);
    };
    other("few.npz", 8, 0);
    other("other.npz", MODELS, 1);
    let canaries = |file: &str| format!("{hamp}canaries = [{{ kind = 'uniform', file = '{file}' }}]\n");
    begins(&canaries("few.npz"), "few.npz: array `keep`: found 8 models, expected 16, as in hamp.npz");
    let samples = "other.npz: array `audit_index`: found other samples, expected those of hamp.npz";
    begins(&canaries("other.npz"), samples);
}

#[cfg(not(feature = "torch"))]
#[test]
fn what_is_missing_cannot_be_trained_without_libtorch() {
    let desk = Desk::new();
    desk.file("s.toml", "[[defense]]\nname = 'a'\n");
    let line = desk.rejected(1, "membership defenses s.toml");
    assert!(line.starts_with("training: s-recordings/a-original.npz is missing, and this program was built"), "{line}");
}

#[cfg(feature = "torch")]
mod with_libtorch {
    use super::*;
    use crate::cli_torch::{IMAGES, trained_again};

    const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../validation/studies/defenses_sample.toml");

    /// From images to decided findings; again without training; and again what was removed.
    #[test]
    fn missing_recordings_are_trained_and_others_are_not() {
        let parts = ["defenses", "findings", "evaluations", "inputs"];
        let names = ["hamp-original", "selena-poisoned"];
        let (recordings, first) = trained_again(&format!("membership defenses {SAMPLE}"), names, parts);
        let expected: Vec<String> = [
            "dfkd-mislabeled",
            "dfkd-original",
            "dp-sgd-mislabeled",
            "dp-sgd-noise-multiplier-1",
            "dp-sgd-noise-multiplier-50",
            "dp-sgd-original",
            "hamp-mislabeled",
            "hamp-original",
            "relaxloss-mislabeled",
            "relaxloss-original",
            "selena-always-duplicated",
            "selena-duplicated",
            "selena-mislabeled",
            "selena-original",
            "selena-poisoned",
            "simclr-original",
            "simclr-out-of-distribution",
            "undefended-mislabeled",
            "undefended-original",
            "undefended-out-of-distribution",
        ]
        .map(|name| format!("{name}.npz"))
        .to_vec();
        assert_eq!(recordings, expected);
        let findings = decisions(&first);
        println!("{findings:?}");
        // HAMP on both kinds, SELENA with three kinds of duplicates and at neighbors, DFKD, SimCLR on both kinds and one against the
        // other, five defenses against DP-SGD; each at two rates.
        assert_eq!(findings.len(), 2 * (2 * 2 + 3 + 1 + 1 + 3 + 5));
        let message = row(&first["warnings"], "code", "tuned-option")["message"].as_str().unwrap();
        let tuned = "dp-sgd has noise-multiplier 1, the first of 50, 1 at which 2 models";
        assert!(message.starts_with(tuned), "{message}");
        assert_eq!(first["seed"], 3);
    }

    #[test]
    fn options_that_cannot_be_trained_with_are_named_with_their_line() {
        let desk = Desk::new();
        for (shadow, defense, expected) in [
            ("", "epoch = 3", "line 7: found the option `epoch`, which it does not have"),
            ("epochs = 0\n", "", "line 5: "),
            ("", "defense = 'cats'", "line 7: found invalid value 'cats' for '--defense"),
            ("", "left-out = 3", "line 7: found defense: --left-out is an option of selena"),
            ("", "canaries = 'out-of-distribution'", "line 7, canaries: found out-of-"),
        ] {
            let study = format!("models = 4\naudit = 20\n{shadow}[[defense]]\nname = 'a'\n{defense}\n");
            desk.file("s.toml", format!("[shadow]\ndata = '{IMAGES}'\n{study}"));
            desk.is_rejected_as(1, "membership defenses s.toml", &format!("s.toml: {expected}"));
        }
        let study = "audit = 20\nfixed = 2000\n[[defense]]\nname = 'a'\n";
        desk.file("s.toml", format!("[shadow]\ndata = '{IMAGES}'\n{study}"));
        // Known when the images are read, and no fault of a line.
        let line = desk.rejected(2, "membership defenses s.toml --quiet");
        assert!(line.contains("20 audited images and 2000 fixed ones of 2000 training images"), "{line}");
        assert_eq!(desk.names(), ["s.toml"]);
        // What was trained for a choice is kept.
        let tuned = "fixed = 60\nepochs = 1\n[[defense]]\nname = 'a'\n\
                     tune = { option = 'hidden', values = [1, 2], accuracy = 0.99 }\n";
        desk.file("s.toml", format!("[shadow]\ndata = '{IMAGES}'\nmodels = 4\naudit = 20\n{tuned}"));
        let line = desk.run("membership defenses s.toml --quiet").line(2);
        let expected = "tuning: no value of hidden gives `a` a mean test accuracy of 0.9900 or more; the most is 0.";
        assert!(line.starts_with(expected), "{line}");
    }
}
