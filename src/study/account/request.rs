//! Which costs are added up.

use super::super::bounds::usual_orders;
use crate::divergence::Conversion;
use crate::mechanism::NoisyArgmax;
use crate::model;
use crate::quantity::{Delta, Epsilon, Order};
use crate::record::{ComposedReleases, RecordedQuery, ScenarioQuery};

/// The answers whose costs are added up.
#[derive(Debug, Clone)]
pub enum Answers {
    /// One answer of a mechanism to each of these recorded queries. Costs hold given the votes, when one vote of each
    /// may move.
    Recorded {
        /// Noise and threshold test.
        mechanism: NoisyArgmax,
        /// The recorded votes.
        queries: Vec<RecordedQuery>,
    },
    /// One answer to each query of a scenario. Costs are those between its two worlds.
    Scenario {
        /// The queries.
        queries: Vec<ScenarioQuery>,
        /// How they compose: exact costs are added up only if divergences add.
        composition: model::Composition,
    },
    /// Releases of any mechanisms. Costs hold for any data if the mechanisms are about a record or a voter, even if
    /// each release is chosen after the outputs before it; for mechanisms on votes they hold given the votes.
    Releases(ComposedReleases),
}

impl Answers {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Recorded { queries, .. } => queries.len(),
            Self::Scenario { queries, .. } => queries.len(),
            Self::Releases(releases) => usize::try_from(releases.count()).unwrap_or(usize::MAX),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What do all answers together leak at most?
///
/// Every theorem that covers the answers is composed over its Rényi orders and converted to ε at δ, next to the exact
/// cost and, on request, an enclosure of ε by privacy-loss distributions.
///
/// ```
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::mechanism::NoisyArgmax;
/// # use leakbound::quantity::Delta;
/// # use leakbound::record::RecordedQuery;
/// # use leakbound::study::{AccountStudy, Answers, Study, unwatched};
/// let votes = VoteHistogram::new(vec![40, 8, 2])?;
/// let query = RecordedQuery { position: 0, label: None, histogram: votes, votes: Vec::new() };
/// let mechanism = NoisyArgmax { noise: "gaussian:10".parse()?, test: None };
/// let answers = Answers::Recorded { mechanism, queries: vec![query; 20] };
/// let study = AccountStudy { privacy_losses: true, ..AccountStudy::new(answers, Delta::new(1e-5)?) };
/// let answer = study.run(&unwatched)?;
/// let composed = answer.losses.as_ref().unwrap().epsilon;
/// assert!(answer.curves.iter().all(|curve| composed.lower.0 <= curve.epsilon.0));
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct AccountStudy {
    /// The answers.
    pub answers: Answers,
    /// δ at which ε is wanted.
    pub delta: Delta,
    /// How RDP becomes ε.
    pub conversion: Conversion,
    /// Rényi orders of the table; ε is taken over many more.
    pub orders: Vec<Order>,
    /// Whether exact costs are computed for recorded votes, which takes some milliseconds per query.
    pub exact: bool,
    /// Whether ε is also enclosed by privacy-loss distributions.
    pub privacy_losses: bool,
    /// Budgets of ε: for each, recorded votes are answered with fresh noise until it is spent, and releases are made in
    /// their order while a privacy filter lets them pass.
    pub budgets: Vec<Epsilon>,
    /// The seed of that noise.
    pub seed: u64,
}

impl AccountStudy {
    /// All accountants at the usual Rényi orders with the improved conversion, and exact costs; no privacy losses and no
    /// budgets.
    #[must_use]
    pub fn new(answers: Answers, delta: Delta) -> Self {
        Self {
            answers,
            delta,
            conversion: Conversion::Improved,
            orders: usual_orders(),
            exact: true,
            privacy_losses: false,
            budgets: Vec::new(),
            seed: 0,
        }
    }
}
