//! Weights of networks whose training data had a property or did not: an npz file.

use super::array_file::ArrayFile;
use super::budget::MemoryBudget;
use super::fault::hinted;
use super::input_file::InputFile;
use crate::error::{InputError, Result};
use crate::property::{LayerWeights, NetworkSplit};
use ndarray::{Array1, Array2, Array3, Axis};
use std::path::Path;

/// Networks of one shape with the property values of their training data.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedNetworks {
    /// Weights \[network, parameter\], in the order that [`LayerWeights`] describes.
    pub weights: Array2<f32>,
    /// The layers that the weights belong to.
    pub layers: Vec<LayerWeights>,
    /// Property value of each network, counted from 0.
    pub value: Array1<usize>,
    /// m: property values.
    pub values: usize,
    /// The purpose of each network, if recorded.
    pub split: Option<Vec<NetworkSplit>>,
    /// Probabilities \[network, point, class\] that the networks answer at public points, if they are recorded.
    pub answers: Option<Array3<f32>>,
}

/// Reads the arrays `weights` \[network, parameter\], `layers` \[layer, 4\] (places, inputs, outputs, vectors) and
/// `value` \[network\], and, if present, `split` \[network\] (0 for training, 1 for validation, 2 for test) and
/// `answers` \[network, point, class\] of probabilities; all may take `memory` together.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when the file cannot be read, [`Error::Input`](crate::Error::Input) with array and
/// index for anything else than such arrays that fit together, with at least two networks of each value.
pub fn read_networks(path: impl AsRef<Path>, memory: MemoryBudget) -> Result<(RecordedNetworks, InputFile)> {
    let mut arrays = ArrayFile::open(path)?.within(memory);
    let networks = read(&mut arrays)?;
    Ok((networks, arrays.input().clone()))
}

fn read(arrays: &mut ArrayFile) -> Result<RecordedNetworks> {
    let layers = layers(arrays)?;
    let weights: Array2<f32> = arrays.singles("weights")?;
    let parameters = layers.iter().map(|layer| layer.parameters()).fold(0, usize::saturating_add);
    if weights.ncols() != parameters {
        let expected = format!("{parameters} parameters, as in `layers`");
        return Err(arrays.at("weights", format!("shape {:?}", weights.shape()), expected).into());
    }
    arrays.check_each("weights", &weights, |weight| !weight.is_finite(), "a finite number")?;
    let value: Array1<u16> = arrays.classes("value")?;
    check_length(arrays, "value", value.len(), weights.nrows())?;
    let values = 1 + usize::from(value.iter().copied().max().unwrap_or(0));
    let split = if arrays.has("split") { Some(split(arrays, &value, values)?) } else { None };
    check_values(arrays, &value, values)?;
    let answers = if arrays.has("answers") { Some(answers(arrays, weights.nrows())?) } else { None };
    Ok(RecordedNetworks { weights, layers, value: value.mapv(usize::from), values, split, answers })
}

fn layers(arrays: &mut ArrayFile) -> Result<Vec<LayerWeights>> {
    const MOST: u64 = 1 << 31;
    let rows: Array2<u64> = arrays.whole_numbers("layers")?;
    let expected = "places, inputs, outputs and vectors of each layer";
    if rows.ncols() != 4 {
        return Err(arrays.at("layers", format!("shape {:?}", rows.shape()), expected).into());
    }
    arrays.check_each("layers", &rows, |count| count > MOST, "a whole number of at most 2^31")?;
    let count = |row: usize, column: usize| rows[[row, column]] as usize;
    let layers: Vec<LayerWeights> = (0..rows.nrows())
        .map(|row| LayerWeights {
            places: count(row, 0),
            inputs: count(row, 1),
            outputs: count(row, 2),
            vectors: count(row, 3),
        })
        .collect();
    let size = |layer: &LayerWeights| {
        [layer.inputs, layer.outputs]
            .into_iter()
            .try_fold(layer.places, usize::checked_mul)
            .filter(|&size| size < 1 << 40)
    };
    if layers.iter().any(|layer| size(layer).is_none() || layer.vectors > 1 << 8) {
        return Err(arrays.at("layers", "a layer of more than 2^40 weights or 2^8 vectors", expected).into());
    }
    match LayerWeights::check(&layers) {
        Ok(()) => Ok(layers),
        Err(error) => Err(arrays.at("layers", error.to_string(), "layers one behind the other").into()),
    }
}

fn split(arrays: &mut ArrayFile, value: &Array1<u16>, values: usize) -> Result<Vec<NetworkSplit>> {
    let numbers: Array1<u64> = arrays.whole_numbers("split")?;
    check_length(arrays, "split", numbers.len(), value.len())?;
    arrays.check_each("split", &numbers, |number| number > 2, "0 for training, 1 for validation or 2 for test")?;
    let split: Vec<NetworkSplit> = numbers.iter().map(|&number| NetworkSplit::ALL[number as usize]).collect();
    for wanted in NetworkSplit::ALL {
        for number in 0..values {
            if !split.iter().zip(value).any(|(split, &value)| *split == wanted && usize::from(value) == number) {
                let found = format!("no network of value {number} for {}", words(wanted));
                return Err(arrays.at("split", found, "networks of every value in every part").into());
            }
        }
    }
    Ok(split)
}

