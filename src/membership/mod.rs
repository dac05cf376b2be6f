//! Membership inference from recorded scores: attacks, and what they show.

mod attack_scores;
mod canaries;

pub use attack_scores::AttackScores;
