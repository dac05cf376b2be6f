//! One query to any of the models.

use super::capc::CapcModel;
use super::composition::Composition;
use super::pate::PateModel;
use super::private_knn::PrivateKnnModel;
use super::prompt_pate::PromptPateModel;
use crate::distribution::{Noise, OutputPair};
use crate::error::Result;
use serde::{Deserialize, Serialize};

/// The votes on one query under a dataset and under its neighbor, before noise is added.
///
/// # Example
/// ```
/// # use leakbound::model::{Composition, PateModel, VoteModel};
/// let model = VoteModel::from(PateModel::new(10, &[0.1492, 0.5883, 0.2625], &[0.5036, 0.1086, 0.3878])?);
/// let pair = model.output_pair("gaussian:4".parse()?)?;
/// assert!((pair.dataset().p()[0] - 0.159_520_995_319_951_5).abs() < 1e-13);
/// assert_eq!(model.default_composition(), Composition::SharedTeachers);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case")]
pub enum VoteModel {
    /// Random votes of randomly trained teachers.
    Pate(PateModel),
    /// Random votes of parties that keep their data.
    Capc(CapcModel),
    /// Fixed votes.
    PromptPate(PromptPateModel),
    /// Labels of the nearest neighbors in a random part of the dataset.
    PrivateKnn(PrivateKnnModel),
}

impl VoteModel {
    /// Number of classes C.
    #[must_use]
    pub fn classes(&self) -> usize {
        match self {
            Self::Pate(model) => model.classes(),
            Self::Capc(model) => model.classes(),
            Self::PrivateKnn(model) => model.classes(),
            Self::PromptPate(model) => model.classes(),
        }
    }

    /// The exact distributions of argmax(H + Z) under the dataset and of argmax(H' + Z) under its neighbor; the noise
    /// Z_c, in votes, is independent of the votes and of the other classes.
    ///
    /// # Errors
    /// Those of [`marked_argmax_distributions`](crate::distribution::marked_argmax_distributions) for PATE and of
    /// [`displaced_argmax_distributions`](crate::distribution::displaced_argmax_distributions) for Private-kNN, which
    /// reject Laplace noise and k above 10^6; those of
    /// [`noisy_argmax_distribution`](crate::distribution::noisy_argmax_distribution) for PromptPATE; those of
    /// [`poisson_multinomial_argmax_distribution`](crate::distribution::poisson_multinomial_argmax_distribution) for
    /// CaPC, which also rejects noise that is too small.
    pub fn output_pair(&self, noise: Noise) -> Result<OutputPair> {
        let [dataset, neighbor] = match self {
            Self::Pate(model) => model.distributions(noise),
            Self::PromptPate(model) => model.distributions(noise),
            Self::Capc(model) => model.distributions(noise),
            Self::PrivateKnn(model) => model.distributions(noise),
        }?;
        OutputPair::new(dataset, neighbor)
    }

    /// Whether both can be queries to the same two datasets, as far as the models show: the addition to the dataset of
    /// Private-kNN, points and their label, is the same for all queries. Models of other mechanisms do not describe
    /// their datasets.
    ///
    /// ```
    /// # use leakbound::model::{PrivateKnnModel, VoteModel};
    /// let added = |label| PrivateKnnModel::new(200, &[0.7, 0.3], &[0.6, 0.4], 0.2, label).map(VoteModel::from);
    /// assert!(added(0)?.may_share_datasets(&added(0)?) && !added(0)?.may_share_datasets(&added(1)?));
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    #[must_use]
    pub fn may_share_datasets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::PrivateKnn(a), Self::PrivateKnn(b)) => (a.label(), a.points()) == (b.label(), b.points()),
            _ => true,
        }
    }

    /// The default composition of several queries to this model: PromptPATE `independent`, since its histograms are
    /// deterministic and its noise fresh; Private-kNN `independent`, since it draws a subsample for every answer; PATE
    /// and CaPC `shared-teachers`, since they train their teachers once.
    #[must_use]
    pub const fn default_composition(&self) -> Composition {
        match self {
            Self::Pate(_) | Self::Capc(_) => Composition::SharedTeachers,
            Self::PromptPate(_) | Self::PrivateKnn(_) => Composition::Independent,
        }
    }
}

macro_rules! from_models {
    ($($model:ty => $variant:ident),+ $(,)?) => {$(
        impl From<$model> for VoteModel {
            fn from(model: $model) -> Self {
                Self::$variant(model)
            }
        }
    )+};
}

from_models! {
    PateModel => Pate,
    CapcModel => Capc,
    PrivateKnnModel => PrivateKnn,
    PromptPateModel => PromptPate,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::OutcomeDistribution;
    use crate::histogram::VoteHistogram;

    fn prompts() -> VoteModel {
        let histogram = |counts: &[u64]| VoteHistogram::new(counts.to_vec()).unwrap();
        PromptPateModel::new(histogram(&[3, 1]), histogram(&[2, 2])).unwrap().into()
    }

    #[test]
    fn distributions_are_those_of_the_mechanism() {
        let noise = "laplace:2".parse().unwrap();
        let [distribution, neighbor] = prompts().output_pair(noise).unwrap().into_distributions();
        assert_eq!(distribution, noisy_distribution(&[3, 1], noise));
        assert_eq!(neighbor, noisy_distribution(&[2, 2], noise));
        // One voter: P itself decides who has the vote, and P' does so under the neighbor.
        let pate = VoteModel::from(PateModel::new(1, &[1.0, 0.0], &[0.0, 1.0]).unwrap());
        let [distribution, neighbor] = pate.output_pair("gaussian:1".parse().unwrap()).unwrap().into_distributions();
        assert!((distribution.p()[0] - neighbor.p()[1]).abs() < 1e-14);
        assert!((distribution.p()[0] - crate::special::ndtr(1.0 / 2f64.sqrt())).abs() < 1e-13);
        assert_eq!(
            pate.output_pair(noise).unwrap_err().to_string(),
            "exact distribution of random votes: only Gaussian noise is supported, not laplace:2"
        );
    }

    fn noisy_distribution(counts: &[u64], noise: Noise) -> OutcomeDistribution {
        crate::distribution::noisy_argmax_distribution(&VoteHistogram::new(counts.to_vec()).unwrap(), noise).unwrap()
    }

    #[test]
    fn the_name_of_the_model_is_in_the_data() {
        let text = r#"{"model":"prompt-pate","histogram":[3,1],"histogram_neighbor":[2,2]}"#;
        assert_eq!(serde_json::to_string(&prompts()).unwrap(), text);
        assert_eq!(serde_json::from_str::<VoteModel>(text).unwrap(), prompts());
        assert_eq!(prompts().default_composition(), Composition::Independent);
    }
}
