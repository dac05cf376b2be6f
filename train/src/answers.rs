//! Answers of trained networks as numbers.

use super::checks::unavailable;
use super::ensemble::{Ensemble, logits_of_all};
use leakbound::error::Result;
use ndarray::Array1;
use tch::{Device, Kind, TchError, Tensor};

/// Share of images whose largest logit, of [..., N, C], is that of the label; one share over all networks.
pub(super) fn accuracy(logits: &Tensor, labels: &[u8]) -> Result<f64> {
    let labels: Vec<i64> = labels.iter().map(|&label| label.into()).collect();
    let right = logits.argmax(-1, false).eq_tensor(&Tensor::from_slice(&labels).to_device(logits.device()));
    f64::try_from(right.to_kind(Kind::Double).mean(Kind::Double)).map_err(unavailable("answers"))
}

/// Numbers of a tensor in the order of its axes.
pub(super) fn numbers(tensor: &Tensor) -> Result<Vec<f32>> {
    Vec::try_from(tensor.to_kind(Kind::Float).flatten(0, -1).contiguous()).map_err(unavailable("answers"))
}

/// The numbers of each of M networks, of a tensor [M, ...] with two axes or more.
pub(super) fn by_network(tensor: &Tensor) -> std::result::Result<Vec<Vec<f32>>, TchError> {
    Vec::try_from(tensor.to_device(Device::Cpu).contiguous().flatten(1, -1))
}

/// Logits of the same images, network by network.
pub(super) fn logits(networks: &dyn Ensemble, asked: &Tensor) -> std::result::Result<Vec<Vec<f32>>, TchError> {
    by_network(&logits_of_all(networks, asked))
}

/// Probabilities of classes of the same images, network by network.
pub(super) fn probabilities(networks: &dyn Ensemble, asked: &Tensor) -> std::result::Result<Vec<Vec<f32>>, TchError> {
    by_network(&logits_of_all(networks, asked).softmax(-1, Kind::Float))
}

/// Images by their places, as recordings have them.
pub(super) fn indices(images: &[u32]) -> Array1<i32> {
    images.iter().map(|&image| image as i32).collect()
}

/// Votes for each of this many classes.
pub(super) fn histogram(votes: impl IntoIterator<Item = u8>, classes: usize) -> Vec<u64> {
    let mut counts = vec![0; classes];
    votes.into_iter().for_each(|vote| counts[usize::from(vote)] += 1);
    counts
}

/// Position of the largest number, the first of equals.
pub(super) fn largest<T: PartialOrd>(numbers: &[T]) -> usize {
    (1..numbers.len()).fold(0, |best, next| if numbers[next] > numbers[best] { next } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accuracy_is_over_all_networks() {
        let logits = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 0.0, 5.0, 4.0, 9.0, 1.0]).view([2, 2, 2]);
        assert_eq!(accuracy(&logits, &[1, 0]).unwrap(), 0.75);
        assert_eq!(numbers(&logits.transpose(0, 1)).unwrap(), [1.0, 2.0, 5.0, 4.0, 3.0, 0.0, 9.0, 1.0]);
    }
}
