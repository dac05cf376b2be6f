//! Any bytes as recorded votes in a file: rejected in one line, or the votes that the same bytes have in memory.

use leakbound::model::Adversary;
use leakbound::record::{ImagePart, MemoryBudget, VoteFile, read_images, votes_from_bytes};
use crate::input::{MEMORY, archive, on_disk};

const NAMES: &str = "\
    pate_votes pate_pois_natq capc_votes capc_pois_natq query_label votes votes_prime histogram histogram_prime \
    neighbour_labels x_test y_test";

pub fn run(bytes: &[u8]) {
    let bytes = archive(bytes, NAMES);
    let memory = MemoryBudget::of_bytes(MEMORY);
    let files = [
        on_disk(&bytes, ".npz", |path| Ok(VoteFile::open(path)?.within(memory))),
        votes_from_bytes("v.npz", bytes.clone()).ok().map(|file| file.within(memory)),
    ];
    let [first, second] = files.map(|file| {
        let mut file = file?;
        let all = (
            file.histograms(0).ok(),
            file.pate(Adversary::PoisNatq).ok(),
            file.capc(Adversary::PoisNatq).ok(),
            file.prompt_pate().ok(),
            file.private_knn().ok().map(|votes| votes.queries),
        );
        Some((file.input().sha256.clone(), all))
    });
    assert_eq!(first, second);
    let images = on_disk(&bytes, ".npz", |path| read_images(path, ImagePart::Test, memory));
    assert!(images.is_none_or(|(images, _)| images.pixels.dim().0 == images.len()));
}
