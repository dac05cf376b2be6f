//! DFKD: a network distilled on synthetic images, which a generator makes of what batch normalization remembers.

mod student;
mod synthesis;

use super::method::{Answers, Further, Method, PHASE, Queries, Shown, Task, logits};
use crate::answers::by_network;
use crate::checks::{check_range, reject};
use crate::ensemble::{Ensemble, logits_of_all};
use crate::groups::Trainer;
use crate::network::NetworkPlan;
use crate::train::TrainingPlan;
use leakbound::error::Result;
use serde::Serialize;
use std::ops::Range;
use student::Students;
use synthesis::Synthesis;
use tch::{Kind, TchError, Tensor};

/// Synthetic images recorded for each model.
const PICTURES: i64 = 16;
/// The largest memory bank of one network, in bytes: 4 GiB.
const MAX_BANK: usize = 1 << 32;

impl Dfkd {
    /// What the students of a group of teachers answer.
    fn distilled(
        self,
        teachers: &dyn Ensemble,
        models: Range<usize>,
        (trainer, queries): (&Trainer<'_>, Queries),
        (asked, test_labels): (&Tensor, &[i64]),
    ) -> std::result::Result<Vec<Answers>, TchError> {
        let mut synthesis = Synthesis::new(self, models.clone(), trainer);
        let mut students = Students::new(self, models, trainer);
        let (mut images, mut distances) = (Tensor::new(), Vec::new());
        for _ in 0..self.iterations {
            let (made, distance) = synthesis.images(teachers);
            students.learn(teachers, &made);
            (images, _) = (made, distances.push(distance));
        }
        let answers = logits(students.networks(), asked)?;
        let pictures = by_network(&images.narrow(1, 0, PICTURES.min(self.images as i64)))?;
        let distances = by_network(&Tensor::stack(&distances, 1))?;
        let tests = asked.narrow(0, queries.before_tests() as i64, test_labels.len() as i64);
        let right = logits_of_all(teachers, &tests)
            .argmax(-1, false)
            .eq_tensor(&Tensor::from_slice(test_labels).to_device(tests.device()));
        let accuracies = by_network(&right.to_kind(Kind::Float).mean_dim([1i64].as_slice(), true, Kind::Float))?;
        let further = pictures.into_iter().zip(distances).zip(accuracies);
        let all = answers.into_iter().zip(further);
        Ok(all.map(|(logits, ((pictures, distances), accuracy))| vec![logits, pictures, distances, accuracy]).collect())
    }
}

impl Method for Dfkd {
    fn check(&self, _: usize) -> Result<()> {
        let counts = [
            ("iterations of DFKD", self.iterations, 1, "[1, inf)"),
            ("synthetic images of DFKD", self.images, 2, "[2, inf)"),
            ("synthesis steps of DFKD", self.steps, 1, "[1, inf)"),
            ("student epochs of DFKD", self.epochs, 1, "[1, inf)"),
            ("generator filters of DFKD", self.filters, 1, "[1, inf)"),
        ];
        for (quantity, count, least, domain) in counts {
            check_range(quantity, count as f64, count >= least, domain)?;
        }
        let temperature = self.temperature;
        check_range("temperature of DFKD", temperature, temperature > 0.0 && temperature.is_finite(), "(0, inf)")
    }

    fn check_training(&self, network: NetworkPlan, _: &TrainingPlan, image: [usize; 3]) -> Result<()> {
        let rejected = |reason: String| reject("defense", reason);
        if !network.normalizes_batches() {
            return rejected(format!(
                "DFKD makes images of the statistics of batch normalization, and {network} has none; take a network \
                 that has, such as --network cnn"
            ));
        }
        let bytes = image.into_iter().chain([self.iterations, self.images]).try_fold(1usize, usize::checked_mul);
        if bytes.is_none_or(|bytes| bytes > MAX_BANK) {
            return rejected(format!(
                "{} times {} synthetic images of DFKD need more than 4 GiB; take fewer",
                self.iterations, self.images
            ));
        }
        Ok(())
    }

    fn further(&self, Queries { image, .. }: Queries, _: usize) -> Vec<Further> {
        let pictures = self.images.min(PICTURES as usize);
        vec![
            Further { shown: Shown::Images, ..Further::new("synthetic_images", [&[pictures], &image[..]].concat()) },
            Further { shown: Shown::Iterations, ..Further::new("statistics_distance", vec![self.iterations]) },
            Further::of_models("teacher_test_accuracy", "mean-teacher-test-accuracy"),
        ]
    }

    fn answers(
        &self,
        &Task { trainer, images, tables, asked, queries, test_labels, .. }: &Task<'_>,
    ) -> Result<Vec<Answers>> {
        let test_labels: Vec<i64> = test_labels.iter().map(|&label| label.into()).collect();
        trainer.train_and_ask(PHASE, images, tables, asked, &|teachers, models, asked| {
            self.distilled(teachers, models, (&trainer, queries), (asked, &test_labels))
        })
    }
}

/// Data-free knowledge distillation: a network that never sees a training image.
///
/// A teacher is trained by cross-entropy. Then, in each of T iterations, a generator makes n images whose statistics in
/// the teacher's layers of batch normalization are close to the running ones; the images, as bytes, and the teacher's
/// answers enter a memory bank; and a student of the same shape is trained for some epochs on the whole bank, with the
/// batch, optimizer, schedule and augmentation of the plan. Only the student is queried.
///
/// - An image batch minimizes Σ ‖mean - running mean‖₂ + ‖variance - running variance‖₂ over the layers, as in Aerni et
///   al.; the class-prior and adversarial losses of Fang et al. are left out, as there.
/// - The generator meta-learns (first-order MAML): for each batch, a copy of it and fresh noise take `steps` steps of
///   Adam; the images of the step with the least distance are kept, and the gradients of all steps together move the
///   generator by one step of Adam. Its first layer is drawn again for each batch, so that batches differ.
/// - The student minimizes T² · CE(teacher at temperature T, student at temperature T).
///
/// Beside the logits the recording has `synthetic_images` \[model, 16, channel, row, column\] in [0, 1], of the last
/// iteration; `statistics_distance` \[model, iteration\], that of the images kept; and `teacher_test_accuracy`
/// \[model\].
///
/// # References
/// Fang et al. (2022), "Up to 100x faster data-free knowledge distillation"; Yin et al. (2020), "Dreaming to distill:
/// Data-free knowledge transfer via DeepInversion", (4); Aerni, Zhang and Tramèr (2024), "Evaluations of machine
/// learning privacy defenses are misleading", appendix A.4.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Dfkd {
    /// Iterations, at least 1.
    pub iterations: usize,
    /// n, synthetic images of an iteration, at least 2.
    pub images: usize,
    /// Steps that noise and generator take for each batch, at least 1.
    pub steps: usize,
    /// Epochs on the memory bank in each iteration, at least 1.
    pub epochs: usize,
    /// Filters of the last hidden layer of the generator; the others have twice as many. At least 1.
    pub filters: usize,
    /// T, above 0.
    pub temperature: f64,
}

impl Dfkd {
    /// Iterations, images and epochs of Aerni et al. (2024), appendix A.4; the rest as the program of Fang et al. has it
    /// for CIFAR.
    pub const PUBLISHED: Self =
        Self { iterations: 240, images: 256, steps: 10, epochs: 5, filters: 64, temperature: 20.0 };
}

#[cfg(test)]
mod tests;
