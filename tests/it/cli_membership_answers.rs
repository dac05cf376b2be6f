//! The attacks on an encoder and through nearest neighbors: `--answers encoder` and `--answers neighbor`, and their
//! places in `compare`.

use crate::cli_membership::{compared, keep, logits, record, recorded};
use crate::desk::Desk;
use crate::json::{codes, number, row, rows, texts};
use crate::report_pages::checked;
use ndarray::{Array4, Axis, Slice};
use serde_json::Value;

/// Six views of each sample, which are more alike where the model was trained on it.
fn embeddings() -> Array4<f32> {
    Array4::from_shape_fn((16, 12, 6, 5), |(m, s, v, d)| {
        let noise = ((m * 29 + s * 13 + v * 37 + d * 11 + m * s * v * d) % 17) as f32 / 8.0 - 1.0;
        let center = if d == s % 5 { 4.0 } else { 1.0 };
        center + noise * if keep()[[m, s]] { 0.3 } else { 1.0 }
    })
}

/// A folder with logits and embeddings `both.npz`, embeddings alone `encoder.npz`, logits alone `s.npz`.
fn desk() -> Desk {
    let desk = recorded();
    record(&desk, "both.npz", &[("logits", &logits()), ("embeddings", &embeddings())]);
    encoder(&desk, "encoder.npz", &embeddings());
    desk
}

fn encoder(desk: &Desk, name: &str, embeddings: &Array4<f32>) {
    desk.compressed(name, &[("embeddings", embeddings), ("keep", &keep())]);
}

#[test]
fn every_attack_on_a_score_is_one_on_an_encoder() {
    let desk = desk();
    for attack in
        ["lira", "lira --variance pooled --mode offline", "threshold", "risk --bins 4", "lira --pairs disjoint"]
    {
        let (name, options) = attack.split_once(' ').unwrap_or((attack, ""));
        let words = |file: &str| format!("membership {name} {file} {options} --resamples 100");
        let document = desk.json(&words("both.npz --answers encoder"));
        assert_eq!(document["schema"], format!("leakbound.membership-{name}/1"));
        assert_eq!(document["options"]["answers"], "encoder");
        let attacks = texts(&document["levels"], "attack");
        assert!(attacks.iter().all(|attack| *attack == format!("encoder-{name}")), "{attacks:?}");
        assert_eq!(texts(&document["levels"], "level"), ["population", "top", "most-vulnerable"]);
        let auc = number(&document["levels"][0]["auc"]);
        println!("{attack}: AUC {auc}");
        assert!(auc > 0.8, "{attack}: {auc}");
        assert_eq!(document["levels"][0]["at"][0]["validity"], "heuristic");
        // Embeddings alone are what there is to look at.
        let alone = desk.json(&words("encoder.npz"));
        assert_eq!(alone["levels"], document["levels"], "{attack}");
        assert!(alone["options"]["answers"].is_null());
    }
    // The other recorded answers are what attacks look at if not told otherwise.
    let [both, logits] = ["both.npz", "s.npz"].map(|file| desk.json(&format!("membership lira {file} --resamples 0")));
    assert_eq!(both["levels"], logits["levels"]);
    let text = desk.stdout("membership lira both.npz --answers encoder --resamples 0");
    let title = "Membership inference, LiRA, variant leakbound on the encoder's views: 16 of 16 models as victims, 12 samples, 6 views";
    assert!(text.starts_with(title), "{text}");
    let csv = desk.stdout("membership lira encoder.npz --resamples 0 --format csv");
    assert_eq!(csv.lines().filter(|line| line.starts_with("encoder-lira,")).count(), 3 * 3, "{csv}");
    // Warnings of the attack itself are those of its answers.
    assert!(codes(&desk.json("membership lira encoder.npz --resamples 0")).contains(&"few-models"));
}

