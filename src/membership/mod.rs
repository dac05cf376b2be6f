//! Membership inference from recorded scores: attacks, and what they show.

mod attack_scores;
mod canary;
mod lira;
mod metrics;
mod sample_level;
mod score;
mod shadow_scores;
mod tpr_at_fpr;
mod victim_bootstrap;

pub use attack_scores::AttackScores;
pub use canary::{CanaryAccuracy, CanaryIndependence, Dilution, canary_accuracy, canary_independence, dilution};
pub use lira::{LiraMode, LiraPlan, LiraScores, LiraVariance, LiraVariant, LiraViews, Victims, lira};
pub use metrics::{Level, LevelMetrics, MembershipMetrics, MembershipPlan, membership_metrics};
pub use sample_level::{SampleLevel, SampleMetrics, sample_level};
pub use score::{MembershipScore, fisher_score};
pub use shadow_scores::{MemoryLogits, MemoryScores, ScoreBlock, ScoredLogits, ShadowLogits, ShadowScores};
pub use tpr_at_fpr::{TprAtFpr, tpr_at_fpr};
pub use victim_bootstrap::{VictimBootstrap, victim_bootstrap};
