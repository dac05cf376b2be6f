//! PATE: teachers trained at random, so the histogram of a query is random.

use crate::counts::MAX_COUNT;
use crate::distribution::{Noise, OutcomeDistribution, marked_argmax_distributions, vote_probabilities};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The votes of k PATE teachers on one query q, under the dataset and under its neighbor:
/// ```text
/// H ~ Mult(k, P_q),    H' ~ Mult(k-1, P_q) + Mult(1, P'_q).
/// ```
/// P_q (shape C, one probability per class) is the distribution of the vote of a teacher trained on a random part of
/// the dataset; P'_q (shape C) is that of the one teacher whose part contains the changed point. Partition and training
/// are redrawn for every sample. If the dataset is changed in the parts of m teachers, `H' ~ Mult(k-m, P_q) + Mult(m,
/// P'_q)`; see [`PateModel::with_changed_teachers`].
///
/// # Example
/// ```
/// # use leakbound::model::PateModel;
/// let model = PateModel::from_votes(250, &[30, 10], &[6, 14])?;
/// assert_eq!((model.probabilities(), model.probabilities_marked()), (&[0.75, 0.25][..], &[0.3, 0.7][..]));
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2018), "Scalable private learning with PATE" (the mechanism); Chadha et al. (2024), "Auditing
/// Private Prediction", section 5.1 (the model).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parameters")]
pub struct PateModel {
    k: u64,
    p: Vec<f64>,
    p_marked: Vec<f64>,
    #[serde(skip_serializing_if = "is_one")]
    changed: u64,
}

/// The same before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    k: u64,
    p: Vec<f64>,
    p_marked: Vec<f64>,
    #[serde(default = "one")]
    changed: u64,
}

const fn one() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
const fn is_one(changed: &u64) -> bool {
    *changed == 1
}

/// The largest number of changed teachers.
const MAX_CHANGED: u64 = 64;
/// The name of P' in messages.
const MARKED: &str = "vote probabilities of the changed voter";

impl PateModel {
    /// The model with k teachers, P (`p`) and P' (`p_marked`). Each of the two must sum to 1 within 1e-9 and is
    /// divided by its sum.
    ///
    /// # Errors
    /// [`Error::Domain`] for a k outside [1, 2^53], a probability outside [0, 1] (NaN included) or a wrong sum;
    /// [`Error::Length`] unless both have the same number of classes, 1 to 10,000.
    pub fn new(k: u64, p: &[f64], p_marked: &[f64]) -> Result<Self> {
        check_voters(k)?;
        let p = vote_probabilities(p, "vote probabilities")?;
        let p_marked = vote_probabilities(p_marked, MARKED)?;
        same_classes(MARKED, p_marked.len(), p.len())?;
        Ok(Self { k, p, p_marked, changed: 1 })
    }

    /// The maximum likelihood model given recorded votes: relative frequencies.
    ///
    /// `votes` (shape C) counts votes of teachers under the dataset, over any number of independent instantiations
    /// together, `votes_neighbor` (shape C) votes of teachers trained with the changed point. Anything certified for
    /// the result is certified for the fitted model, not for the teachers behind it.
    /// # Errors
    /// As [`PateModel::new`]; also [`Error::Domain`] if either world has no vote or more than 2^53 of them.
    pub fn from_votes(k: u64, votes: &[u64], votes_neighbor: &[u64]) -> Result<Self> {
        same_classes("recorded votes under the neighbor", votes_neighbor.len(), votes.len())?;
        let p = relative_frequencies(votes, "number of recorded votes under the dataset")?;
        let p_marked = relative_frequencies(votes_neighbor, "number of recorded votes under the neighbor")?;
        Self::new(k, &p, &p_marked)
    }

    /// The same if m teachers, not one, were trained on changed data.
    ///
    /// # Errors
    /// [`Error::Domain`] for an m outside [1, 64] or above k.
    pub fn with_changed_teachers(mut self, changed: u64) -> Result<Self> {
        let legal = (1..=MAX_CHANGED.min(self.k)).contains(&changed);
        Error::check_domain(legal, "number of changed teachers", changed as f64, "[1, 64], at most k")?;
        self.changed = changed;
        Ok(self)
    }

    /// Number m of teachers whose data are changed under the neighbor.
    #[must_use]
    pub const fn changed_teachers(&self) -> u64 {
        self.changed
    }

    /// Number of teachers k.
    #[must_use]
    pub const fn teachers(&self) -> u64 {
        self.k
    }

    /// Number of classes C.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.p.len()
    }

    /// P: the distribution of one teacher's vote under the dataset, one entry per class.
    #[must_use]
    pub fn probabilities(&self) -> &[f64] {
        &self.p
    }

    /// P': the distribution of the vote of the teacher with the changed point, one entry per class.
    #[must_use]
    pub fn probabilities_marked(&self) -> &[f64] {
        &self.p_marked
    }

    /// The exact distributions of the noisy argmax under the dataset and under its neighbor.
    pub(super) fn distributions(&self, noise: Noise) -> Result<[OutcomeDistribution; 2]> {
        marked_argmax_distributions(self.k, &self.p, &self.p_marked, self.changed, noise)
    }
}

