//! What the failure probability of a document is for.

use crate::audit::{FailureBudget, FailurePer};
use crate::study::{short, significant};
use serde::Serialize;

/// The stated failure probability, what it is for, and the share of each bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FailureNote {
    /// The stated probability.
    pub probability: f64,
    /// Whether all numbers with a finite-sample guarantee share it, or each method on each query has it for itself.
    pub per: FailurePer,
    /// Queries that share it: those of the answer, or of the whole that it is a part of.
    pub queries: usize,
    /// The probability that any bound of one method on one query is wrong.
    pub share: f64,
    /// The probability that the joint bound of all queries is wrong, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joint_share: Option<f64>,
    /// Whether some method has no finite-sample guarantee: its probability is the stated one, nominally.
    pub nominal: bool,
}

impl FailureNote {
    /// What a budget says, beside methods of which some have no guarantee.
    #[must_use]
    pub fn new(budget: &FailureBudget, nominal: bool) -> Self {
        Self {
            probability: budget.stated().get(),
            per: budget.per(),
            queries: budget.whole(),
            share: budget.share().get(),
            joint_share: budget.has_joint().then(|| budget.joint_share().get()),
            nominal,
        }
    }

    /// One event for everything.
    pub(super) const fn of_one_event(probability: f64) -> Self {
        Self { probability, per: FailurePer::Answer, queries: 1, share: probability, joint_share: None, nominal: false }
    }

    /// In words, without a capital and a full stop.
    pub(super) fn words(&self) -> String {
        let stated = short(self.probability);
        if self.per == FailurePer::Query {
            return format!("failure probability {stated} per query and method");
        }
        let share = if self.share < self.probability {
            format!(", {} per query and method", significant(self.share, 3))
        } else {
            String::new()
        };
        let nominal = if self.nominal {
            format!("; methods without a finite-sample guarantee have {stated} each, nominally")
        } else {
            String::new()
        };
        format!("failure probability {stated} for all numbers of this answer together{share}{nominal}")
    }
}
