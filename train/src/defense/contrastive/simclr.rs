//! SimCLR: views of one image alike, and unlike those of the other images of the batch. Its encoder has a head while it
//! learns.

use super::learning::{Learner, Objective, Start};
use super::loss::nt_xent;
use super::plan::{DIMENSION, EncoderPlan};
use crate::ensemble::Ensemble;
use crate::initial::Initial;
use crate::layers::dense;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use tch::{Device, Tensor};

/// An encoder that learns without labels that two random views of an image are alike, and a linear classifier on it.
///
/// The encoder φ is the network with 128 outputs instead of the classes. On a batch of B images with two views each, a
/// step descends NT-Xent of g(φ(x)): the mean over the 2 B views of -ln(exp(s_ij/τ)/Σ_{k ≠ i} exp(s_ik/τ)), where s_ik
/// is the cosine of views i and k, and j the other view of the image of i. The head g has two layers of 128 numbers
/// with ReLU between them; it is discarded afterwards. The classifier W φ(x) + b then learns the labels with the
/// encoder frozen.
///
/// Views are random crops with at least 0.2 of the area, stretched by bilinear interpolation, flips, and changes of
/// brightness and contrast, for images in color also of saturation. The classifier learns from the images themselves.
/// Of the plan's training only `side_by_side` counts: the rest is [`EncoderPlan`]'s, and augmentation and early
/// stopping are rejected.
///
/// The recording has the encoder's `embeddings` \[model, sample, view, 128\] of random views of the audited samples,
/// which are the same views for all models: what [`ScoredEmbeddings`](leakbound::membership::ScoredEmbeddings) attacks.
///
/// # References
/// Chen et al. (2020), "A simple framework for contrastive learning of visual representations"; Aerni, Zhang and Tramèr
/// (2024), "Evaluations of machine learning privacy defenses are misleading", sections 4 and 5.3, appendix A.4. Their
/// encoders are residual networks before the head, which their classifier and their attack also see; here the network's
/// last layer belongs to the encoder, and hues are not changed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SimClr {
    /// How the encoder and the classifier learn.
    pub encoder: EncoderPlan,
}

impl SimClr {
    /// The values of Aerni et al. (2024), appendix A.4, and the temperature of Chen et al. (2020), appendix B.9, for
    /// CIFAR-10.
    pub const PUBLISHED: Self = Self { encoder: EncoderPlan::published(0.5) };
}

/// NT-Xent of what the encoders answer while they learn.
struct Pairs {
    temperature: f64,
}

impl Objective for Pairs {
    fn gradients(&mut self, encoders: &mut dyn Ensemble, views: [&Tensor; 2]) -> Vec<Tensor> {
        encoders.gradients_of(&Tensor::cat(&views, 1), &|vectors| nt_xent(vectors, self.temperature))
    }
}

impl Learner for SimClr {
    fn plan(&self) -> &EncoderPlan {
        &self.encoder
    }

    fn start(&self, networks: Box<dyn Ensemble>, streams: &mut [ChaCha8Rng], device: Device) -> Start {
        let encoders = Projected::new(networks, streams, device);
        (Box::new(encoders), Box::new(Pairs { temperature: self.encoder.temperature }))
    }
}

/// Parameters of a head.
const HEAD: usize = 4;

/// M encoders φ with a head g(h) = relu(h W₁ + b₁) W₂ + b₂ of 128 hidden numbers and 128 outputs: they answer with
/// φ(x), and while they learn with g(φ(x)).
struct Projected {
    encoder: Box<dyn Ensemble>,
    /// The encoder's own, behind them the heads'.
    parameters: Vec<Tensor>,
}

impl Projected {
    /// The head of each encoder is drawn by its stream.
    pub fn new(mut encoder: Box<dyn Ensemble>, streams: &mut [ChaCha8Rng], device: Device) -> Self {
        let mut initial = Initial::new(streams, device);
        initial.dense(DIMENSION, DIMENSION);
        initial.dense(DIMENSION, DIMENSION);
        // Two names of the same tensors: a step along these is one of the encoder.
        let parameters = encoder.parameters().iter().map(Tensor::shallow_clone).chain(initial.parameters()).collect();
        Self { encoder, parameters }
    }

