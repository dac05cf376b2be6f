//! Encoders that learn without labels from views of their images, with a linear classifier on them.

mod classifier;
mod learning;
mod loss;
mod moco;
mod plan;
mod simclr;
mod views;

pub use moco::MoCo;
pub use plan::{ClassifierPlan, EncoderPlan};
pub use simclr::SimClr;

#[cfg(test)]
mod tests;
