//! The integration tests, in one program: the library is linked once, not once for each file.

#![allow(missing_docs)]

#[cfg(feature = "cli")]
mod audit_stream;
mod checkpoints;
#[cfg(feature = "cli")]
mod cli_account;
#[cfg(feature = "cli")]
mod cli_errors;
#[cfg(feature = "cli")]
mod cli_membership;
#[cfg(feature = "cli")]
mod cli_membership_compare;
#[cfg(feature = "cli")]
mod cli_output;
mod cli_scores;
mod cli_torch;
#[cfg(feature = "torch")]
mod cli_torch_private;
#[cfg(feature = "torch")]
mod cli_torch_student;
#[cfg(feature = "cli")]
mod cli_verify;
#[cfg(feature = "cli")]
mod cli_votes;
#[cfg(feature = "cli")]
mod counts_together;
mod coverage;
mod damaged_archives;
mod determinism;
mod documentation;
mod exact_frequencies;
mod false_claims;
mod function_size;
mod hostile;
#[cfg(feature = "cli")]
mod hostile_inputs;
mod k_cut;
mod ladder;
mod layering;
mod many_outcomes;
mod mechanisms;
mod membership_peers;
mod nothing_lost;
mod peers;
mod peers_canaries;
#[cfg(feature = "cli")]
mod real_outputs;
mod record_data;
mod record_errors;
mod record_properties;
mod reference;
#[cfg(feature = "cli")]
mod registry;
#[cfg(feature = "cli")]
mod report_pages;
mod rerun;
mod roc;
mod rounding;
mod scenarios;
#[cfg(feature = "cli")]
mod self_check_command;
#[cfg(feature = "cli")]
mod simulate_command;
mod simulated_laws;
mod source;
#[cfg(feature = "cli")]
mod studies;
#[cfg(feature = "cli")]
mod surfaces;
#[cfg(feature = "cli")]
mod whole_answer;
