//! One file per command.

pub mod added_point;
pub mod audit_confusion;
pub mod audit_counts;
pub mod audit_votes;
pub mod composed;
pub mod exact;
pub mod generate;
pub mod upper;
pub mod vote_recording;
pub mod vote_warnings;
