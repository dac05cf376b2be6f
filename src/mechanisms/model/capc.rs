//! CaPC: each party has its own data, so every party votes by a separate distribution.

use super::pate::{as_written, check_voters, relative_frequencies, same_classes};
use crate::distribution::{
    ExpandedDistribution, Noise, OutcomeDistribution, poisson_multinomial_argmax_distribution, vote_probabilities,
};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The votes of k CaPC parties on one query q, under the dataset and under its neighbor:
/// ```text
/// H ~ Σ_{i=1..k} Mult(1, P^i_q),    H' ~ Mult(1, P^1'_q) + Σ_{i=2..k} Mult(1, P^i_q).
/// ```
/// P^i_q (shape C, one probability per class) is the distribution of the vote of party i, whose training is repeated on
/// the same data; P^1'_q is that of the first party after its data are changed, in any number of points.
///
/// # Example
/// ```
/// # use leakbound::model::CapcModel;
/// let model = CapcModel::new(&[vec![0.9, 0.1], vec![0.5, 0.5]], &[0.2, 0.8])?;
/// assert_eq!((model.parties(), model.classes()), (2, 2));
/// assert_eq!(model.mean(), [0.7, 0.3]);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Choquette-Choo et al. (2021), "CaPC learning: confidential and private collaborative learning" (the mechanism);
/// Chadha et al. (2024), "Auditing Private Prediction", section 5.1 (the model).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parameters")]
pub struct CapcModel {
    p: Vec<Vec<f64>>,
    p_marked: Vec<f64>,
}

/// The same before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    p: Vec<Vec<f64>>,
    p_marked: Vec<f64>,
}

/// The largest number of parties: each has its own distribution in memory.
const MAX_PARTIES: usize = 1_000_000;
/// The name of the distributions in messages.
const PARTY: &str = "vote probabilities of a party";
const MARKED: &str = "vote probabilities of the changed party";

impl CapcModel {
    /// The model with the distributions of all parties, one row P^i of C classes each, and the changed distribution
    /// P^1' of the first. Each distribution must sum to 1 within 1e-9 and is divided by its sum.
    ///
    /// # Errors
    /// [`Error::Domain`] for a probability outside [0, 1] (NaN included) or a wrong sum; [`Error::Length`] for no
    /// party, more than 10^6 of them, and distributions that do not all have the same number of classes, 1 to 10,000.
    pub fn new(p: &[Vec<f64>], p_marked: &[f64]) -> Result<Self> {
        check_voters(p.len() as u64)?;
        let expected = format_args!("1 to {MAX_PARTIES} parties");
        Error::check_length(p.len() <= MAX_PARTIES, "list of parties", p.len(), expected)?;
        let p_marked = vote_probabilities(p_marked, MARKED)?;
        let row = |row: &Vec<f64>| {
            same_classes(PARTY, row.len(), p_marked.len())?;
            vote_probabilities(row, PARTY)
        };
        Ok(Self { p: p.iter().map(row).collect::<Result<_>>()?, p_marked })
    }

    /// The maximum likelihood model given recorded votes: relative frequencies.
    ///
    /// `votes` has one row per party with its votes per class over all recorded trainings; `votes_marked` (shape C)
    /// counts the votes of the first party trained on its changed data.
    ///
    /// # Errors
    /// As [`CapcModel::new`]; also [`Error::Domain`] if a party or the changed party has no vote or more than 2^53.
    pub fn from_votes(votes: &[Vec<u64>], votes_marked: &[u64]) -> Result<Self> {
        let p = votes.iter().map(|votes| relative_frequencies(votes, "number of recorded votes of a party"));
        let marked = relative_frequencies(votes_marked, "number of recorded votes of the changed party")?;
        Self::new(&p.collect::<Result<Vec<_>>>()?, &marked)
    }

    /// Number of parties k.
    #[must_use]
    pub fn parties(&self) -> usize {
        self.p.len()
    }

