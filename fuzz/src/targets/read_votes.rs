//! Any bytes as recorded votes: rejected in one line, or histograms that keep every vote.
//!
//! Bytes that start with `P` are the archive itself. Others are its arrays, each as index of a name, length in two
//! bytes (little-endian) and content: the checksums of an archive would otherwise stop nearly every change.

use crate::input::{packed, rejected};
use leakbound::model::Adversary;
use leakbound::record::votes_from_bytes;
use zip::CompressionMethod;

const NAMES: [&str; 21] = [
    "pate_votes",
    "adv_query",
    "pate_nat_advq",
    "pate_pois_advq",
    "pate_pois_natq",
    "query_label",
    "votes",
    "votes_prime",
    "histogram",
    "histogram_prime",
    "capc_votes",
    "capc_nat_advq",
    "capc_pois_advq",
    "capc_pois_natq",
    "neighbour_labels",
    "query_features",
    "candidate_rank",
    "candidate_label",
    "candidate_is_test",
    "features",
    "labels",
];

pub fn run(bytes: &[u8]) {
    let archive = if bytes.starts_with(b"P") { bytes.to_vec() } else { packed(bytes, &NAMES, |_| CompressionMethod::default()) };
    let open = || votes_from_bytes("v.npz", archive.clone());
    for adversary in [Adversary::NatAdvq, Adversary::PoisAdvq, Adversary::PoisNatq] {
        match open().and_then(|mut file| file.pate(adversary)) {
            Ok(votes) => {
                assert!(votes.teachers > 0 && votes.classes > 0);
                for query in &votes.queries {
                    assert_eq!([query.votes.len(), query.votes_neighbor.len()], [votes.classes; 2]);
                    let total: u64 = query.votes.iter().sum();
                    assert!(total > 0 && total.is_multiple_of(votes.teachers as u64), "{total} votes of {}", votes.teachers);
                    assert!(query.label.is_none_or(|label| label < votes.classes));
                }
            }
            Err(error) => rejected(&error, "v.npz"),
        }
        match open().and_then(|mut file| file.capc(adversary)) {
            Ok(votes) => {
                assert!(votes.parties > 0 && votes.classes > 0);
                for query in &votes.queries {
                    assert_eq!([query.votes.len(), query.votes_neighbor.len()], [votes.parties, votes.classes]);
                    let instantiations = query.instantiations as u64;
                    assert!(query.votes.iter().all(|party| party.iter().sum::<u64>() == instantiations));
                    assert!(query.label.is_none_or(|label| label < votes.classes));
                }
            }
            Err(error) => rejected(&error, "v.npz"),
        }
    }
    match open().and_then(|mut file| file.private_knn()) {
        Ok(votes) => {
            let queries = votes.queries.len();
            assert!(queries > 0 && votes.features.is_none_or(|features| features.nrows() == queries));
            assert!(votes.candidates.is_none_or(|candidates| candidates.ranks.ncols() == queries));
            let labels = votes.queries.iter().flat_map(|query| query.neighbor_labels.iter().flatten());
            assert!(labels.copied().all(|label| label < votes.classes));
        }
        Err(error) => rejected(&error, "v.npz"),
    }
    match open().and_then(|mut file| file.private_knn_training()) {
        Ok(training) => assert_eq!(training.features.nrows(), training.labels.len()),
        Err(error) => rejected(&error, "v.npz"),
    }
    match open().and_then(|mut file| file.prompt_pate()) {
        Ok(votes) => {
            for query in &votes.queries {
                assert_eq!([query.histogram.classes(), query.histogram_neighbor.classes()], [votes.classes; 2]);
                assert!(query.label.is_none_or(|label| label < votes.classes));
            }
        }
        Err(error) => rejected(&error, "v.npz"),
    }
}
