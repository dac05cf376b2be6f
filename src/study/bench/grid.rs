//! The points of a sweep: one quantity changes, the others stay at the base case.

use super::machine::steps;
use super::works::BenchWork;
use crate::distribution::Noise;
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::model::{CapcModel, PateModel, PrivateKnnModel, PromptPateModel, VoteModel};
use crate::named::named;
use crate::quantity::NoiseScale;
use crate::simulate::ArgmaxSampler;
use serde::Serialize;

/// What a sweep changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Varied {
    /// Classes C, 2 to 1000
    Classes,
    /// Voters k, 10 to 10,000
    Voters,
    /// Gaussian noise of scale σ, 1 to 400
    Sigma,
    /// Threads, 1 to all
    Threads,
}

named!(Varied, "quantity to vary", [Classes "classes", Voters "voters", Sigma "sigma", Threads "threads"]);

impl Varied {
    /// The symbol of formulas and tables.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Classes => "C",
            Self::Voters => "k",
            Self::Sigma => "σ",
            Self::Threads => "threads",
        }
    }
}

/// What is simulated, and on how many threads.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepPoint {
    /// Classes C.
    pub classes: usize,
    /// Voters k: teachers, parties or neighbors.
    pub voters: u64,
    /// Scale σ of the Gaussian noise on each class, in votes.
    pub sigma: f64,
    /// Threads.
    pub threads: usize,
}

const CLASSES: [usize; 9] = [2, 5, 10, 20, 50, 100, 200, 500, 1000];
const VOTERS: [u64; 7] = [10, 30, 100, 250, 1000, 3000, 10_000];
const SIGMAS: [f64; 6] = [1.0, 5.0, 10.0, 40.0, 100.0, 400.0];

impl SweepPoint {
    /// The base case: C = 10, k = 250, σ = 40, one thread.
    pub const BASE: Self = Self { classes: 10, voters: 250, sigma: 40.0, threads: 1 };

    /// The points at which one quantity changes, in rising order, the base case among them.
    pub(super) fn points(varied: Varied, threads: usize) -> Vec<Self> {
        match varied {
            Varied::Classes => CLASSES.map(|classes| Self { classes, ..Self::BASE }).to_vec(),
            Varied::Voters => VOTERS.map(|voters| Self { voters, ..Self::BASE }).to_vec(),
            Varied::Sigma => SIGMAS.map(|sigma| Self { sigma, ..Self::BASE }).to_vec(),
            Varied::Threads => steps(threads).into_iter().map(|threads| Self { threads, ..Self::BASE }).collect(),
        }
    }

    /// The quantity that changes.
    ///
    /// ```
    /// # use leakbound::study::{SweepPoint, Varied};
    /// assert_eq!(Varied::ALL.map(|varied| SweepPoint::BASE.value(varied)), [10.0, 250.0, 40.0, 1.0]);
    /// ```
    #[must_use]
    pub const fn value(&self, varied: Varied) -> f64 {
        match varied {
            Varied::Classes => self.classes as f64,
            Varied::Voters => self.voters as f64,
            Varied::Sigma => self.sigma,
            Varied::Threads => self.threads as f64,
        }
    }

    /// The sampler of a work at this point.
    pub(super) fn sampler(&self, work: BenchWork) -> Result<ArgmaxSampler> {
        Ok(ArgmaxSampler::new(&self.model(work)?, Noise::Gaussian(NoiseScale::new(self.sigma)?)))
    }

