//! Membership inference from recorded scores: attacks, and what they show.

mod answers;
mod attack_scores;
mod attacker;
mod auc_limits;
mod canaries;
mod canary;
mod canary_kind;
mod defense;
mod embeddings;
mod label_only;
mod lira;
mod logistic;
mod means;
mod metrics;
mod order_statistics;
mod risk_score;
mod rmia;
mod sample_level;
mod score;
mod shadow_scores;
mod text;
mod threshold;
mod tpr_at_fpr;
mod victim_bootstrap;

pub use answers::right_answers;
pub use attack_scores::AttackScores;
pub use attacker::trained_attacker;
#[doc(hidden)]
pub use auc_limits::mean_auc;
pub use auc_limits::{auc_limits, mean_auc_limits};
pub use canary::{CanaryAccuracy, CanaryIndependence, Dilution, canary_accuracy, canary_independence, dilution};
pub use canary_kind::CanaryKind;
pub use defense::{DefenseAttack, DefenseFamily};
#[doc(hidden)]
pub use embeddings::zero_vector;
pub use embeddings::{MemoryEmbeddings, ScoredEmbeddings, ShadowEmbeddings, ViewPairs};
pub use label_only::{LabelOnlyPlan, label_only};
pub use lira::{Guesses, LiraMode, LiraPlan, LiraVariance, LiraVariant, LiraViews, Victims, lira};
pub use metrics::{Level, LevelMetrics, MembershipMetrics, MembershipPlan, membership_metrics};
pub use risk_score::risk_score;
pub use rmia::{RmiaPlan, rmia};
pub use sample_level::{SampleLevel, SampleMetrics, sample_level};
pub use score::{MembershipScore, fisher_score};
pub use shadow_scores::{MemoryLogits, MemoryScores, ScoreBlock, ScoredLogits, ShadowLogits, ShadowScores};
pub use text::{
    Documents, MemoryText, Ragged, TextPart, TextRule, TextScore, TextSequence, TextSequences, document_scores,
    text_scores,
};
pub use threshold::threshold_attack;
pub use tpr_at_fpr::{TprAtFpr, tpr_at_fpr};
pub use victim_bootstrap::{VictimBootstrap, victim_bootstrap};
