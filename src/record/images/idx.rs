//! The idx format of MNIST: big-endian sizes, then bytes (LeCun, Cortes and Burges 1998).

use super::{ImagePart, ImageSet, MAX_BYTES, end, exactly, reader, same_number};
use crate::error::Result;
use crate::record::fault::{fault, hinted};
use crate::record::input_file::InputFile;
use ndarray::{Array1, Array4};
use std::path::Path;

/// The files of one half among the names of a folder.
pub(super) fn pair(names: &[String], part: ImagePart) -> Option<(&String, &String)> {
    let marks: &[&str] = match part {
        ImagePart::Train => &["train"],
        ImagePart::Test => &["t10k", "test"],
    };
    // Some copies have a dot where the original has a dash.
    let find = |kind: &str| {
        names.iter().find(|name| {
            let name = name.replace('.', "-");
            marks.iter().any(|mark| {
                [String::new(), "-gz".into()].iter().any(|end| name.ends_with(&format!("{mark}-{kind}-ubyte{end}")))
            })
        })
    };
    Some((find("images-idx3")?, find("labels-idx1")?))
}

pub(super) fn read(images: &Path, labels: &Path) -> Result<(ImageSet, Vec<InputFile>)> {
    let (sizes, pixels) = array(images, 3)?;
    let (_, classes) = array(labels, 1)?;
    same_number((images, sizes[0]), (labels, classes.len()))?;
    let shape = (sizes[0], 1, sizes[1], sizes[2]);
    // The sizes were multiplied already.
    let pixels = Array4::from_shape_vec(shape, pixels).unwrap_or_else(|_| Array4::zeros(shape));
    let inputs = vec![InputFile::of_file(images)?, InputFile::of_file(labels)?];
    Ok((ImageSet::new(pixels, Array1::from(classes), 1), inputs))
}

/// Sizes and bytes of one file with so many axes.
fn array(path: &Path, axes: usize) -> Result<(Vec<usize>, Vec<u8>)> {
    let mut reader = reader(path)?;
    let magic = exactly(path, &mut reader, 4, "magic number")?;
    let expected = [0, 0, 8, axes as u8];
    if magic != expected {
        let error = fault(path, "magic number", hexadecimal(&magic), hexadecimal(&expected));
        let hint = match axes {
            1 => "labels are bytes with one axis",
            _ => "images are bytes with the axes image, row and column",
        };
        return Err(hinted(error, hint).into());
    }
    let sizes = exactly(path, &mut reader, 4 * axes as u64, "sizes")?;
    let sizes: Vec<u64> =
        sizes.chunks_exact(4).map(|word| word.iter().fold(0, |size, &byte| size << 8 | u64::from(byte))).collect();
    let bytes = sizes.iter().try_fold(1u64, |product, &size| product.checked_mul(size));
    match bytes.filter(|bytes| (1..=MAX_BYTES).contains(bytes)) {
        Some(bytes) => {
            let data = exactly(path, &mut reader, bytes, "data")?;
            end(path, &mut reader)?;
            Ok((sizes.iter().map(|&size| size as usize).collect(), data))
        }
        None => Err(fault(path, "sizes", format!("{sizes:?}"), "sizes of at least 1 and at most 4 GiB of data").into()),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}
