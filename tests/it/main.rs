//! The integration tests, in one program: the library is linked once, not once for each file.

#![allow(missing_docs)]

mod additions;
mod arrays;
mod audit_mechanism;
mod audit_stream;
mod checkpoints;
mod cli_account;
mod cli_calibrate;
mod cli_canaries;
mod cli_errors;
mod cli_label_mechanisms;
mod cli_membership;
mod cli_membership_answers;
mod cli_membership_compare;
mod cli_membership_defenses;
mod cli_membership_text;
mod cli_output;
mod cli_scores;
mod cli_tokens;
mod cli_torch;
#[cfg(feature = "torch")]
mod cli_torch_contrastive;
#[cfg(feature = "torch")]
mod cli_torch_pate_fm;
#[cfg(feature = "torch")]
mod cli_torch_private;
#[cfg(feature = "torch")]
mod cli_torch_prompt_pate;
#[cfg(feature = "torch")]
mod cli_torch_student;
#[cfg(feature = "torch")]
mod cli_torch_tokens;
mod cli_verify;
mod cli_votes;
mod congruence;
mod counts_together;
mod damaged_archives;
mod desk;
mod determinism;
mod documentation;
mod duplicate_keys;
mod experiments;
mod function_size;
mod help;
mod hostile;
mod hostile_inputs;
mod json;
mod k_cut;
mod layering;
mod many_outcomes;
mod mechanisms;
mod membership_defenses;
mod membership_peers;
mod named_cases;
mod names;
mod nothing_lost;
mod outputs_of_programs;
mod packages;
mod peers;
mod plain_words;
mod public_names;
mod real_outputs;
mod record_data;
mod record_errors;
mod reference;
mod report_pages;
mod rerun;
mod roc;
mod rounding;
mod scenarios;
mod self_check_command;
mod simulate_command;
mod simulated_distributions;
mod source;
mod studies;
mod studies_of_outputs;
mod surfaces;
mod verdicts;
mod whole_answer;
mod words;

/// The folder of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
