//! Private-kNN: the nearest neighbors of the query in a random part of the dataset vote with their labels.

use super::pate::{as_written, check_voters, same_classes};
use crate::distribution::{
    Displacement, Noise, OutcomeDistribution, displaced_argmax_distributions, vote_probabilities,
};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The votes of the k nearest neighbors of a query q in a Poisson subsample of rate γ, under the dataset and under its
/// neighbor, which has m more points with label y':
/// ```text
/// H ~ Mult(k, P_q),    H' ~ Mult(k, P_q) + B · 1{y'} - Mult(B, P^k_q),    B ~ Bin(m, ν).
/// ```
/// P_q (shape C) is the distribution of the label of a neighbor among the k, P^k_q that of the k-th, which an added
/// point displaces; ν is the probability that an added point is among the k nearest. One point, m = 1, is the published
/// model. A class may be left with as few as -m votes, because the model draws the displaced labels independently of H.
///
/// # Example
/// ```
/// # use leakbound::model::PrivateKnnModel;
/// let model = PrivateKnnModel::new(200, &[0.7, 0.3], &[0.6, 0.4], 0.2, 1)?;
/// assert_eq!((model.neighbors(), model.inclusion(), model.label()), (200, 0.2, 1));
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Zhu et al. (2020), "Private-kNN: practical differential privacy for computer vision" (the mechanism); Chadha et al.
/// (2024), "Auditing Private Prediction", section 6 (the model) and appendix C (m points).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parameters")]
pub struct PrivateKnnModel {
    k: u64,
    p: Vec<f64>,
    p_last: Vec<f64>,
    inclusion: f64,
    label: usize,
    points: u64,
}

/// The same before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    k: u64,
    p: Vec<f64>,
    p_last: Vec<f64>,
    inclusion: f64,
    label: usize,
    #[serde(default = "one")]
    points: u64,
}

const fn one() -> u64 {
    1
}

/// The largest number of added points.
const MAX_POINTS: u64 = 64;

impl PrivateKnnModel {
    /// The model with k neighbors, P (`p`), P^k (`p_last`), ν (`inclusion`) and y' (`label`), for one added point. Each
    /// of the distributions must sum to 1 within 1e-9 and is divided by its sum.
    ///
    /// # Errors
    /// [`Error::Domain`] for a k outside [1, 2^53], a probability or a ν outside [0, 1] (NaN included), a wrong sum, or
    /// a label that is not a class; [`Error::Length`] unless both distributions have the same number of classes, 1 to
    /// 10,000.
    pub fn new(k: u64, p: &[f64], p_last: &[f64], inclusion: f64, label: usize) -> Result<Self> {
        check_voters(k)?;
        let p = vote_probabilities(p, "label probabilities of the neighbors")?;
        let p_last = vote_probabilities(p_last, "label probabilities of the last neighbor")?;
        same_classes("label probabilities of the last neighbor", p_last.len(), p.len())?;
        let legal = (0.0..=1.0).contains(&inclusion);
        Error::check_domain(legal, "probability that the added point is among the neighbors", inclusion, "[0, 1]")?;
        Error::check_domain(label < p.len(), "label of the added point", label as f64, "[0, classes - 1]")?;
        Ok(Self { k, p, p_last, inclusion, label, points: 1 })
    }

    /// The same with m added points at the same place, each of them independently in the subsample or not.
    ///
    /// # Errors
    /// [`Error::Domain`] for an m outside [1, 64] or above k.
    pub fn with_points(mut self, points: u64) -> Result<Self> {
        let legal = (1..=MAX_POINTS.min(self.k)).contains(&points);
        Error::check_domain(legal, "number of added points", points as f64, "[1, 64], at most k")?;
        self.points = points;
        Ok(self)
    }

    /// Number of neighbors k that vote.
    #[must_use]
    pub const fn neighbors(&self) -> u64 {
        self.k
    }

    /// Number of classes C.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.p.len()
    }

    /// P: the distribution of the label of a neighbor, one entry per class.
    #[must_use]
    pub fn probabilities(&self) -> &[f64] {
        &self.p
    }

    /// P^k: the distribution of the label of the k-th neighbor, one entry per class.
    #[must_use]
    pub fn probabilities_last(&self) -> &[f64] {
        &self.p_last
    }

    /// ν: the probability that an added point is among the k nearest.
    #[must_use]
    pub const fn inclusion(&self) -> f64 {
        self.inclusion
    }

    /// y': the label of the added points.
    #[must_use]
    pub const fn label(&self) -> usize {
        self.label
    }

    /// m: the number of added points.
    #[must_use]
    pub const fn points(&self) -> u64 {
        self.points
    }

    /// The exact distributions of the noisy argmax under the dataset and under its neighbor.
    pub(super) fn distributions(&self, noise: Noise) -> Result<[OutcomeDistribution; 2]> {
        let displacement = Displacement {
            distribution: &self.p_last,
            points: self.points,
            inclusion: self.inclusion,
            label: self.label,
        };
        displaced_argmax_distributions(self.k, &self.p, &displacement, noise)
    }
}

impl TryFrom<Parameters> for PrivateKnnModel {
    type Error = Error;
    fn try_from(Parameters { k, p, p_last, inclusion, label, points }: Parameters) -> Result<Self> {
        let model = Self::new(k, &p, &p_last, inclusion, label)?;
        let (p, p_last) = (as_written(p, &model.p), as_written(p_last, &model.p_last));
        Self { p, p_last, ..model }.with_points(points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_named() {
        let message = |result: Result<PrivateKnnModel>| result.unwrap_err().to_string();
        let even = [0.5, 0.5];
        insta::assert_snapshot!(
            [
                message(PrivateKnnModel::new(0, &even, &even, 0.2, 0)),
                message(PrivateKnnModel::new(2, &[0.5, 0.6], &even, 0.2, 0)),
                message(PrivateKnnModel::new(2, &even, &[1.0], 0.2, 0)),
                message(PrivateKnnModel::new(2, &even, &even, f64::NAN, 0)),
                message(PrivateKnnModel::new(2, &even, &even, 0.2, 2)),
                message(PrivateKnnModel::new(2, &even, &even, 0.2, 1).unwrap().with_points(0)),
                message(PrivateKnnModel::new(2, &even, &even, 0.2, 1).unwrap().with_points(3)),
            ]
            .join("\n"),
            @"
            number of voters = 0 is not in [1, 2^53]
            sum of vote probabilities = 1.1 is not in [1 - 1e-9, 1 + 1e-9]
            label probabilities of the last neighbor has length 1; expected 2 classes
            probability that the added point is among the neighbors = NaN is not in [0, 1]
            label of the added point = 2 is not in [0, classes - 1]
            number of added points = 0 is not in [1, 64], at most k
            number of added points = 3 is not in [1, 64], at most k
            "
        );
    }

    #[test]
    fn it_is_checked_when_it_is_read() {
        let text = r#"{"k":3,"p":[0.5,0.5],"p_last":[0.25,0.75],"inclusion":0.2,"label":1}"#;
        let model: PrivateKnnModel = serde_json::from_str(text).unwrap();
        assert_eq!(model.points(), 1);
        assert_eq!(serde_json::from_str::<PrivateKnnModel>(&serde_json::to_string(&model).unwrap()).unwrap(), model);
        assert!(serde_json::from_str::<PrivateKnnModel>(&text.replace("0.2,", "2,")).is_err());
        assert!(serde_json::from_str::<PrivateKnnModel>(&text.replace("\"label\":1", "\"label\":2")).is_err());
    }
}
