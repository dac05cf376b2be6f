//! LiRA.

use super::made::{Attack, ComparedAttack, MembershipAttack};
use crate::error::Result;
use crate::membership::{Guesses, LiraMode, LiraPlan, LiraVariance, MembershipScore, Victims, ViewPairs, lira};
use crate::study::Warning;
use crate::study::membership::recorded::WatchedAnswers;
use crate::study::number::significant;

#[derive(Debug)]
struct Lira {
    plan: LiraPlan,
    score: Option<MembershipScore>,
}

impl Attack {
    /// The likelihood-ratio attack. The score of logits is [`MembershipScore::Logit`] if none is given.
    #[must_use]
    pub fn lira(plan: LiraPlan, score: Option<MembershipScore>) -> Self {
        Self::new(Lira { plan, score })
    }
}

impl MembershipAttack for Lira {
    fn name(&self) -> &'static str {
        "lira"
    }

    fn schema(&self) -> &'static str {
        "leakbound.membership-lira/1"
    }

    fn words(&self) -> String {
        format!("LiRA, variant {}", self.plan.variant)
    }

    fn victims(&self) -> Option<&Victims> {
        Some(&self.plan.victims)
    }

    fn score(&self) -> Option<MembershipScore> {
        self.score
    }

    /// With few models, leaving them out one by one biases the attack against itself.
    fn warning(&self, _: &str, models: usize, _: usize) -> Option<Warning> {
        let auc = self.plan.auc_without_leakage(models)?;
        Some(Warning {
            code: "few-models",
            message: format!(
                "leaving out one of {models} models at a time, the expected AUC without leakage is about {}, not 0.5: \
                 the victim's own side is the smaller one",
                significant(auc, 2)
            ),
            hint: "record 32 models or more, hold victims out (`victims`), or compare sides of equal size (variant \
                   `carlini-2022`)"
                .into(),
        })
    }

    fn guesses(&self, answers: &WatchedAnswers<'_, '_>) -> Result<Guesses> {
        answers.scored(self.score, MembershipScore::Logit, |source| lira(source, &self.plan))
    }
}

pub(super) const COMPARED: &[ComparedAttack] = &[
    ComparedAttack {
        name: "lira",
        about: "LiRA with a variance per sample",
        build: |victims, _| usual(LiraMode::Online, LiraVariance::PerSample, victims),
    },
    ComparedAttack {
        name: "lira-pooled",
        about: "LiRA with one variance for all samples",
        build: |victims, _| usual(LiraMode::Online, LiraVariance::Pooled, victims),
    },
    ComparedAttack {
        name: "lira-offline",
        about: "LiRA without models trained on the sample",
        build: |victims, _| usual(LiraMode::Offline, LiraVariance::PerSample, victims),
    },
    ComparedAttack {
        name: "neighbor-lira",
        about: "LiRA on the answers at the nearest neighbor of each sample",
        build: |victims, _| usual(LiraMode::Online, LiraVariance::PerSample, victims).at_neighbors(),
    },
    ComparedAttack {
        name: "neighbor-lira-pooled",
        about: "LiRA at the nearest neighbor of each sample, with one variance for all samples",
        build: |victims, _| usual(LiraMode::Online, LiraVariance::Pooled, victims).at_neighbors(),
    },
    ComparedAttack {
        name: "encoder-lira",
        about: "LiRA on how alike an encoder's embeddings of views are",
        build: |victims, _| usual(LiraMode::Online, LiraVariance::PerSample, victims).on_encoder(ViewPairs::All),
    },
    ComparedAttack {
        name: "encoder-lira-pooled",
        about: "LiRA on embeddings of views, with one variance for all samples",
        build: |victims, _| usual(LiraMode::Online, LiraVariance::Pooled, victims).on_encoder(ViewPairs::All),
    },
];

fn usual(mode: LiraMode, variance: LiraVariance, victims: &Victims) -> Attack {
    let plan = LiraPlan { mode, variance, victims: victims.clone(), ..LiraPlan::default() };
    Attack::lira(plan, None)
}
