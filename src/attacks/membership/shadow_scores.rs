//! Scores of shadow models, given block by block so that they need not fit into memory.

use super::score::MembershipScore;
use crate::error::{Error, Result};
use ndarray::{Array1, Array2, Array3, Array4, ArrayView2, ArrayView4, ArrayViewMut2, Axis, CowArray, Ix3, Ix4};
use std::ops::Range;

/// The largest magnitude of a score, so that no sum of squares overflows a double.
pub(super) const MAX_SCORE: f64 = 1e100;

/// The most scores of a block: 8 MiB of doubles.
pub(super) const BLOCK_SCORES: usize = 1 << 20;

/// Scores of every model on every view of every sample, and which model was trained on which sample.
///
/// Implemented by [`MemoryScores`], [`ScoredLogits`] and the files of `record`. An attack requests blocks of samples
/// from several threads, each sample once or twice; the source of a block stays where it is.
pub trait ShadowScores: Sync {
    /// The truth \[model, sample\]: true if the model was trained on the sample. At least one of each.
    fn members(&self) -> ArrayView2<'_, bool>;

    /// Views of a sample, such as augmentations; at least one.
    fn views(&self) -> usize;

    /// The scores \[model, sample, view\] of some of the samples. **High means member.** They are finite and of
    /// magnitude 1e100 at most.
    ///
    /// # Errors
    /// What goes wrong in reading, and [`Error::Domain`] or [`Error::Input`] for a score outside of its range.
    fn block(&self, samples: Range<usize>) -> Result<ScoreBlock<'_>>;
}

/// Scores \[model, sample, view\] of a few samples, in the precision in which they were recorded.
#[derive(Debug, Clone)]
pub enum ScoreBlock<'a> {
    /// Single precision.
    Single(CowArray<'a, f32, Ix3>),
    /// Double precision.
    Double(CowArray<'a, f64, Ix3>),
}

impl ScoreBlock<'_> {
    /// The scores of one sample as doubles, model by model, view by view within a model.
    pub(super) fn sample(&self, sample: usize, scores: &mut Vec<f64>) {
        scores.clear();
        match self {
            Self::Single(block) => scores.extend(block.index_axis(Axis(1), sample).iter().map(|&x| f64::from(x))),
            Self::Double(block) => scores.extend(block.index_axis(Axis(1), sample).iter()),
        }
    }

    /// Calls with the number of each sample and the views of a model on it, as doubles.
    pub(super) fn views_of(&self, model: usize, each: impl FnMut(usize, &[f64])) {
        match self {
            Self::Single(block) => views_of(block.index_axis(Axis(0), model), f64::from, each),
            Self::Double(block) => views_of(block.index_axis(Axis(0), model), |score| score, each),
        }
    }

    /// Models, samples and views.
    pub(super) fn shape(&self) -> [usize; 3] {
        let (models, samples, views) = match self {
            Self::Single(block) => block.dim(),
            Self::Double(block) => block.dim(),
        };
        [models, samples, views]
    }

    pub(super) fn samples(&self) -> usize {
        match self {
            Self::Single(block) => block.len_of(Axis(1)),
            Self::Double(block) => block.len_of(Axis(1)),
        }
    }
}

fn views_of<T: Copy>(scores: ArrayView2<'_, T>, double: impl Fn(T) -> f64, mut each: impl FnMut(usize, &[f64])) {
    let mut views = vec![0.0; scores.ncols()];
    for (sample, row) in scores.rows().into_iter().enumerate() {
        // The iterator of an array looks at its layout for every element.
        match row.as_slice() {
            Some(row) => views.iter_mut().zip(row).for_each(|(into, &score)| *into = double(score)),
            None => views.iter_mut().zip(row).for_each(|(into, &score)| *into = double(score)),
        }
        each(sample, &views);
    }
}

