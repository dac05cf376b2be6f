//! A recording of shadow models.

use super::input_file::InputFile;
use super::npy_array::Piece;
use super::shadow_stack::{Part, Stack};
use super::trace::Trace;
use crate::error::Result;
use crate::membership::{ScoreBlock, ShadowEmbeddings, ShadowLogits, ShadowScores};
use crate::parallel;
use ndarray::{Array4, ArrayD, ArrayView2, CowArray, IntoDimension, Ix3, Ix4};
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;

/// A recording of shadow models.
///
/// Only truth and labels are held before data are requested; arrays in files (.npy, or .npz written by `numpy.savez`)
/// are read in pieces, so they may be larger than memory, after one pass that checks those in archives against their
/// checksums. Compressed archives are unpacked once.
#[derive(Debug)]
pub enum ShadowRecording {
    /// Logits \[model, sample, view, class\].
    Logits(LogitFile),
    /// Scores \[model, sample, view\].
    Scores(ScoreFile),
    /// Embeddings \[model, sample, view, dimension\] alone.
    Embeddings(EmbeddingFile),
}

/// Recorded logits.
#[derive(Debug)]
pub struct LogitFile {
    stack: Stack,
    labels: Vec<usize>,
    classes: usize,
    embeddings: Option<EmbeddingFile>,
    neighbors: Option<Box<LogitFile>>,
}

/// Recorded scores; high means member.
#[derive(Debug)]
pub struct ScoreFile {
    stack: Stack,
    labels: Option<Vec<usize>>,
    embeddings: Option<EmbeddingFile>,
}

/// Recorded embeddings of an encoder: a number that is not finite or a vector of zeros is rejected with its place in
/// the file.
#[derive(Debug)]
pub struct EmbeddingFile {
    stack: Stack,
    labels: Option<Vec<usize>>,
    dimension: usize,
}

/// Recorded scores that are confidences: a number outside of 0 to 1 is rejected with its place in the file.
#[derive(Debug, Clone, Copy)]
pub struct ConfidenceFile<'a>(&'a ScoreFile);

/// The places of arrays in separate files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShadowArrays {
    /// Logits \[model, sample, view, class\] or scores \[model, sample, view\]; the view axis may be missing.
    pub answers: PathBuf,
    /// Whether `answers` are logits.
    pub logits: bool,
    /// Truth \[model, sample\]: `bool`, or any integer dtype with 0 and 1.
    pub keep: PathBuf,
    /// The class of every sample; needed for logits.
    pub labels: Option<PathBuf>,
}

impl ShadowScores for ScoreFile {
    fn members(&self) -> ArrayView2<'_, bool> {
        self.stack.members.view()
    }

    fn views(&self) -> usize {
        self.stack.views
    }

    fn block(&self, samples: Range<usize>) -> Result<ScoreBlock<'_>> {
        self.block_within(samples, &(-1e100..=1e100), "a number of magnitude up to 1e100")
    }
}

impl ShadowScores for ConfidenceFile<'_> {
    fn members(&self) -> ArrayView2<'_, bool> {
        self.0.members()
    }

    fn views(&self) -> usize {
        self.0.views()
    }

    fn block(&self, samples: Range<usize>) -> Result<ScoreBlock<'_>> {
        self.0.block_within(samples, &(0.0..=1.0), "a confidence from 0 to 1")
    }
}

impl ScoreFile {
    /// The same scores for an attack on confidences.
    #[must_use]
    pub fn confidences(&self) -> ConfidenceFile<'_> {
        ConfidenceFile(self)
    }

    fn block_within(
        &self,
        samples: Range<usize>,
        range: &RangeInclusive<f64>,
        expected: &str,
    ) -> Result<ScoreBlock<'_>> {
        let shape = (self.stack.members.nrows(), samples.len(), self.stack.views);
        if let [part] = &self.stack.parts[..] {
            // As it was recorded, without a copy.
            return Ok(match part.block(samples, range, expected)? {
                Piece::Single(values) => ScoreBlock::Single(shaped3(values, shape).into()),
                Piece::Double(values) => ScoreBlock::Double(shaped3(values, shape).into()),
            });
        }
        let scores = self.stack.joined(shape.into_dimension(), |part| {
            let values = match part.block(samples.clone(), range, expected)? {
                Piece::Single(values) => values.mapv(f64::from),
                Piece::Double(values) => values,
            };
            Ok(shaped3(values, (part.models, samples.len(), self.stack.views)))
        })?;
        Ok(ScoreBlock::Double(scores.into()))
    }
}

