//! `leakbound torch shadow`: answers of models that were trained on some audited samples and not on others.

use super::contrastive::check_training;
use super::data::DataOptions;
use super::defense::DefenseOptions;
use super::network::NetworkOptions;
use super::numbers::count;
use super::recipe::Recipe;
use super::shadow_figures::figures;
use super::training::{AugmentationOptions, TrainingOptions};
use super::training_run::{About, Recorded, add_fields};
use crate::args::Common;
use crate::args::values::{listed, named};
use crate::cmd::recorded_plan::{RecordedPlan, untrained_views};
use clap::Args;
use leakbound::Result;
use leakbound::record::ArrayWriter;
use leakbound_train::{
    CanaryKind, FurtherAnswers, Inclusion, NeighborAnswers, ShadowAnswers, ShadowPlan, TrainingDevice, TrainingPlan,
    Views, train_shadow_models,
};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Pixels by which views are shifted where training shifts nothing.
const VIEW_SHIFT: usize = 2;

/// Train shadow models with and without audited samples, and record their answers
#[derive(Debug, Clone, Args, Serialize)]
#[command(after_help = "Examples:\n  leakbound torch shadow --data fashion-mnist --recording shadow.npz --models 16 \
                        --fixed 4000 --hidden 96\n  leakbound membership lira shadow.npz --report lira.html\n  \
                        leakbound torch shadow --data fashion-mnist --recording views.npz --flip --shift 2 --views \
                        18\n  leakbound torch shadow --data fashion-mnist --recording hamp.npz --defense hamp\n  \
                        leakbound torch shadow --data fashion-mnist --recording simclr.npz --canaries original \
                        --fixed 2000 --defense simclr --encoder-epochs 200 --encoder-batch 128")]
pub struct ShadowOptions {
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
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub fixed: Option<usize>,
    /// What is audited in their place: original (the images as they are), mislabeled (a random wrong label),
    /// duplicated (half as many, each twice: mislabeled, which is attacked, and as it is), always-duplicated (mislabeled,
    /// and as they are in every model too), poisoned (mislabeled, and in every model a copy with the same wrong label),
    /// out-of-distribution (images of --others), uniform (random pixels) or blank (one random color); the last three
    /// with random labels
    #[arg(long, value_name = "KIND", default_value = "mislabeled", help_heading = "Advanced")]
    #[arg(hide_possible_values = true, value_parser = listed(named::<CanaryKind>, CanaryKind::ALL.map(CanaryKind::name)))]
    pub canaries: CanaryKind,
    /// Images of another data set of the same shape for out-of-distribution canaries, in any form of --data; its
    /// training half is used
    #[arg(long, value_name = "PATH", required_if_eq("canaries", "out-of-distribution"), help_heading = "Advanced")]
    pub others: Option<PathBuf>,
    /// How models are assigned to audited samples: half (exactly half of the models) or independent (each with
    /// probability 1/2)
    #[arg(long, value_name = "HOW", default_value = "half", help_heading = "Advanced")]
    #[arg(hide_possible_values = true, value_parser = listed(named::<Inclusion>, Inclusion::ALL.map(Inclusion::name)))]
    pub inclusion: Inclusion,
    /// Augmented views of a sample to query: 1 (the image itself) or 18 (as it is and flipped, each shifted by
    /// -S, 0 and S pixels on both axes; view 4 is the image itself)
    #[arg(long, value_name = "1|18", default_value = "1", value_parser = ["1", "18"], help_heading = "Advanced")]
    pub views: String,
    /// The shift S of the 18 views in pixels [default: --shift, or 2 if that is 0]
    #[arg(long, value_name = "S", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub view_shift: Option<usize>,
    /// Also query the models on the nearest neighbor of each audited sample among the fixed images, by the distance of
    /// pixels, each the neighbor of one sample (`membership lira --answers neighbor`; with --defense selena also on
    /// Split-AI)
    #[arg(long, help_heading = "Advanced")]
    pub neighbors: bool,
    #[command(flatten)]
    #[serde(flatten)]
    pub network: NetworkOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub training: TrainingOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub augmentation: AugmentationOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub defense: DefenseOptions,
}

impl ShadowOptions {
    pub fn plan(&self, seed: u64) -> Result<ShadowPlan> {
        if self.defense.is_contrastive() {
            check_training(&self.training, &self.augmentation)?;
        }
        let shift =
            self.view_shift.unwrap_or(if self.augmentation.shift == 0 { VIEW_SHIFT } else { self.augmentation.shift });
        Ok(ShadowPlan {
            models: self.models,
            audit: self.audit,
            fixed: self.fixed,
            canaries: self.canaries,
            inclusion: self.inclusion,
            views: if self.views == "18" { Views::Eighteen { shift } } else { Views::Itself },
            neighbors: self.neighbors,
            network: self.network.plan(),
            training: TrainingPlan { augmentation: self.augmentation.plan(), ..self.training.plan(40) },
            defense: self.defense.defense()?,
            seed,
        })
    }
}

/// Trains the models and writes the recording.
pub fn record(common: &Common, options: &ShadowOptions, device: TrainingDevice) -> Result<Recorded> {
    let plan = options.plan(common.seed)?;
    let files: Vec<&Path> = options.others.as_deref().into_iter().collect();
    let mut recipe = Recipe::open(common, &options.data, device, &files)?;
    let images = recipe.run.digests();
    let others = options.others.as_ref().map(|path| recipe.read_others(path)).transpose()?;
    recipe.open_checkpoint("shadow", &plan)?;
    let networks = plan.networks();
    let answers = recipe.train_networks(networks, |context| train_shadow_models(context, others.as_ref(), &plan))?;
    let others = recipe.run.digests().split_off(images.len());
    let recorded = RecordedPlan::new(&plan, images, others);
    let untrained = recorded.has_untrained_views().then(|| untrained_views("these models"));
    let about = About {
        title: format!(
            "{} shadow models ({}, {}), {} {} samples audited, {} other images in every model",
            plan.models,
            plan.network,
            plan.defense,
            answers.labels.len(),
            plan.canaries,
            answers.fixed_index.len()
        ),
        networks,
        facts: facts(&answers),
        warnings: untrained.into_iter().collect(),
        figures: figures(&answers, &recipe.train, &options.canaries),
        plan: Some(recorded),
        ..About::of("leakbound.torch-shadow/1", options)
    };
    recipe.record(about, |writer| add(writer, &answers))
}

fn facts(answers: &ShadowAnswers) -> Vec<(&'static str, f64)> {
    let of_audited = [
        answers.audit_accuracy(true).map(|accuracy| ("accuracy-on-members", accuracy)),
        answers.audit_accuracy(false).map(|accuracy| ("accuracy-on-others", accuracy)),
    ];
    let further = answers.further.iter().filter_map(FurtherAnswers::named_mean);
    let test = ("mean-test-accuracy", answers.mean_test_accuracy());
    [test].into_iter().chain(of_audited.into_iter().flatten()).chain(further).collect()
}

/// The arrays that `membership` reads, then what else there is to know.
fn add(writer: &mut ArrayWriter, answers: &ShadowAnswers) -> Result<()> {
    add_fields!(writer, answers; logits, keep, labels, audit_index, test_accuracy, fixed_index);
    add_fields!(writer, answers; some duplicate_keep, copy_labels, source_index, canary_pixels);
    if let Some(NeighborAnswers { index, logits }) = &answers.neighbors {
        writer.add("neighbor_logits", logits)?;
        writer.add("neighbor_index", index)?;
    }
    for FurtherAnswers { name, values, .. } in &answers.further {
        writer.add(name, values)?;
    }
    Ok(())
}