const fn words(split: NetworkSplit) -> &'static str {
    match split {
        NetworkSplit::Training => "training",
        NetworkSplit::Validation => "validation",
        NetworkSplit::Test => "test",
    }
}

/// At least two values, and at least three networks of each: one for each part.
fn check_values(arrays: &ArrayFile, value: &Array1<u16>, values: usize) -> Result<()> {
    if values < 2 {
        return Err(arrays.at("value", "one value", "at least 2 property values, counted from 0").into());
    }
    let few = |number: &usize| value.iter().filter(|&&value| usize::from(value) == *number).count() < 3;
    match (0..values).find(few) {
        Some(number) => {
            let found = format!("fewer than 3 networks of value {number}");
            Err(arrays.at("value", found, "networks for training, validation and test").into())
        }
        None => Ok(()),
    }
}

fn answers(arrays: &mut ArrayFile, networks: usize) -> Result<Array3<f32>> {
    let mut answers: Array3<f32> = arrays.singles("answers")?;
    check_length(arrays, "answers", answers.dim().0, networks)?;
    // Single precision may round a probability above 1.
    let outside = |p: f32| !(0.0..=1.0 + 1e-6).contains(&p);
    arrays
        .check_each("answers", &answers, outside, "a probability from 0 to 1")
        .map_err(|error| hinted(error, "logits become probabilities by a softmax over the classes"))?;
    if let Some(sum) = answers.sum_axis(Axis(2)).iter().find(|sum| (**sum - 1.0).abs() > 1e-3) {
        return Err(arrays
            .at("answers", format!("probabilities whose sum is {sum}"), "a sum of 1 over the classes")
            .into());
    }
    answers.mapv_inplace(|p| p.min(1.0));
    Ok(answers)
}

fn check_length(arrays: &ArrayFile, name: &str, found: usize, networks: usize) -> std::result::Result<(), InputError> {
    if found == networks {
        return Ok(());
    }
    let expected = format!("{networks} networks, as in `weights`");
    Err(arrays.at(name, format!("{found} networks"), expected))
}

#[cfg(test)]
mod tests {
    use super::super::test_arrays::{Named, npz};
    use super::*;
    use ndarray::array;

    struct Arrays {
        weights: Array2<f32>,
        layers: Array2<i64>,
        value: Array1<i64>,
        split: Option<Array1<i64>>,
        answers: Option<Array3<f32>>,
    }

    fn good() -> Arrays {
        Arrays {
            weights: Array2::from_elem((6, 12), 0.5),
            layers: array![[1, 2, 2, 2], [1, 2, 2, 0]],
            value: array![0, 1, 0, 1, 0, 1],
            split: Some(array![0, 0, 1, 1, 2, 2]),
            answers: Some(Array3::from_elem((6, 3, 2), 0.5)),
        }
    }

    fn of(change: impl FnOnce(&mut Arrays)) -> Result<RecordedNetworks> {
        let mut arrays = good();
        change(&mut arrays);
        let Arrays { weights, layers, value, split, answers } = &arrays;
        let needed: &Named<'_> = &[("weights", weights), ("layers", layers), ("value", value)];
        let mut all = needed.to_vec();
        split.iter().for_each(|split| all.push(("split", split)));
        answers.iter().for_each(|answers| all.push(("answers", answers)));
        read(&mut ArrayFile::from_bytes("w.npz", npz(&all))?)
    }

    #[test]
    fn networks_come_back() {
        let networks = of(|_| ()).unwrap();
        assert_eq!((networks.values, networks.layers.len(), networks.weights.dim()), (2, 2, (6, 12)));
        assert_eq!(networks.split.unwrap()[2], NetworkSplit::Validation);
        let bare = of(|arrays| (arrays.split, arrays.answers) = (None, None)).unwrap();
        assert_eq!((bare.split, bare.answers), (None, None));
    }

    #[test]
    fn what_does_not_fit_is_rejected() {
        let message = |change: fn(&mut Arrays)| of(change).unwrap_err().to_string();
        insta::assert_snapshot!(
            [
                message(|arrays| arrays.weights = Array2::zeros((6, 13))),
                message(|arrays| arrays.weights[[2, 3]] = f32::NAN),
                message(|arrays| arrays.layers = array![[1, 2, 2, 2], [1, 3, 2, 0]]),
                message(|arrays| arrays.layers = array![[1, 2, 2], [1, 3, 2]]),
                message(|arrays| arrays.layers[[0, 0]] = -1),
                message(|arrays| arrays.layers = array![[1, 1 << 31, 1 << 31, 0], [1 << 31, 1 << 31, 2, 0]]),
                message(|arrays| arrays.value = array![0, 1]),
                message(|arrays| (arrays.value, arrays.split) = (array![0, 0, 0, 0, 0, 0], None)),
                message(|arrays| (arrays.value, arrays.split) = (array![0, 0, 0, 0, 2, 1], None)),
                message(|arrays| arrays.split = Some(array![0, 0, 1, 3, 2, 2])),
                message(|arrays| arrays.split = Some(array![0, 0, 1, 0, 2, 2])),
                message(|arrays| arrays.answers = Some(Array3::from_elem((5, 3, 2), 0.5))),
                message(|arrays| arrays.answers = Some(Array3::from_elem((6, 3, 2), 1.5))),
                message(|arrays| arrays.answers = Some(Array3::from_elem((6, 3, 2), 0.25))),
            ]
            .join("\n")
        );
    }
}
