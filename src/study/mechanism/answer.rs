//! The answer of an audit of a program.

use super::counterexample::CounterexampleFound;
use super::naming::Naming;
use crate::black_box::Dataset;
use crate::study::Warning;
use crate::study::claim::Claim;
use crate::study::counts::TradeOffRow;
use crate::study::number::Number;
use crate::study::rows::{BoundRow, EpsilonRow, FailureNote};
use serde::Serialize;

/// A pair of datasets that was tried.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TriedPair {
    /// The dataset.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<serde_json::Value>"))]
    pub dataset: Dataset,
    /// Its neighbor.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<serde_json::Value>"))]
    pub neighbor: Dataset,
    /// What the pair looks like.
    pub pattern: String,
    /// Runs of each of the two.
    pub runs: u64,
    /// The largest share of a claim that these runs make plausible: above 1 the claim is in doubt. None without a
    /// search.
    pub score: Option<Number>,
    /// Why there are no outputs, if the program rejects such datasets or failed.
    pub trouble: Option<String>,
}

/// An outcome: outputs that are counted together.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutcomeCount {
    /// The outcome in words.
    pub outcome: String,
    /// Outputs of the dataset.
    pub count: u64,
    /// Outputs of its neighbor.
    pub count_neighbor: u64,
}

/// The function from outputs to outcomes under which both worlds were compared.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WitnessFound {
    /// What the function looks at.
    pub looks_at: String,
    /// Fresh outputs by outcome; those of the search if it ended early.
    pub outcomes: Vec<OutcomeCount>,
}

/// Runs of each world.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunsMade {
    /// Runs of the search over all pairs, which choose pair and witness.
    pub search: u64,
    /// Fresh runs of the chosen pair, from which the bounds come.
    pub bounded: u64,
    /// Runs that shrank the counterexample, and those that then tested it.
    pub shrink: u64,
}

impl RunsMade {
    /// All of them.
    #[must_use]
    pub const fn all(&self) -> u64 {
        self.search + self.bounded + self.shrink
    }
}

/// The answer of a [`MechanismStudy`](super::MechanismStudy).
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MechanismAnswer {
    /// The program.
    pub program: String,
    /// Whether it repeats its outputs for the same seed.
    pub repeatable: bool,
    /// The grid to whose multiples outputs were rounded before any use; none if they were not rounded.
    pub round: Option<Number>,
    /// Runs of each world.
    pub runs: RunsMade,
    /// Pairs that were tried most, the best first.
    pub pairs: Vec<TriedPair>,
    /// Pairs that were tried.
    pub tried: usize,
    /// The runs needed to name the pair that refutes a claim; none without a claim, or with a single pair.
    pub naming: Option<Naming>,
    /// How outputs were compared.
    pub witness: WitnessFound,
    /// What the failure probability is for.
    pub failure: FailureNote,
    /// Rényi bounds; none if the search ended early.
    pub bounds: Vec<BoundRow>,
    /// ε bounds.
    pub epsilon: Vec<EpsilonRow>,
    /// Bounds of μ and of the trade-off.
    pub trade_off: Vec<TradeOffRow>,
    /// Claims tested.
    pub claims: Vec<Claim>,
    /// What refutes a claim.
    pub counterexample: Option<CounterexampleFound>,
    /// Whether the audit was interrupted; if so, the answer covers what had been seen by then.
    pub interrupted: bool,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

answer!(MechanismAnswer, "leakbound.audit-mechanism/1", claims, warnings);
