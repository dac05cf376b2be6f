//! Each single sample, over the victims: which are exposed, and what holds after choosing the worst of many.

use super::attack_scores::AttackScores;
use crate::error::Result;
use crate::interval::{BinomialCounts, clopper_pearson_lower, clopper_pearson_upper};
use crate::order;
use crate::parallel;
use crate::quantity::{FailureProbability, Probability};
use crate::roc::Roc;
use std::collections::HashMap;

/// One sample attacked under every victim, at its own threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleMetrics {
    /// The sample's place.
    pub sample: usize,
    /// Area under its own ROC.
    pub auc: f64,
    /// Victims that were trained on it and are found.
    pub true_positives: BinomialCounts,
    /// Victims that were not, and are accused.
    pub false_positives: BinomialCounts,
    /// Lower limit of its TPR; the limits of all samples hold simultaneously.
    pub tpr_lower: f64,
    /// Upper limit of its FPR; the limits of all samples hold simultaneously.
    pub fpr_upper: f64,
}

impl SampleMetrics {
    /// The frequency of found members.
    #[must_use]
    pub fn tpr(&self) -> f64 {
        self.true_positives.successes() as f64 / self.true_positives.trials() as f64
    }
}

/// All samples singly, the most vulnerable first.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleLevel {
    /// The FPR that the rule of each sample does not exceed.
    pub target: Probability,
    /// Samples by falling TPR at the target, then by falling AUC, then by place.
    pub ranked: Vec<SampleMetrics>,
    /// Samples that every victim was trained on, or none: nothing can be inferred about them.
    pub without_both: usize,
    /// The probability that any of the limits is wrong.
    pub failure: FailureProbability,
}

/// Membership inference sample by sample: each has its own ROC over victims, and TPR at an FPR.
///
/// A population's figure shows how many samples are exposed, not how much one is: it can be diluted by adding samples
/// that are safe. The first of [`SampleLevel::ranked`] is the most vulnerable sample.
///
/// # Choosing the worst of many
/// The largest of many frequencies is too large: among 500 samples under 32 victims on each side one has a TPR of 28%
/// without a false positive by luck alone. `tpr_lower` and `fpr_upper` hold for all samples simultaneously (Bonferroni:
/// with n samples that have both classes, each limit is a one-sided Clopper-Pearson limit at f/(2n), for the rule of
/// [`TprAtFpr`](crate::membership::TprAtFpr)), hence also for whichever sample you look at afterwards. The victims must
/// be independent, but not the samples.
///
/// # Errors
/// As [`clopper_pearson_lower`].
///
/// # Example
/// ```
/// # use leakbound::membership::{AttackScores, sample_level};
/// # use leakbound::prelude::*;
/// # use ndarray::Array2;
/// // Sample 3 is named in the output where a victim was trained on it, the others never are.
/// let members = Array2::from_shape_fn((64, 10), |(v, s)| (v + s) % 2 == 0);
/// let scores = Array2::from_shape_fn((64, 10), |(v, s)| f64::from(s == 3 && members[[v, s]]));
/// let guesses = AttackScores::new(scores, members)?;
/// let level = sample_level(&guesses, Probability::new(0.001)?, FailureProbability::new(0.05)?)?;
/// assert_eq!((level.ranked[0].sample, level.ranked[0].tpr(), level.ranked[1].tpr()), (3, 1.0, 0.0));
/// // (0.05/20)^(1/32): 32 of 32, chosen among ten.
/// assert!((level.ranked[0].tpr_lower - 0.0025f64.powf(1.0 / 32.0)).abs() < 1e-9);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Aerni, Zhang and Tramèr (2024), "Evaluations of machine learning privacy defenses are misleading", sections 4.1 and
/// 4.2; Carlini et al. (2022), "The privacy onion effect", for sample-level attacks.
pub fn sample_level(guesses: &AttackScores, target: Probability, failure: FailureProbability) -> Result<SampleLevel> {
    // Of each sample only what is published: thousands of curves would take more memory than the scores.
    let seen = parallel::map(0..guesses.samples(), |sample| {
        let [members, non_members] = guesses.of_sample(sample);
        Some(Seen::new(sample, &Roc::new(&members, &non_members).ok()?, target))
    });
    let seen: Vec<Seen> = seen.into_iter().flatten().collect();
    let each = failure.split(2 * seen.len());
    // Thousands of samples share a few counts.
    let mut limits: HashMap<(bool, BinomialCounts), f64> = HashMap::new();
    let mut ranked = Vec::with_capacity(seen.len());
    for seen in &seen {
        let true_positives = BinomialCounts::new(seen.true_positives, seen.members)?;
        let false_positives = BinomialCounts::new(seen.false_positives, seen.non_members)?;
        // The count that was allowed, not the one met with ties: it is fixed beforehand.
        let allowed = BinomialCounts::new(seen.allowed, seen.non_members)?;
        let mut limit = |lower: bool, counts: BinomialCounts| -> Result<f64> {
            if let Some(&known) = limits.get(&(lower, counts)) {
                return Ok(known);
            }
            let limit = if lower { clopper_pearson_lower(counts, each) } else { clopper_pearson_upper(counts, each) };
            let value = limit?.value;
            limits.insert((lower, counts), value);
            Ok(value)
        };
        let (tpr_lower, fpr_upper) = (limit(true, true_positives)?, limit(false, allowed)?);
        ranked.push(SampleMetrics {
            sample: seen.sample,
            auc: seen.auc,
            true_positives,
            false_positives,
            tpr_lower,
            fpr_upper,
        });
    }
    order::sort(&mut ranked, |a, b| {
        b.tpr().total_cmp(&a.tpr()).then(b.auc.total_cmp(&a.auc)).then(a.sample.cmp(&b.sample))
    });
    Ok(SampleLevel { target, without_both: guesses.samples() - ranked.len(), ranked, failure })
}

