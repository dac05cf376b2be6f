//! The loop of iterative Bayesian inference.

use super::noise::LabelNoise;
use crate::answers::numbers;
use crate::ensemble::Ensemble;
use crate::optimizer::OptimizerState;
use crate::progress::{TrainingProgress, report};
use crate::train::{Passes, TrainingPlan};
use crate::training_images::Example;
use leakbound::error::{Error, Result};
use ndarray::Array2;
use rand_chacha::ChaCha8Rng;
use tch::{Kind, Tensor};

/// Trains an ensemble of one network on images [N, F] with noisy labels \[image, class\]: in each step the soft labels
/// are the posterior of the label given the noisy one, with what the network says at that moment as the prior.
///
/// `progress` is called after each step.
///
/// # Errors
/// [`Error::Rejected`] if the network's answers are no longer finite.
///
/// # References
/// Malek Esmaeili et al. (2021), "Antipodes of label differential privacy: PATE and ALIBI", Algorithm 3.
pub(super) fn train_on_noisy_labels(
    network: &mut dyn Ensemble,
    images: &Tensor,
    (noisy, noise): (&Array2<f64>, LabelNoise),
    plan: &TrainingPlan,
    order: ChaCha8Rng,
    progress: &TrainingProgress<'_>,
) -> Result<()> {
    let examples: Vec<Example> = (0..noisy.nrows() as u32).map(Example::labeled).collect();
    let mut passes = Passes::new(&examples, order);
    let mut state = OptimizerState::new(plan.optimizer, network.parameters());
    let mut batch = Vec::with_capacity(plan.batch);
    let steps = plan.steps(examples.len());
    for step in 0..steps {
        batch.clear();
        passes.extend(&mut batch, plan.batch);
        let rows: Vec<i64> = batch.iter().map(|example| example.image.into()).collect();
        let inputs = images.index_select(0, &Tensor::from_slice(&rows).to_device(images.device())).unsqueeze(0);
        let targets = soft_labels(network, &inputs, (noisy, noise), &rows)?;
        let mut gradients = network.gradients(&inputs, &targets);
        state.step(network.parameters(), &mut gradients, plan.schedule.rate(step, steps));
        report(progress, 1)?;
    }
    Ok(())
}

/// Posteriors [1, B, C] of the labels of a batch.
fn soft_labels(
    network: &mut dyn Ensemble,
    inputs: &Tensor,
    (noisy, noise): (&Array2<f64>, LabelNoise),
    rows: &[i64],
) -> Result<Tensor> {
    let classes = noisy.ncols();
    let predicted = numbers(&network.learning_logits(inputs).log_softmax(-1, Kind::Float))?;
    if predicted.iter().any(|log| log.is_nan()) {
        let reason = "answers are no longer finite; lower the learning rate".into();
        return Err(Error::Rejected { operation: "ALIBI", reason });
    }
    let mut targets = Vec::with_capacity(predicted.len());
    for (&row, predicted) in rows.iter().zip(predicted.chunks_exact(classes)) {
        let prior: Vec<f64> = predicted.iter().map(|&log| libm::exp(log.into())).collect();
        let posterior = noise.posterior(&noisy.row(row as usize).to_vec(), &prior)?;
        targets.extend(posterior.iter().map(|&probability| probability as f32));
    }
    Ok(Tensor::from_slice(&targets).view([1, -1, classes as i64]).to_device(inputs.device()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::NetworkPlan;
    use crate::optimizer::{Optimizer, Schedule};
    use crate::seed::{Purpose, stream};
    use leakbound::quantity::NoiseScale;
    use tch::Device;

    /// One image, one step of SGD: the gradient is that at the posterior, written out from equation (3) of the paper.
    #[test]
    fn a_step_goes_toward_the_posterior() {
        let build = || {
            let streams = &mut [stream(3, Purpose::Weights, 0, 0)];
            NetworkPlan::Mlp { hidden: 4 }.build(streams, [1, 1, 2], 3, Device::Cpu)
        };
        let image = Tensor::from_slice(&[0.3f32, -0.8]).view([1, 2]);
        let noisy = ndarray::array![[1.4, 0.3, -0.6]];
        let noise = LabelNoise::Laplace(NoiseScale::new(0.8).unwrap());
        let plan = TrainingPlan::new(
            1,
            1,
            Optimizer::Sgd { momentum: 0.0, weight_decay: 0.0, nesterov: false },
            Schedule::Constant { rate: 0.5 },
        );
        let mut trained = build();
        let order = stream(3, Purpose::Order, 0, 0);
        train_on_noisy_labels(&mut *trained, &image, (&noisy, noise), &plan, order, &|_| {
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();

        let mut expected = build();
        let inputs = image.unsqueeze(0);
        // f_c = -Σ_k |o_k - [c = k]|.
        let scores = [-(0.4 + 0.3 + 0.6f32), -(1.4 + 0.7 + 0.6), -(1.4 + 0.3 + 1.6)].map(|score| score / 0.8);
        let prior = expected.logits(&inputs).log_softmax(-1, Kind::Float);
        let posterior = (Tensor::from_slice(&scores) + prior).softmax(-1, Kind::Float);
        let gradients = expected.gradients(&inputs, &posterior);
        for ((trained, start), gradient) in trained.parameters().iter().zip(expected.parameters()).zip(&gradients) {
            let error = f64::try_from((&*start - gradient * 0.5 - trained).abs().max()).unwrap();
            assert!(error < 1e-6, "{error}");
        }
    }
}
