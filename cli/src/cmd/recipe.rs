//! What recipes of `leakbound torch` on images share: images in, a recording out.

use super::training_run::{About, TrainingRun};
use crate::args::{CheckpointOptions, Common, DataOptions};
use crate::output::Output;
use leakbound::Result;
use leakbound::record::{ArrayWriter, ImagePart, ImageSet, InputFile, read_images};
use leakbound::report::RecordingDocument;
use leakbound_train::{TrainingCheckpoint, TrainingContext, TrainingDevice, TrainingProgress};
use serde::Serialize;
use std::path::Path;

/// A recipe at work: its images, and the places of what it writes when all is there.
pub struct Recipe<'a> {
    common: &'a Common,
    data: &'a DataOptions,
    run: TrainingRun<'a>,
    pub train: ImageSet,
    pub test: ImageSet,
}

impl<'a> Recipe<'a> {
    /// Opens the places first; then reads the images. Nothing that is written replaces `others` or the images.
    pub fn open(common: &'a Common, data: &'a DataOptions, device: TrainingDevice, others: &[&Path]) -> Result<Self> {
        let mut taken: Vec<&Path> = vec![&data.data];
        taken.extend(others);
        let mut run = TrainingRun::open(common, &data.recording, device, &taken)?;
        let (train, inputs) = read_images(&data.data, ImagePart::Train, common.memory())?;
        run.read_also(inputs);
        let (test, inputs) = read_images(&data.data, ImagePart::Test, common.memory())?;
        run.read_also(inputs);
        Ok(Self { common, data, run, train, test })
    }

    /// The training half of one more set of images.
    pub fn read_others(&mut self, path: &Path) -> Result<ImageSet> {
        let (others, inputs) = read_images(path, ImagePart::Train, self.common.memory())?;
        self.run.read_also(inputs);
        Ok(others)
    }

    /// One more file that was read.
    pub fn read_also(&mut self, input: InputFile) {
        self.run.read_also([input]);
    }

    /// SHA-256 of the files that were read, in their order.
    pub fn digests(&self) -> Vec<String> {
        self.run.digests()
    }

    /// [`TrainingRun::checkpoint`].
    pub fn checkpoint<P: Serialize>(
        &self,
        options: &CheckpointOptions,
        name: &str,
        plan: &P,
    ) -> Result<Option<TrainingCheckpoint>> {
        self.run.checkpoint(options, name, plan)
    }

    /// The images and the device, with a progress callback and a checkpoint.
    pub fn context<'b>(
        &'b self,
        progress: &'b TrainingProgress<'b>,
        checkpoint: Option<&'b TrainingCheckpoint>,
    ) -> TrainingContext<'b> {
        TrainingContext { train: &self.train, test: &self.test, device: self.run.device, progress, checkpoint }
    }

    /// [`TrainingRun::train`].
    pub fn train<T>(
        &self,
        what: &str,
        steps: (u64, &'static str),
        work: impl FnOnce(&TrainingProgress<'_>) -> Result<T>,
    ) -> Result<T> {
        self.run.train(what, steps, work)
    }

    /// Writes the arrays that `add` adds, compressed, and makes the document about them.
    pub fn record<O: Serialize>(
        self,
        about: About<'_, O>,
        add: impl FnOnce(&mut ArrayWriter) -> Result<()>,
    ) -> Result<(Output, RecordingDocument)> {
        self.run.record(about, ArrayWriter::new(&self.data.recording), add)
    }
}