#[test]
fn attacks_on_an_encoder_are_compared_where_there_is_one() {
    let desk = desk();
    let document = desk.json("membership compare both.npz --resamples 0 --failure-per query");
    let attacks = compared(&document);
    assert_eq!(attacks.len(), 14);
    assert_eq!(&attacks[11..], ["encoder-lira", "encoder-lira-pooled", "encoder-threshold"]);
    assert!(!codes(&document).contains(&"attack-left-out"));
    for (name, words) in [
        ("encoder-lira", "lira both.npz --answers encoder"),
        ("encoder-lira-pooled", "lira both.npz --answers encoder --variance pooled"),
        ("encoder-threshold", "threshold both.npz --answers encoder"),
    ] {
        let alone = desk.json(&format!("membership {words} --resamples 0"));
        let found = rows(&document["levels"]).iter().filter(|row| row["attack"] == name);
        let found: Vec<[&Value; 2]> = found.map(|row| [&row["auc"], &row["at"]]).collect();
        assert_eq!(found, rows(&alone["levels"]).iter().map(|row| [&row["auc"], &row["at"]]).collect::<Vec<_>>());
    }
    let alone = desk.json("membership compare encoder.npz --resamples 0");
    assert_eq!(compared(&alone), ["encoder-lira", "encoder-lira-pooled", "encoder-threshold"]);
    assert!(!codes(&alone).contains(&"attack-left-out"));
    let text = desk.stdout("membership compare encoder.npz --resamples 0");
    let first = "Membership inference, 3 attacks: 16 of 16 models as victims, 12 samples, 6 views";
    assert!(text.starts_with(first), "{text}");
    desk.stdout("membership compare both.npz --resamples 0 --report page.html");
    let page = desk.text("page.html");
    assert!(page.contains("encoder-lira-pooled") && !page.contains("NaN"));
    checked(&page, |_| ());
    // Named where there is none: left out with its reason, or the reason alone.
    let named = desk.json("membership compare s.npz --attacks lira,encoder-lira --resamples 0");
    assert_eq!(compared(&named), ["lira"]);
    let left_out = row(&named["warnings"], "code", "attack-left-out");
    assert_eq!(left_out["message"], "encoder-lira is left out: no embeddings of views are recorded");
}

#[test]
fn encoders_that_cannot_be_attacked_are_one_line() {
    let desk = desk();
    let mut nan = embeddings();
    nan[[3, 2, 1, 4]] = f32::NAN;
    encoder(&desk, "nan.npz", &nan);
    let mut zero = embeddings();
    (0..5).for_each(|number| zero[[3, 2, 1, number]] = 0.0);
    encoder(&desk, "zero.npz", &zero);
    let views = |views: usize| embeddings().slice_axis(Axis(2), Slice::from(..views)).to_owned();
    encoder(&desk, "one.npz", &views(1));
    encoder(&desk, "three.npz", &views(3));
    encoder(&desk, "large.npz", &Array4::from_elem((16, 12, 1000, 5), 1.0));
    let rows = r"
        lira nan.npz => 1: nan.npz: array `embeddings`, index [3, 2, 1, 4]: found `NaN`, expected a finite number
        threshold zero.npz => 1: zero.npz: array `embeddings`, index [3, 2, 1]: found a vector of zeros, expected a vector with a direction; hint: the cosine with a vector of zeros has no value; leave out samples whose units are all off
        lira one.npz => 1: one.npz: array `embeddings`: found shape [16, 12, 1, 5], expected at least 2 views on axis 2, which are compared with each other
        lira three.npz --pairs disjoint => 2: cosine similarity of embeddings: 3 views do not split into pairs
        lira large.npz --max-memory 64K => 1: large.npz: array `embeddings`: found data that take 3.7 MiB of memory, expected at most 64.0 KiB; hint: numpy.save or savez write it so that it is read in pieces
        lira s.npz --answers encoder => 2: attack on an encoder: no embeddings of views are recorded
        lira encoder.npz --answers sample => 2: attack on the answers on samples: neither logits nor scores are recorded
        lira encoder.npz --score hinge => 2: choice of a score: it looks at logits, and the score of an encoder is the similarity of its views
        rmia encoder.npz => 2: RMIA: it looks at confidences, and the score of an encoder is the similarity of its views
        label-only encoder.npz => 2: label-only attack: it looks at right and wrong answers, and the score of an encoder is the similarity of its views
        attacker both.npz --answers encoder => 2: trained attacker: it looks at all confidences, and the score of an encoder is the similarity of its views
        compare s.npz --attacks encoder-threshold => 2: attack on an encoder: no embeddings of views are recorded
        lira s.npz encoder.npz => 1: encoder.npz: array `embeddings`: found embeddings, expected logits as in the files before it
        lira both.npz s.npz => 1: both.npz: array `embeddings`: found 16 models, 12 samples, expected 32 models, 12 samples as of `logits`; hint: every file has the array, or none
    ";
    desk.rejects("membership", rows);
}

/// What a defended model answers on the samples: the same inside and outside.
fn defended() -> Array4<f32> {
    Array4::from_shape_fn((16, 12, 2, 3), |(m, s, v, c)| {
        ((m * 23 + s * 19 + v * 5 + c * 7 + m * s * c) % 13) as f32 / 4.0
    })
}

