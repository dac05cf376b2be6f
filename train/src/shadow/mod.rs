//! Shadow models: networks that were trained on some audited samples and not on others, for membership inference.

mod answers;
mod plan;

pub use answers::{FurtherAnswers, NeighborAnswers, ShadowAnswers};
pub use plan::{Inclusion, ShadowPlan, Views};

use super::answers::{indices, largest};
use super::augment::{Move, moved};
use super::canaries::{AuditSplit, Canaries};
use super::checks::{reject, unavailable};
use super::context::TrainingContext;
use super::defense::method::{Answers, Further, Queries, Task};
use super::guard::guarded;
use super::neighbors::nearest_neighbors;
use super::seed::{Purpose, stream};
use super::training_images::{Example, TrainingImages, rows_of};
use leakbound::error::Result;
use leakbound::membership::CanaryKind;
use leakbound::record::ImageSet;
use ndarray::{Array1, Array2, Array4, ArrayD, Axis};
use rand::RngExt;
use tch::Tensor;

/// Trains shadow models and asks them about the audited samples. Progress counts networks; each model has
/// [`Defense::networks`](crate::Defense::networks) of them.
///
/// `others` are the images of [`CanaryKind::OutOfDistribution`], which no other kind takes.
///
/// # Errors
/// [`Error::Domain`](leakbound::Error::Domain) for a count of 0, [`Error::Rejected`](leakbound::Error::Rejected) if
/// there are too few images, too many models for memory, or the networks' logits are not finite,
/// [`Error::Length`](leakbound::Error::Length) if images differ in shape,
/// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails, those of the checkpoint.
///
/// # References
/// Aerni, Zhang and Tramèr (2024), "Evaluations of machine learning privacy defenses are misleading", section 5.2;
/// Carlini et al. (2022), "Membership inference attacks from first principles".
///
/// [`Error::Domain`](leakbound::Error::Domain): leakbound::Error::Domain
/// [`Error::Rejected`](leakbound::Error::Rejected): leakbound::Error::Rejected
/// [`Error::Length`](leakbound::Error::Length): leakbound::Error::Length
/// [`Error::Unavailable`](leakbound::Error::Unavailable): leakbound::Error::Unavailable
pub fn train_shadow_models(
    context: &TrainingContext<'_>,
    others: Option<&ImageSet>,
    plan: &ShadowPlan,
) -> Result<ShadowAnswers> {
    let (train, classes) = (context.train, context.classes());
    let fixed = plan.fixed_images(train.len(), train.shape(), classes)?;
    context.check_shapes()?;
    if others.is_some() && plan.canaries != CanaryKind::OutOfDistribution {
        return reject("shadow models", format!("{} canaries take no images of another data set", plan.canaries));
    }
    let split = AuditSplit::draw(train.len(), plan.audit, fixed, plan.seed);
    let canaries = Canaries::make(plan.canaries, train, &split.audit, classes, others, plan.seed)?;
    let keep = kept(plan.models, canaries.labels.len(), plan.inclusion, plan.seed);
    // Copies of the canaries are images of every model like the others.
    let fixed = fixed + canaries.copies.len();
    let tables: Vec<Vec<Example>> = keep
        .rows()
        .into_iter()
        .map(|keep| {
            let canaries = keep.iter().enumerate().filter(|&(_, &keep)| keep).map(|(sample, _)| fixed + sample);
            (0..fixed).chain(canaries).map(|image| Example::labeled(image as u32)).collect()
        })
        .collect();
    let neighbors = if plan.neighbors { neighbors(train, &split, &canaries)? } else { Vec::new() };
    let (images, asked) = guarded("images", || Ok(tensors(context, &split, &canaries, &neighbors, plan)))?;
    let (views, image) = (plan.views.moves().len(), train.shape());
    let queries = Queries { fixed, attacked: canaries.attacked, views, neighbors: neighbors.len(), image };
    let trainer = context.trainer(plan.network, &plan.training, plan.seed);
    let method = plan.defense.method();
    let test_labels = &context.test.labels.to_vec();
    let task =
        Task { trainer, images: &images, tables: &tables, asked: &asked, queries, neighbors: &neighbors, test_labels };
    let answers = method.answers(&task)?;
    let shown_views = method.views(&task)?;
    if answers.iter().flatten().flatten().any(|logit| !logit.is_finite()) {
        return reject("shadow models", "logits are not finite: training diverged; take a smaller learning rate");
    }
    let Queries { attacked, views, .. } = queries;
    let test_accuracy = answers.iter().map(|answers| {
        let right = answers[0][queries.before_tests() * classes..]
            .chunks_exact(classes)
            .zip(&context.test.labels)
            .filter(|&(logits, &label)| largest(logits) == usize::from(label));
        right.count() as f32 / context.test.len() as f32
    });
    let (attacked_keep, duplicate_keep) = keep.view().split_at(Axis(1), attacked);
    let labels = |labels: &[u8]| labels.iter().map(|&label| label.into()).collect::<Array1<i64>>();
    Ok(ShadowAnswers {
        test_accuracy: test_accuracy.collect(),
        logits: Array4::from_shape_fn((plan.models, attacked, views, classes), |(model, sample, view, class)| {
            answers[model][0][(view * attacked + sample) * classes + class]
        }),
        neighbors: plan.neighbors.then(|| NeighborAnswers {
            index: neighbors.iter().map(|&place| split.fixed[place as usize] as i32).collect(),
            logits: Array4::from_shape_fn((plan.models, attacked, 1, classes), |(model, sample, _, class)| {
                answers[model][0][(views * attacked + sample) * classes + class]
            }),
        }),
        further: further(method.further(queries, classes), &answers)?,
        keep: attacked_keep.to_owned(),
        labels: labels(&canaries.labels[..attacked]),
        audit_index: indices(&split.audit[..attacked]),
        fixed_index: indices(&split.fixed),
        duplicate_keep: (plan.canaries == CanaryKind::Duplicated).then(|| duplicate_keep.to_owned()),
        copy_labels: plan.canaries.has_copies().then(|| labels(&canaries.copies)),
        source_index: canaries.source.as_deref().map(indices),
        canary_pixels: match plan.canaries {
            CanaryKind::OutOfDistribution | CanaryKind::Uniform | CanaryKind::Blank => Some(canaries.pixels),
            CanaryKind::Original
            | CanaryKind::Mislabeled
            | CanaryKind::Duplicated
            | CanaryKind::AlwaysDuplicated
            | CanaryKind::Poisoned => None,
        },
        views: shown_views,
        itself: plan.views.itself(),
    })
}

