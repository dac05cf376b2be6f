//! The network that a recipe trains.

use super::count;
use clap::Args;
use leakbound::torch::NetworkPlan;
use serde::Serialize;

/// Which network.
#[derive(Debug, Clone, Args, Serialize)]
pub struct NetworkOptions {
    /// Hidden units
    #[arg(long, value_name = "H", default_value = "64", value_parser = count, allow_hyphen_values = true)]
    pub hidden: usize,
}

impl NetworkOptions {
    /// What the library is asked for.
    pub fn plan(&self) -> NetworkPlan {
        NetworkPlan::Mlp { hidden: self.hidden }
    }
}
