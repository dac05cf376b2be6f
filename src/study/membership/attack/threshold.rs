//! The threshold attack.

use super::made::{Attack, ComparedAttack, MembershipAttack};
use crate::error::Result;
use crate::membership::{Guesses, MembershipScore, ViewPairs, threshold_attack};
use crate::study::membership::recorded::WatchedAnswers;

#[derive(Debug)]
struct Threshold {
    score: Option<MembershipScore>,
}

impl Attack {
    /// One threshold for the answers on all samples; every model is a victim. The score of logits is
    /// [`MembershipScore::Loss`] if none is given.
    #[must_use]
    pub fn threshold(score: Option<MembershipScore>) -> Self {
        Self::new(Threshold { score })
    }
}

impl MembershipAttack for Threshold {
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
    ComparedAttack {
        name: "threshold",
        about: "One threshold for the loss of all samples",
        build: |_, _| Attack::threshold(None),
    },
    ComparedAttack {
        name: "top-confidence",
        about: "One threshold for the largest confidence of all samples",
        build: |_, _| Attack::threshold(Some(MembershipScore::TopConfidence)),
    },
    ComparedAttack {
        name: "entropy",
        about: "One threshold for the entropy of all samples",
        build: |_, _| Attack::threshold(Some(MembershipScore::Entropy)),
    },
    ComparedAttack {
        name: "encoder-threshold",
        about: "One threshold for how alike the embeddings of views of all samples are",
        build: |_, _| Attack::threshold(None).on_encoder(ViewPairs::All),
    },
];