/// The least number of blocks, if there are enough samples: some for every thread. Neither this number nor sums over
/// blocks depend on the number of threads.
const LEAST_BLOCKS: usize = 32;

/// Blocks are a multiple of this, so that samples side by side fill their lanes.
const LANES: usize = 16;

/// Samples per block that is requested of a source.
pub(super) fn blocks(source: &impl ShadowScores) -> Vec<Range<usize>> {
    let (models, samples) = source.members().dim();
    let piece = (BLOCK_SCORES / (models * source.views()).max(1)).clamp(1, 1024);
    let piece = piece.min(samples.div_ceil(LEAST_BLOCKS).next_multiple_of(LANES));
    ranges(samples, if piece > LANES { piece - piece % LANES } else { piece })
}

/// The columns of a table by victim or model and sample, one part for each block of samples.
pub(super) fn columns<'a>(
    table: &'a mut Array2<f64>,
    blocks: &[Range<usize>],
) -> Vec<(Range<usize>, ArrayViewMut2<'a, f64>)> {
    let piece = blocks.first().map_or(1, Range::len);
    blocks.iter().cloned().zip(table.axis_chunks_iter_mut(Axis(1), piece)).collect()
}

/// 0..samples in pieces.
pub(super) fn ranges(samples: usize, piece: usize) -> Vec<Range<usize>> {
    (0..samples).step_by(piece).map(|start| start..(start + piece).min(samples)).collect()
}

/// Scores that are in memory.
///
/// ```
/// # use leakbound::membership::{MemoryScores, ShadowScores};
/// # use ndarray::{Array3, array};
/// // Two models, one sample, three views.
/// let scores = MemoryScores::single(Array3::from_shape_fn((2, 1, 3), |(m, _, v)| (m + v) as f32), array![[true], [false]])?;
/// assert_eq!(scores.views(), 3);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct MemoryScores {
    scores: ScoreBlock<'static>,
    members: Array2<bool>,
}

impl MemoryScores {
    /// Takes scores \[model, sample, view\] in single precision and the truth \[model, sample\].
    ///
    /// # Errors
    /// [`Error::Length`] for shapes that disagree or an axis of length 0, [`Error::Domain`] for a score that is not
    /// finite.
    pub fn single(scores: Array3<f32>, members: Array2<bool>) -> Result<Self> {
        check_shape(scores.shape(), &members)?;
        check_scores(scores.iter().map(|&score| f64::from(score)))?;
        Ok(Self { scores: ScoreBlock::Single(scores.into()), members })
    }

    /// Takes scores \[model, sample, view\] in double precision and the truth \[model, sample\].
    ///
    /// # Errors
    /// As [`MemoryScores::single`]; also [`Error::Domain`] for a magnitude above 1e100.
    pub fn double(scores: Array3<f64>, members: Array2<bool>) -> Result<Self> {
        check_shape(scores.shape(), &members)?;
        check_scores(scores.iter().copied())?;
        Ok(Self { scores: ScoreBlock::Double(scores.into()), members })
    }
}

impl ShadowScores for MemoryScores {
    fn members(&self) -> ArrayView2<'_, bool> {
        self.members.view()
    }

    fn views(&self) -> usize {
        match &self.scores {
            ScoreBlock::Single(scores) => scores.len_of(Axis(2)),
            ScoreBlock::Double(scores) => scores.len_of(Axis(2)),
        }
    }

    fn block(&self, samples: Range<usize>) -> Result<ScoreBlock<'_>> {
        Ok(match &self.scores {
            ScoreBlock::Single(scores) => ScoreBlock::Single(scores.slice_axis(Axis(1), samples.into()).into()),
            ScoreBlock::Double(scores) => ScoreBlock::Double(scores.slice_axis(Axis(1), samples.into()).into()),
        })
    }
}

