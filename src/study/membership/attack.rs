//! The attacks, each with its settings, on logits or on scores.

use super::recorded::{Answers, LooksAt, RecordedAnswers, Watch, Watched};
use crate::error::{Error, Result};
use crate::membership::{
    AttackScores, Guesses, LabelOnlyPlan, LiraPlan, MembershipScore, RmiaPlan, ScoredEmbeddings, ScoredLogits, Victims,
    ViewPairs, label_only, lira, risk_score, rmia, threshold_attack, trained_attacker,
};
use crate::study::Warning;
use crate::study::number::significant;

/// An attack with its settings.
///
/// A `score` is what the attack makes of recorded logits; without one it takes the score that suits it best. Recorded
/// scores are used as they are, and asking for another one is an error.
#[derive(Debug, Clone, PartialEq)]
pub enum Attack {
    /// The likelihood-ratio attack.
    Lira {
        /// Its settings.
        plan: LiraPlan,
        /// The score of logits; [`MembershipScore::Logit`] if none.
        score: Option<MembershipScore>,
    },
    /// Logistic regression on which views are answered correctly.
    LabelOnly(LabelOnlyPlan),
    /// One threshold for the answers on all samples; every model is a victim.
    Threshold {
        /// The score of logits; [`MembershipScore::Loss`] if none.
        score: Option<MembershipScore>,
    },
    /// The relative attack on confidences.
    Rmia(RmiaPlan),
    /// The privacy-risk score.
    Risk {
        /// The score of logits; [`MembershipScore::ModifiedEntropy`] if none.
        score: Option<MembershipScore>,
        /// Bins with equally many scores.
        bins: usize,
        /// The models that are attacked.
        victims: Victims,
    },
    /// A small network trained on the sorted confidences of other models; every model is a victim. It needs logits.
    Trained {
        /// The seed of its training.
        seed: u64,
    },
    /// Another attack, on the answers at the nearest neighbor of each sample with the label of the sample. It needs
    /// those logits.
    ///
    /// A defense such as SELENA answers on a training sample as a model that never saw it, and on a near-duplicate of
    /// the sample as one that did.
    Neighbor(Box<Attack>),
    /// Another attack, on how alike an encoder's embeddings of the views of a sample are
    /// ([`ScoredEmbeddings`]). It needs embeddings.
    Encoder {
        /// Which views are compared.
        pairs: ViewPairs,
        /// The attack, which takes any score: not on confidences or right answers.
        attack: Box<Attack>,
    },
}

/// Runs an attack on recorded scores, or on those made of recorded logits.
macro_rules! on_scores {
    ($answers:expr, $watch:expr, $wanted:expr, $usual:expr, |$source:ident| $attack:expr) => {
        match $answers.answers()? {
            Answers::Logits(source) => {
                let logits = Watched { source, watch: $watch };
                let $source = &ScoredLogits::new(&logits, $wanted.unwrap_or($usual));
                $attack
            }
            Answers::Scores(scores) => {
                reject_score($wanted)?;
                let $source = &Watched { source: scores, watch: $watch };
                $attack
            }
        }
    };
}

impl Attack {
    /// The attack that is made, whatever it looks at: its name, the name of the JSON schema of its answer, and its name
    /// for a reader.
    const fn names(&self) -> [&'static str; 3] {
        match self {
            Self::Lira { .. } => ["lira", "leakbound.membership-lira/1", "LiRA"],
            Self::LabelOnly(_) => ["label-only", "leakbound.membership-label-only/1", "label-only"],
            Self::Threshold { .. } => ["threshold", "leakbound.membership-threshold/1", "threshold"],
            Self::Rmia(_) => ["rmia", "leakbound.membership-rmia/1", "RMIA"],
            Self::Risk { .. } => ["risk", "leakbound.membership-risk/1", "privacy-risk score"],
            Self::Trained { .. } => ["attacker", "leakbound.membership-attacker/1", "trained attacker"],
            Self::Neighbor(attack) | Self::Encoder { attack, .. } => attack.names(),
        }
    }

