//! Images on the device, and the networks that learn from them.

use super::plan::PateFmPlan;
use crate::checkpoint::Dependence;
use crate::context::TrainingContext;
use crate::ensemble::{logits_of_all, logits_of_each};
use crate::fixmatch::{FixMatch, FixMatchPlan};
use crate::groups::Trainer;
use crate::guard::guarded;
use crate::training_images::{Example, TrainingImages, one_hot, rows_of};
use leakbound::error::Result;
use serde::{Deserialize, Serialize};
use tch::Tensor;

/// Trainings that must not share random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Teachers = 1,
    Students = 2,
    Supervised = 3,
}

/// What a network answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Answers {
    /// Likeliest classes of the images that it alone is asked about, then of the test images.
    pub classes: Vec<u8>,
    /// Logits on the former, image by image.
    pub logits: Vec<f32>,
}

/// Networks to be trained: labels, and who has which of them.
pub(super) struct Lesson<'a> {
    pub phase: Phase,
    pub training: &'a FixMatchPlan,
    /// The labels of all training images, once for each run: those that are in no table are never seen.
    pub labels: Vec<&'a [u8]>,
    /// For each network its run and its images.
    pub tables: Vec<(usize, Vec<u32>)>,
    /// For each network, the training images that it is asked about.
    pub asked: Vec<&'a [u32]>,
}

/// Images, and how networks are trained on them.
pub(super) struct Lab<'a> {
    context: TrainingContext<'a>,
    plan: &'a PateFmPlan,
    /// \[image, channel, row, column\].
    pixels: Vec<u8>,
    inputs: Tensor,
    tests: Tensor,
}

impl<'a> Lab<'a> {
    pub fn new(context: &TrainingContext<'a>, plan: &'a PateFmPlan) -> Result<Self> {
        let (context, device) = (*context, context.device.tensors());
        guarded("images", || {
            let [inputs, tests] =
                [context.train, context.test].map(|set| TrainingImages::of(set, context.classes(), device).inputs);
            Ok(Self { context, plan, pixels: context.train.pixels.iter().copied().collect(), inputs, tests })
        })
    }

    /// The answers of each network. The checkpoint is that of the teachers: it has to know what else the answers of a
    /// student depend on.
    pub fn answers(&self, lesson: &Lesson<'_>) -> Result<Vec<Answers>> {
        let &Lesson { phase, training: plan, ref labels, ref tables, ref asked } = lesson;
        let context = self.context;
        let dependence = match phase {
            Phase::Teachers => Dependence::default(),
            Phase::Students | Phase::Supervised => Dependence::on(&(plan, labels, tables, asked))?,
        };
        let training = plan.training();
        let (classes, device) = (context.classes(), context.device.tensors());
        let images = guarded("labels", || {
            Ok(TrainingImages {
                inputs: self.inputs.shallow_clone(),
                targets: one_hot(&labels.concat(), classes, device),
            })
        })?;
        let each = context.train.len() as u32;
        let example = |run: usize, image: u32| Example { image, target: run as u32 * each + image };
        let tables: Vec<Vec<Example>> =
            tables.iter().map(|(run, images)| images.iter().map(|&image| example(*run, image)).collect()).collect();
        let trainer = Trainer { dependence, ..context.trainer(self.plan.network, &training, self.plan.seed) };
        let fixmatch = FixMatch { trainer, plan, pixels: &self.pixels };
        let share = || [self.inputs.shallow_clone(), self.tests.shallow_clone()];
        fixmatch.train_and_ask(phase as u64, &images, &tables, &share, &|networks, group, [inputs, tests]| {
            let rows = |images: &&[u32]| rows_of(inputs, images.iter().copied());
            let own = Tensor::stack(&asked[group.clone()].iter().map(rows).collect::<Vec<_>>(), 0);
            let (own, tests) = (logits_of_each(networks, &own), logits_of_all(networks, tests));
            let classes = Tensor::cat(&[&own, &tests], 1).argmax(-1, false);
            let answers = |network: usize| {
                Ok(Answers {
                    classes: classes.select(0, network as i64).try_into()?,
                    // Votes are all that is wanted of teachers.
                    logits: match phase {
                        Phase::Students => Vec::try_from(own.select(0, network as i64).flatten(0, -1).contiguous())?,
                        Phase::Teachers | Phase::Supervised => Vec::new(),
                    },
                })
            };
            (0..group.len()).map(answers).collect()
        })
    }
}
