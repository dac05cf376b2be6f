//! One file per command.

pub mod account;
pub mod added_point;
mod announcement;
pub mod audit_confusion;
pub mod audit_counts;
pub mod audit_mechanism;
pub mod audit_scores;
pub mod audit_stream;
pub mod audit_tokens;
pub mod audit_votes;
pub mod bench;
mod binned;
pub mod calibrate;
pub mod canaries;
mod checkpointing;
mod conclude;
#[cfg(feature = "torch")]
mod defense_training;
mod defense_tuning;
pub mod defenses;
pub mod exact;
pub mod generate;
mod interruptible;
#[cfg(feature = "torch")]
mod kept_networks;
pub mod label_dp;
pub mod label_mechanisms;
#[cfg(feature = "torch")]
mod label_training;
pub mod mechanisms;
pub mod membership;
pub mod merge;
#[cfg(feature = "torch")]
pub mod meta_classifier;
mod modeled;
#[cfg(not(feature = "torch"))]
mod no_defense_training;
#[cfg(not(feature = "torch"))]
mod no_label_training;
#[cfg(not(feature = "torch"))]
pub mod no_torch;
mod output_sets;
mod pace;
mod planned_recording;
pub mod property;
#[cfg(feature = "torch")]
mod recipe;
mod recorded_plan;
pub mod rerun;
pub mod schema;
pub mod self_check;
pub mod self_check_scores;
mod shadow_answers;
#[cfg(feature = "torch")]
mod shadow_figures;
pub mod simulate;
mod stream_state;
mod student_membership;
#[cfg(feature = "torch")]
mod study_training;
pub mod suite;
mod suite_plan;
mod text_membership;
#[cfg(feature = "torch")]
pub mod torch;
#[cfg(feature = "torch")]
mod torch_dpsgd;
#[cfg(feature = "torch")]
mod torch_dpsgd_runs;
#[cfg(feature = "torch")]
mod torch_label_dp;
#[cfg(feature = "torch")]
mod torch_meta_classifier;
#[cfg(feature = "torch")]
mod torch_pate_fm;
#[cfg(feature = "torch")]
mod torch_prompt_pate;
#[cfg(feature = "torch")]
mod torch_property;
#[cfg(feature = "torch")]
mod torch_shadow;
#[cfg(feature = "torch")]
mod torch_student;
#[cfg(feature = "torch")]
mod torch_teachers;
#[cfg(feature = "torch")]
mod torch_tokens;
#[cfg(feature = "torch")]
mod training_run;
pub mod verify;
mod vote_recording;
#[cfg(feature = "torch")]
mod weight_attacks;

#[cfg(not(feature = "torch"))]
use no_defense_training as defense_training;
#[cfg(not(feature = "torch"))]
use no_label_training as label_training;
#[cfg(not(feature = "torch"))]
pub use no_torch as torch;
