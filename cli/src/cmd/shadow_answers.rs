//! Recorded answers of shadow models, read as the options say.

use crate::output::fault;
use clap::Args;
use leakbound::record::{MemoryBudget, ShadowArrays, ShadowRecording, read_shadow_arrays, read_shadow_models};
use leakbound::{Error, Result};
use ndarray::ArrayView1;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What was recorded.
#[derive(Debug, Args, Serialize)]
#[command(next_help_heading = "Advanced")]
pub struct RecordingOptions {
    /// Recorded answers: .npz, .csv, folders or glob patterns; several files are more models on the same samples
    #[arg(required_unless_present_any = ["logits", "scores"], value_name = "FILE", help_heading = None)]
    pub files: Vec<PathBuf>,
    /// Logits [model, sample, view, class] in a separate file (.npy)
    #[arg(long, value_name = "FILE.npy", conflicts_with_all = ["files", "scores"], requires_all = ["keep", "labels"])]
    pub logits: Option<PathBuf>,
    /// Scores [model, sample, view] in a separate file (.npy); high means member
    #[arg(long, value_name = "FILE.npy", conflicts_with = "files", requires = "keep")]
    pub scores: Option<PathBuf>,
    /// Class of each sample, with --logits or --scores
    #[arg(long, value_name = "FILE.npy")]
    pub labels: Option<PathBuf>,
    /// Membership [model, sample], with --logits or --scores
    #[arg(long, value_name = "FILE.npy")]
    pub keep: Option<PathBuf>,
}

/// The recording; an error if no attack can compare its models.
pub fn read(options: &RecordingOptions, memory: MemoryBudget) -> Result<ShadowRecording> {
    let recording = recording(options, memory)?;
    // An attack compares models that were trained on a sample with models that were not.
    let varied = |sample: ArrayView1<'_, bool>| sample.iter().any(|&member| member != sample[0]);
    if recording.members().columns().into_iter().any(varied) {
        return Ok(recording);
    }
    let file = recording.files().first().map_or(Path::new(""), PathBuf::as_path);
    let found = "only samples that all models or no models were trained on";
    Err(fault(file, "array `keep`", found, "samples that some models were trained on and others were not"))
}

fn recording(options: &RecordingOptions, memory: MemoryBudget) -> Result<ShadowRecording> {
    let separate = match (&options.logits, &options.scores) {
        (Some(logits), _) => Some((logits, true)),
        (None, Some(scores)) => Some((scores, false)),
        (None, None) => None,
    };
    match (separate, &options.keep) {
        (Some((answers, logits)), Some(keep)) => {
            let (answers, keep) = (answers.clone(), keep.clone());
            read_shadow_arrays(&ShadowArrays { answers, logits, keep, labels: options.labels.clone() }, memory)
        }
        (None, None) if options.labels.is_none() => read_shadow_models(&options.files, memory),
        _ => {
            Err(Error::rejected("--labels and --keep", "they go with --logits or --scores; other recordings hold them"))
        }
    }
}
