//! What is measured: the works whose speed the project promises.

use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::model::{CapcModel, PateModel, PrivateKnnModel, PromptPateModel, VoteModel};
use crate::named::named;
use crate::simulate::{ArgmaxSampler, Simulation, World};
use rand::RngExt;
use serde::Serialize;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum BenchWork {
    /// Noisy argmax of a fixed histogram, C = 10
    Fixed,
    /// PATE, k = 250, C = 10
    Pate,
    /// CaPC, 250 parties with different distributions, C = 10
    Capc,
    /// Private-kNN, k = 200, C = 10
    PrivateKnn,
    /// Exact distributions of PATE in both worlds, k = 250, C = 10
    ExactDistributionPair,
}

named!(BenchWork, "work to measure", [
    Fixed "fixed", Pate "pate", Capc "capc", PrivateKnn "private-knn",
    ExactDistributionPair "exact-distribution-pair",
]);

/// Vote probabilities of 10 classes of a query on which teachers disagree.
const P: [f64; 10] = [0.30, 0.22, 0.13, 0.10, 0.08, 0.06, 0.05, 0.03, 0.02, 0.01];
const P_MARKED: [f64; 10] = [0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.55];
/// The same as votes of 250 teachers.
const VOTES: [u64; 10] = [75, 55, 33, 25, 20, 15, 12, 8, 5, 2];

impl BenchWork {
    /// What is counted.
    pub(super) const fn unit(self) -> &'static str {
        match self {
            Self::Fixed => "outputs of a fixed histogram, C = 10, gaussian:40",
            Self::Pate => "outputs of PATE, k = 250, C = 10, gaussian:40",
            Self::Capc => "outputs of CaPC, 250 distributions, C = 10, gaussian:40",
            Self::PrivateKnn => "outputs of Private-kNN, k = 200, C = 10, gaussian:30",
            Self::ExactDistributionPair => "exact distributions of PATE in both worlds, k = 250, C = 10, gaussian:40",
        }
    }

    /// The votes.
    pub(super) fn model(self) -> Result<VoteModel> {
        Ok(match self {
            Self::Fixed => {
                let mut neighbor = VOTES;
                (neighbor[0], neighbor[9]) = (neighbor[0] - 1, neighbor[9] + 1);
                let histogram = |votes: [u64; 10]| VoteHistogram::new(votes.to_vec());
                PromptPateModel::new(histogram(VOTES)?, histogram(neighbor)?)?.into()
            }
            Self::Pate | Self::ExactDistributionPair => PateModel::new(250, &P, &P_MARKED)?.into(),
            Self::Capc => CapcModel::new(&parties()?, &P_MARKED)?.into(),
            Self::PrivateKnn => PrivateKnnModel::new(200, &P, &P_MARKED, 0.2, 9)?.into(),
        })
    }

    /// The sampler with its noise.
    pub(super) fn sampler(self) -> Result<ArgmaxSampler> {
        let sigma = if self == Self::PrivateKnn { "gaussian:30" } else { "gaussian:40" };
        Ok(ArgmaxSampler::new(&self.model()?, sigma.parse()?))
    }
}

/// 250 different distributions, much like draws of Dirichlet(6, 3, 1/8, .. 1/8): most parties are nearly sure of one of
/// two classes. The same on every call.
fn parties() -> Result<Vec<Vec<f64>>> {
    let mut stream = Simulation::new(1)?.seed(250).stream(World::Dataset, 0);
    let mut exponential = || -(1.0 - stream.random::<f64>()).ln();
    let mut party = || {
        // Gamma variables: sums of exponential ones, and for shape 1/8 one of shape 9/8, nearly, times U^8 = e^(-8E).
        let mut row: Vec<f64> = [6, 3].map(|shape| (0..shape).map(|_| exponential()).sum()).to_vec();
        row.extend((0..8).map(|_| exponential() * (-8.0 * exponential()).exp()));
        let sum: f64 = row.iter().sum();
        row.iter_mut().for_each(|weight| *weight /= sum);
        row
    };
    Ok((0..250).map(|_| party()).collect())
}
