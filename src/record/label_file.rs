//! Canaries with wrong labels, and a model's probabilities of all classes: an npz or a CSV file.

use super::array_file::ArrayFile;
use super::budget::{MemoryBudget, Room};
use super::fault::{fault, hinted, listed, quoted, several, unreadable};
use super::input_file::{Digested, InputFile, open};
use super::lines::Lines;
use super::number::PROBABILITY;
use super::text::{Text, sniff};
use crate::error::Result;
use crate::histogram::MAX_CLASSES;
use crate::label_dp::LabelCanaries;
use ndarray::{Array2, ArrayD};
use std::io::BufRead;
use std::path::Path;

/// Probabilities may be rounded above 1 by this much in single precision.
const ROUNDED: f64 = 1e-6;

/// Reads canaries of a label-memorization audit. An npz file has `probabilities` or `logits` \[canary, class\],
/// `labels_true` and `labels_trained` \[canary\]; for several models, each with its own canaries, these arrays have one
/// more axis in front, the model. A CSV file has the columns `label_true`, `label_trained`, `p_0`, `p_1`, and so on for
/// all classes. The numbers may take `memory`.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when the file cannot be read, [`Error::Input`](crate::Error::Input) with array and
/// index, or line and column, for anything else than such canaries.
pub fn read_label_canaries(path: impl AsRef<Path>, memory: MemoryBudget) -> Result<(LabelCanaries, InputFile)> {
    let path = path.as_ref();
    let mut reader = open(path)?;
    let start = reader.peek(4).map_err(|source| unreadable(path, source))?;
    if start.starts_with(b"PK") {
        let mut arrays = ArrayFile::of_reader(path, reader)?.within(memory);
        let canaries = from_arrays(&mut arrays)?;
        return Ok((canaries, arrays.input().clone()));
    }
    let mut source = Digested::new(reader);
    let Text::Csv(mut reader) = sniff(path, &mut source, "canaries with labels")? else {
        return Err(fault(path, "whole file", "JSON", "canaries with labels as npz or CSV").into());
    };
    let canaries = from_csv(path, &mut reader, &mut Room::new(memory))?;
    drop(reader);
    Ok((canaries, source.finish_unchanged(path)?))
}

pub(super) fn from_arrays(arrays: &mut ArrayFile) -> Result<LabelCanaries> {
    let name = match (arrays.has("probabilities"), arrays.has("logits")) {
        (true, false) => "probabilities",
        (false, true) => "logits",
        (both, _) => {
            let found = if both {
                "both `probabilities` and `logits`".into()
            } else {
                format!("arrays {}", listed(arrays.names()))
            };
            let expected = "one of the arrays `probabilities` and `logits` of shape (canary, class)";
            return Err(fault(&arrays.input().path, "whole file", found, expected).into());
        }
    };
    let mut values: ArrayD<f64> = arrays.numbers(name)?;
    match name {
        "logits" => arrays.check_each(name, &values, |value| !value.is_finite(), "a finite number"),
        _ => arrays.check_each(name, &values, |p| !(0.0..=1.0 + ROUNDED).contains(&p), "a probability from 0 to 1"),
    }?;
    let shape = values.shape().to_vec();
    let Some((&classes, outer @ ([_] | [_, _]))) = shape.split_last() else {
        let expected = "the axes (canary, class) or (model, canary, class)";
        return Err(arrays.at(name, format!("shape {shape:?}"), expected).into());
    };
    if classes < 3 {
        let error = arrays.at(name, format!("shape {shape:?}"), "at least 3 classes");
        return Err(hinted(error, "the attack guesses between two wrong labels").into());
    }
    let canaries: usize = outer.iter().product();
    let [truth, trained] =
        [labels(arrays, "labels_true", outer, classes)?, labels(arrays, "labels_trained", outer, classes)?];
    if let Some(canary) = (0..canaries).find(|&canary| truth[canary] == trained[canary]) {
        let index = match outer {
            [_, canaries] => format!("[{}, {}]", canary / canaries, canary % canaries),
            _ => format!("[{canary}]"),
        };
        let place = format!("array `labels_trained`, index {index}");
        let error = fault(&arrays.input().path, place, format!("the true label {}", truth[canary]), "a wrong label");
        return Err(hinted(error, "a canary is a sample that was trained on with a wrong label").into());
    }
    let probabilities = name == "probabilities";
    if probabilities {
        values.mapv_inplace(|p| p.min(1.0));
    }
    // All that there are.
    let values = values.into_shape_with_order((canaries, classes)).unwrap_or_default();
    let make = if probabilities {
        LabelCanaries::new
    } else {
        |logits, truth, trained| LabelCanaries::from_logits(&logits, truth, trained)
    };
    make(values, truth, trained)
}

