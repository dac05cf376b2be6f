//! Any bytes as recorded counts: rejected in one line, or read and then the same when written as CSV and read again.

use crate::input::accepted;
use leakbound::record::{CountsFile, counts_from_bytes};

pub fn run(bytes: &[u8]) {
    for name in ["a.csv", "a.json"] {
        accepted(counts_from_bytes(name, bytes), name).iter().for_each(check);
    }
}

fn check(file: &CountsFile) {
    assert!(!file.queries.is_empty());
    let mut text = String::from("outcome,count,count_neighbor,query\n");
    let named = file.queries.iter().all(|query| query.query.is_some());
    assert!(named || file.queries.len() == 1, "queries without a name stand alone");
    if !named {
        text = text.replace(",query", "");
    }
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    for query in &file.queries {
        let counts = &query.counts;
        assert!(counts.trials() > 0 && counts.trials_neighbor() > 0);
        for ((label, count), neighbor) in counts.labels().iter().zip(counts.counts()).zip(counts.counts_neighbor()) {
            let name = query.query.as_ref().map_or_else(String::new, |query| format!(",{}", quoted(query)));
            text += &format!("{},{count},{neighbor}{name}\n", quoted(label));
        }
    }
    let again = counts_from_bytes("again.csv", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(again.queries, file.queries, "{text}");
}
