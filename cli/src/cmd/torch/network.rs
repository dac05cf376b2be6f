//! The network that a recipe trains.

use super::numbers::count;
use crate::args::values::{Choice, Names, choice};
use clap::Args;
use leakbound_train::{NetworkPlan, Normalization};
use serde::Serialize;

/// Which network.
#[derive(Debug, Clone, Args, Serialize)]
pub struct NetworkOptions {
    /// The network
    #[arg(long, value_name = "NETWORK", value_parser = choice(NETWORKS), default_value = "mlp")]
    pub network: Choice<Network>,
    /// Hidden units of an mlp
    #[arg(long, value_name = "H", default_value = "64", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub hidden: usize,
    /// Filters of each convolution of a cnn
    #[arg(long, value_name = "N", default_value = "64", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub filters: usize,
}

/// A network with this many hidden units of an mlp or filters of a cnn.
pub type Network = fn(usize, usize) -> NetworkPlan;

/// Networks by name.
pub const NETWORKS: Names<Network> = &[
    ("mlp", "One hidden layer", |hidden, _| NetworkPlan::Mlp { hidden }),
    ("cnn", "Two convolutions with batch normalization, as in \"Attacking PATE\"", |_, filters| NetworkPlan::Cnn {
        filters,
    }),
    ("lenet5", "LeNet-5", |_, _| NetworkPlan::LeNet5),
    ("wrn-16-4", "Wide residual network of depth 16 and width 4", |_, _| wide(Normalization::Batch)),
    ("wrn-16-4-group", "wrn-16-4 with group normalization, for DP-SGD", |_, _| wide(Normalization::Group)),
];

const fn wide(normalization: Normalization) -> NetworkPlan {
    NetworkPlan::WideResNet { depth: 16, width: 4, normalization }
}

impl NetworkOptions {
    pub fn plan(&self) -> NetworkPlan {
        (self.network.value)(self.hidden, self.filters)
    }
}
