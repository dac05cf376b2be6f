//! Which network is trained.

use super::checks::{check_counts, check_range, reject};
use super::cnn::{Cnn, LeNet};
use super::ensemble::Ensemble;
use super::layers::Normalization;
use super::mlp::Mlp;
use super::wide_resnet::WideResNet;
use leakbound::error::Result;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::fmt;
use tch::Device;

/// The shape of a network.
///
/// Weights start as Glorot and Bengio (2010) draw them, uniformly, those of the convolutions of a wide residual network
/// as He et al. (2015) do; biases at 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum NetworkPlan {
    /// One hidden layer of units with ReLU.
    Mlp {
        /// Hidden units H.
        hidden: usize,
    },
    /// The network of the teachers and students of "Attacking PATE" (5.1.2, table 5.1): twice a convolution of 5 x 5
    /// with ReLU, batch normalization and the largest of 3 x 3 at every second place; 128 units with ReLU.
    ///
    /// The table prints 32 filters and 633,546 parameters for SVHN, 507,466 for Fashion-MNIST: these are the counts of
    /// 64 filters, running statistics included.
    Cnn {
        /// Filters of each convolution.
        filters: usize,
    },
    /// LeCun et al. (1998) as it is built today, with ReLU and the largest of 2 x 2: 6 and 16 filters, 120 and 84
    /// units.
    #[serde(rename = "lenet5")]
    LeNet5,
    /// WRN-d-k of Zagoruyko and Komodakis (2016).
    WideResNet {
        /// Depth d = 6 n + 4, convolutions and the last layer.
        depth: usize,
        /// Width k, which multiplies the numbers of filters 16, 32 and 64.
        width: usize,
        /// What is normalized.
        normalization: Normalization,
    },
}

impl NetworkPlan {
    /// One network for each stream, which draws its initial weights, for images of shape \[channels, rows, columns\].
    pub(super) fn build(
        self,
        streams: &mut [ChaCha8Rng],
        shape: [usize; 3],
        classes: usize,
        device: Device,
    ) -> Box<dyn Ensemble> {
        match self {
            Self::Mlp { hidden } => Box::new(Mlp::networks(streams, shape.iter().product(), hidden, classes, device)),
            Self::Cnn { filters } => Box::new(Cnn::networks(streams, shape, filters, classes, device)),
            Self::LeNet5 => Box::new(LeNet::networks(streams, shape, classes, device)),
            Self::WideResNet { depth, width, normalization } => {
                Box::new(WideResNet::networks(streams, shape, (depth, width, normalization), classes, device))
            }
        }
    }

    /// Networks that are trained side by side on one thread of a CPU. The calls of small products of matrices cost as
    /// much as the products, and the state of four perceptrons stays nearer to the processor than that of eight; a
    /// convolution keeps the thread busy alone, and four together took no less time.
    pub(super) fn group(self) -> usize {
        match self {
            Self::Mlp { .. } => 4,
            Self::Cnn { .. } | Self::LeNet5 | Self::WideResNet { .. } => 1,
        }
    }

    /// # Errors
    /// [`Error::Domain`](leakbound::Error::Domain) for a layer of nothing or a depth that is not 6 n + 4.
    pub(super) fn check(self) -> Result<()> {
        let positive = |quantity, count| check_counts([(quantity, count)]);
        match self {
            Self::Mlp { hidden } => positive("hidden units", hidden),
            Self::Cnn { filters } => positive("filters", filters),
            Self::LeNet5 => Ok(()),
            Self::WideResNet { depth, width, .. } => {
                let fits = depth >= 10 && depth % 6 == 4;
                check_range("depth of a wide residual network", depth as f64, fits, "{10, 16, 22, 28, ...}")?;
                positive("width of a wide residual network", width)
            }
        }
    }

    /// Whether it has layers of batch normalization.
    pub(super) fn normalizes_batches(self) -> bool {
        match self {
            Self::Mlp { .. } | Self::LeNet5 => false,
            Self::Cnn { .. } => true,
            Self::WideResNet { normalization, .. } => normalization == Normalization::Batch,
        }
    }

    /// # Errors
    /// [`Error::Rejected`](leakbound::Error::Rejected) for images of shape \[channels, rows, columns\] that are too
    /// small for the network.
    pub(super) fn check_images(self, [_, rows, columns]: [usize; 3]) -> Result<()> {
        let least = match self {
            Self::Mlp { .. } => 1,
            Self::Cnn { .. } => 4,
            Self::LeNet5 => 12,
            Self::WideResNet { .. } => 8,
        };
        if rows.min(columns) >= least {
            return Ok(());
        }
        reject("network", format!("images of {rows} x {columns} pixels; {self} needs at least {least} x {least}"))
    }
}

