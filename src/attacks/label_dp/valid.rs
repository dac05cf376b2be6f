//! A lower bound of the ε of label privacy that holds.

use super::memorization::LabelCanaries;
use crate::audit::one_run_epsilon;
use crate::bound::LowerBound;
use crate::error::{Error, Result};
use crate::interval::BinomialCounts;
use crate::quantity::{Delta, FailureProbability};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Thresholds tried on the first half of a split.
const THRESHOLDS: [f64; 9] = [0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999];

/// The confidence from which the attack guesses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LabelThreshold {
    /// Declared before looking at the model.
    Declared(f64),
    /// Chosen on a random half of the canaries; the other half is bounded.
    Split,
}

/// What the canaries prove.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelAudit {
    /// The threshold used.
    pub threshold: f64,
    /// Canaries that the bound concerns.
    pub canaries: u64,
    /// Correct guesses among the canaries that were guessed at; None if the attack never guessed.
    pub guesses: Option<BinomialCounts>,
    /// Lower bound of the ε of label privacy at δ.
    pub epsilon: LowerBound,
}

/// Lower bound of the ε of (ε, δ)-label privacy of one training, from models trained on canaries with wrong labels.
///
/// One alternative y''_i is drawn for each canary, uniformly among the classes other than y_i and y'_i, as a function
/// of the seed and not of the model. The attack guesses the label of higher confidence among y'_i and y''_i if either
/// reaches τ, ties by a coin, and abstains otherwise. With v right among r guesses about m canaries the bound is the
/// one of one training run ([`one_run_epsilon`](crate::audit::one_run_epsilon)); for δ = 0 it is ln(c/(1-c)) with c the
/// Clopper-Pearson lower limit of v out of r. *Finite-sample*.
///
/// Why it holds: y'_i is uniform among the wrong labels and y''_i among the rest, so given the unordered pair {y'_i,
/// y''_i} each of the two is the trained one with probability 1/2, independently for all canaries. The attack sees the
/// pairs and the model. Given the pairs, the coins b_i (which of the pair was trained on) are fair, and a model trained
/// with ε-label privacy changes its distribution by at most e^ε when one coin, that is one label, changes. So given the
/// model and all other coins the odds of a coin are at most e^ε either way, and each guess is right with probability at
/// most e^ε/(1 + e^ε), whatever was right before: the right guesses among r are dominated by a binomial variable.
/// Guesses on one model need not be independent, whereas the published interval needs a heuristic for this. r depends
/// on the model only, as the theorem asks.
///
/// Canaries may be those of several models, if each model has its own draw of canaries and was trained separately: all
/// models together are one mechanism, in which the coin of a canary reaches one model only. Changing it changes the
/// distribution of that model as (ε, δ)-label privacy of one training allows, and no other, so the theorem holds for
/// the m canaries of all models with the ε and δ of one.
///
/// # Errors
/// [`Error::Domain`] for a threshold outside \[0, 1\]; [`Error::Rejected`] for a split of 1 canary; as
/// [`one_run_epsilon`](crate::audit::one_run_epsilon).
///
/// # Example
/// ```
/// # use leakbound::label_dp::{LabelCanaries, LabelThreshold, audit_labels};
/// # use leakbound::prelude::*;
/// # use ndarray::Array2;
/// // A model that is sure of every wrong label it was taught.
/// let probabilities = Array2::from_shape_fn((200, 10), |(_, class)| if class == 3 { 0.91 } else { 0.01 });
/// let canaries = LabelCanaries::new(probabilities, vec![0; 200], vec![3; 200])?;
/// let (delta, failure) = (Delta::new(0.0)?, FailureProbability::new(0.05)?);
/// let audit = audit_labels(&canaries, LabelThreshold::Declared(0.5), delta, failure, 0)?;
/// // 200 of 200: c = 0.05^(1/200), ln(c/(1-c)) = 4.194.
/// assert!((audit.epsilon.value - 4.194).abs() < 1e-3);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Malek Esmaeili et al. (2021), "Antipodes of label differential privacy: PATE and ALIBI", appendix B, for the game;
/// Steinke, Nasr and Jagielski (2023), "Privacy auditing with one (1) training run", Theorem 5.2, for the bound.
pub fn audit_labels(
    canaries: &LabelCanaries,
    threshold: LabelThreshold,
    delta: Delta,
    failure: FailureProbability,
    seed: u64,
) -> Result<LabelAudit> {
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    let mut games: Vec<Game> = (0..canaries.len()).map(|canary| Game::draw(canaries, canary, &mut stream)).collect();
    match threshold {
        LabelThreshold::Declared(threshold) => bounded(&games, threshold, delta, failure),
        LabelThreshold::Split => {
            if games.len() < 2 {
                let reason = "1 canary cannot be split; declare a threshold instead";
                return Err(Error::rejected("split of canaries", reason));
            }
            games.shuffle(&mut stream);
            let (choosing, bounding) = games.split_at(games.len() / 2);
            let mut best = (f64::NEG_INFINITY, THRESHOLDS[0]);
            for threshold in THRESHOLDS {
                let audit = bounded(choosing, threshold, delta, failure)?;
                if audit.epsilon.value > best.0 {
                    best = (audit.epsilon.value, threshold);
                }
            }
            bounded(bounding, best.1, delta, failure)
        }
    }
}

