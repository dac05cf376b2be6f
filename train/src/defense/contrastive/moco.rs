//! MoCo: a view of an image like the key of another view, and unlike the keys of a queue.

use super::learning::{Learner, Objective, Start};
use super::loss::{info_nce, unit};
use super::plan::{DIMENSION, EncoderPlan};
use crate::checks::{check_range, reject};
use crate::ensemble::Ensemble;
use crate::moving_average::follow;
use leakbound::error::Result;
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use serde::Serialize;
use tch::{Device, Tensor};

/// An encoder that learns without labels to tell the key of another view of an image from keys of other images, and a
/// linear classifier on it.
///
/// As [`SimClr`](crate::SimClr), with another loss and no head: the loss sees the 128 outputs. A second encoder, which
/// starts as a copy of the first, makes keys: k = φ'(x') of a second view of each image, of norm 1. With the query q =
/// φ(x) of the first view, of norm 1, a step of φ descends the mean over the batch of -ln(exp(q·k/τ)/(exp(q·k/τ) + Σ_i
/// exp(q·n_i/τ))), with the last Q keys n_i of earlier batches, which are random directions at first. Then the
/// parameters follow, θ' ← m θ' + (1 - m) θ, and the keys replace the oldest.
///
/// Networks with batch normalization normalize queries over the batch of queries and keys over that of keys; running
/// statistics are each encoder's own. Shuffling keys among several GPUs, as the authors do, would change nothing if a
/// batch is on one.
///
/// # References
/// He et al. (2020), "Momentum contrast for unsupervised visual representation learning"; Aerni, Zhang and Tramèr
/// (2024), "Evaluations of machine learning privacy defenses are misleading", sections 4 and 5.3, appendix A.4. Their
/// program takes m = 0.99, τ = 0.1 and each view as query and as key, and its classifier sees the input of the last
/// layer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MoCo {
    /// How the encoder and the classifier learn.
    pub encoder: EncoderPlan,
    /// Q: at least a batch, and at most the images of a network.
    pub queue: usize,
    /// m in [0, 1).
    pub momentum: f64,
}

impl MoCo {
    /// The values of Aerni et al. (2024), appendix A.4, with temperature and momentum of He et al. (2020), section 3.3.
    pub const PUBLISHED: Self = Self { encoder: EncoderPlan::published(0.07), queue: 4096, momentum: 0.999 };
}

/// InfoNCE, with the encoders of keys and their queue.
struct Queued {
    keys: Box<dyn Ensemble>,
    queue: KeyQueue,
    temperature: f64,
    momentum: f64,
}

impl Objective for Queued {
    fn gradients(&mut self, encoders: &mut dyn Ensemble, [first, second]: [&Tensor; 2]) -> Vec<Tensor> {
        let keys = unit(&self.keys.learning_logits(second));
        let loss = |queries: &Tensor| info_nce(&unit(queries), &keys, &self.queue.keys, self.temperature);
        let gradients = encoders.gradients_of(first, &loss);
        self.queue.push(&keys);
        gradients
    }

    /// He et al. (2020), (2).
    fn stepped(&mut self, encoders: &mut dyn Ensemble) {
        follow(self.keys.parameters(), encoders.parameters(), self.momentum);
    }
}

impl Learner for MoCo {
    fn plan(&self) -> &EncoderPlan {
        &self.encoder
    }

    fn start(&self, networks: Box<dyn Ensemble>, streams: &mut [ChaCha8Rng], device: Device) -> Start {
        let objective = Queued {
            keys: networks.mapped(&Tensor::copy),
            queue: KeyQueue::random(streams, self.queue, DIMENSION, device),
            temperature: self.encoder.temperature,
            momentum: self.momentum,
        };
        (networks, Box::new(objective))
    }

    fn check(&self) -> Result<()> {
        self.encoder.check()?;
        check_range("momentum of the keys", self.momentum, (0.0..1.0).contains(&self.momentum), "[0, 1)")?;
        let (queue, batch) = (self.queue, self.encoder.batch);
        if queue < batch {
            return reject("defense", format!("a queue of {queue} keys has no room for a batch of {batch}"));
        }
        Ok(())
    }

