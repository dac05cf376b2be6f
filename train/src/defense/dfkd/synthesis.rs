//! Synthetic images whose statistics are close to those that teachers remember, and the generators that make them.

use super::plan::Dfkd;
use crate::ensemble::{Ensemble, statistics_distances};
use crate::groups::Trainer;
use crate::initial::Initial;
use crate::layers::{convolution, dense, folded, own_normalization, unfolded};
use crate::optimizer::{Optimizer, OptimizerState};
use crate::seed::{Purpose, streams};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use std::ops::Range;
use tch::{Device, Kind, Tensor};

/// Initial weights of generators, separate from those of networks.
const WEIGHTS: u64 = 1 << 36;
/// Learning rates of the generator and of noise, and the rule of their steps: the program of Fang et al. (2022).
const GENERATOR_RATE: f64 = 2e-3;
const NOISE_RATE: f64 = 1e-2;
const RULE: Optimizer = Optimizer::Adam { beta1: 0.5, beta2: 0.999, epsilon: 1e-8 };

/// The generators of a group of teachers.
pub(super) struct Synthesis {
    plan: Dfkd,
    generators: Generators,
    /// The rule by which the generators themselves learn.
    meta: OptimizerState,
    streams: Vec<ChaCha8Rng>,
}

impl Synthesis {
    /// For the teachers of these shadow models.
    pub fn new(plan: Dfkd, models: Range<usize>, trainer: &Trainer<'_>) -> Self {
        let streams = |purpose, instantiation| streams(trainer.seed, purpose, instantiation, models.clone());
        let mut weights = streams(Purpose::Weights, WEIGHTS);
        let generators = Generators::new(&mut weights, plan.filters, trainer.shape, trainer.device.tensors());
        let meta = OptimizerState::new(RULE, &generators.parameters);
        Self { plan, generators, meta, streams: streams(Purpose::Synthesis, 0) }
    }

    /// The images [M, n, F] of one iteration, in [0, 1], and their distances [M]; the generators learn from making them.
    pub fn images(&mut self, teachers: &dyn Ensemble) -> (Tensor, Tensor) {
        self.generators.reset_first_layer(&mut self.streams);
        let mut noise = [self.noise()];
        let mut fast: Vec<Tensor> = self.generators.parameters.iter().map(Tensor::copy).collect();
        let mut rules = [OptimizerState::new(RULE, &fast), OptimizerState::new(RULE, &noise)];
        let mut of_all_steps: Vec<Tensor> = fast.iter().map(Tensor::zeros_like).collect();
        let mut best: Option<(Tensor, Tensor)> = None;
        for _ in 0..self.plan.steps {
            let (images, distances, mut gradients) = self.step(teachers, &mut fast, &mut noise);
            best = Some(match best {
                None => (images, distances),
                Some(best) => nearer(best, (images, distances)),
            });
            let mut of_noise = gradients.split_off(fast.len());
            for (sum, gradient) in of_all_steps.iter_mut().zip(&gradients) {
                *sum += gradient;
            }
            rules[0].step(&mut fast, &mut gradients, GENERATOR_RATE);
            rules[1].step(&mut noise, &mut of_noise, NOISE_RATE);
        }
        let rate = GENERATOR_RATE * self.plan.steps as f64;
        self.meta.step(&mut self.generators.parameters, &mut of_all_steps, rate);
        best.unwrap_or_else(|| (Tensor::new(), Tensor::new()))
    }

    /// Noise [M, n, 256], standard normal.
    fn noise(&mut self) -> Tensor {
        let count = self.plan.images * NOISE;
        let draw =
            |stream: &mut ChaCha8Rng| -> Vec<f32> { (0..count).map(|_| stream.sample(StandardNormal)).collect() };
        let noise: Vec<f32> = self.streams.iter_mut().flat_map(draw).collect();
        let shape = [self.streams.len() as i64, self.plan.images as i64, NOISE as i64];
        Tensor::from_slice(&noise).view(shape).to_device(self.generators.parameters[0].device())
    }

    /// Images, their distances, and the gradients of the distances in the parameters and then in the noise.
    fn step(
        &self,
        teachers: &dyn Ensemble,
        fast: &mut [Tensor],
        noise: &mut [Tensor; 1],
    ) -> (Tensor, Tensor, Vec<Tensor>) {
        follow(true, fast, noise);
        let images = self.generators.images(fast, &noise[0]);
        let distances = statistics_distances(teachers, &images);
        let leaves: Vec<&Tensor> = fast.iter().chain(noise.iter()).collect();
        let gradients = Tensor::run_backward(&[&distances.sum(distances.kind())], &leaves, false, false);
        follow(false, fast, noise);
        (images.detach(), distances.detach(), gradients)
    }
}

