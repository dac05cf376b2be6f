//! Training images whose labels are wrong, and which teacher has which label.

use crate::mislabeled::wrong_labels;
use crate::seed::{Purpose, stream};
use crate::teachers::split::Split;
use rand::seq::{SliceRandom, index};

/// Training images with wrong labels, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Canaries {
    pub images: Vec<u32>,
    /// Their classes.
    pub truth: Vec<u8>,
    /// The classes that they are labeled with.
    pub wrong: Vec<u8>,
}

impl Canaries {
    /// So many of the images with these labels, of C classes; those of run 0 are those of ALIBI with the same seed.
    pub fn draw(labels: &[u8], classes: usize, count: usize, (seed, run): (u64, u64)) -> Self {
        let mut draws = stream(seed, Purpose::Canaries, 0, run);
        let mut images: Vec<u32> =
            index::sample(&mut draws, labels.len(), count).into_iter().map(|image| image as u32).collect();
        images.sort_unstable();
        let truth: Vec<u8> = images.iter().map(|&image| labels[image as usize]).collect();
        let wrong = wrong_labels(&truth, classes, &mut draws);
        Self { images, truth, wrong }
    }

    /// The labels with those of the canaries wrong.
    pub fn among(&self, labels: &[u8]) -> Vec<u8> {
        let mut labels = labels.to_vec();
        for (&image, &label) in self.images.iter().zip(&self.wrong) {
            labels[image as usize] = label;
        }
        labels
    }
}

/// Images 0..n of each of T teachers: all of them, none in two hands, and no teacher has two more than another.
pub(super) fn parts(images: usize, teachers: usize, (seed, run): (u64, u64)) -> Vec<Vec<u32>> {
    let order = Split::Pate(run).order(images, seed);
    let end = |teacher: usize| teacher * images / teachers;
    (0..teachers).map(|teacher| order[end(teacher)..end(teacher + 1)].to_vec()).collect()
}

/// The first N images of a random order of 0..n: what teachers are asked about.
pub(super) fn queries(images: usize, count: usize, (seed, run): (u64, u64)) -> Vec<u32> {
    let mut order: Vec<u32> = (0..images as u32).collect();
    order.shuffle(&mut stream(seed, Purpose::Queries, run, 0));
    order.truncate(count);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_label_belongs_to_one_teacher() {
        let parts = parts(103, 10, (5, 1));
        let mut all = parts.concat();
        all.sort_unstable();
        assert_eq!(all, (0..103).collect::<Vec<u32>>());
        assert!(parts.iter().all(|part| part.len() == 10 || part.len() == 11));
    }

    #[test]
    fn fewer_queries_are_the_first_of_more() {
        let (few, all) = (queries(50, 20, (5, 0)), queries(50, 50, (5, 0)));
        assert_eq!(few, all[..20]);
        assert_ne!(all, queries(50, 50, (5, 1)));
    }

    #[test]
    fn canaries_have_another_label() {
        let labels: Vec<u8> = (0..40).map(|image| image % 4).collect();
        let canaries = Canaries::draw(&labels, 4, 10, (5, 0));
        let changed = canaries.among(&labels);
        let different: Vec<u32> = (0..40).filter(|&image| changed[image as usize] != labels[image as usize]).collect();
        assert_eq!(different, canaries.images);
    }
}
