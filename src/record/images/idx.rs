//! The idx format of MNIST: big-endian sizes, then bytes (LeCun, Cortes and Burges 1998).

use super::set::{ImagePart, ImageSet, end, exactly, same_number, unpacked};
use crate::error::Result;
use crate::record::budget::Room;
use crate::record::fault::{fault, hinted};
use crate::record::input_file::{Digested, InputFile, open};
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

pub(super) fn read(images: &Path, labels: &Path, room: &mut Room) -> Result<(ImageSet, Vec<InputFile>)> {
    let (sizes, pixels, first) = array(images, 3, room)?;
    let (_, classes, second) = array(labels, 1, room)?;
    same_number((images, sizes[0]), (labels, classes.len()))?;
    let shape = (sizes[0], 1, sizes[1], sizes[2]);
    // The sizes were multiplied already.
    let pixels = Array4::from_shape_vec(shape, pixels).unwrap_or_else(|_| Array4::zeros(shape));
    Ok((ImageSet::new(pixels, Array1::from(classes), 1), vec![first, second]))
}

/// Sizes and bytes of one file with this number of axes, and the file.
fn array(path: &Path, axes: usize, room: &mut Room) -> Result<(Vec<usize>, Vec<u8>, InputFile)> {
    let mut source = Digested::new(open(path)?);
    let mut reader = unpacked(path, &mut source);
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
    let Some(bytes) = bytes.filter(|&bytes| bytes > 0) else {
        return Err(fault(path, "sizes", format!("{sizes:?}"), "sizes of at least 1, of fewer than 2^64 bytes").into());
    };
    room.take(bytes, 1, |found, expected| fault(path, "sizes", format!("{sizes:?}, {found}"), expected))?;
    let data = exactly(path, &mut reader, bytes, "data")?;
    end(path, &mut reader)?;
    drop(reader);
    Ok((sizes.iter().map(|&size| size as usize).collect(), data, source.finish_unchanged(path)?))
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}