/// Checks a number of voters.
pub(super) fn check_voters(k: u64) -> Result<()> {
    Error::check_domain((1..=MAX_COUNT).contains(&k), "number of voters", k as f64, "[1, 2^53]")
}

/// Checks that the neighbor has the classes of the dataset.
pub(super) fn same_classes(quantity: &'static str, found: usize, classes: usize) -> Result<()> {
    Error::check_size(quantity, found, classes, " classes")
}

/// Probabilities as given, if normalizing them changes no more than their rounding, so that a model that is written and
/// read again is the same model.
pub(super) fn as_written(given: Vec<f64>, normalized: &[f64]) -> Vec<f64> {
    let rounding = given.len() as f64 * f64::EPSILON;
    let same = given.iter().zip(normalized).all(|(given, value)| (given - value).abs() <= rounding * value);
    if same { given } else { normalized.to_vec() }
}

pub(super) fn relative_frequencies(votes: &[u64], quantity: &'static str) -> Result<Vec<f64>> {
    let total = votes.iter().fold(0u64, |sum, &votes| sum.saturating_add(votes));
    Error::check_domain((1..=MAX_COUNT).contains(&total), quantity, total as f64, "[1, 2^53]")?;
    Ok(votes.iter().map(|&votes| votes as f64 / total as f64).collect())
}

impl TryFrom<Parameters> for PateModel {
    type Error = Error;
    fn try_from(parameters: Parameters) -> Result<Self> {
        let model = Self::new(parameters.k, &parameters.p, &parameters.p_marked)?;
        let (p, p_marked) = (as_written(parameters.p, &model.p), as_written(parameters.p_marked, &model.p_marked));
        Self { p, p_marked, ..model }.with_changed_teachers(parameters.changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_fault_is_named() {
        let message = |result: Result<PateModel>| result.unwrap_err().to_string();
        insta::assert_snapshot!(
            [
                message(PateModel::new(0, &[1.0], &[1.0])),
                message(PateModel::new(2 * MAX_COUNT, &[1.0], &[1.0])),
                message(PateModel::new(2, &[], &[])),
                message(PateModel::new(2, &[0.5, f64::NAN], &[0.5, 0.5])),
                message(PateModel::new(2, &[0.5, 0.5], &[0.5, 0.4])),
                message(PateModel::new(2, &[0.5, 0.5], &[0.5, 0.25, 0.25])),
                message(PateModel::from_votes(2, &[0, 0], &[1, 0])),
                message(PateModel::from_votes(2, &[1, 0], &[0, 0])),
                message(PateModel::from_votes(2, &[1, 0], &[1])),
                message(PateModel::from_votes(2, &[u64::MAX, 7], &[1, 1])),
                message(PateModel::from_votes(2, &[], &[])),
            ]
            .join("\n"),
            @"
            number of voters = 0 is not in [1, 2^53]
            number of voters = 1.8014398509481984e16 is not in [1, 2^53]
            vote probabilities has length 0; expected 1 to 10000 classes
            vote probabilities = NaN is not in [0, 1]
            sum of vote probabilities = 0.9 is not in [1 - 1e-9, 1 + 1e-9]
            vote probabilities of the changed voter has length 3; expected 2 classes
            number of recorded votes under the dataset = 0 is not in [1, 2^53]
            number of recorded votes under the neighbor = 0 is not in [1, 2^53]
            recorded votes under the neighbor has length 1; expected 2 classes
            number of recorded votes under the dataset = 1.8446744073709552e19 is not in [1, 2^53]
            number of recorded votes under the dataset = 0 is not in [1, 2^53]
            "
        );
    }

    #[test]
    fn it_is_checked_when_it_is_read() {
        let model = PateModel::new(3, &[0.5, 0.5], &[0.25, 0.75]).unwrap();
        let text = serde_json::to_string(&model).unwrap();
        assert_eq!(text, r#"{"k":3,"p":[0.5,0.5],"p_marked":[0.25,0.75]}"#);
        assert_eq!(serde_json::from_str::<PateModel>(&text).unwrap(), model);
        assert!(serde_json::from_str::<PateModel>(&text.replace("0.75", "0.8")).is_err());
    }

    proptest! {
        #[test]
        fn constructors_return_for_every_input(
            k: u64,
            p in prop::collection::vec(any::<f64>(), 0..5),
            marked in prop::collection::vec(any::<f64>(), 0..5),
            votes in prop::collection::vec(any::<u64>(), 0..5),
            changed in prop::collection::vec(any::<u64>(), 0..5),
        ) {
            let _ = PateModel::new(k, &p, &marked);
            let _ = PateModel::from_votes(k, &votes, &changed);
        }

        #[test]
        fn fitted_models_are_distributions(votes in prop::collection::vec(0..1u64 << 40, 1..40), k in 1..1000u64) {
            if let Ok(model) = PateModel::from_votes(k, &votes, &votes) {
                let total: f64 = model.probabilities().iter().sum();
                prop_assert!((total - 1.0).abs() < 1e-14);
                prop_assert_eq!(model.probabilities(), model.probabilities_marked());
            } else {
                prop_assert!(votes.iter().all(|&votes| votes == 0));
            }
        }
    }
}
