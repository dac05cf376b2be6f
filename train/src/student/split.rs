//! Who gets which images, and in which order queries are asked.

use crate::seed::{Purpose, shuffled, some_of, stream};
use leakbound::error::{Error, Result};
use rand_chacha::ChaCha8Rng;

/// Splits beside those of the teachers, which count from 0 and, one for each run, from 16.
#[derive(Debug, Clone, Copy)]
enum Split {
    Public = 3,
    Private = 4,
    Asked = 5,
}

impl Split {
    fn stream(self, seed: u64, run: u64) -> ChaCha8Rng {
        stream(seed, Purpose::Split, self as u64, run)
    }
}

/// Test images that are public, and those that measure, both sorted: the same share of every class, to one image.
pub(super) fn public_and_held_out(labels: &[u8], classes: usize, share: f64, seed: u64) -> Result<[Vec<u32>; 2]> {
    let order = shuffled(labels.len(), Split::Public.stream(seed, 0));
    let (mut public, mut held_out) = (Vec::new(), Vec::new());
    for class in 0..classes {
        let images: Vec<u32> =
            order.iter().copied().filter(|&image| usize::from(labels[image as usize]) == class).collect();
        let (first, rest) = images.split_at((share * images.len() as f64).round() as usize);
        public.extend_from_slice(first);
        held_out.extend_from_slice(rest);
    }
    if public.is_empty() || held_out.is_empty() {
        let reason =
            format!("{} public images and {} to measure with, of {}", public.len(), held_out.len(), labels.len());
        return Err(Error::Rejected { operation: "students", reason });
    }
    public.sort_unstable();
    held_out.sort_unstable();
    Ok([public, held_out])
}

/// So many training images at random, sorted.
pub(super) fn private_images(images: usize, count: usize, seed: u64) -> Vec<u32> {
    some_of(images, count, Split::Private.stream(seed, 0))
}

/// The order in which public images are queried on in a run.
pub(super) fn order_of_queries(public: usize, seed: u64, run: u64) -> Vec<u32> {
    shuffled(public, Split::Asked.stream(seed, run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_split_alike_and_no_image_is_on_both_sides() {
        let labels: Vec<u8> = (0..100).map(|image| if image < 70 { 0 } else { 2 }).collect();
        let [public, held_out] = public_and_held_out(&labels, 3, 0.8, 1).unwrap();
        let of_class_0 = |images: &[u32]| images.iter().filter(|&&image| image < 70).count();
        assert_eq!((public.len(), of_class_0(&public), of_class_0(&held_out)), (80, 56, 14));
        let mut all = [public, held_out].concat();
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<u32>>());
        let error = public_and_held_out(&labels, 3, 0.999, 1).unwrap_err().to_string();
        assert_eq!(error, "students: 100 public images and 0 to measure with, of 100");
    }
}
