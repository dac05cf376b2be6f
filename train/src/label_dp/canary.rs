//! The images of each network whose labels are wrong on purpose.

use crate::mislabeled::wrong_labels;
use crate::seed::{Purpose, stream};
use leakbound::record::ImageSet;
use rand::seq::index;

/// Training images with a wrong label, and all labels as one network is to learn them.
pub(super) struct Canaries {
    /// The images, rising.
    pub images: Vec<usize>,
    /// Their classes.
    pub truth: Vec<u8>,
    /// Their wrong labels.
    pub wrong: Vec<u8>,
    /// The label of every training image, those of the canaries wrong.
    pub labels: Vec<u8>,
}

impl Canaries {
    /// So many for one model, each drawn by itself.
    pub fn draw(train: &ImageSet, classes: usize, count: usize, (seed, model): (u64, u64)) -> Self {
        let mut draws = stream(seed, Purpose::Canaries, 0, model);
        let mut images = index::sample(&mut draws, train.len(), count).into_vec();
        images.sort_unstable();
        let truth: Vec<u8> = images.iter().map(|&image| train.labels[image]).collect();
        let wrong = wrong_labels(&truth, classes, &mut draws);
        let mut labels = train.labels.to_vec();
        for (&image, &label) in images.iter().zip(&wrong) {
            labels[image] = label;
        }
        Self { images, truth, wrong, labels }
    }
}
