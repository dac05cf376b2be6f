//! Membership inference from recorded scores: attacks, and what they show.

mod attack_scores;
mod roc;
mod tpr_at_fpr;
mod victim_bootstrap;

pub use attack_scores::AttackScores;
pub use roc::{BestThreshold, Roc, RocPoint};
pub use tpr_at_fpr::{TprAtFpr, tpr_at_fpr};
pub use victim_bootstrap::{VictimBootstrap, victim_bootstrap};
