//! Labeled images in the files in which the well-known sets are handed out.

mod cifar;
mod idx;
mod numpy;

use super::budget::{MemoryBudget, Room};
use super::fault::{fault, hinted, unreadable};
use super::input_file::{Digested, InputFile, InputReader};
use crate::error::{Result, one_line};
use flate2::read::MultiGzDecoder;
use ndarray::{Array1, Array4};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// Images and their classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageSet {
    /// Brightness from 0 to 255, \[image, channel, row, column\]; at least one image of at least one pixel.
    pub pixels: Array4<u8>,
    /// Class of every image, counted from 0.
    pub labels: Array1<u8>,
    /// Number of classes C: one more than the largest label, and what the format has if that is more.
    pub classes: usize,
}

impl ImageSet {
    /// Channels, rows and columns of an image.
    #[must_use]
    pub fn shape(&self) -> [usize; 3] {
        let (_, channels, rows, columns) = self.pixels.dim();
        [channels, rows, columns]
    }

    /// Number of images.
    #[must_use]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is none; no reader gives such a set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The classes that occur or that the format has.
    fn new(pixels: Array4<u8>, labels: Array1<u8>, classes: usize) -> Self {
        let largest = labels.iter().copied().max().map_or(0, usize::from);
        Self { pixels, labels, classes: classes.max(largest + 1) }
    }
}

/// One half of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImagePart {
    /// The images to train on.
    Train,
    /// The others.
    Test,
}

/// Reads one half of a data set.
///
/// A folder holds one of
/// - idx files (MNIST, Fashion-MNIST, EMNIST): `...train-images-idx3-ubyte` and `...train-labels-idx1-ubyte`, for the
///   test half `...t10k-...` or `...test-...`, each also with `.gz`; EMNIST stores rows as columns, and they are left so;
/// - the binary version of CIFAR-10 (`data_batch_1.bin` to `data_batch_5.bin`, `test_batch.bin`) or CIFAR-100
///   (`train.bin`, `test.bin`; fine labels);
/// - `x_train.npy`, `y_train.npy`, `x_test.npy`, `y_test.npy`.
///
/// A file is an npz with these four arrays: pixels u8 \[image, row, column\], \[image, row, column, channel\] as Keras
/// has them with 1 or 3 channels, or \[image, channel, row, column\]; labels of any integer type below 256. Images and labels may take `memory`
/// together.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when a file cannot be read, [`Error::Input`](crate::Error::Input) with the place for
/// a wrong magic number, sizes that disagree, files that are cut off or longer than they say, and folders that hold
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
        format!("{} files, none of them images that are known", names.len()),
        "idx files such as train-images-idx3-ubyte.gz, CIFAR's data_batch_1.bin or train.bin, or x_train.npy",
    );
    Err(hinted(error, "`cargo xtask data fashion-mnist` prints a folder that holds Fashion-MNIST").into())
}

/// The bytes of a file, unpacked if its name ends in `.gz`.
fn unpacked<'a>(path: &Path, source: &'a mut Digested<InputReader>) -> Box<dyn Read + 'a> {
    let file = BufReader::new(source);
    let packed = path.extension().is_some_and(|extension| extension == "gz");
    if packed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) }
}

/// Exactly so many bytes, or an error that says how many there were. Memory is taken as the bytes come.
fn exactly(path: &Path, reader: &mut dyn Read, bytes: u64, what: &str) -> Result<Vec<u8>> {
    let mut data = Vec::new();
    reader.take(bytes).read_to_end(&mut data).map_err(|source| unreadable(path, source))?;
    if data.len() as u64 == bytes {
        return Ok(data);
    }
    let error = fault(path, what, format!("{} bytes", data.len()), format!("{bytes} bytes"));
    Err(hinted(error, "the file is cut off; fetch it again").into())
}

/// Nothing may follow what was announced.
fn end(path: &Path, reader: &mut dyn Read) -> Result<()> {
    let mut byte = [0];
    match reader.read(&mut byte) {
        Ok(0) => Ok(()),
        Ok(_) => Err(fault(path, "end of the file", "more data", "nothing after the last image").into()),
        Err(source) => Err(unreadable(path, source)),
    }
}

/// Images and labels must be as many.
fn same_number(images: (&Path, usize), labels: (&Path, usize)) -> Result<()> {
    if images.1 == labels.1 {
        return Ok(());
    }
    let found = format!("{} labels", labels.1);
    Err(fault(
        labels.0,
        "whole file",
        found,
        format!("one for each of the {} images of {}", images.1, one_line(&images.0.to_string_lossy())),
    )
    .into())
}

#[cfg(test)]
mod tests;
