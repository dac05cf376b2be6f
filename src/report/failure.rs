//! What the failure probability of a document covers.

use crate::audit::FailurePer;
use crate::study::{FailureNote, short, significant};
use easy_ext::ext;

#[ext(FailureNoteText)]
impl FailureNote {
    /// One event for everything.
    pub(crate) fn of_one_event(probability: f64) -> Self {
        Self { probability, per: FailurePer::Answer, queries: 1, share: probability, joint_share: None, nominal: false }
    }

    /// In words, without a capital and a full stop.
    pub(crate) fn words(&self) -> String {
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
