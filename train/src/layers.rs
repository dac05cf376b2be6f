//! Layers of many networks together: of the channels of a tensor [B, M·C, rows, columns], the first C belong to the
//! first network, and so on.
//!
//! A convolution of M networks is one with M groups. On a CPU that took less than half the time of unfolding the images
//! for batched products of matrices (4 networks of 16 and of 64 filters, 32 images), and on a GPU it is one call.

use serde::Serialize;
use tch::{Device, Kind, Tensor};

/// Share of a running statistic that each batch replaces. With the 0.01 of Keras it would lag behind for most of the few
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
    let largest = |images: &Tensor| images.max_pool2d([3, 3], [2, 2], padding.as_slice(), [1, 1], true);
    let side_by_side = images.size()[1] >= MANY_CHANNELS && !images.device().is_cuda();
    if side_by_side { largest(&channels_last(images)).contiguous() } else { largest(images) }
}

/// This many channels are faster pooled side by side.
const MANY_CHANNELS: i64 = 16;

/// The same images, stored with the channels of a pixel side by side: a CPU then compares many channels together. For
/// 80 images of 16 channels and 28 x 28 pixels, the maximum took a quarter of the time, and half of it with the
/// gradient; for 6 channels it took longer.
fn channels_last(images: &Tensor) -> Tensor {
    images.permute([0, 2, 3, 1]).contiguous().permute([0, 3, 1, 2])
}

/// Means 0 and variances 1 of M·C channels, before the first batch.
pub(super) fn running_statistics(networks: i64, channels: usize, device: Device) -> [Tensor; 2] {
    let shape = [networks * channels as i64];
    [Tensor::zeros(shape, (Kind::Float, device)), Tensor::ones(shape, (Kind::Float, device))]
}

/// What batch normalization does with the statistics of a batch.
pub(super) enum BatchPass<'a> {
    /// Normalizes by the running statistics.
    Answering,
    /// Normalizes by the batch's own statistics, a tenth of which (of the variance with its divisor n - 1) enters the
    /// running ones.
    Learning,
    /// Normalizes by the running statistics, and adds to these distances [M] how far those of the batch are from them.
    Measuring(&'a mut Tensor),
}

impl BatchPass<'_> {
    /// Adds ‖mean of the batch - running mean‖₂ + ‖variance of the batch - running variance‖₂ over the channels of a
    /// layer, for each network: Yin et al. (2020), (4). Variances have the divisor n - 1, as the running ones do.
    fn meet(&mut self, images: &Tensor, [mean, variance]: [&Tensor; 2]) {
        let Self::Measuring(distances) = self else { return };
        let networks = distances.size()[0];
        let axes = [0i64, 2, 3];
        let of_batch =
            [images.mean_dim(axes.as_slice(), false, Kind::Float), images.var_correction(axes.as_slice(), 1, false)];
        for (of_batch, running) in of_batch.iter().zip([mean, variance]) {
            let apart = (of_batch - running).view([networks, -1]);
            **distances = &**distances + apart.norm_scalaropt_dim(2, [1i64].as_slice(), false);
        }
    }
}

/// γ (x - mean)/√(variance + 1e-5) + β for every channel: Ioffe and Szegedy (2015), algorithm 1.
pub(super) fn batch_normalization(
    images: &Tensor,
    [scale, shift]: [&Tensor; 2],
    [mean, variance]: [&Tensor; 2],
    pass: &mut BatchPass<'_>,
) -> Tensor {
    pass.meet(images, [mean, variance]);
    let learning = matches!(pass, BatchPass::Learning);
    let (scale, shift, statistics) = (Some(scale), Some(shift), [Some(mean), Some(variance)]);
    images.batch_norm(scale, shift, statistics[0], statistics[1], learning, RUNNING_SHARE, VARIANCE_FLOOR, false)
}

/// [`batch_normalization`] by the batch's own statistics, which are not remembered.
pub(super) fn own_normalization(images: &Tensor, [scale, shift]: [&Tensor; 2]) -> Tensor {
    let none = None::<&Tensor>;
    images.batch_norm(Some(scale), Some(shift), none, none, true, RUNNING_SHARE, VARIANCE_FLOOR, false)
}

/// γ (x - mean)/√(variance + 1e-5) + β with mean and variance of each image over a group of channels: Wu and He (2018).
pub(super) fn group_normalization(images: &Tensor, [scale, shift]: [&Tensor; 2], groups: i64) -> Tensor {
    images.group_norm(groups, Some(scale), Some(shift), VARIANCE_FLOOR, false)
}

