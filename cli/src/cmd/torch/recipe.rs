//! What recipes of `leakbound torch` on images share: images in, a recording out.

use super::data::DataOptions;
use super::training_run::{About, Recorded, TrainingRun};
use crate::args::Common;
use leakbound::Result;
use leakbound::record::{ArrayWriter, ImagePart, ImageSet, read_images};
use leakbound_train::{TrainingCheckpoint, TrainingContext, TrainingDevice};
use serde::Serialize;
use std::path::Path;

/// A recipe at work: its images, and the places of what it writes when all is there.
pub struct Recipe<'a> {
    common: &'a Common,
    data: &'a DataOptions,
    pub run: TrainingRun<'a>,
    pub train: ImageSet,
    pub test: ImageSet,
    checkpoint: Option<TrainingCheckpoint>,
}

impl<'a> Recipe<'a> {
    /// Opens the places first; then reads the images. Nothing that is written replaces `others`, the checkpoint or the
    /// images.
    pub fn open(common: &'a Common, data: &'a DataOptions, device: TrainingDevice, others: &[&Path]) -> Result<Self> {
        let mut taken: Vec<&Path> = vec![&data.data];
        taken.extend(data.checkpoint.file());
        taken.extend(others);
        let mut run = TrainingRun::open(common, &data.recording, device, &taken)?;
        let (train, inputs) = read_images(&data.data, ImagePart::Train, common.memory())?;
        run.read_also(inputs);
        let (test, inputs) = read_images(&data.data, ImagePart::Test, common.memory())?;
        run.read_also(inputs);
        Ok(Self { common, data, run, train, test, checkpoint: None })
    }

    /// The training half of one more set of images.
    pub fn read_others(&mut self, path: &Path) -> Result<ImageSet> {
        let (others, inputs) = read_images(path, ImagePart::Train, self.common.memory())?;
        self.run.read_also(inputs);
        Ok(others)
    }

    /// Opens the file that keeps what is trained, if the options name one: see [`TrainingRun::checkpoint`].
    pub fn open_checkpoint<P: Serialize>(&mut self, name: &str, plan: &P) -> Result<()> {
        self.checkpoint = self.run.checkpoint(&self.data.checkpoint, name, plan)?;
        Ok(())
    }

    /// [`TrainingRun::train`] with the images, the device and the checkpoint.
    pub fn train<T>(
        &self,
        what: &str,
        steps: (u64, &'static str),
        work: impl FnOnce(&TrainingContext<'_>) -> Result<T>,
    ) -> Result<T> {
        let Self { run, train, test, checkpoint, .. } = self;
        run.train(what, steps, |progress| {
            work(&TrainingContext { train, test, device: run.device, progress, checkpoint: checkpoint.as_ref() })
        })
    }

    /// Trains this many networks, which progress counts.
    pub fn train_networks<T>(&self, networks: u64, work: impl FnOnce(&TrainingContext<'_>) -> Result<T>) -> Result<T> {
        self.train(&format!("{networks} networks"), (networks, "networks"), work)
    }

    /// Writes the arrays that `add` adds, compressed, and makes the document about them.
    pub fn record<O: Serialize>(
        self,
        about: About<'_, O>,
        add: impl FnOnce(&mut ArrayWriter) -> Result<()>,
    ) -> Result<Recorded> {
        self.run.record(about, ArrayWriter::new(&self.data.recording), add)
    }
}
