//! The training of a language model on windows of documents.

use super::model::ByteTransformer;
use super::plan::NextTokenPlan;
use crate::adam::{Adam, AdamMemory, PAPER};
use crate::answers::numbers;
use crate::block::{leaf, sum_of_parts};
use crate::checkpoint::{Packed, TrainingCheckpoint};
use crate::checks::unavailable;
use crate::ensemble::check_finite;
use crate::guard::{TrainingProgress, guarded, report};
use crate::optimizer::Schedule;
use crate::seed::{Purpose, stream};
use leakbound::error::Result;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use std::slice;
use tch::{Device, Tensor};

/// Phase of all models in a checkpoint.
const PHASE: u64 = 1;

/// What one model learns, and how.
pub(super) struct Lesson<'a> {
    pub plan: &'a NextTokenPlan,
    pub documents: &'a [Vec<u8>],
    /// 0 for the public model, 1 + m for member m: models of different numbers share no windows.
    pub model: usize,
    pub steps: u64,
    pub schedule: &'a Schedule,
    /// Parts of a batch.
    pub parts: usize,
    pub device: Device,
    pub checkpoint: Option<&'a TrainingCheckpoint>,
}

/// A model that is done or was interrupted, as numbers that can be kept.
#[derive(Serialize, Deserialize)]
struct Saved {
    step: u64,
    parameters: Vec<Packed>,
    /// None of a model that is done.
    adam: Option<AdamMemory>,
}

/// Trains a model; progress counts steps. The checkpoint keeps it when it is done, or when the callback ends the
/// training, with what Adam remembers.
///
/// # Errors
/// [`Error::Rejected`](leakbound::Error::Rejected) if training diverges,
/// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails,
/// [`Error::Interrupted`](leakbound::Error::Interrupted) if the callback ends the training; those of the checkpoint.
pub(super) fn learn(
    transformer: &mut ByteTransformer,
    lesson: &Lesson<'_>,
    progress: &TrainingProgress<'_>,
) -> Result<()> {
    let &Lesson { plan, documents, model, steps, schedule, .. } = lesson;
    let windows = Windows::new(documents, plan.model.context + 1);
    guarded("training", || {
        let (first, mut adam) = resumed(transformer, lesson)?;
        let mut going = report(progress, first);
        let mut step = first;
        while step < steps && going.is_ok() {
            let bytes = windows.draw(plan.batch, &mut stream(plan.seed, Purpose::TextWindows, model as u64, step));
            let gradients = gradients(transformer, &bytes, lesson)?;
            adam.step(&mut transformer.stack.parameters, &gradients, schedule.rate(step, steps));
            step += 1;
            going = report(progress, 1);
        }
        check_finite(&transformer.stack.parameters, "training")?;
        if step > first {
            keep(transformer, lesson, step, &adam)?;
        }
        going
    })
}

/// Steps that are done, and Adam after them.
fn resumed(transformer: &mut ByteTransformer, lesson: &Lesson<'_>) -> Result<(u64, Adam)> {
    let group = lesson.model..lesson.model + 1;
    let found = lesson.checkpoint.map(|checkpoint| checkpoint.answers::<Saved>(PHASE, &group)).transpose()?;
    let parameters = &mut transformer.stack.parameters;
    let Some(saved) = found.flatten().and_then(|mut saved| saved.pop()) else {
        return Ok((0, Adam::new(PAPER, parameters)));
    };
    for (parameter, Packed(numbers)) in parameters.iter_mut().zip(&saved.parameters) {
        parameter.copy_(&Tensor::from_slice(numbers).view_as(parameter));
    }
    let adam =
        saved.adam.map_or_else(|| Adam::new(PAPER, parameters), |memory| Adam::resumed(PAPER, parameters, &memory));
    Ok((saved.step, adam))
}

fn keep(transformer: &ByteTransformer, lesson: &Lesson<'_>, step: u64, adam: &Adam) -> Result<()> {
    let Some(checkpoint) = lesson.checkpoint else { return Ok(()) };
    let parameters = transformer.stack.parameters.iter().map(|parameter| numbers(parameter).map(Packed));
    let saved = Saved {
        step,
        parameters: parameters.collect::<Result<_>>()?,
        adam: if step < lesson.steps { Some(adam.memory().map_err(unavailable("checkpoint"))?) } else { None },
    };
    checkpoint.keep(PHASE, &(lesson.model..lesson.model + 1), slice::from_ref(&saved))
}

/// Gradients of the mean cross-entropy of the windows of a step, in parts of the windows.
fn gradients(transformer: &ByteTransformer, bytes: &[i64], lesson: &Lesson<'_>) -> Result<Vec<Tensor>> {
    let (batch, context) = (lesson.plan.batch, lesson.plan.model.context);
    let of_part = batch.div_ceil(lesson.parts.clamp(1, batch));
    let work: Vec<(ByteTransformer, &[i64])> =
        bytes.chunks(of_part * (context + 1)).map(|part| (transformer.mapped(leaf), part)).collect();
    let all = (batch * context) as f64;
    let device = lesson.device;
    let of_part = |(transformer, part): (ByteTransformer, &[i64])| {
        let windows = Tensor::from_slice(part).view([-1, context as i64 + 1]).to_device(device);
        transformer.gradients(&windows, all)
    };
    sum_of_parts(work, of_part)
}

/// All windows of some bytes that lie within one document.
struct Windows<'a> {
    documents: &'a [Vec<u8>],
    length: usize,
    /// For each document, the windows of it and of those before it.
    ends: Vec<usize>,
}

impl<'a> Windows<'a> {
    /// From documents; at least one is as long as a window.
    pub fn new(documents: &'a [Vec<u8>], length: usize) -> Self {
        let mut all = 0;
        let count = |document: &Vec<u8>| {
            all += (document.len() + 1).saturating_sub(length);
            all
        };
        Self { documents, length, ends: documents.iter().map(count).collect() }
    }

    /// The bytes of `count` windows, each equally likely.
    pub fn draw(&self, count: usize, stream: &mut impl Rng) -> Vec<i64> {
        let all = self.ends.last().copied().unwrap_or(0);
        let mut bytes = Vec::with_capacity(count * self.length);
        for _ in 0..count {
            let window = stream.random_range(0..all);
            let document = self.ends.partition_point(|&end| end <= window);
            let first = document.checked_sub(1).map_or(0, |before| self.ends[before]);
            let start = window - first;
            bytes.extend(self.documents[document][start..start + self.length].iter().map(|&byte| i64::from(byte)));
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Purpose, stream};
    use std::collections::BTreeSet;

    /// Six windows; that one of them is not among 200 draws has a probability below 6 (5/6)^200 < 1e-15.
    #[test]
    fn every_window_of_every_document_is_drawn() {
        let documents = [b"abcd".to_vec(), b"x".to_vec(), b"efg".to_vec(), b"hijkl".to_vec()];
        let windows = Windows::new(&documents, 3);
        let drawn = windows.draw(200, &mut stream(1, Purpose::TextWindows, 0, 0));
        let drawn: BTreeSet<String> =
            drawn.chunks_exact(3).map(|window| window.iter().map(|&byte| char::from(byte as u8)).collect()).collect();
        assert_eq!(drawn.iter().map(String::as_str).collect::<Vec<_>>(), ["abc", "bcd", "efg", "hij", "ijk", "jkl"]);
    }
}
