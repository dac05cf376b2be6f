//! Random parameters and data that provoke errors: ties, consensus, one vote, two classes, tiny and huge noise.

use crate::quantity::{NoiseScale, Probability};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// One of a list.
pub fn pick<'a, T>(stream: &mut ChaCha8Rng, from: &'a [T]) -> &'a T {
    &from[stream.random_range(0..from.len())]
}

/// Log-uniform.
pub fn between(stream: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    (low.ln() + (high / low).ln() * stream.random::<f64>()).exp()
}

/// A scale of noise from 0.05 to 1e5.
pub fn scale(stream: &mut ChaCha8Rng) -> Option<NoiseScale> {
    let value = match stream.random_range(0..10u32) {
        0..4 => *pick(stream, &[1.0, 2.0, 5.0, 10.0, 40.0]),
        4..8 => between(stream, 0.3, 60.0),
        8 => between(stream, 0.05, 0.3),
        _ => between(stream, 60.0, 1e5),
    };
    NoiseScale::new(value).ok()
}

/// A sampling rate.
pub fn rate(stream: &mut ChaCha8Rng) -> Option<Probability> {
    let value = if stream.random_bool(0.5) { *pick(stream, &[0.5, 0.1, 0.01]) } else { between(stream, 1e-4, 0.95) };
    Probability::new(value).ok()
}

/// The count without the record.
pub fn no_record(_: &mut ChaCha8Rng, _: bool) -> Vec<u64> {
    vec![0]
}

/// The vote of one voter.
pub fn one_vote(stream: &mut ChaCha8Rng, few: bool) -> Vec<u64> {
    let classes = if few { stream.random_range(2..=5) } else { *pick(stream, &[2, 2, 3, 4, 10, 100]) };
    let mut counts = vec![0; classes];
    counts[stream.random_range(0..classes)] = 1;
    counts
}

/// One record or another.
pub fn one_of_two(stream: &mut ChaCha8Rng, _: bool) -> Vec<u64> {
    if stream.random_bool(0.5) { vec![1, 0] } else { vec![0, 1] }
}

/// At most a dozen votes of at most four classes: all neighbors of all neighbors are tried.
pub fn few_votes(stream: &mut ChaCha8Rng, _: bool) -> Vec<u64> {
    let mut counts = vec![0; stream.random_range(2..=4)];
    for _ in 0..stream.random_range(1..=12u32) {
        // Biased to the first class, so that a consensus occurs.
        let class = stream.random_range(0..counts.len()).min(stream.random_range(0..counts.len()));
        counts[class] += 1;
    }
    counts
}

/// Votes with at least one vote to move; few classes if their distributions must be composed.
pub fn votes(stream: &mut ChaCha8Rng, few: bool) -> Vec<u64> {
    let classes = match stream.random_range(0..20u32) {
        0..9 => 2,
        9..15 => 3,
        15..18 => 4,
        _ if few => 5,
        18 => stream.random_range(5..=8),
        _ => 10,
    };
    let voters = match stream.random_range(0..10u32) {
        0..5 => stream.random_range(1..=12),
        5..9 => stream.random_range(1..=300),
        _ => between(stream, 300.0, 1e6) as u64,
    };
    let mut counts = match stream.random_range(0..6u32) {
        // A tie of all classes.
        0 => vec![voters.div_ceil(classes as u64); classes],
        // Consensus.
        1 => (0..classes).map(|class| if class == 0 { voters } else { 0 }).collect(),
        // A tie of two, the others far behind.
        2 => (0..classes).map(|class| if class < 2 { voters } else { 0 }).collect(),
        // One vote.
        3 if stream.random_bool(0.3) => (0..classes).map(|class| u64::from(class == 0)).collect(),
        // Close to a tie.
        3 => (0..classes).map(|_| voters + stream.random_range(0..=3)).collect(),
        // A gap to the rest.
        4 => (0..classes).map(|class| if class == 0 { voters } else { stream.random_range(0..=voters) }).collect(),
        _ => (0..classes).map(|_| stream.random_range(0..=voters)).collect(),
    };
    if counts.iter().all(|&count| count == 0) {
        counts[0] = 1;
    }
    counts
}

/// Answers to at most five queries, which are compared with a threshold near the largest.
pub fn answers(stream: &mut ChaCha8Rng, few: bool) -> Vec<u64> {
    let most = if few { 4 } else { 5 };
    let answers = (*pick(stream, &[1, 2, 2, 2, 3, 3, 4, 5])).min(most);
    let base = match stream.random_range(0..10u32) {
        0..6 => stream.random_range(0..=3),
        6..9 => stream.random_range(1..=300),
        _ => between(stream, 300.0, 1e6) as u64,
    };
    // Comparisons are most informative at ties.
    let spread = *pick(stream, &[0, 0, 0, 0, 0, 0, 1, 3, 10]);
    (0..answers).map(|_| base + stream.random_range(0..=spread)).collect()
}
