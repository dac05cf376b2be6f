//! A recording that a study of defenses needs.

use leakbound::membership::CanaryKind;
use leakbound::record::{DefenseEntry, StudyOption};
use std::path::PathBuf;

/// A recording that the study trains where it is missing.
pub struct Planned<'a> {
    /// The defense.
    pub entry: &'a DefenseEntry,
    /// What is audited.
    pub canaries: CanaryKind,
    /// The options of this defense alone.
    pub options: Vec<StudyOption>,
    /// Where the recording lies, or will.
    pub path: PathBuf,
}
