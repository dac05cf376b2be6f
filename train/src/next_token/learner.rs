//! The training of a language model.

use super::model::ByteTransformer;
use super::plan::NextTokenPlan;
use super::windows::Windows;
use crate::adam::{Adam, AdamConstants};
use crate::ensemble::check_finite;
use crate::guard::guarded;
use crate::optimizer::Schedule;
use crate::progress::{TrainingProgress, report};
use crate::seed::{Purpose, stream};
use leakbound::error::Result;
use rayon::prelude::*;
use tch::{Device, Tensor};

/// Kingma and Ba (2015).
const ADAM: AdamConstants = AdamConstants { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };

/// What one model learns, and how.
pub(super) struct Lesson<'a> {
    pub plan: &'a NextTokenPlan,
    pub documents: &'a [Vec<u8>],
    /// 0 for the public model, 1 + m for member m: models of different numbers share no windows.
    pub model: u64,
    pub steps: u64,
    pub schedule: &'a Schedule,
    /// Parts of a batch, each on one thread: sums have one order on any number of threads.
    pub parts: usize,
    pub device: Device,
}

/// Trains a model; progress counts steps.
///
/// # Errors
/// [`Error::Rejected`](leakbound::Error::Rejected) if training diverges,
/// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails.
pub(super) fn learn(
    transformer: &mut ByteTransformer,
    lesson: &Lesson<'_>,
    progress: &TrainingProgress<'_>,
) -> Result<()> {
    let &Lesson { plan, documents, model, steps, schedule, .. } = lesson;
    let windows = Windows::new(documents, plan.model.context + 1);
    guarded("training", || {
        let mut adam = Adam::new(ADAM, transformer.parameters());
        for step in 0..steps {
            let bytes = windows.draw(plan.batch, &mut stream(plan.seed, Purpose::TextWindows, model, step));
            let gradients = gradients(transformer, &bytes, lesson)?;
            adam.step(transformer.parameters(), &gradients, schedule.rate(step, steps));
            report(progress, 1)?;
        }
        check_finite(transformer.parameters(), "training")
    })
}

/// Gradients of the mean cross-entropy of the windows of a step, in parts of the windows.
fn gradients(transformer: &ByteTransformer, bytes: &[i64], lesson: &Lesson<'_>) -> Result<Vec<Tensor>> {
    let (batch, context) = (lesson.plan.batch, lesson.plan.model.context);
    let of_part = batch.div_ceil(lesson.parts.clamp(1, batch));
    let work: Vec<(ByteTransformer, &[i64])> =
        bytes.chunks(of_part * (context + 1)).map(|part| (transformer.leaves(), part)).collect();
    let all = (batch * context) as f64;
    let device = lesson.device;
    let of_part = |(transformer, part): (ByteTransformer, &[i64])| {
        guarded("training", || {
            let windows = Tensor::from_slice(part).view([-1, context as i64 + 1]).to_device(device);
            Ok(transformer.gradients(&windows, all))
        })
    };
    let parts: Vec<Vec<Tensor>> = work.into_par_iter().map(of_part).collect::<Result<_>>()?;
    let sum = parts.into_iter().reduce(|sum, part| sum.iter().zip(&part).map(|(a, b)| a + b).collect());
    Ok(sum.unwrap_or_default())
}
