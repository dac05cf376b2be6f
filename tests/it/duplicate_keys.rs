//! JSON that says something twice is rejected wherever it is read: the last one would win, without a word.

use crate::desk::Desk;

/// The lines about files whose JSON has a key twice.
#[test]
fn files() {
    let desk = Desk::new();
    let event = r#"{"class_name": "GaussianDpEvent", "noise_multiplier": 100, "noise_multiplier": 1}"#;
    let deep = format!(r#"{{"class_name": "ComposedDpEvent", "events": [["m", "GaussianDpEvent", 1.0], {event}]}}"#);
    let audit = "audit mechanism --program x";
    for (text, words, key) in [
        (event, "account f.json", "noise_multiplier"),
        (&*deep, "account f.json", "noise_multiplier"),
        (r#"[{"outcome": "a", "count": 5, "count": 500, "count_neighbor": 5}]"#, "audit counts f.json", "count"),
        (r#"[{"age": 31, "age": 13}]"#, &format!("{audit} --relation add-remove --dataset f.json"), "age"),
        (r#"[{"dataset": [1], "neighbor": [{"a": 1, "a": 1}]}]"#, &format!("{audit} --pairs f.json"), "a"),
        ("\n{\"log_probabilities\": [-1], \"member\": true, \"id\": 1, \"id\": 2}\n", "membership text f.jsonl", "id"),
        (r#"{"schema": "leakbound.canary-plan/1", "schema": "x"}"#, "canaries audit f.json s.csv", "schema"),
        (r#"{"schema": "leakbound.simulate/1", "schema": "x"}"#, "merge f.json", "schema"),
        (r#"{"schema": "x", "schema": "y"}"#, "audit mechanism --counterexample f.json", "schema"),
    ] {
        let name = words.split(' ').find(|word| word.starts_with("f.json")).unwrap();
        desk.file(name, text);
        let line = desk.rejected(1, words);
        assert!(line.starts_with(&format!("{name}: line ")), "{line}");
        let named = [format!("duplicate key `{key}`"), format!("duplicate field `{key}`")];
        assert!(named.iter().any(|named| line.contains(named)), "{line}");
    }
    // Names of arrays, in the header of safetensors.
    let array = r#"{"dtype": "F32", "shape": [1, 1, 2], "data_offsets": [0, 8]}"#;
    let header = format!(r#"{{"logits": {array}, "logits": {array}}}"#);
    let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0; 8]].concat();
    desk.file("t.safetensors", bytes);
    let line = desk.rejected(1, "audit tokens t.safetensors --mechanism interpolated-tokens:share=1");
    assert!(line.starts_with("t.safetensors: ") && line.contains("duplicate key `logits`"), "{line}");
}

#[test]
fn words() {
    let desk = Desk::new();
    let case = r#"{"mechanism":"gnmax","sigma":2,"histogram":[3,1],"order":8,"sigma":1}"#;
    let unused = case.replace("\"sigma\":1", "\"delta\":0.1");
    for (case, line) in
        [(case, "case: duplicate key `sigma` at line 1 column 60"), (&unused, "the key `delta` is not used")]
    {
        desk.is_rejected(2, &["verify", "--accountant", "gnmax-worst-case", "--case", case], line);
    }
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
