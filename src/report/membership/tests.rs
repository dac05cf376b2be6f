use super::*;
use crate::membership::{AttackScores, MembershipMetrics, MembershipPlan, membership_metrics};
use crate::report::{Answered, Document, Envelope};
use crate::study::{Answer, VictimModels};
use ndarray::Array2;

/// The document of these attacks.
fn document(attacks: &[(String, MembershipMetrics)]) -> Answered<MembershipAnswer> {
    let models = VictimModels { victims: 64, models: 64, samples: 200, views: 1 };
    let answer = MembershipAnswer::new(MembershipAnswer::SCHEMA, "2 attacks".into(), models, Vec::new(), attacks);
    let envelope = Envelope {
        schema: answer.schema(),
        command: "membership lira".into(),
        version: "0.0.0",
        inputs: Vec::new(),
        options: serde_json::json!({}),
        seed: 0,
        warnings: answer.warnings.clone(),
    };
    Answered { envelope, title: String::new(), answer }
}

/// Names one member in its output: the defense of Aerni et al. (2024), section 4.1.
fn name_and_shame() -> MembershipMetrics {
    let members = Array2::from_shape_fn((64, 200), |(v, s)| (v * 7 + s * 3 + v * s / 3) % 2 == 0);
    let scores = Array2::from_shape_fn((64, 200), |(v, s)| f64::from(u8::from(s == 17 && members[[v, s]])));
    let guesses = AttackScores::new(scores, members).unwrap();
    let plan = MembershipPlan { resamples: Some(100), ..MembershipPlan::default() };
    membership_metrics(&guesses, None, None, &plan).unwrap()
}

#[test]
fn name_and_shame_is_reported() {
    let metrics = name_and_shame();
    let document = document(&[("lira".into(), metrics.clone()), ("loss".into(), metrics)]);
    let text = document.text();
    assert!(text.contains("warning: lira: sample 17: TPR at least"), "{text}");
    assert!(text.contains("most vulnerable sample"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&document.json()).unwrap();
    let codes: Vec<&str> = json["warnings"].as_array().unwrap().iter().filter_map(|w| w["code"].as_str()).collect();
    assert!(codes.contains(&"diluted"), "{codes:?}");
    let last = json["levels"].as_array().unwrap().iter().find(|row| row["level"] == "most-vulnerable").unwrap();
    assert_eq!((last["at"][0]["tpr"].as_f64(), last["at"][0]["fpr"].as_f64()), (Some(1.0), Some(0.0)));
    assert!(
        last["at"][0]["tpr_lower"].is_null() && last["at"][0]["curve_upper"].is_null() && text.contains("selected by")
    );
    assert_eq!((last["chosen_on_data"].as_bool(), last["at"][0]["validity"].as_str()), (Some(true), Some("heuristic")));
    assert_eq!(json["sample_level"][0]["samples"][0]["sample"], 17);
    // Header, and a line for each level and target FPR.
    assert_eq!(document.csv().unwrap().lines().count(), 1 + 2 * 3 * 3);
    let page = document.page();
    for figure in page.figures() {
        roxmltree::Document::parse(&figure).unwrap();
        assert!(!figure.contains("NaN"));
    }
    assert!(page.figures().len() >= 3 && page.html().contains("What these numbers mean"));
    // Line breaks in texts are shown literally.
    assert!(!page.html().contains("\\n"));
}
