//! The answer about students and the membership of their teachers' images.

use crate::bound::Validity;
use crate::study::Warning;
use crate::study::membership::Decision;
use crate::study::number::Number;
use serde::Serialize;

/// An area under a ROC with its limits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AucRow {
    /// The area.
    pub auc: f64,
    /// Lower limit of the area of the distributions that the scores come from, given the model.
    pub lower: f64,
    /// Upper limit of the area of the distributions that the scores come from, given the model.
    pub upper: f64,
}

/// The AUC of the samples of one class.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassAucRow {
    /// The class.
    pub class: usize,
    /// The AUC of the threshold attack; absent with fewer than two members or others.
    pub auc: Option<f64>,
}

/// One student, or one model without privacy.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttackedStudentRow {
    /// Its privacy budget; absent for a model without privacy.
    pub budget: Option<Number>,
    /// Threshold on the loss.
    pub threshold: AucRow,
    /// "Member" is guessed if score > above; absent: always. It is the lowest score of a test image at which the share
    /// of recorded test images accused is at most the false-positive rate.
    pub above: Option<Number>,
    /// Share of the recorded members that this rule finds.
    pub tpr: f64,
    /// Lower limit of the TPR of the rule "score > above" on any members.
    pub tpr_lower: f64,
    /// Upper limit of the TPR of the rule "score > above" on any members.
    pub tpr_upper: f64,
    /// Trained attacker: the mean area of the quarters.
    pub attacker: AucRow,
    /// Share of the members whose risk score is within 0.05 of ½.
    pub risk_near_half: f64,
    /// Largest risk score of a member.
    pub risk_largest: f64,
    /// Percentiles 0, 1, ..., 100 of the risk scores of the members.
    pub risk_quantiles: Vec<f64>,
    /// The threshold attack class by class.
    pub classes: Vec<ClassAucRow>,
}

/// All students of one budget.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BudgetMembershipRow {
    /// The budget; absent for models without privacy.
    pub budget: Option<Number>,
    /// Students.
    pub students: usize,
    /// Mean AUC of the threshold attack.
    pub auc: f64,
    /// Mean of the lower limits of the students: a limit of their mean area, since they hold simultaneously.
    pub lower: f64,
    /// Mean of the upper limits of the students.
    pub upper: f64,
    /// Smallest AUC of a student.
    pub smallest: f64,
    /// Largest AUC of a student.
    pub largest: f64,
    /// Mean AUC of the trained attacker.
    pub attacker: f64,
    /// Mean TPR of the threshold attack.
    pub tpr: f64,
    /// Mean share of members whose risk score is within 0.05 of ½.
    pub risk_near_half: f64,
    /// Largest risk score of a member of any student.
    pub risk_largest: f64,
}

/// What was published about students.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StudentFinding {
    /// The AUC of both attacks is near 0.5 for all budgets: within 0.05.
    NearGuessing,
    /// The AUC does not rise noticeably with the budget: by 0.05, from the smallest to the largest.
    NoRise,
}

/// A published finding, and what the limits show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudentFindingRow {
    /// The finding.
    pub finding: StudentFinding,
    /// Whether it holds here.
    pub decision: Decision,
}

/// The answer of a [`StudentMembershipStudy`](super::StudentMembershipStudy).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudentMembershipAnswer {
    /// Private images, all of them members.
    pub members: usize,
    /// Test images.
    pub non_members: usize,
    /// False-positive rate.
    pub fpr: f64,
    /// Failure probability of all AUC limits together, and of all TPR limits together.
    pub failure_probability: Number,
    /// What the limits guarantee for the recorded models: `finite-sample` if, given a model, scores of private images
    /// are independent draws from one distribution and scores of test images from another. Students may depend on each
    /// other.
    pub validity: Validity,
    /// A row for each budget, rising; models without privacy last.
    pub budgets: Vec<BudgetMembershipRow>,
    /// Published findings.
    pub findings: Vec<StudentFindingRow>,
    /// Student by student; models without privacy last.
    pub students: Vec<AttackedStudentRow>,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

answer!(StudentMembershipAnswer, "leakbound.membership-students/1", warnings);