    fn head(&self) -> &[Tensor] {
        &self.parameters[self.parameters.len() - HEAD..]
    }
}

impl Ensemble for Projected {
    fn networks(&self) -> i64 {
        self.encoder.networks()
    }

    fn parameters(&mut self) -> &mut [Tensor] {
        &mut self.parameters
    }

    fn statistics(&mut self) -> &mut [Tensor] {
        self.encoder.statistics()
    }

    fn mapped(&self, change: &dyn Fn(&Tensor) -> Tensor) -> Box<dyn Ensemble> {
        let mut encoder = self.encoder.mapped(change);
        let own: Vec<Tensor> = encoder.parameters().iter().map(Tensor::shallow_clone).collect();
        let parameters = own.into_iter().chain(self.head().iter().map(change)).collect();
        Box::new(Self { encoder, parameters })
    }

    fn logits(&self, inputs: &Tensor) -> Tensor {
        self.encoder.logits(inputs)
    }

    fn learning_logits(&mut self, inputs: &Tensor) -> Tensor {
        let features = self.encoder.learning_logits(inputs);
        let head = self.head();
        dense(&dense(&features, &head[0], &head[1]).relu(), &head[2], &head[3])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::NetworkPlan;
    use crate::sample::farthest;
    use crate::seed::{Purpose, streams};
    use tch::Kind;

    fn networks(networks: std::ops::Range<usize>) -> Projected {
        let streams = |purpose| streams(4, purpose, 0, networks.clone());
        let encoder =
            NetworkPlan::Mlp { hidden: 5 }.build(&mut streams(Purpose::Weights), [1, 2, 3], DIMENSION, Device::Cpu);
        Projected::new(encoder, &mut streams(Purpose::Projection), Device::Cpu)
    }

    /// A step along the gradients of the projections moves the encoder and the head, and the answers are the encoder's.
    #[test]
    fn a_step_moves_encoder_and_head() {
        let inputs = Tensor::linspace(-1.0, 2.0, 2 * 3 * 6, (Kind::Float, Device::Cpu)).sin().view([2, 3, 6]);
        let mut networks = networks(0..2);
        let (features, projections) = (networks.logits(&inputs), networks.learning_logits(&inputs));
        assert_eq!((features.size(), projections.size()), (vec![2, 3, 128], vec![2, 3, 128]));
        assert!(farthest(&features, &projections) > 0.1);
        let copy = networks.mapped(&Tensor::copy);
        let loss = |projections: &Tensor| projections.square().sum(Kind::Float);
        let gradients = networks.gradients_of(&inputs, &loss);
        assert_eq!(gradients.len(), 4 + HEAD);
        for (parameter, gradient) in networks.parameters().iter_mut().zip(&gradients) {
            assert!(f64::try_from(gradient.abs().max()).unwrap() > 0.0);
            *parameter -= gradient * 1e-4;
        }
        assert!(farthest(&networks.logits(&inputs), &features) > 1e-6);
        let after = f64::try_from(loss(&networks.learning_logits(&inputs))).unwrap();
        assert!(after < f64::try_from(loss(&projections)).unwrap());
        assert!(farthest(&copy.logits(&inputs), &features) == 0.0);
    }

    #[test]
    fn a_network_does_not_depend_on_its_neighbors() {
        let inputs = Tensor::ones([2, 3, 6], (Kind::Float, Device::Cpu));
        let (mut together, mut alone) = (networks(0..2), networks(1..2));
        let last = |tensor: &Tensor| tensor.narrow(0, 1, 1);
        assert!(farthest(&last(&together.learning_logits(&inputs)), &alone.learning_logits(&last(&inputs))) < 1e-6);
    }
}
