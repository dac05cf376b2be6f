//! Claims against exact distributions: none may be below the leakage.

use super::accountant::{Accountant, AccountantAnswer};
use super::check::{Check, Violation, claim};
use super::distribution_pair::DistributionPair;
use super::distributions::{composed_pair, pairs};
use super::request::{Case, Question, Request};
use crate::bound::{Claimed, Direction, Exact};
use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::mechanism::DataKind;
use crate::quantity::{Delta, Epsilon, Order};

/// The value, or the end of the check: exact distributions have their own domain.
macro_rules! computed {
    ($value:expr) => {
        match $value {
            Ok(value) => value,
            Err(_) => return Check::NotApplicable,
        }
    };
}

/// The largest exact value over all pairs.
struct Worst {
    exact: Exact,
    /// Its place among the pairs.
    place: usize,
    neighbor: VoteHistogram,
    direction: Direction,
}

/// `value` of every pair in the directions in which the claim must hold, the largest. None without pairs.
fn worst(
    accountant: &dyn Accountant,
    request: &Request,
    pairs: &[DistributionPair],
    value: impl Fn(&DistributionPair, Direction) -> Result<Option<Exact>>,
) -> Result<Option<Worst>> {
    let directions = accountant.scope().directions();
    let both = directions.cover(Direction::Reverse) || request.mechanism.kind().data == DataKind::OneRecord;
    let mut worst: Option<Worst> = None;
    for (place, pair) in pairs.iter().enumerate() {
        for direction in Direction::BOTH.into_iter().filter(|direction| both || *direction == Direction::Forward) {
            let Some(exact) = value(pair, direction)? else { continue };
            if worst.as_ref().is_none_or(|worst| exact.at_least() > worst.exact.at_least()) {
                worst = Some(Worst { exact, place, neighbor: pair.neighbor.clone(), direction });
            }
        }
    }
    Ok(worst)
}

/// What a claim in double precision may have lost, relative to itself and to 1.
const LOST: f64 = 1e-10;
const ROUNDING: f64 = 1e-14;

/// The verdict on a claim below which the exact value must stay, beyond its numerical error and beyond what the claim
/// may have lost: that share and `least`.
fn covered(worst: Option<Worst>, claim: Claimed, least: f64, words: impl Fn() -> String) -> Check {
    let Some(worst) = worst else { return Check::NotApplicable };
    let refuted = worst.exact.at_least().refutes(claim.loosened(LOST, least));
    let claim = claim.get();
    if refuted {
        return Check::Violated(Violation {
            claim,
            limit: worst.exact.value,
            error: worst.exact.error,
            words: words(),
            neighbor: Some(worst.neighbor),
            reverse: worst.direction == Direction::Reverse,
        });
    }
    Check::Holds { share: (claim > 0.0 && claim.is_finite()).then(|| worst.exact.value / claim) }
}

pub(super) fn rdp_covers_exact(accountant: &dyn Accountant, case: &Case) -> Check {
    let request = &case.request;
    let Question::Order(order) = request.question else { return Check::NotApplicable };
    let claim = claim!(accountant, request);
    let pairs = computed!(pairs(request, Some(order)));
    let repetitions = f64::from(request.repetitions);
    let found = computed!(worst(accountant, request, &pairs, |pair, direction| {
        let exact = pair.distributions.exact_renyi(direction, order);
        Ok(Some(Exact { value: repetitions * exact.value, error: repetitions * exact.error }))
    }));
    // A logarithm near ln 1 in double precision, divided by α - 1: a claim may have lost that.
    let least = repetitions * ROUNDING * (1.0 + 1.0 / (order.get() - 1.0));
    covered(found, claim, least, || format!("claimed Rényi divergence of order {order}, and the exact one"))
}

pub(super) fn kl_below_order_near_1(accountant: &dyn Accountant, case: &Case) -> Check {
    let Question::Order(order) = case.request.question else { return Check::NotApplicable };
    let Ok(near) = Order::new(1.0 + 1e-6 * (order.get() - 1.0)) else { return Check::NotApplicable };
    let request = &case.asking(Question::Order(near));
    let claim = claim!(accountant, request);
    let pairs = computed!(pairs(request, Some(near)));
    let repetitions = f64::from(request.repetitions);
    let found = computed!(worst(accountant, request, &pairs, |pair, direction| {
        let exact = pair.distributions.exact_kullback_leibler(direction);
        Ok(Some(Exact { value: repetitions * exact.value, error: repetitions * exact.error }))
    }));
    // As for Rényi divergences.
    let least = repetitions * ROUNDING * (1.0 + 1.0 / (near.get() - 1.0));
    let words = || format!("claimed Rényi divergence of order {near}, and the exact one of order 1");
    match covered(found, claim, least, words) {
        // This near to order 1 the rounding of the claim shows in the share.
        Check::Holds { share: Some(share) } => Check::Holds { share: Some((share - least / claim.get()).max(0.0)) },
        other => other,
    }
}

