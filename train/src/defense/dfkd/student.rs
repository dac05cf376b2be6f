//! Students, which learn the teachers' answers to synthetic images.

use super::plan::Dfkd;
use crate::augment::Augmenter;
use crate::ensemble::{Ensemble, logits_of_each};
use crate::groups::Trainer;
use crate::optimizer::OptimizerState;
use crate::seed::{Purpose, streams};
use crate::train::{Batches, TrainingPlan};
use crate::training_images::{Example, rows_of};
use std::ops::Range;
use tch::{Kind, Tensor};

/// What students draw is not what their teachers drew.
const STUDENTS: u64 = 1 << 35;

/// The students of a group of teachers, with their memory banks.
pub(super) struct Students<'a> {
    plan: Dfkd,
    training: &'a TrainingPlan,
    seed: u64,
    models: Range<usize>,
    networks: Box<dyn Ensemble>,
    state: OptimizerState,
    augmenter: Augmenter,
    bank: Bank,
    /// Iterations done.
    iteration: usize,
    steps_done: u64,
}

/// The memory bank, with room for all iterations: in each one n rows of network 0, then those of network 1, ...
struct Bank {
    /// [T · M · n, F], bytes.
    images: Tensor,
    /// Teachers' probabilities [T · M · n, C].
    answers: Tensor,
}

impl Bank {
    /// Puts images [M, n, F] and answers [M, n, C] of an iteration, counted from 0, to their place.
    fn keep(&mut self, iteration: usize, images: &Tensor, answers: &Tensor) {
        for (bank, kept) in [(&self.images, images), (&self.answers, answers)] {
            let rows = kept.size()[0] * kept.size()[1];
            bank.narrow(0, iteration as i64 * rows, rows).copy_(&kept.reshape([rows, -1]));
        }
    }

    /// Inputs [B, F] in [0, 1] and probabilities [B, C].
    fn rows(&self, examples: &[Example]) -> (Tensor, Tensor) {
        let [images, answers] =
            [&self.images, &self.answers].map(|bank| rows_of(bank, examples.iter().map(|example| example.image)));
        (unit(&images), answers)
    }
}

/// Bytes as numbers in [0, 1].
fn unit(bytes: &Tensor) -> Tensor {
    bytes.to_kind(Kind::Float) / 255.0
}

impl<'a> Students<'a> {
    /// Those of these shadow models.
    pub fn new(plan: Dfkd, models: Range<usize>, trainer: &Trainer<'a>) -> Self {
        let &Trainer { network, training, shape, classes, seed, device, .. } = trainer;
        let streams = |purpose| streams(seed, purpose, STUDENTS, models.clone());
        let mut networks = network.build(&mut streams(Purpose::Weights), shape, classes, device.tensors());
        let state = OptimizerState::new(training.optimizer, networks.parameters());
        let augmenter = Augmenter::new(training.augmentation, shape, streams(Purpose::Augmentation));
        let rows = (plan.iterations * plan.images * models.len()) as i64;
        let [pixels, classes] = [shape.iter().product(), classes].map(|count| count as i64);
        let bank = Bank {
            images: Tensor::zeros([rows, pixels], (Kind::Uint8, device.tensors())),
            answers: Tensor::zeros([rows, classes], (Kind::Float, device.tensors())),
        };
        Self { plan, training, seed, models, networks, state, augmenter, bank, iteration: 0, steps_done: 0 }
    }

    /// The students as they are.
    pub fn networks(&mut self) -> &mut dyn Ensemble {
        &mut *self.networks
    }

    /// Adds images [M, n, F] to the memory bank, and trains on all of it.
    pub fn learn(&mut self, teachers: &dyn Ensemble, images: &Tensor) {
        self.remember(teachers, images);
        self.iteration += 1;
        let mut batches = self.batches();
        let shape = [self.networks.networks(), self.training.batch as i64, -1];
        let all = self.all_steps();
        for _ in 0..self.steps(self.iteration) {
            let (inputs, answers) = self.bank.rows(&batches.next());
            let inputs = self.augmenter.vary(inputs, self.training.batch);
            let answers = answers.view(shape);
            let temperature = self.plan.temperature;
            let loss = |logits: &Tensor| distillation_loss(logits, &answers, temperature);
            let mut gradients = self.networks.gradients_of(&inputs.view(shape), &loss);
            let rate = self.training.schedule.rate(self.steps_done, all);
            self.state.step(self.networks.parameters(), &mut gradients, rate);
            self.steps_done += 1;
        }
    }

