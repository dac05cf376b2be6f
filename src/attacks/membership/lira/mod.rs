//! LiRA, the likelihood ratio attack: does this answer come from a model that saw the sample, or from one that did not?

mod convention;
mod engine;
mod estimator;
mod multivariate;
mod plan;
mod real;
mod sample;
mod side;
mod side_by_side;
mod sums;
#[cfg(test)]
mod tests;
mod tile;

pub use engine::lira;
pub use plan::{Guesses, LiraMode, LiraPlan, LiraVariance, LiraVariant, LiraViews, Victims};
