//! The label-only attack.

use super::made::{Attack, ComparedAttack, MembershipAttack};
use crate::error::Result;
use crate::membership::{Guesses, LabelOnlyPlan, MembershipScore, Victims, label_only};
use crate::study::Warning;
use crate::study::membership::recorded::WatchedAnswers;

/// Logistic regression on which views are answered correctly.
impl MembershipAttack for LabelOnlyPlan {
    fn name(&self) -> &'static str {
        "label-only"
    }

    fn schema(&self) -> &'static str {
        "leakbound.membership-label-only/1"
    }

    fn words(&self) -> String {
        "label-only".into()
    }

    fn victims(&self) -> Option<&Victims> {
        Some(&self.victims)
    }

    fn wants(&self) -> Option<(&'static str, &'static str)> {
        Some(("label-only attack", "right and wrong answers"))
    }

    /// It sees one bit of each sample, but was published with eighteen.
    fn warning(&self, name: &str, _: usize, views: usize) -> Option<Warning> {
        (views == 1).then(|| Warning {
            code: "single-view",
            message: format!("{name}: one view of each sample shows one bit, whether its label is predicted"),
            hint: "record answers on augmented views of each sample; the published attack has 18 views".into(),
        })
    }

    fn guesses(&self, answers: &WatchedAnswers<'_, '_>) -> Result<Guesses> {
        answers.scored(None, MembershipScore::Correct, |source| label_only(source, self))
    }
}

pub(super) const COMPARED: &[ComparedAttack] = &[
    ComparedAttack {
        name: "label-only",
        about: "Logistic regression on which views are answered correctly",
        build: |victims, _| usual(victims),
    },
    ComparedAttack {
        name: "neighbor-label-only",
        about: "Logistic regression on which views of the nearest neighbor get the label of the sample",
        build: |victims, _| usual(victims).at_neighbors(),
    },
];

fn usual(victims: &Victims) -> Attack {
    Attack::new(LabelOnlyPlan { victims: victims.clone(), ..LabelOnlyPlan::default() })
}