pub(super) fn check_shape(shape: &[usize], members: &Array2<bool>) -> Result<()> {
    for (axis, quantity) in ["models with scores", "samples with scores", "views with scores"].into_iter().enumerate() {
        let found = shape[axis];
        Error::check_length(found > 0, quantity, found, "at least 1")?;
        if let Some(&truth) = members.shape().get(axis) {
            Error::check_size(quantity, found, truth, ", as their truth")?;
        }
    }
    Ok(())
}

/// Rejects the first score that is not finite or too large.
pub(super) fn check_scores(scores: impl Iterator<Item = f64>) -> Result<()> {
    let legal = |score: f64| score.abs() <= MAX_SCORE;
    Error::check_domain_of_all(scores, legal, "score of a shadow model", "[-1e100, 1e100]")
}

/// Logits of every model on every view of every sample, with labels and truth.
///
/// Implemented by [`MemoryLogits`] and the files of `record`.
pub trait ShadowLogits: Sync {
    /// The truth \[model, sample\].
    fn members(&self) -> ArrayView2<'_, bool>;

    /// The label of every sample, smaller than the number of classes.
    fn labels(&self) -> &[usize];

    /// Views of a sample; at least one.
    fn views(&self) -> usize;

    /// Classes of an answer; at least two.
    fn classes(&self) -> usize;

    /// The logits \[model, sample, view, class\] of some of the samples; finite.
    ///
    /// # Errors
    /// What goes wrong in reading, and an error for a logit that is not finite.
    fn logits(&self, samples: Range<usize>) -> Result<CowArray<'_, f64, Ix4>>;
}

/// Logits that are in memory.
#[derive(Debug, Clone)]
pub struct MemoryLogits {
    logits: Array4<f64>,
    labels: Vec<usize>,
    members: Array2<bool>,
}

impl MemoryLogits {
    /// Takes logits \[model, sample, view, class\], labels \[sample\] and truth \[model, sample\].
    ///
    /// # Errors
    /// [`Error::Length`] for shapes that disagree, an axis of length 0 or fewer than two classes, [`Error::Domain`] for
    /// a logit that is not finite and a label that is not a class.
    pub fn new(logits: Array4<f64>, labels: Array1<usize>, members: Array2<bool>) -> Result<Self> {
        let shape = logits.shape().to_vec();
        check_shape(&shape[..3], &members)?;
        Error::check_length(shape[3] >= 2, "classes of logits", shape[3], "at least 2")?;
        Error::check_size("labels", labels.len(), shape[1], ", as the samples with logits")?;
        if let Some(&label) = labels.iter().find(|&&label| label >= shape[3]) {
            let domain = "{0, ..., classes - 1}";
            return Err(Error::Domain { quantity: "label of a sample", value: label as f64, domain });
        }
        Error::check_domain_of_all(&logits, |logit| logit.is_finite(), "logit of a shadow model", "(-inf, inf)")?;
        Ok(Self { logits, labels: labels.to_vec(), members })
    }
}

impl ShadowLogits for MemoryLogits {
    fn members(&self) -> ArrayView2<'_, bool> {
        self.members.view()
    }

    fn labels(&self) -> &[usize] {
        &self.labels
    }

    fn views(&self) -> usize {
        self.logits.len_of(Axis(2))
    }

    fn classes(&self) -> usize {
        self.logits.len_of(Axis(3))
    }

    fn logits(&self, samples: Range<usize>) -> Result<CowArray<'_, f64, Ix4>> {
        Ok(self.logits.slice_axis(Axis(1), samples.into()).into())
    }
}

/// Logits seen through one [`MembershipScore`].
#[derive(Debug)]
pub struct ScoredLogits<'a, L> {
    logits: &'a L,
    score: MembershipScore,
}

impl<'a, L: ShadowLogits> ScoredLogits<'a, L> {
    /// Scores of these logits, computed whenever a block is requested.
    pub fn new(logits: &'a L, score: MembershipScore) -> Self {
        Self { logits, score }
    }
}

