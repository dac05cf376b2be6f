//! Training of the models whose outputs are audited, with libtorch: many networks of one shape side by side.
//!
//! Everything random (initial weights, order of the images, partitions) comes from streams of this crate and not of
//! libtorch, so that a seed means the same on every device. On the CPU the networks are trained in groups of a fixed
//! size, each group on one thread: two runs give identical files on any number of threads of one machine. Other
//! processors, and CUDA, add up in another order.

mod adam;
mod answers;
mod augment;
mod block;
mod canaries;
mod checkpoint;
mod checks;
mod cnn;
mod context;
mod defense;
mod device;
mod dp_sgd;
mod early_stopping;
mod ensemble;
mod fixmatch;
mod groups;
mod guard;
mod in_context;
mod initial;
mod label_dp;
mod layers;
mod memory;
mod meta_classifier;
mod mlp;
mod moving_average;
mod neighbors;
mod network;
mod next_token;
mod optimizer;
mod pate_fm;
mod prompt_pate;
mod property;
mod rand_augment;
#[cfg(test)]
mod sample;
mod seed;
mod shadow;
mod student;
mod teachers;
mod train;
mod training_images;
mod wide_resnet;

pub use augment::Augmentation;
pub use checkpoint::TrainingCheckpoint;
pub use context::TrainingContext;
pub use defense::method::Shown;
pub use defense::{ClassifierPlan, Defense, Dfkd, DpSgd, EncoderPlan, Hamp, MoCo, RelaxLoss, Selena, SimClr};
pub use device::{DeviceChoice, TrainingDevice, cuda_library};
pub use dp_sgd::{
    AuditedModel, AuditedModelPlan, DpSgdBudget, DpSgdPlan, DpSgdSteps, GradientNoise, InitialWeights, PrivateModels,
    PrivateModelsPlan, RepeatedCanary, RepeatedRuns, RepeatedRunsPlan, RunCanaries, TrainingViews, train_audited_model,
    train_private_models, train_repeated_runs,
};
pub use early_stopping::EarlyStopping;
pub use fixmatch::{FixMatchPlan, Unlabeled};
pub use guard::TrainingProgress;
pub use in_context::{InContextAccuracy, InContextPlan, LessonShares};
pub use label_dp::{LabelDpModels, LabelDpPlan, LabelMechanism, train_label_dp};
pub use layers::Normalization;
pub use leakbound::membership::CanaryKind;
pub use meta_classifier::{
    FlatPlan, MetaClassifier, MetaClassifierPlan, SetPlan, TargetNetworks, TargetPlan, WeightInference,
    infer_by_weights, split_networks, train_target_networks,
};
pub use network::NetworkPlan;
pub use next_token::{
    Answering, ByteTransformerPlan, LanguageModels, LogitPrecision, MemberScores, NextTokenPlan, NextTokenTraining,
    NextTokens, PlantedTokens, Planting, SequencePlan, TextSequence, Texts, TokenLosses, TokenRecordingPlan,
    check_next_tokens, train_language_models,
};
pub use optimizer::{Optimizer, Schedule};
pub use pate_fm::{LabelGoal, PateFmModels, PateFmPlan, PateFmRun, VotesPlan, VotingPlan, train_pate_fm};
pub use prompt_pate::{PromptAdversary, PromptPatePlan, PromptVotes, ShownQueries, train_prompt_pate};
pub use property::{EnsembleImages, PropertyModels, PropertyPlan, train_for_property};
pub use shadow::{FurtherAnswers, Inclusion, NeighborAnswers, ShadowAnswers, ShadowPlan, Views, train_shadow_models};
pub use student::{Baselines, LabelCosts, LabelingPlan, StudentPlan, StudentRun, Students, train_student};
pub use teachers::{TeacherPlan, TeacherVotes, train_teachers};
pub use train::TrainingPlan;
