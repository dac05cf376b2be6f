//! Recorded answers of shadow models: logits or scores, who was trained on what, and labels.

use super::budget::{MemoryBudget, Room};
use super::input_file::InputReader;
use super::shadow_assembled::assembled;
use super::shadow_paths;
use super::shadow_recording::{ShadowArrays, ShadowRecording};
use crate::error::Result;
use std::path::{Path, PathBuf};

/// Reads recorded answers of shadow models.
///
/// Each path is one of
///
/// - an archive (.npz) with `logits` \[model, sample, view, class\] and `labels` \[sample\], or `scores` \[model,
///   sample, view\]; and `keep` \[model, sample\]. The axis of the views may be missing. In addition to them or alone,
///   `embeddings` \[model, sample, view, dimension\] of an encoder, of at least two views; in addition to logits,
///   `neighbor_logits` \[model, sample, view, class\], the answers at the nearest neighbor of each sample;
/// - a folder with the same arrays as `logits.npy`, `labels.npy`, `scores.npy`, `keep.npy`, and so on;
/// - a folder of `mi_lira_2021`: folders `experiment_I_of_N` with `keep.npy` (sample), `logits/EPOCH.npy` (sample, 1,
///   view, class) or `scores/EPOCH.npy` (sample, view), the last epoch of several, next to `y_train.npy`;
/// - a table (.csv) with the columns `model,sample,view,score,member`, `view` optional, one row for each triple;
/// - a pattern such as `shadow_*.npz` if there is no file of that name.
///
/// What is unpacked into memory, and the truth, may take `memory` together. Several paths are taken as more models on
/// the same samples. Floats have 16, 32 or 64 bits; arrays may be big-endian or in Fortran order.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when a file cannot be read and [`Error::Input`](crate::Error::Input), naming file,
/// array and index, when arrays are missing, are cut off, or disagree.
pub fn read_shadow_models(paths: &[PathBuf], memory: MemoryBudget) -> Result<ShadowRecording> {
    let sources = shadow_paths::sources(paths)?;
    let mut room = Room::new(memory);
    let found = sources.into_iter().map(|source| shadow_paths::arrays(source, &mut room));
    let found = found.collect::<Result<Vec<_>>>()?;
    assembled(found, &mut room)
}

/// Reads an archive that is in memory; `name` is the file's name in messages.
///
/// # Errors
/// As [`read_shadow_models`].
pub fn shadow_models_from_bytes(name: impl AsRef<Path>, bytes: Vec<u8>) -> Result<ShadowRecording> {
    let mut room = Room::new(MemoryBudget::of_machine());
    let found = shadow_paths::archive(name.as_ref(), &InputReader::of_bytes(bytes), &mut room)?;
    assembled(vec![found], &mut room)
}

/// Reads arrays in separate files.
///
/// # Errors
/// As [`read_shadow_models`].
pub fn read_shadow_arrays(arrays: &ShadowArrays, memory: MemoryBudget) -> Result<ShadowRecording> {
    let mut room = Room::new(memory);
    let found = shadow_paths::separate(arrays, &mut room)?;
    assembled(vec![found], &mut room)
}