    /// Number of classes C.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.p_marked.len()
    }

    /// P^i, one row per party.
    #[must_use]
    pub fn probabilities(&self) -> &[Vec<f64>] {
        &self.p
    }

    /// P^1': the distribution of the vote of the first party under the neighbor.
    #[must_use]
    pub fn probabilities_marked(&self) -> &[f64] {
        &self.p_marked
    }

    /// Mean distribution of the parties under the dataset, (P^1 + .. + P^k)/k.
    #[must_use]
    pub fn mean(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.classes()];
        for row in &self.p {
            mean.iter_mut().zip(row).for_each(|(mean, p)| *mean += p);
        }
        mean.iter_mut().for_each(|mean| *mean /= self.p.len() as f64);
        mean
    }

    /// The distributions of the noisy argmax under the dataset and under its neighbor, each with the sizes of the terms
    /// of its series, if it is one: see [`poisson_multinomial_argmax_distribution`].
    ///
    /// # Errors
    /// Those of [`poisson_multinomial_argmax_distribution`], which rejects Laplace noise, and noise too small for many
    /// undecided parties.
    ///
    /// # Example
    /// ```
    /// # use leakbound::model::CapcModel;
    /// let model = CapcModel::new(&[vec![0.9, 0.1], vec![0.5, 0.5]], &[0.2, 0.8])?;
    /// let [distribution, neighbor] = model.expanded_distributions("gaussian:10".parse()?)?;
    /// assert!(distribution.remainder < 1e-9);
    /// assert!(distribution.distribution.p()[0] > neighbor.distribution.p()[0]);
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    pub fn expanded_distributions(&self, noise: Noise) -> Result<[ExpandedDistribution; 2]> {
        let mut neighbor = self.p.clone();
        neighbor[0].clone_from(&self.p_marked);
        Ok([
            poisson_multinomial_argmax_distribution(&self.p, noise)?,
            poisson_multinomial_argmax_distribution(&neighbor, noise)?,
        ])
    }

    /// The distributions alone.
    pub(super) fn distributions(&self, noise: Noise) -> Result<[OutcomeDistribution; 2]> {
        Ok(self.expanded_distributions(noise)?.map(|expanded| expanded.distribution))
    }
}

impl TryFrom<Parameters> for CapcModel {
    type Error = Error;
    fn try_from(parameters: Parameters) -> Result<Self> {
        let model = Self::new(&parameters.p, &parameters.p_marked)?;
        let p = parameters.p.into_iter().zip(&model.p).map(|(given, party)| as_written(given, party)).collect();
        Ok(Self { p, p_marked: as_written(parameters.p_marked, &model.p_marked) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_named() {
        let message = |result: Result<CapcModel>| result.unwrap_err().to_string();
        insta::assert_snapshot!(
            [
                message(CapcModel::new(&[], &[1.0])),
                message(CapcModel::new(&[vec![0.5, 0.5], vec![1.0]], &[0.5, 0.5])),
                message(CapcModel::new(&[vec![0.5, 0.4]], &[0.5, 0.5])),
                message(CapcModel::new(&[vec![0.5, 0.5]], &[1.5, -0.5])),
                message(CapcModel::from_votes(&[vec![1, 2], vec![0, 0]], &[1, 0])),
                message(CapcModel::from_votes(&[vec![1, 2]], &[0, 0])),
            ]
            .join("\n"),
            @"
            number of voters = 0 is not in [1, 2^53]
            vote probabilities of a party has length 1; expected 2 classes
            sum of vote probabilities = 0.9 is not in [1 - 1e-9, 1 + 1e-9]
            vote probabilities of the changed party = 1.5 is not in [0, 1]
            number of recorded votes of a party = 0 is not in [1, 2^53]
            number of recorded votes of the changed party = 0 is not in [1, 2^53]
            "
        );
    }

    #[test]
    fn it_is_checked_when_it_is_read() {
        let model = CapcModel::from_votes(&[vec![3, 1], vec![0, 4]], &[1, 1]).unwrap();
        let text = serde_json::to_string(&model).unwrap();
        assert_eq!(text, r#"{"p":[[0.75,0.25],[0.0,1.0]],"p_marked":[0.5,0.5]}"#);
        assert_eq!(serde_json::from_str::<CapcModel>(&text).unwrap(), model);
        assert!(serde_json::from_str::<CapcModel>(&text.replace("0.75", "0.8")).is_err());
    }
}