/// What a sample's own ROC shows.
struct Seen {
    sample: usize,
    auc: f64,
    members: u64,
    non_members: u64,
    true_positives: u64,
    false_positives: u64,
    /// The most false positives at the target.
    allowed: u64,
}

impl Seen {
    fn new(sample: usize, roc: &Roc, target: Probability) -> Self {
        let point = roc.at_fpr(target);
        Self {
            sample,
            auc: roc.auc(),
            members: roc.members(),
            non_members: roc.non_members(),
            true_positives: point.true_positives,
            false_positives: point.false_positives,
            allowed: roc.allowed(target),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    fn level(guesses: &AttackScores, target: f64, failure: f64) -> SampleLevel {
        sample_level(guesses, Probability::new(target).unwrap(), FailureProbability::new(failure).unwrap()).unwrap()
    }

    /// Scores without any information: the largest frequency is far above the FPR, the limits are not. 100 data sets;
    /// by the union bound at most 5% of them may have a sample whose true TPR (its FPR, both uniform tails) is outside.
    #[test]
    fn the_worst_of_many_is_corrected_for() {
        let (mut wrong, mut largest) = (0, 0.0f64);
        for seed in 0..100 {
            let mut stream = ChaCha8Rng::seed_from_u64(seed);
            let members = Array2::from_shape_fn((64, 100), |_| stream.random_bool(0.5));
            let scores = Array2::from_shape_fn((64, 100), |_| StandardNormal.sample(&mut stream));
            let guesses = AttackScores::new(scores, members).unwrap();
            let level = level(&guesses, 0.001, 0.05);
            largest = largest.max(level.ranked[0].tpr());
            let outside = level.ranked.iter().any(|metrics| {
                let [_, non_members] = guesses.of_sample(metrics.sample);
                let cut = non_members.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let rate = crate::special::ndtr(-cut);
                rate < metrics.tpr_lower || rate > metrics.fpr_upper
            });
            wrong += u32::from(outside);
        }
        println!("wrong in {wrong} of 100, largest frequency {largest}");
        assert!(wrong <= 11 && largest > 0.25, "{wrong} {largest}");
    }

    #[test]
    fn samples_without_both_classes_are_counted() {
        let members = Array2::from_shape_fn((4, 3), |(v, s)| s == 0 || (s == 2 && v == 0));
        let guesses = AttackScores::new(Array2::from_shape_fn((4, 3), |(v, _)| v as f64), members).unwrap();
        let level = level(&guesses, 0.5, 1e-300);
        assert_eq!((level.ranked.len(), level.without_both), (1, 2));
        assert_eq!((level.ranked[0].sample, level.ranked[0].auc), (2, 0.0));
        let none = AttackScores::new(Array2::zeros((1, 2)), Array2::from_elem((1, 2), true)).unwrap();
        assert!(super::tests::level(&none, 0.5, 0.999).ranked.is_empty());
    }
}
