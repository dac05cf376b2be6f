//! What LiRA computes.

use crate::error::{Error, Result};
use crate::membership::AttackScores;
use crate::named::named;
use std::str::FromStr;

/// Whose formulas are used. All scores are turned so that high means member.
///
/// The default, [`LiraVariant::Leakbound`], differs from all others wherever they lose something:
///
/// - center and spread are mean and unbiased variance of the other models: under the normal distribution that LiRA
///   assumes they have a smaller error than median and plug-in variance, and leaving a victim out is then exact and
///   cheap;
/// - log densities of the views are added up, which is the likelihood ratio of independent views, not averaged;
/// - a standard deviation counts as at least 2^-23 of the values it is about (the resolution of recorded single
///   precision), so that equal scores everywhere give a ratio of 1 and scores that are equal on one side give a finite
///   one. With 1e-30 added instead, rounding decides;
/// - the pooled variance is that within samples; others take the spread of all scores of all samples, which is mostly
///   the spread between samples;
/// - the offline attack is one-sided as the paper writes it, by -ln of the upper tail, which does not saturate: ln of
///   the lower tail is 0 beyond 38 standard deviations and ties exactly the samples that matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LiraVariant {
    /// Mean, unbiased variance, floor of the resolution, views added up.
    #[default]
    Leakbound,
    /// The code of Carlini et al. (2022), `mi_lira_2021`: median, variance with divisor n, 1e-30 added to every
    /// standard deviation, log densities averaged over the views, all sets cut to the smallest number of models of any
    /// sample; pooled: the standard deviation of all scores of members, used for both sides. Offline: the log density,
    /// negated.
    Carlini2022,
    /// TensorFlow Privacy's `advanced_mia.compute_score_lira`: as above, but nothing is cut and the pooled standard
    /// deviation is that of the distances from the medians, separately for each side.
    TfAmia,
    /// TensorFlow Privacy's `compute_score_offset`: the distance from the midpoint of the two medians, averaged over
    /// the views; offline from the median outside. No variance is used.
    TfOffset,
    /// The code of Aerni et al. (2024): mean, variance with divisor n - 1, 1e-30 added, averaged over the views;
    /// pooled: the standard deviation of all scores, separately for each side. Online only.
    Aerni2024,
    /// LeakPro's `AttackLiRA` (as of 2026): mean, variance with divisor n, 1e-30 added, one view; pooled (its `fixed`,
    /// and its default below 64 models): the standard deviation of all scores, separately for each side. Offline: ln of
    /// the lower tail, as its code since 2025 has it.
    LeakPro,
}

named!(LiraVariant, "variant of LiRA", [
    Leakbound "leakbound", Carlini2022 "carlini-2022", TfAmia "tf-amia", TfOffset "tf-offset", Aerni2024 "aerni-2024",
    LeakPro "leakpro",
]);

/// Which models the victim's answer is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LiraMode {
    /// Those trained on the sample and those not: the ratio of two densities.
    #[default]
    Online,
    /// Only those not trained on the sample: how improbably high the answer is for them.
    Offline,
    /// Only those trained on the sample: the log density; [`LiraVariant::TfAmia`] alone has it.
    InOnly,
}

/// Where the variance of a sample's scores comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LiraVariance {
    /// The models of that sample alone; for many models.
    #[default]
    PerSample,
    /// All samples; for few models (Carlini et al. advise it below about 64).
    Pooled,
}

/// How several views of a sample are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LiraViews {
    /// As independent.
    #[default]
    Independent,
    /// As a multivariate normal vector, its covariance shrunk toward a multiple of the identity by the oracle
    /// approximating intensity, which makes it regular when views outnumber models. [`LiraVariant::Leakbound`] alone
    /// has it, online and with a variance per sample.
    Multivariate,
}

/// The models that are attacked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Victims {
    /// Every model in turn, with all others as shadow models.
    #[default]
    LeaveOneOut,
    /// These, counted from 0, with all other models as shadow models.
    HeldOut(Vec<usize>),
}

/// What [`lira`](crate::membership::lira) computes; the default is the online attack on every model in turn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LiraPlan {
    /// Whose formulas.
    pub variant: LiraVariant,
    /// Both sides or one.
    pub mode: LiraMode,
    /// Variance per sample or pooled.
    pub variance: LiraVariance,
    /// Views independent or together.
    pub views: LiraViews,
    /// The models that are attacked.
    pub victims: Victims,
}

/// What [`lira`](crate::membership::lira) found.
#[derive(Debug, Clone, PartialEq)]
pub struct Guesses {
    /// Scores \[victim, sample\]; high means member.
    pub scores: AttackScores,
    /// Guesses without evidence, because too few models were trained on the sample or too few were not: they have the
    /// neutral score of a ratio of 1 (offline: of an answer at the mean).
    pub undecided: u64,
}

