//! The definitions of documents, which `leakbound schema` prints, made from the types of the answers.

use leakbound::report::{Answered, MetaClassifierDocument, RecordingDocument, StudentDocument};
use leakbound::study::{
    AccountAnswer, BenchAnswer, CalibrateAnswer, CanaryAuditAnswer, CanaryPlanAnswer, CatalogAnswer, CountsAnswer,
    DefensesAnswer, ExactAnswer, LabelAnswer, LabelComparisonAnswer, MechanismAnswer, MembershipAnswer,
    MetaClassifierAnswer, PropertyAnswer, RerunAnswer, ScoreCheckAnswer, ScoresAnswer, SelfCheckAnswer, SimulateAnswer,
    StreamAnswer, StudentMembershipAnswer, SuiteAnswer, SweepAnswer, TextMembershipAnswer, TokensAnswer, VerifyAnswer,
    VotesAnswer,
};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

/// Makes the JSON Schema of a document.
type Make = fn() -> Schema;

/// What the commands print; others print no document.
const DOCUMENTS: [(&[&str], Make); 31] = [
    (&["exact"], answer::<ExactAnswer>),
    (&["audit counts", "audit confusion"], answer::<CountsAnswer>),
    (&["audit scores"], answer::<ScoresAnswer>),
    (&["audit votes"], answer::<VotesAnswer>),
    (&["audit stream"], answer::<StreamAnswer>),
    (&["audit mechanism"], answer::<MechanismAnswer>),
    (&["audit tokens"], answer::<TokensAnswer>),
    (&["account"], answer::<AccountAnswer>),
    (&["calibrate"], answer::<CalibrateAnswer>),
    (&["canaries plan"], answer::<CanaryPlanAnswer>),
    (&["canaries audit"], answer::<CanaryAuditAnswer>),
    (&["label-dp memorization"], answer::<LabelAnswer>),
    (&["label-dp compare", "label-dp mechanisms"], answer::<LabelComparisonAnswer>),
    (
        &[
            "membership lira",
            "membership label-only",
            "membership threshold",
            "membership rmia",
            "membership risk",
            "membership attacker",
            "membership compare",
        ],
        answer::<MembershipAnswer>,
    ),
    (&["membership students"], answer::<StudentMembershipAnswer>),
    (&["membership text"], answer::<TextMembershipAnswer>),
    (&["membership defenses"], answer::<DefensesAnswer>),
    (&["property distance"], answer::<PropertyAnswer>),
    (&["property meta-classifier"], answer::<MetaClassifierAnswer>),
    (&["self-check audit counts"], answer::<SelfCheckAnswer>),
    (&["self-check audit scores"], answer::<ScoreCheckAnswer>),
    (&["simulate", "merge"], answer::<SimulateAnswer>),
    (&["bench"], answer::<BenchAnswer>),
    (&["verify"], answer::<VerifyAnswer>),
    (&["rerun"], answer::<RerunAnswer>),
    (&["run"], answer::<SuiteAnswer>),
    (&["mechanisms"], answer::<CatalogAnswer>),
    (
        &[
            "torch teachers",
            "torch shadow",
            "torch dpsgd",
            "torch dpsgd-runs",
            "torch label-dp",
            "torch pate-fm",
            "torch prompt-pate",
            "torch property",
            "torch tokens",
        ],
        document::<RecordingDocument>,
    ),
    (&["torch meta-classifier"], document::<MetaClassifierDocument>),
    (&["torch student"], document::<StudentDocument>),
    (&["bench --sweep"], answer::<SweepAnswer>),
];

fn answer<A: JsonSchema>() -> Schema {
    document::<Answered<A>>()
}

fn document<D: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize().with_transform(RecursiveTransform(without_example));
    settings.into_generator().into_root_schema_for::<D>()
}

/// Examples in comments are for programs in Rust.
fn without_example(schema: &mut Schema) {
    let text = schema.get("description").and_then(Value::as_str).and_then(|text| text.split_once("```"));
    if let Some(text) = text.map(|(text, _)| text.trim_end().to_owned()) {
        schema.insert("description".into(), text.into());
    }
}

/// All definitions as JSON, a line for each.
fn all() -> String {
    let line = |(commands, make): &(&[&str], Make)| json!({"commands": commands, "schema": make()}).to_string();
    format!("[\n{}\n]\n", DOCUMENTS.iter().map(line).collect::<Vec<_>>().join(",\n"))
}

/// `UPDATE=1` writes them anew.
#[test]
fn the_command_prints_what_the_types_say() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/src/documents.json");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(file, all()).unwrap();
    }
    let hint = "write it anew: UPDATE=1 cargo test --package leakbound-validation documents";
    assert!(std::fs::read_to_string(file).unwrap() == all(), "{file}: another definition than the types'; {hint}");
}
