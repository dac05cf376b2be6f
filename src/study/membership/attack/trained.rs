//! The trained attacker.

use super::made::{Attack, ComparedAttack, MembershipAttack};
use crate::error::Result;
use crate::membership::{Guesses, trained_attacker};
use crate::study::membership::recorded::WatchedAnswers;

const NAME: &str = "trained attacker";

#[derive(Debug)]
struct Trained {
    seed: u64,
}

impl Attack {
    /// A small network trained with this seed on the sorted confidences of other models; every model is a victim. It
    /// needs logits.
    #[must_use]
    pub fn trained(seed: u64) -> Self {
        Self::new(Trained { seed })
    }
}

impl MembershipAttack for Trained {
    fn name(&self) -> &'static str {
        "attacker"
    }

    fn schema(&self) -> &'static str {
        "leakbound.membership-attacker/1"
    }

    fn words(&self) -> String {
        NAME.into()
    }

    fn wants(&self) -> Option<(&'static str, &'static str)> {
        Some((NAME, "all confidences"))
    }

    fn guesses(&self, answers: &WatchedAnswers<'_, '_>) -> Result<Guesses> {
        let logits = answers.logits(NAME, "the attacker looks at all confidences, and scores are recorded")?;
        Ok(Guesses { scores: trained_attacker(&logits, self.seed)?, undecided: 0 })
    }
}

pub(super) const COMPARED: &[ComparedAttack] = &[ComparedAttack {
    name: "attacker",
    about: "A small network trained on sorted confidences",
    build: |_, seed| Attack::trained(seed),
}];