pub(super) fn epsilon_covers_exact(accountant: &dyn Accountant, case: &Case) -> Check {
    let request = &case.request;
    let Question::Delta(delta) = request.question else { return Check::NotApplicable };
    let claim = claim!(accountant, request);
    // No ε is below 0; a negative claim is read as 0.
    let Ok(claimed) = Epsilon::new(claim.get().max(0.0)) else { return Check::NotApplicable };
    if claimed == Epsilon::INFINITE {
        return Check::Holds { share: None };
    }
    let pairs = computed!(pairs(request, None));
    // At δ = 0 the largest ratio counts, even that of an outcome so rare that its probability underflows. And no δ
    // below 1 makes up for an ε of -inf.
    let is_endless = claim.get() == f64::NEG_INFINITY;
    if delta.get() == 0.0 || is_endless {
        let found = computed!(worst(accountant, request, &pairs, |pair, direction| {
            Ok(composed_pair(pair, request)?.map(|all| all.exact_epsilon(direction, delta)))
        }));
        let claim = if is_endless { claim } else { claimed.into() };
        return covered(found, claim, ROUNDING, || format!("claimed epsilon at delta {delta}, and the exact one"));
    }
    let found = computed!(worst(accountant, request, &pairs, |pair, direction| {
        Ok(composed_pair(pair, request)?.map(|all| all.exact_delta(direction, claimed)))
    }));
    let Some(found) = found else { return Check::NotApplicable };
    let Ok(allowed) = Claimed::new(delta.get()) else { return Check::NotApplicable };
    let claim = claim.get();
    if found.exact.at_least().refutes(allowed.loosened(LOST, 0.0)) {
        let limit = smallest_epsilon(request, &pairs[found.place], found.direction, delta).unwrap_or(f64::NAN);
        return Check::Violated(Violation {
            claim,
            limit: if limit.is_nan() { claim } else { limit },
            error: 1e-12 * limit.abs().min(1e300),
            words: format!(
                "claimed epsilon at delta {delta}, and the exact one; at the claimed one delta is {:e}",
                found.exact.value
            ),
            neighbor: Some(found.neighbor),
            reverse: found.direction == Direction::Reverse,
        });
    }
    Check::Holds { share: Some(found.exact.value / delta.get()) }
}

/// The exact ε of the pair that refuted.
fn smallest_epsilon(request: &Request, pair: &DistributionPair, direction: Direction, delta: Delta) -> Option<f64> {
    Some(composed_pair(pair, request).ok()??.epsilon(direction, delta).get())
}

pub(super) fn delta_covers_exact(accountant: &dyn Accountant, case: &Case) -> Check {
    let request = &case.request;
    let Question::Epsilon(epsilon) = request.question else { return Check::NotApplicable };
    let claim = claim!(accountant, request);
    let pairs = computed!(pairs(request, None));
    let found = computed!(worst(accountant, request, &pairs, |pair, direction| {
        Ok(composed_pair(pair, request)?.map(|all| all.exact_delta(direction, epsilon)))
    }));
    covered(found, claim, 0.0, || format!("claimed delta at epsilon {epsilon}, and the exact one"))
}

#[cfg(test)]
mod tests {
    use super::super::catalog::accountant_of_name;
    use super::super::function::FunctionAccountant;
    use super::super::property::Property;
    use super::super::run::{Outcome, Plan, Problem, PropertyVerdict, verify};
    use super::*;
    use crate::program::never_stop;

    fn on(accountant: &str, property: &str, case: &str) -> Outcome {
        let properties = vec![Property::of_name(property).unwrap()];
        let plan = Plan { properties, case: Some(Case::from_json(case).unwrap()), ..Plan::default() };
        verify(&*accountant_of_name(accountant).unwrap(), &plan, &never_stop)
    }

    /// Cases that overflows of the exact side once showed as refutations.
    #[test]
    fn right_claims_about_ratios_that_overflow_are_covered() {
        let conversion = r#"{"mechanism":"conversion","rdp":1.0,"rdp_order":1.0004562583196217,"histogram":[0],"repetitions":16,"delta":0.1,"factor":2.0}"#;
        let subsample = r#"{"mechanism":"subsampled-gaussian","sigma":3.6,"rate":0.01,"histogram":[0],"repetitions":1,"order":120.0,"factor":2.0}"#;
        let threshold = r#"{"mechanism":"confident-gnmax","sigma":2.346661656787543,"threshold":1.0,"threshold_sigma":1.0,"threshold_form":"per-class","histogram":[127,0],"repetitions":1,"order":32.0,"factor":2.0}"#;
        for (accountant, property, case) in [
            ("rdp-conversion", "epsilon-covers-exact", conversion),
            ("rdp-conversion-classic", "epsilon-covers-exact", conversion),
            ("subsampled-gaussian", "rdp-covers-exact", subsample),
            ("confident-gnmax-data-independent", "rdp-covers-exact", threshold),
        ] {
            let outcome = on(accountant, property, case);
            let finding = &outcome.findings[0];
            println!(
                "{accountant}: {:?} of {} cases, share {:?}",
                finding.verdict, finding.cases, finding.largest_share
            );
            assert!(matches!(finding.verdict, PropertyVerdict::NotRefuted), "{finding:?}");
            assert!(finding.largest_share.is_some_and(|share| share < 1.0 + 1e-9), "{finding:?}");
        }
    }

