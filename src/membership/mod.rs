//! Membership inference from recorded scores: attacks, and what they show.

mod attack_scores;
mod attacker;
mod label_only;
mod lira;
mod means;
mod risk_score;
mod rmia;
mod score;
mod shadow_scores;
mod threshold;

pub use attack_scores::AttackScores;
pub use attacker::trained_attacker;
pub use label_only::label_only;
pub use lira::{Guesses, LiraMode, LiraPlan, LiraVariance, LiraVariant, LiraViews, Victims, lira};
pub use risk_score::risk_score;
pub use rmia::{RmiaPlan, rmia};
pub use score::{MembershipScore, fisher_score};
pub use shadow_scores::{MemoryLogits, MemoryScores, ScoreBlock, ScoredLogits, ShadowLogits, ShadowScores};
pub use threshold::threshold_attack;