impl fmt::Display for NetworkPlan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mlp { hidden } => write!(formatter, "one hidden layer of {hidden} units"),
            Self::Cnn { filters } => write!(formatter, "two convolutions of {filters} filters"),
            Self::LeNet5 => formatter.write_str("LeNet-5"),
            Self::WideResNet { depth, width, normalization: Normalization::Batch } => {
                write!(formatter, "WRN-{depth}-{width}")
            }
            Self::WideResNet { depth, width, normalization: Normalization::Group } => {
                write!(formatter, "WRN-{depth}-{width} with group normalization")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::farthest;
    use crate::seed::{Purpose, streams};
    use tch::{Kind, Tensor};

    const WRN: NetworkPlan = NetworkPlan::WideResNet { depth: 16, width: 4, normalization: Normalization::Batch };
    const WRN_GROUP: NetworkPlan = NetworkPlan::WideResNet { depth: 10, width: 1, normalization: Normalization::Group };

    fn build(plan: NetworkPlan, networks: std::ops::Range<usize>, shape: [usize; 3]) -> Box<dyn Ensemble> {
        plan.build(&mut streams(5, Purpose::Weights, 0, networks), shape, 10, Device::Cpu)
    }

    /// Numbers that one network holds: parameters and running statistics.
    fn size(plan: NetworkPlan, shape: [usize; 3]) -> (usize, usize) {
        let mut network = build(plan, 0..1, shape);
        let count = |tensors: &mut [Tensor]| tensors.iter().map(Tensor::numel).sum();
        (count(network.parameters()), count(network.statistics()))
    }

    #[test]
    fn networks_have_the_sizes_that_are_printed() {
        let (fashion, svhn) = ([1, 28, 28], [3, 32, 32]);
        let all = |plan, shape| {
            let (parameters, statistics) = size(plan, shape);
            parameters + statistics
        };
        // "Attacking PATE", table 5.1.
        assert_eq!(all(NetworkPlan::Cnn { filters: 64 }, fashion), 507_466);
        assert_eq!(all(NetworkPlan::Cnn { filters: 64 }, svhn), 633_546);
        assert_eq!(size(NetworkPlan::Cnn { filters: 64 }, fashion).1, 256);
        // (25 + 1) 6 + (150 + 1) 16 + (400 + 1) 120 + (120 + 1) 84 + (84 + 1) 10.
        assert_eq!(size(NetworkPlan::LeNet5, fashion), (61_706, 0));
        // "Wide residual networks", table 4, has 2.7 million; layer by layer they are these.
        assert_eq!(size(WRN, svhn).0, 2_748_890);
        assert_eq!(size(NetworkPlan::Mlp { hidden: 64 }, fashion), (784 * 64 + 64 + 640 + 10, 0));
    }

    #[test]
    fn a_network_is_the_same_alone_and_in_an_ensemble() {
        let batch_norm = NetworkPlan::WideResNet { depth: 10, width: 1, normalization: Normalization::Batch };
        for plan in [NetworkPlan::Cnn { filters: 4 }, NetworkPlan::LeNet5, batch_norm, WRN_GROUP] {
            let shape = [2, 12, 13];
            let inputs = Tensor::linspace(0.0, 40.0, 3 * 4 * 312, (Kind::Float, Device::Cpu)).sin().view([3, 4, 312]);
            let targets = Tensor::eye(10, (Kind::Float, Device::Cpu)).narrow(0, 2, 4).expand([3, 4, 10], false);
            let mut together = build(plan, 0..3, shape);
            let mut alone = build(plan, 2..3, shape);
            let close = |together: &Tensor, alone: &Tensor| {
                let third = together.view([3, -1]).select(0, 2);
                let error = farthest(&third, &alone.flatten(0, -1));
                assert!(error < 2e-5, "{plan}: {error}");
            };
            let last = |tensor: &Tensor| tensor.narrow(0, 2, 1);
            let gradients = together.gradients(&inputs, &targets);
            for (together, alone) in gradients.iter().zip(alone.gradients(&last(&inputs), &last(&targets))) {
                close(together, &alone);
            }
            for (together, alone) in together.statistics().iter().zip(alone.statistics()) {
                close(together, alone);
            }
            let logits = together.logits(&inputs);
            assert_eq!(logits.size(), [3, 4, 10]);
            close(&logits.contiguous(), &alone.logits(&last(&inputs)));
        }
    }

    #[test]
    fn impossible_networks_and_small_images_are_rejected() {
        let rejected = |plan: NetworkPlan| plan.check().unwrap_err().to_string();
        assert_eq!(rejected(NetworkPlan::Cnn { filters: 0 }), "filters = 0 is not in [1, inf)");
        let depth = NetworkPlan::WideResNet { depth: 17, width: 4, normalization: Normalization::Batch };
        assert_eq!(rejected(depth), "depth of a wide residual network = 17 is not in {10, 16, 22, 28, ...}");
        assert!(WRN.check().is_ok() && WRN.check_images([3, 8, 8]).is_ok());
        let error = NetworkPlan::LeNet5.check_images([1, 28, 11]).unwrap_err().to_string();
        assert_eq!(error, "network: images of 28 x 11 pixels; LeNet-5 needs at least 12 x 12");
    }
}
