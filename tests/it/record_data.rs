//! The recorded data of the repository, read as a user reads it; and whatever bytes are given to the readers, the answer
//! is a value or one line, and what is written is read back.

use crate::arrays::{Arrays, packed};
use leakbound::histogram::VoteChange;
use leakbound::model::Adversary;
use leakbound::record::{VoteFile, counts_from_bytes, distribution_from_bytes, read_counts, votes_from_bytes};
use ndarray::array;
use proptest::prelude::*;
use std::path::PathBuf;

/// A file of validation/data.
pub fn data(name: &str) -> PathBuf {
    PathBuf::from(crate::ROOT).join("validation/data").join(name)
}

#[test]
fn pate_votes_of_every_adversary() {
    for (adversary, queries, changed) in
        [(Adversary::NatAdvq, 60, 50), (Adversary::PoisAdvq, 60, 50), (Adversary::PoisNatq, 1000, 250)]
    {
        let votes = VoteFile::open(data("fashion_votes.npz")).unwrap().pate(adversary).unwrap();
        assert_eq!((votes.teachers, votes.classes, votes.queries.len()), (250, 10, queries), "{adversary}");
        for query in &votes.queries {
            assert_eq!(query.instantiations, 12);
            assert_eq!(query.votes.iter().sum::<u64>(), 3000);
            assert!(query.histograms.iter().all(|histogram| histogram.iter().sum::<u64>() == 250));
            assert_eq!(query.votes_neighbor.iter().sum::<u64>(), changed);
            assert!(query.label.is_some_and(|label| label < 10));
        }
        assert!(votes.queries.is_sorted_by_key(|query| query.position));
    }
}

#[test]
fn a_wrong_label_draws_the_retrained_teachers_away() {
    let votes = |adversary| VoteFile::open(data("fashion_votes.npz")).unwrap().pate(adversary).unwrap();
    let right = |adversary| -> u64 {
        votes(adversary).queries.iter().map(|query| query.votes_neighbor[query.label.unwrap()]).sum()
    };
    // 3,000 votes each; the recording has far more right ones where the point was learned with its true label.
    assert!(right(Adversary::NatAdvq) > 2 * right(Adversary::PoisAdvq));
}

#[test]
fn capc_votes_of_the_recorded_adversaries() {
    let mut file = VoteFile::open(data("fashion_votes.npz")).unwrap();
    for adversary in [Adversary::NatAdvq, Adversary::PoisAdvq] {
        let votes = file.capc(adversary).unwrap();
        assert_eq!((votes.parties, votes.classes, votes.queries.len()), (250, 10, 60), "{adversary}");
        for query in &votes.queries {
            assert_eq!((query.instantiations, query.votes.len()), (12, 250));
            assert!(query.votes.iter().all(|party| party.iter().sum::<u64>() == 12));
            assert_eq!(query.votes_neighbor.iter().sum::<u64>(), 50);
        }
    }
    let missing = file.capc(Adversary::PoisNatq).unwrap_err().to_string();
    assert!(missing.ends_with("recorded: nat-advq, pois-advq"), "{missing}");
}

#[test]
fn neighbors_of_private_knn() {
    let votes = VoteFile::open(data("fashion_knn.npz")).unwrap().private_knn().unwrap();
    assert_eq!((votes.classes, votes.queries.len()), (10, 300));
    assert!(votes.queries.iter().all(|query| query.neighbor_labels.as_ref().unwrap().len() == 2000));
    assert_eq!(votes.features.unwrap().dim(), (300, 64));
    let candidates = votes.candidates.unwrap();
    assert_eq!(candidates.ranks.dim(), (1000, 300));
    assert_eq!(candidates.is_test.unwrap().iter().filter(|is_test| **is_test).count(), 500);
}

#[test]
fn prompt_votes_differ_by_at_most_one_vote() {
    let mut file = VoteFile::open(data("prompt_votes.npz")).unwrap();
    assert_eq!(file.arrays().names(), ["votes", "votes_prime", "query_label"]);
    let votes = file.prompt_pate().unwrap();
    assert_eq!((votes.classes, votes.queries.len()), (10, 60));
    let unchanged = votes.queries.iter().filter(|query| query.histogram == query.histogram_neighbor).count();
    let moved = votes
        .queries
        .iter()
        .filter(|query| query.histogram.change_to(&query.histogram_neighbor) == Some(VoteChange::Moved));
    assert_eq!((unchanged, moved.count()), (26, 34));
}

#[test]
fn counts_of_a_noisy_argmax() {
    let file = read_counts(data("counts.csv")).unwrap();
    assert_eq!(file.input.bytes, 145);
    let counts = &file.queries[0].counts;
    assert_eq!((counts.outcomes(), counts.trials(), counts.trials_neighbor()), (10, 100_000, 100_000));
}

#[test]
fn arrays_are_read_as_their_type_only() {
    let mut file = VoteFile::open(data("fashion_votes.npz")).unwrap();
    let arrays = file.arrays();
    let votes: ndarray::Array3<u8> = arrays.array("pate_votes").unwrap();
    assert_eq!(votes.dim(), (12, 1000, 250));
    let poison: ndarray::Array0<u64> = arrays.whole_numbers("poison_query").unwrap();
    assert!(poison.into_scalar() < 1000);
    assert_eq!(arrays.input().bytes, 935_822);
}

