//! What all recipes of `leakbound torch` share but for their data: places of what is written, a checkpoint, progress.

use super::data::CheckpointOptions;
use super::kept_networks::KeptNetworks;
use crate::args::Common;
use crate::cmd::recorded_plan::RecordedPlan;
use crate::output::{Output, Watch, envelope, reject_any};
use leakbound::Result;
use leakbound::error::one_line;
use leakbound::record::{ArrayWriter, AtomicFile, InputFile};
use leakbound::report::{Drawing, RecordingDocument, TrainingFact};
use leakbound::study::{Number, Step, Warning};
use leakbound_train::{TrainingCheckpoint, TrainingDevice, TrainingProgress};
use ndarray::arr0;
use serde::Serialize;
use std::cell::OnceCell;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Adds fields of a struct to an archive, each under its own name; `some` adds those that are there.
macro_rules! add_fields {
    ($writer:ident, $of:expr; some $($field:ident),+) => {
        $(if let Some(array) = &$of.$field {
            $writer.add(stringify!($field), array)?;
        })+
    };
    ($writer:ident, $of:expr; $($field:ident),+) => { $($writer.add(stringify!($field), &$of.$field)?;)+ };
}
pub(super) use add_fields;

/// A training at work, and the places of what it writes when all is there.
pub struct TrainingRun<'a> {
    common: &'a Common,
    path: &'a Path,
    output: Output,
    recording: AtomicFile,
    pub device: TrainingDevice,
    inputs: Vec<InputFile>,
    /// The checkpoint, once it is open.
    kept: OnceCell<KeptNetworks>,
}

/// What the document holds besides inputs, device and arrays.
pub struct About<'a, O> {
    pub schema: &'static str,
    pub options: &'a O,
    pub title: String,
    pub networks: u64,
    /// By their names.
    pub facts: Vec<(&'static str, f64)>,
    pub warnings: Vec<Warning>,
    /// The figures of a page.
    pub figures: Vec<Drawing>,
    /// What a study holds the recording against, which is recorded too.
    pub plan: Option<RecordedPlan>,
}

impl<'a, O> About<'a, O> {
    /// One network, and nothing to say about it.
    pub fn of(schema: &'static str, options: &'a O) -> Self {
        let (title, facts, warnings, figures) = Default::default();
        Self { schema, options, title, networks: 1, facts, warnings, figures, plan: None }
    }
}

/// Where a document goes, and the document.
pub type Recorded = (Output, RecordingDocument);

impl<'a> TrainingRun<'a> {
    /// Opens the places first, so that a full disk or a wrong folder is known before the work. Nothing that is written
    /// replaces `others`, which are read or written otherwise.
    pub fn open(common: &'a Common, path: &'a Path, device: TrainingDevice, others: &[&Path]) -> Result<Self> {
        reject_any("--recording", path, others, "a file that the recipe reads")?;
        let taken: Vec<&Path> = others.iter().copied().chain([path]).collect();
        let output = Output::open(common, &taken)?;
        let recording = AtomicFile::create(path)?;
        Ok(Self { common, path, output, recording, device, inputs: Vec::new(), kept: OnceCell::new() })
    }

    /// More files that were read.
    pub fn read_also(&mut self, inputs: impl IntoIterator<Item = InputFile>) {
        self.inputs.extend(inputs);
        self.inputs.dedup();
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

    /// Writes the arrays that `add` adds to the archive, and the seed, and makes the document about them.
    pub fn record<O: Serialize>(
        self,
        about: About<'_, O>,
        mut writer: ArrayWriter,
        add: impl FnOnce(&mut ArrayWriter) -> Result<()>,
    ) -> Result<Recorded> {
        add(&mut writer)?;
        writer.add("seed", &arr0(self.common.seed))?;
        if let Some(plan) = about.plan {
            writer.add("plan", &plan.array()?)?;
        }
        let arrays = writer.written().to_vec();
        self.recording.commit(&writer.finish()?)?;
        let mut warnings = about.warnings;
        warnings.extend(not_bitwise(self.device));
        let document = RecordingDocument {
            envelope: envelope(about.schema, self.common, about.options, self.inputs, warnings),
            title: about.title,
            device: self.device.to_string(),
            recording: self.path.display().to_string(),
            arrays,
            networks: about.networks,
            facts: about.facts.into_iter().map(|(name, value)| TrainingFact { name, value: Number(value) }).collect(),
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
            "a GPU adds numbers in its own order: the same seed gives the same partitions and initial weights, but \
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
