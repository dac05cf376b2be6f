//! Arrays of shadow models put one below the other, and the properties in which they must agree.

use super::fault::hinted;
use super::npy_array::{NpyArray, Piece};
use super::trace::Trace;
use crate::error::Result;
use crate::membership::zero_vector;
use ndarray::{Array, Array2, Array4, ArrayD, Axis, RemoveAxis};
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;
use std::sync::Arc;

/// How to attack without labels.
pub(super) const UNLABELED: &str =
    "a score that needs no label, such as the entropy, may be recorded as `scores` instead of logits";

/// What an array of shadow models holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Logits,
    Scores,
    Embeddings,
    /// Logits at the nearest neighbor of each sample.
    NeighborLogits,
}

impl Kind {
    /// The name of its array.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Logits => "logits",
            Self::Scores => "scores",
            Self::Embeddings => "embeddings",
            Self::NeighborLogits => "neighbor_logits",
        }
    }

    /// What its last axis counts, if that is not the views.
    pub(super) const fn last(self) -> Option<&'static str> {
        match self {
            Self::Logits | Self::NeighborLogits => Some("class"),
            Self::Scores => None,
            Self::Embeddings => Some("dimension"),
        }
    }

    /// Its axes, for models one below the other and for a single one.
    const fn axes(self, stacked: bool) -> &'static str {
        match (self, stacked) {
            (Self::Logits | Self::NeighborLogits, true) => "axes (model, sample, view, class), or without views",
            (Self::Logits | Self::NeighborLogits, false) => "axes (sample, 1, view, class)",
            (Self::Scores, true) => "axes (model, sample, view), or without views",
            (Self::Scores, false) => "axes (sample, view)",
            (Self::Embeddings, true) => "axes (model, sample, view, dimension)",
            (Self::Embeddings, false) => "axes (sample, view, dimension)",
        }
    }
}

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
    pub(super) members: Arc<Array2<bool>>,
    pub(super) views: usize,
}

/// What a source was found to hold, before it is checked as a whole.
pub struct Found {
    pub(super) files: Vec<PathBuf>,
    pub(super) traces: Vec<Trace>,
    /// What the parts hold.
    pub(super) kind: Kind,
    pub(super) parts: Vec<Part>,
    /// Other arrays of the same models and samples.
    pub(super) beside: Vec<(Kind, Part)>,
    pub(super) keep: Vec<Array2<bool>>,
    /// With the array that they came from.
    pub(super) labels: Option<(Vec<i128>, NpyArray)>,
}

impl Found {
    /// Of arrays of several kinds the first is what attacks look at if not told otherwise.
    pub(super) fn new(
        files: Vec<PathBuf>,
        traces: Vec<Trace>,
        arrays: Vec<(Kind, Part)>,
        keep: Vec<Array2<bool>>,
        labels: Option<(Vec<i128>, NpyArray)>,
    ) -> Self {
        let kind = arrays.first().map_or(Kind::Scores, |(kind, _)| *kind);
        let (main, beside): (Vec<_>, Vec<_>) = arrays.into_iter().partition(|(other, _)| *other == kind);
        let parts = main.into_iter().map(|(_, part)| part).collect();
        Self { files, traces, kind, parts, beside, keep, labels }
    }
}

impl Part {
    /// Samples, views and classes or dimensions (1 of scores), of an array of floats.
    pub(super) fn checked_sizes(&self, kind: Kind) -> Result<[usize; 3]> {
        self.array.check_floats()?;
        self.sizes(kind)
    }

    /// Samples, views and classes or dimensions (1 of scores).
    fn sizes(&self, kind: Kind) -> Result<[usize; 3]> {
        let shape = self.array.shape();
        let rest = if self.stacked { shape.get(1..).unwrap_or_default() } else { &shape[..] };
        let sizes = match (kind, rest, self.stacked) {
            (Kind::Logits | Kind::NeighborLogits | Kind::Embeddings, &[samples, views, last], _)
            | (Kind::Logits, &[samples, 1, views, last], false) => Some([samples, views, last]),
            (Kind::Logits | Kind::NeighborLogits, &[samples, classes], _) => Some([samples, 1, classes]),
            (Kind::Scores, &[samples, views], _) => Some([samples, views, 1]),
            (Kind::Scores, &[samples], _) => Some([samples, 1, 1]),
            _ => None,
        };
        let found = format!("shape {shape:?}");
        let sizes = sizes.ok_or_else(|| self.array.at(&found, kind.axes(self.stacked)))?;
        let too_small = match (kind, sizes) {
            (Kind::Logits | Kind::NeighborLogits, [_, _, 0 | 1]) => Some("at least 2 classes on the last axis"),
            (Kind::Embeddings, [_, 0 | 1, _]) => Some("at least 2 views on axis 2, which are compared with each other"),
            _ => None,
        };
        too_small.map_or(Ok(sizes), |expected| Err(self.array.at(&found, expected).into()))
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

    /// Some samples as embeddings \[model, sample, view, dimension\], each with a direction.
    pub(super) fn directions(&self, samples: Range<usize>) -> Result<Array4<f64>> {
        let values = self.doubles(samples.clone())?;
        let values =
            values.into_dimensionality().map_err(|_| self.array.at("another shape", Kind::Embeddings.axes(true)))?;
        match zero_vector(values.view()) {
            None => Ok(values),
            Some([model, sample, view]) => {
                let index = [model, sample + samples.start, view];
                let error = self.array.at_index(&index, "a vector of zeros", "a vector with a direction");
                Err(hinted(
                    error,
                    "the cosine with a vector of zeros has no value; leave out samples whose units are all off",
                )
                .into())
            }
        }
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
    /// Arrays whose files are known elsewhere.
    pub(super) fn beside(parts: Vec<Part>, members: Arc<Array2<bool>>, views: usize) -> Self {
        Self { files: Vec::new(), traces: Vec::new(), parts, members, views }
    }

    /// What is read of every part, models of one below those of the other; of a single part it is not copied.
    pub(super) fn joined<D: RemoveAxis>(
        &self,
        shape: D,
        read: impl Fn(&Part) -> Result<Array<f64, D>>,
    ) -> Result<Array<f64, D>> {
        if let [part] = &self.parts[..] {
            return read(part);
        }
        let mut joined = Array::zeros(shape);
        let mut start = 0;
        for part in &self.parts {
            let rows = start..start + part.models;
            joined.slice_axis_mut(Axis(0), rows.into()).assign(&read(part)?);
            start += part.models;
        }
        Ok(joined)
    }
}

impl std::fmt::Debug for Stack {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Stack").field("files", &self.files).field("models", &self.members.nrows()).finish()
    }
}
