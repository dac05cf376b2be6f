//! DFKD: a network distilled on synthetic images, which a generator makes from the statistics of batch normalization.

mod plan;
mod student;
mod synthesis;

pub use plan::Dfkd;

use super::method::{Answers, Further, Method, PHASE, Queries, Shown, Task};
use crate::answers::{by_network, logits};
use crate::checks::{check_positive, check_range, reject};
use crate::ensemble::{Ensemble, logits_of_all};
use crate::groups::Trainer;
use crate::network::NetworkPlan;
use crate::train::TrainingPlan;
use leakbound::error::Result;
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
        check_positive("temperature of DFKD", self.temperature)
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

#[cfg(test)]
mod tests;
