//! Images with their classes, and what their readers share.

use crate::error::{Result, one_line};
use crate::record::fault::{fault, hinted, unreadable};
use crate::record::input_file::{Digested, InputReader};
use flate2::read::MultiGzDecoder;
use ndarray::{Array1, Array4};
use std::io::{BufReader, Read};
use std::path::Path;

/// Images and their classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageSet {
    /// Brightness from 0 to 255, \[image, channel, row, column\]; at least one image of at least one pixel.
    pub pixels: Array4<u8>,
    /// Class of every image, counted from 0.
    pub labels: Array1<u8>,
    /// Number of classes C: one more than the largest label, or the number of the format if that is larger.
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

    /// Whether there are no images; no reader returns such a set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The classes that occur or that the format has.
    pub(super) fn new(pixels: Array4<u8>, labels: Array1<u8>, classes: usize) -> Self {
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

/// The bytes of a file, unpacked if its name ends in `.gz`.
pub(super) fn unpacked<'a>(path: &Path, source: &'a mut Digested<InputReader>) -> Box<dyn Read + 'a> {
    let file = BufReader::new(source);
    let packed = path.extension().is_some_and(|extension| extension == "gz");
    if packed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) }
}

/// Exactly this many bytes, or an error that states how many there were. Memory is taken as the bytes come.
pub(super) fn exactly(path: &Path, reader: &mut dyn Read, bytes: u64, what: &str) -> Result<Vec<u8>> {
    let mut data = Vec::new();
    reader.take(bytes).read_to_end(&mut data).map_err(|source| unreadable(path, source))?;
    if data.len() as u64 == bytes {
        return Ok(data);
    }
    let error = fault(path, what, format!("{} bytes", data.len()), format!("{bytes} bytes"));
    Err(hinted(error, "the file is cut off; fetch it again").into())
}

/// Nothing may follow the announced content.
pub(super) fn end(path: &Path, reader: &mut dyn Read) -> Result<()> {
    let mut byte = [0];
    match reader.read(&mut byte) {
        Ok(0) => Ok(()),
        Ok(_) => Err(fault(path, "end of the file", "more data", "nothing after the last image").into()),
        Err(source) => Err(unreadable(path, source)),
    }
}

/// Images and labels must have the same number.
pub(super) fn same_number(images: (&Path, usize), labels: (&Path, usize)) -> Result<()> {
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
