//! Any bytes as recorded votes: rejected in one line, or histograms that keep every vote.
//!
//! The archive is as `input::compressed` has it.

use crate::input::{accepted, compressed};
use leakbound::Result;
use leakbound::model::Adversary;
use leakbound::record::{VoteFile, votes_from_bytes};

const NAMES: &str = "\
    pate_votes adv_query pate_nat_advq pate_pois_advq pate_pois_natq query_label votes votes_prime histogram \
    histogram_prime capc_votes capc_nat_advq capc_pois_advq capc_pois_natq neighbour_labels query_features \
    candidate_rank candidate_label candidate_is_test features labels";

/// What a reader finds in the file, if it does not reject it.
fn read<T>(archive: &[u8], read: impl FnOnce(VoteFile) -> Result<T>) -> Option<T> {
    accepted(votes_from_bytes("v.npz", archive.to_vec()).and_then(read), "v.npz")
}

pub fn run(bytes: &[u8]) {
    let archive = compressed(bytes, NAMES);
    for adversary in [Adversary::NatAdvq, Adversary::PoisAdvq, Adversary::PoisNatq] {
        if let Some(votes) = read(&archive, |mut file| file.pate(adversary)) {
            assert!(votes.teachers > 0 && votes.classes > 0);
            for query in &votes.queries {
                assert_eq!([query.votes.len(), query.votes_neighbor.len()], [votes.classes; 2]);
                let total: u64 = query.votes.iter().sum();
                assert!(total > 0 && total.is_multiple_of(votes.teachers as u64), "{total} votes of {}", votes.teachers);
                assert!(query.label.is_none_or(|label| label < votes.classes));
            }
        }
        if let Some(votes) = read(&archive, |mut file| file.capc(adversary)) {
            assert!(votes.parties > 0 && votes.classes > 0);
            for query in &votes.queries {
                assert_eq!([query.votes.len(), query.votes_neighbor.len()], [votes.parties, votes.classes]);
                let instantiations = query.instantiations as u64;
                assert!(query.votes.iter().all(|party| party.iter().sum::<u64>() == instantiations));
                assert!(query.label.is_none_or(|label| label < votes.classes));
            }
        }
    }
    if let Some(votes) = read(&archive, |mut file| file.private_knn()) {
        let queries = votes.queries.len();
        assert!(queries > 0 && votes.features.is_none_or(|features| features.nrows() == queries));
        assert!(votes.candidates.is_none_or(|candidates| candidates.ranks.ncols() == queries));
        let labels = votes.queries.iter().flat_map(|query| query.neighbor_labels.iter().flatten());
        assert!(labels.copied().all(|label| label < votes.classes));
    }
    if let Some(training) = read(&archive, |mut file| file.private_knn_training()) {
        assert_eq!(training.features.nrows(), training.labels.len());
    }
    if let Some(votes) = read(&archive, |mut file| file.prompt_pate()) {
        for query in &votes.queries {
            assert_eq!([query.histogram.classes(), query.histogram_neighbor.classes()], [votes.classes; 2]);
            assert!(query.label.is_none_or(|label| label < votes.classes));
        }
    }
}
