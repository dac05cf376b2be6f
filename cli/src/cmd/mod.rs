//! One file per command.

pub mod account;
mod added_point;
mod announcement;
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
mod compared;
mod conclude;
mod defense_tuning;
pub mod defenses;
pub mod exact;
pub mod generate;
mod interruptible;
pub mod label_dp;
pub mod mechanisms;
pub mod membership;
#[cfg(not(feature = "torch"))]
pub mod no_torch;
mod output_sets;
mod pace;
mod planned_recording;
pub mod property;
mod recorded_plan;
pub mod rerun;
pub mod schema;
pub mod self_check;
mod shadow_answers;
pub mod simulate;
mod stream_state;
mod student_membership;
pub mod suite;
mod suite_plan;
mod text_membership;
#[cfg(feature = "torch")]
pub mod torch;
pub mod verify;
mod vote_recording;

#[cfg(not(feature = "torch"))]
pub use no_torch as torch;
