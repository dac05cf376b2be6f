//! The training of a transformer, and its answers afterwards.

use super::lessons::{Library, lessons};
use super::plan::InContextPlan;
use super::transformer::{Batch, Prompt, Transformer};
use crate::adam::{Adam, AdamMemory, PAPER};
use crate::answers::numbers;
use crate::block::sum_of_parts;
use crate::checkpoint::TrainingCheckpoint;
use crate::checks::unavailable;
use crate::context::TrainingContext;
use crate::ensemble::check_finite;
use crate::guard::{guarded, report};
use crate::seed::{Purpose, stream};
use crate::training_images::TrainingImages;
use leakbound::error::Result;
use serde::{Deserialize, Serialize};
use tch::{Kind, Tensor};

/// Phase of the training in a checkpoint.
const PHASE: u64 = 1;
/// A training is saved after each of this many parts.
const SAVED: u64 = 10;
/// Parts of a batch on a CPU.
const PARTS: usize = 2;
/// Tokens of a pass that answers.
const TOKENS: usize = 1 << 12;
/// Queries on a prompt in a pass that answers.
const QUERIES: usize = 64;

/// A transformer in training, as numbers that can be kept.
#[derive(Serialize, Deserialize)]
struct Saved {
    step: u64,
    parameters: Vec<Vec<f32>>,
    adam: AdamMemory,
}

/// A transformer in training.
struct Learner<'a> {
    plan: &'a InContextPlan,
    context: &'a TrainingContext<'a>,
    images: Tensor,
    library: Library,
    transformer: Transformer,
    adam: Adam,
    /// Steps done.
    step: u64,
}

/// Trains a transformer on the training images; progress counts steps. The checkpoint keeps it after each tenth of the
/// steps, with what Adam remembers.
///
/// # Errors
/// Those of the plan, [`Error::Rejected`](leakbound::Error::Rejected) if training diverges,
/// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails; those of the checkpoint.
pub(crate) fn learn_in_context(context: &TrainingContext<'_>, plan: &InContextPlan) -> Result<Transformer> {
    plan.check()?;
    guarded("training", || {
        let mut learner = Learner::new(context, plan)?;
        if let Some(checkpoint) = context.checkpoint {
            learner.resume(checkpoint)?;
        }
        report(context.progress, learner.step)?;
        let part = plan.steps.div_ceil(SAVED);
        while learner.step < plan.steps {
            learner.step()?;
            report(context.progress, 1)?;
            if learner.step.is_multiple_of(part) || learner.step == plan.steps {
                check_finite(&learner.transformer.stack.parameters, "training")?;
                if let Some(checkpoint) = context.checkpoint {
                    checkpoint.keep_alone(PHASE, &(0..1), &[learner.saved()?])?;
                }
            }
        }
        Ok(learner.transformer)
    })
}

impl<'a> Learner<'a> {
    fn new(context: &'a TrainingContext<'a>, plan: &'a InContextPlan) -> Result<Self> {
        let (device, classes) = (context.device.tensors(), context.classes());
        let images = TrainingImages::of(context.train, classes, device).inputs;
        let pixels = context.train.shape().iter().product();
        let weights = stream(plan.seed, Purpose::Weights, PHASE, 0);
        let transformer = Transformer::new(plan, pixels, classes, weights, device);
        let library = Library::new(&context.train.labels.to_vec(), classes);
        let adam = Adam::new(PAPER, &transformer.stack.parameters);
        Ok(Self { plan, context, images, library, transformer, adam, step: 0 })
    }

    /// Resumes after the last part that was saved.
    fn resume(&mut self, checkpoint: &TrainingCheckpoint) -> Result<()> {
        let Some(saved) = checkpoint.answers::<Saved>(PHASE, &(0..1))?.and_then(|mut saved| saved.pop()) else {
            return Ok(());
        };
        let parameters = &mut self.transformer.stack.parameters;
        for (parameter, numbers) in parameters.iter_mut().zip(&saved.parameters) {
            parameter.copy_(&Tensor::from_slice(numbers).view_as(parameter));
        }
        self.adam = Adam::resumed(PAPER, parameters, &saved.adam);
        self.step = saved.step;
        Ok(())
    }

    fn saved(&self) -> Result<Saved> {
        let adam = self.adam.memory().map_err(unavailable("answers"))?;
        let parameters = self.transformer.stack.parameters.iter().map(numbers).collect::<Result<_>>()?;
        Ok(Saved { step: self.step, parameters, adam })
    }

    fn step(&mut self) -> Result<()> {
        let gradients = self.gradients()?;
        let rate = self.plan.schedule.rate(self.step, self.plan.steps);
        self.adam.step(&mut self.transformer.stack.parameters, &gradients, rate);
        self.step += 1;
        Ok(())
    }

    /// Gradients of the mean cross-entropy of a step's queries, in parts of the prompts.
    fn gradients(&self) -> Result<Vec<Tensor>> {
        let parts = if self.context.device.is_cuda() { 1 } else { PARTS.min(self.plan.batch) };
        let prompts = self.plan.batch.div_ceil(parts);
        let work: Vec<(Transformer, Tensor, usize)> =
            (0..parts).map(|part| (self.transformer.leaves(), self.images.shallow_clone(), part * prompts)).collect();
        let all = (self.plan.batch * InContextPlan::QUERIES) as f64;
        let (batch, answers) = lessons(self.plan, &self.library, self.step);
        let of_part = |(transformer, images, first): (Transformer, Tensor, usize)| {
            let part = batch.part(first..(first + prompts).min(batch.prompts));
            let queries = first * batch.queries..(first + part.prompts) * batch.queries;
            let answers = Tensor::from_slice(&answers[queries]).to_device(images.device());
            transformer.gradients(&images, &part, &|logits| {
                let likely = logits.log_softmax(-1, Kind::Float).gather(1, &answers.unsqueeze(1), false);
                -likely.sum(Kind::Float) / all
            })
        };
        sum_of_parts(work, of_part)
    }
}

/// What a transformer answers to each prompt about each of its queries, a class each: `asked[p]` are rows of `images`,
/// equally many for all prompts, which have equally many examples.
///
/// # Errors
/// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails.
pub(crate) fn answers(
    transformer: &Transformer,
    images: &Tensor,
    prompts: &[Prompt],
    asked: &[Vec<u32>],
) -> Result<Vec<Vec<u8>>> {
    guarded("answers", || {
        let examples = prompts.first().map_or(0, |prompt| prompt.examples.len());
        let queries = asked.first().map_or(1, Vec::len).max(1);
        let together = (TOKENS / (1 + examples + queries.min(QUERIES))).max(1);
        let mut answered = Vec::with_capacity(prompts.len());
        for (prompts, asked) in prompts.chunks(together).zip(asked.chunks(together)) {
            let mut rows = vec![Vec::with_capacity(queries); prompts.len()];
            for first in (0..queries).step_by(QUERIES) {
                let of_pass = first..(first + QUERIES).min(queries);
                let mut batch = Batch::new(examples, of_pass.len());
                for (prompt, asked) in prompts.iter().zip(asked) {
                    batch.push(prompt, &asked[of_pass.clone()], transformer.classes);
                }
                let classes = tch::no_grad(|| transformer.logits(images, &batch)).argmax(-1, false);
                let classes: Vec<i64> = classes.try_into().map_err(unavailable("answers"))?;
                for (row, classes) in rows.iter_mut().zip(classes.chunks(of_pass.len())) {
                    row.extend(classes.iter().map(|&class| class as u8));
                }
            }
            answered.extend(rows);
        }
        Ok(answered)
    })
}
