//! Attacks on recorded answers: what each of them makes of logits or of scores.

use super::membership_watch::{Watch, Watched};
use crate::command::args::{
    ComparedName, LabelOnlyOptions, LiraOptions, ModeName, RiskOptions, RmiaOptions, ThresholdAttackOptions,
    VarianceName, ViewsName,
};
use crate::membership::{
    AttackScores, Guesses, LiraMode, LiraPlan, LiraVariance, LiraViews, MembershipScore, RmiaPlan, ScoredLogits,
    ShadowScores, Victims, label_only, lira, risk_score, rmia, threshold_attack, trained_attacker,
};
use crate::record::ShadowRecording;
use crate::study::{Warning, significant};
use crate::{Error, Result};

/// An attack with all that it is told.
pub enum Attack {
    Lira {
        plan: LiraPlan,
        score: Option<MembershipScore>,
    },
    LabelOnly {
        strength: f64,
        victims: Victims,
    },
    Threshold {
        score: Option<MembershipScore>,
    },
    /// With the place of a score that is no confidence, or without.
    Rmia {
        plan: RmiaPlan,
        placed: bool,
    },
    Risk {
        score: Option<MembershipScore>,
        bins: usize,
        victims: Victims,
    },
    Trained {
        seed: u64,
    },
}

/// Runs an attack on recorded scores, or on those made of recorded logits.
macro_rules! on_scores {
    ($recording:expr, $watch:expr, $wanted:expr, $usual:expr, |$source:ident| $attack:expr) => {
        match $recording {
            ShadowRecording::Logits(source) => {
                let logits = Watched { source, watch: $watch };
                let $source = &ScoredLogits::new(&logits, $wanted.unwrap_or($usual));
                $attack
            }
            ShadowRecording::Scores(source) => {
                refuse_score($wanted)?;
                let $source = &Watched { source, watch: $watch };
                $attack
            }
        }
    };
}

impl Attack {
    /// What it guesses. The recording may be read more than once.
    pub fn run(&self, recording: &ShadowRecording, watch: Watch<'_>) -> Result<Guesses> {
        use MembershipScore::{Confidence, Correct, Logit, Loss, ModifiedEntropy};
        match self {
            Self::Lira { plan, score } => on_scores!(recording, watch, *score, Logit, |source| lira(source, plan)),
            Self::LabelOnly { strength, victims } => {
                on_scores!(recording, watch, None, Correct, |source| label_only(source, *strength, victims))
            }
            Self::Threshold { score } => {
                on_scores!(recording, watch, *score, Loss, |source| threshold_attack(source)).map(decided)
            }
            Self::Rmia { plan, placed } => match recording {
                ShadowRecording::Scores(source) if *placed => {
                    rmia(&Watched { source: &source.confidences(), watch }, plan)
                }
                recording => on_scores!(recording, watch, None, Confidence, |source| rmia(source, plan)),
            },
            Self::Risk { score, bins, victims } => {
                let labels = recording.labels();
                on_scores!(recording, watch, *score, ModifiedEntropy, |source| risk_score(
                    source, labels, *bins, victims
                ))
            }
            Self::Trained { seed } => match recording {
                ShadowRecording::Logits(source) => trained_attacker(&Watched { source, watch }, *seed).map(decided),
                ShadowRecording::Scores(_) => Err(Error::Refused {
                    operation: "trained attacker",
                    reason: "the attacker looks at all confidences, and scores are recorded".into(),
                }),
            },
        }
    }

    /// That few models left out one by one bias the attack against itself.
    pub fn few_models(&self, models: usize) -> Option<Warning> {
        let Self::Lira { plan, .. } = self else { return None };
        let auc = plan.auc_without_leakage(models)?;
        Some(Warning {
            code: "few-models",
            message: format!(
                "with {models} models left out one by one the AUC to be expected where nothing leaks is about {}, not 0.5: \
                 the victim's own side is the smaller one",
                significant(auc, 2)
            ),
            hint: "record 32 models or more, hold victims out (--victims), or compare sides of equal size: --variant \
                   carlini-2022"
                .into(),
        })
    }

