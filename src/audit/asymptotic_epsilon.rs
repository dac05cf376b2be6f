//! ε at δ from the limits of Jeffreys and Katz. Asymptotic, for comparison with other tools.

use super::method::{Bounds, Draws, Guarantee, MethodRow, Needs};
use super::rectangle::Rectangle;
use super::tails::Tails;
use crate::bound::{Direction, LowerBound, Validity};
use crate::error::Result;
use crate::interval::{BinomialCounts, ProportionLimit, jeffreys_lower, jeffreys_upper, katz_log_lower};
use crate::quantity::{Delta, FailureProbability};

pub(super) const JEFFREYS: MethodRow = MethodRow {
    name: "jeffreys",
    when: "To compare with tools that use it; the guarantee is asymptotic.",
    guarantee: Guarantee::Nominal(Validity::Asymptotic),
    needs: Needs::Nothing,
    draws: Draws::Nothing,
    bounds: Bounds::Epsilon(|task| {
        let (share, tails) = (task.share_of_set(1), task.tails());
        Ok(task.of_sets(move |[p, q], direction| jeffreys_epsilon(p, q, task.delta, direction, share, tails)))
    }),
};

pub(super) const KATZ_LOG: MethodRow = MethodRow {
    name: "katz-log",
    when: "To compare with tools that use it; the guarantee is asymptotic.",
    guarantee: Guarantee::Nominal(Validity::Asymptotic),
    needs: Needs::Nothing,
    draws: Draws::Nothing,
    bounds: Bounds::Epsilon(|task| {
        let (share, tails) = (task.share_of_set(task.directions), task.tails());
        Ok(task.of_sets(move |[p, q], direction| Ok(katz_log_epsilon(p, q, task.delta, direction, share, tails))))
    }),
};

/// Bounds are rounded down by this share of themselves and of 1.
const MARGIN: f64 = 1e-12;

/// Lower bound of ε at δ from Jeffreys limits: ln((P(A) - δ)/Q(A)) at the worst corner of the rectangle of four (or
/// two) Jeffreys limits, each at a quarter (a half) of the failure probability, for A = O and its complement.
///
/// All limits belong to one event: one failure probability covers both directions and every δ. *Asymptotic*: each limit
/// fails with its share in the limit of many samples, and with more for some distributions at every sample size; in
/// other words, a posterior statement under independent priors Beta(1/2, 1/2). [`Rectangle::epsilon`] is the
/// finite-sample bound of the same form, lower by about 1/(2k) for the smallest count k involved.
///
/// # Errors
/// As [`jeffreys_lower`].
///
/// # Example
/// ```
/// # use leakbound::audit::{Tails, jeffreys_epsilon};
/// # use leakbound::interval::BinomialCounts;
/// # use leakbound::prelude::*;
/// let (inside, inside_neighbor) = (BinomialCounts::new(90, 100)?, BinomialCounts::new(5, 100)?);
/// let (delta, failure) = (Delta::new(1e-5)?, FailureProbability::new(0.05)?);
/// let bound = jeffreys_epsilon(inside, inside_neighbor, delta, Direction::Forward, failure, Tails::Two)?;
/// assert!((bound.value - 2.057).abs() < 1e-3 && bound.validity == Validity::Asymptotic);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Brown, Cai and DasGupta (2001), "Interval estimation for a binomial proportion".
pub fn jeffreys_epsilon(
    inside: BinomialCounts,
    inside_neighbor: BinomialCounts,
    delta: Delta,
    direction: Direction,
    failure: FailureProbability,
    tails: Tails,
) -> Result<LowerBound> {
    let limits = match tails {
        Tails::Two => {
            let tail = failure.split(2);
            let (low, high) = (jeffreys_lower(inside, tail)?, jeffreys_upper(inside_neighbor, tail)?);
            ([low, ProportionLimit::ONE], [ProportionLimit::ZERO, high])
        }
        Tails::Four => {
            let tail = failure.split(4);
            (
                [jeffreys_lower(inside, tail)?, jeffreys_upper(inside, tail)?],
                [jeffreys_lower(inside_neighbor, tail)?, jeffreys_upper(inside_neighbor, tail)?],
            )
        }
    };
    let value = Rectangle::from_limits(limits.0, limits.1, failure).worst_log_ratio(delta, direction);
    Ok(asymptotic(JEFFREYS.name, value, failure))
}

