//! Recordings that a study needs.

use leakbound::membership::CanaryKind;
use leakbound::record::{DefenseEntry, LabelEntry, StudyOption};
use std::path::{Path, PathBuf};

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

/// The recording of a mechanism of label privacy, which the study trains where it is missing.
#[cfg_attr(not(feature = "torch"), expect(dead_code, reason = "read where models are trained"))]
pub struct PlannedLabels<'a> {
    /// The mechanism.
    pub entry: &'a LabelEntry,
    /// The options of the training.
    pub options: &'a [StudyOption],
    /// Where the recording lies, or will.
    pub path: PathBuf,
}

/// The folder of recordings next to a study: `fashion-recordings` for `fashion.toml`.
pub fn beside(file: &Path) -> PathBuf {
    let mut name = file.file_stem().unwrap_or_default().to_owned();
    name.push("-recordings");
    file.with_file_name(name)
}
