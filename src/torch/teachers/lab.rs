//! Images and queries on the device.

use super::plan::TeacherPlan;
use super::split::{Phase, Split};
use crate::error::Result;
use crate::record::ImageSet;
use crate::torch::device::TrainingDevice;
use crate::torch::groups::Trainer;
use crate::torch::guard::guarded;
use crate::torch::train::{Example, TrainingImages, one_hot};
use ndarray::{Array1, Axis};
use tch::Tensor;

/// Training images, queries behind them, and how networks are trained.
pub(super) struct Lab<'a> {
    images: TrainingImages,
    trainer: Trainer<'a>,
    /// Test images that are asked about.
    pub queries: Vec<u32>,
    query_inputs: Tensor,
    /// Their labels.
    pub query_label: Array1<u8>,
}

impl<'a> Lab<'a> {
    pub fn new(
        train: &ImageSet,
        test: &ImageSet,
        plan: &'a TeacherPlan,
        device: TrainingDevice,
        progress: &'a (dyn Fn(u64) + Sync),
    ) -> Result<Self> {
        let classes = train.classes.max(test.classes);
        let mut queries = Split::Queries.order(test.len(), plan.seed);
        queries.truncate(plan.queries);
        queries.sort_unstable();
        let query_label: Array1<u8> = queries.iter().map(|&query| test.labels[query as usize]).collect();
        let pixels: Vec<u8> = queries
            .iter()
            .flat_map(|&query| test.pixels.index_axis(Axis(0), query as usize).iter().copied().collect::<Vec<_>>())
            .collect();
        let network = plan.network;
        let trainer = Trainer {
            network,
            training: &plan.training,
            shape: train.shape(),
            classes,
            seed: plan.seed,
            device,
            progress,
        };
        guarded("images", || {
            let images = |pixels: &[u8], labels: &Array1<u8>| {
                TrainingImages::new(pixels, &labels.to_vec(), classes, device.tensors())
            };
            let query_inputs = images(&pixels, &query_label).inputs;
            let images = images(&train.pixels.iter().copied().collect::<Vec<_>>(), &train.labels);
            Ok(Self { images, trainer, queries, query_inputs, query_label: query_label.clone() })
        })
    }

    /// C.
    pub fn classes(&self) -> usize {
        self.trainer.classes
    }

    /// Puts the queries behind the training images: images N + q; targets N + q with their labels, N + Q + q with the
    /// poisoned ones.
    pub fn add_queries(&mut self, poisoned: &[u8]) -> Result<()> {
        guarded("images", || {
            let target = |labels: &[u8]| one_hot(labels, self.trainer.classes, self.trainer.device.tensors());
            let [natural, poisoned] = [target(&self.query_label.to_vec()), target(poisoned)];
            self.images = TrainingImages {
                inputs: Tensor::cat(&[&self.images.inputs, &self.query_inputs], 0),
                targets: Tensor::cat(&[&self.images.targets, &natural, &poisoned], 0),
            };
            Ok(())
        })
    }

    /// Votes of a network for each table on every query.
    pub fn vote(&self, phase: Phase, tables: &[Vec<Example>]) -> Result<Vec<Vec<u8>>> {
        self.trainer.train_and_ask(phase as u64, &self.images, tables, &self.query_inputs, &|networks, _, queries| {
            let (count, pixels) = queries.size2()?;
            let inputs = queries.expand([networks.networks(), count, pixels], false);
            let votes: Vec<Vec<i64>> = networks.logits(&inputs).argmax(-1, false).try_into()?;
            Ok(votes.into_iter().map(|votes| votes.iter().map(|&vote| vote as u8).collect()).collect())
        })
    }

    /// Votes of a network for each table on a query of its own.
    pub fn vote_on_one(&self, phase: Phase, tables: &[Vec<Example>], asked: &[usize]) -> Result<Vec<u8>> {
        self.trainer.train_and_ask(
            phase as u64,
            &self.images,
            tables,
            &self.query_inputs,
            &|networks, range, queries| {
                let rows: Vec<i64> = asked[range].iter().map(|&query| query as i64).collect();
                let inputs =
                    queries.index_select(0, &Tensor::from_slice(&rows).to_device(queries.device())).unsqueeze(1);
                let votes: Vec<i64> = networks.logits(&inputs).argmax(-1, false).flatten(0, -1).try_into()?;
                Ok(votes.iter().map(|&vote| vote as u8).collect())
            },
        )
    }
}
