//! The network that a recipe trains.

use super::numbers::count;
use clap::{Args, ValueEnum};
use leakbound_train::{NetworkPlan, Normalization};
use serde::Serialize;

/// Which network.
#[derive(Debug, Clone, Args, Serialize)]
pub struct NetworkOptions {
    /// The network
    #[arg(long, value_name = "NETWORK", default_value = "mlp")]
    pub network: NetworkName,
    /// Hidden units of an mlp
    #[arg(long, value_name = "H", default_value = "64", value_parser = count, allow_hyphen_values = true)]
    pub hidden: usize,
    /// Filters of each convolution of a cnn
    #[arg(long, value_name = "N", default_value = "64", value_parser = count, allow_hyphen_values = true)]
    pub filters: usize,
}

/// Networks by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkName {
    /// One hidden layer
    Mlp,
    /// Two convolutions with batch normalization, as in "Attacking PATE"
    Cnn,
    /// LeNet-5
    #[value(name = "lenet5")]
    #[serde(rename = "lenet5")]
    LeNet5,
    /// Wide residual network of depth 16 and width 4
    #[value(name = "wrn-16-4")]
    #[serde(rename = "wrn-16-4")]
    Wrn16x4,
    /// The same with group normalization, for DP-SGD
    #[value(name = "wrn-16-4-group")]
    #[serde(rename = "wrn-16-4-group")]
    Wrn16x4Group,
}

impl NetworkOptions {
    /// The library's plan.
    pub fn plan(&self) -> NetworkPlan {
        self.network.plan(self.hidden, self.filters)
    }
}

impl NetworkName {
    /// The network, with so many hidden units of an mlp or filters of a cnn.
    pub fn plan(self, hidden: usize, filters: usize) -> NetworkPlan {
        let wide = |normalization| NetworkPlan::WideResNet { depth: 16, width: 4, normalization };
        match self {
            Self::Mlp => NetworkPlan::Mlp { hidden },
            Self::Cnn => NetworkPlan::Cnn { filters },
            Self::LeNet5 => NetworkPlan::LeNet5,
            Self::Wrn16x4 => wide(Normalization::Batch),
            Self::Wrn16x4Group => wide(Normalization::Group),
        }
    }
}