    /// Votes by Zipf's law: the c-th class has a probability proportional to 1/c; the part that differs under the
    /// neighbor has the classes in reverse.
    fn model(&self, work: BenchWork) -> Result<VoteModel> {
        let p = zipf(self.classes, 1.0);
        let marked: Vec<f64> = p.iter().rev().copied().collect();
        Ok(match work {
            BenchWork::Fixed => {
                let votes = rounded(self.voters, &p);
                let mut neighbor = votes.clone();
                let last = self.classes - 1;
                neighbor[0] -= 1;
                neighbor[last] += 1;
                PromptPateModel::new(VoteHistogram::new(votes)?, VoteHistogram::new(neighbor)?)?.into()
            }
            BenchWork::Pate => PateModel::new(self.voters, &p, &marked)?.into(),
            BenchWork::Capc => CapcModel::new(&parties(self.voters, self.classes), &marked)?.into(),
            BenchWork::PrivateKnn => PrivateKnnModel::new(self.voters, &p, &marked, 0.2, self.classes - 1)?.into(),
            BenchWork::ExactDistributionPair => return Err(no_samples()),
        })
    }
}

/// The error for a work that has nothing to sweep.
pub(super) fn no_samples() -> Error {
    Error::rejected("sweep", "exact-distribution-pair draws no samples; leave this work out")
}

/// Probabilities proportional to 1/c^s.
fn zipf(classes: usize, exponent: f64) -> Vec<f64> {
    let weights: Vec<f64> = (1..=classes).map(|class| (class as f64).powf(-exponent)).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// k parties, each with its own exponent between 1 and 3: some are nearly sure, others are not.
fn parties(voters: u64, classes: usize) -> Vec<Vec<f64>> {
    // Multiples of the golden ratio are spread evenly for every number of parties.
    let share = |party: u64| (party as f64 * 0.618_033_988_749_895).fract();
    (0..voters).map(|party| zipf(classes, 1.0 + 2.0 * share(party))).collect()
}

/// k votes, as near to these shares as whole numbers can be.
fn rounded(voters: u64, p: &[f64]) -> Vec<u64> {
    let (mut votes, mut sum, mut given) = (Vec::with_capacity(p.len()), 0.0, 0);
    for share in p {
        sum += share;
        let until = ((voters as f64 * sum).round() as u64).min(voters);
        votes.push(until - given);
        given = until;
    }
    votes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::Sampler;

    #[test]
    fn one_quantity_changes_around_the_base_case() {
        for varied in Varied::ALL {
            let points = SweepPoint::points(varied, 6);
            assert!(points.contains(&SweepPoint::BASE), "{varied:?}");
            for pair in points.windows(2) {
                assert!(pair[0].value(varied) < pair[1].value(varied));
            }
            for point in points {
                let same = |other: &Varied| point.value(*other) == SweepPoint::BASE.value(*other);
                assert!(Varied::ALL.iter().all(|other| *other == varied || same(other)), "{point:?}");
            }
        }
        let ends = |varied| {
            let points = SweepPoint::points(varied, 6);
            [points[0].value(varied), points[points.len() - 1].value(varied)]
        };
        assert_eq!(Varied::ALL.map(ends), [[2.0, 1000.0], [10.0, 10_000.0], [1.0, 400.0], [1.0, 6.0]]);
    }

    #[test]
    fn every_point_has_its_model() {
        for point in [Varied::Classes, Varied::Voters].into_iter().flat_map(|varied| SweepPoint::points(varied, 1)) {
            for work in [BenchWork::Fixed, BenchWork::Pate, BenchWork::PrivateKnn] {
                assert_eq!(point.model(work).unwrap().classes(), point.classes, "{point:?}");
            }
            let votes = rounded(point.voters, &zipf(point.classes, 1.0));
            assert!(votes[0] > 0 && votes.iter().sum::<u64>() == point.voters, "{point:?}");
        }
        let base = SweepPoint::BASE.sampler(BenchWork::Capc).unwrap();
        assert_eq!(base.outcomes(), 10);
        assert!(matches!(SweepPoint::BASE.model(BenchWork::ExactDistributionPair), Err(Error::Rejected { .. })));
    }

    #[test]
    fn parties_differ() {
        let parties = parties(250, 10);
        assert!(parties.iter().all(|p| p[0] > 0.34 && p[0] < 0.84));
        assert!((1..250).all(|party| parties[party] != parties[party - 1]));
    }
}
