//! Nearest neighbors of the audited samples among the images of every model.

use crate::checks::reject;
use leakbound::error::Result;
use ndarray::{Array1, Array2, ArrayView3, Axis};
use pathfinding::kuhn_munkres::kuhn_munkres_min;
use pathfinding::matrix::Matrix;

/// Images whose distances are computed together.
const BLOCK: usize = 4096;

/// The most distances: 2 GiB.
const MOST: usize = 1 << 28;

/// For each sample the place of its nearest neighbor in `fixed`, no image for two samples: the assignment with the
/// smallest sum of squared Euclidean distances between pixels.
///
/// The squares are whole numbers, so that the assignment is the same on every machine.
///
/// # Errors
/// [`Error::Rejected`](leakbound::Error::Rejected) for more samples than images, and for more than 2^28 distances.
///
/// # References
/// Aerni, Zhang and Tramèr (2024), appendix B.3, with the cosine similarity of OpenCLIP's embeddings instead of
/// distances; Kuhn (1955) and Munkres (1957).
pub(crate) fn nearest_neighbors<'a>(
    samples: impl ExactSizeIterator<Item = ArrayView3<'a, u8>>,
    fixed: impl ExactSizeIterator<Item = ArrayView3<'a, u8>>,
) -> Result<Vec<u32>> {
    let (rows, columns) = (samples.len(), fixed.len());
    if rows > columns {
        return reject(
            "neighbors",
            format!(
                "{rows} audited samples cannot each have their own nearest neighbor among {columns} fixed images; take \
             more fixed images"
            ),
        );
    }
    if rows.checked_mul(columns).is_none_or(|count| count > MOST) {
        return reject(
            "neighbors",
            format!(
                "{rows} audited samples and {columns} fixed images have more than {MOST} distances; take fewer of either"
            ),
        );
    }
    if rows == 0 {
        return Ok(Vec::new());
    }
    let (_, places) = kuhn_munkres_min(&distances(samples, fixed));
    Ok(places.into_iter().map(|place| place as u32).collect())
}

/// |x - y|² of all samples x and images y, by |x|² + |y|² - 2 x·y: whole numbers far below 2^53 in doubles.
fn distances<'a>(
    samples: impl ExactSizeIterator<Item = ArrayView3<'a, u8>>,
    fixed: impl ExactSizeIterator<Item = ArrayView3<'a, u8>>,
) -> Matrix<i64> {
    let samples = flat(samples);
    let norms = |images: &Array2<f64>| images.map_axis(Axis(1), |image| image.dot(&image));
    let of_samples: Array1<f64> = norms(&samples);
    let mut distances = Matrix::new(samples.nrows(), fixed.len(), 0i64);
    let mut fixed = fixed.peekable();
    let mut first = 0;
    while fixed.peek().is_some() {
        let block = flat(fixed.by_ref().take(BLOCK));
        let (of_block, products) = (norms(&block), samples.dot(&block.t()));
        for ((sample, image), product) in products.indexed_iter() {
            distances[(sample, first + image)] = (of_samples[sample] + of_block[image] - 2.0 * product) as i64;
        }
        first += block.nrows();
    }
    distances
}

/// \[image, pixel\].
fn flat<'a>(images: impl Iterator<Item = ArrayView3<'a, u8>>) -> Array2<f64> {
    let images: Vec<ArrayView3<'a, u8>> = images.collect();
    let pixels = images.first().map_or(0, ArrayView3::len);
    let all: Vec<f64> = images.iter().flat_map(|image| image.iter().map(|&pixel| pixel.into())).collect();
    Array2::from_shape_vec((images.len(), pixels), all).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array4;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn found(samples: &Array4<u8>, fixed: &Array4<u8>) -> Result<Vec<u32>> {
        nearest_neighbors(samples.outer_iter(), fixed.outer_iter())
    }

    fn random(images: usize, seed: u64) -> Array4<u8> {
        let mut images = Array4::zeros((images, 2, 3, 3));
        ChaCha8Rng::seed_from_u64(seed).fill_bytes(images.as_slice_mut().unwrap());
        images
    }

    fn squared(one: ArrayView3<'_, u8>, other: ArrayView3<'_, u8>) -> i64 {
        one.iter().zip(other).map(|(&one, &other)| (i64::from(one) - i64::from(other)).pow(2)).sum()
    }

    #[test]
    fn distances_are_those_of_pixels() {
        // More than a block.
        let (samples, fixed) = (random(3, 1), random(BLOCK + 5, 2));
        let distances = distances(samples.outer_iter(), fixed.outer_iter());
        for (row, sample) in samples.outer_iter().enumerate() {
            for (column, image) in fixed.outer_iter().enumerate() {
                assert_eq!(distances[(row, column)], squared(sample, image));
            }
        }
    }

    /// Against all assignments of four samples to six images.
    #[test]
    fn the_sum_of_distances_is_the_smallest() {
        for seed in 0..20 {
            let (samples, fixed) = (random(4, seed), random(6, 1000 + seed));
            let distance = |sample: usize, image: usize| {
                squared(samples.index_axis(Axis(0), sample), fixed.index_axis(Axis(0), image))
            };
            let sum =
                |places: &[usize]| -> i64 { places.iter().enumerate().map(|(row, &place)| distance(row, place)).sum() };
            let mut least = i64::MAX;
            for code in 0..6usize.pow(4) {
                let places = [0, 1, 2, 3].map(|row| code / 6usize.pow(row) % 6);
                let distinct = (0..4).all(|row| !places[..row].contains(&places[row]));
                if distinct {
                    least = least.min(sum(&places));
                }
            }
            let places: Vec<usize> = found(&samples, &fixed).unwrap().into_iter().map(|place| place as usize).collect();
            assert_eq!(sum(&places), least);
        }
    }

    #[test]
    fn an_image_is_the_neighbor_of_one_sample() {
        let mut fixed = Array4::<u8>::zeros((4, 1, 1, 2));
        fixed.index_axis_mut(Axis(0), 3).fill(10);
        // Both samples are nearest to the last image, the second one more so.
        let mut samples = Array4::<u8>::zeros((2, 1, 1, 2));
        samples.index_axis_mut(Axis(0), 0).fill(6);
        samples.index_axis_mut(Axis(0), 1).fill(10);
        let places = found(&samples, &fixed).unwrap();
        assert!(places[0] < 3 && places[1] == 3, "{places:?}");
    }

    #[test]
    fn too_many_samples_are_rejected() {
        let message = found(&random(3, 1), &random(2, 2)).unwrap_err().to_string();
        let expected = "neighbors: 3 audited samples cannot each have their own nearest neighbor among 2 fixed images; \
                        take more fixed images";
        assert_eq!(message, expected);
        assert!(found(&random(0, 1), &random(2, 2)).unwrap().is_empty());
    }
}
