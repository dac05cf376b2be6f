//! Differentially private training by noisy gradients.

mod accounting;
mod audited;
mod gradient_canaries;
mod models;
mod per_sample;
mod plan;
mod repeated;
mod train;

pub use accounting::DpSgdSteps;
pub use audited::{AuditedModel, AuditedModelPlan, RunCanaries, train_audited_model};
pub use models::{PrivateModels, PrivateModelsPlan, train_private_models};
pub use plan::{DpSgdBudget, DpSgdPlan, GradientNoise, TrainingViews};
pub use repeated::{InitialWeights, RepeatedCanary, RepeatedRuns, RepeatedRunsPlan, train_repeated_runs};
pub(crate) use train::{PrivateLesson, TrainingStreams, train_privately};
