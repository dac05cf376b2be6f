//! Images and queries on the device.

use super::plan::TeacherPlan;
use super::split::{Phase, Split};
use crate::context::TrainingContext;
use crate::ensemble::logits_of_all;
use crate::groups::Trainer;
use crate::guard::guarded;
use crate::seed::some_of;
use crate::training_images::{Example, TrainingImages, rows_of};
use leakbound::error::Result;
use ndarray::Array1;
use tch::{TchError, Tensor};

/// Training images, queries behind them, and how networks are trained.
pub(super) struct Lab<'a> {
    images: TrainingImages,
    trainer: Trainer<'a>,
    /// Test images that are queried on.
    pub queries: Vec<u32>,
    query_inputs: Tensor,
    /// All test images and their classes.
    test_inputs: Tensor,
    test_label: Vec<u8>,
    /// Their labels.
    pub query_label: Array1<u8>,
}

impl<'a> Lab<'a> {
    pub fn new(context: &TrainingContext<'a>, plan: &'a TeacherPlan) -> Result<Self> {
        let &TrainingContext { train, test, device, .. } = context;
        let classes = context.classes();
        let queries = some_of(test.len(), plan.queries, Split::Queries.stream(plan.seed));
        let query_label: Array1<u8> = queries.iter().map(|&query| test.labels[query as usize]).collect();
        let trainer = context.trainer(plan.network, &plan.training, plan.seed);
        guarded("images", || {
            let [images, tests] = [train, test].map(|set| TrainingImages::of(set, classes, device.tensors()));
            let (query_inputs, test_inputs) = (rows_of(&tests.inputs, queries.iter().copied()), tests.inputs);
            let test_label = test.labels.to_vec();
            Ok(Self { images, trainer, queries, query_inputs, test_inputs, test_label, query_label })
        })
    }

    /// Puts the queries behind the training images: images N + q; targets N + q with their labels, N + Q + q with the
    /// poisoned ones.
    pub fn add_queries(&mut self, poisoned: &[u8]) -> Result<()> {
        guarded("images", || {
            let (images, classes) = (self.images.share(), self.trainer.classes);
            let inputs = Tensor::cat(&[&images.inputs, &self.query_inputs], 0);
            let images = images.and_targets(&self.query_label.to_vec(), classes).and_targets(poisoned, classes);
            self.images = TrainingImages { inputs, ..images };
            Ok(())
        })
    }

    /// Votes of a network for each table on every query, and the share of all test images that each of the first
    /// `measured` networks gets right.
    pub fn vote(&self, phase: Phase, tables: &[Vec<Example>], measured: usize) -> Result<(Vec<Vec<u8>>, Vec<f64>)> {
        let (queries, count) = (self.queries.len() as i64, self.test_label.len() as i64);
        let asked = guarded("images", || Ok(Tensor::cat(&[&self.query_inputs, &self.test_inputs], 0)))?;
        let labels = &self.test_label;
        let answers =
            self.trainer.train_and_ask(phase as u64, &self.images, tables, &asked, &|networks, range, asked| {
                let classes = |images: &Tensor| -> std::result::Result<Vec<Vec<u8>>, TchError> {
                    logits_of_all(networks, images).argmax(-1, false).try_into()
                };
                let votes = classes(&asked.narrow(0, 0, queries))?;
                let right: Vec<Option<usize>> = if range.start < measured {
                    let right =
                        |found: &Vec<u8>| found.iter().zip(labels).filter(|(found, label)| found == label).count();
                    classes(&asked.narrow(0, queries, count))?.iter().map(|found| Some(right(found))).collect()
                } else {
                    vec![None; votes.len()]
                };
                Ok(votes.into_iter().zip(right).collect())
            })?;
        let (votes, right): (Vec<_>, Vec<_>) = answers.into_iter().unzip();
        Ok((votes, right.into_iter().take(measured).flatten().map(|right| right as f64 / count as f64).collect()))
    }

    /// Votes of a network for each table on its own query.
    pub fn vote_on_one(&self, phase: Phase, tables: &[Vec<Example>], asked: &[usize]) -> Result<Vec<u8>> {
        self.trainer.train_and_ask(
            phase as u64,
            &self.images,
            tables,
            &self.query_inputs,
            &|networks, range, queries| {
                let inputs = rows_of(queries, asked[range].iter().map(|&query| query as i64)).unsqueeze(1);
                networks.logits(&inputs).argmax(-1, false).flatten(0, -1).try_into()
            },
        )
    }
}
