//! Answers of students to images of their teachers and to others: an npz file.

use super::array_file::ArrayFile;
use super::budget::MemoryBudget;
use super::input_file::InputFile;
use crate::error::Result;
use ndarray::{Array1, Array3};
use std::path::Path;

/// Logits of models on private images, which their teachers were trained on, and on test images, which no model saw.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedStudents {
    /// \[student, image, class\].
    pub private_logits: Array3<f32>,
    /// \[image\].
    pub private_label: Vec<usize>,
    /// \[student, image, class\].
    pub test_logits: Array3<f32>,
    /// \[image\].
    pub test_label: Vec<usize>,
    /// Privacy budget ε of each student, in (0, inf].
    pub budget: Array1<f64>,
    /// Logits \[model, image, class\] on the same private and test images of models that were trained on the private
    /// images without privacy, if they are recorded.
    pub baseline: Option<[Array3<f32>; 2]>,
}

/// Reads the arrays `private_logits` and `test_logits` \[student, image, class\], `private_label` and `test_label`
/// \[image\] and `budget` \[student\], and, if present, `baseline_private_logits` and `baseline_test_logits` \[model,
/// image, class\]; all may take `memory` together.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when the file cannot be read, [`Error::Input`](crate::Error::Input) with array and
/// index for anything else than such arrays that fit together, with at least eight images of each kind.
pub fn read_students(path: impl AsRef<Path>, memory: MemoryBudget) -> Result<(RecordedStudents, InputFile)> {
    let mut arrays = ArrayFile::open(path)?.within(memory);
    let students = read(&mut arrays)?;
    Ok((students, arrays.input().clone()))
}

fn read(arrays: &mut ArrayFile) -> Result<RecordedStudents> {
    let private_logits = logits(arrays, "private_logits")?;
    let test_logits = logits(arrays, "test_logits")?;
    let (students, _, classes) = private_logits.dim();
    same_models(arrays, "test_logits", &test_logits, (students, classes))?;
    let private_label = labels(arrays, "private_label", private_logits.dim())?;
    let test_label = labels(arrays, "test_label", test_logits.dim())?;
    let budget: Array1<f64> = arrays.numbers("budget")?;
    if budget.len() != students {
        let expected = format!("{students} students, as in `private_logits`");
        return Err(arrays.at("budget", format!("{} students", budget.len()), expected).into());
    }
    arrays.check_each("budget", &budget, |budget: f64| budget.is_nan() || budget <= 0.0, "a number above 0")?;
    let names = ["baseline_private_logits", "baseline_test_logits"];
    let baseline = if names.iter().any(|name| arrays.has(name)) {
        let [private, test] = [logits(arrays, names[0])?, logits(arrays, names[1])?];
        same_models(arrays, names[1], &test, (private.dim().0, classes))?;
        for (name, found, images) in
            [(names[0], private.dim(), private_label.len()), (names[1], test.dim(), test_label.len())]
        {
            if (found.1, found.2) != (images, classes) {
                let expected = format!("{images} images and {classes} classes, as for the students");
                return Err(arrays.at(name, format!("shape {found:?}"), expected).into());
            }
        }
        Some([private, test])
    } else {
        None
    };
    Ok(RecordedStudents { private_logits, private_label, test_logits, test_label, budget, baseline })
}

fn logits(arrays: &mut ArrayFile, name: &str) -> Result<Array3<f32>> {
    let logits: Array3<f32> = arrays.singles(name)?;
    arrays.check_each(name, &logits, |logit| !logit.is_finite(), "a finite number")?;
    let (_, images, classes) = logits.dim();
    if images < 8 || classes < 2 {
        let expected = "at least 8 images and 2 classes";
        return Err(arrays.at(name, format!("shape {:?}", logits.shape()), expected).into());
    }
    Ok(logits)
}

fn same_models(arrays: &ArrayFile, name: &str, found: &Array3<f32>, wanted: (usize, usize)) -> Result<()> {
    let (models, _, classes) = found.dim();
    if (models, classes) == wanted {
        return Ok(());
    }
    let expected = format!("{} models and {} classes, as of private images", wanted.0, wanted.1);
    Err(arrays.at(name, format!("shape {:?}", found.shape()), expected).into())
}

fn labels(arrays: &mut ArrayFile, name: &str, (_, images, classes): (usize, usize, usize)) -> Result<Vec<usize>> {
    let labels: Array1<u16> = arrays.classes(name)?;
    if labels.len() != images {
        let expected = format!("{images} images, as in the logits");
        return Err(arrays.at(name, format!("{} images", labels.len()), expected).into());
    }
    let expected = format!("a class from 0 to {}", classes - 1);
    arrays.check_each(name, &labels, |label| usize::from(label) >= classes, &expected)?;
    Ok(labels.iter().map(|&label| label.into()).collect())
}

#[cfg(test)]
mod tests {
    use super::super::test_arrays::{Named, npz};
    use super::*;
    use ndarray::array;

    fn of(
        private: (usize, usize, usize),
        labels: &Array1<u8>,
        budget: &Array1<f64>,
        baseline: Option<(usize, usize, usize)>,
    ) -> Result<RecordedStudents> {
        let zeros = Array3::<f32>::zeros;
        let arrays: &Named<'_> = &[
            ("private_logits", &zeros(private)),
            ("test_logits", &zeros((2, 8, 3))),
            ("private_label", &array![0u8, 1, 2, 0, 1, 2, 0, 1, 2]),
            ("test_label", labels),
            ("budget", budget),
            ("baseline_private_logits", &zeros(baseline.unwrap_or((0, 0, 0)))),
            ("baseline_test_logits", &zeros((1, 8, 3))),
        ];
        let used = if baseline.is_some() { arrays } else { &arrays[..5] };
        read(&mut ArrayFile::from_bytes("s.npz", npz(used))?)
    }

    #[test]
    fn shapes_labels_and_budgets_are_checked() {
        let (labels, budget) = (array![0u8, 1, 2, 0, 1, 2, 0, 1], array![1.0, f64::INFINITY]);
        let good = of((2, 9, 3), &labels, &budget, Some((1, 9, 3))).unwrap();
        assert_eq!((good.test_label, good.baseline.unwrap()[0].dim()), (vec![0, 1, 2, 0, 1, 2, 0, 1], (1, 9, 3)));
        let wrong = |private, labels: &Array1<u8>, budget: &Array1<f64>, baseline| {
            of(private, labels, budget, baseline).unwrap_err().to_string()
        };
        let messages = [
            (wrong((3, 9, 3), &labels, &budget, None), "array `test_logits`: found shape [2, 8, 3], expected 3 models"),
            (wrong((2, 10, 3), &labels, &budget, None), "array `private_label`: found 9 images, expected 10 images"),
            (
                wrong((2, 9, 3), &array![0, 1, 3, 0, 1, 2, 0, 1], &budget, None),
                "array `test_label`, index [2]: found `3`",
            ),
            (wrong((2, 9, 3), &labels, &array![1.0], None), "array `budget`: found 1 students, expected 2 students"),
            (wrong((2, 9, 3), &labels, &array![1.0, -1.0], None), "array `budget`, index [1]: found `-1`"),
            (wrong((2, 3, 3), &labels, &budget, None), "array `private_logits`: found shape [2, 3, 3]"),
            (
                wrong((2, 9, 3), &labels, &budget, Some((1, 10, 3))),
                "array `baseline_private_logits`: found shape (1, 10, 3)",
            ),
        ];
        for (message, expected) in messages {
            assert!(message.starts_with(&format!("s.npz: {expected}")), "{message}");
        }
    }
}
