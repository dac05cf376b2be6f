//! The answer about the membership of texts.

use crate::bound::{Interval, Validity};
use crate::membership::{TextScore, TprAtFpr};
use crate::roc::Roc;
use crate::study::Warning;
use crate::study::membership::RocCurve;
use crate::study::number::Number;
use serde::Serialize;

/// TPR at one target FPR, of documents, by the rule that guesses "member" if score > `above`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TextRateRow {
    /// The FPR that the rule does not exceed on the recorded documents.
    pub target_fpr: f64,
    /// "Member" is guessed if score > above; absent: always. It is a score of a non-member.
    pub above: Option<Number>,
    /// Share of the recorded non-members that this rule accuses.
    pub fpr: f64,
    /// Share of the recorded members that this rule finds.
    pub tpr: f64,
    /// Lower limit of the TPR of the rule "score > above" on any members.
    pub tpr_lower: Number,
    /// Upper limit of the TPR of the rule "score > above" on any members.
    pub tpr_upper: Number,
    /// Upper limit of the FPR of the rule "score > above" on any non-members; it may exceed the target.
    pub fpr_upper: Number,
    /// Lower limit of the ROC at the target.
    pub curve_lower: Number,
    /// Upper limit of the ROC at the target.
    pub curve_upper: Number,
    /// What these limits guarantee for independent documents: `finite-sample`, or `heuristic` if the documents of
    /// sequences are unknown.
    pub validity: Validity,
}

impl TextRateRow {
    pub(super) fn new(at: &TprAtFpr, validity: Validity) -> Self {
        Self {
            target_fpr: at.target.get(),
            above: at.above.map(Number),
            fpr: at.fpr_estimate(),
            tpr: at.tpr_estimate(),
            tpr_lower: Number(at.tpr.lower),
            tpr_upper: Number(at.tpr.upper),
            fpr_upper: Number(at.fpr_upper),
            curve_lower: Number(at.curve.lower),
            curve_upper: Number(at.curve.upper),
            validity,
        }
    }
}

/// One score of documents as an attack.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TextAttackRow {
    /// The score; high means member.
    pub score: TextScore,
    /// Area under the ROC of the recorded documents.
    pub auc: f64,
    /// Lower limit of the area of the distributions that they come from.
    pub auc_lower: f64,
    /// Upper limit of the area of the distributions that they come from.
    pub auc_upper: f64,
    /// What the limits of the area guarantee for independent documents: `finite-sample`, or `heuristic` if the
    /// documents of sequences are unknown.
    pub auc_validity: Validity,
    /// Largest (TPR + TNR)/2; its threshold was chosen by these guesses.
    pub balanced_accuracy: f64,
    /// Its threshold, "member" if score ≥ threshold; absent: never guessing "member" is best. It has no limits.
    pub best_threshold: Option<Number>,
    /// Largest TPR - FPR.
    pub advantage: f64,
    /// Sequences without a value of this score; their documents have the mean of the others.
    pub undecided: usize,
    /// Documents without a value for any sequence; by convention they rank lowest.
    pub undecided_documents: usize,
    /// TPR at each target FPR.
    pub at: Vec<TextRateRow>,
}

impl TextAttackRow {
    pub(super) fn new(score: TextScore, roc: &Roc, area: &Interval, validity: Validity) -> Self {
        let best = roc.best_threshold();
        Self {
            score,
            auc: roc.auc(),
            auc_lower: area.lower,
            auc_upper: area.upper,
            auc_validity: validity,
            balanced_accuracy: best.balanced_accuracy,
            best_threshold: best.point.threshold.map(Number),
            advantage: best.advantage,
            undecided: 0,
            undecided_documents: 0,
            at: Vec::new(),
        }
    }
}

/// A member sequence with a high score.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VulnerableSequenceRow {
    /// The score.
    pub score: TextScore,
    /// The sequence, counted from 0.
    pub sequence: usize,
    /// Its document, if documents are recorded.
    pub document: Option<String>,
    /// Its value.
    pub value: Number,
    /// Share of the non-member sequences with at least this value; not a limit.
    pub non_members_above: f64,
}

/// How much was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TextSizes {
    /// Sequences.
    pub sequences: usize,
    /// Tokens of all of them.
    pub tokens: usize,
    /// Documents that the model was trained on; sequences, if no documents are recorded.
    pub members: usize,
    /// Other documents.
    pub non_members: usize,
}

/// The answer of a [`TextMembershipStudy`](super::TextMembershipStudy).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TextMembershipAnswer {
    /// How much was recorded.
    pub sizes: TextSizes,
    /// Whether the documents of sequences are recorded; otherwise each sequence counts as independent of all others.
    pub documents_recorded: bool,
    /// The failure probability of all limits of all scores together.
    pub failure_probability: Number,
    /// The share of it for each limit.
    pub each_failure_probability: Number,
    /// The share k of the tokens that min-k, min-k-plus-plus and surprise look at.
    pub share: f64,
    /// The limit of the entropy in nats below which surprise looks at a token.
    pub entropy_limit: Number,
    /// A row for each score.
    pub attacks: Vec<TextAttackRow>,
    /// The ROC of documents under each score, thinned out.
    pub roc: Vec<RocCurve>,
    /// The member sequences with the highest values of each score.
    pub vulnerable: Vec<VulnerableSequenceRow>,
    /// The value of each document under each score, in the order of the scores.
    #[serde(skip)]
    pub values: Vec<Vec<f64>>,
    /// Which documents are members.
    #[serde(skip)]
    pub members: Vec<bool>,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

answer!(TextMembershipAnswer, "leakbound.membership-text/1", warnings);
