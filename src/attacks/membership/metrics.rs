//! All that is measured about one attack: the population, samples, groups of samples, and the canaries themselves.

use super::attack_scores::AttackScores;
use super::canary::{CanaryAccuracy, CanaryIndependence, Dilution, canary_accuracy, canary_independence, dilution};
use super::sample_level::{SampleLevel, sample_level};
use super::tpr_at_fpr::{TprAtFpr, tpr_at_fpr};
use super::victim_bootstrap::{VictimBootstrap, victim_bootstrap};
use crate::bound::Interval;
use crate::error::{Error, Result};
use crate::quantity::{FailureProbability, Probability};
use crate::roc::{BestThreshold, Roc};
use ndarray::ArrayView2;
use std::collections::BTreeMap;

/// What is measured, and at which failure probability.
#[derive(Debug, Clone, PartialEq)]
pub struct MembershipPlan {
    /// Target FPRs.
    pub fprs: Vec<Probability>,
    /// The FPR by which samples are ranked.
    pub ranked_by: Probability,
    /// How many of the most vulnerable samples are pooled, for each entry.
    pub top: Vec<usize>,
    /// Failure probability of the limits at each FPR, of all compared attacks together.
    pub failure: FailureProbability,
    /// Attacks that are compared: they divide the failure probability among them, so that the one that looks best may
    /// be picked.
    pub attacks: usize,
    /// Resamples of the bootstrap over victims and permutations of the test of independence; none skips both.
    pub resamples: Option<usize>,
    /// Seed of both.
    pub seed: u64,
}

impl Default for MembershipPlan {
    /// FPR 0, 0.1% and 1%, ranked by 0.1%, the ten most vulnerable, failure probability 5%, 1,000 resamples, seed 0.
    fn default() -> Self {
        let fpr = |value| Probability::new(value).expect("a constant in range");
        Self {
            fprs: vec![fpr(0.0), fpr(0.001), fpr(0.01)],
            ranked_by: fpr(0.001),
            top: vec![10],
            failure: FailureProbability::new(0.05).expect("a constant in range"),
            attacks: 1,
            resamples: Some(1000),
            seed: 0,
        }
    }
}

/// Whose guesses are pooled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// All samples.
    Population,
    /// The samples of one label.
    Class(i64),
    /// This many of the most vulnerable samples, selected by the same guesses: optimistic.
    Top(usize),
    /// The most vulnerable sample, selected by the same guesses: optimistic.
    MostVulnerable,
}

impl Level {
    /// Whether its samples were selected by the guesses that it measures.
    #[must_use]
    pub const fn is_selected(self) -> bool {
        match self {
            Self::Population | Self::Class(_) => false,
            Self::Top(_) | Self::MostVulnerable => true,
        }
    }
}

/// Metrics of pooled guesses.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelMetrics {
    /// Whose guesses.
    pub level: Level,
    /// Number of samples pooled.
    pub samples: usize,
    /// Guesses about members.
    pub members: u64,
    /// Guesses about non-members.
    pub non_members: u64,
    /// Area under the ROC.
    pub auc: f64,
    /// The best threshold, chosen on these guesses.
    pub best: BestThreshold,
    /// TPR at each target FPR. The classes of an attack share the failure probability, so that the one that looks most
    /// vulnerable may be picked. Rates of [selected](Level::is_selected) samples have no limits but 0 and 1: those of
    /// [`SampleLevel`] hold for whichever samples are picked.
    pub at: Vec<TprAtFpr>,
}

impl LevelMetrics {
    fn new(level: Level, samples: usize, roc: &Roc, fprs: &[Probability], failure: FailureProbability) -> Result<Self> {
        let at = |&target: &Probability| {
            let at = tpr_at_fpr(roc, target, failure)?;
            Ok(if level.is_selected() { at.selected() } else { at })
        };
        Ok(Self {
            level,
            samples,
            members: roc.members(),
            non_members: roc.non_members(),
            auc: roc.auc(),
            best: roc.best_threshold(),
            at: fprs.iter().map(at).collect::<Result<_>>()?,
        })
    }
}

/// What one attack shows.
#[derive(Debug, Clone, PartialEq)]
pub struct MembershipMetrics {
    /// The plan.
    pub plan: MembershipPlan,
    /// Number of victims.
    pub victims: usize,
    /// ROC of all guesses.
    pub roc: Roc,
    /// Limits of the ROC of the two distributions from FPR 1 downwards: each alone, as [`TprAtFpr::curve`].
    pub band: Vec<(Probability, Interval)>,
    /// Population, classes, most vulnerable samples: in this order.
    pub levels: Vec<LevelMetrics>,
    /// Bands of the population that account for the training that guesses of one victim share; none with a single
    /// victim or when not requested.
    pub bootstrap: Option<VictimBootstrap>,
    /// Every single sample.
    pub samples: SampleLevel,
    /// Scores of the most vulnerable samples, those of members and those of non-members: the sample's place first.
    pub vulnerable_scores: Vec<(usize, [Vec<f64>; 2])>,
    /// Accuracy of the victims on the samples, if known.
    pub accuracy: Option<CanaryAccuracy>,
    /// Independence of samples; none if it cannot be tested or was not requested.
    pub independence: Option<CanaryIndependence>,
    /// A sample that the population hides.
    pub dilution: Option<Dilution>,
}

