//! The recorded data of the repository, read as a user reads it.

use leakbound::histogram::Adjacency;
use leakbound::model::Adversary;
use leakbound::record::{VoteFile, read_counts};
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
        .filter(|query| query.histogram.adjacency_to(&query.histogram_neighbor) == Some(Adjacency::Moved));
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
