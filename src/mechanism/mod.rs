//! Mechanisms as data: parameters, output distributions, and the theorems that bound them.

mod noisy_argmax;
mod random_votes;

pub use noisy_argmax::NoisyArgmax;
pub use random_votes::RandomVotes;
