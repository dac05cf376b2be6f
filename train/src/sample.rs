//! What tests train on: a sample of Fashion-MNIST.

use super::checkpoint::TrainingCheckpoint;
use super::context::TrainingContext;
use super::device::{DeviceChoice, TrainingDevice};
use super::guard::TrainingProgress;
use leakbound::error::Result;
use leakbound::record::{ImagePart, ImageSet, MemoryBudget, read_images};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use tch::Tensor;

/// Its training and test images.
pub(super) fn sample() -> [ImageSet; 2] {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../validation/data/fashion_sample.npz");
    [ImagePart::Train, ImagePart::Test].map(|part| read_images(file, part, MemoryBudget::of_machine()).unwrap().0)
}

/// A training on the processor with a progress callback and a checkpoint.
pub(super) fn on_sample<T>(
    progress: &TrainingProgress<'_>,
    checkpoint: Option<&TrainingCheckpoint>,
    train: impl FnOnce(&TrainingContext<'_>) -> Result<T>,
) -> Result<T> {
    let [training_images, test_images] = sample();
    let device = TrainingDevice::open(DeviceChoice::Cpu)?;
    train(&TrainingContext { train: &training_images, test: &test_images, device, progress, checkpoint })
}

/// A training that runs to its end without a checkpoint.
pub(super) fn train_on_sample<P, T>(train: impl FnOnce(&TrainingContext<'_>, &P) -> Result<T>, plan: &P) -> Result<T> {
    on_sample(&unwatched, None, |context| train(context, plan))
}

/// A progress callback that ends nothing.
pub(super) fn unwatched(_: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A progress callback that ends a training once this many networks, or steps, are done.
pub(super) fn until(most: u64) -> impl Fn(u64) -> ControlFlow<()> + Sync {
    let done = AtomicU64::new(0);
    move |more| match done.fetch_add(more, Ordering::Relaxed) + more {
        done if done < most => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    }
}

/// Why a plan is rejected once it was changed.
pub(super) fn rejection<P, T>(mut plan: P, change: &dyn Fn(&mut P), train: impl FnOnce(&P) -> Result<T>) -> String {
    change(&mut plan);
    train(&plan).map(drop).unwrap_err().to_string()
}

/// The largest difference between two tensors.
pub(super) fn farthest(one: &Tensor, other: &Tensor) -> f64 {
    f64::try_from((one - other).abs().max()).unwrap()
}

/// Work on this many threads.
pub(super) fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}