/// Over what a layer's values are normalized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Normalization {
    /// Each channel over the batch: Ioffe and Szegedy (2015).
    Batch,
    /// 16 groups of channels over each image (Wu and He, 2018), after ReLU: no image depends on another, as DP-SGD
    /// needs it (De et al., 2022).
    Group,
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

    /// Values and gradients, ties included.
    #[test]
    fn many_channels_are_pooled_as_few_are() {
        let images = (Tensor::linspace(0.0, 900.0, 3 * 20 * 9 * 8, (Kind::Float, Device::Cpu)).sin() * 4.0).round();
        let images = images.view([3, 20, 9, 8]).set_requires_grad(true);
        let of = |pool: &dyn Fn() -> Tensor| {
            let largest = pool();
            let gradients = Tensor::run_backward(&[&(&largest * &largest).sum(Kind::Float)], &[&images], false, false);
            [largest, gradients[0].copy()]
        };
        let apart = of(&|| Tensor::cat(&images.chunk(2, 1).iter().map(max_pool_3).collect::<Vec<_>>(), 1));
        assert_eq!(of(&|| max_pool_3(&images)), apart);
    }

    #[test]
    fn a_batch_is_normalized_and_remembered() {
        let images = Tensor::from_slice(&[1.0f32, 3.0, 5.0, 7.0]).view([2, 1, 1, 2]);
        let [scale, shift] = [2.0f32, 0.5].map(|value| Tensor::from_slice(&[value]));
        let [mean, variance] = running_statistics(1, 1, Device::Cpu);
        let normalize = |mut pass: BatchPass<'_>| {
            values(&batch_normalization(&images, [&scale, &shift], [&mean, &variance], &mut pass))
        };
        // Mean 4, variance 5 with divisor 4, and 20/3 with divisor 3.
        let learning = normalize(BatchPass::Learning);
        for (found, x) in learning.iter().zip([1.0f32, 3.0, 5.0, 7.0]) {
            assert!((found - (2.0 * (x - 4.0) / 5.00001f32.sqrt() + 0.5)).abs() < 1e-5, "{found}");
        }
        assert!((values(&mean)[0] - 0.4).abs() < 1e-6);
        let remembered = 0.9 + 0.1 * 20.0 / 3.0;
        assert!((values(&variance)[0] - remembered).abs() < 1e-5);
        let later = normalize(BatchPass::Answering);
        assert!((later[3] - (2.0 * (7.0 - 0.4) / (remembered + 1e-5).sqrt() + 0.5)).abs() < 1e-5, "{}", later[3]);
    }
    /// Two networks of two channels each, against a loop.
    #[test]
    fn distances_of_statistics_are_those_of_a_loop() {
        let images = Tensor::linspace(0.0, 9.0, 3 * 4 * 2, (Kind::Float, Device::Cpu)).sin().view([3, 4, 2, 1]);
        let [mean, variance] = [[0.1f32, -0.2, 0.3, 0.0], [1.0, 0.5, 2.0, 0.1]].map(|row| Tensor::from_slice(&row));
        let [scale, shift] = [Tensor::ones_like(&mean), Tensor::zeros_like(&mean)];
        let mut distances = Tensor::zeros([2], (Kind::Float, Device::Cpu));
        let measuring = &mut BatchPass::Measuring(&mut distances);
        let normalized = batch_normalization(&images, [&scale, &shift], [&mean, &variance], measuring);
        let answering = &mut BatchPass::Answering;
        assert_eq!(normalized, batch_normalization(&images, [&scale, &shift], [&mean, &variance], answering));
        let numbers = values(&images);
        let of_channel = |channel: usize| {
            let all: Vec<f64> = (0..3)
                .flat_map(|image| (0..2).map(move |row| (image, row)))
                .map(|(image, row)| f64::from(numbers[(image * 4 + channel) * 2 + row]))
                .collect();
            let mean = all.iter().sum::<f64>() / 6.0;
            (mean, all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 5.0)
        };
        for (network, found) in values(&distances).into_iter().enumerate() {
            let (mut means, mut variances) = (0.0, 0.0);
            for channel in 2 * network..2 * network + 2 {
                let (of_mean, of_variance) = of_channel(channel);
                means += (of_mean - mean.double_value(&[channel as i64])).powi(2);
                variances += (of_variance - variance.double_value(&[channel as i64])).powi(2);
            }
            let expected = means.sqrt() + variances.sqrt();
            assert!((f64::from(found) - expected).abs() < 1e-6 * expected, "{network}: {found} {expected}");
        }
    }
}
