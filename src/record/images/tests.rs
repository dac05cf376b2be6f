//! Images of every format, and what is said of broken ones.

use super::super::test_arrays::npz;
use super::*;
use flate2::{Compression, write::GzEncoder};
use ndarray::{Array, Array1, Array3, array};
use ndarray_npy::WriteNpyExt;
use std::fs;
use std::io::Write;
use tempfile::{TempDir, tempdir};

fn idx(sizes: &[u32], data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, sizes.len() as u8];
    bytes.extend(sizes.iter().flat_map(|size| size.to_be_bytes()));
    bytes.extend_from_slice(data);
    bytes
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn folder(files: &[(&str, Vec<u8>)]) -> TempDir {
    let folder = tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

/// The error without the folder's name.
fn message(folder: &TempDir, part: ImagePart) -> String {
    let error = read_images(folder.path(), part, MemoryBudget::of_machine()).unwrap_err().to_string();
    assert!(!error.contains('\n'), "{error}");
    error.replace(&format!("{}/", folder.path().display()), "").replace(&folder.path().display().to_string(), ".")
}

/// Three images of 2 x 2 pixels.
fn pixels() -> Vec<u8> {
    (0..12).collect()
}

#[test]
fn idx_pairs_are_read_packed_or_not_and_by_the_names_of_all_three_sets() {
    let images = idx(&[3, 2, 2], &pixels());
    let labels = idx(&[3], &[7, 0, 1]);
    let set = ImageSet {
        pixels: Array::from_shape_vec((3, 1, 2, 2), pixels()).unwrap(),
        labels: array![7, 0, 1],
        classes: 8,
    };
    let cases = [
        (ImagePart::Train, "train-images-idx3-ubyte.gz", gz(&images), "train-labels-idx1-ubyte.gz", gz(&labels)),
        (ImagePart::Test, "t10k-images.idx3-ubyte", images.clone(), "t10k-labels.idx1-ubyte", labels.clone()),
        (
            ImagePart::Test,
            "emnist-letters-test-images-idx3-ubyte",
            images,
            "emnist-letters-test-labels-idx1-ubyte",
            labels,
        ),
    ];
    for (part, images, first, labels, second) in cases {
        let (found, inputs) =
            read_images(folder(&[(images, first), (labels, second)]).path(), part, MemoryBudget::of_machine()).unwrap();
        assert_eq!((found, inputs.len()), (set.clone(), 2), "{images}");
    }
}

#[test]
fn broken_idx_files_are_rejected_with_their_place() {
    let good = idx(&[3], &[7, 0, 1]);
    let with = |images: Vec<u8>, labels: Vec<u8>| {
        let folder = folder(&[("train-images-idx3-ubyte", images), ("train-labels-idx1-ubyte", labels)]);
        message(&folder, ImagePart::Train)
    };
    let images = || idx(&[3, 2, 2], &pixels());
    let messages = [
        with(good.clone(), good.clone()),
        with(images()[..20].to_vec(), good.clone()),
        with(images()[..2].to_vec(), good.clone()),
        with([images(), vec![0]].concat(), good.clone()),
        with(idx(&[u32::MAX, u32::MAX, u32::MAX], &[]), good.clone()),
        with(idx(&[0, 2, 2], &[]), good),
        with(images(), idx(&[2], &[0, 1])),
    ];
    insta::assert_snapshot!(messages.join("\n"), @r"
    train-images-idx3-ubyte: magic number: found 0x00000801, expected 0x00000803; hint: images are bytes with the axes image, row and column
    train-images-idx3-ubyte: data: found 4 bytes, expected 12 bytes; hint: the file is cut off; fetch it again
    train-images-idx3-ubyte: magic number: found 2 bytes, expected 4 bytes; hint: the file is cut off; fetch it again
    train-images-idx3-ubyte: end of the file: found more data, expected nothing after the last image
    train-images-idx3-ubyte: sizes: found [4294967295, 4294967295, 4294967295], expected sizes of at least 1, of fewer than 2^64 bytes
    train-images-idx3-ubyte: sizes: found [0, 2, 2], expected sizes of at least 1, of fewer than 2^64 bytes
    train-labels-idx1-ubyte: whole file: found 2 labels, expected one for each of the 3 images of train-images-idx3-ubyte
    ");
    let cut =
        folder(&[("train-images-idx3-ubyte.gz", gz(&images())[..20].to_vec()), ("train-labels-idx1-ubyte", vec![])]);
    assert!(message(&cut, ImagePart::Train).starts_with("train-images-idx3-ubyte.gz: cannot read: "));
}

#[test]
fn cifar_records_are_read_and_checked() {
    let ten = |label: u8| [vec![label], vec![9; 3072]].concat();
    let mut files: Vec<(String, Vec<u8>)> =
        (1..=5).map(|number| (format!("data_batch_{number}.bin"), ten(number))).collect();
    let named: Vec<(&str, Vec<u8>)> = files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    let (set, inputs) = read_images(folder(&named).path(), ImagePart::Train, MemoryBudget::of_machine()).unwrap();
    assert_eq!(
        (set.labels.to_vec(), set.shape(), set.classes, inputs.len()),
        (vec![1, 2, 3, 4, 5], [3, 32, 32], 10, 5)
    );
    files[1].1 = ten(10);
    files[0].1.pop();
    let batch = |file: usize| folder(&[("test_batch.bin", files[file].1.clone())]);
    let hundred = [vec![3, 99], vec![1; 3072], vec![4, 0], vec![2; 3072]].concat();
    let (set, _) =
        read_images(folder(&[("test.bin", hundred)]).path(), ImagePart::Test, MemoryBudget::of_machine()).unwrap();
    assert_eq!((set.labels.to_vec(), set.classes, set.pixels[[1, 2, 31, 31]]), (vec![99, 0], 100, 2));
    let messages = [message(&batch(0), ImagePart::Test), message(&batch(1), ImagePart::Test)];
    insta::assert_snapshot!(messages.join("\n"), @r"
    test_batch.bin: whole file: found 3072 bytes, expected records of 3073 bytes; hint: the file is cut off or of the other CIFAR; fetch it again
    test_batch.bin: record 0: found label 10, expected a label below 10
    ");
    let missing = folder(&[("data_batch_1.bin", ten(0))]);
    assert!(message(&missing, ImagePart::Train).starts_with("data_batch_2.bin: cannot read: "));
}

#[test]
fn numpy_arrays_come_with_channels_first_or_last() {
    let write = |images: &Array<u8, ndarray::IxDyn>, labels: &Array1<i64>| {
        let folder = tempdir().unwrap();
        fs::write(folder.path().join("d.npz"), npz(&[("x_test", images), ("y_test", labels)])).unwrap();
        folder
    };
    let read = |folder: &TempDir| read_images(folder.path().join("d.npz"), ImagePart::Test, MemoryBudget::of_machine());
    let last = Array::from_shape_fn((2, 4, 5, 3), |(n, r, c, k)| (n * 100 + r * 20 + c * 3 + k) as u8);
    let first = last.view().permuted_axes([0, 3, 1, 2]).as_standard_layout().into_owned();
    for images in [last.into_dyn(), first.clone().into_dyn()] {
        let (set, _) = read(&write(&images, &array![1, 0])).unwrap();
        assert_eq!((set.pixels, set.classes), (first.clone(), 2));
    }
    let gray = Array3::<u8>::ones((2, 4, 5));
    assert_eq!(read(&write(&gray.clone().into_dyn(), &array![1, 0])).unwrap().0.shape(), [1, 4, 5]);
    let wrong = read(&write(&gray.into_dyn(), &array![1, 256])).unwrap_err().to_string();
    assert!(wrong.ends_with("array `y_test`, index [1]: found `256`, expected a class from 0 to 255"), "{wrong}");
}

#[test]
fn pairs_of_npy_files_are_read() {
    let folder = tempdir().unwrap();
    let write = |name: &str, labels: usize| {
        array![[[1u8, 2], [3, 4]]].write_npy(fs::File::create(folder.path().join("x_train.npy")).unwrap()).unwrap();
        Array1::<i64>::zeros(labels).write_npy(fs::File::create(folder.path().join(name)).unwrap()).unwrap();
    };
    write("y_train.npy", 1);
    let (set, inputs) = read_images(folder.path(), ImagePart::Train, MemoryBudget::of_machine()).unwrap();
    assert_eq!((set.pixels[[0, 0, 1, 0]], set.labels.len(), inputs.len()), (3, 1, 2));
    write("y_train.npy", 2);
    let text = message(&folder, ImagePart::Train);
    assert_eq!(text, "y_train.npy: whole file: found 2 labels, expected one for each of the 1 images of x_train.npy");
    fs::write(folder.path().join("x_train.npy"), b"no array").unwrap();
    assert!(message(&folder, ImagePart::Train).starts_with("x_train.npy: "));
    let empty = folder_message();
    assert!(empty.starts_with(".: whole folder: found 0 files, none of them an image in a known format, "), "{empty}");
}

fn folder_message() -> String {
    message(&folder(&[]), ImagePart::Train)
}
