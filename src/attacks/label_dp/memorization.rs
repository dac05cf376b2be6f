//! Canaries with a wrong label, and a model's answers about them.

use crate::error::{Error, Result};
use ndarray::{Array2, ArrayView1};

/// Canaries of a label-memorization audit: for canary i a true label y, a wrong label y' that was trained on, and the
/// model's probabilities of all classes.
///
/// Shapes: `probabilities` \[canary, class\], `labels_true` and `labels_trained` \[canary\]. y' must have been drawn
/// uniformly among the C - 1 classes other than y, by a separate draw for each canary, before training.
///
/// ```
/// # use leakbound::label_dp::LabelCanaries;
/// # use ndarray::array;
/// let canaries = LabelCanaries::new(array![[0.1, 0.8, 0.1]], vec![0], vec![1])?;
/// assert_eq!((canaries.len(), canaries.classes()), (1, 3));
/// assert!(LabelCanaries::new(array![[0.1, 0.8, 0.1]], vec![1], vec![1]).is_err());
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LabelCanaries {
    probabilities: Array2<f64>,
    labels_true: Vec<usize>,
    labels_trained: Vec<usize>,
}

impl LabelCanaries {
    /// Checks and keeps canaries.
    ///
    /// # Errors
    /// [`Error::Length`] without a canary, with fewer than 3 classes (no third label could be guessed) or labels that
    /// do not fit; [`Error::Domain`] for a probability outside \[0, 1\], NaN included, and for a label that is not a
    /// class; [`Error::Rejected`] if a trained label is the true one.
    pub fn new(probabilities: Array2<f64>, labels_true: Vec<usize>, labels_trained: Vec<usize>) -> Result<Self> {
        let (canaries, classes) = probabilities.dim();
        Error::check_length(canaries > 0, "canaries", 0, "at least 1")?;
        Error::check_length(classes >= 3, "classes", classes, "at least 3")?;
        for (labels, quantity) in [(&labels_true, "true labels"), (&labels_trained, "trained labels")] {
            Error::check_size(quantity, labels.len(), canaries, ", one per canary")?;
            if let Some(&label) = labels.iter().find(|label| **label >= classes) {
                return Err(Error::Domain { quantity: "label", value: label as f64, domain: "the classes" });
            }
        }
        let legal = |value: f64| (0.0..=1.0).contains(&value);
        Error::check_domain_of_all(&probabilities, legal, "probability of a class", "[0, 1]")?;
        if let Some(canary) = (0..canaries).find(|&canary| labels_true[canary] == labels_trained[canary]) {
            let reason = format!("canary {canary} was trained on its true label; a canary has a wrong one");
            return Err(Error::rejected("label-memorization audit", reason));
        }
        Ok(Self { probabilities, labels_true, labels_trained })
    }

    /// The same from logits: softmax of each row.
    ///
    /// # Errors
    /// [`Error::Domain`] for a logit that is not finite; as [`LabelCanaries::new`].
    pub fn from_logits(logits: &Array2<f64>, labels_true: Vec<usize>, labels_trained: Vec<usize>) -> Result<Self> {
        Error::check_domain_of_all(logits, |value| value.is_finite(), "logit", "(-inf, inf)")?;
        let mut probabilities = logits.clone();
        for mut row in probabilities.rows_mut() {
            let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.mapv_inplace(|logit| libm::exp(logit - top));
            let sum: f64 = row.iter().sum();
            // A share may be rounded above 1.
            row.mapv_inplace(|weight| (weight / sum).min(1.0));
        }
        Self::new(probabilities, labels_true, labels_trained)
    }

    /// Number of canaries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.labels_true.len()
    }

    /// Never: there is at least one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.labels_true.is_empty()
    }

    /// Number of classes C.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.probabilities.ncols()
    }

    /// The probabilities of one canary.
    pub(super) fn probabilities(&self, canary: usize) -> ArrayView1<'_, f64> {
        self.probabilities.row(canary)
    }

    /// The probability of the trained label y'.
    pub(super) fn trained(&self, canary: usize) -> f64 {
        self.probabilities[[canary, self.labels_trained[canary]]]
    }

    pub(super) fn trained_label(&self, canary: usize) -> usize {
        self.labels_trained[canary]
    }

    /// The C - 2 alternatives y'' of a canary: every class but y and y'.
    pub(super) fn alternatives(&self, canary: usize) -> impl Iterator<Item = usize> + '_ {
        let (truth, trained) = (self.labels_true[canary], self.labels_trained[canary]);
        (0..self.classes()).filter(move |class| *class != truth && *class != trained)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn logits_become_probabilities() {
        let canaries = LabelCanaries::from_logits(&array![[1000.0, 999.0, -1e300]], vec![0], vec![1]).unwrap();
        assert!((canaries.trained(0) - 1.0 / (1.0 + 1f64.exp())).abs() < 1e-15);
        assert_eq!(canaries.alternatives(0).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn impossible_canaries_are_rejected() {
        let row = array![[0.2, 0.3, 0.5]];
        for (truth, trained) in [(vec![], vec![]), (vec![0], vec![3]), (vec![2], vec![2]), (vec![0, 1], vec![1, 0])] {
            assert!(LabelCanaries::new(row.clone(), truth, trained).is_err());
        }
        assert!(LabelCanaries::new(array![[0.2, f64::NAN, 0.5]], vec![0], vec![1]).is_err());
        assert!(LabelCanaries::new(array![[0.2, 0.8]], vec![0], vec![1]).is_err());
        assert!(LabelCanaries::from_logits(&array![[0.0, f64::INFINITY, 0.0]], vec![0], vec![1]).is_err());
        assert!(LabelCanaries::new(Array2::zeros((0, 3)), vec![], vec![]).is_err());
    }
}
