//! Embeddings of an encoder, and the similarity of those of two views of one image.

use super::shadow_scores::{BLOCK_SCORES, ScoreBlock, ShadowScores, check_shape, ranges};
use crate::error::{Error, Result};
use ndarray::{Array2, Array3, Array4, ArrayView2, ArrayView4, ArrayViewMut2, Axis, CowArray, Ix4};
use std::ops::Range;

/// Embeddings by the encoder of every model of every augmented view of every sample, and which model was trained on
/// which sample.
///
/// Implemented by [`MemoryEmbeddings`] and the files of `record`.
pub trait ShadowEmbeddings: Sync {
    /// The truth \[model, sample\].
    fn members(&self) -> ArrayView2<'_, bool>;

    /// Views of a sample; at least two.
    fn views(&self) -> usize;

    /// Numbers of an embedding; at least one.
    fn dimension(&self) -> usize;

    /// The embeddings \[model, sample, view, dimension\] of some of the samples; finite, and none of zeros only.
    ///
    /// # Errors
    /// What goes wrong in reading, and an error for a number that is not finite or a vector of zeros.
    fn embeddings(&self, samples: Range<usize>) -> Result<CowArray<'_, f64, Ix4>>;
}

/// Embeddings that are in memory.
#[derive(Debug, Clone)]
pub struct MemoryEmbeddings {
    embeddings: Array4<f64>,
    members: Array2<bool>,
}

impl MemoryEmbeddings {
    /// Takes embeddings \[model, sample, view, dimension\] and truth \[model, sample\].
    ///
    /// # Errors
    /// [`Error::Length`] for shapes that disagree, an axis of length 0 or fewer than two views, [`Error::Domain`] for a
    /// number that is not finite, [`Error::Rejected`] for a vector of zeros, which has no direction.
    pub fn new(embeddings: Array4<f64>, members: Array2<bool>) -> Result<Self> {
        let shape = embeddings.shape();
        check_shape(&shape[..3], &members)?;
        for (quantity, found, least) in
            [("views with embeddings", shape[2], 2), ("numbers of an embedding", shape[3], 1)]
        {
            Error::check_length(found >= least, quantity, found, format_args!("at least {least}"))?;
        }
        Error::check_domain_of_all(&embeddings, |number| number.is_finite(), "number of an embedding", "(-inf, inf)")?;
        match zero_vector(embeddings.view()) {
            Some(place) => Err(without_direction(place)),
            None => Ok(Self { embeddings, members }),
        }
    }
}

impl ShadowEmbeddings for MemoryEmbeddings {
    fn members(&self) -> ArrayView2<'_, bool> {
        self.members.view()
    }

    fn views(&self) -> usize {
        self.embeddings.len_of(Axis(2))
    }

    fn dimension(&self) -> usize {
        self.embeddings.len_of(Axis(3))
    }

    fn embeddings(&self, samples: Range<usize>) -> Result<CowArray<'_, f64, Ix4>> {
        Ok(self.embeddings.slice_axis(Axis(1), samples.into()).into())
    }
}

/// Model, sample and view of the first embedding of zeros only.
pub fn zero_vector(embeddings: ArrayView4<'_, f64>) -> Option<[usize; 3]> {
    let (_, samples, views, _) = embeddings.dim();
    let place = embeddings.rows().into_iter().position(|vector| vector.iter().all(|&number| number == 0.0))?;
    Some([place / (samples * views), place / views % samples, place % views])
}

fn without_direction([model, sample, view]: [usize; 3]) -> Error {
    let reason =
        format!("the embedding of model {model}, sample {sample}, view {view} is zero, which has no direction");
    Error::rejected("cosine similarity of embeddings", reason)
}

/// Which views of a sample are compared with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ViewPairs {
    /// Every view with every other one: for views drawn alike, the mean of all pairs has the smallest variance.
    #[default]
    All,
    /// The first with the second, the third with the fourth, and so on: as published, with six pairs.
    Disjoint,
}

/// Embeddings seen through the similarity of the views of a sample: a score that attacks use like any other.
///
/// An encoder that was trained with a contrastive loss was taught that augmented views of one training image are alike,
/// and generalizes that to other images less than perfectly. With unit vectors û_v = u_v/|u_v| of the embeddings and the
/// mean ρ of the cosines û_v·û_w over the pairs (v, w) of [`ViewPairs`], the score is Fisher's transform
///
/// s = ln(1 + ρ) - ln(1 - ρ),
///
/// near normal as LiRA expects, and increasing in ρ. **High means member.** It depends on no label and on no other
/// sample.
///
/// Both arguments are sums of squares, so neither loses digits if views are nearly alike. For all pairs of V views,
/// with S = Σ û_v, 1 + ρ = (|S|² + V(V-2))/(V(V-1)), and 1 - ρ = Σ |û_v - S/V|²/(V-1), the variance of the unit
/// vectors; for disjoint pairs 1 ± ρ is the mean of |û_v ± û_w|²/2. Below 1e-28, which rounding of unit vectors leaves,
/// they count as 1e-28: scores end at ±65.2, when all views are the same. No norm of a vector overflows, because it is
/// first divided by its largest number.
///
/// Shapes: embeddings \[model, sample, view, dimension\]; scores \[model, sample, 1\].
///
/// ```
/// # use leakbound::membership::{MemoryEmbeddings, ScoreBlock, ScoredEmbeddings, ShadowScores, ViewPairs};
/// # use ndarray::{Array4, array};
/// // One model, one sample, two views at an angle of 60 degrees: a cosine of 1/2, ln(1.5/0.5) = ln 3.
/// let views = Array4::from_shape_vec((1, 1, 2, 2), vec![2.0, 0.0, 0.5, 0.75f64.sqrt()]).unwrap();
/// let embeddings = MemoryEmbeddings::new(views, array![[true]])?;
/// let scores = ScoredEmbeddings::new(&embeddings, ViewPairs::All)?;
/// let ScoreBlock::Double(block) = scores.block(0..1)? else { panic!("scores are doubles") };
/// assert!((block[[0, 0, 0]] - 3f64.ln()).abs() < 1e-15);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Aerni, Zhang and Tramèr (2024), "Evaluations of machine learning privacy defenses are misleading", section 5.3
/// (white-box attack on self-supervised encoders; two random augmentations, six times, similarities averaged).
#[derive(Clone, Copy)]
pub struct ScoredEmbeddings<'a> {
    embeddings: &'a dyn ShadowEmbeddings,
    pairs: ViewPairs,
}