/// Labels of one array: one for each canary of these shape, model by model.
fn labels(arrays: &mut ArrayFile, name: &str, shape: &[usize], classes: usize) -> Result<Vec<usize>> {
    let labels: ArrayD<u16> = arrays.classes(name)?;
    if labels.shape() != shape {
        let error = match (shape, labels.shape()) {
            (&[canaries], &[found]) => {
                let expected = format!("{}, one per canary", several(canaries, "row"));
                arrays.at(name, several(found, "row"), expected)
            }
            (_, found) => arrays.at(name, format!("shape {found:?}"), format!("shape {shape:?}, one label per canary")),
        };
        return Err(error.into());
    }
    let expected = format!("a class from 0 to {}", classes - 1);
    arrays.check_each(name, &labels, |label| usize::from(label) >= classes, &expected)?;
    Ok(labels.iter().map(|&label| usize::from(label)).collect())
}

fn from_csv(file: &Path, reader: impl BufRead, room: &mut Room) -> Result<LabelCanaries> {
    let mut lines = Lines::new(file, reader);
    let header = lines.header("the columns `label_true`, `label_trained`, `p_0`, `p_1`, `p_2` and so on")?;
    let labels = [Some(header.require("label_true")?), Some(header.require("label_trained")?)];
    let mut classes = Vec::new();
    while classes.len() < MAX_CLASSES {
        match header.find(&format!("p_{}", classes.len()))? {
            Some(column) => classes.push(column),
            None => break,
        }
    }
    for name in (0..3).map(|class| format!("p_{class}")) {
        header.require(&name)?;
    }
    let (mut values, mut sides) = (Vec::new(), [Vec::new(), Vec::new()]);
    lines.each_row(&header, labels, |line, fields| {
        for ((side, field), column) in sides.iter_mut().zip(&fields).zip(["label_true", "label_trained"]) {
            let label = field.trim().parse().ok().filter(|label| *label < classes.len());
            let expected = format!("a class from 0 to {}", classes.len() - 1);
            side.push(label.ok_or_else(|| line.at(column).fault(quoted(field), expected))?);
        }
        if sides[0].last() == sides[1].last() {
            let error = line.at("label_trained").fault(quoted(&fields[1]), "a label other than the true one");
            return Err(hinted(error, "a canary is a sample that was trained on with a wrong label").into());
        }
        for (class, &column) in classes.iter().enumerate() {
            let [field] = line.fields(&header, [Some(column)])?;
            let value = field.trim().parse().ok().filter(|value| (0.0..=1.0).contains(value));
            let place = line.at(&format!("p_{class}"));
            let value = value.ok_or_else(|| place.fault(quoted(&field), PROBABILITY))?;
            room.push(&mut values, value, |found, expected| fault(file, "whole file", found, expected))?;
        }
        Ok(())
    })?;
    let [truth, trained] = sides;
    let shape = (truth.len(), classes.len());
    let values = Array2::from_shape_vec(shape, values)
        .map_err(|_| fault(file, "whole file", "rows of different lengths", "one probability per class in each row"))?;
    LabelCanaries::new(values, truth, trained)
}

#[cfg(test)]
mod tests {
    use super::super::test_arrays::{Named, npz};
    use super::*;
    use ndarray::{Array1, array};

    fn read(arrays: &Named<'_>) -> Result<LabelCanaries> {
        from_arrays(&mut ArrayFile::from_bytes("l.npz", npz(arrays))?)
    }

    #[test]
    fn npz_and_csv_say_the_same() {
        let arrays = read(&[
            ("probabilities", &array![[0.25f32, 0.5, 0.25], [1.0, 0.0, 0.0]]),
            ("labels_true", &array![0i64, 2]),
            ("labels_trained", &array![1u8, 0]),
        ]);
        let text = "label_true,label_trained,p_0,p_1,p_2\n0,1,0.25,0.5,0.25\n2,0,1,0,0\n";
        assert_eq!(
            arrays.unwrap(),
            from_csv(Path::new("l.csv"), text.as_bytes(), &mut Room::new(MemoryBudget::of_machine())).unwrap()
        );
        let logits = read(&[
            ("logits", &array![[0.0f64, 0.0, 0.0]]),
            ("labels_true", &array![0i64]),
            ("labels_trained", &array![1i64]),
        ]);
        assert_eq!(logits.unwrap().classes(), 3);
    }