/// Whether gradients in these tensors are wanted.
fn follow(wanted: bool, fast: &mut [Tensor], noise: &mut [Tensor]) {
    for leaf in fast.iter_mut().chain(noise) {
        let _ = leaf.requires_grad_(wanted);
    }
}

/// For each network the images with the smaller distance.
fn nearer((images, distances): (Tensor, Tensor), (others, of_others): (Tensor, Tensor)) -> (Tensor, Tensor) {
    let closer = of_others.lt_tensor(&distances);
    let images = others.where_self(&closer.view([-1, 1, 1]), &images);
    (images, of_others.where_self(&closer, &distances))
}

/// Numbers that an image is made of: Fang et al. (2022).
const NOISE: usize = 256;
/// Slope of LeakyReLU for negative numbers.
const LEAK: f64 = 0.2;

/// M generators side by side.
///
/// A dense layer from noise to 2 f channels of a quarter of the image's height and width; then twice: nearest-neighbor
/// upsampling by two, a convolution of 3 x 3 (2 f, then f filters), and LeakyReLU, with batch normalization by the
/// batch's own statistics behind the dense layer and each convolution; last, a convolution of 3 x 3 to the channels of
/// the image, and the logistic function.
struct Generators {
    networks: i64,
    filters: usize,
    image: [usize; 3],
    /// Weights and biases of the dense layer; scales and shifts; then of each convolution its weights, biases, scales and
    /// shifts; weights and biases of the last one.
    pub parameters: Vec<Tensor>,
}

impl Generators {
    /// One generator for each stream.
    pub fn new(streams: &mut [ChaCha8Rng], filters: usize, image: [usize; 3], device: Device) -> Self {
        let mut initial = Initial::new(streams, device);
        let [rows, columns] = smallest(image);
        initial.dense(NOISE, 2 * filters * rows * columns);
        initial.normalization(2 * filters);
        for outputs in [2 * filters, filters] {
            initial.convolution(2 * filters, outputs, 3);
            initial.constant(&[outputs], 0.0);
            initial.normalization(outputs);
        }
        initial.convolution(filters, image[0], 3);
        initial.constant(&[image[0]], 0.0);
        Self { networks: initial.networks(), filters, image, parameters: initial.parameters() }
    }

    /// Draws the weights and biases of the dense layer again.
    pub fn reset_first_layer(&mut self, streams: &mut [ChaCha8Rng]) {
        let mut initial = Initial::new(streams, self.parameters[0].device());
        let [rows, columns] = smallest(self.image);
        initial.dense(NOISE, 2 * self.filters * rows * columns);
        self.parameters.splice(..2, initial.parameters());
    }

    /// Images [M, B, F] in (0, 1) that generators with these parameters make of noise [M, B, 256].
    pub fn images(&self, parameters: &[Tensor], noise: &Tensor) -> Tensor {
        let [_, rows, columns] = self.image;
        let [least_rows, least_columns] = smallest(self.image);
        let (first, rest) = parameters.split_at(4);
        let (blocks, last) = rest.split_at(8);
        let spread = dense(noise, &first[0], &first[1]);
        let mut images = folded(&spread, [2 * self.filters, least_rows, least_columns]);
        images = own_normalization(&images, [&first[2], &first[3]]);
        let sizes = [[rows.div_ceil(2), columns.div_ceil(2)], [rows, columns]];
        for (block, size) in blocks.chunks_exact(4).zip(sizes) {
            let larger = images.upsample_nearest2d(size.map(|length| length as i64).as_slice(), None, None);
            let convolved = convolution(&larger, &block[0], Some(&block[1]), self.networks, 1, 1);
            let normalized = own_normalization(&convolved, [&block[2], &block[3]]);
            // LeakyReLU: tch's has no slope to set.
            images = normalized.relu() - (-&normalized).relu() * LEAK;
        }
        let images = convolution(&images, &last[0], Some(&last[1]), self.networks, 1, 1).sigmoid();
        unfolded(&images, self.networks).to_kind(Kind::Float)
    }
}

/// Rows and columns before upsampling.
fn smallest([_, rows, columns]: [usize; 3]) -> [usize; 2] {
    [rows, columns].map(|length| length.div_ceil(2).div_ceil(2))
}
