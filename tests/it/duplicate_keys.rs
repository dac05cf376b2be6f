//! JSON that says something twice is rejected wherever it is read: the last one would win, without a word.

use crate::desk::Desk;

/// The lines about files whose JSON has a key twice.
#[test]
fn files() {
    let desk = Desk::new();
    let gaussian = "[\"m\", \"GaussianDpEvent\", 1.0]";
    let event = "{\"class_name\": \"GaussianDpEvent\", \"noise_multiplier\": 100, \"noise_multiplier\": 1}";
    for (name, text, words, key) in [
        ("e.json", event.to_owned(), "account e.json", "noise_multiplier"),
        (
            "deep.json",
            format!("{{\"class_name\": \"ComposedDpEvent\", \"events\": [{gaussian}, {event}]}}"),
            "account deep.json",
            "noise_multiplier",
        ),
        (
            "counts.json",
            "[{\"outcome\": \"a\", \"count\": 5, \"count\": 500, \"count_neighbor\": 5}]".into(),
            "audit counts counts.json",
            "count",
        ),
        (
            "data.json",
            "[{\"age\": 31, \"age\": 13}]".into(),
            "audit mechanism --program x --relation add-remove --dataset data.json",
            "age",
        ),
        (
            "pairs.json",
            "[{\"dataset\": [1], \"neighbor\": [{\"a\": 1, \"a\": 1}]}]".into(),
            "audit mechanism --program x --pairs pairs.json",
            "a",
        ),
        (
            "text.jsonl",
            "\n{\"log_probabilities\": [-1], \"member\": true, \"id\": 1, \"id\": 2}\n".into(),
            "membership text text.jsonl",
            "id",
        ),
        (
            "plan.json",
            "{\"schema\": \"leakbound.canary-plan/1\", \"schema\": \"x\"}".into(),
            "canaries audit plan.json s.csv",
            "schema",
        ),
        ("part.json", "{\"schema\": \"leakbound.simulate/1\", \"schema\": \"x\"}".into(), "merge part.json", "schema"),
        (
            "found.json",
            "{\"schema\": \"x\", \"schema\": \"y\"}".into(),
            "audit mechanism --counterexample found.json",
            "schema",
        ),
    ] {
        desk.file(name, text);
        let line = desk.rejected(1, words);
        assert!(line.starts_with(&format!("{name}: line ")), "{line}");
        let named = [format!("duplicate key `{key}`"), format!("duplicate field `{key}`")];
        assert!(named.iter().any(|named| line.contains(named)), "{line}");
    }
    // Names of arrays, in the header of safetensors.
    let array = "{\"dtype\": \"F32\", \"shape\": [1, 1, 2], \"data_offsets\": [0, 8]}";
    let header = format!("{{\"logits\": {array}, \"logits\": {array}}}");
    let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0; 8]].concat();
    desk.file("t.safetensors", bytes);
    let line = desk.rejected(1, "audit tokens t.safetensors --mechanism interpolated-tokens:share=1");
    assert!(line.starts_with("t.safetensors: ") && line.contains("duplicate key `logits`"), "{line}");
}

#[test]
fn words() {
    let desk = Desk::new();
    let case = r#"{"mechanism":"gnmax","sigma":2,"histogram":[3,1],"order":8,"sigma":1}"#;
    let line = desk.rejected(2, &["verify", "--accountant", "gnmax-worst-case", "--case", case]);
    assert!(line.contains("case: duplicate key `sigma` at line 1 column 60"), "{line}");
    let line = desk.rejected(
        2,
        &["verify", "--accountant", "gnmax-worst-case", "--case", &case.replace("\"sigma\":1", "\"delta\":0.1")],
    );
    assert!(line.contains("the key `delta` is not used"), "{line}");
    let data = "[{\"a\": 1, \"a\": 2}]";
    let (_, line) =
        desk.failed(&["audit", "mechanism", "--program", "x", "--relation", "add-remove", "--dataset", data]);
    assert!(line.contains("each key once") && line.contains("[{\"a\": 1"), "{line}");
}

/// An accountant that answers twice in one line.
#[cfg(unix)]
#[test]
fn answers() {
    let desk = Desk::new();
    desk.file("twice.sh", "while read -r line; do echo '{\"value\": 1e9, \"value\": 0}'; done\n");
    let words = ["verify", "--program", "sh twice.sh", "--mechanism", "gnmax", "--cases", "20"];
    let ran = desk.run(&words[..]);
    assert!(ran.stdout.contains("each key once"), "{ran:?}");
}