/// A folder with answers of defended models and at neighbors `selena.npz`, and undefended ones `s.npz`.
fn neighbors() -> Desk {
    let desk = recorded();
    with_neighbors(&desk, "selena.npz", &logits());
    desk
}

fn with_neighbors(desk: &Desk, name: &str, neighbors: &Array4<f32>) {
    record(desk, name, &[("logits", &defended()), ("neighbor_logits", neighbors)]);
}

#[test]
fn attacks_at_neighbors_are_those_on_these_answers() {
    let desk = neighbors();
    for attack in ["lira", "lira --score hinge", "threshold", "label-only", "rmia", "risk --bins 4", "attacker"] {
        let (name, options) = attack.split_once(' ').unwrap_or((attack, ""));
        let run = |file: &str| desk.json(&format!("membership {name} {file} {options} --resamples 0"));
        let (through, direct) = (run("selena.npz --answers neighbor"), run("s.npz"));
        assert!(texts(&through["levels"], "attack").iter().all(|found| *found == format!("neighbor-{name}")));
        for (found, expected) in rows(&through["levels"]).iter().zip(rows(&direct["levels"])) {
            assert_eq!((&found["auc"], &found["at"]), (&expected["auc"], &expected["at"]), "{attack}");
        }
        assert_eq!((&through["schema"], &through["options"]["answers"]), (&direct["schema"], &"neighbor".into()));
    }
    let auc = |options: &str| {
        number(&desk.json(&format!("membership lira selena.npz {options} --resamples 0"))["levels"][0]["auc"])
    };
    let (own, through) = (auc(""), auc("--answers neighbor"));
    println!("AUC on the samples {own:.3}, through neighbors {through:.3}");
    assert!(through > own + 0.2, "{own} {through}");
    let text = desk.stdout("membership lira selena.npz --answers neighbor --resamples 0");
    assert!(text.starts_with("Membership inference, LiRA, variant leakbound on nearest neighbors: 16 of 16"), "{text}");
}

#[test]
fn attacks_at_neighbors_are_compared_where_they_were_asked() {
    let desk = neighbors();
    let document = desk.json("membership compare selena.npz --resamples 0 --report page.html");
    assert_eq!(compared(&document)[11..], ["neighbor-lira", "neighbor-lira-pooled", "neighbor-label-only"]);
    assert!(!codes(&document).contains(&"attack-left-out"));
    assert!(desk.text("page.html").contains("neighbor-label-only"));
    checked(&desk.text("page.html"), |_| ());
    let named = desk.json("membership compare s.npz --attacks lira,neighbor-lira --resamples 0");
    let left_out = row(&named["warnings"], "code", "attack-left-out");
    let expected = "neighbor-lira is left out: no answers at the nearest neighbors of the samples are recorded";
    assert_eq!(left_out["message"], expected);
}

#[test]
fn neighbors_that_do_not_fit_are_one_line() {
    let desk = neighbors();
    let some = |axis: usize, count: usize| logits().slice_axis(Axis(axis), Slice::from(..count)).to_owned();
    let mut nan = logits();
    nan[[4, 3, 1, 2]] = f32::NAN;
    with_neighbors(&desk, "nan.npz", &nan);
    with_neighbors(&desk, "samples.npz", &some(1, 11));
    with_neighbors(&desk, "classes.npz", &some(3, 2));
    record(&desk, "alone.npz", &[("neighbor_logits", &logits())]);
    let rows = r"
        lira nan.npz --answers neighbor => 1: nan.npz: array `neighbor_logits`, index [4, 3, 1, 2]: found `NaN`, expected a finite number
        lira samples.npz => 1: samples.npz: array `neighbor_logits`: found 16 models, 11 samples, 3 classes, expected 16 models, 12 samples, 3 classes as of `logits`; hint: every file has the array, or none
        lira classes.npz => 1: classes.npz: array `neighbor_logits`: found 16 models, 12 samples, 2 classes, expected 16 models, 12 samples, 3 classes as of `logits`; hint: every file has the array, or none
        lira alone.npz => 1: alone.npz: array `neighbor_logits`: found logits at the neighbors of samples without the samples' own, expected the array `logits` beside them
        lira s.npz --answers neighbor => 2: attack through neighbors: no answers at the nearest neighbors of the samples are recorded
        threshold selena.npz s.npz --answers neighbor => 1: selena.npz: array `neighbor_logits`: found 16 models, 12 samples, 3 classes, expected 32 models, 12 samples, 3 classes as of `logits`; hint: every file has the array, or none
    ";
    desk.rejects("membership", rows);
}
