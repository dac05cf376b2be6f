//! The distributions that a self-check draws from, and its findings.

use crate::bound::{Direction, Validity};
use crate::counts::PairedCounts;
use crate::distribution::{OutcomeDistribution, OutputPair};
use crate::error::Result;
use crate::named::named;
use crate::quantity::{Delta, FailureProbability, Order};
use serde::Serialize;
use std::collections::BTreeSet;

/// Standard errors by which a method may be above its failure probability.
const STANDARD_ERRORS: f64 = 3.0;

/// Which pair of distributions the counts of a self-check are drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CheckCase {
    /// P = Q: the pooled frequencies in both worlds. Every positive bound is wrong.
    Null,
    /// The frequencies of each world, with half a count added to each outcome; their divergences are the truth.
    Known,
}

named!(CheckCase, "case of a self-check", [Null "null", Known "known"]);

impl CheckCase {
    /// The distributions of both worlds.
    pub(super) fn pair(self, counts: &PairedCounts) -> Result<OutputPair> {
        let distribution = |weight: &dyn Fn(usize) -> f64| {
            let weights: Vec<f64> = (0..counts.outcomes()).map(|outcome| weight(outcome) + 0.5).collect();
            let total: f64 = weights.iter().sum();
            OutcomeDistribution::from_probabilities(&weights.iter().map(|weight| weight / total).collect::<Vec<_>>())
        };
        let (p, q) = (counts.counts(), counts.counts_neighbor());
        match self {
            Self::Null => {
                let pooled = distribution(&|outcome| p[outcome] as f64 + q[outcome] as f64)?;
                OutputPair::new(pooled.clone(), pooled)
            }
            Self::Known => OutputPair::new(
                distribution(&|outcome| p[outcome] as f64)?,
                distribution(&|outcome| q[outcome] as f64)?,
            ),
        }
    }
}

/// How many outputs of each world are drawn for one audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckSizes {
    /// Outputs that are bounded: of the dataset, of its neighbor.
    pub counts: [u64; 2],
    /// Outputs of a separate pilot recording, if the audit has one.
    pub pilot: Option<[u64; 2]>,
}

/// How many audits are simulated, and from which seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CheckRuns {
    /// Audits of each case, at least 1.
    pub repetitions: u64,
    /// The seed; the same seed gives the same result on any number of threads.
    pub seed: u64,
}

/// The quantity that a bound is for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckedQuantity {
    /// D_α at this order.
    Rdp(Order),
    /// ε at this δ.
    Epsilon(Delta),
}

/// How close the bounds of one quantity come to it.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundTightness {
    /// The quantity.
    pub quantity: CheckedQuantity,
    /// Its direction.
    pub direction: Direction,
    /// Its true value.
    pub truth: f64,
    /// Mean of the bound over the audits.
    pub mean_bound: f64,
    /// Audits in which this bound was above the truth.
    pub wrong: u64,
}

impl BoundTightness {
    /// Mean of the bound as a share of the truth; None if the truth is 0 or infinite.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        (self.truth > 0.0 && self.truth < f64::INFINITY).then(|| self.mean_bound / self.truth)
    }
}

/// The verdict on a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CheckVerdict {
    /// Not above the failure probability by more than three standard errors.
    Kept,
    /// Above it, for a method that guarantees it for every sample size.
    Broken,
    /// Above it, for a method that guarantees nothing at this sample size.
    AboveNominal,
}

named!(CheckVerdict, "verdict of a self-check", [Kept "kept", Broken "broken", AboveNominal "above-nominal"]);

/// The audits of one method in one case.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodCheck {
    /// The distributions.
    pub case: CheckCase,
    /// The method.
    pub method: &'static str,
    /// What the method guarantees.
    pub validity: Validity,
    /// The probability with which any of its bounds may be wrong.
    pub failure_probability: f64,
    /// Audits.
    pub repetitions: u64,
    /// Audits in which any of its bounds was above the truth.
    pub wrong: u64,
    /// Which audits these are, counted from 0.
    pub wrong_in: Vec<u64>,
    /// Each of its bounds.
    pub tightness: Vec<BoundTightness>,
}

impl MethodCheck {
    /// All bounds with a finite-sample guarantee together, of several methods and queries in the same audits: how often
    /// any of them was above the truth, if all of them share one failure probability.
    ///
    /// None without such a bound. The audits of different queries must draw from separate streams.
    #[must_use]
    pub fn together(checks: &[Self], failure: FailureProbability) -> Option<Self> {
        let guaranteed = || checks.iter().filter(|check| check.validity == Validity::FiniteSample);
        let first = guaranteed().next()?;
        let wrong_in: BTreeSet<u64> = guaranteed().flat_map(|check| &check.wrong_in).copied().collect();
        Some(Self {
            case: first.case,
            method: "all together",
            validity: Validity::FiniteSample,
            failure_probability: failure.get(),
            repetitions: first.repetitions,
            wrong: wrong_in.len() as u64,
            wrong_in: wrong_in.into_iter().collect(),
            tightness: Vec::new(),
        })
    }

    /// The largest share of wrong audits that is accepted: the failure probability f and three standard errors √(f
    /// (1-f)/R) of R audits. A method that is wrong with probability exactly f exceeds it with probability 0.0013.
    #[must_use]
    pub fn accepted_share(&self) -> f64 {
        let f = self.failure_probability;
        f + STANDARD_ERRORS * (f * (1.0 - f) / self.repetitions as f64).sqrt()
    }

    /// The share of audits in which any bound was above the truth.
    #[must_use]
    pub fn wrong_share(&self) -> f64 {
        self.wrong as f64 / self.repetitions as f64
    }

    /// Whether the method met its guarantee.
    #[must_use]
    pub fn verdict(&self) -> CheckVerdict {
        match self.validity {
            _ if self.wrong_share() <= self.accepted_share() => CheckVerdict::Kept,
            Validity::FiniteSample | Validity::Exact | Validity::NumericallyCertified => CheckVerdict::Broken,
            Validity::Asymptotic | Validity::Bayesian | Validity::Heuristic => CheckVerdict::AboveNominal,
        }
    }
}
