//! Over what a layer's values are normalized.

use serde::Serialize;

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