/// Number of most vulnerable samples whose scores are kept.
const SHOWN: usize = 3;

/// Measures an attack at every level.
///
/// `labels` \[sample\] gives a level for each class; `correct` \[victim, sample\], true if the victim predicts the
/// sample's label, gives the accuracies. A class without both members and non-members is left out.
///
/// # Errors
/// [`Error::Length`] when labels or answers have another size, when no guess is about a member or none about a
/// non-member, or for an impossible number of resamples.
///
/// # Example
/// ```
/// # use leakbound::membership::{AttackScores, Level, MembershipPlan, membership_metrics};
/// # use ndarray::Array2;
/// let members = Array2::from_shape_fn((16, 8), |(v, s)| (v + s) % 2 == 0);
/// let scores = Array2::from_shape_fn((16, 8), |(v, s)| f64::from(members[[v, s]]) + 0.1 * (v * s % 7) as f64);
/// let metrics = membership_metrics(&AttackScores::new(scores, members)?, None, None, &MembershipPlan::default())?;
/// assert_eq!((metrics.levels[0].level, metrics.levels[0].auc), (Level::Population, 1.0));
/// assert_eq!(metrics.levels[0].at[0].tpr_estimate(), 1.0);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Carlini et al. (2022), "Membership inference attacks from first principles"; Aerni, Zhang and Tramèr (2024),
/// "Evaluations of machine learning privacy defenses are misleading".
pub fn membership_metrics(
    guesses: &AttackScores,
    labels: Option<&[i64]>,
    correct: Option<ArrayView2<'_, bool>>,
    plan: &MembershipPlan,
) -> Result<MembershipMetrics> {
    if let Some(labels) = labels {
        Error::check_size("labels of an attack", labels.len(), guesses.samples(), ", one for each sample")?;
    }
    let roc_of = |chosen: &dyn Fn(usize) -> bool| {
        let [members, non_members] = guesses.pooled(chosen);
        Roc::new(&members, &non_members)
    };
    let roc = roc_of(&|_| true)?;
    let of_attack = plan.failure.split(plan.attacks);
    let samples = sample_level(guesses, plan.ranked_by, of_attack)?;
    let level = |level, samples, roc: &Roc, failure| LevelMetrics::new(level, samples, roc, &plan.fprs, failure);
    let mut levels = vec![level(Level::Population, guesses.samples(), &roc, of_attack)?];
    let mut classes: BTreeMap<i64, Vec<bool>> = BTreeMap::new();
    for (sample, &label) in labels.into_iter().flatten().enumerate() {
        classes.entry(label).or_insert_with(|| vec![false; guesses.samples()])[sample] = true;
    }
    for (label, chosen) in classes.iter().filter(|_| classes.len() > 1) {
        // A class of members only has no ROC.
        if let Ok(roc) = roc_of(&|sample| chosen[sample]) {
            let size = chosen.iter().filter(|inside| **inside).count();
            levels.push(level(Level::Class(*label), size, &roc, of_attack.split(classes.len()))?);
        }
    }
    for &top in plan.top.iter().filter(|&&top| top > 1 && top < samples.ranked.len()) {
        let mut chosen = vec![false; guesses.samples()];
        samples.ranked.iter().take(top).for_each(|metrics| chosen[metrics.sample] = true);
        levels.push(level(Level::Top(top), top, &roc_of(&|sample| chosen[sample])?, of_attack)?);
    }
    let first = |count: usize| samples.ranked.iter().take(count).map(|metrics| metrics.sample);
    for sample in first(1) {
        levels.push(level(Level::MostVulnerable, 1, &roc_of(&|other| other == sample)?, of_attack)?);
    }
    let bootstrap = match plan.resamples {
        Some(resamples) if guesses.victims() > 1 => {
            Some(victim_bootstrap(guesses, &plan.fprs, resamples, of_attack, plan.seed)?)
        }
        _ => None,
    };
    Ok(MembershipMetrics {
        plan: plan.clone(),
        victims: guesses.victims(),
        band: band(&roc, of_attack)?,
        levels,
        bootstrap,
        vulnerable_scores: first(SHOWN).map(|sample| (sample, guesses.of_sample(sample))).collect(),
        accuracy: correct.map(|correct| canary_accuracy(guesses, correct, plan.failure)).transpose()?,
        // Rejected if samples have nothing to compare, which implies nothing about the attack.
        independence: plan.resamples.and_then(|count| canary_independence(guesses, count.min(999), plan.seed).ok()),
        dilution: dilution(guesses, plan.ranked_by, of_attack)?,
        samples,
        roc,
    })
}

