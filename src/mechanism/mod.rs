//! Mechanisms as data: parameters, output distributions, and the theorems that bound them.

mod additive_noise;
mod noisy_argmax;
mod random_votes;
mod randomized_response;
mod smooth_release;
mod subsampled_gaussian;

pub use additive_noise::AdditiveNoise;
pub use noisy_argmax::NoisyArgmax;
pub use random_votes::RandomVotes;
pub use randomized_response::RandomizedResponse;
pub use smooth_release::SmoothRelease;
pub use subsampled_gaussian::SubsampledGaussian;
