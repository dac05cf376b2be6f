//! Membership inference from recorded scores: attacks, and what they show.

mod attack_scores;
mod roc;

pub use attack_scores::AttackScores;
pub use roc::{BestThreshold, Roc, RocPoint};
