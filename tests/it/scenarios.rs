//! Scenario files: those of validation/scenarios are read, and whatever is wrong with one is said in one line.

use crate::desk::{changed, rows_of, table};
use leakbound::model::{Composition, VoteModel};
use leakbound::record::{Scenario, read_scenario, scenario_from_bytes};
use proptest::prelude::*;
use std::path::Path;

fn read(text: &str) -> Scenario {
    scenario_from_bytes("s.toml", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn rejected(text: &str) -> String {
    let line = scenario_from_bytes("s.toml", text.as_bytes()).expect_err(text).to_string();
    assert!(line.starts_with("s.toml: ") && !line.contains(char::is_control), "{line:?}");
    line
}

const PATE: &str = "model = 'pate'\nnoise = 'gaussian:40'\nk = 250\np = [0.6, 0.4]\np_marked = [0.1, 0.9]\n";
const CAPC: &str = "model = 'capc'\nnoise = 'laplace:3'\np_marked = [0, 1]\n";
pub const PROMPT: &str =
    "model = 'prompt-pate'\nnoise = 'gaussian:2'\nhistogram = [3, 1]\nhistogram_neighbor = [2, 2]\n";
const KNN: &str =
    "model = 'private-knn'\nnoise = 'gaussian:30'\nk = 3\np = [0.6, 0.4]\np_last = [0.5, 0.5]\nlabel = 1\n";

#[test]
fn the_documented_scenarios_are_read() {
    let folder = Path::new(crate::ROOT).join("validation/scenarios");
    let shape = |name: &str| {
        let scenario = read_scenario(folder.join(name)).unwrap();
        let names: Vec<String> = scenario.queries.iter().map(|query| query.query.clone().unwrap_or_default()).collect();
        (scenario.samples, scenario.seed, scenario.composition, names.join("|"))
    };
    let (samples, seed) = (Some(1_000_000), Some(1));
    let shared = Some(Composition::SharedTeachers);
    let independent = Some(Composition::Independent);
    assert_eq!(shape("pate.toml"), (samples, seed, shared, "94|388|210|94, three changed".into()));
    assert_eq!(shape("capc.toml"), (samples, seed, None, String::new()));
    assert_eq!(shape("prompt-pate.toml"), (samples, seed, independent, "0|1|2".into()));
    let apart = Some(Composition::PerQuery);
    assert_eq!(shape("private-knn.toml"), (samples, seed, apart, "query itself|rank 1050|five points".into()));
}

#[test]
fn every_key_reaches_its_model() {
    let VoteModel::Pate(pate) = &read(&format!("{PATE}changed = 3")).queries[0].model else { panic!() };
    assert_eq!((pate.teachers(), pate.changed_teachers()), (250, 3));
    let VoteModel::Capc(rows) = &read(&format!("{CAPC}p = [[1, 0], [0.5, 0.5]]")).queries[0].model else { panic!() };
    assert_eq!(rows.probabilities(), [[1.0, 0.0], [0.5, 0.5]]);
    let groups = format!("{CAPC}parties = [{{ count = 1, p = [1, 0] }}, {{ count = 2, p = [0.5, 0.5] }}]");
    let VoteModel::Capc(groups) = &read(&groups).queries[0].model else { panic!() };
    assert_eq!(groups.probabilities(), [[1.0, 0.0], [0.5, 0.5], [0.5, 0.5]]);
    let VoteModel::PromptPate(prompt) = &read(PROMPT).queries[0].model else { panic!() };
    assert_eq!(prompt.histogram_neighbor().counts(), [2, 2]);
    let knn = |more: &str| match &read(&format!("{KNN}{more}")).queries[0].model {
        VoteModel::PrivateKnn(model) => model.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!((knn("inclusion = 0.3\npoints = 2").inclusion(), knn("inclusion = 0.3\npoints = 2").points()), (0.3, 2));
    assert_eq!(knn("rank = 3\nrate = 0.25").inclusion(), 0.25);
    // 1/2 P(Bin(3, 1/2) <= 2) = 7/16.
    assert!((knn("rank = 4\nrate = 0.5").inclusion() - 0.4375).abs() < 1e-15);
}

#[test]
fn queries_share_keys_and_overrule_them() {
    let scenario =
        read(&format!("{PATE}samples = 1e8\n[[query]]\n[[query]]\nname = 'b'\nk = 10\nnoise = 'gaussian:1'\n"));
    assert_eq!(scenario.samples, Some(100_000_000));
    let [first, second] = &scenario.queries[..] else { panic!("two queries") };
    assert_eq!((first.query.as_deref(), first.noise.scale()), (Some("0"), 40.0));
    assert_eq!((second.query.as_deref(), second.noise.scale()), (Some("b"), 1.0));
    let VoteModel::Pate(second) = &second.model else { panic!() };
    assert_eq!(second.teachers(), 10);
}

#[test]
fn what_queries_of_other_points_leak_is_not_added() {
    let two = |composition: &str, second: &str| {
        format!("composition = '{composition}'\n{KNN}inclusion = 0.3\n[[query]]\n[[query]]\n{second}\n")
    };
    assert_eq!(read(&two("independent", "inclusion = 0.2")).composition, Some(Composition::Independent));
    assert_eq!(read(&two("per-query", "points = 2")).composition, Some(Composition::PerQuery));
    for other in ["points = 2", "label = 0"] {
        let line = rejected(&two("independent", other));
        let expected = "s.toml: line 1, composition: found `independent` for `0` and `1`, which add other points, \
                        expected the same added points in all queries";
        assert!(line.starts_with(expected), "{line}");
    }
}

#[test]
fn the_identity_is_that_of_the_content() {
    let identity = read(PATE).sha256();
    for same in [
        format!("# comment\n{PATE}samples = 5\nseed = 7\ncomposition = 'independent'"),
        PATE.replace("0.6, 0.4", "6e-1,\n 0.40"),
        PATE.replace('\'', "\"").replace("40\"", "40.0\""),
        format!("changed = 1\n{PATE}"),
    ] {
        assert_eq!(read(&same).sha256(), identity, "{same}");
    }
    for other in [
        PATE.replace("250", "251"),
        PATE.replace("gaussian", "laplace"),
        PATE.replace("0.6, 0.4", "0.4, 0.6"),
        format!("{PATE}[[query]]"),
        format!("{PATE}changed = 2"),
    ] {
        assert_ne!(read(&other).sha256(), identity, "{other}");
    }
    // Of `[{"query":null,"noise":"gaussian:40","model":"pate","k":250,"p":[0.6,0.4],"p_marked":[0.1,0.9]}]`.
    assert_eq!(identity, "09207ba675dc2bdb29562577faa2e8d63a708061dda23cb32820ab928d9f7ec8");
}

#[test]
fn faults_of_keys_and_values_are_named() {
    let rows = r"
        => s.toml: whole file: found no key `noise`, expected this key
        # nothing => s.toml: whole file: found no key `noise`, expected this key
    ";
    table(rows, rejected);
    table(&rows_of("scenarios", "faults_of_keys_and_values_are_named"), |change| rejected(&changed(PATE, change)));
}

#[test]
fn faults_of_queries_and_files_are_named() {
    let line = |bytes: &[u8]| scenario_from_bytes("s.toml", bytes).unwrap_err().to_string();
    let expected =
        "s.toml: line 1: found bytes that are not UTF-8, expected a scenario in TOML; hint: save it as UTF-8";
    assert_eq!(line(b"# \xff"), expected);
    let expected = "s.toml: whole file: found more than 4 MiB, expected a scenario of at most 4 MiB";
    assert_eq!(line(&vec![b'\n'; (4 << 20) + 1]), expected);
    table(&rows_of("scenarios", "faults_of_queries_and_files_are_named"), |more| rejected(&format!("{PATE}{more}")));
    let rows = r"
        query = [] => s.toml: key query: found no query, expected at least 1 query
        query = 3 => s.toml: line 1: found integer `3`, expected a sequence
        noise = 'gaussian:1'\n\n[[query]]\nk = 2 => s.toml: line 3, query: found no key `model`, expected this key in the query, or at the top for all queries
    ";
    table(rows, rejected);
}

#[test]
fn faults_of_other_models_are_named() {
    table(&rows_of("scenarios", "faults_of_other_models_are_named"), |more| rejected(&format!("{CAPC}{more}")));
    let rows = r"
        [3, 1] | [3, -1] => s.toml: line 3: found integer `-1`, expected a whole number of at least 0, powers of ten up to 2^53
        [3, 1] | [3, 1e17] => s.toml: line 3: found floating point `100000000000000000.0`, expected a whole number of at least 0, powers of ten up to 2^53
        [3, 1] | [] => s.toml: line 3, histogram: found vote histogram of length 0, expected 1 to 10000 classes
        [3, 1] | [1] => s.toml: line 1, model prompt-pate: found vote histogram of the neighbor of length 2, expected 1 classes
    ";
    table(rows, |change| rejected(&changed(PROMPT, change)));
    table(&rows_of("scenarios", "faults_of_other_models_are_named 2"), |more| rejected(&format!("{KNN}{more}")));
    let expected =
        "s.toml: line 1, model private-knn: found label of the added point = 2, expected a value in [0, classes - 1]";
    assert_eq!(rejected(&format!("{}inclusion = 0.5", changed(KNN, "label = 1 | label = 2"))), expected);
}

/// A short file cannot ask for more memory than a long one.
#[test]
fn short_files_stay_small() {
    let query = "[[query]]\nparties = [{ count = 500000, p = [0, 1, 0, 0, 0, 0, 0, 0] }]\n";
    assert_eq!(
        rejected(&format!("{}{}", CAPC.replace("[0, 1]", "[0, 1, 0, 0, 0, 0, 0, 0]"), query.repeat(3))),
        "s.toml: line 8, query: found 12000000 probabilities of parties in the queries so far, expected at most 10000000 in all"
    );
    let deep = format!("p = {}", "[".repeat(100_000));
    assert!(rejected(&deep).len() < 300);
}

proptest! {
    /// Any text is read or rejected in one line.
    #[test]
    fn any_text_returns(text in "(?s).{0,200}") {
        let _ = scenario_from_bytes("s.toml", text.as_bytes()).map_err(|error| error.to_string());
    }

    /// So is a scenario with anything in the place of a piece of it.
    #[test]
    fn damaged_scenarios_return(
        which in 0..4usize,
        from in any::<prop::sample::Index>(),
        length in 0..12usize,
        piece in "[\\[\\]{}=.,'\"a-z0-9_ \n-]{0,8}",
    ) {
        let text = [PATE, CAPC, PROMPT, KNN][which];
        let from = from.index(text.len());
        let to = (from + length).min(text.len());
        let damaged = format!("{}{piece}{}", &text[..from], &text[to..]);
        if let Err(error) = scenario_from_bytes("s.toml", damaged.as_bytes()) {
            let line = error.to_string();
            prop_assert!(line.starts_with("s.toml: ") && !line.contains(char::is_control), "{line:?}");
        }
    }
}
