//! The stored form of what refutes a claim.

use super::aim::Aim;
use super::dataset::Dataset;
use super::event::Event;
use super::neighbors::Pair;
use crate::error::Result;
use crate::quantity::{Delta, Epsilon, Order};
use serde::{Deserialize, Serialize};

/// A claim, so that it can be tested again.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RecordedClaim {
    /// The program is (ε, δ)-differentially private.
    Epsilon {
        /// ε.
        epsilon: f64,
        /// δ.
        delta: f64,
    },
    /// Its Rényi divergence of this order is at most a value.
    Rdp {
        /// The order.
        order: f64,
        /// The divergence in nats.
        divergence: f64,
    },
    /// The program is μ-GDP.
    Mu(f64),
}

impl RecordedClaim {
    /// What is claimed, as a counterexample records it.
    pub const fn of(aim: Aim) -> Self {
        match aim {
            Aim::Epsilon(delta, epsilon) => Self::Epsilon { epsilon, delta: delta.get() },
            Aim::Rdp(order, divergence) => Self::Rdp { order: order.get(), divergence },
            Aim::Mu(mu) => Self::Mu(mu),
        }
    }

    /// The claim as an aim of a search.
    ///
    /// # Errors
    /// Those of the quantities.
    pub fn aim(self) -> Result<Aim> {
        Ok(match self {
            Self::Epsilon { epsilon, delta } => Aim::Epsilon(Delta::new(delta)?, Epsilon::new(epsilon)?.get()),
            Self::Rdp { order, divergence } => Aim::Rdp(Order::new(order)?, finite(divergence)?),
            Self::Mu(mu) => Aim::Mu(finite(mu)?),
        })
    }
}

fn finite(value: f64) -> Result<f64> {
    Ok(Epsilon::new(value)?.get())
}

/// More runs than any audit has.
const MOST_RUNS: u64 = 1 << 52;

/// A pair and a set of outputs that refuted a claim, stored to be tested again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairCounterexample {
    /// The dataset.
    pub dataset: Dataset,
    /// Its neighbor.
    pub neighbor: Dataset,
    /// The claim.
    pub claim: RecordedClaim,
    /// The set of outputs in words.
    pub event: String,
    /// The set of outputs.
    pub predicate: Event,
    /// Outputs of the dataset in the set, and all of them.
    pub dataset_counts: [u64; 2],
    /// The same of the neighbor.
    pub neighbor_counts: [u64; 2],
}

impl PairCounterexample {
    /// The pair.
    pub fn pair(&self) -> Pair {
        let (dataset, neighbor) = (self.dataset.clone(), self.neighbor.clone());
        Pair { dataset, neighbor, pattern: "counterexample".into() }
    }

    /// Outputs of each world inside and outside.
    pub fn counts(&self) -> [[u64; 2]; 2] {
        [self.dataset_counts, self.neighbor_counts].map(|[inside, all]| [inside, all.saturating_sub(inside)])
    }

    /// Whether it can be tested: two different datasets, and a valid set.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let counted = [self.dataset_counts, self.neighbor_counts]
            .iter()
            .all(|[inside, all]| (1..=MOST_RUNS).contains(all) && inside <= all);
        counted && self.dataset != self.neighbor && self.predicate.is_sound()
    }
}