impl<L: ShadowLogits> ShadowScores for ScoredLogits<'_, L> {
    fn members(&self) -> ArrayView2<'_, bool> {
        self.logits.members()
    }

    fn views(&self) -> usize {
        self.logits.views()
    }

    fn block(&self, samples: Range<usize>) -> Result<ScoreBlock<'_>> {
        // A few samples at a time, because logits take more memory than scores by a factor of the number of classes.
        let per_sample = self.members().nrows() * self.views() * self.logits.classes();
        let piece = (BLOCK_SCORES / per_sample.max(1)).max(1);
        let mut scores = Array3::zeros((self.members().nrows(), samples.len(), self.views()));
        for range in ranges(samples.len(), piece) {
            let all = samples.start + range.start..samples.start + range.end;
            let logits = self.logits.logits(all.clone())?;
            let labels = &self.logits.labels()[all];
            score_into(self.score, logits.view(), labels, scores.slice_axis_mut(Axis(1), range.into()));
        }
        check_scores(scores.iter().copied())?;
        Ok(ScoreBlock::Double(scores.into()))
    }
}

fn score_into(
    score: MembershipScore,
    logits: ArrayView4<'_, f64>,
    labels: &[usize],
    mut scores: ndarray::ArrayViewMut3<'_, f64>,
) {
    let mut copy = Vec::new();
    for ((model, sample, view), into) in scores.indexed_iter_mut() {
        let row = logits.index_axis(Axis(0), model).index_axis_move(Axis(0), sample).index_axis_move(Axis(0), view);
        *into = match row.to_slice() {
            Some(row) => score.of_finite(row, labels[sample]),
            None => {
                copy.clear();
                copy.extend(row.iter());
                score.of_finite(&copy, labels[sample])
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn logits_are_scored_block_by_block() {
        let logits = Array4::from_shape_fn((3, 5, 2, 4), |(m, s, v, c)| ((m * 7 + s * 3 + v * 5 + c * c) % 11) as f64);
        let members = Array2::from_elem((3, 5), true);
        let labels = array![0usize, 1, 2, 3, 0];
        let memory = MemoryLogits::new(logits.clone(), labels.clone(), members).unwrap();
        let scored = ScoredLogits::new(&memory, MembershipScore::Logit);
        let ScoreBlock::Double(block) = scored.block(1..4).unwrap() else { panic!("doubles expected") };
        for ((m, s, v), &got) in block.indexed_iter() {
            let row: Vec<f64> = (0..4).map(|c| logits[[m, s + 1, v, c]]).collect();
            assert_eq!(got, MembershipScore::Logit.of(&row, labels[s + 1]).unwrap());
        }
    }

    #[test]
    fn what_does_not_fit_is_rejected() {
        let truth = Array2::from_elem((2, 1), true);
        let message = |scores: Array3<f32>| MemoryScores::single(scores, truth.clone()).unwrap_err().to_string();
        insta::assert_snapshot!(
            [
                message(Array3::zeros((2, 2, 1))),
                message(Array3::zeros((2, 1, 0))),
                message(Array3::from_elem((2, 1, 1), f32::NAN)),
                message(Array3::from_elem((2, 1, 1), f32::INFINITY)),
                MemoryLogits::new(Array4::zeros((2, 1, 1, 3)), array![3], truth.clone()).unwrap_err().to_string(),
                MemoryLogits::new(Array4::zeros((2, 1, 1, 1)), array![0], truth.clone()).unwrap_err().to_string(),
            ]
            .join("\n"),
            @"
        samples with scores has length 2; expected 1, as their truth
        views with scores has length 0; expected at least 1
        score of a shadow model = NaN is not in [-1e100, 1e100]
        score of a shadow model = inf is not in [-1e100, 1e100]
        label of a sample = 3 is not in {0, ..., classes - 1}
        classes of logits has length 1; expected at least 2
        "
        );
    }
}
