//! What an attack says about each sample of each victim, beside the truth.

use crate::error::{Error, Result};
use ndarray::{Array2, ArrayView2, Axis};

/// Scores of a membership attack: one for each sample under each victim model. **High means member**, whatever the
/// attack; attacks whose published form means the opposite are turned round where they are made.
///
/// Shapes: `scores` and `members` are \[victim, sample\]; `members` is true where the victim was trained on the sample.
/// Scores may be infinite and may be equal; they are never NaN.
///
/// ```
/// # use leakbound::AttackScores;
/// # use ndarray::array;
/// let guesses = AttackScores::new(array![[2.5, -0.5, 0.0]], array![[true, false, false]])?;
/// assert_eq!((guesses.victims(), guesses.samples()), (1, 3));
/// assert!(AttackScores::new(array![[f64::NAN]], array![[true]]).is_err());
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AttackScores {
    scores: Array2<f64>,
    members: Array2<bool>,
}

impl AttackScores {
    /// Checks and keeps scores and truth.
    ///
    /// # Errors
    /// [`Error::Length`] unless both have the same shape with at least one victim and one sample, [`Error::Domain`] for
    /// a score that is NaN.
    pub fn new(scores: Array2<f64>, members: Array2<bool>) -> Result<Self> {
        for (axis, quantity) in [(0, "victims of an attack"), (1, "samples of an attack")] {
            let (found, truth) = (scores.len_of(Axis(axis)), members.len_of(Axis(axis)));
            if found == 0 {
                return Err(Error::Length { quantity, found, expected: "at least 1".into() });
            }
            if found != truth {
                return Err(Error::Length { quantity, found, expected: format!("{truth}, as their truth") });
            }
        }
        if let Some(&value) = scores.iter().find(|score| score.is_nan()) {
            return Err(Error::Domain { quantity: "score of an attack", value, domain: "[-inf, inf]" });
        }
        Ok(Self { scores, members })
    }

    /// Number of victim models.
    #[must_use]
    pub fn victims(&self) -> usize {
        self.scores.nrows()
    }

    /// Number of samples.
    #[must_use]
    pub fn samples(&self) -> usize {
        self.scores.ncols()
    }

    /// The scores \[victim, sample\].
    #[must_use]
    pub fn scores(&self) -> ArrayView2<'_, f64> {
        self.scores.view()
    }

    /// The truth \[victim, sample\].
    #[must_use]
    pub fn members(&self) -> ArrayView2<'_, bool> {
        self.members.view()
    }
}
