//! One audit of recorded counts: several methods, all orders, both directions.

use super::Method;
use super::guide::Guide;
use super::method::{Bounds, Guarantee, Task};
use super::plan::{AuditPlan, EpsilonBound, QueryAudit, RdpBound, Skipped};
use crate::bound::LowerBound;
use crate::counts::PairedCounts;
use crate::error::{Error, Result};
use crate::parallel;
use crate::quantity::Order;

/// Why a posterior gives no limit.
const NO_ROOT: &str = "a limit of its posterior was not found for these counts";

/// Bounds the leakage of one query from the counts of both worlds.
///
/// The guide must not have been made by looking at `counts`. All bounds of a method hold simultaneously except with the
/// failure probability of the plan: methods at output sets divide it among the sets; `k-cut-variational`, `e-process`,
/// `jeffreys`, `katz-log` and `joint-beta` divide it among the orders and directions that need separate events; the
/// bootstrap, a heuristic, spends all of it on each; all others cover every order and direction with one event. A
/// method that needs something missing from the guide, or that reaches a limit while another does not, is listed in
/// [`QueryAudit::skipped`].
///
/// # Errors
/// [`Error::Length`] if the guide does not fit the counts; as
/// [`Rectangle::four_tails`](crate::audit::Rectangle::four_tails).
///
/// # Example
/// ```
/// # use leakbound::audit::KCutBox;
/// # use leakbound::prelude::*;
/// let counts = PairedCounts::new(vec!["a".into(), "b".into()], vec![6_000, 4_000], vec![5_000, 5_000])?;
/// let plan = AuditPlan {
///     orders: vec![Order::new(2.0)?],
///     delta: Delta::new(0.0)?,
///     failure: FailureProbability::new(0.05)?,
///     methods: vec![Method::TwoCutCorner, Method::KCutBox, Method::ClopperPearson],
///     directions: Direction::BOTH.to_vec(),
///     seed: 0,
///     resamples: 10_000,
/// };
/// let audit = audit_counts(&counts, &Guide::fixed_list(2), &plan)?;
/// let corner = audit.rdp_bound(Method::TwoCutCorner, Direction::Forward, plan.orders[0]).unwrap();
/// assert!((corner.value - 0.0238).abs() < 1e-4);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn audit_counts(counts: &PairedCounts, guide: &Guide, plan: &AuditPlan) -> Result<QueryAudit> {
    Error::check_length(!guide.sets.sets.is_empty(), "output sets", 0, "at least 1 set")?;
    // Results, and the first error, are in the order requested.
    let found = parallel::map(&plan.methods, |&method| run(method, counts, guide, plan));
    QueryAudit::of_methods(&plan.methods, found)
}

/// D_α never decreases in α and the bounds hold simultaneously, so each order gets the largest bound among orders up to
/// it.
fn raise(rows: &mut [RdpBound]) {
    let values: Vec<(Order, f64)> = rows.iter().map(|row| (row.order, row.bound.value)).collect();
    for row in rows {
        let below = values.iter().filter(|(order, _)| order.get() <= row.order.get());
        row.bound = row.bound.with_value(below.map(|(_, value)| *value).fold(0.0, f64::max));
    }
}

impl Guide {
    /// The missing requirement of a method, if any.
    #[must_use]
    pub fn lacks(&self, method: Method) -> Option<&'static str> {
        method.row().needs.lacking(self)
    }
}

/// All bounds of one method.
fn run(method: Method, counts: &PairedCounts, guide: &Guide, plan: &AuditPlan) -> Result<QueryAudit> {
    let (row, mut audit) = (method.row(), QueryAudit::default());
    if let Some(needs) = guide.lacks(method) {
        audit.skipped.push(Skipped { method, reason: format!("it needs {needs}") });
        return Ok(audit);
    }
    let task = Task {
        counts,
        guide,
        failure: plan.failure,
        delta: plan.delta,
        goals: plan.orders.len() * plan.directions.len(),
        directions: plan.directions.len(),
        seed: plan.seed,
        resamples: plan.resamples,
        nothing: LowerBound::new(0.0, plan.failure, row.name, method.validity()),
    };
    // With the name of the method and the failure probability of all its bounds together.
    let named = |bound: LowerBound| bound.by(row.name).failing(plan.failure);
    match row.bounds {
        Bounds::Renyi(bounds) => {
            let bound = bounds(&task)?;
            for &direction in &plan.directions {
                let row_of = |&order: &Order| Ok(RdpBound { direction, order, bound: named(bound(order, direction)?) });
                let mut rows = plan.orders.iter().map(row_of).collect::<Result<Vec<_>>>()?;
                if matches!(row.guarantee, Guarantee::OwnEvent | Guarantee::OutputSets) {
                    raise(&mut rows);
                }
                audit.rdp.extend(rows);
            }
        }
        Bounds::Epsilon(bounds) => {
            let bound = bounds(&task)?;
            let bounds = plan
                .directions
                .iter()
                .map(|&direction| Ok(EpsilonBound { direction, delta: plan.delta, bound: named(bound(direction)?) }));
            match bounds.collect::<Result<Vec<_>>>() {
                Err(Error::NoConvergence { .. }) => audit.skipped.push(Skipped { method, reason: NO_ROOT.into() }),
                bounds => audit.epsilon.extend(bounds?),
            }
        }
    }
    Ok(audit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{ReferenceDistributions, SetSource, expected_counts, variational_bound};
    use crate::bound::Direction;
    use crate::distribution::OutcomeDistribution;
    use crate::quantity::{Delta, FailureProbability};

    #[test]
    fn a_single_goal_has_the_whole_failure_probability() {
        let distribution = |p: &[f64]| OutcomeDistribution::from_probabilities(p).unwrap();
        let (p, q) = (distribution(&[0.5, 0.3, 0.2]), distribution(&[0.4, 0.3, 0.3]));
        let (order, failure) = (Order::new(2.0).unwrap(), FailureProbability::new(0.05).unwrap());
        let plan = AuditPlan {
            orders: vec![order],
            delta: Delta::new(0.0).unwrap(),
            failure,
            methods: vec![Method::KCutVariational],
            directions: vec![Direction::Forward],
            seed: 0,
            resamples: 1,
        };
        let guide =
            Guide::from_distributions(&p, &q, &plan.orders, &plan.directions, SetSource::ExactDistribution).unwrap();
        let counts = expected_counts(&p, &q, 100_000).unwrap();
        let audit = audit_counts(&counts, &guide, &plan).unwrap();
        let found = audit.rdp_bound(Method::KCutVariational, Direction::Forward, order).unwrap().value;
        let reference = ReferenceDistributions::from_distributions(&p, &q).unwrap();
        let alone = variational_bound(&counts, &reference, order, Direction::Forward, failure).unwrap().value;
        assert!(alone > 0.0 && (found / alone - 1.0).abs() < 1e-12, "{found} {alone}");
    }
}