/// Eight FPRs for each power of ten, down to half a non-member.
fn band(roc: &Roc, failure: FailureProbability) -> Result<Vec<(Probability, Interval)>> {
    let least = 0.5 / roc.non_members() as f64;
    (0..)
        .map(|step| 10f64.powf(-f64::from(step) / 8.0))
        .take_while(|&fpr| fpr >= least)
        .map(|fpr| {
            let fpr = Probability::new(fpr)?;
            Ok((fpr, tpr_at_fpr(roc, fpr, failure)?.curve))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn guesses(victims: usize, samples: usize) -> AttackScores {
        let members = Array2::from_shape_fn((victims, samples), |(v, s)| (v * 5 + s * 3 + v * s / 2) % 2 == 0);
        let scores = Array2::from_shape_fn((victims, samples), |(v, s)| {
            f64::from(u8::from(members[[v, s]])) * (s as f64 / samples as f64) + ((v * 31 + s * 17) % 23) as f64 / 23.0
        });
        AttackScores::new(scores, members).unwrap()
    }

    #[test]
    fn levels_come_in_order() {
        let guesses = guesses(16, 30);
        let labels: Vec<i64> = (0..30).map(|sample| sample % 3).collect();
        let metrics = membership_metrics(&guesses, Some(&labels), None, &MembershipPlan::default()).unwrap();
        let levels: Vec<Level> = metrics.levels.iter().map(|metrics| metrics.level).collect();
        let classes = [0, 1, 2].map(Level::Class);
        assert_eq!(levels[0], Level::Population);
        assert_eq!(levels[1..4], classes);
        assert_eq!(levels[4..], [Level::Top(10), Level::MostVulnerable]);
        assert_eq!(metrics.levels[1..4].iter().map(|level| level.members).sum::<u64>(), metrics.levels[0].members);
        assert_eq!(metrics.vulnerable_scores[0].0, metrics.samples.ranked[0].sample);
        assert!(metrics.bootstrap.is_some() && metrics.independence.is_some() && metrics.accuracy.is_none());
        assert!(metrics.levels[4].auc > metrics.levels[0].auc);
    }

    /// Scores without any information, in 200 runs of five attacks on 16 victims and 50 samples of five classes: each
    /// selection of the best attack and class is wrong in at most 5% of the runs, 10 of 200; more than 22 have a
    /// probability below 3e-4. Samples that are selected by the same guesses have a rate far above the truth, and no
    /// limits.
    #[test]
    fn what_is_selected_is_covered() {
        let plan = MembershipPlan {
            fprs: vec![Probability::new(0.1).unwrap()],
            ranked_by: Probability::new(0.1).unwrap(),
            attacks: 5,
            resamples: None,
            ..MembershipPlan::default()
        };
        let labels: Vec<i64> = (0..50).map(|sample| sample % 5).collect();
        let (mut attacks, mut classes, mut above) = (0, 0, 0);
        for run in 0..200 {
            let mut stream = ChaCha8Rng::seed_from_u64(run);
            let (mut attack, mut class) = (false, false);
            for _ in 0..plan.attacks {
                let members = Array2::from_shape_simple_fn((16, 50), || stream.random::<bool>());
                let scores = Array2::from_shape_simple_fn((16, 50), || stream.random::<f64>());
                let guesses = AttackScores::new(scores, members).unwrap();
                let metrics = membership_metrics(&guesses, Some(&labels), None, &plan).unwrap();
                for level in &metrics.levels {
                    let at = &level.at[0];
                    // Scores are uniform: what the rule "score > above" finds of anybody.
                    let truth = 1.0 - at.above.unwrap();
                    let wrong = truth < at.tpr.lower || truth > at.tpr.upper;
                    match level.level {
                        Level::Population => attack |= wrong,
                        Level::Class(_) => class |= wrong,
                        Level::Top(_) | Level::MostVulnerable => {
                            assert!([at.tpr, at.curve].iter().all(|ends| (ends.lower, ends.upper) == (0.0, 1.0)));
                            above += u32::from(at.tpr_estimate() > 0.2);
                        }
                    }
                }
            }
            attacks += u32::from(attack);
            classes += u32::from(class);
        }
        println!(
            "wrong for some attack in {attacks}, for some class in {classes} of 200 runs; selected above 20 %: {above}"
        );
        assert!(attacks <= 22 && classes <= 22 && above > 1_500, "{attacks} {classes} {above}");
    }

    #[test]
    fn one_victim_and_one_sample_are_measured_without_bands_of_victims() {
        let one = membership_metrics(&guesses(1, 30), None, None, &MembershipPlan::default()).unwrap();
        assert!(one.bootstrap.is_none() && one.samples.ranked.is_empty() && one.levels.len() == 1);
        let sample = membership_metrics(&guesses(30, 1), None, None, &MembershipPlan::default()).unwrap();
        assert_eq!(sample.levels.len(), 2);
        let members = AttackScores::new(Array2::zeros((2, 2)), Array2::from_elem((2, 2), true)).unwrap();
        assert!(membership_metrics(&members, None, None, &MembershipPlan::default()).is_err());
        assert!(membership_metrics(&guesses(4, 4), Some(&[1]), None, &MembershipPlan::default()).is_err());
    }
}
