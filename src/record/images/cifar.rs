//! The binary versions of CIFAR-10 and CIFAR-100: records of labels and 3 x 32 x 32 pixels (Krizhevsky 2009).

use super::set::{ImagePart, ImageSet};
use crate::error::Result;
use crate::record::budget::Room;
use crate::record::fault::{fault, hinted, unreadable};
use crate::record::input_file::{Digested, InputFile, open_file};
use ndarray::{Array1, Array4};
use std::io::Read;
use std::path::PathBuf;

const PIXELS: usize = 3 * 32 * 32;

/// The files of one half, if the folder has them.
pub(super) fn files(has: &dyn Fn(&str) -> bool, part: ImagePart) -> Option<Vec<String>> {
    let ten: Vec<String> = match part {
        ImagePart::Train => (1..=5).map(|number| format!("data_batch_{number}.bin")).collect(),
        ImagePart::Test => vec!["test_batch.bin".into()],
    };
    let hundred: Vec<String> = match part {
        ImagePart::Train => vec!["train.bin".into()],
        ImagePart::Test => vec!["test.bin".into()],
    };
    // The first batch announces the others, whose absence is then an error.
    [ten, hundred].into_iter().find(|files| has(&files[0]))
}

pub(super) fn read(files: &[PathBuf], room: &mut Room) -> Result<(ImageSet, Vec<InputFile>)> {
    let hundred = files[0].file_name().is_some_and(|name| name == "train.bin" || name == "test.bin");
    // CIFAR-100 has the coarse label before the fine one.
    let (labels_each, classes) = if hundred { (2, 100) } else { (1, 10) };
    let record = labels_each + PIXELS;
    let (mut labels, mut pixels, mut inputs) = (Vec::new(), Vec::new(), Vec::new());
    for path in files {
        let mut data = Vec::new();
        let mut source = Digested::new(open_file(path, "a file of CIFAR records")?);
        let at = |found, expected| fault(path, "whole file", found, expected);
        // Once as they are read, and once in the order of the set.
        room.take(source.get_ref().length(), 2, at)?;
        source.read_to_end(&mut data).map_err(|source| unreadable(path, source))?;
        if data.is_empty() || data.len() % record != 0 {
            let error =
                fault(path, "whole file", format!("{} bytes", data.len()), format!("records of {record} bytes"));
            return Err(hinted(error, "the file is cut off or of the other CIFAR; fetch it again").into());
        }
        for (index, image) in data.chunks_exact(record).enumerate() {
            let label = image[labels_each - 1];
            if label >= classes {
                let place = format!("record {index}");
                return Err(fault(path, place, format!("label {label}"), format!("a label below {classes}")).into());
            }
            labels.push(label);
            pixels.extend_from_slice(&image[labels_each..]);
        }
        inputs.push(source.finish_unchanged(path)?);
    }
    let shape = (labels.len(), 3, 32, 32);
    // Every record added one label and 3072 pixels.
    let pixels = Array4::from_shape_vec(shape, pixels).unwrap_or_else(|_| Array4::zeros(shape));
    Ok((ImageSet::new(pixels, Array1::from(labels), usize::from(classes)), inputs))
}
