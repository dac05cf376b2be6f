//! Recorded answers of shadow models, read as the options say.

use crate::args::RecordingOptions;
use leakbound::record::{MemoryBudget, ShadowArrays, ShadowRecording, read_shadow_arrays, read_shadow_models};
use leakbound::{Error, InputError, Result};
use ndarray::ArrayView1;

/// The recording; an error if no attack can compare its models.
pub fn read(options: &RecordingOptions, memory: MemoryBudget) -> Result<ShadowRecording> {
    let recording = recording(options, memory)?;
    // An attack compares models that were trained on a sample with models that were not.
    let varied = |sample: ArrayView1<'_, bool>| sample.iter().any(|&member| member != sample[0]);
    if recording.members().columns().into_iter().any(varied) {
        return Ok(recording);
    }
    Err(InputError {
        file: recording.files().first().cloned().unwrap_or_default(),
        place: "array `keep`".into(),
        found: "only samples that every model was trained on or none".into(),
        expected: "samples that some models were trained on and others were not".into(),
        hint: None,
    }
    .into())
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
        _ => Err(Error::Rejected {
            operation: "--labels and --keep",
            reason: "they go with --logits or --scores; other recordings hold them".into(),
        }),
    }
}
