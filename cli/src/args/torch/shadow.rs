//! Options of `leakbound torch shadow`.

use super::DataOptions;
use super::contrastive::check_training;
use super::defense::DefenseOptions;
use super::network::NetworkOptions;
use super::numbers::{any_count, count};
use super::training::TrainingOptions;
use clap::Args;
use leakbound::Result;
use leakbound_train::{Augmentation, CanaryKind, Inclusion, ShadowPlan, TrainingPlan, Views};
use serde::Serialize;
use std::path::PathBuf;

/// Pixels by which views are shifted where training shifts nothing.
const VIEW_SHIFT: usize = 2;

/// Options of `leakbound torch shadow`.
#[derive(Debug, Clone, Args, Serialize)]
pub struct ShadowOptions {
    /// Images and recording
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// Shadow models
    #[arg(long, value_name = "M", default_value = "64", value_parser = count, allow_hyphen_values = true)]
    pub models: usize,
    /// Training images audited, drawn at random
    #[arg(long, value_name = "N", default_value = "500", value_parser = count, allow_hyphen_values = true)]
    pub audit: usize,
    /// Training images that every model has [default: all that are not audited]
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub fixed: Option<usize>,
    /// What is audited in their place: original (the images as they are), mislabeled (a random wrong label),
    /// duplicated (half as many, each twice: mislabeled, which is attacked, and as it is), always-duplicated (mislabeled,
    /// and as they are in every model too), poisoned (mislabeled, and in every model a copy with the same wrong label),
    /// out-of-distribution (images of --others), uniform (random pixels) or blank (one random color); the last three
    /// with random labels
    #[arg(long, value_name = "KIND", default_value = "mislabeled")]
    pub canaries: CanaryKind,
    /// Images of another data set of the same shape for out-of-distribution canaries, in any form of --data; its
    /// training half is used
    #[arg(long, value_name = "PATH", required_if_eq("canaries", "out-of-distribution"))]
    pub others: Option<PathBuf>,
    /// How models are assigned to audited samples: half (exactly half of the models) or independent (each with
    /// probability 1/2)
    #[arg(long, value_name = "HOW", default_value = "half")]
    pub inclusion: Inclusion,
    /// Augmented views of a sample to query: 1 (the image itself) or 18 (as it is and flipped, each shifted by
    /// -S, 0 and S pixels on both axes; view 4 is the image itself)
    #[arg(long, value_name = "1|18", default_value = "1", value_parser = ["1", "18"])]
    pub views: String,
    /// The shift S of the 18 views in pixels [default: --shift, or 2 if that is 0]
    #[arg(long, value_name = "S", value_parser = count, allow_hyphen_values = true)]
    pub view_shift: Option<usize>,
    /// Also query the models on the nearest neighbor of each audited sample among the fixed images, by the distance of
    /// pixels, each the neighbor of one sample (`membership lira --answers neighbor`; with --defense selena also on
    /// Split-AI)
    #[arg(long)]
    pub neighbors: bool,
    /// The network of each model
    #[command(flatten)]
    #[serde(flatten)]
    pub network: NetworkOptions,
    /// The training of each model
    #[command(flatten)]
    #[serde(flatten)]
    pub training: TrainingOptions,
    /// Flip training images with probability 1/2
    #[arg(long)]
    pub flip: bool,
    /// Shift training images by up to this many pixels on each axis, padding with 0
    #[arg(long, value_name = "P", default_value = "0", value_parser = any_count, allow_hyphen_values = true)]
    pub shift: usize,
    /// The defense of each model
    #[command(flatten)]
    #[serde(flatten)]
    pub defense: DefenseOptions,
}

impl ShadowOptions {
    /// The library's plan.
    ///
    /// # Errors
    /// Those of [`DefenseOptions::defense`] and, for an encoder, of [`check_training`].
    pub fn plan(&self, seed: u64) -> Result<ShadowPlan> {
        if self.defense.is_contrastive() {
            check_training(&self.training, self.flip, self.shift)?;
        }
        let shift = self.view_shift.unwrap_or(if self.shift == 0 { VIEW_SHIFT } else { self.shift });
        let augmentation = Augmentation { flip: self.flip, shift: self.shift };
        Ok(ShadowPlan {
            models: self.models,
            audit: self.audit,
            fixed: self.fixed,
            canaries: self.canaries,
            inclusion: self.inclusion,
            views: if self.views == "18" { Views::Eighteen { shift } } else { Views::Itself },
            neighbors: self.neighbors,
            network: self.network.plan(),
            training: TrainingPlan {
                augmentation: (self.flip || self.shift > 0).then_some(augmentation),
                ..self.training.plan(40)
            },
            defense: self.defense.defense()?,
            seed,
        })
    }
}