/// Lower bound of ε at δ from the Katz limit of ln((P(A) - δ)/Q(A)), for A = O and its complement.
///
/// Each set, direction and side is a separate event: with four tails, A = O and its complement get half of the failure
/// probability each, and a caller who wants both directions to hold simultaneously must split it between them.
/// *Asymptotic*: see [`katz_log_lower`]; if the neighbor never printed O, the limit is
/// [`adjusted_log_lower`](crate::interval::adjusted_log_lower) (Walter).
///
/// # Example
/// ```
/// # use leakbound::audit::{Tails, katz_log_epsilon};
/// # use leakbound::interval::BinomialCounts;
/// # use leakbound::prelude::*;
/// let (inside, inside_neighbor) = (BinomialCounts::new(90, 100)?, BinomialCounts::new(5, 100)?);
/// let (delta, failure) = (Delta::new(0.0)?, FailureProbability::new(0.05)?);
/// let bound = katz_log_epsilon(inside, inside_neighbor, delta, Direction::Forward, failure, Tails::Two);
/// assert!((bound.value - 2.171_303_321).abs() < 1e-9);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Katz et al. (1978); Walter (1975).
#[must_use]
pub fn katz_log_epsilon(
    inside: BinomialCounts,
    inside_neighbor: BinomialCounts,
    delta: Delta,
    direction: Direction,
    failure: FailureProbability,
    tails: Tails,
) -> LowerBound {
    let (sets, share) = likelier_and_rarer(inside, inside_neighbor, direction, failure, tails);
    let value = sets
        .into_iter()
        .map(|[likelier, rarer]| katz_log_lower(likelier, rarer, delta, share))
        .fold(f64::NEG_INFINITY, f64::max);
    asymptotic(KATZ_LOG.name, value, failure)
}

/// The sets A of a direction, each as counts [likelier world, rarer world], and the share of the failure probability
/// for each.
pub(super) fn likelier_and_rarer(
    inside: BinomialCounts,
    inside_neighbor: BinomialCounts,
    direction: Direction,
    failure: FailureProbability,
    tails: Tails,
) -> (Vec<[BinomialCounts; 2]>, FailureProbability) {
    let set = direction.ordered([inside, inside_neighbor]);
    let complement = set.map(BinomialCounts::mirrored);
    match (tails, direction) {
        (Tails::Two, Direction::Forward) => (vec![set], failure),
        (Tails::Two, Direction::Reverse) => (vec![complement], failure),
        (Tails::Four, _) => (vec![set, complement], failure.split(2)),
    }
}

fn asymptotic(method: &'static str, value: f64, failure: FailureProbability) -> LowerBound {
    let value = value - MARGIN * (1.0 + value.abs());
    LowerBound::new(value, failure, method, Validity::Asymptotic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::tests::binomial;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Exchanging the worlds exchanges the directions; so does exchanging O with its complement for declared sets.
        #[test]
        fn symmetries(k in 0u64..=50, l in 0u64..=70, delta in 0.0f64..0.5, f in 1e-9f64..0.9) {
            let (p, q) = (binomial(k, 50), binomial(l, 70));
            let (delta, failure) = (Delta::new(delta).unwrap(), FailureProbability::new(f).unwrap());
            let both = |p: BinomialCounts, q: BinomialCounts, direction, tails| [
                jeffreys_epsilon(p, q, delta, direction, failure, tails).unwrap().value,
                katz_log_epsilon(p, q, delta, direction, failure, tails).value,
            ];
            let forward = both(p, q, Direction::Forward, Tails::Four);
            prop_assert_eq!(forward, both(q, p, Direction::Reverse, Tails::Four));
            prop_assert_eq!(forward, both(p.mirrored(), q.mirrored(), Direction::Forward, Tails::Four));
            let declared = both(p, q, Direction::Forward, Tails::Two);
            prop_assert_eq!(declared, both(q.mirrored(), p.mirrored(), Direction::Reverse, Tails::Two));
            for (two, four) in declared.into_iter().zip(forward) {
                prop_assert!(two.is_finite() && four.is_finite());
                // If four tails find a bound in the declared direction, two tails find at least as much.
                prop_assert!(k * 70 <= l * 50 || two >= four);
            }
        }

        /// Clopper-Pearson limits lie outside those of Jeffreys.
        #[test]
        fn never_below_clopper_pearson(k in 0u64..=50, l in 0u64..=70, f in 1e-9f64..0.9) {
            let (p, q) = (binomial(k, 50), binomial(l, 70));
            let (delta, failure) = (Delta::new(0.01).unwrap(), FailureProbability::new(f).unwrap());
            for direction in Direction::BOTH {
                let exact = Rectangle::four_tails(p, q, failure).unwrap().epsilon(delta, direction).value;
                let jeffreys = jeffreys_epsilon(p, q, delta, direction, failure, Tails::Four).unwrap().value;
                prop_assert!(jeffreys >= exact - 1e-10);
            }
        }
    }
}
