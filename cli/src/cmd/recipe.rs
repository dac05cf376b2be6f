//! What all recipes of `leakbound torch` share: images in, a recording out.

use super::kept_networks::KeptNetworks;
use crate::args::{CheckpointOptions, Common, DataOptions};
use crate::output::{Output, Watch, envelope, reject_any};
use leakbound::Result;
use leakbound::record::{ArrayWriter, AtomicFile, ImagePart, ImageSet, InputFile, read_images};
use leakbound::report::{Drawing, RecordingDocument, TrainingFact, one_line};
use leakbound::study::{Step, Warning};
use leakbound_train::{TrainingCheckpoint, TrainingContext, TrainingDevice, TrainingProgress};
use serde::Serialize;
use std::cell::OnceCell;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// A recipe at work: its images, and the places of what it writes when all is there.
pub struct Recipe<'a> {
    common: &'a Common,
    data: &'a DataOptions,
    output: Output,
    recording: AtomicFile,
    device: TrainingDevice,
    pub train: ImageSet,
    pub test: ImageSet,
    inputs: Vec<InputFile>,
    /// The checkpoint, once it is open.
    kept: OnceCell<KeptNetworks>,
}

/// What the document says besides images, device and arrays.
pub struct About<'a, O> {
    pub schema: &'static str,
    pub options: &'a O,
    pub title: String,
    pub networks: u64,
    pub facts: Vec<TrainingFact>,
    pub warnings: Vec<Warning>,
    /// The figures of a page.
    pub figures: Vec<Drawing>,
}

impl<'a> Recipe<'a> {
    /// Opens the places first, so that a full disk or a wrong folder is known before the work; then reads the images.
    /// Nothing that is written replaces `others` or the images.
    pub fn open(common: &'a Common, data: &'a DataOptions, device: TrainingDevice, others: &[&Path]) -> Result<Self> {
        let mut taken: Vec<&Path> = vec![&data.data];
        taken.extend(others);
        reject_any("--recording", &data.recording, &taken, "a file that the recipe reads")?;
        taken.push(&data.recording);
        let output = Output::open(common, &taken)?;
        let recording = AtomicFile::create(&data.recording)?;
        let (train, mut inputs) = read_images(&data.data, ImagePart::Train, common.memory())?;
        let (test, more) = read_images(&data.data, ImagePart::Test, common.memory())?;
        inputs.extend(more);
        inputs.dedup();
        Ok(Self { common, data, output, recording, device, train, test, inputs, kept: OnceCell::new() })
    }

    /// The training half of one more set of images.
    pub fn read_others(&mut self, path: &Path) -> Result<ImageSet> {
        let (others, more) = read_images(path, ImagePart::Train, self.common.memory())?;
        self.inputs.extend(more);
        self.inputs.dedup();
        Ok(others)
    }

    /// One more file that was read.
    pub fn read_also(&mut self, input: InputFile) {
        self.inputs.push(input);
    }

    /// SHA-256 of the files that were read, in their order.
    pub fn digests(&self) -> Vec<String> {
        self.inputs.iter().map(|input| input.sha256.clone()).collect()
    }

    /// The file that keeps the answers of networks, if the options name one; on stderr, how many it has.
    pub fn checkpoint<P: Serialize>(
        &self,
        options: &CheckpointOptions,
        name: &str,
        plan: &P,
    ) -> Result<Option<TrainingCheckpoint>> {
        let Some(path) = &options.checkpoint else { return Ok(None) };
        // Not the number of threads, on which no answer depends.
        let device = if self.device.is_cuda() { "cuda" } else { "cpu" };
        let checkpoint = TrainingCheckpoint::open(path, options.resume, name, device, &self.inputs, plan)?;
        if let Some(kept) = KeptNetworks::watch(self.common, options, path)? {
            // A recipe opens one checkpoint.
            let _ = self.kept.set(kept);
        }
        let networks = match checkpoint.networks() {
            0 => return Ok(Some(checkpoint)),
            1 => "1 network is".into(),
            networks => format!("{networks} networks are"),
        };
        say(self.common, &format!("{networks} in {}", one_line(&path.to_string_lossy())));
        Ok(Some(checkpoint))
    }

    /// The images and the device, with a progress callback and a checkpoint.
    pub fn context<'b>(
        &'b self,
        progress: &'b TrainingProgress<'b>,
        checkpoint: Option<&'b TrainingCheckpoint>,
    ) -> TrainingContext<'b> {
        TrainingContext { train: &self.train, test: &self.test, device: self.device, progress, checkpoint }
    }

    /// Trains, with `what` on stderr, a bar of `length` units, and the time it took.
    pub fn train<T>(
        &self,
        what: &str,
        (length, unit): (u64, &'static str),
        work: impl FnOnce(&TrainingProgress<'_>) -> Result<T>,
    ) -> Result<T> {
        say(self.common, &format!("Training {what} on {}", self.device));
        let start = Instant::now();
        let (watch, done) = (Watch::new(self.common), AtomicU64::new(0));
        let kept = self.kept.get();
        let answering = kept.and_then(KeptNetworks::answer);
        let answers = work(&|more| {
            let done = done.fetch_add(more, Ordering::Relaxed) + more;
            watch.step(Step { done, all: length, unit })
        });
        drop((watch, answering));
        let answers = answers.map_err(|error| match kept {
            Some(kept) => kept.explain(error),
            None => error,
        })?;
        say(self.common, &format!("{:.1} s", start.elapsed().as_secs_f64()));
        Ok(answers)
    }

    /// Writes the arrays that `add` adds, and makes the document about them.
    pub fn record<O: Serialize>(
        self,
        about: About<'_, O>,
        add: impl FnOnce(&mut ArrayWriter) -> Result<()>,
    ) -> Result<(Output, RecordingDocument)> {
        let mut writer = ArrayWriter::new(&self.data.recording);
        add(&mut writer)?;
        let arrays = writer.written().to_vec();
        self.recording.commit(&writer.finish()?)?;
        let mut warnings = about.warnings;
        warnings.extend(not_bitwise(self.device));
        let document = RecordingDocument {
            envelope: envelope(about.schema, self.common, about.options, self.inputs, warnings),
            title: about.title,
            device: self.device.to_string(),
            recording: self.data.recording.display().to_string(),
            arrays,
            networks: about.networks,
            facts: about.facts,
            figures: about.figures,
        };
        Ok((self.output, document))
    }
}

/// Where the same seed may give other answers.
fn not_bitwise(device: TrainingDevice) -> Option<Warning> {
    device.is_cuda().then(|| Warning {
        code: "not-bitwise-reproducible",
        message:
            "a GPU adds up in an order of its own: the same seed gives the same partitions and initial weights, but \
                  answers may differ"
                .into(),
        hint: "train with --device cpu where two runs must give the same file".into(),
    })
}

/// What a recipe uses, on stderr.
pub fn say(common: &Common, text: &str) {
    if !common.quiet {
        // Nothing is left to report a closed stderr to.
        let _ = writeln!(std::io::stderr(), "{text}");
    }
}
