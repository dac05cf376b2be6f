//! Meta-classifiers: networks that infer a property of the training data of other networks from their weights.

mod dropout;
mod flat;
mod inference;
mod layout;
mod plan;
mod set;
mod targets;

#[cfg(test)]
mod tests;

pub use inference::{WeightInference, infer_by_weights};
pub use plan::{FlatPlan, MetaClassifier, MetaClassifierPlan, SetPlan};
pub use targets::{TargetNetworks, TargetPlan, split_networks, train_target_networks};
