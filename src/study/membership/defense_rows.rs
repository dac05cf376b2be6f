//! The rows of a study of defenses.

use super::rows::RocCurve;
use crate::membership::{CanaryKind, DefenseAttack, DefenseFamily};
use crate::study::Number;
use serde::Serialize;

/// What an attack is in the study of a defense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AttackRole {
    /// LiRA on the answers of the whole defense.
    Lira,
    /// The attack adapted to the defense; if nothing better than LiRA is known, LiRA has the only row.
    Adaptive,
    /// LiRA on the answers without what the defense does at test time.
    TrainingTime,
    /// LiRA on the answers of SELENA's Split-AI, before it is distilled.
    SplitAi,
    /// LiRA on the answers of Split-AI at the nearest neighbor of each sample.
    SplitAiNeighbor,
}

impl AttackRole {
    /// What of a defense the attack looks at, behind its name; nothing of the whole defense.
    #[must_use]
    pub const fn part(self) -> &'static str {
        match self {
            Self::Lira | Self::Adaptive => "",
            Self::TrainingTime => " without test-time defense",
            Self::SplitAi | Self::SplitAiNeighbor => " on Split-AI",
        }
    }
}

/// The TPR of an attack at one FPR, with its band over victims (heuristic).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BandedRate {
    /// False-positive rate that the rule does not exceed on the recorded guesses.
    pub fpr: f64,
    /// Share of the members that are found.
    pub tpr: f64,
    /// Lower end: the smaller of the percentile over resampled victims and the Clopper-Pearson limit of the rule. For
    /// the canaries of DP-SGD that leak most, the largest of their lower ends, and likewise for the upper end.
    pub lower: Number,
    /// Upper end: the larger one.
    pub upper: Number,
}

impl BandedRate {
    pub(super) const fn band(&self) -> [f64; 2] {
        [self.lower.0, self.upper.0]
    }
}

/// One attack on one kind of canary.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DefenseEvaluation {
    /// The defense.
    pub defense: String,
    /// Which it is.
    pub family: DefenseFamily,
    /// What was audited.
    pub canaries: CanaryKind,
    /// What the attack is in this study.
    pub role: AttackRole,
    /// The attack.
    pub attack: String,
    /// Models; each is a victim.
    pub victims: usize,
    /// Samples attacked.
    pub samples: usize,
    /// Views of a sample that the attack looks at.
    pub views: usize,
    /// Area under the ROC.
    pub auc: f64,
    /// Ends of the AUC when victims are resampled (heuristic).
    pub auc_bootstrap: [Number; 2],
    /// TPR at each FPR.
    pub at: Vec<BandedRate>,
}

impl DefenseEvaluation {
    /// The evaluation of a defense on these canaries in this role. An adapted attack that is LiRA has both roles.
    pub(super) fn find<'a>(all: &'a [Self], defense: &str, canaries: CanaryKind, role: AttackRole) -> Option<&'a Self> {
        let of = |role: AttackRole| {
            all.iter().find(|row| row.defense == defense && row.canaries == canaries && row.role == role)
        };
        of(role).or_else(|| (role == AttackRole::Adaptive).then(|| of(AttackRole::Lira)).flatten())
    }
}

/// Accuracy on test images over the models.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccuracySpread {
    /// Models.
    pub models: usize,
    /// Mean.
    pub mean: f64,
    /// Standard deviation with divisor n - 1; 0 for one model.
    pub deviation: f64,
}

impl AccuracySpread {
    pub(in crate::study) fn of(accuracy: &[f64]) -> Option<Self> {
        let models = accuracy.len();
        let mean = accuracy.iter().sum::<f64>() / models as f64;
        let squares: f64 = accuracy.iter().map(|accuracy| (accuracy - mean).powi(2)).sum();
        let deviation = (squares / models.saturating_sub(1).max(1) as f64).sqrt();
        (models > 0).then_some(Self { models, mean, deviation })
    }
}

/// One line of table 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DefenseRow {
    /// The defense.
    pub defense: String,
    /// Which it is.
    pub family: DefenseFamily,
    /// The attack that is adapted to it.
    pub attack: DefenseAttack,
    /// The canaries that represent its most vulnerable samples.
    pub canaries: Option<CanaryKind>,
    /// Accuracy on test images, of the models with the original samples if these were recorded.
    pub test_accuracy: Option<AccuracySpread>,
    /// LiRA on the original samples, at each FPR.
    pub original: Vec<BandedRate>,
    /// The adapted attack on the original samples.
    pub adaptive: Vec<BandedRate>,
    /// The adapted attack on the canaries.
    pub ours: Vec<BandedRate>,
}

/// The ROC of one attack on one kind of canary.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DefenseRoc {
    /// The defense.
    pub defense: String,
    /// What was audited.
    pub canaries: CanaryKind,
    /// What the attack is in this study.
    pub role: AttackRole,
    /// The ROC.
    #[serde(flatten)]
    pub curve: RocCurve,
}