/// A small valid file of votes of both forms, to damage.
fn votes(compressed: bool) -> Vec<u8> {
    let arrays: &Arrays<'_> = &[
        ("pate_votes", &array![[[0u8, 1], [1, 1]], [[0, 0], [2, 1]]]),
        ("pate_nat_advq", &array![[1u8, 1, 0]]),
        ("adv_query", &array![1i32]),
        ("capc_votes", &array![[[0u8, 1], [1, 1]], [[0, 0], [2, 1]]]),
        ("capc_nat_advq", &array![[1u8, 1, 0]]),
        ("neighbour_labels", &array![[1u8, 1, 0]]),
        ("query_features", &array![[1.0f32, 0.5]]),
        ("candidate_rank", &array![[3u32], [1]]),
        ("candidate_label", &array![1u8, 0]),
        ("candidate_is_test", &array![true, false]),
        ("features", &array![[1.0f64, 0.5]]),
        ("labels", &array![2i16]),
        ("votes", &array![[0i64, 1, 1]]),
        ("votes_prime", &array![[0u16, 0, 1]]),
    ];
    packed(compressed, arrays)
}

fn read_everything(bytes: &[u8]) -> Vec<String> {
    let mut errors = Vec::new();
    for name in ["a.csv", "a.json"] {
        errors.extend(counts_from_bytes(name, bytes).err().map(|error| error.to_string()));
        errors.extend(distribution_from_bytes(name, bytes).err().map(|error| error.to_string()));
    }
    match votes_from_bytes("a.npz", bytes.to_vec()) {
        Err(error) => errors.push(error.to_string()),
        Ok(mut file) => {
            for adversary in Adversary::ALL {
                errors.extend(file.pate(adversary).err().map(|error| error.to_string()));
                errors.extend(file.capc(adversary).err().map(|error| error.to_string()));
            }
            errors.extend(file.prompt_pate().err().map(|error| error.to_string()));
            errors.extend(file.private_knn().err().map(|error| error.to_string()));
            errors.extend(file.private_knn_training().err().map(|error| error.to_string()));
        }
    }
    errors
}

fn check(bytes: &[u8]) {
    for error in read_everything(bytes) {
        assert!(error.starts_with("a."), "{error}");
        assert!(!error.contains(char::is_control), "{error:?}");
        assert!(error.chars().count() < 2000, "{error}");
    }
}

/// A start, and then tokens that mean something to the readers, so that the search gets past the first check: words,
/// and what stands between words.
fn nearly(
    starts: Vec<&'static str>,
    words: &'static str,
    between: &[&'static str],
) -> impl Strategy<Value = String> + use<> {
    let tokens: Vec<&str> = words.split(' ').chain(between.iter().copied()).collect();
    let tokens = prop::collection::vec(prop::sample::select(tokens), 0..40);
    (prop::sample::select(starts), tokens).prop_map(|(start, tokens)| start.to_owned() + &tokens.concat())
}

fn nearly_csv() -> impl Strategy<Value = String> {
    let words = "outcome count count_neighbor query world output p q s s_prime , , , 0 1 0.5 -3 NaN 1e3 \
                 9007199254740993 a é";
    let headers = vec!["outcome,count,count_neighbor\n", "world,output\n", "outcome,p,q\n", ""];
    nearly(headers, words, &["\n", "\r\n", "\"", " ", "\u{feff}", "\0"])
}

fn nearly_json() -> impl Strategy<Value = String> {
    let words = r#"{ } [ ] , : "outcome" "count" "count_neighbor" "queries" "labels" "counts" "counts_neighbor" "p" "q" 1 0.5 -3 null true "a" NaN"#;
    nearly(vec!["", "[{", "{", r#"[{"outcome":1,"count":1,"count_neighbor":1}"#], words, &[" ", "\n"])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        check(&bytes);
    }

    #[test]
    fn nearly_text(text in prop_oneof![nearly_csv(), nearly_json()]) {
        check(text.as_bytes());
    }

    #[test]
    fn damaged_archives(
        compressed in any::<bool>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = votes(compressed);
        for (index, byte) in changes {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        check(&bytes);
    }

    #[test]
    fn counts_are_read_back(
        rows in prop::collection::btree_map("[ -~é]{1,12}", (0u64..1 << 40, 0u64..1 << 40), 1..30),
        crlf in any::<bool>(),
        mark in any::<bool>(),
    ) {
        prop_assume!(rows.values().any(|(count, _)| *count > 0) && rows.values().any(|(_, count)| *count > 0));
        let end = if crlf { "\r\n" } else { "\n" };
        let mut text = String::from(if mark { "\u{feff}" } else { "" }) + "outcome,count,count_neighbor" + end;
        for (outcome, (count, neighbor)) in &rows {
            text += &format!("\"{}\",{count}, {neighbor}{end}", outcome.replace('"', "\"\""));
        }
        let file = counts_from_bytes("a.csv", text.as_bytes()).unwrap();
        let counts = &file.queries[0].counts;
        prop_assert!(counts.labels().iter().eq(rows.keys()));
        prop_assert!(counts.counts().iter().eq(rows.values().map(|(count, _)| count)));
        prop_assert!(counts.counts_neighbor().iter().eq(rows.values().map(|(_, count)| count)));
    }

    #[test]
    fn raw_outputs_are_counted(samples in prop::collection::vec((any::<bool>(), 0u8..5), 0..200)) {
        let mut text = String::from("world,output\ns,0\ns_prime,4\n");
        let mut expected = [[0u64; 5]; 2];
        expected[0][0] += 1;
        expected[1][4] += 1;
        for (neighbor, output) in &samples {
            text += &format!("{},{output}\n", if *neighbor { "s_prime" } else { "s" });
            expected[usize::from(*neighbor)][usize::from(*output)] += 1;
        }
        let file = counts_from_bytes("a.csv", text.as_bytes()).unwrap();
        let counts = &file.queries[0].counts;
        for (index, label) in counts.labels().iter().enumerate() {
            let output: usize = label.parse().unwrap();
            prop_assert_eq!(counts.counts()[index], expected[0][output]);
            prop_assert_eq!(counts.counts_neighbor()[index], expected[1][output]);
        }
    }
}
