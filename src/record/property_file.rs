//! Answers of a student and of ensembles trained with each value of a property: an npz file.

use super::array_file::ArrayFile;
use super::budget::MemoryBudget;
use super::fault::hinted;
use super::input_file::InputFile;
use crate::error::Result;
use ndarray::{Array2, Array4};
use std::path::Path;

/// Answers to public points.
#[derive(Debug, Clone, PartialEq)]
pub struct PropertyAnswers {
    /// Probabilities \[point, class\] of the student.
    pub student: Array2<f64>,
    /// Probabilities \[property value, member, point, class\] of the ensembles.
    pub ensembles: Array4<f64>,
}

/// Reads the arrays `student` \[point, class\] and `ensembles` \[property value, member, point, class\] of
/// probabilities, which may take `memory` together.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when the file cannot be read, [`Error::Input`](crate::Error::Input) with array and
/// index for anything else than such arrays that fit together.
pub fn read_property_answers(path: impl AsRef<Path>, memory: MemoryBudget) -> Result<(PropertyAnswers, InputFile)> {
    let mut arrays = ArrayFile::open(path)?.within(memory);
    let answers = read(&mut arrays)?;
    Ok((answers, arrays.input().clone()))
}

fn read(arrays: &mut ArrayFile) -> Result<PropertyAnswers> {
    let mut student: Array2<f64> = arrays.numbers("student")?;
    let mut ensembles: Array4<f64> = arrays.numbers("ensembles")?;
    // Single precision may round a probability above 1.
    let outside = |p: f64| !(0.0..=1.0 + 1e-6).contains(&p);
    let expected = "a probability from 0 to 1";
    arrays
        .check_each("student", &student, outside, expected)
        .and_then(|()| arrays.check_each("ensembles", &ensembles, outside, expected))
        .map_err(|error| hinted(error, "logits become probabilities by a softmax over the classes"))?;
    let shape = ensembles.dim();
    if (shape.2, shape.3) != student.dim() {
        let expected = format!("points and classes of `student`, shape {:?}", student.shape());
        return Err(arrays.at("ensembles", format!("shape {:?}", ensembles.shape()), expected).into());
    }
    if shape.0 < 2 {
        return Err(arrays
            .at("ensembles", format!("shape {:?}", ensembles.shape()), "at least 2 property values")
            .into());
    }
    student.mapv_inplace(|p| p.min(1.0));
    ensembles.mapv_inplace(|p| p.min(1.0));
    Ok(PropertyAnswers { student, ensembles })
}

#[cfg(test)]
mod tests {
    use super::super::test_arrays::npz;
    use super::*;

    fn answers(student: &Array2<f32>, ensembles: &Array4<f32>) -> Result<PropertyAnswers> {
        read(&mut ArrayFile::from_bytes("p.npz", npz(&[("student", student), ("ensembles", ensembles)]))?)
    }

    #[test]
    fn shapes_and_probabilities_are_checked() {
        let good = Array4::from_elem((2, 3, 4, 5), 0.2f32);
        assert_eq!(answers(&Array2::from_elem((4, 5), 0.2), &good).unwrap().ensembles.dim(), (2, 3, 4, 5));
        let message =
            |student: &Array2<f32>, ensembles: &Array4<f32>| answers(student, ensembles).unwrap_err().to_string();
        insta::assert_snapshot!(
            [
                message(&Array2::from_elem((5, 5), 0.2), &good),
                message(&Array2::from_elem((4, 5), 1.5), &good),
                message(&Array2::from_elem((4, 5), 0.2), &Array4::from_elem((1, 3, 4, 5), 0.2)),
                message(&Array2::from_elem((4, 5), 0.2), &Array4::from_elem((2, 3, 4, 5), f32::NAN)),
            ]
            .join("\n"),
            @r"
            p.npz: array `ensembles`: found shape [2, 3, 4, 5], expected points and classes of `student`, shape [5, 5]
            p.npz: array `student`, index [0, 0]: found `1.5`, expected a probability from 0 to 1; hint: logits become probabilities by a softmax over the classes
            p.npz: array `ensembles`: found shape [1, 3, 4, 5], expected at least 2 property values
            p.npz: array `ensembles`, index [0, 0, 0, 0]: found `NaN`, expected a probability from 0 to 1; hint: logits become probabilities by a softmax over the classes
            "
        );
    }
}
