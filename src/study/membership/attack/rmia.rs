//! RMIA.

use super::made::{Attack, ComparedAttack, MembershipAttack};
use crate::error::Result;
use crate::membership::{Guesses, MembershipScore, RmiaPlan, Victims, rmia};
use crate::study::membership::recorded::WatchedAnswers;

/// The relative attack on confidences.
impl MembershipAttack for RmiaPlan {
    fn name(&self) -> &'static str {
        "rmia"
    }

    fn schema(&self) -> &'static str {
        "leakbound.membership-rmia/1"
    }

    fn words(&self) -> String {
        "RMIA".into()
    }

    fn victims(&self) -> Option<&Victims> {
        Some(&self.victims)
    }

    fn is_of_confidences(&self) -> bool {
        true
    }

    fn guesses(&self, answers: &WatchedAnswers<'_, '_>) -> Result<Guesses> {
        answers.scored(None, MembershipScore::Confidence, |source| rmia(source, self))
    }
}

pub(super) const COMPARED: &[ComparedAttack] = &[
    ComparedAttack { name: "rmia", about: "RMIA", build: |victims, _| usual(false, victims) },
    ComparedAttack {
        name: "rmia-offline",
        about: "RMIA without models trained on the sample",
        build: |victims, _| usual(true, victims),
    },
];

fn usual(offline: bool, victims: &Victims) -> Attack {
    Attack::new(RmiaPlan { offline, victims: victims.clone(), ..RmiaPlan::default() })
}