    /// The exact value shown with a refuted claim is that of the pair that refutes it, not of another one.
    #[test]
    fn a_refuted_epsilon_is_below_the_exact_one() {
        let case =
            r#"{"mechanism":"conversion","rdp":1.0,"rdp_order":2.0,"histogram":[0],"repetitions":1,"delta":0.01}"#;
        let outcome = on("broken:conversion-order", "epsilon-covers-exact", case);
        let PropertyVerdict::Refuted(found) = &outcome.findings[0].verdict else { panic!("{outcome:?}") };
        let Problem::Violation(violation) = &found.problem else { panic!("{found:?}") };
        println!("{violation:?}");
        // 1 + ln(1/0.01)/2 = 3.30 is claimed; by the right conversion it is 1 - ln 2 + ln(1/0.01) - ln 2 = 4.22.
        assert!(violation.limit > violation.claim && violation.limit < 4.22);
    }

    /// An accountant that always claims the same.
    fn claiming(answer: &'static str, property: &str, case: &str) -> PropertyVerdict {
        let accountant = FunctionAccountant::new("constant", move |_| Ok(format!("{{\"value\": {answer}}}")));
        let properties = vec![Property::of_name(property).unwrap()];
        let plan = Plan { properties, case: Some(Case::from_json(case).unwrap()), ..Plan::default() };
        verify(&accountant, &plan, &never_stop).findings.remove(0).verdict
    }

    const ASKED: [(&str, &str); 3] = [
        ("rdp-covers-exact", "\"order\": 2"),
        ("delta-covers-exact", "\"epsilon\": 0.5"),
        ("epsilon-covers-exact", "\"delta\": 1e-5"),
    ];

    #[test]
    fn claims_of_minus_infinity_are_refuted_and_nan_is_no_claim() {
        for (property, question) in ASKED {
            for mechanism in [
                "\"exponential\", \"sigma\": 1, \"histogram\": [3, 1]",
                "\"gaussian\", \"sigma\": 2, \"histogram\": [0]",
            ] {
                let case = format!("{{\"mechanism\": {mechanism}, {question}}}");
                for answer in ["-Infinity", "\"-inf\"", "-1e308"] {
                    let PropertyVerdict::Refuted(found) = claiming(answer, property, &case) else {
                        panic!("{property} {answer} {case}")
                    };
                    // A negative ε of a finite size is read as 0.
                    let Problem::Violation(violation) = &found.problem else { panic!("{property}: {found:?}") };
                    assert!(violation.limit >= 0.0 && !violation.margin().is_nan(), "{violation:?}");
                }
                let PropertyVerdict::Refuted(found) = claiming("NaN", property, &case) else {
                    panic!("{property} {case}")
                };
                assert!(matches!(found.problem, Problem::Fault(_)), "{found:?}");
                assert!(
                    matches!(claiming("Infinity", property, &case), PropertyVerdict::NotRefuted),
                    "{property} {case}"
                );
            }
        }
    }

    /// e^-800 against e^-798: ε at δ = 0 is 2, and δ at ε = 1 is above 0, though the probabilities underflow.
    #[test]
    fn claims_without_a_delta_are_held_against_logarithms() {
        let case = |question: &str| {
            format!(
                r#"{{"mechanism": "exponential", "sigma": 1, "histogram": [800, 0], "neighbor": [799, 1], {question}}}"#
            )
        };
        let epsilon = |answer| claiming(answer, "epsilon-covers-exact", &case("\"delta\": 0"));
        let delta = |answer, at: &str| claiming(answer, "delta-covers-exact", &case(&format!("\"epsilon\": {at}")));
        for wrong in [epsilon("0"), epsilon("1"), epsilon("1.999999"), delta("0", "0"), delta("0", "1.999")] {
            assert!(matches!(wrong, PropertyVerdict::Refuted(_)), "{wrong:?}");
        }
        for right in [epsilon("2"), epsilon("2.5"), delta("0", "2"), delta("1e-300", "0"), delta("0", "3")] {
            assert!(matches!(right, PropertyVerdict::NotRefuted), "{right:?}");
        }
    }
}
