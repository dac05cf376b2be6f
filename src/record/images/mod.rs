//! Labeled images in the files in which the well-known sets are distributed.

mod cifar;
mod idx;
mod numpy;
mod set;

pub use set::{ImagePart, ImageSet};

use super::budget::{MemoryBudget, Room};
use super::fault::{fault, hinted, unreadable};
use super::input_file::InputFile;
use crate::error::Result;
use std::path::{Path, PathBuf};

/// Reads one half of a data set.
///
/// A folder holds one of
/// - idx files (MNIST, Fashion-MNIST, EMNIST): `...train-images-idx3-ubyte` and `...train-labels-idx1-ubyte`, for the
///   test half `...t10k-...` or `...test-...`, each also with `.gz`; EMNIST stores rows as columns, which is left
///   unchanged;
/// - the binary version of CIFAR-10 (`data_batch_1.bin` to `data_batch_5.bin`, `test_batch.bin`) or CIFAR-100
///   (`train.bin`, `test.bin`; fine labels);
/// - `x_train.npy`, `y_train.npy`, `x_test.npy`, `y_test.npy`.
///
/// A file is an npz with these four arrays: pixels u8 \[image, row, column\], \[image, row, column, channel\] as Keras
/// has them with 1 or 3 channels, or \[image, channel, row, column\]; labels of any integer type below 256. Images and
/// labels may take `memory` together.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when a file cannot be read, [`Error::Input`](crate::Error::Input) with the place for
/// a wrong magic number, sizes that disagree, files that are cut off or longer than they declare, and folders that hold
/// none of these.
pub fn read_images(
    path: impl AsRef<Path>,
    part: ImagePart,
    memory: MemoryBudget,
) -> Result<(ImageSet, Vec<InputFile>)> {
    let path = path.as_ref();
    let room = &mut Room::new(memory);
    let metadata = std::fs::metadata(path).map_err(|source| unreadable(path, source))?;
    if !metadata.is_dir() {
        return numpy::read_archive(path, part, memory);
    }
    let mut names: Vec<String> = std::fs::read_dir(path)
        .map_err(|source| unreadable(path, source))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    let has = |name: &str| names.iter().any(|other| other == name);
    if let Some((images, labels)) = idx::pair(&names, part) {
        return idx::read(&path.join(images), &path.join(labels), room);
    }
    if let Some(files) = cifar::files(&has, part) {
        return cifar::read(&files.iter().map(|name| path.join(name)).collect::<Vec<PathBuf>>(), room);
    }
    if let Some([images, labels]) = numpy::pair(&has, part) {
        return numpy::read_pair(&path.join(images), &path.join(labels), memory);
    }
    let error = fault(
        path,
        "whole folder",
        format!("{} files, none of them an image in a known format", names.len()),
        "idx files such as train-images-idx3-ubyte.gz, CIFAR's data_batch_1.bin or train.bin, or x_train.npy",
    );
    Err(hinted(error, "`cargo xtask data fashion-mnist` prints a folder that holds Fashion-MNIST").into())
}

#[cfg(test)]
mod tests;
