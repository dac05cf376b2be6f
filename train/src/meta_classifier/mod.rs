//! Meta-classifiers: networks that infer a property of the training data of other networks from their weights.

mod dropout;
mod flat;
mod inference;
mod layout;
mod learning;
mod plan;
mod set;
mod split;
mod standard;
mod target_plan;
mod targets;
#[cfg(test)]
mod tests;

pub use inference::{WeightInference, infer_by_weights};
pub use plan::{FlatPlan, MetaClassifier, MetaClassifierPlan, SetPlan};
pub use split::split_networks;
pub use target_plan::TargetPlan;
pub use targets::{TargetNetworks, train_target_networks};
