//! Models trained on private labels: their canaries, their accuracy, and the claim about them.

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

/// The contents of a recording of models trained on private labels.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelRecording {
    /// The canaries of all models, at least two.
    pub canaries: LabelCanaries,
    /// Share of test images that each model classifies correctly; at least one model.
    pub test_accuracy: Vec<f64>,
    /// The same for networks with the labels of the models and nothing else, if such were trained (PATE-FM).
    pub supervised_accuracy: Vec<f64>,
    /// The ε of label privacy that is claimed for one model; infinite without a claim.
    pub epsilon: Epsilon,
    /// Its δ.
    pub delta: Delta,
}

/// Reads a recording of `leakbound torch label-dp` or `torch pate-fm`, or your own with the same arrays: those of
/// [`read_label_canaries`](crate::record::read_label_canaries) as npz, `test_accuracy` \[model\] or one number,
/// `epsilon` and `delta`, one number each, and `supervised_accuracy`, as long as `test_accuracy`, if there is one.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when the file cannot be read, [`Error::Input`](crate::Error::Input) with array and
/// index for anything else than such a recording.
pub fn read_label_recording(path: impl AsRef<Path>, memory: MemoryBudget) -> Result<(LabelRecording, InputFile)> {
    let mut arrays = ArrayFile::open(path)?.within(memory);
    let canaries = from_arrays(&mut arrays)?;
    if canaries.len() < 2 {
        let error = arrays.at("labels_true", "1 canary", "at least 2 canaries");
        return Err(hinted(error, "half of them choose the threshold of the attack, the others are bounded").into());
    }
    let test_accuracy = shares(&mut arrays, "test_accuracy")?;
    let supervised_accuracy = match arrays.has("supervised_accuracy") {
        true => shares(&mut arrays, "supervised_accuracy")?,
        false => Vec::new(),
    };
    if !supervised_accuracy.is_empty() && supervised_accuracy.len() != test_accuracy.len() {
        let (found, expected) = (supervised_accuracy.len(), test_accuracy.len());
        let expected = format!("{expected}, as in `test_accuracy`");
        let error = arrays.at("supervised_accuracy", format!("{found} models"), expected);
        return Err(hinted(error, "the network in each place has the labels of the model there").into());
    }
    let (epsilon, delta) = (one(&mut arrays, "epsilon")?, one(&mut arrays, "delta")?);
    let wrong = |name: &str, value: f64, expected: &str| {
        let error = arrays.at(name, value.to_string(), expected);
        hinted(error, "what is claimed for one model; infinity where nothing is")
    };
    let recording = LabelRecording {
        canaries,
        test_accuracy,
        supervised_accuracy,
        epsilon: Epsilon::new(epsilon).map_err(|_| wrong("epsilon", epsilon, "a number of at least 0"))?,
        delta: Delta::new(delta).map_err(|_| wrong("delta", delta, "a number from 0 to 1"))?,
    };
    Ok((recording, arrays.input().clone()))
}

/// Shares from 0 to 1, of any number of axes.
fn shares(arrays: &mut ArrayFile, name: &str) -> Result<Vec<f64>> {
    let values: ArrayD<f64> = arrays.numbers(name)?;
    arrays.check_each(name, &values, |share| !(0.0..=1.0).contains(&share), "a share from 0 to 1")?;
    Ok(values.iter().copied().collect())
}

/// The only number of an array.
fn one(arrays: &mut ArrayFile, name: &str) -> Result<f64> {
    let values: ArrayD<f64> = arrays.numbers(name)?;
    match values.first() {
        Some(value) if values.len() == 1 => Ok(*value),
        _ => Err(arrays.at(name, format!("shape {:?}", values.shape()), "one number").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_arrays::{AnyArray, Named, npz};
    use super::*;
    use ndarray::{Array2, Array3, arr0, array};

    /// A recording of one model with this many canaries, with one array replaced.
    fn read(canaries: usize, name: &str, other: &dyn AnyArray) -> Result<LabelRecording> {
        let usual: &Named<'_> = &[
            ("logits", &Array3::<f32>::zeros((1, canaries, 3))),
            ("labels_true", &Array2::<i64>::zeros((1, canaries))),
            ("labels_trained", &Array2::<i64>::ones((1, canaries))),
            ("test_accuracy", &arr0(0.5)),
            ("epsilon", &arr0(2.0)),
            ("delta", &arr0(0.0)),
        ];
        let arrays: Vec<_> = usual.iter().copied().filter(|(usual, _)| *usual != name).chain([(name, other)]).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.npz");
        std::fs::write(&path, npz(&arrays)).unwrap();
        Ok(read_label_recording(&path, MemoryBudget::of_machine())?.0)
    }

    #[test]
    fn accuracies_and_claims_are_read() {
        let recording = read(4, "supervised_accuracy", &array![0.25]).unwrap();
        assert_eq!((recording.canaries.len(), recording.test_accuracy), (4, vec![0.5]));
        assert_eq!((recording.supervised_accuracy, recording.epsilon.get()), (vec![0.25], 2.0));
        assert_eq!(read(4, "epsilon", &arr0(f64::INFINITY)).unwrap().epsilon, Epsilon::INFINITE);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let message = |canaries, name: &str, other: f64| {
            let text = read(canaries, name, &array![other, other]).unwrap_err().to_string();
            text.split_once("r.npz: ").map_or(text.clone(), |(_, text)| text.to_owned())
        };
        assert_eq!(message(4, "epsilon", 1.0), "array `epsilon`: found shape [2], expected one number");
        let accuracy = "array `test_accuracy`, index [0]: found `1.5`, expected a share from 0 to 1";
        assert_eq!(message(4, "test_accuracy", 1.5), accuracy);
        assert!(
            message(1, "test_accuracy", 0.5).starts_with("array `labels_true`: found 1 canary, expected at least 2")
        );
        let two = "array `supervised_accuracy`: found 2 models, expected 1, as in `test_accuracy`";
        assert!(message(4, "supervised_accuracy", 0.5).starts_with(two));
        let negative = read(4, "epsilon", &arr0(-1.0)).unwrap_err().to_string();
        assert!(negative.contains("array `epsilon`: found -1, expected a number of at least 0"), "{negative}");
    }
}