    /// Those of the second model behind those of the first.
    #[test]
    fn models_have_canaries_of_their_own() {
        let together = |labels_trained: ndarray::Array2<i64>| {
            let logits = array![[[0.0f32, 1.0, 2.0], [0.5, 0.0, 0.0]], [[3.0, 0.0, 0.0], [0.0, 0.0, 0.25]]];
            let labels_true = array![[0i64, 1], [1, 2]];
            read(&[("logits", &logits), ("labels_true", &labels_true), ("labels_trained", &labels_trained)])
        };
        let alone = read(&[
            ("logits", &array![[0.0f32, 1.0, 2.0], [0.5, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.25]]),
            ("labels_true", &array![0i64, 1, 1, 2]),
            ("labels_trained", &array![2i64, 0, 0, 1]),
        ]);
        assert_eq!(together(array![[2, 0], [0, 1]]).unwrap(), alone.unwrap());
        let message = |labels: ndarray::Array2<i64>| together(labels).unwrap_err().to_string();
        assert_eq!(
            message(array![[2, 0], [0, 2]]),
            "l.npz: array `labels_trained`, index [1, 1]: found the true label 2, expected a wrong label; hint: a canary is a \
             sample that was trained on with a wrong label"
        );
        assert_eq!(
            message(array![[2, 0, 1]]),
            "l.npz: array `labels_trained`: found shape [1, 3], expected shape [2, 2], one label per canary"
        );
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let message = |arrays: &Named<'_>| read(arrays).unwrap_err().to_string();
        let labels = |truth: Array1<i64>, trained: Array1<i64>| {
            let logits = array![[0.5f64, 0.5, 0.5]];
            message(&[("logits", &logits), ("labels_true", &truth), ("labels_trained", &trained)])
        };
        let csv = |text: &str| {
            from_csv(Path::new("l.csv"), text.as_bytes(), &mut Room::new(MemoryBudget::of_machine()))
                .unwrap_err()
                .to_string()
        };
        insta::assert_snapshot!(
            [
                message(&[("labels_true", &array![0i64]), ("labels_trained", &array![1i64])]),
                message(&[("probabilities", &array![[0.5f64, 0.5]])]),
                message(&[("probabilities", &array![[0.5f64, f64::NAN, 0.0]])]),
                labels(array![0], array![3]),
                labels(array![2], array![2]),
                labels(array![2, 1], array![1, 0]),
                csv("label_true,label_trained,p_0,p_1\n"),
                csv("label_true,label_trained,p_0,p_1,p_2\n"),
                csv("label_true,label_trained,p_0,p_1,p_2\n0,0,1,0,0\n"),
                csv("label_true,label_trained,p_0,p_1,p_2\n0,3,1,0,0\n"),
                csv("label_true,label_trained,p_0,p_1,p_2\n0,1,1,0,nan\n"),
            ]
            .join("\n"),
            @r"
            l.npz: whole file: found arrays `labels_true`, `labels_trained`, expected one of the arrays `probabilities` and `logits` of shape (canary, class)
            l.npz: array `probabilities`: found shape [1, 2], expected at least 3 classes; hint: the attack guesses between two wrong labels
            l.npz: array `probabilities`, index [0, 1]: found `NaN`, expected a probability from 0 to 1
            l.npz: array `labels_trained`, index [0]: found `3`, expected a class from 0 to 2
            l.npz: array `labels_trained`, index [0]: found the true label 2, expected a wrong label; hint: a canary is a sample that was trained on with a wrong label
            l.npz: array `labels_true`: found 2 rows, expected 1 row, one per canary
            l.csv: line 1: found columns `label_true`, `label_trained`, `p_0`, `p_1`, expected the column `p_2`
            l.csv: line 1: found a header without rows, expected at least 1 row
            l.csv: line 2, column label_trained: found `0`, expected a label other than the true one; hint: a canary is a sample that was trained on with a wrong label
            l.csv: line 2, column label_trained: found `3`, expected a class from 0 to 2
            l.csv: line 2, column p_2: found `nan`, expected a probability from 0 to 1
            "
        );
    }
}
