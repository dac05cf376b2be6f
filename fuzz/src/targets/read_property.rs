//! Any bytes as answers of a student and of ensembles in a file: rejected in one line, or probabilities that fit
//! together.

use leakbound::property::property_distance;
use leakbound::record::{MemoryBudget, read_property_answers};
use crate::input::{MEMORY, archive, on_disk};

const NAMES: &str = "student ensembles";

pub fn run(bytes: &[u8]) {
    let bytes = archive(bytes, NAMES);
    let read = on_disk(&bytes, ".npz", |path| read_property_answers(path, MemoryBudget::of_bytes(MEMORY)));
    if let Some((answers, _)) = read {
        let (values, members, points, classes) = answers.ensembles.dim();
        assert!(values > 1 && members > 0 && answers.student.dim() == (points, classes));
        assert!(answers.student.iter().chain(&answers.ensembles).all(|p| (0.0..=1.0).contains(p)));
        // Rows that do not sum to 1 are rejected here, and nothing panics.
        let _ = property_distance(answers.student.view(), answers.ensembles.view(), 5, 0);
    }
}