/// One canary against one alternative.
struct Game {
    /// The higher confidence of the two labels.
    confidence: f64,
    right: bool,
}

impl Game {
    fn draw(canaries: &LabelCanaries, canary: usize, stream: &mut impl Rng) -> Self {
        // Both draws are made for every canary, so that its alternative does not depend on the model's answers.
        let (index, coin) = (stream.random_range(0..canaries.classes() - 2), stream.random::<bool>());
        let alternative = canaries.alternatives(canary).nth(index).unwrap_or(canaries.trained_label(canary));
        let (trained, other) = (canaries.trained(canary), canaries.probabilities(canary)[alternative]);
        Self { confidence: trained.max(other), right: trained > other || (trained == other && coin) }
    }
}

fn bounded(games: &[Game], threshold: f64, delta: Delta, failure: FailureProbability) -> Result<LabelAudit> {
    Error::check_domain((0.0..=1.0).contains(&threshold), "confidence threshold", threshold, "[0, 1]")?;
    let (mut guesses, mut right) = (0, 0);
    for game in games.iter().filter(|game| game.confidence >= threshold) {
        guesses += 1;
        right += u64::from(game.right);
    }
    let canaries = games.len() as u64;
    let counts = if guesses > 0 { Some(BinomialCounts::new(right, guesses)?) } else { None };
    // Without a guess nothing is known, as with one wrong guess.
    let epsilon = one_run_epsilon(counts.unwrap_or(BinomialCounts::new(0, 1)?), canaries, delta, failure)?;
    Ok(LabelAudit { threshold, canaries, guesses: counts, epsilon: epsilon.by("label-guesses") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    /// Labels are randomized among C classes (truth kept with odds e^ε against each other one), and the "model" knows
    /// the randomized label: ε-label-private with equality. The bound exceeds ε in at most f of the audits; a correct
    /// program fails with probability below 1e-6 (five standard errors).
    #[test]
    fn randomized_labels_are_covered() {
        const AUDITS: u64 = 600;
        const FAILURE: f64 = 0.1;
        let (classes, size) = (5, 100);
        let (delta, failure) = (Delta::new(0.0).unwrap(), FailureProbability::new(FAILURE).unwrap());
        let mut stream = ChaCha8Rng::seed_from_u64(31);
        for epsilon in [0.0f64, 1.0, 3.0] {
            let keep = epsilon.exp() / (epsilon.exp() + classes as f64 - 1.0);
            let mut wrong = [0u64; 2];
            let mut mean = [0.0; 2];
            for audit in 0..AUDITS {
                let trained: Vec<usize> = (0..size).map(|_| stream.random_range(1..classes)).collect();
                let mut probabilities = Array2::from_elem((size, classes), 0.05);
                for (canary, &label) in trained.iter().enumerate() {
                    let seen = if stream.random::<f64>() < keep {
                        label
                    } else {
                        (label + stream.random_range(1..classes)) % classes
                    };
                    probabilities[[canary, seen]] = 0.8;
                }
                let canaries = LabelCanaries::new(probabilities, vec![0; size], trained).unwrap();
                for (index, threshold) in [LabelThreshold::Declared(0.5), LabelThreshold::Split].into_iter().enumerate()
                {
                    let bound = audit_labels(&canaries, threshold, delta, failure, audit).unwrap().epsilon.value;
                    wrong[index] += u64::from(bound > epsilon);
                    mean[index] += bound / AUDITS as f64;
                }
            }
            println!("{epsilon}: {wrong:?} of {AUDITS}, mean {mean:?}");
            let most = AUDITS as f64 * FAILURE + 5.0 * (AUDITS as f64 * FAILURE * (1.0 - FAILURE)).sqrt();
            assert!(wrong.iter().all(|&wrong| (wrong as f64) < most));
            assert!(epsilon == 0.0 || mean[0] > 0.4 * epsilon);
        }
    }

    #[test]
    fn silence_proves_nothing() {
        let canaries = LabelCanaries::new(Array2::from_elem((1, 3), 0.1), vec![0], vec![1]).unwrap();
        let (delta, failure) = (Delta::new(1e-5).unwrap(), FailureProbability::new(0.05).unwrap());
        let audit = audit_labels(&canaries, LabelThreshold::Declared(0.5), delta, failure, 0).unwrap();
        assert!(audit.guesses.is_none() && audit.epsilon.value == 0.0);
        for threshold in [LabelThreshold::Split, LabelThreshold::Declared(f64::NAN), LabelThreshold::Declared(1.1)] {
            assert!(audit_labels(&canaries, threshold, delta, failure, 0).is_err());
        }
        let many = LabelCanaries::new(Array2::from_elem((3, 1000), 1.0), vec![0; 3], vec![1; 3]).unwrap();
        for f in [1e-300, 0.999] {
            let failure = FailureProbability::new(f).unwrap();
            assert!(audit_labels(&many, LabelThreshold::Split, delta, failure, 0).unwrap().epsilon.value >= 0.0);
        }
    }
}
