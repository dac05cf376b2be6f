//! The privacy-risk score.

use super::made::{Attack, ComparedAttack, MembershipAttack};
use crate::error::Result;
use crate::membership::{Guesses, MembershipScore, Victims, risk_score};
use crate::study::membership::recorded::WatchedAnswers;

#[derive(Debug)]
struct Risk {
    score: Option<MembershipScore>,
    bins: usize,
    victims: Victims,
}

impl Attack {
    /// The privacy-risk score of these victims, from bins with equally many scores. The score of logits is
    /// [`MembershipScore::ModifiedEntropy`] if none is given.
    #[must_use]
    pub fn risk(score: Option<MembershipScore>, bins: usize, victims: Victims) -> Self {
        Self::new(Risk { score, bins, victims })
    }
}

impl MembershipAttack for Risk {
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
    build: |victims, _| Attack::risk(None, 15, victims.clone()),
}];
