//! The threshold attack.

use super::made::{Attack, ComparedAttack, MembershipAttack};
use crate::error::Result;
use crate::membership::{Guesses, MembershipScore, ViewPairs, threshold_attack};
use crate::study::membership::recorded::WatchedAnswers;

/// One threshold for the answers on all samples; every model is a victim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThresholdAttack {
    /// The score of logits; [`MembershipScore::Loss`] if none.
    pub score: Option<MembershipScore>,
}

impl MembershipAttack for ThresholdAttack {
    fn name(&self) -> &'static str {
        "threshold"
    }

    fn schema(&self) -> &'static str {
        "leakbound.membership-threshold/1"
    }

    fn words(&self) -> String {
        "threshold".into()
    }

    fn score(&self) -> Option<MembershipScore> {
        self.score
    }

    fn wants(&self) -> Option<(&'static str, &'static str)> {
        let operation = match self.score? {
            MembershipScore::TopConfidence => "threshold of the largest confidence",
            MembershipScore::Entropy => "threshold of the entropy",
            MembershipScore::Logit
            | MembershipScore::Hinge
            | MembershipScore::Loss
            | MembershipScore::Confidence
            | MembershipScore::ModifiedEntropy
            | MembershipScore::Correct => return None,
        };
        Some((operation, "all confidences"))
    }

    fn guesses(&self, answers: &WatchedAnswers<'_, '_>) -> Result<Guesses> {
        let scores = answers.scored(self.score, MembershipScore::Loss, |source| threshold_attack(source))?;
        Ok(Guesses { scores, undecided: 0 })
    }
}

pub(super) const COMPARED: &[ComparedAttack] = &[
    ComparedAttack { name: "threshold", about: "One threshold for the loss of all samples", build: |_, _| usual(None) },
    ComparedAttack {
        name: "top-confidence",
        about: "One threshold for the largest confidence of all samples",
        build: |_, _| usual(Some(MembershipScore::TopConfidence)),
    },
    ComparedAttack {
        name: "entropy",
        about: "One threshold for the entropy of all samples",
        build: |_, _| usual(Some(MembershipScore::Entropy)),
    },
    ComparedAttack {
        name: "encoder-threshold",
        about: "One threshold for how alike the embeddings of views of all samples are",
        build: |_, _| usual(None).on_encoder(ViewPairs::All),
    },
];

fn usual(score: Option<MembershipScore>) -> Attack {
    Attack::new(ThresholdAttack { score })
}
