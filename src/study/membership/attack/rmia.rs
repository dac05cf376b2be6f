//! RMIA.

use super::made::{Attack, ComparedAttack, MembershipAttack};
use crate::error::Result;
use crate::membership::{Guesses, MembershipScore, RmiaMode, RmiaPlan, Victims, rmia};
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
    ComparedAttack { name: "rmia", about: "RMIA", build: |victims, _| usual(RmiaMode::Online, victims) },
    ComparedAttack {
        name: "rmia-offline",
        about: "RMIA without models trained on the sample",
        build: |victims, _| usual(RmiaMode::Offline, victims),
    },
];

fn usual(mode: RmiaMode, victims: &Victims) -> Attack {
    Attack::new(RmiaPlan { mode, victims: victims.clone(), ..RmiaPlan::default() })
}