    /// Teachers answer the images as they are kept, in bytes.
    fn remember(&mut self, teachers: &dyn Ensemble, images: &Tensor) {
        let kept = (images * 255.0).round().to_kind(Kind::Uint8);
        let logits = logits_of_each(teachers, &unit(&kept));
        let answers = (logits / self.plan.temperature).softmax(-1, Kind::Float);
        self.bank.keep(self.iteration, &kept, &answers);
    }

    /// Steps of iteration t = 1, 2, ...
    fn steps(&self, iteration: usize) -> u64 {
        (self.plan.epochs as u64 * iteration as u64 * self.plan.images as u64).div_ceil(self.training.batch as u64)
    }

    /// Steps of all iterations.
    fn all_steps(&self) -> u64 {
        (1..=self.plan.iterations).map(|iteration| self.steps(iteration)).sum()
    }

    /// Of every student's own images of all iterations so far.
    fn batches(&self) -> Batches {
        let (iterations, images, networks) = (self.iteration, self.plan.images, self.models.len());
        let own = |place: usize| {
            let first = |iteration| (iteration * networks + place) * images;
            let rows = (0..iterations).flat_map(|iteration| first(iteration)..first(iteration) + images);
            rows.map(|row| Example::labeled(row as u32)).collect()
        };
        let streams = streams(self.seed, Purpose::Order, STUDENTS + iterations as u64, self.models.clone());
        Batches::new((0..networks).map(own).collect(), streams, self.training.batch)
    }
}

/// T² Σ_m mean_b CE(answers, softmax(logits/T)) for logits and probabilities [M, B, C]: its gradient stays of the same
/// size whatever T. Hinton, Vinyals and Dean (2015), section 2.
fn distillation_loss(logits: &Tensor, answers: &Tensor, temperature: f64) -> Tensor {
    let batch = logits.size()[1] as f64;
    let logs = (logits / temperature).log_softmax(-1, Kind::Float);
    -(logs * answers).sum(Kind::Float) * (temperature * temperature / batch)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ∂/∂z_c of T² CE(t, softmax(z/T)), the mean of B: T (q_c - t_c)/B.
    #[test]
    fn gradients_are_those_of_the_divergence_at_a_temperature() {
        let (logits, answers) = ([0.3f64, -0.2, 1.1, 2.0, 0.5, -1.0], [0.2f64, 0.5, 0.3, 0.1, 0.1, 0.8]);
        let tensor = |values: &[f64]| Tensor::from_slice(values).to_kind(Kind::Double).view([1, 2, 3]);
        let leaf = tensor(&logits).set_requires_grad(true);
        let loss = distillation_loss(&leaf, &tensor(&answers), 4.0);
        let found = Tensor::run_backward(&[&loss], &[&leaf], false, false)[0].flatten(0, -1);
        for row in 0..2 {
            let z = &logits[3 * row..][..3];
            let all: f64 = z.iter().map(|z| (z / 4.0).exp()).sum();
            for class in 0..3 {
                let expected = 4.0 * ((z[class] / 4.0).exp() / all - answers[3 * row + class]) / 2.0;
                let found = found.double_value(&[3 * row as i64 + class as i64]);
                assert!((found - expected).abs() < 1e-6, "{found} {expected}");
            }
        }
    }

    #[test]
    fn a_bank_keeps_every_network_s_images_apart() {
        let cpu = |kind| (kind, tch::Device::Cpu);
        let mut bank =
            Bank { images: Tensor::zeros([8, 2], cpu(Kind::Uint8)), answers: Tensor::zeros([8, 1], cpu(Kind::Float)) };
        for iteration in 0..2 {
            // Two networks of two images.
            let images = Tensor::arange(8, cpu(Kind::Int64)).view([2, 2, 2]) + iteration * 10;
            bank.keep(iteration as usize, &images.to_kind(Kind::Uint8), &images.narrow(2, 0, 1).to_kind(Kind::Float));
        }
        let (inputs, answers) = bank.rows(&[Example::labeled(6), Example::labeled(1)]);
        let inputs: Vec<f32> = (inputs * 255.0).round().flatten(0, -1).try_into().unwrap();
        assert_eq!(inputs, [14.0, 15.0, 2.0, 3.0]);
        assert_eq!(Vec::<f32>::try_from(answers.flatten(0, -1)).unwrap(), [14.0, 2.0]);
    }
}
