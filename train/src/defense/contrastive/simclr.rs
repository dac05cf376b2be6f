//! SimCLR: views of one image alike, and unlike those of the other images of the batch.

use super::learning::{Learner, Objective, Start};
use super::loss::nt_xent;
use super::plan::EncoderPlan;
use super::projected::Projected;
use crate::ensemble::Ensemble;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use tch::{Device, Tensor};

/// An encoder that learns without labels that two random views of an image are alike, and a linear classifier on it.
///
/// The encoder φ is the network with 128 outputs in place of the classes. Of a batch of B images with two views each, a
/// step descends NT-Xent of g(φ(x)): the mean over the 2 B views of -ln(exp(s_ij/τ)/Σ_{k ≠ i} exp(s_ik/τ)), where s_ik
/// is the cosine of views i and k, and j the other view of the image of i. The head g has two layers of 128 numbers with
/// ReLU between them; it is thrown away. The classifier W φ(x) + b then learns the labels with the encoder frozen.
///
/// Views are random crops with at least 0.2 of the area, stretched by bilinear interpolation, flips, and changes of
/// brightness and contrast, of images in color also of saturation. The classifier learns from the images themselves.
/// Of the plan's training only `side_by_side` counts: the rest is [`EncoderPlan`]'s, and augmentation and early
/// stopping are rejected.
///
/// The recording has the encoder's `embeddings` \[model, sample, view, 128\] of random views of the audited samples,
/// which are the same views for all models: what [`ScoredEmbeddings`](leakbound::membership::ScoredEmbeddings) attacks.
///
/// # References
/// Chen et al. (2020), "A simple framework for contrastive learning of visual representations"; Aerni, Zhang and Tramèr
/// (2024), "Evaluations of machine learning privacy defenses are misleading", sections 4 and 5.3, appendix A.4. Their
/// encoders are residual networks before the head, which their classifier and their attack see too; here the network's
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
