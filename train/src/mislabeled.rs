//! Wrong labels for canaries.

use super::seed::{Purpose, stream};
use rand::seq::index;
use rand::{Rng, RngExt};

/// Training images of one model or run with wrong labels, rising.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MislabeledImages {
    pub images: Vec<u32>,
    /// Their classes.
    pub truth: Vec<u8>,
    /// The classes that they are labeled with.
    pub wrong: Vec<u8>,
}

impl MislabeledImages {
    /// So many of the images with these labels, of C classes, drawn uniformly and by themselves.
    pub fn draw(labels: &[u8], classes: usize, count: usize, (seed, model): (u64, u64)) -> Self {
        let mut draws = stream(seed, Purpose::Canaries, 0, model);
        let mut images: Vec<u32> =
            index::sample(&mut draws, labels.len(), count).into_iter().map(|image| image as u32).collect();
        images.sort_unstable();
        let truth: Vec<u8> = images.iter().map(|&image| labels[image as usize]).collect();
        let wrong = wrong_labels(&truth, classes, &mut draws);
        Self { images, truth, wrong }
    }

    /// The labels with those of these images wrong.
    pub fn among(&self, labels: &[u8]) -> Vec<u8> {
        let mut labels = labels.to_vec();
        for (&image, &label) in self.images.iter().zip(&self.wrong) {
            labels[image as usize] = label;
        }
        labels
    }
}

/// A class other than each label, uniformly and by itself; there are at least two classes.
pub(super) fn wrong_labels(labels: &[u8], classes: usize, stream: &mut impl Rng) -> Vec<u8> {
    let wrong = |&label: &u8| {
        let other = stream.random_range(1..classes);
        ((usize::from(label) + other) % classes) as u8
    };
    labels.iter().map(wrong).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 9,000 labels: each of nine wrong classes 1,000 times, within five standard errors (false alarms: 6e-6).
    #[test]
    fn wrong_labels_are_uniform() {
        let wrong = wrong_labels(&[7; 9000], 10, &mut stream(1, Purpose::Canaries, 0, 0));
        for class in 0..10 {
            let count = wrong.iter().filter(|&&label| label == class).count() as f64;
            println!("{class}: {count}");
            let expected = if class == 7 { 0.0 } else { 1000.0 };
            assert!((count - expected).abs() <= 5.0 * (expected * 8.0 / 9.0f64).sqrt());
        }
    }

    #[test]
    fn canaries_have_another_label() {
        let labels: Vec<u8> = (0..40).map(|image| image % 4).collect();
        let canaries = MislabeledImages::draw(&labels, 4, 10, (5, 0));
        let changed = canaries.among(&labels);
        let different: Vec<u32> = (0..40).filter(|&image| changed[image as usize] != labels[image as usize]).collect();
        assert_eq!(different, canaries.images);
    }
}
