//! PromptPATE: teachers that are prompts of a fixed language model, so the histogram of a query is fixed.

use super::pate::same_classes;
use crate::distribution::{Noise, OutcomeDistribution, noisy_argmax_distribution};
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use serde::{Deserialize, Serialize};

/// The votes of PromptPATE teachers on one query: a fixed histogram H under the dataset and H' under its neighbor, both
/// with the same C classes. They may be equal: then the changed prompt changed no vote, and nothing leaks.
///
/// # Example
/// ```
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::model::PromptPateModel;
/// let model = PromptPateModel::new(VoteHistogram::new(vec![3, 1])?, VoteHistogram::new(vec![2, 2])?)?;
/// assert_eq!(model.classes(), 2);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Duan et al. (2023), "Flocks of stochastic parrots: differentially private prompt learning for large language
/// models" (the mechanism); Chadha et al. (2024), "Auditing Private Prediction", section 5 (the model).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Parameters")]
pub struct PromptPateModel {
    histogram: VoteHistogram,
    histogram_neighbor: VoteHistogram,
}

/// The same before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    histogram: VoteHistogram,
    histogram_neighbor: VoteHistogram,
}

impl PromptPateModel {
    /// The model with these votes per class under the dataset and its neighbor.
    ///
    /// # Errors
    /// [`Error::Length`] if the numbers of classes differ.
    pub fn new(histogram: VoteHistogram, histogram_neighbor: VoteHistogram) -> Result<Self> {
        same_classes("vote histogram of the neighbor", histogram_neighbor.classes(), histogram.classes())?;
        Ok(Self { histogram, histogram_neighbor })
    }

    /// Number of classes C.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.histogram.classes()
    }

    /// Votes per class under the dataset.
    #[must_use]
    pub const fn histogram(&self) -> &VoteHistogram {
        &self.histogram
    }

    /// Votes per class under the neighbor.
    #[must_use]
    pub const fn histogram_neighbor(&self) -> &VoteHistogram {
        &self.histogram_neighbor
    }

    /// The exact distributions of the noisy argmax under the dataset and under its neighbor.
    pub(super) fn distributions(&self, noise: Noise) -> Result<[OutcomeDistribution; 2]> {
        Ok([
            noisy_argmax_distribution(&self.histogram, noise)?,
            noisy_argmax_distribution(&self.histogram_neighbor, noise)?,
        ])
    }
}

impl TryFrom<Parameters> for PromptPateModel {
    type Error = Error;
    fn try_from(parameters: Parameters) -> Result<Self> {
        Self::new(parameters.histogram, parameters.histogram_neighbor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_worlds_have_the_same_classes() {
        let histogram = |counts: &[u64]| VoteHistogram::new(counts.to_vec()).unwrap();
        assert_eq!(
            PromptPateModel::new(histogram(&[1, 2]), histogram(&[1, 2, 0])).unwrap_err().to_string(),
            "vote histogram of the neighbor has length 3; expected 2 classes"
        );
        let text = r#"{"histogram":[1,2],"histogram_neighbor":[2,1]}"#;
        let model: PromptPateModel = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&model).unwrap(), text);
        assert!(serde_json::from_str::<PromptPateModel>(&text.replace("2,1", "2")).is_err());
    }

    proptest! {
        #[test]
        fn constructors_return_for_every_input(
            first in prop::collection::vec(any::<u64>(), 0..4),
            second in prop::collection::vec(any::<u64>(), 0..4),
        ) {
            if let (Ok(first), Ok(second)) = (VoteHistogram::new(first), VoteHistogram::new(second)) {
                let same = first.classes() == second.classes();
                prop_assert_eq!(PromptPateModel::new(first, second).is_ok(), same);
            }
        }
    }
}