    /// Its name in the rows of an answer.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Neighbor(attack) => format!("neighbor-{}", attack.name()),
            Self::Encoder { attack, .. } => format!("encoder-{}", attack.name()),
            attack => attack.names()[0].into(),
        }
    }

    /// What it looks at.
    #[must_use]
    pub const fn looks_at(&self) -> LooksAt {
        match self {
            Self::Neighbor(_) => LooksAt::Neighbor,
            Self::Encoder { .. } => LooksAt::Encoder,
            Self::Lira { .. }
            | Self::LabelOnly(_)
            | Self::Threshold { .. }
            | Self::Rmia(_)
            | Self::Risk { .. }
            | Self::Trained { .. } => LooksAt::Sample,
        }
    }

    /// The name of the JSON schema of its answer.
    pub(super) const fn schema(&self) -> &'static str {
        self.names()[1]
    }

    /// Its name for a reader.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Lira { plan, .. } => format!("LiRA, variant {}", plan.variant),
            Self::Neighbor(attack) => format!("{} on nearest neighbors", attack.words()),
            Self::Encoder { attack, .. } => format!("{} on the encoder's views", attack.words()),
            attack => attack.names()[2].into(),
        }
    }

    /// The models that are attacked; none where every model is a victim whatever the settings.
    pub(super) const fn victims(&self) -> Option<&Victims> {
        match self {
            Self::Lira { plan, .. } => Some(&plan.victims),
            Self::LabelOnly(plan) => Some(&plan.victims),
            Self::Risk { victims, .. } => Some(victims),
            Self::Rmia(plan) => Some(&plan.victims),
            Self::Neighbor(attack) | Self::Encoder { attack, .. } => attack.victims(),
            Self::Threshold { .. } | Self::Trained { .. } => None,
        }
    }

    /// The numbers of the victims among so many models.
    pub(super) fn list_of_victims(&self, models: usize) -> Result<Vec<usize>> {
        match self.victims() {
            Some(victims @ Victims::HeldOut(_)) => victims.list(models),
            // Whether the others are enough is for the attack to say: a threshold needs none.
            _ => Ok((0..models).collect()),
        }
    }

    /// Guesses for every victim and sample. The answers may be read more than once.
    pub(super) fn run(&self, answers: RecordedAnswers<'_>, watch: Watch<'_>) -> Result<Guesses> {
        use MembershipScore::{Confidence, Correct, Logit, Loss, ModifiedEntropy};
        match self {
            Self::Lira { plan, score } => on_scores!(answers, watch, *score, Logit, |source| lira(source, plan)),
            Self::LabelOnly(plan) => on_scores!(answers, watch, None, Correct, |source| label_only(source, plan)),
            Self::Threshold { score } => {
                on_scores!(answers, watch, *score, Loss, |source| threshold_attack(source)).map(decided)
            }
            Self::Rmia(plan) => on_scores!(answers, watch, None, Confidence, |source| rmia(source, plan)),
            Self::Risk { score, bins, victims } => {
                let labels = answers.labels();
                on_scores!(answers, watch, *score, ModifiedEntropy, |source| risk_score(source, labels, *bins, victims))
            }
            Self::Trained { seed } => match answers.answers()? {
                Answers::Logits(source) => trained_attacker(&Watched { source, watch }, *seed).map(decided),
                Answers::Scores(_) => Err(Error::Rejected {
                    operation: "trained attacker",
                    reason: "the attacker looks at all confidences, and scores are recorded".into(),
                }),
            },
            Self::Neighbor(attack) => attack.run(answers.at_neighbors()?, watch),
            Self::Encoder { pairs, attack } => {
                attack.check_takes_any_score()?;
                let scores = ScoredEmbeddings::new(answers.encoder()?, *pairs)?;
                attack.run(RecordedAnswers::scores(&scores, answers.labels()), watch)
            }
        }
    }

    /// Rejects an attack that cannot be made on the similarity of views.
    fn check_takes_any_score(&self) -> Result<()> {
        let of_its_own = match self {
            Self::Rmia(_) => Some(("RMIA", "confidences")),
            Self::Encoder { .. } => Some(("attack on an encoder", "embeddings")),
            Self::Neighbor(_) => Some(("attack through neighbors", "answers at neighbors")),
            Self::Lira { score: Some(_), .. }
            | Self::Risk { score: Some(_), .. }
            | Self::Threshold { score: Some(_) } => Some((CHOICE, "logits")),
            _ => self.wants(),
        };
        of_its_own.map_or(Ok(()), |(operation, wants)| {
            let reason = format!("it looks at {wants}, and the score of an encoder is the similarity of its views");
            Err(Error::Rejected { operation, reason })
        })
    }

    /// Rejects recorded scores that could be fed to the attack, which would not be the attack of this name then.
    pub(super) fn check_fed(&self, answers: RecordedAnswers<'_>) -> Result<()> {
        match (answers.answers(), self.wants()) {
            (Ok(Answers::Scores(_)), Some((operation, wants))) => {
                Err(Error::Rejected { operation, reason: format!("it looks at {wants}, and scores are recorded") })
            }
            _ => Ok(()),
        }
    }

    /// What it looks at, where that is more than a score; with its name in an error.
    const fn wants(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::LabelOnly(_) => Some(("label-only attack", "right and wrong answers")),
            Self::Threshold { score: Some(MembershipScore::TopConfidence) } => {
                Some(("threshold of the largest confidence", "all confidences"))
            }
            Self::Threshold { score: Some(MembershipScore::Entropy) } => {
                Some(("threshold of the entropy", "all confidences"))
            }
            Self::Trained { .. } => Some(("trained attacker", "all confidences")),
            _ => None,
        }
    }

    /// A warning that the label-only attack sees one bit of each sample, where it was published with eighteen.
    pub(super) fn few_views(&self, answers: RecordedAnswers<'_>) -> Option<Warning> {
        let outer = match self {
            Self::Neighbor(attack) => attack,
            attack => attack,
        };
        let single = matches!(outer, Self::LabelOnly(_)) && answers.views(self.looks_at()) == 1;
        single.then(|| Warning {
            code: "single-view",
            message: format!("{}: one view of each sample shows one bit, whether its label is predicted", self.name()),
            hint: "record answers on augmented views of each sample; the published attack has 18 views".into(),
        })
    }

    /// A warning that few models left out one by one bias the attack against itself.
    pub(super) fn few_models(&self, models: usize) -> Option<Warning> {
        let plan = match self {
            Self::Lira { plan, .. } => plan,
            Self::Neighbor(attack) | Self::Encoder { attack, .. } => return attack.few_models(models),
            _ => return None,
        };
        let auc = plan.auc_without_leakage(models)?;
        Some(Warning {
            code: "few-models",
            message: format!(
                "with {models} models left out one by one the AUC to be expected where nothing leaks is about {}, not 0.5: \
                 the victim's own side is the smaller one",
                significant(auc, 2)
            ),
            hint: "record 32 models or more, hold victims out (`victims`), or compare sides of equal size (variant \
                   `carlini-2022`)"
                .into(),
        })
    }
}

/// A score that is chosen, in messages.
const CHOICE: &str = "choice of a score";

/// A score cannot be made of another one.
fn reject_score(wanted: Option<MembershipScore>) -> Result<()> {
    match wanted {
        None => Ok(()),
        Some(_) => Err(Error::Rejected {
            operation: CHOICE,
            reason: "scores are recorded already; it is for recorded logits".into(),
        }),
    }
}

fn decided(scores: AttackScores) -> Guesses {
    Guesses { scores, undecided: 0 }
}