    pub fn lira(options: &LiraOptions) -> Self {
        let plan = LiraPlan {
            variant: options.variant.0,
            mode: mode(options.mode),
            variance: match options.variance {
                VarianceName::PerSample => LiraVariance::PerSample,
                VarianceName::Pooled => LiraVariance::Pooled,
            },
            views: match options.views {
                ViewsName::Independent => LiraViews::Independent,
                ViewsName::Multivariate => LiraViews::Multivariate,
            },
            victims: options.victims.victims.0.clone(),
        };
        Self::Lira { plan, score: options.score.map(|score| score.0) }
    }

    pub fn label_only(options: &LabelOnlyOptions) -> Self {
        Self::LabelOnly { strength: options.strength, victims: options.victims.victims.0.clone() }
    }

    pub fn threshold(options: &ThresholdAttackOptions) -> Self {
        Self::Threshold { score: options.score.map(|score| score.0) }
    }

    pub fn rmia(options: &RmiaOptions) -> Self {
        let (mode, gamma, slope) = (mode(options.mode), options.gamma, options.slope);
        Self::Rmia { plan: RmiaPlan { mode, gamma, slope, victims: options.victims.victims.0.clone() }, placed: true }
    }

    pub fn risk(options: &RiskOptions) -> Self {
        let (score, victims) = (options.score.map(|score| score.0), options.victims.victims.0.clone());
        Self::Risk { score, bins: options.bins, victims }
    }

    /// One of several, as its own command runs it by default.
    pub fn named(name: ComparedName, victims: &Victims, seed: u64) -> Self {
        let lira = |mode, variance| {
            let plan = LiraPlan { mode, variance, victims: victims.clone(), ..LiraPlan::default() };
            Self::Lira { plan, score: None }
        };
        // Beside others an attack that cannot use the scores is left out.
        let rmia = |mode| Self::Rmia {
            plan: RmiaPlan { mode, victims: victims.clone(), ..RmiaPlan::default() },
            placed: false,
        };
        match name {
            ComparedName::Lira => lira(LiraMode::Online, LiraVariance::PerSample),
            ComparedName::LiraPooled => lira(LiraMode::Online, LiraVariance::Pooled),
            ComparedName::LiraOffline => lira(LiraMode::Offline, LiraVariance::PerSample),
            ComparedName::Rmia => rmia(LiraMode::Online),
            ComparedName::RmiaOffline => rmia(LiraMode::Offline),
            ComparedName::Risk => Self::Risk { score: None, bins: 15, victims: victims.clone() },
            ComparedName::LabelOnly => Self::LabelOnly { strength: 1.0, victims: victims.clone() },
            ComparedName::Threshold => Self::Threshold { score: None },
            ComparedName::TopConfidence => Self::Threshold { score: Some(MembershipScore::TopConfidence) },
            ComparedName::Entropy => Self::Threshold { score: Some(MembershipScore::Entropy) },
            ComparedName::Attacker => Self::Trained { seed },
        }
    }
}

/// Views of a sample.
pub fn views(recording: &ShadowRecording) -> usize {
    match recording {
        ShadowRecording::Logits(logits) => crate::membership::ShadowLogits::views(logits),
        ShadowRecording::Scores(scores) => scores.views(),
    }
}

/// A score cannot be made of another one.
fn refuse_score(wanted: Option<MembershipScore>) -> Result<()> {
    match wanted {
        None => Ok(()),
        Some(_) => Err(Error::Refused {
            operation: "--score",
            reason: "scores are recorded already; it is for recorded logits".into(),
        }),
    }
}

fn decided(scores: AttackScores) -> Guesses {
    Guesses { scores, undecided: 0 }
}

fn mode(name: ModeName) -> LiraMode {
    match name {
        ModeName::Online => LiraMode::Online,
        ModeName::Offline => LiraMode::Offline,
        ModeName::InOnly => LiraMode::InOnly,
    }
}
