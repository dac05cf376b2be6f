//! The contents of a recording of shadow models besides those that attacks look at.

use super::array_file::ArrayFile;
use super::budget::MemoryBudget;
use super::shadow_recording::ShadowRecording;
use crate::error::{Error, Result};
use crate::membership::MemoryLogits;
use ndarray::{Array1, Array4};
use std::path::Path;

/// Arrays of a recording that studies of defenses need. Other programs need not write them.
#[derive(Debug, Clone, Default)]
pub struct ShadowExtras {
    /// `test_accuracy` \[model\]: the share of the test images that a model classifies correctly.
    pub test_accuracy: Option<Vec<f64>>,
    /// `training_time_logits` \[model, sample, view, class\]: the answers without what a defense does at test time.
    pub training_time: Option<MemoryLogits>,
    /// `split_ai_logits` \[model, sample, view, class\]: the answers of SELENA's models that left a sample out.
    pub split_ai: Option<MemoryLogits>,
    /// `split_ai_neighbor_logits`: the same at the nearest neighbor of each sample, with the labels of the samples.
    pub split_ai_neighbors: Option<MemoryLogits>,
    /// `audit_index` \[sample\]: the training image behind a sample, or the one it replaced.
    pub audit_index: Option<Vec<u64>>,
}

/// Reads what an npz archive holds besides the answers of `recording`, which was read from it; nothing is read from
/// other files. The arrays may take `memory` together.
///
/// # Errors
/// [`Error::Io`] when the file cannot be read, [`Error::Input`] for arrays of another form or that do not fit the
/// answers.
pub fn read_shadow_extras(
    path: impl AsRef<Path>,
    recording: &ShadowRecording,
    memory: MemoryBudget,
) -> Result<ShadowExtras> {
    let path = path.as_ref();
    let pattern = path.to_string_lossy().contains(['*', '?', '[']) && !path.exists();
    if pattern || path.extension().is_none_or(|extension| extension != "npz") {
        return Ok(ShadowExtras::default());
    }
    let mut arrays = ArrayFile::open(path)?.within(memory);
    let (models, samples) = recording.members().dim();
    let wrong = |arrays: &ArrayFile, name: &str, found: usize, expected: usize| {
        Error::from(arrays.at(name, format!("length {found}"), format!("length {expected}")))
    };
    let mut extras = ShadowExtras::default();
    if arrays.has("test_accuracy") {
        let accuracy: Array1<f64> = arrays.numbers("test_accuracy")?;
        if accuracy.len() != models {
            return Err(wrong(&arrays, "test_accuracy", accuracy.len(), models));
        }
        arrays.check_each("test_accuracy", &accuracy, |share| !(0.0..=1.0).contains(&share), "a share")?;
        extras.test_accuracy = Some(accuracy.to_vec());
    }
    if arrays.has("audit_index") {
        let index: Array1<u64> = arrays.whole_numbers("audit_index")?;
        if index.len() != samples {
            return Err(wrong(&arrays, "audit_index", index.len(), samples));
        }
        extras.audit_index = Some(index.to_vec());
    }
    for (name, into) in [
        ("training_time_logits", &mut extras.training_time),
        ("split_ai_logits", &mut extras.split_ai),
        ("split_ai_neighbor_logits", &mut extras.split_ai_neighbors),
    ] {
        if let Some(labels) = recording.labels().filter(|_| arrays.has(name)) {
            let logits: Array4<f64> = arrays.numbers(name)?;
            let (members, labels) = (recording.members().to_owned(), labels.iter().copied().collect());
            let unfit = |error: Error| arrays.at(name, error.to_string(), "logits like `logits`");
            *into = Some(MemoryLogits::new(logits, labels, members).map_err(unfit)?);
        }
    }
    Ok(extras)
}
