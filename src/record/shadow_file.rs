//! Recorded answers of shadow models: logits or scores, who was trained on what, and labels.

use super::budget::{MemoryBudget, Room};
use super::input_file::{InputFile, InputReader};
use super::npy_array::Piece;
use super::shadow_paths;
use super::shadow_stack::{Part, Stack, assembled};
use super::trace::Trace;
use crate::error::Result;
use crate::membership::{ScoreBlock, ShadowLogits, ShadowScores};
use ndarray::{Array3, Array4, ArrayD, ArrayView2, CowArray, Ix3, Ix4};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

/// What shadow models left behind.
///
/// Nothing but truth and labels is held before it is asked for; arrays in files (.npy, or .npz written by
/// `numpy.savez`) are read in pieces, so that they may be larger than memory, after one pass that holds those in archives
/// against their checksums. Compressed archives are unpacked once.
#[derive(Debug)]
pub enum ShadowRecording {
    /// Logits \[model, sample, view, class\].
    Logits(LogitFile),
    /// Scores \[model, sample, view\].
    Scores(ScoreFile),
}

/// Recorded logits.
#[derive(Debug)]
pub struct LogitFile {
    stack: Stack,
    labels: Vec<usize>,
    classes: usize,
}

/// Recorded scores; high means member.
#[derive(Debug)]
pub struct ScoreFile {
    stack: Stack,
    labels: Option<Vec<usize>>,
}

/// Recorded scores that are confidences: another number than one from 0 to 1 is refused with its place in the file.
#[derive(Debug, Clone, Copy)]
pub struct ConfidenceFile<'a>(&'a ScoreFile);

/// Where arrays lie that are in files of their own.
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

/// Reads recorded answers of shadow models.
///
/// Each path is one of
///
/// - an archive (.npz) with `logits` \[model, sample, view, class\] and `labels` \[sample\], or `scores`
///   \[model, sample, view\]; and `keep` \[model, sample\]. The axis of the views may be missing;
/// - a folder with the same arrays as `logits.npy`, `labels.npy`, `scores.npy`, `keep.npy`;
/// - a folder of `mi_lira_2021`: folders `experiment_I_of_N` with `keep.npy` (sample), `logits/EPOCH.npy`
///   (sample, 1, view, class) or `scores/EPOCH.npy` (sample, view), the last epoch of several, beside `y_train.npy`;
/// - a table (.csv) with the columns `model,sample,view,score,member`, `view` optional, one row for each triple;
/// - a pattern such as `shadow_*.npz` if there is no file of that name.
///
/// What is unpacked into memory, and the truth, may take `memory` together. Several of them are taken as more models on the
/// same samples. Floats have 16, 32 or 64 bits; arrays may be big-endian
/// or in Fortran order.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when a file cannot be read and [`Error::Input`](crate::Error::Input), naming file,
/// array and index, when arrays are missing, are cut off, or disagree.
pub fn read_shadow_models(paths: &[PathBuf], memory: MemoryBudget) -> Result<ShadowRecording> {
    let sources = shadow_paths::sources(paths)?;
    let mut room = Room::new(memory);
    let found = sources.into_iter().map(|source| shadow_paths::arrays(source, &mut room));
    let found = found.collect::<Result<Vec<_>>>()?;
    assembled(found, &mut room)
}

/// Reads an archive that is in memory; `name` stands for the file in messages.
///
/// # Errors
/// As [`read_shadow_models`].
pub fn shadow_models_from_bytes(name: impl AsRef<Path>, bytes: Vec<u8>) -> Result<ShadowRecording> {
    let mut room = Room::new(MemoryBudget::of_machine());
    let found = shadow_paths::archive(name.as_ref(), &InputReader::of_bytes(bytes), &mut room)?;
    assembled(vec![found], &mut room)
}

/// Reads arrays in files of their own.
///
/// # Errors
/// As [`read_shadow_models`].
pub fn read_shadow_arrays(arrays: &ShadowArrays, memory: MemoryBudget) -> Result<ShadowRecording> {
    let mut room = Room::new(memory);
    let found = shadow_paths::files(arrays, &mut room)?;
    assembled(vec![found], &mut room)
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
        let mut scores = Array3::zeros(shape);
        for (start, part) in self.stack.starts() {
            let values = match part.block(samples.clone(), range, expected)? {
                Piece::Single(values) => values.mapv(f64::from),
                Piece::Double(values) => values,
            };
            let rows = start..start + part.models;
            let values = shaped3(values, (part.models, samples.len(), self.stack.views));
            scores.slice_axis_mut(ndarray::Axis(0), rows.into()).assign(&values);
        }
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
        if let [part] = &self.stack.parts[..] {
            return Ok(of(part)?.into());
        }
        let mut logits = Array4::zeros((self.stack.members.nrows(), samples.len(), views, classes));
        for (start, part) in self.stack.starts() {
            let rows = start..start + part.models;
            logits.slice_axis_mut(ndarray::Axis(0), rows.into()).assign(&of(part)?);
        }
        Ok(logits.into())
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
        Self { stack, labels, classes }
    }
}

impl ScoreFile {
    pub(super) fn new(stack: Stack, labels: Option<Vec<usize>>) -> Self {
        Self { stack, labels }
    }

    /// The labels, where the recording has them.
    #[must_use]
    pub fn labels(&self) -> Option<&[usize]> {
        self.labels.as_deref()
    }
}

impl ShadowRecording {
    /// The files with their digests, from the descriptors that the data are read from. To be asked for when all is read:
    /// that no file changed until now is checked here.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) when a file cannot be read, [`Error::Input`](crate::Error::Input) when one changed
    /// since it was opened.
    pub fn inputs(&self) -> Result<Vec<InputFile>> {
        self.stack().traces.par_iter().map(Trace::input).collect()
    }

    fn stack(&self) -> &Stack {
        match self {
            Self::Logits(logits) => &logits.stack,
            Self::Scores(scores) => &scores.stack,
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

    /// The labels, where the recording has them.
    #[must_use]
    pub fn labels(&self) -> Option<&[usize]> {
        match self {
            Self::Logits(logits) => Some(&logits.labels),
            Self::Scores(scores) => scores.labels(),
        }
    }
}
