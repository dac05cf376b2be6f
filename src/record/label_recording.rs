//! Models trained on private labels: their canaries, how accurate they are, and what is claimed.

use super::array_file::ArrayFile;
use super::budget::MemoryBudget;
use super::fault::hinted;
use super::input_file::InputFile;
use super::label_file::from_arrays;
use crate::error::Result;
use crate::label_dp::LabelCanaries;
use crate::quantity::{Delta, Epsilon};
use ndarray::ArrayD;
use std::path::Path;

/// What a recording of models trained on private labels says.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelRecording {
    /// The canaries of all models.
    pub canaries: LabelCanaries,
    /// Share of test images that each model classifies rightly, at least one.
    pub test_accuracy: Vec<f64>,
    /// The same of networks with the labels of the models and nothing else, where they were trained (PATE-FM).
    pub supervised_accuracy: Vec<f64>,
    /// The ε of label privacy that is claimed for one model; infinite where none is.
    pub epsilon: Epsilon,
    /// Its δ.
    pub delta: Delta,
}

/// Reads a recording of `leakbound torch label-dp` or `torch pate-fm`, or one's own with the same arrays: those of
/// [`read_label_canaries`](crate::record::read_label_canaries) as npz, `test_accuracy` \[model\] or one number,
/// `epsilon` and `delta`, one number each, and `supervised_accuracy` like `test_accuracy` where there is one.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when the file cannot be read, [`Error::Input`](crate::Error::Input) with array and
/// index for anything else than such a recording.
pub fn read_label_recording(path: impl AsRef<Path>, memory: MemoryBudget) -> Result<(LabelRecording, InputFile)> {
    let mut arrays = ArrayFile::open(path)?.within(memory);
    let canaries = from_arrays(&mut arrays)?;
    let test_accuracy = shares(&mut arrays, "test_accuracy")?;
    let supervised = arrays.has("supervised_accuracy").then(|| shares(&mut arrays, "supervised_accuracy"));
    let (epsilon, delta) = (one(&mut arrays, "epsilon")?, one(&mut arrays, "delta")?);
    let wrong = |name: &str, value: f64, expected: &str| {
        let error = arrays.at(name, value.to_string(), expected);
        hinted(error, "what is claimed for one model; infinity where nothing is")
    };
    let recording = LabelRecording {
        canaries,
        test_accuracy,
        supervised_accuracy: supervised.transpose()?.unwrap_or_default(),
        epsilon: Epsilon::new(epsilon).map_err(|_| wrong("epsilon", epsilon, "a number of at least 0"))?,
        delta: Delta::new(delta).map_err(|_| wrong("delta", delta, "a number from 0 to 1"))?,
    };
    Ok((recording, arrays.input().clone()))
}

/// Shares from 0 to 1, of any number of axes.
fn shares(arrays: &mut ArrayFile, name: &str) -> Result<Vec<f64>> {
    let values: ArrayD<f64> = arrays.numbers(name)?;
    match arrays.first_fault(name, &values, |share| !(0.0..=1.0).contains(&share), "a share from 0 to 1") {
        Some(error) => Err(error.into()),
        None => Ok(values.iter().copied().collect()),
    }
}

/// The only number of an array.
fn one(arrays: &mut ArrayFile, name: &str) -> Result<f64> {
    let values: ArrayD<f64> = arrays.numbers(name)?;
    match values.first() {
        Some(value) if values.len() == 1 => Ok(*value),
        _ => Err(arrays.at(name, format!("shape {:?}", values.shape()), "one number").into()),
    }
}
