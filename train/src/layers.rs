//! Layers of many networks at once: of the channels of a tensor [B, M·C, rows, columns], the first C belong to the
//! first network, and so on.
//!
//! A convolution of M networks is one with M groups. On a CPU that took less than half the time of unfolding the images
//! for batched products of matrices (4 networks of 16 and of 64 filters, 32 images), and on a GPU it is one call.

use tch::{Device, Kind, Tensor};

/// Share of a running statistic that each batch replaces. Keras takes 0.01, of which nothing is learned within the few
/// hundred steps that a teacher takes on a CPU.
const RUNNING_SHARE: f64 = 0.1;
/// Added to variances: Ioffe and Szegedy (2015), algorithm 1.
const VARIANCE_FLOOR: f64 = 1e-5;

/// Inputs [M, B, F] as images [B, M·C, rows, columns].
pub(super) fn folded(inputs: &Tensor, [channels, rows, columns]: [usize; 3]) -> Tensor {
    let (networks, batch) = (inputs.size()[0], inputs.size()[1]);
    let channels = networks * channels as i64;
    inputs.transpose(0, 1).reshape([batch, channels, rows as i64, columns as i64])
}

/// Images [B, M·C, rows, columns] as inputs [M, B, F] of dense layers.
pub(super) fn unfolded(images: &Tensor, networks: i64) -> Tensor {
    images.reshape([images.size()[0], networks, -1]).transpose(0, 1)
}

/// Each network's images with its weights [M·O, C, size, size] and biases [M·O].
pub(super) fn convolution(
    images: &Tensor,
    weights: &Tensor,
    biases: Option<&Tensor>,
    networks: i64,
    stride: i64,
    padding: i64,
) -> Tensor {
    images.conv2d(weights, biases, [stride, stride], [padding, padding], [1, 1], networks)
}

/// x W + b for inputs [M, B, F], weights [M, F, O] and biases [M, 1, O].
pub(super) fn dense(inputs: &Tensor, weights: &Tensor, biases: &Tensor) -> Tensor {
    biases.baddbmm(inputs, weights, 1.0, 1.0)
}

/// The largest of 3 x 3 values at every second place, n -> ⌈n/2⌉.
///
/// TensorFlow's padding "same": with an even n only behind the last value, with an odd n on both sides. What is padded
/// is never the largest.
pub(super) fn max_pool_3(images: &Tensor) -> Tensor {
    let padding: Vec<i64> = images.size()[2..].iter().map(|length| length % 2).collect();
    images.max_pool2d([3, 3], [2, 2], padding.as_slice(), [1, 1], true)
}

/// Means 0 and variances 1 of M·C channels, before the first batch.
pub(super) fn running_statistics(networks: i64, channels: usize, device: Device) -> [Tensor; 2] {
    let shape = [networks * channels as i64];
    [Tensor::zeros(shape, (Kind::Float, device)), Tensor::ones(shape, (Kind::Float, device))]
}

/// γ (x - mean)/√(variance + 1e-5) + β for every channel: Ioffe and Szegedy (2015), algorithm 1.
///
/// While the network learns, mean and variance are those of the batch, and a tenth of them (of the variance with its
/// divisor n - 1) enters the running statistics; afterwards they are these statistics.
pub(super) fn batch_normalization(
    images: &Tensor,
    [scale, shift]: [&Tensor; 2],
    [mean, variance]: [&Tensor; 2],
    learning: bool,
) -> Tensor {
    let statistics = (Some(mean), Some(variance));
    images.batch_norm(
        Some(scale),
        Some(shift),
        statistics.0,
        statistics.1,
        learning,
        RUNNING_SHARE,
        VARIANCE_FLOOR,
        false,
    )
}

/// γ (x - mean)/√(variance + 1e-5) + β with mean and variance of each image over a group of channels: Wu and He (2018).
pub(super) fn group_normalization(images: &Tensor, [scale, shift]: [&Tensor; 2], groups: i64) -> Tensor {
    images.group_norm(groups, Some(scale), Some(shift), VARIANCE_FLOOR, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(tensor: &Tensor) -> Vec<f32> {
        tensor.flatten(0, -1).try_into().unwrap()
    }

    #[test]
    fn pooling_pads_as_tensorflow_does() {
        let row = |values: &[f32]| Tensor::from_slice(values).view([1, 1, 1, -1]).expand([1, 1, 2, -1], false);
        // Even: windows 0-2, 2-4, 4-5. Odd: windows 0-1, 1-3, 3-4. Padding by 0 would win over these values.
        assert_eq!(values(&max_pool_3(&row(&[-9.0, -8.0, -7.0, -6.0, -5.0, -4.0]))), [-7.0, -5.0, -4.0]);
        assert_eq!(values(&max_pool_3(&row(&[-1.0, -8.0, -7.0, -6.0, -5.0]))), [-1.0, -6.0, -5.0]);
    }

    #[test]
    fn a_batch_is_normalized_and_remembered() {
        let images = Tensor::from_slice(&[1.0f32, 3.0, 5.0, 7.0]).view([2, 1, 1, 2]);
        let [scale, shift] = [2.0f32, 0.5].map(|value| Tensor::from_slice(&[value]));
        let [mean, variance] = running_statistics(1, 1, Device::Cpu);
        let normalize =
            |learning| values(&batch_normalization(&images, [&scale, &shift], [&mean, &variance], learning));
        // Mean 4, variance 5 with divisor 4, and 20/3 with divisor 3.
        let learning = normalize(true);
        for (found, x) in learning.iter().zip([1.0f32, 3.0, 5.0, 7.0]) {
            assert!((found - (2.0 * (x - 4.0) / 5.00001f32.sqrt() + 0.5)).abs() < 1e-5, "{found}");
        }
        assert!((values(&mean)[0] - 0.4).abs() < 1e-6);
        let remembered = 0.9 + 0.1 * 20.0 / 3.0;
        assert!((values(&variance)[0] - remembered).abs() < 1e-5);
        let later = normalize(false);
        assert!((later[3] - (2.0 * (7.0 - 0.4) / (remembered + 1e-5).sqrt() + 0.5)).abs() < 1e-5, "{}", later[3]);
    }
}
