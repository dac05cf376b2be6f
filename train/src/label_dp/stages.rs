//! Multi-stage training with randomized response.

use super::lab::{Lab, LastAnswers};
use super::private_labels::{PrivateLabels, randomized, randomized_with_priors};
use crate::checks::reject;
use crate::ensemble::CrossEntropy;
use crate::seed::{Purpose, stream};
use leakbound::error::Result;
use leakbound::quantity::Epsilon;
use rand::seq::SliceRandom;

/// The images of one model, stage by stage, and the labels that were given them so far.
struct Stages {
    /// Images in the order in which they get their labels.
    order: Vec<u32>,
    /// Randomized labels of the first of them.
    given: Vec<u8>,
}

/// Trains every model in stages (LP-MST).
///
/// The images are dealt to the stages at random, by their shares. The labels of the first stage are randomized among
/// all classes; those of stage t with the prior that the network of stage t - 1 gives their images. The network of a
/// stage is trained from scratch on all labels that were given so far, and that of the last stage answers.
///
/// # Errors
/// [`Error::Rejected`](leakbound::Error::Rejected) for a stage without images; those of training.
///
/// # References
/// Ghazi et al. (2021), "Deep learning with label differential privacy", Algorithm 3.
pub(super) fn in_stages(lab: &Lab<'_>, epsilon: Epsilon, shares: &[f64]) -> Result<(Vec<LastAnswers>, Vec<f64>)> {
    let (seed, classes) = (lab.plan.seed, lab.classes);
    let ends = ends(shares, lab.all_of(0).len())?;
    // Not of `lab` itself, whose tensors cannot be seen by two threads.
    let labels = &lab.labels;
    let of_images = |model: usize, images: &[u32]| -> Vec<u8> {
        images.iter().map(|&image| labels[model][image as usize]).collect()
    };
    let first = |model: usize| {
        let mut order = lab.all_of(model);
        order.shuffle(&mut stream(seed, Purpose::Split, 0, model as u64));
        let given = randomized(&of_images(model, &order[..ends[0]]), classes, epsilon, (seed, model as u64))?;
        Ok(Stages { order, given })
    };
    let mut models = (0..lab.plan.models).map(first).collect::<Result<Vec<Stages>>>()?;
    for (stage, end) in ends.iter().enumerate().skip(1) {
        let next = |model: usize, probabilities: &[f32]| {
            let Stages { order, given } = &models[model];
            let images = &order[given.len()..*end];
            let prior = |&image: &u32| &probabilities[image as usize * classes..(image as usize + 1) * classes];
            let priors: Vec<f32> = images.iter().flat_map(|image| prior(image).iter().copied()).collect();
            let draws = ((seed, model as u64), stage as u64);
            randomized_with_priors(&of_images(model, images), &priors, epsilon, draws)
        };
        let (tables, targets) = lessons(lab, &models);
        let given = lab.ask_all(stage as u64 - 1, &tables, &targets, &next)?;
        for (model, given) in models.iter_mut().zip(given) {
            model.given.extend(given);
        }
    }
    let right = |(model, stages): (usize, &Stages)| {
        PrivateLabels::one_hot(&stages.given, &of_images(model, &stages.order), classes).accuracy
    };
    let accuracies = models.iter().enumerate().map(right).collect();
    let (tables, targets) = lessons(lab, &models);
    Ok((lab.last(ends.len() as u64 - 1, &CrossEntropy, &tables, &targets)?, accuracies))
}

/// Where each stage ends among the images.
fn ends(shares: &[f64], images: usize) -> Result<Vec<usize>> {
    let mut sum = 0.0;
    let mut ends: Vec<usize> = Vec::with_capacity(shares.len());
    for (stage, share) in shares.iter().enumerate() {
        sum += share;
        let last = stage + 1 == shares.len();
        let end = if last { images } else { ((sum * images as f64).round() as usize).min(images) };
        if end <= ends.last().copied().unwrap_or(0) {
            return reject(
                "label privacy",
                format!("stage {} has a share of {share} of {images} images: none", stage + 1),
            );
        }
        ends.push(end);
    }
    Ok(ends)
}

/// Examples of the labels given so far, and targets \[model, image, class\] with nothing where none was given.
fn lessons(lab: &Lab<'_>, models: &[Stages]) -> (Vec<Vec<crate::training_images::Example>>, Vec<f32>) {
    let tables = lab.tables(|model| models[model].order[..models[model].given.len()].to_vec());
    let images = models.first().map_or(0, |stages| stages.order.len());
    let mut targets = vec![0.0; models.len() * images * lab.classes];
    for (model, stages) in models.iter().enumerate() {
        for (&image, &label) in stages.order.iter().zip(&stages.given) {
            targets[(model * images + image as usize) * lab.classes + usize::from(label)] = 1.0;
        }
    }
    (tables, targets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_end_where_their_shares_do() {
        assert_eq!(ends(&[0.5, 0.5], 7).unwrap(), [4, 7]);
        assert_eq!(ends(&[0.2, 0.3, 0.5], 10).unwrap(), [2, 5, 10]);
        let message = ends(&[0.01, 0.99], 10).unwrap_err().to_string();
        assert_eq!(message, "label privacy: stage 1 has a share of 0.01 of 10 images: none");
    }
}
