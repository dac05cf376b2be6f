//! Images and labels of all networks on their device.

use super::checks::reject;
use leakbound::error::Result;
use leakbound::record::ImageSet;
use tch::{Device, Kind, Tensor};

/// An image, and what to learn about it: rows of [`TrainingImages::inputs`] and of [`TrainingImages::targets`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Example {
    pub image: u32,
    pub target: u32,
}

impl Example {
    /// An image with its own label.
    pub const fn labeled(image: u32) -> Self {
        Self { image, target: image }
    }

    /// Images with their own labels.
    pub fn all(images: &[u32]) -> Vec<Self> {
        images.iter().copied().map(Self::labeled).collect()
    }
}

/// The most examples in the tables of all networks of a recipe: 4 GiB.
const MAX_EXAMPLES: u64 = 1 << 29;

/// # Errors
/// [`Error::Rejected`](leakbound::Error::Rejected) if the tables of the networks' images take more than 4 GiB.
pub(super) fn check_tables(operation: &'static str, networks: u64, images: usize) -> Result<()> {
    if networks.checked_mul(images as u64).is_some_and(|examples| examples <= MAX_EXAMPLES) {
        return Ok(());
    }
    reject(operation, format!("{networks} simultaneous networks of {images} images need more than 4 GiB for tables"))
}

/// Images and labels of all networks on their device.
pub(super) struct TrainingImages {
    /// [N, F], in [0, 1].
    pub inputs: Tensor,
    /// [T, C], probabilities: those of the images first, others behind them.
    pub targets: Tensor,
}

impl TrainingImages {
    /// Pixels of N images, divided by 255, and their labels.
    pub fn new(pixels: &[u8], labels: &[u8], classes: usize, device: Device) -> Self {
        let images = labels.len() as i64;
        let inputs = Tensor::from_slice(pixels).view([images, -1]).to_device(device).to_kind(Kind::Float) / 255.0;
        Self { inputs, targets: one_hot(labels, classes, device) }
    }

    /// The same with targets of further labels after the existing ones.
    pub fn and_targets(self, labels: &[u8], classes: usize) -> Self {
        let further = one_hot(labels, classes, self.targets.device());
        Self { targets: Tensor::cat(&[&self.targets, &further], 0), ..self }
    }

    /// The images of a set and their labels.
    pub fn of(set: &ImageSet, classes: usize, device: Device) -> Self {
        let pixels: Vec<u8> = set.pixels.iter().copied().collect();
        Self::new(&pixels, &set.labels.to_vec(), classes, device)
    }

    /// Inputs [n, F] and targets [n, C] of examples.
    pub fn rows(&self, examples: &[Example]) -> (Tensor, Tensor) {
        let inputs = rows_of(&self.inputs, examples.iter().map(|example| example.image));
        (inputs, rows_of(&self.targets, examples.iter().map(|example| example.target)))
    }

    /// The same tensors, for another thread.
    pub fn share(&self) -> Self {
        Self { inputs: self.inputs.shallow_clone(), targets: self.targets.shallow_clone() }
    }
}

/// Some rows of a tensor.
pub(super) fn rows_of(tensor: &Tensor, rows: impl IntoIterator<Item = impl Into<i64>>) -> Tensor {
    let rows: Vec<i64> = rows.into_iter().map(Into::into).collect();
    tensor.index_select(0, &Tensor::from_slice(&rows).to_device(tensor.device()))
}

/// Labels as probabilities [N, C].
pub(super) fn one_hot(labels: &[u8], classes: usize, device: Device) -> Tensor {
    Tensor::from_slice(&one_hot_rows(labels, classes)).view([labels.len() as i64, classes as i64]).to_device(device)
}

/// The same, flat.
pub(super) fn one_hot_rows(labels: &[u8], classes: usize) -> Vec<f32> {
    let mut targets = vec![0f32; labels.len() * classes];
    for (row, &label) in targets.chunks_exact_mut(classes.max(1)).zip(labels) {
        row[usize::from(label)] = 1.0;
    }
    targets
}
