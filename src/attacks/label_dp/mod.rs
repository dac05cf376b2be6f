//! Labels that a model memorized: mechanisms of label privacy, and audits by deliberately wrong labels.

mod antipodes;
mod family;
mod memorization;
mod posterior;
mod prior_response;
mod simplex;
mod soft_labels;
mod valid;

pub use antipodes::{AntipodesInterval, antipodes_interval};
pub use family::LabelFamily;
pub use memorization::LabelCanaries;
pub use posterior::{agibi_log_likelihood, agibi_posterior, alibi_log_likelihood, alibi_posterior};
pub use prior_response::PriorResponse;
pub use simplex::simplex_projection;
pub use soft_labels::{agibi_labels, alibi_labels};
pub use valid::{LabelAudit, LabelThreshold, audit_labels};
