//! Monte Carlo of mechanisms in both worlds: sampled outcomes, counted. It knows no bound.
//!
//! A simulation is cut into fixed blocks, each with a random stream of its own, and the counts are whole numbers: the
//! result does not depend on the number of threads or on which of them works on what.

mod alias;
mod binomial;
mod engine;
mod exact_law;
#[cfg(test)]
mod goodness_of_fit;
mod multinomial;
mod noise;
mod noisy_argmax;
mod rao_blackwell;
mod simulation;
mod stream;
mod votes;

pub use engine::{MAX_OUTCOMES, Mechanism, simulate};
pub use exact_law::sample_laws;
pub use noisy_argmax::NoisyArgmax;
pub use rao_blackwell::{Estimate, RaoBlackwell, rao_blackwell};
pub use simulation::{BLOCK_SAMPLES, Simulation};
pub use stream::{Stream, StreamId, World};
