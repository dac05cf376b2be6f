//! Monte Carlo simulation of mechanisms in both worlds: sampled outcomes, counted. It computes no bounds.
//!
//! A simulation is cut into fixed blocks, each with a separate random stream, and the counts are whole numbers: the
//! result does not depend on the number of threads or on the distribution of work among them.

mod alias;
mod argmax;
mod argmax_sampler;
mod binomial_table;
mod blocks;
mod chi_square;
mod coarse;
mod confident;
mod deficits;
mod engine;
mod exact_distribution;
mod halves;
mod lane_words;
mod lanes;
mod model_votes;
mod noise;
mod partial;
mod parties;
mod party_groups;
mod rao_blackwell;
mod shard;
mod simulation;
mod stream;
mod vote_sampler;
mod votes;
mod whole;
#[cfg(target_arch = "x86_64")]
mod wide_filter;
#[cfg(target_arch = "x86_64")]
mod wide_lanes;

pub use argmax_sampler::ArgmaxSampler;
pub use blocks::BlockSet;
pub use chi_square::chi_square_p_value;
pub use confident::{ConfidentSampler, draw_confident_answer};
pub use engine::Sampler;
pub use exact_distribution::sample_distributions;
pub use noise::fill_noise;
pub use partial::PartialCounts;
pub use rao_blackwell::{Estimate, RaoBlackwell, rao_blackwell};
pub use shard::Shard;
pub use simulation::{BLOCK_SAMPLES, SAMPLER_VERSION, Simulation};
pub use stream::{Stream, StreamId, World};
pub use vote_sampler::VoteSampler;
pub use whole::simulate;

#[doc(hidden)]
pub use self::{coarse::coarse_noise_errors, engine::MAX_OUTCOMES, noise::noise_approximation_errors};
