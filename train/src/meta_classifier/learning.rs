//! How a meta-classifier learns from networks.

use super::plan::MetaClassifierPlan;
use crate::early_stopping::{BestParameters, EarlyStopping};
use crate::ensemble::{Ensemble, check_finite};
use crate::optimizer::{Optimizer, OptimizerState};
use crate::progress::{TrainingProgress, report};
use crate::train::Batches;
use crate::training_images::{Example, TrainingImages, rows_of};
use leakbound::error::Result;
use rand_chacha::ChaCha8Rng;

/// Networks that are answered about at once.
const AT_ONCE: usize = 64;

/// The networks that a meta-classifier learns from, and those that say where it stops.
pub(super) struct Examples {
    pub training: Vec<Example>,
    pub validation: Vec<Example>,
}

/// Trains one meta-classifier, and says how many epochs it took. Progress counts epochs.
///
/// # Errors
/// [`Error::Rejected`](leakbound::Error::Rejected) if training diverges,
/// [`Error::Interrupted`](leakbound::Error::Interrupted).
pub(super) fn learn(
    classifier: &mut dyn Ensemble,
    networks: &TrainingImages,
    examples: &Examples,
    plan: &MetaClassifierPlan,
    stream: ChaCha8Rng,
    progress: &TrainingProgress<'_>,
) -> Result<usize> {
    let mut batches = Batches::new(vec![examples.training.clone()], vec![stream], plan.batch);
    let all = examples.training.len() + examples.validation.len();
    let stopping = EarlyStopping { validation: examples.validation.len() as f64 / all as f64, patience: plan.patience };
    let mut best = BestParameters::new(classifier, stopping, vec![examples.validation.clone()]);
    let mut state = OptimizerState::new(Optimizer::ADAM, classifier.parameters());
    let steps = examples.training.len().div_ceil(plan.batch);
    let shape = [1, plan.batch as i64, -1];
    let mut epochs = 0;
    for epoch in 0..plan.epochs {
        let rate = plan.rate * plan.decay.powi((epoch / 2) as i32);
        for _ in 0..steps {
            let (inputs, targets) = networks.rows(&batches.next());
            let mut gradients = classifier.gradients(&inputs.view(shape), &targets.view(shape));
            state.step(classifier.parameters(), &mut gradients, rate);
        }
        check_finite(classifier.parameters(), "training of a meta-classifier")?;
        epochs += 1;
        report(progress, 1)?;
        if best.all_are_done(classifier, networks) {
            break;
        }
    }
    best.restore(classifier);
    Ok(epochs)
}

/// The value that a meta-classifier infers for each of these rows.
pub(super) fn inferred(classifier: &dyn Ensemble, networks: &TrainingImages, rows: &[usize]) -> Vec<usize> {
    let of_part = |part: &[usize]| {
        let inputs = rows_of(&networks.inputs, part.iter().map(|&row| row as i64)).unsqueeze(0);
        let values: Vec<i64> =
            classifier.logits(&inputs).argmax(-1, false).flatten(0, -1).try_into().unwrap_or_default();
        values.into_iter().map(|value| value as usize)
    };
    rows.chunks(AT_ONCE).flat_map(of_part).collect()
}
