//! The attack through nearest neighbors: `--answers neighbor` and its place in `compare`.

use crate::cli_membership::{compared, logits, record, recorded};
use crate::desk::Desk;
use crate::json::{codes, number, row, rows, texts};
use crate::report_pages::checked;
use ndarray::{Array4, Axis, Slice};

/// What a defended model answers on the samples: the same inside and outside.
fn defended() -> Array4<f32> {
    Array4::from_shape_fn((16, 12, 2, 3), |(m, s, v, c)| {
        ((m * 23 + s * 19 + v * 5 + c * 7 + m * s * c) % 13) as f32 / 4.0
    })
}

/// A folder with answers of defended models and at neighbors `selena.npz`, and undefended ones `s.npz`.
fn desk() -> Desk {
    let desk = recorded();
    with(&desk, "selena.npz", &logits());
    desk
}

fn with(desk: &Desk, name: &str, neighbors: &Array4<f32>) {
    record(desk, name, &[("logits", &defended()), ("neighbor_logits", neighbors)]);
}

#[test]
fn attacks_at_neighbors_are_those_on_these_answers() {
    let desk = desk();
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
    let desk = desk();
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
    let desk = desk();
    let some = |axis: usize, count: usize| logits().slice_axis(Axis(axis), Slice::from(..count)).to_owned();
    let mut nan = logits();
    nan[[4, 3, 1, 2]] = f32::NAN;
    with(&desk, "nan.npz", &nan);
    with(&desk, "samples.npz", &some(1, 11));
    with(&desk, "classes.npz", &some(3, 2));
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
