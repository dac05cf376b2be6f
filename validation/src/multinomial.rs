//! Counts of independent outputs, drawn as binomials one class after the other.

use leakbound::counts::PairedCounts;
use leakbound::distribution::OutcomeDistribution;
use rand::Rng;
use rand_distr::{Binomial, Distribution};

/// Mult(n, P): each class takes its binomial share of what is left.
pub fn draw(p: &[f64], n: u64, stream: &mut impl Rng) -> Vec<u64> {
    let (mut left, mut mass) = (n, p.iter().sum::<f64>());
    p.iter()
        .enumerate()
        .map(|(class, &p_class)| {
            let share = if class + 1 == p.len() { 1.0 } else { (p_class / mass).clamp(0.0, 1.0) };
            let count = Binomial::new(left, share).expect("a probability").sample(stream);
            left -= count;
            mass -= p_class;
            count
        })
        .collect()
}

/// The counts of an audit of n outputs in each world.
///
/// # Panics
/// For n = 0.
pub fn paired(p: &OutcomeDistribution, q: &OutcomeDistribution, n: u64, stream: &mut impl Rng) -> PairedCounts {
    let labels = (0..p.outcomes()).map(|class| class.to_string()).collect();
    PairedCounts::new(labels, draw(p.p(), n, stream), draw(q.p(), n, stream)).expect("n is at least 1")
}