impl ShadowLogits for LogitFile {
    fn members(&self) -> ArrayView2<'_, bool> {
        self.stack.members.view()
    }

    fn labels(&self) -> &[usize] {
        &self.labels
    }

    fn views(&self) -> usize {
        self.stack.views
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn logits(&self, samples: Range<usize>) -> Result<CowArray<'_, f64, Ix4>> {
        let (views, classes) = (self.stack.views, self.classes);
        let of = |part: &Part| -> Result<Array4<f64>> {
            let shape = (part.models, samples.len(), views, classes);
            Ok(standard(part.doubles(samples.clone())?).into_shape_with_order(shape).unwrap_or_default())
        };
        let shape = Ix4(self.stack.members.nrows(), samples.len(), views, classes);
        Ok(self.stack.joined(shape, of)?.into())
    }
}

impl ShadowEmbeddings for EmbeddingFile {
    fn members(&self) -> ArrayView2<'_, bool> {
        self.stack.members.view()
    }

    fn views(&self) -> usize {
        self.stack.views
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn embeddings(&self, samples: Range<usize>) -> Result<CowArray<'_, f64, Ix4>> {
        let shape = Ix4(self.stack.members.nrows(), samples.len(), self.stack.views, self.dimension);
        Ok(self.stack.joined(shape, |part| part.directions(samples.clone()))?.into())
    }
}

impl EmbeddingFile {
    pub(super) fn new(stack: Stack, labels: Option<Vec<usize>>, dimension: usize) -> Self {
        Self { stack, labels, dimension }
    }

    /// The labels, if embeddings were recorded alone and with labels.
    #[must_use]
    pub fn labels(&self) -> Option<&[usize]> {
        self.labels.as_deref()
    }
}

/// The same numbers in C order, which may be given another shape.
fn standard<T: Clone>(values: ArrayD<T>) -> ArrayD<T> {
    if values.is_standard_layout() { values } else { values.as_standard_layout().into_owned() }
}

fn shaped3<T: Clone + Default>(values: ArrayD<T>, shape: (usize, usize, usize)) -> ndarray::Array<T, Ix3> {
    standard(values).into_shape_with_order(shape).unwrap_or_default()
}

impl LogitFile {
    pub(super) fn new(stack: Stack, labels: Vec<usize>, classes: usize) -> Self {
        Self { stack, labels, classes, embeddings: None, neighbors: None }
    }

    /// Adds what else was recorded for the same models and samples.
    pub(super) fn with(self, embeddings: Option<EmbeddingFile>, neighbors: Option<Self>) -> Self {
        Self { embeddings, neighbors: neighbors.map(Box::new), ..self }
    }
}

impl ScoreFile {
    pub(super) fn new(stack: Stack, labels: Option<Vec<usize>>, embeddings: Option<EmbeddingFile>) -> Self {
        Self { stack, labels, embeddings }
    }

    /// The labels, if the recording has them.
    #[must_use]
    pub fn labels(&self) -> Option<&[usize]> {
        self.labels.as_deref()
    }
}

impl ShadowRecording {
    /// The files with their digests, from the descriptors that the data are read from. Call this when everything is
    /// read: it checks that no file changed until now.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) when a file cannot be read, [`Error::Input`](crate::Error::Input) when one
    /// changed since it was opened.
    pub fn inputs(&self) -> Result<Vec<InputFile>> {
        parallel::try_map(&self.stack().traces, Trace::input)
    }

    fn stack(&self) -> &Stack {
        match self {
            Self::Logits(logits) => &logits.stack,
            Self::Scores(scores) => &scores.stack,
            Self::Embeddings(embeddings) => &embeddings.stack,
        }
    }

    /// The files.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        &self.stack().files
    }

    /// The truth \[model, sample\].
    #[must_use]
    pub fn members(&self) -> ArrayView2<'_, bool> {
        self.stack().members.view()
    }

    /// The labels, if the recording has them.
    #[must_use]
    pub fn labels(&self) -> Option<&[usize]> {
        match self {
            Self::Logits(logits) => Some(&logits.labels),
            Self::Scores(scores) => scores.labels(),
            Self::Embeddings(embeddings) => embeddings.labels(),
        }
    }

    /// The logits at the nearest neighbor of each sample, if the recording has them; labels are those of the samples.
    #[must_use]
    pub fn neighbors(&self) -> Option<&LogitFile> {
        match self {
            Self::Logits(logits) => logits.neighbors.as_deref(),
            Self::Scores(_) | Self::Embeddings(_) => None,
        }
    }

    /// The embeddings of an encoder, if the recording has them.
    #[must_use]
    pub fn embeddings(&self) -> Option<&EmbeddingFile> {
        match self {
            Self::Logits(logits) => logits.embeddings.as_ref(),
            Self::Scores(scores) => scores.embeddings.as_ref(),
            Self::Embeddings(embeddings) => Some(embeddings),
        }
    }
}
