//! The privacy-risk score.

use super::made::{Attack, ComparedAttack, MembershipAttack};
use crate::error::Result;
use crate::membership::{Guesses, MembershipScore, Victims, risk_score};
use crate::study::membership::recorded::WatchedAnswers;

/// The privacy-risk score.
#[derive(Debug, Clone, PartialEq)]
pub struct RiskAttack {
    /// The score of logits; [`MembershipScore::ModifiedEntropy`] if none.
    pub score: Option<MembershipScore>,
    /// Bins with equally many scores.
    pub bins: usize,
    /// The models that are attacked.
    pub victims: Victims,
}

impl MembershipAttack for RiskAttack {
    fn name(&self) -> &'static str {
        "risk"
    }

    fn schema(&self) -> &'static str {
        "leakbound.membership-risk/1"
    }

    fn words(&self) -> String {
        "privacy-risk score".into()
    }

    fn victims(&self) -> Option<&Victims> {
        Some(&self.victims)
    }

    fn score(&self) -> Option<MembershipScore> {
        self.score
    }

    fn guesses(&self, answers: &WatchedAnswers<'_, '_>) -> Result<Guesses> {
        let labels = answers.labels();
        answers.scored(self.score, MembershipScore::ModifiedEntropy, |source| {
            risk_score(source, labels, self.bins, &self.victims)
        })
    }
}

pub(super) const COMPARED: &[ComparedAttack] = &[ComparedAttack {
    name: "risk",
    about: "The privacy-risk score",
    build: |victims, _| Attack::new(RiskAttack { score: None, bins: 15, victims: victims.clone() }),
}];