/// The place among the fixed images of the nearest neighbor of each attacked sample.
fn neighbors(train: &ImageSet, split: &AuditSplit, canaries: &Canaries) -> Result<Vec<u32>> {
    let attacked = canaries.pixels.slice_axis(Axis(0), (..canaries.attacked).into());
    let fixed = split.fixed.iter().map(|&image| train.pixels.index_axis(Axis(0), image as usize));
    nearest_neighbors(attacked.outer_iter(), fixed)
}

/// Answers of all models besides the logits.
fn further(arrays: Vec<Further>, answers: &[Answers]) -> Result<Vec<FurtherAnswers>> {
    let array = |(number, Further { name, mean, shape, shown }): (usize, Further)| {
        let shape = [vec![answers.len()], shape].concat();
        let values = answers.iter().flat_map(|answers| answers[number + 1].iter().copied()).collect();
        let values = ArrayD::from_shape_vec(shape, values).map_err(unavailable("answers"))?;
        Ok(FurtherAnswers { name, mean, values, shown })
    };
    arrays.into_iter().enumerate().map(array).collect()
}

/// \[model, sample\]: which model is trained on which sample.
fn kept(models: usize, samples: usize, inclusion: Inclusion, seed: u64) -> Array2<bool> {
    let mut stream = stream(seed, Purpose::Split, 0, 0);
    let mut keep = Array2::from_elem((models, samples), false);
    for mut sample in keep.axis_iter_mut(Axis(1)) {
        match inclusion {
            Inclusion::Half => rand::seq::index::sample(&mut stream, models, models / 2)
                .into_iter()
                .for_each(|model| sample[model] = true),
            Inclusion::Independent => sample.iter_mut().for_each(|keep| *keep = stream.random()),
        }
    }
    keep
}

/// Training images, first those of every model (the fixed ones, then the copies of canaries) and the audited samples
/// behind them; and what models are queried on, view by view of the attacked samples, their neighbors and the test
/// images behind them.
fn tensors(
    context: &TrainingContext<'_>,
    split: &AuditSplit,
    canaries: &Canaries,
    neighbors: &[u32],
    plan: &ShadowPlan,
) -> (TrainingImages, Tensor) {
    let &TrainingContext { train, test, .. } = context;
    let (classes, device) = (context.classes(), context.device.tensors());
    let (fixed, copied) = (split.fixed.len() + canaries.copies.len(), canaries.copies.len());
    let mut pixels = Vec::with_capacity((fixed + canaries.labels.len()) * train.shape().iter().product::<usize>());
    let mut labels = Vec::with_capacity(fixed + canaries.labels.len());
    for &image in &split.fixed {
        pixels.extend(train.pixels.index_axis(Axis(0), image as usize));
        labels.push(train.labels[image as usize]);
    }
    pixels.extend(canaries.pixels.slice_axis(Axis(0), (..copied).into()));
    labels.extend(&canaries.copies);
    pixels.extend(&canaries.pixels);
    labels.extend(&canaries.labels);
    let images = TrainingImages::new(&pixels, &labels, classes, device);
    let attacked = images.inputs.narrow(0, fixed as i64, canaries.attacked as i64);
    let view = |by: Move| moved(&attacked, train.shape(), &vec![by; canaries.attacked]);
    let mut asked: Vec<Tensor> = plan.views.moves().into_iter().map(view).collect();
    if !neighbors.is_empty() {
        asked.push(rows_of(&images.inputs, neighbors.iter().copied()));
    }
    asked.push(TrainingImages::of(test, classes, device).inputs);
    (images, Tensor::cat(&asked, 0))
}

#[cfg(test)]
mod tests;
