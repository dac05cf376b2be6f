//! Images as numpy arrays.

use super::set::{ImagePart, ImageSet, same_number};
use crate::error::Result;
use crate::record::array_file::ArrayFile;
use crate::record::budget::{MemoryBudget, Room};
use crate::record::fault::{fault, hinted, unreadable};
use crate::record::input_file::{Digested, InputFile, open_file};
use ndarray::{Array1, ArrayD, Axis, Ix3, Ix4};
use std::io::{Cursor, Read, Write};
use std::path::Path;

/// Names of pixels and labels, without an ending.
const fn names(part: ImagePart) -> [&'static str; 2] {
    match part {
        ImagePart::Train => ["x_train", "y_train"],
        ImagePart::Test => ["x_test", "y_test"],
    }
}

/// The files of one half, if the folder has them.
pub(super) fn pair(has: &dyn Fn(&str) -> bool, part: ImagePart) -> Option<[String; 2]> {
    let files = names(part).map(|name| format!("{name}.npy"));
    files.iter().all(|file| has(file)).then_some(files)
}

pub(super) fn read_archive(path: &Path, part: ImagePart, memory: MemoryBudget) -> Result<(ImageSet, Vec<InputFile>)> {
    let mut arrays = ArrayFile::open(path)?.within(memory);
    let [images, labels] = names(part);
    let set = read(&mut arrays, images, labels)?;
    Ok((set, vec![arrays.input().clone()]))
}

/// Two files are read as an archive of two arrays, by the reader that checks everything.
pub(super) fn read_pair(images: &Path, labels: &Path, memory: MemoryBudget) -> Result<(ImageSet, Vec<InputFile>)> {
    let mut room = Room::new(memory);
    let set = [images, labels].map(|path| -> Result<(ArrayFile, InputFile)> {
        let reader = open_file(path, "a numpy array (.npy)")?;
        let length = reader.length();
        // As it is read, in an archive, and as an array.
        let at = |found, expected| fault(path, "whole file", found, expected);
        room.take(length, 2, at)?;
        let mut bytes: Vec<u8> = room.vector(length, at)?;
        let mut source = Digested::new(reader);
        source.read_to_end(&mut bytes).map_err(|source| unreadable(path, source))?;
        let input = source.finish_unchanged(path)?;
        Ok((ArrayFile::from_bytes(path, archived(&bytes))?.within(memory), input))
    });
    let [images, labels] = set;
    let ((mut images, first), (mut labels, second)) = (images?, labels?);
    let pixels = pixels(&mut images, "array")?;
    let classes = classes(&mut labels, "array")?;
    same_number((&first.path, pixels.len_of(Axis(0))), (&second.path, classes.len()))?;
    Ok((ImageSet::new(pixels, classes, 1), vec![first, second]))
}

/// The bytes of an npy file as the only member of an archive.
fn archived(bytes: &[u8]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::with_capacity(bytes.len() + 256)));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    // Writing to memory does not fail; an archive without its member is rejected by the reader.
    let _ = writer.start_file("array.npy", options);
    let _ = writer.write_all(bytes);
    writer.finish().map(Cursor::into_inner).unwrap_or_default()
}

fn read(arrays: &mut ArrayFile, images: &str, labels: &str) -> Result<ImageSet> {
    let pixels = pixels(arrays, images)?;
    let classes = classes(arrays, labels)?;
    if pixels.len_of(Axis(0)) != classes.len() {
        let expected = format!("one for each of the {} images of `{images}`", pixels.len_of(Axis(0)));
        return Err(arrays.at(labels, format!("{} labels", classes.len()), expected).into());
    }
    Ok(ImageSet::new(pixels, classes, 1))
}

fn pixels(arrays: &mut ArrayFile, name: &str) -> Result<ndarray::Array4<u8>> {
    const EXPECTED: &str =
        "u8 of shape (image, row, column), (image, row, column, channel) or (image, channel, row, column)";
    let pixels: ArrayD<u8> = arrays.array(name).map_err(|error| match error {
        crate::Error::Input(error) if error.found.starts_with("dtype") => {
            hinted(*error, "brightness from 0 to 255 as numpy.uint8").into()
        }
        other => other,
    })?;
    let shape = pixels.shape().to_vec();
    let four = match shape.len() {
        3 => pixels.into_dimensionality::<Ix3>().map(|images| images.insert_axis(Axis(1))),
        4 => pixels.into_dimensionality::<Ix4>().map(|images| {
            if matches!(shape[3], 1 | 3) && !matches!(shape[1], 1 | 3) {
                images.permuted_axes([0, 3, 1, 2]).as_standard_layout().into_owned()
            } else {
                images
            }
        }),
        _ => return Err(arrays.at(name, format!("shape {shape:?}"), EXPECTED).into()),
    };
    // Column-major arrays are put in order; the number of axes was matched above.
    four.map(|images| images.as_standard_layout().into_owned())
        .map_err(|_| arrays.at(name, format!("shape {shape:?}"), EXPECTED).into())
}

fn classes(arrays: &mut ArrayFile, name: &str) -> Result<Array1<u8>> {
    // CIFAR's labels come as a column in some copies.
    let classes: ArrayD<u64> = arrays.whole_numbers(name)?;
    arrays.check_each(name, &classes, |class| class > 255, "a class from 0 to 255")?;
    Ok(classes.iter().map(|&class| class as u8).collect())
}