impl LiraPlan {
    /// Rejects combinations that mean nothing or that a variant does not have.
    pub(super) fn check(&self, views: usize) -> Result<()> {
        let reject = |reason: &str| {
            let reason = format!("variant {} {reason}", self.variant);
            Err(Error::rejected("LiRA", reason))
        };
        match self.variant {
            LiraVariant::Leakbound => {}
            _ if self.views == LiraViews::Multivariate => return reject("takes views as independent"),
            LiraVariant::Aerni2024 if self.mode == LiraMode::Offline => return reject("is online only"),
            LiraVariant::LeakPro if views > 1 => return reject(&format!("has one view of a sample, not {views}")),
            LiraVariant::TfOffset if self.variance == LiraVariance::Pooled => return reject("uses no variance"),
            LiraVariant::Carlini2022
            | LiraVariant::TfAmia
            | LiraVariant::TfOffset
            | LiraVariant::Aerni2024
            | LiraVariant::LeakPro => {}
        }
        if self.mode == LiraMode::InOnly && self.variant != LiraVariant::TfAmia {
            return reject("does not attack with members only; tf-amia does");
        }
        if self.views == LiraViews::Multivariate
            && (self.mode != LiraMode::Online || self.variance != LiraVariance::PerSample)
        {
            return reject("takes views as one vector only online and with a variance per sample");
        }
        Ok(())
    }
}

/// Numbers of models, half of them trained on each sample, and the mean AUC of the default attack on normal scores
/// without information about membership, each model left out in turn: 100,000 simulated samples each, standard error
/// 0.0013.
const NOTHING_LEAKS: [(usize, f64); 7] =
    [(6, 0.369), (8, 0.445), (10, 0.469), (12, 0.478), (16, 0.488), (20, 0.493), (24, 0.496)];
/// From this number of models on, the mean is within 0.005 of 1/2.
const ENOUGH_MODELS: usize = 32;

impl LiraPlan {
    /// The AUC to expect if nothing leaks, instead of 1/2, if each of few models is left out in turn and half of them
    /// were trained on each sample; `None` if it is within 0.005 of 1/2 or unknown.
    ///
    /// Leaving a victim out of its own side makes that side the smaller one. Its variance is the noisier of the two, so
    /// an answer lies farther out in its own side than in the other, for members and non-members alike: members look
    /// like non-members, and vice versa. Sides of equal size ([`LiraVariant::Carlini2022`] cuts them) and victims that
    /// are held out of both have no such bias. It holds for [`LiraVariant::Leakbound`] and [`LiraVariant::Aerni2024`],
    /// online, with a variance per sample and one view; several views have more of it.
    ///
    /// ```
    /// # use leakbound::membership::LiraPlan;
    /// assert_eq!(LiraPlan::default().auc_without_leakage(8), Some(0.445));
    /// assert_eq!(LiraPlan::default().auc_without_leakage(64), None);
    /// ```
    #[must_use]
    pub fn auc_without_leakage(&self, models: usize) -> Option<f64> {
        let biased = matches!(self.variant, LiraVariant::Leakbound | LiraVariant::Aerni2024)
            && self.mode == LiraMode::Online
            && self.variance == LiraVariance::PerSample
            && self.victims == Victims::LeaveOneOut
            && models < ENOUGH_MODELS;
        let known = NOTHING_LEAKS.iter().rev().find(|(known, _)| *known <= models);
        known.filter(|_| biased).map(|&(_, auc)| auc)
    }
}

impl Victims {
    /// The models that are attacked, in order.
    ///
    /// # Errors
    /// [`Error::Domain`] for a model that does not exist or comes twice, [`Error::Length`] if no two shadow models are
    /// left.
    pub fn list(&self, models: usize) -> Result<Vec<usize>> {
        let (victims, left) = match self {
            Self::LeaveOneOut => ((0..models).collect(), models.saturating_sub(1)),
            Self::HeldOut(victims) => {
                for (position, &victim) in victims.iter().enumerate() {
                    let legal = victim < models && !victims[..position].contains(&victim);
                    let domain = "the models that were recorded, each once";
                    Error::check_domain(legal, "victim", victim as f64, domain)?;
                }
                Error::check_length(!victims.is_empty(), "victims", 0, "at least 1")?;
                (victims.clone(), models - victims.len())
            }
        };
        Error::check_length(left >= 2, "shadow models other than a victim", left, "at least 2")?;
        Ok(victims)
    }

    /// Which models are shadow models of a held-out victim; if each model is left out in turn, none is excluded
    /// throughout.
    pub(crate) fn shadows(&self, models: usize) -> Vec<bool> {
        let mut shadows = vec![true; models];
        if let Self::HeldOut(victims) = self {
            victims.iter().for_each(|&victim| shadows[victim] = false);
        }
        shadows
    }
}

/// Victims as written on the command line: `loo` or numbers of models.
impl FromStr for Victims {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text == "loo" {
            return Ok(Self::LeaveOneOut);
        }
        let victims: std::result::Result<Vec<usize>, _> = text.split(',').map(|part| part.trim().parse()).collect();
        let expected = "loo, or numbers of models counted from 0, such as 0,5";
        victims.map(Self::HeldOut).map_err(|_| Error::syntax("victims", text, expected))
    }
}
