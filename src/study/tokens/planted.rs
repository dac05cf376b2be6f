//! Are planted sequences likelier to the members that were trained on them?

use super::answer::PlantedTestRow;
use crate::study::number::Number;

/// A rank test that holds for any number of sequences.
///
/// A fair die chose the member of each sequence. If no member remembers, the likelihoods do not depend on the outcome
/// of the die, so the rank of the chosen member is uniform over the ranks of the sequence, ties included, and
/// independent of other sequences. The p-value is the probability of a sum of ranks at most the observed one: the
/// distribution of the sum is computed, not approximated.
pub(super) fn test_planted(planted: &[usize], likelihoods: &[Vec<f64>]) -> PlantedTestRow {
    let members = likelihoods.first().map_or(0, Vec::len);
    // Twice the rank, so that the mean of tied ranks is whole.
    let mut law = vec![1.0];
    let mut seen = 0;
    for (likelihoods, &member) in likelihoods.iter().zip(planted) {
        let ranks: Vec<usize> = likelihoods.iter().map(|&own| doubled_rank(own, likelihoods)).collect();
        seen += ranks[member];
        let mut next = vec![0.0; law.len() + 2 * members];
        for rank in &ranks {
            for (sum, probability) in law.iter().enumerate() {
                next[sum + rank] += probability / members as f64;
            }
        }
        law = next;
    }
    let sequences = planted.len();
    let p_value: f64 = law[..=seen].iter().sum();
    PlantedTestRow {
        sequences: sequences as u64,
        mean_rank: Number(seen as f64 / (2 * sequences) as f64),
        expected: Number((members as f64 + 1.0) / 2.0),
        // Rounded up by what many sums can lose.
        p_value: Number((p_value * (1.0 + 1e-12 * sequences as f64)).clamp(f64::MIN_POSITIVE, 1.0)),
    }
}

/// Twice the rank of a likelihood, 2 for the largest one: 1 more for each other that is equal, 2 for each larger one.
fn doubled_rank(own: f64, all: &[f64]) -> usize {
    let (larger, equal) = all.iter().fold((0, 0), |(larger, equal), other| {
        (larger + usize::from(*other > own), equal + usize::from(*other == own))
    });
    2 * larger + equal + 1
}
