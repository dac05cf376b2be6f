//! What is requested of a program.

use crate::black_box::{BlackBox, Features, Journal, Pair, PairCounterexample, Shrink};
use crate::study::bounds::Bounds;
use std::time::Duration;

/// Where does this program leak, and how much?
///
/// The pairs of neighbors are tried in waves. Each pair has a witness, a function from outputs to few outcomes, that is
/// rebuilt from the outputs seen so far. If no claim was refuted, all pairs that may hide a rare event which refutes
/// one are examined again. The bounds come from fresh runs of the pair, with the witness that showed most; or, with
/// `stop_early`, the search itself is the test: a betting game on fresh outputs of all pairs that ends as soon as a
/// claim is refuted. A counterexample is then shrunk to fewer and simpler records and to a set of outputs that takes
/// few words to describe; both are tested again on fresh outputs.
///
/// Outputs must be independent given the dataset. What was chosen on some outputs is never tested on them, so that the
/// failure probability holds for any program and any search.
///
/// ```
/// # use leakbound::black_box::{Dataset, FunctionBlackBox, Output, Shrink, neighbor_pairs};
/// # use leakbound::relation::Relation;
/// # use leakbound::quantity::{Delta, Epsilon, FailureProbability, Order};
/// # use leakbound::study::{Bounds, Claims, MechanismStudy, Study, unwatched};
/// use rand::{RngExt, SeedableRng};
///
/// // The number of records plus Laplace noise of scale 1/2: ε is 2, not 1.
/// let count = FunctionBlackBox::new("count", |dataset: &Dataset, runs, seed| {
///     let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
///     let noise = |u: f64| -0.5 * u.signum() * (1.0 - 2.0 * u.abs()).ln();
///     let output = |_| dataset.records().len() as f64 + noise(random.random_range(-0.5..0.5));
///     Ok((0..runs).map(output).map(Output::Number).collect())
/// });
/// let mut bounds = Bounds::new(vec![Order::new(2.0)?], Delta::new(0.0)?, FailureProbability::new(0.05)?);
/// bounds.claims.epsilon = Some((Epsilon::new(1.0)?, Delta::new(0.0)?));
/// let pairs = neighbor_pairs(Relation::AddRemove, &"[1, 1, 1]".parse()?, None)?;
/// let answer = MechanismStudy {
///     shrink: Shrink { relation: Some(Relation::AddRemove), domain: None },
///     shrink_runs: 10_000,
///     ..MechanismStudy::new(&count, pairs, bounds, 20_000)
/// }
/// .run(&unwatched)?;
/// assert!(answer.claims[0].refuted && answer.claims[0].lower.0 > 1.5);
/// let counterexample = answer.counterexample.unwrap();
/// assert_eq!(counterexample.dataset.records().len() + counterexample.neighbor.records().len(), 1);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Clone)]
pub struct MechanismStudy<'a> {
    /// The program.
    pub source: &'a dyn BlackBox,
    /// Pairs of neighbors, the most promising ones first.
    pub pairs: Vec<Pair>,
    /// A pair and a set of outputs that were found before; if given, nothing is searched.
    pub known: Option<PairCounterexample>,
    /// What tells outputs apart.
    pub features: Features,
    /// What is bounded, and what is claimed.
    pub bounds: Bounds,
    /// Runs of each of both datasets, all together: at most 65% are for the search, the rest for the bounds.
    pub runs: u64,
    /// The time that the program may take.
    pub time_limit: Option<Duration>,
    /// Whether to end as soon as a claim is refuted, without bounds.
    pub stop_early: bool,
    /// How a counterexample may be shrunk.
    pub shrink: Shrink,
    /// Further runs of each world for shrinking, half of which test the result; 0 leaves the counterexample as found.
    pub shrink_runs: u64,
    /// Runs of one request.
    pub batch: usize,
    /// Where answers are kept, so that an audit that ended can be resumed.
    pub journal: Option<&'a dyn Journal>,
    /// The seed from which all others are derived.
    pub seed: u64,
}

impl<'a> MechanismStudy<'a> {
    /// The fewest runs of each dataset.
    pub const FEWEST: u64 = 200;

    /// An audit with bounds, without limit of time, that leaves a counterexample as it was found; 1000 runs a request.
    #[must_use]
    pub fn new(source: &'a dyn BlackBox, pairs: Vec<Pair>, bounds: Bounds, runs: u64) -> Self {
        Self {
            source,
            pairs,
            known: None,
            features: Features::Auto,
            bounds,
            runs,
            time_limit: None,
            stop_early: false,
            shrink: Shrink::default(),
            shrink_runs: 0,
            batch: 1000,
            journal: None,
            seed: 0,
        }
    }
}

impl std::fmt::Debug for MechanismStudy<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let source = self.source.name();
        formatter
            .debug_struct("MechanismStudy")
            .field("source", &source)
            .field("runs", &self.runs)
            .finish_non_exhaustive()
    }
}