    fn check_images(&self, images: usize) -> Result<()> {
        if self.queue <= images {
            return Ok(());
        }
        reject(
            "defense",
            format!(
                "a queue of {} keys for an encoder of {images} images, which would be told apart from their own keys; take \
             a shorter queue or more images",
                self.queue
            ),
        )
    }
}

/// The last Q keys of each of M networks.
struct KeyQueue {
    /// [M, Q, D], unit vectors in no order.
    pub keys: Tensor,
    /// The place of the oldest ones.
    oldest: i64,
}

impl KeyQueue {
    /// Unit vectors of random directions, for which there are keys later: one stream for each network.
    pub fn random<R: Rng>(streams: &mut [R], length: usize, dimension: usize, device: Device) -> Self {
        let networks = streams.len() as i64;
        let numbers = streams
            .iter_mut()
            .flat_map(|stream| (0..length * dimension).map(|_| stream.sample::<f32, _>(StandardNormal)))
            .collect::<Vec<f32>>();
        let vectors = Tensor::from_slice(&numbers).view([networks, length as i64, dimension as i64]).to_device(device);
        Self { keys: unit(&vectors), oldest: 0 }
    }

    /// Replaces the oldest keys with keys [M, B, D], at most Q per network.
    pub fn push(&mut self, keys: &Tensor) {
        let (length, batch) = (self.keys.size()[1], keys.size()[1]);
        let places: Vec<i64> = (0..batch).map(|key| (self.oldest + key) % length).collect();
        let _ = self.keys.index_copy_(1, &Tensor::from_slice(&places).to_device(keys.device()), keys);
        self.oldest = (self.oldest + batch) % length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::NetworkPlan;
    use crate::sample::farthest;
    use crate::seed::{Purpose, streams};
    use tch::Kind;

    const DEFENSE: MoCo = MoCo {
        encoder: EncoderPlan { batch: 3, temperature: 0.3, ..MoCo::PUBLISHED.encoder },
        queue: 4,
        momentum: 0.75,
    };

    /// Two steps of algorithm 1 by hand: keys of the second view by the encoder as it was, the loss with the queue
    /// before they enter it, then the encoder's step, which the other one follows.
    #[test]
    fn a_step_is_that_of_the_algorithm() {
        let streams = |purpose| streams(4, purpose, 0, 0..2);
        let build = || {
            let network = NetworkPlan::Mlp { hidden: 5 };
            network.build(&mut streams(Purpose::Weights), [1, 2, 3], DIMENSION, Device::Cpu)
        };
        let [mut by_hand, mut keys] = [build(), build()];
        let (mut encoders, mut objective) = DEFENSE.start(build(), &mut streams(Purpose::Projection), Device::Cpu);
        let queue = KeyQueue::random(&mut streams(Purpose::Projection), 4, DIMENSION, Device::Cpu);
        let mut all = queue.keys.copy();
        for step in 0..2 {
            let view = |phase: f64| {
                let numbers = Tensor::linspace(0.0, 30.0, 2 * 3 * 6, (Kind::Float, Device::Cpu)) + phase;
                numbers.sin().view([2, 3, 6])
            };
            let (first, second) = (view(f64::from(step)), view(f64::from(step) + 0.4));
            let gradients = objective.gradients(&mut *encoders, [&first, &second]);
            let made = unit(&keys.logits(&second));
            let expected = by_hand.gradients_of(&first, &|queries| info_nce(&unit(queries), &made, &all, 0.3));
            for (found, expected) in gradients.iter().zip(&expected) {
                assert!(farthest(found, expected) < 1e-6 && farthest(found, &found.zeros_like()) > 1e-4);
            }
            for (encoder, gradients) in [(&mut encoders, &gradients), (&mut by_hand, &expected)] {
                for (parameter, gradient) in encoder.parameters().iter_mut().zip(gradients) {
                    *parameter -= gradient * 0.5;
                }
            }
            objective.stepped(&mut *encoders);
            for (key, query) in keys.parameters().iter_mut().zip(by_hand.parameters()) {
                key.copy_(&(&*key * 0.75 + &*query * 0.25));
            }
            // The oldest three of four leave.
            all = Tensor::cat(&[all.narrow(1, 3, 1), made], 1);
        }
    }

    fn queue(networks: usize, length: usize) -> KeyQueue {
        KeyQueue::random(&mut streams(7, Purpose::Projection, 0, 0..networks), length, 3, Device::Cpu)
    }

    /// The first number of each key of a network.
    fn first_numbers(queue: &KeyQueue, network: i64) -> Vec<f32> {
        queue.keys.select(0, network).select(1, 0).contiguous().try_into().unwrap()
    }

    #[test]
    fn a_queue_starts_with_directions_of_each_network_alone() {
        let (together, alone) = (queue(2, 50), queue(1, 50));
        assert_eq!(first_numbers(&together, 0), first_numbers(&alone, 0));
        assert_ne!(first_numbers(&together, 0), first_numbers(&together, 1));
        let norms = together.keys.square().sum_dim_intlist([-1i64].as_slice(), false, Kind::Float);
        assert!(f64::try_from((norms - 1.0).abs().max()).unwrap() < 1e-6);
    }

    /// Batches of three into five places: the oldest leave first, also across the end of the tensor.
    #[test]
    fn the_first_key_in_is_the_first_out() {
        let mut queue = queue(2, 5);
        let mut expected: Vec<Vec<f32>> = (0..2).map(|network| first_numbers(&queue, network)).collect();
        for step in 0..7 {
            let number = |network: i64, key: i64| (100 * network + 10 * step + key) as f32;
            let keys: Vec<f32> =
                (0..2).flat_map(|network| (0..3).flat_map(move |key| [number(network, key); 3])).collect();
            queue.push(&Tensor::from_slice(&keys).view([2, 3, 3]));
            for (network, expected) in (0..2).zip(&mut expected) {
                expected.drain(..3);
                expected.extend((0..3).map(|key| number(network, key)));
                let (mut found, mut in_order) = (first_numbers(&queue, network), expected.clone());
                // From the oldest on, those of the tensor are those of a list.
                found.rotate_left(queue.oldest as usize);
                assert_eq!(found, in_order, "{step}");
                in_order.sort_by(f32::total_cmp);
                found.sort_by(f32::total_cmp);
                assert_eq!(found, in_order);
            }
        }
        // One per place.
        queue.push(&(Tensor::ones([2, 5, 3], (Kind::Float, Device::Cpu)) * 0.5));
        assert_eq!(first_numbers(&queue, 1), [0.5; 5]);
    }

    #[test]
    fn parameters_follow_as_in_a_loop() {
        let values = |phase: f64| Tensor::linspace(-1.0, 2.0, 12, (Kind::Float, Device::Cpu)).sin() + phase;
        for momentum in [0.0, 0.9, 0.999] {
            let mut keys = [values(0.1).view([3, 4]), values(-2.0)];
            let mut expected: Vec<f64> = keys.iter().flat_map(numbers).collect();
            for step in 0..50 {
                let queries = [values(f64::from(step)).view([3, 4]), values(-f64::from(step))];
                follow(&mut keys, &queries, momentum);
                for (key, query) in expected.iter_mut().zip(queries.iter().flat_map(numbers)) {
                    *key = momentum * *key + (1.0 - momentum) * query;
                }
            }
            for (found, expected) in keys.iter().flat_map(numbers).zip(expected) {
                assert!(
                    (found - expected).abs() < 1e-6 * expected.abs().max(1.0) * 5.0,
                    "{momentum}: {found} {expected}"
                );
            }
        }
    }

    fn numbers(tensor: &Tensor) -> Vec<f64> {
        tensor.to_kind(Kind::Double).flatten(0, -1).try_into().unwrap()
    }
}
