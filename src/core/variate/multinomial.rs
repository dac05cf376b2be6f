//! Multinomial counts of any number of trials, drawn class by class, likely classes first.

use super::binomial;
use crate::special::CompensatedSum;
use rand::Rng;

/// Mult(n, P): given what is left, N_i ~ Bin(left, P_i/(P_i + rest)), or all others together if they are the rarer
/// side, so that every binomial is drawn for its smaller probability.
#[derive(Debug, Clone)]
pub struct Multinomial {
    /// Class, probability of the rarer side, and whether that side is all later classes.
    steps: Vec<(usize, f64, bool)>,
}

impl Multinomial {
    /// Probabilities P that sum to 1; classes of probability 0 are never drawn.
    pub fn new(p: &[f64]) -> Self {
        let mut order: Vec<usize> = (0..p.len()).filter(|&class| p[class] > 0.0).collect();
        order.sort_by(|&a, &b| p[b].total_cmp(&p[a]).then(a.cmp(&b)));
        let mut steps = Vec::with_capacity(order.len());
        // The probability of the later classes, summed from the smallest.
        let mut rest = CompensatedSum::default();
        for &class in order.iter().rev() {
            let (own, others) = (p[class], rest.value());
            steps.push((class, own.min(others) / (own + others), own > others));
            rest.add(own);
        }
        steps.reverse();
        Self { steps }
    }

    /// Adds the counts of n ≤ 2^53 trials to one entry per class.
    pub fn add(&self, n: u64, stream: &mut impl Rng, mut add: impl FnMut(usize, u64)) {
        let mut left = n;
        for &(class, rarer, others) in &self.steps {
            if left == 0 {
                return;
            }
            let drawn = binomial::draw(left, rarer, stream);
            let count = if others { left - drawn } else { drawn };
            add(class, count);
            left -= count;
        }
    }
}
