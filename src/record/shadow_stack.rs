//! Arrays of shadow models put one below the other, and what they must agree in.

use super::npy_array::{NpyArray, Piece};
use super::trace::Trace;
use crate::error::Result;
use ndarray::{Array2, ArrayD};
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;

/// One array with the models that it holds.
pub(super) struct Part {
    pub(super) array: NpyArray,
    /// Whether its first axis is the model; otherwise all of it is one model.
    pub(super) stacked: bool,
    pub(super) models: usize,
}

/// Arrays one below the other.
pub(super) struct Stack {
    pub(super) files: Vec<PathBuf>,
    /// The same files, as they were read.
    pub(super) traces: Vec<Trace>,
    pub(super) parts: Vec<Part>,
    pub(super) members: Array2<bool>,
    pub(super) views: usize,
}

/// What a source was found to hold, before it is checked as a whole.
pub(super) struct Found {
    pub(super) files: Vec<PathBuf>,
    pub(super) traces: Vec<Trace>,
    pub(super) logits: bool,
    pub(super) parts: Vec<Part>,
    pub(super) keep: Vec<Array2<bool>>,
    /// With the array that they came from.
    pub(super) labels: Option<(Vec<i128>, NpyArray)>,
}

impl Part {
    /// Samples, views and classes (1 of scores), of an array of floats.
    pub(super) fn checked_sizes(&self, logits: bool) -> Result<[usize; 3]> {
        self.array.check_floats()?;
        self.sizes(logits)
    }

    /// Samples, views and classes (1 of scores).
    fn sizes(&self, logits: bool) -> Result<[usize; 3]> {
        let shape = self.array.shape();
        let rest = if self.stacked { shape.get(1..).unwrap_or_default() } else { &shape[..] };
        let sizes = match (logits, rest, self.stacked) {
            (true, &[samples, views, classes], _) | (true, &[samples, 1, views, classes], false) => {
                Some([samples, views, classes])
            }
            (true, &[samples, classes], _) => Some([samples, 1, classes]),
            (false, &[samples, views], _) => Some([samples, views, 1]),
            (false, &[samples], _) => Some([samples, 1, 1]),
            _ => None,
        };
        let expected = match (logits, self.stacked) {
            (true, true) => "axes (model, sample, view, class), or without views",
            (true, false) => "axes (sample, 1, view, class)",
            (false, true) => "axes (model, sample, view), or without views",
            (false, false) => "axes (sample, view)",
        };
        let sizes = sizes.ok_or_else(|| self.array.at(format!("shape {shape:?}"), expected))?;
        if logits && sizes[2] < 2 {
            return Err(self.array.at(format!("shape {shape:?}"), "at least 2 classes on the last axis").into());
        }
        Ok(sizes)
    }

    /// Some samples as \[model, sample, rest\], each of a range that `expected` words.
    pub(super) fn block(&self, samples: Range<usize>, range: &RangeInclusive<f64>, expected: &str) -> Result<Piece> {
        let axis = usize::from(self.stacked);
        let piece = self.array.piece(axis, samples.clone())?;
        let wrong = match &piece {
            Piece::Single(values) => first(values, |x| !range.contains(&f64::from(x))),
            Piece::Double(values) => first(values, |x| !range.contains(&x)),
        };
        self.rejected(wrong, &samples, expected)?;
        Ok(piece)
    }

    /// The same as doubles, each of them finite.
    pub(super) fn doubles(&self, samples: Range<usize>) -> Result<ArrayD<f64>> {
        let values = self.array.doubles(usize::from(self.stacked), samples.clone())?;
        self.rejected(first(&values, |x| !x.is_finite()), &samples, "a finite number")?;
        Ok(values)
    }

    /// Rejects a value that was found at an index among some samples.
    fn rejected(&self, wrong: Option<(Vec<usize>, f64)>, samples: &Range<usize>, expected: &str) -> Result<()> {
        let Some((mut index, value)) = wrong else { return Ok(()) };
        index[usize::from(self.stacked)] += samples.start;
        Err(self.array.at_index(&index, format!("`{value}`"), expected).into())
    }
}

fn first<T: Copy + Into<f64>>(values: &ArrayD<T>, wrong: impl Fn(T) -> bool + Copy) -> Option<(Vec<usize>, f64)> {
    // The quick look first: it is what nearly always happens.
    if !values.iter().any(|&value| wrong(value)) {
        return None;
    }
    let found = values.indexed_iter().find(|&(_, &value)| wrong(value));
    found.map(|(index, &value)| (ndarray::Dimension::slice(&index).to_vec(), value.into()))
}

impl Stack {
    /// The parts, each with the first of its models.
    pub(super) fn starts(&self) -> impl Iterator<Item = (usize, &Part)> + '_ {
        let mut start = 0;
        self.parts.iter().map(move |part| {
            start += part.models;
            (start - part.models, part)
        })
    }
}

impl std::fmt::Debug for Stack {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Stack").field("files", &self.files).field("models", &self.members.nrows()).finish()
    }
}
