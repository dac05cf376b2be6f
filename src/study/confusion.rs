//! Lower bounds from the confusion matrix of an attack.

use super::bounds::Bounds;
use super::counts::{CountedQuery, CountsAnswer, CountsStudy};
use super::number::significant;
use super::progress::Progress;
use super::{Study, Warning};
use crate::audit::{Guide, OutputSet};
use crate::counts::PairedCounts;
use crate::error::Result;
use crate::model::Composition;
use crate::quantity::Epsilon;
use serde::Serialize;

/// What do the answers of an attack prove if a positive answer means member?
///
/// Two outcomes and one declared output set: P is the world of members, and the positive answer is more likely under P.
///
/// ```
/// # use leakbound::study::{ConfusionStudy, Study, unwatched};
/// let study = ConfusionStudy {
///     true_positives: 900,
///     false_negatives: 100,
///     false_positives: 50,
///     true_negatives: 950,
///     ..ConfusionStudy::default()
/// };
/// assert!(study.run(&unwatched)?.0.epsilon[0].epsilon_lower.0 > 2.5);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ConfusionStudy {
    /// Members called members.
    pub true_positives: u64,
    /// Members called non-members.
    pub false_negatives: u64,
    /// Non-members called members.
    pub false_positives: u64,
    /// Non-members called non-members.
    pub true_negatives: u64,
    /// What is bounded, and how.
    pub bounds: Bounds,
    /// Values of ε at which δ is bounded; if there are any, the trade-off is also bounded.
    pub epsilons: Vec<Epsilon>,
    /// Whether μ and the trade-off curve are bounded.
    pub trade_off: bool,
    /// Whether to forecast how many samples would certify more.
    pub forecasts: bool,
    /// The seed of methods that draw.
    pub seed: u64,
}

impl Default for ConfusionStudy {
    /// No answers yet, and the usual bounds: fill in the four counts.
    fn default() -> Self {
        Self {
            true_positives: 0,
            false_negatives: 0,
            false_positives: 0,
            true_negatives: 0,
            bounds: Bounds::default(),
            epsilons: Vec::new(),
            trade_off: false,
            forecasts: false,
            seed: 0,
        }
    }
}

/// The answer of a [`ConfusionStudy`]: that of an audit of counts.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct ConfusionAnswer(pub CountsAnswer);

answer!(ConfusionAnswer, "leakbound.audit-confusion/1", |self| claims: self.0.claims, warnings: self.0.warnings);

impl Study for ConfusionStudy {
    type Answer = ConfusionAnswer;

    /// # Errors
    /// Those of the counts and of the methods.
    fn run(&self, progress: &Progress<'_>) -> Result<ConfusionAnswer> {
        let counts = PairedCounts::new(
            vec!["positive".into(), "negative".into()],
            vec![self.true_positives, self.false_negatives],
            vec![self.false_positives, self.true_negatives],
        )?;
        let guide = Guide::declared(OutputSet::new(vec![true, false]));
        let query = CountedQuery { name: String::new(), counts, guide };
        let contradicted = contradicted(&query);
        let study = CountsStudy {
            queries: vec![query],
            bounds: self.bounds.clone(),
            epsilons: self.epsilons.clone(),
            trade_off: self.trade_off,
            composition: Composition::PerQuery,
            forecasts: self.forecasts,
            seed: self.seed,
        };
        let mut answer = study.run(progress)?;
        answer.warnings.splice(0..0, contradicted);
        Ok(ConfusionAnswer(answer))
    }
}

/// Bounds of a declared direction are 0 if the attack answers in reverse, which may be a slip.
fn contradicted(query: &CountedQuery) -> Vec<Warning> {
    let rate = |counts: &[u64]| counts[0] as f64 / (counts[0] + counts[1]) as f64;
    let (members, others) = (rate(query.counts.counts()), rate(query.counts.counts_neighbor()));
    if members >= others {
        return Vec::new();
    }
    vec![Warning {
        code: "direction-contradicted",
        message: format!(
            "members are called members less often than others are ({} against {})",
            significant(members, 3),
            significant(others, 3)
        ),
        hint: "if the attack's answer means the opposite, exchange true positives with false negatives and false \
               positives with true negatives; decide before looking at the counts"
            .into(),
    }]
}