impl<'a> ScoredEmbeddings<'a> {
    /// Scores of these embeddings, computed whenever a block is requested.
    ///
    /// # Errors
    /// [`Error::Rejected`] with fewer than two views, and with an odd number of them for disjoint pairs.
    pub fn new(embeddings: &'a dyn ShadowEmbeddings, pairs: ViewPairs) -> Result<Self> {
        let views = embeddings.views();
        let reason = if views < 2 {
            "one view of a sample has no other one to be compared with".into()
        } else if pairs == ViewPairs::Disjoint && views % 2 == 1 {
            format!("{views} views do not split into pairs")
        } else {
            return Ok(Self { embeddings, pairs });
        };
        Err(Error::rejected("cosine similarity of embeddings", reason))
    }
}

impl ShadowScores for ScoredEmbeddings<'_> {
    fn members(&self) -> ArrayView2<'_, bool> {
        self.embeddings.members()
    }

    /// One score for all views.
    fn views(&self) -> usize {
        1
    }

    fn block(&self, samples: Range<usize>) -> Result<ScoreBlock<'_>> {
        // A few samples at a time: embeddings take many times the memory of scores.
        let models = self.members().nrows();
        let per_sample = models * self.embeddings.views() * self.embeddings.dimension();
        let piece = (BLOCK_SCORES / per_sample.max(1)).max(1);
        let mut scores = Array3::zeros((models, samples.len(), 1));
        for range in ranges(samples.len(), piece) {
            let first = samples.start + range.start;
            let embeddings = self.embeddings.embeddings(first..samples.start + range.end)?;
            let into = scores.index_axis_mut(Axis(2), 0).slice_axis_move(Axis(1), range.into());
            self.score(embeddings.view(), first, into)?;
        }
        Ok(ScoreBlock::Double(scores.into()))
    }
}

impl ScoredEmbeddings<'_> {
    /// Scores of samples from `first` on.
    fn score(&self, embeddings: ArrayView4<'_, f64>, first: usize, mut scores: ArrayViewMut2<'_, f64>) -> Result<()> {
        let (_, _, views, dimension) = embeddings.dim();
        let mut units = Array2::zeros((views, dimension));
        for ((model, sample), score) in scores.indexed_iter_mut() {
            let vectors = embeddings.index_axis(Axis(0), model).index_axis_move(Axis(0), sample);
            for (view, (vector, mut unit)) in vectors.rows().into_iter().zip(units.rows_mut()).enumerate() {
                unit.assign(&vector);
                if !normalize(unit.iter_mut()) {
                    return Err(without_direction([model, first + sample, view]));
                }
            }
            let [above, below] = match self.pairs {
                ViewPairs::All => around_all(&units),
                ViewPairs::Disjoint => around_disjoint(&units),
            };
            *score = above.max(LEAST).ln() - below.max(LEAST).ln();
        }
        Ok(())
    }
}

/// 1 ± ρ below this is rounding: the relative error of the norm of some thousands of numbers, squared.
const LEAST: f64 = 1e-28;

/// Divides a vector by its norm; false if it has no direction.
fn normalize<'a>(vector: impl Iterator<Item = &'a mut f64>) -> bool {
    let mut vector: Vec<&mut f64> = vector.collect();
    let largest = vector.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if !(largest > 0.0 && largest < f64::INFINITY) {
        return false;
    }
    vector.iter_mut().for_each(|x| **x /= largest);
    // From 1 to the root of the dimension.
    let norm = vector.iter().map(|x| **x * **x).sum::<f64>().sqrt();
    vector.iter_mut().for_each(|x| **x /= norm);
    norm > 0.0
}

/// 1 + ρ and 1 - ρ of all pairs of unit vectors.
fn around_all(units: &Array2<f64>) -> [f64; 2] {
    let views = units.nrows() as f64;
    let (mut of_sum, mut spread) = (0.0, 0.0);
    for column in units.columns() {
        // Around the first view, so that views that are the same have no spread at all.
        let first = column[0];
        let shift = column.iter().map(|x| x - first).sum::<f64>() / views;
        spread += column.iter().map(|x| (x - first - shift).powi(2)).sum::<f64>();
        of_sum += column.sum().powi(2);
    }
    [(of_sum + views * (views - 2.0)) / (views * (views - 1.0)), spread / (views - 1.0)]
}

/// 1 + ρ and 1 - ρ of pairs of unit vectors side by side.
fn around_disjoint(units: &Array2<f64>) -> [f64; 2] {
    let halves = |sign: f64| {
        let pairs = units.exact_chunks((2, units.ncols())).into_iter();
        let squares = pairs.map(|pair| pair.columns().into_iter().map(|x| (x[0] + sign * x[1]).powi(2)).sum::<f64>());
        // |û ± ŵ|²/2, averaged over the pairs, half the number of views.
        squares.sum::<f64>() / units.nrows() as f64
    };
    [halves(1.0), halves(-1.0)]
}

#[cfg(test)]
mod tests;
