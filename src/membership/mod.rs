//! Membership inference from recorded scores: attacks, and what they show.

mod attack_scores;
mod lira;
mod score;
mod shadow_scores;

pub use attack_scores::AttackScores;
pub use lira::{LiraMode, LiraPlan, LiraScores, LiraVariance, LiraVariant, LiraViews, Victims, lira};
pub use score::{MembershipScore, fisher_score};
pub use shadow_scores::{MemoryLogits, MemoryScores, ScoreBlock, ScoredLogits, ShadowLogits, ShadowScores};
