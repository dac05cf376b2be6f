//! Which counts are bounded.

use crate::audit::Guide;
use crate::counts::PairedCounts;
use crate::model::Composition;
use crate::quantity::Epsilon;
use crate::study::bounds::Bounds;

/// The counts of one query, and its prior guide.
#[derive(Debug, Clone)]
pub struct CountedQuery {
    /// Its name; empty if there is only one query.
    pub name: String,
    /// Outputs of both worlds.
    pub counts: PairedCounts,
    /// The output sets, from a pilot, given distributions or a declaration, never from `counts`.
    pub guide: Guide,
}

/// What do these counts prove?
///
/// ```
/// # use leakbound::audit::Guide;
/// # use leakbound::counts::PairedCounts;
/// # use leakbound::study::{CountedQuery, CountsStudy, Study, unwatched};
/// let counts = PairedCounts::new(vec!["yes".into(), "no".into()], vec![6_000, 4_000], vec![5_000, 5_000])?;
/// let query = CountedQuery { name: String::new(), guide: Guide::fixed_list(counts.outcomes()), counts };
/// let answer = CountsStudy::new(vec![query]).run(&unwatched)?;
/// // 0.6 against 0.5: the largest probability ratio is ln 1.25 = 0.223.
/// let epsilon = answer.epsilon.iter().map(|row| row.epsilon_lower.0).fold(0.0, f64::max);
/// assert!(epsilon > 0.15 && epsilon < 1.25f64.ln());
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct CountsStudy {
    /// The queries.
    pub queries: Vec<CountedQuery>,
    /// What is bounded, and how.
    pub bounds: Bounds,
    /// Values of ε at which δ is bounded; if there are any, the trade-off is also bounded.
    pub epsilons: Vec<Epsilon>,
    /// Whether μ and the trade-off curve are bounded.
    pub trade_off: bool,
    /// How the queries compose.
    pub composition: Composition,
    /// Whether to forecast how many samples would certify more, which takes as long as the audit.
    pub forecasts: bool,
    /// The seed of methods that draw.
    pub seed: u64,
}

impl CountsStudy {
    /// The usual bounds of these queries, one by one; without values of ε, trade-off curve and forecast.
    #[must_use]
    pub fn new(queries: Vec<CountedQuery>) -> Self {
        Self {
            queries,
            bounds: Bounds::default(),
            epsilons: Vec::new(),
            trade_off: false,
            composition: Composition::PerQuery,
            forecasts: false,
            seed: 0,
        }
    }
}
