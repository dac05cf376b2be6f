//! Labels made private, as targets of training.

use crate::seed::{Purpose, stream};
use leakbound::error::Result;
use leakbound::label_dp::{PriorResponse, agibi_labels, agibi_log_likelihood, alibi_labels, alibi_log_likelihood};
use leakbound::quantity::{Epsilon, NoiseScale};
use ndarray::{Array1, Array2};
use rand::RngExt;

/// Targets of the images of one model, row by row, and the share of them that are largest at the label.
pub(super) struct PrivateLabels {
    /// \[image, class\], flat.
    pub targets: Vec<f32>,
    /// What guessing without images attains.
    pub accuracy: f64,
}

/// What draws the labels of a model: its seed and its number.
pub(super) type Draws = (u64, u64);

impl PrivateLabels {
    /// One-hot labels.
    pub fn one_hot(given: &[u8], labels: &[u8], classes: usize) -> Self {
        let mut targets = vec![0.0; given.len() * classes];
        for (row, &label) in targets.chunks_exact_mut(classes).zip(given) {
            row[usize::from(label)] = 1.0;
        }
        let right = given.iter().zip(labels).filter(|(given, label)| given == label).count();
        Self { targets, accuracy: right as f64 / labels.len() as f64 }
    }

    /// Log-likelihoods of ALIBI's noisy labels.
    pub fn alibi(labels: &[u8], classes: usize, lambda: NoiseScale, draws: Draws) -> Result<Self> {
        let noisy = alibi_labels(&numbers(labels), classes, lambda, noise_seed(draws))?;
        Ok(Self::of_noisy(&noisy, labels, |o| alibi_log_likelihood(o, lambda)))
    }

    /// Log-likelihoods of AGIBI's noisy labels.
    pub fn agibi(labels: &[u8], classes: usize, sigma: NoiseScale, draws: Draws) -> Result<Self> {
        let noisy = agibi_labels(&numbers(labels), classes, sigma, noise_seed(draws))?;
        Ok(Self::of_noisy(&noisy, labels, |o| agibi_log_likelihood(o, sigma)))
    }

    fn of_noisy(noisy: &Array2<f64>, labels: &[u8], log_likelihood: impl Fn(f64) -> f64) -> Self {
        let right = noisy.outer_iter().zip(labels);
        let right = right.filter(|(noisy, label)| noisy.iter().all(|o| *o <= noisy[usize::from(**label)]));
        Self {
            accuracy: right.count() as f64 / labels.len() as f64,
            targets: noisy.outer_iter().flat_map(|noisy| below_largest(&noisy.mapv(&log_likelihood))).collect(),
        }
    }
}

/// Logarithms less the largest one, within single precision also where noise is tiny.
fn below_largest(logs: &Array1<f64>) -> Vec<f32> {
    let largest = logs.iter().copied().fold(f64::MIN, f64::max).min(f64::MAX);
    logs.iter().map(|log| (log.min(f64::MAX) - largest).max(-1e30) as f32).collect()
}

/// A class for each label by plain randomized response.
pub(super) fn randomized(labels: &[u8], classes: usize, epsilon: Epsilon, (seed, model): Draws) -> Result<Vec<u8>> {
    let response = PriorResponse::uniform(classes, epsilon)?;
    let mut answers = stream(seed, Purpose::Labels, 0, model);
    labels.iter().map(|&label| Ok(response.draw(label.into(), &mut answers)? as u8)).collect()
}

/// A class for each label by randomized response with the prior of its image, \[image, class\] flat, in a later stage.
pub(super) fn randomized_with_priors(
    labels: &[u8],
    priors: &[f32],
    epsilon: Epsilon,
    ((seed, model), stage): (Draws, u64),
) -> Result<Vec<u8>> {
    let classes = priors.len() / labels.len().max(1);
    let mut answers = stream(seed, Purpose::Labels, stage, model);
    let answer = |(&label, prior): (&u8, &[f32])| {
        let prior: Vec<f64> = prior.iter().map(|&probability| probability.into()).collect();
        Ok(PriorResponse::new(&prior, epsilon)?.draw(label.into(), &mut answers)? as u8)
    };
    labels.iter().zip(priors.chunks_exact(classes.max(1))).map(answer).collect()
}

fn numbers(labels: &[u8]) -> Vec<usize> {
    labels.iter().map(|&label| label.into()).collect()
}

fn noise_seed((seed, model): Draws) -> u64 {
    stream(seed, Purpose::Labels, 0, model).random()
}
