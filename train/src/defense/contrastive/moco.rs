//! MoCo: a view of an image like the key of another view, and unlike the keys of a queue.

use super::keys::{KeyQueue, follow};
use super::learning::{Learner, Objective, Start, rejected};
use super::loss::{info_nce, unit};
use super::plan::{DIMENSION, EncoderPlan};
use crate::checks::check_range;
use crate::ensemble::Ensemble;
use leakbound::error::Result;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use tch::{Device, Tensor};

/// An encoder that learns without labels to tell the key of another view of an image from keys of other images, and a
/// linear classifier on it.
///
/// As [`SimClr`](crate::SimClr), with another loss and no head: the 128 outputs are what the loss sees. A second
/// encoder, which starts as a copy of the first, makes keys: k = φ'(x') of a second view of each image, of norm 1. With
/// the query q = φ(x) of the first view, of norm 1, a step of φ descends the mean over the batch of
/// -ln(exp(q·k/τ)/(exp(q·k/τ) + Σ_i exp(q·n_i/τ))), with the last Q keys n_i of earlier batches, which are random
/// directions at first. Then the parameters follow, θ' ← m θ' + (1 - m) θ, and the keys take the place of the oldest.
///
/// Networks with batch normalization normalize queries over the batch of queries and keys over that of keys; running
/// statistics are each encoder's own. Shuffling keys among several GPUs, as the authors do, would change nothing where a
/// batch is on one.
///
/// # References
/// He et al. (2020), "Momentum contrast for unsupervised visual representation learning"; Aerni, Zhang and Tramèr
/// (2024), "Evaluations of machine learning privacy defenses are misleading", sections 4 and 5.3, appendix A.4. Their
/// program takes m = 0.99, τ = 0.1 and each view as query and as key, and its classifier what is before the last layer.
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
            return Err(rejected(format!("a queue of {queue} keys has no room for a batch of {batch}")));
        }
        Ok(())
    }

    fn check_images(&self, images: usize) -> Result<()> {
        if self.queue <= images {
            return Ok(());
        }
        Err(rejected(format!(
            "a queue of {} keys for an encoder of {images} images, which would be told apart from their own keys; take \
             a shorter queue or more images",
            self.queue
        )))
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
}
