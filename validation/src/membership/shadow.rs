//! Recorded shadow models and plain reference attacks on them: short enough to be checked by eye, not fast.

use leakbound::membership::{AttackScores, MemoryLogits};
use leakbound::{Error, Result};
use ndarray::{Array1, Array2, Array3, Array4, ArrayView1, Axis};
use ndarray_npy::NpzReader;
use std::fs::File;
use std::path::Path;

/// Logits of shadow models.
pub struct Shadows {
    /// \[model, sample, view, class\].
    pub logits: Array4<f32>,
    /// \[model, sample\]: trained on it.
    pub keep: Array2<bool>,
    /// \[sample\].
    pub labels: Array1<i64>,
}

impl Shadows {
    /// Reads a recording.
    ///
    /// # Errors
    /// When the file or one of its arrays cannot be read.
    pub fn read(path: &Path) -> Result<Self> {
        let rejected = |reason: String| Error::Rejected {
            operation: "shadow models",
            reason: format!("{}: {reason}", path.display()),
        };
        let file = File::open(path).map_err(|error| rejected(error.to_string()))?;
        let mut archive = NpzReader::new(file).map_err(|error| rejected(error.to_string()))?;
        Ok(Self {
            logits: archive.by_name("logits").map_err(|error| rejected(error.to_string()))?,
            keep: archive.by_name("keep").map_err(|error| rejected(error.to_string()))?,
            labels: archive.by_name("labels").map_err(|error| rejected(error.to_string()))?,
        })
    }

    /// ln p_y - ln(1 - p_y) of the label y \[model, sample, view\], from logits in double precision.
    #[must_use]
    pub fn logit_scores(&self) -> Array3<f64> {
        let (models, samples, views, _) = self.logits.dim();
        Array3::from_shape_fn((models, samples, views), |(model, sample, view)| {
            let label = self.labels[sample] as usize;
            logit(self.answer(model, sample, view), label)
        })
    }

    /// Some views in double precision, as the library takes them.
    ///
    /// # Errors
    /// As [`MemoryLogits::new`].
    pub fn memory(&self, views: &[usize]) -> Result<MemoryLogits> {
        let logits = self.logits.select(Axis(2), views).mapv(f64::from);
        MemoryLogits::new(logits, self.classes().into(), self.keep.clone())
    }

    /// The labels as classes; one that is not a class is beyond every class.
    #[must_use]
    pub fn classes(&self) -> Vec<usize> {
        self.labels.iter().map(|&label| usize::try_from(label).unwrap_or(usize::MAX)).collect()
    }

    fn answer(&self, model: usize, sample: usize, view: usize) -> ArrayView1<'_, f32> {
        self.logits.index_axis(Axis(0), model).index_axis_move(Axis(0), sample).index_axis_move(Axis(0), view)
    }

    /// Where a model gives the sample its label, at this view.
    #[must_use]
    pub fn correct(&self, view: usize) -> Array2<bool> {
        Array2::from_shape_fn(self.keep.dim(), |(model, sample)| {
            let logits = self.answer(model, sample, view);
            let best = logits.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map(|(class, _)| class);
            best == usize::try_from(self.labels[sample]).ok()
        })
    }
}

fn logit(logits: ArrayView1<'_, f32>, label: usize) -> f64 {
    let others = || logits.iter().enumerate().filter(|(class, _)| *class != label).map(|(_, z)| f64::from(*z));
    let largest = others().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = others().map(|z| (z - largest).exp()).sum();
    f64::from(logits[label]) - largest - sum.ln()
}

/// The score of one view itself, with one threshold for all samples (Yeom et al. 2018 up to a monotone map).
///
/// # Errors
/// As [`AttackScores::new`].
pub fn threshold(scores: &Array3<f64>, keep: &Array2<bool>, view: usize) -> Result<AttackScores> {
    AttackScores::new(scores.index_axis(Axis(2), view).to_owned(), keep.clone())
}

/// Online LiRA, every model a victim of all others: sum over views of ln N(x; in) - ln N(x; out), mean and unbiased
/// variance of the other models inside and outside.
///
/// # Errors
/// As [`AttackScores::new`].
pub fn plain_lira(scores: &Array3<f64>, keep: &Array2<bool>, views: &[usize]) -> Result<AttackScores> {
    let (models, samples, _) = scores.dim();
    let guesses = Array2::from_shape_fn((models, samples), |(victim, sample)| {
        let ratio = |&view: &usize| {
            let [inside, outside] = [true, false].map(|inside| {
                let others = (0..models).filter(|&m| m != victim && keep[[m, sample]] == inside);
                Fit::new(others.map(|m| scores[[m, sample, view]])).log_density(scores[[victim, sample, view]])
            });
            inside - outside
        };
        views.iter().map(ratio).sum()
    });
    AttackScores::new(guesses, keep.clone())
}

struct Fit {
    mean: f64,
    variance: f64,
}

impl Fit {
    fn new(values: impl Iterator<Item = f64> + Clone) -> Self {
        let count = values.clone().count() as f64;
        let mean = values.clone().sum::<f64>() / count;
        Self { mean, variance: values.map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0) }
    }

    fn log_density(&self, x: f64) -> f64 {
        -0.5 * ((x - self.mean).powi(2) / self.variance + self.variance.ln())
    }
}
