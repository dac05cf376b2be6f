//! The method that suits an audit, chosen before its counts are seen.

use super::Method;
use super::counts::audit_counts;
use super::forecast::{median, typical_counts};
use super::guide::Guide;
use super::method::{Draws, Guarantee};
use super::methods::Bounded;
use super::plan::{AuditPlan, QueryAudit};
use crate::error::Result;
use crate::order;

/// A method for each quantity, with the reason in words.
#[derive(Debug, Clone, PartialEq)]
pub struct Recommendation {
    /// The method for Rényi divergences.
    pub renyi: Method,
    /// The method for ε.
    pub epsilon: Method,
    /// The reason for the Rényi method: one clause.
    pub reason: String,
}

/// Whether a method for Rényi divergences is compared with others: valid at every sample size, and not random.
fn is_candidate(method: Method) -> bool {
    let row = method.row();
    matches!(row.guarantee, Guarantee::OwnEvent | Guarantee::OutputSets)
        && row.draws == Draws::Nothing
        && method.bounds() == Bounded::Renyi
}

/// A half-space replaces the corner of a declared set from this many samples on; below, the error of its normal
/// approximation costs more than it gains.
const HALF_SPACE_FROM: u64 = 1000;

/// The valid method that is expected to certify most with `trials` samples under the dataset and its neighbor.
///
/// It depends on the guide, the numbers of samples and the plan, never on the counts, so using it costs no failure
/// probability. With guessed distributions, each candidate is applied to the expected counts, or to draws if they are
/// few, and the method with the largest (median) mean share of the guessed divergence over all orders and directions
/// wins. Without them, it is the method that needs no guess.
///
/// # Errors
/// As [`audit_counts`].
///
/// # Example
/// ```
/// # use leakbound::audit::{KCutBox, recommend};
/// # use leakbound::prelude::*;
/// let (p, q) = (OutcomeDistribution::from_probabilities(&[0.5, 0.3, 0.2])?, OutcomeDistribution::from_probabilities(&[0.49, 0.3, 0.21])?);
/// let plan = AuditPlan {
///     orders: vec![Order::new(2.0)?],
///     delta: Delta::new(0.0)?,
///     failure: FailureProbability::new(0.05)?,
///     methods: vec![],
///     directions: vec![Direction::Forward],
///     seed: 0,
///     resamples: 10_000,
/// };
/// let guide = Guide::from_distributions(&p, &q, &plan.orders, &plan.directions, SetSource::ExactDistribution)?;
/// let recommendation = recommend(&guide, [1_000_000, 1_000_000], &plan)?;
/// assert_eq!(recommendation.renyi, Method::KCutVariational);
/// let recommendation = recommend(&Guide::fixed_list(3), [1_000_000, 1_000_000], &plan)?;
/// assert_eq!(recommendation.renyi, Method::KCutBox);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn recommend(guide: &Guide, trials: [u64; 2], plan: &AuditPlan) -> Result<Recommendation> {
    let epsilon = Method::ClopperPearson;
    let Some(pair) = guide.pair() else {
        let outcomes = guide.sets.sets.first().map_or(0, |set| set.contains().len());
        let (renyi, reason) = if guide.sets.directed && trials[0].min(trials[1]) >= HALF_SPACE_FROM {
            (Method::TwoCutHalfSpace, "the output set is declared, and one limit of P(O) - Q(O) is enough")
        } else if guide.sets.directed || outcomes <= 2 {
            (Method::TwoCutCorner, "there is one output set")
        } else {
            (Method::KCutBox, "it needs neither a pilot nor a distribution")
        };
        return Ok(Recommendation { renyi, epsilon, reason: reason.into() });
    };
    // The simplest first.
    let methods = Method::ALL.into_iter().filter(|&method| is_candidate(method)).collect();
    let plan = AuditPlan { methods, ..plan.clone() };
    let audits = typical_counts([pair.dataset(), pair.neighbor()], trials)?
        .iter()
        .map(|counts| audit_counts(counts, guide, &plan))
        .collect::<Result<Vec<_>>>()?;
    let share = |audit: &QueryAudit, method: Method| -> Result<f64> {
        let (mut sum, mut goals) = (0.0, 0.0f64);
        for &order in &plan.orders {
            for &direction in &plan.directions {
                let whole = pair.renyi(direction, order);
                if whole > 0.0 && whole < f64::INFINITY {
                    sum += audit.rdp_bound(method, direction, order).map_or(0.0, |bound| bound.value / whole);
                }
                goals += 1.0;
            }
        }
        Ok(sum / goals.max(1.0))
    };
    let shares = plan
        .methods
        .iter()
        .map(|&method| Ok((method, median(audits.iter().map(|audit| share(audit, method)).collect::<Result<_>>()?))));
    let mut shares = shares.collect::<Result<Vec<_>>>()?;
    // A stable sort: the simplest first in a tie.
    order::sort(&mut shares, |a, b| b.1.total_cmp(&a.1));
    let (best, next) = (shares[0], shares[1]);
    let percent = |share: f64| format!("{:.0}%", 100.0 * share);
    let guess = guide.sets.source;
    if best.1 < 0.005 {
        return Ok(Recommendation {
            renyi: Method::KCutRegion,
            epsilon,
            reason: format!("nothing is expected to be certified with so few samples if the {guess} is right"),
        });
    }
    let reason = format!(
        "expected to certify {} of the divergence if the {guess} is right; next {} with {}",
        percent(best.1),
        next.0,
        percent(next.1)
    );
    Ok(Recommendation { renyi: best.0, epsilon, reason })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::SetSource;
    use crate::bound::Direction;
    use crate::distribution::OutcomeDistribution;
    use crate::quantity::{Delta, FailureProbability, Order};

    /// With a million samples of clearly different distributions, the reason names a large share.
    #[test]
    fn the_expected_share_is_named() {
        let distribution = |p: &[f64]| OutcomeDistribution::from_probabilities(p).unwrap();
        let (p, q) = (distribution(&[0.5, 0.3, 0.2]), distribution(&[0.4, 0.3, 0.3]));
        let one = AuditPlan {
            orders: vec![Order::new(2.0).unwrap()],
            delta: Delta::new(0.0).unwrap(),
            failure: FailureProbability::new(0.05).unwrap(),
            methods: vec![],
            directions: vec![Direction::Forward],
            seed: 0,
            resamples: 10_000,
        };
        let orders = [1.5, 2.0, 3.0].map(|a| Order::new(a).unwrap()).to_vec();
        let many = AuditPlan { orders, directions: Direction::BOTH.to_vec(), ..one.clone() };
        for plan in [one, many] {
            let guide = Guide::from_distributions(&p, &q, &plan.orders, &plan.directions, SetSource::ExactDistribution)
                .unwrap();
            let share = |trials: u64| {
                let reason = recommend(&guide, [trials, trials], &plan).unwrap().reason;
                let percent =
                    reason.split('%').next().and_then(|words| words.split_whitespace().last().map(str::to_owned));
                percent.and_then(|number| number.parse::<f64>().ok()).unwrap_or_else(|| panic!("{reason}"))
            };
            let (few, many) = (share(10_000), share(1_000_000));
            assert!(50.0 < few && few < many && many <= 100.0, "{few} {many}");
        }
    }
}
