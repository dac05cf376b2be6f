//! Outputs of the protocols of local differential privacy.

use super::local_rule::{LocalRule, MOST_CLASSES};
use crate::simulate::{Stream, World};
use rand::RngExt;

/// The protocols as published, each in its own way, independent of how their distributions are computed.
pub(super) struct ProtocolSampler {
    pub rule: LocalRule,
    pub epsilon: f64,
    pub classes: usize,
    /// The votes in both worlds.
    pub votes: [usize; 2],
    /// The outcome of each vector of bits.
    pub of_bits: Vec<usize>,
}

impl ProtocolSampler {
    /// Each bit separately, with these probabilities of 1.
    fn encode(&self, vote: usize, stream: &mut Stream, [own, other]: [f64; 2]) -> usize {
        (0..self.classes).fold(0, |bits, class| {
            bits | usize::from(stream.random_bool(if class == vote { own } else { other })) << class
        })
    }

    /// A random function, its value for the vote by randomized response, and the classes with the reported value.
    fn hash(&self, vote: usize, stream: &mut Stream, hashes: u64) -> usize {
        let honest = 1.0 / (1.0 + (hashes as f64 - 1.0) * libm::exp(-self.epsilon));
        let mut values = [0; MOST_CLASSES];
        for value in values.iter_mut().take(self.classes) {
            *value = stream.random_range(0..hashes);
        }
        let mut reported = values[vote];
        if !stream.random_bool(honest) {
            // One of the others.
            reported = stream.random_range(0..hashes - 1);
            reported += u64::from(reported >= values[vote]);
        }
        (0..self.classes).fold(0, |bits, class| bits | usize::from(values[class] == reported) << class)
    }

    /// Whether the vote is in the set, then the rest of the set among the other classes.
    fn select(&self, vote: usize, stream: &mut Stream, size: usize) -> usize {
        let ratio = (self.classes - size) as f64 / size as f64;
        let holds = stream.random_bool(1.0 / (1.0 + ratio * libm::exp(-self.epsilon)));
        let mut bits = usize::from(holds) << vote;
        let mut missing = size - usize::from(holds);
        // Each remaining class, with probability the missing share of the set.
        let mut left = self.classes - 1;
        for class in (0..self.classes).filter(|&class| class != vote) {
            if stream.random_range(0..left) < missing {
                bits |= 1 << class;
                missing -= 1;
            }
            left -= 1;
        }
        bits
    }

    /// An outcome.
    pub(super) fn draw(&self, world: World, stream: &mut Stream) -> usize {
        let (vote, e) = (self.votes[world.index()], self.epsilon);
        // The probability of an event with these log odds.
        let logistic = |log_odds: f64| 1.0 / (1.0 + libm::exp(-log_odds));
        let bits = match self.rule {
            LocalRule::SymmetricUnary => self.encode(vote, stream, [logistic(0.5 * e), logistic(-0.5 * e)]),
            LocalRule::OptimizedUnary => self.encode(vote, stream, [0.5, logistic(-e)]),
            LocalRule::LocalHashing { hashes } => self.hash(vote, stream, hashes),
            LocalRule::SubsetSelection { size } => self.select(vote, stream, size as usize),
        };
        self.of_bits[bits]
    }
}
