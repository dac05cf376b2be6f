//! Claims against each other: the structure that theorems give them.

use super::accountant::{Accountant, AccountantAnswer};
use super::check::{Check, Violation, claim};
use super::request::{Case, Question, Request};
use crate::bound::Claimed;
use crate::histogram::VoteHistogram;
use crate::mechanism::{DataKind, Role};
use crate::quantity::Order;

/// The allowed difference of two claims, for double precision or for the precision that the accountant states.
fn rounding(accountant: &dyn Accountant, a: f64, b: f64) -> f64 {
    accountant.precision().max(1e-9) * a.abs().max(b.abs()).min(1e300) + 1e-14
}

/// A claim that must not be above a limit; NaN limits nothing.
fn at_most(accountant: &dyn Accountant, claim: Claimed, limit: f64, words: impl Fn() -> String) -> Check {
    let Ok(most) = Claimed::new(limit) else { return Check::NotApplicable };
    let error = rounding(accountant, limit, 0.0);
    if claim > most.loosened(0.0, error) {
        let claim = claim.get();
        return Check::Violated(Violation { claim, limit, error, words: words(), neighbor: None, reverse: false });
    }
    Check::Holds { share: None }
}

/// Two claims that must be equal.
fn equal(accountant: &dyn Accountant, claim: Claimed, other: Claimed, words: impl Fn() -> String) -> Check {
    if claim == other {
        return Check::Holds { share: None };
    }
    let (claim, limit) = (claim.get(), other.get());
    let error = rounding(accountant, claim, limit);
    if !((claim - limit).abs() <= error) {
        return Check::Violated(Violation { claim, limit, error, words: words(), neighbor: None, reverse: false });
    }
    Check::Holds { share: None }
}

pub(super) fn below_data_independent(accountant: &dyn Accountant, case: &Case) -> Check {
    let request = &case.request;
    let Question::Order(order) = request.question else { return Check::NotApplicable };
    let claim = claim!(accountant, request);
    let limit = f64::from(request.repetitions) * request.mechanism.data_independent(&request.histogram, order);
    at_most(accountant, claim, limit, || "claim, and the data-independent one".into())
}

/// The order times the factor, if it is an order at which accountants are tested.
fn raised(order: Order, factor: f64) -> Option<Order> {
    Order::new(1.0 + (order.get() - 1.0) * factor).ok().filter(|raised| raised.get() > order.get())
}

pub(super) fn monotone_in_order(accountant: &dyn Accountant, case: &Case) -> Check {
    let Question::Order(order) = case.request.question else { return Check::NotApplicable };
    let Some(higher) = raised(order, case.factor) else { return Check::NotApplicable };
    let claim = claim!(accountant, &case.request);
    let limit = claim!(accountant, &case.asking(Question::Order(higher)));
    at_most(accountant, claim, limit.get(), || format!("claim at order {order}, and at the larger order {higher}"))
}

pub(super) fn monotone_in_noise(accountant: &dyn Accountant, case: &Case) -> Check {
    let Some(mechanism) = case.request.mechanism.with_noise_times(case.factor) else { return Check::NotApplicable };
    let limit = claim!(accountant, &case.request);
    let claim = claim!(accountant, &Request { mechanism, ..case.request.clone() });
    at_most(accountant, claim, limit.get(), || format!("claim with {} times the noise, and without", case.factor))
}

pub(super) fn convex_in_order(accountant: &dyn Accountant, case: &Case) -> Check {
    let Question::Order(low) = case.request.question else { return Check::NotApplicable };
    let Some(high) = raised(low, case.factor) else { return Check::NotApplicable };
    let Ok(middle) = Order::new(0.5 * (low.get() + high.get())) else { return Check::NotApplicable };
    let mut at = [0.0; 3];
    for (value, order) in at.iter_mut().zip([low, middle, high]) {
        *value = (order.get() - 1.0) * claim!(accountant, &case.asking(Question::Order(order))).get();
    }
    let Ok(between) = Claimed::new(at[1]) else { return Check::NotApplicable };
    at_most(accountant, between, 0.5 * (at[0] + at[2]), || {
        format!("(order - 1) times the claim at order {middle}, and the mean of those at {low} and {high}")
    })
}

pub(super) fn composition_adds(accountant: &dyn Accountant, case: &Case) -> Check {
    let claim = claim!(accountant, &case.request);
    let one = claim!(accountant, &Request { repetitions: 1, ..case.request.clone() });
    let repetitions = case.request.repetitions;
    at_most(accountant, claim, f64::from(repetitions) * one.get(), || {
        format!("claim for {repetitions} outputs, and {repetitions} times that for one")
    })
}

pub(super) fn invariant_under_permutation(accountant: &dyn Accountant, case: &Case) -> Check {
    let mut counts = case.request.histogram.counts().to_vec();
    // Rotated by more than half, then the first two swapped: neither a rotation nor a reversal in general.
    let classes = counts.len();
    if classes < 2 || case.request.neighbor.is_some() {
        return Check::NotApplicable;
    }
    counts.rotate_left(classes / 2);
    counts.swap(0, classes - 1);
    let Ok(histogram) = VoteHistogram::new(counts) else { return Check::NotApplicable };
    let claim = claim!(accountant, &case.request);
    let words = format!("claim, and for the permuted votes {histogram}");
    let other = claim!(accountant, &Request { histogram, ..case.request.clone() });
    equal(accountant, claim, other, || words.clone())
}

pub(super) fn invariant_under_translation(accountant: &dyn Accountant, case: &Case) -> Check {
    let request = &case.request;
    if request.mechanism.kind().data == DataKind::OneRecord || request.neighbor.is_some() {
        return Check::NotApplicable;
    }
    // Neighbors take votes away, so that an empty class has fewer of them.
    let more = case.factor.ceil().min(1e6);
    if request.histogram.counts().contains(&0) {
        return Check::NotApplicable;
    }
    let counts = request.histogram.counts().iter().map(|count| count.saturating_add(more as u64)).collect();
    let Ok(histogram) = VoteHistogram::new(counts) else { return Check::NotApplicable };
    let mechanism = request.mechanism.translated(more).unwrap_or_else(|| request.mechanism.clone());
    let claim = claim!(accountant, request);
    let other = claim!(accountant, &Request { mechanism, histogram, ..request.clone() });
    equal(accountant, claim, other, || format!("claim, and with {more} votes more for every class"))
}

/// How much more noise the limit has.
const MUCH: f64 = 1e6;

pub(super) fn limit_of_much_noise(accountant: &dyn Accountant, case: &Case) -> Check {
    let Question::Order(order) = case.request.question else { return Check::NotApplicable };
    let Some(mechanism) = case.request.mechanism.with_noise_times(MUCH) else { return Check::NotApplicable };
    if !mechanism.kind().noise_hides {
        return Check::NotApplicable;
    }
    let smallest = mechanism.numbers(Role::Noise).into_iter().map(|(_, scale)| scale).fold(f64::INFINITY, f64::min);
    let limit = f64::from(case.request.repetitions) * 2.0 * order.get() / (smallest * smallest);
    let claim = claim!(accountant, &Request { mechanism, ..case.request.clone() });
    // Programs that sum in doubles lose about 1e-12 relative to 1.
    at_most(accountant, claim, limit + 1e-9, || "claim with a million times the noise, and 2 order/scale^2".into())
}

/// With every vote in one class, and this many scales of noise between it and the next.
const CONSENSUS: f64 = 1e6;
/// The most votes that are queried on.
const MOST_VOTES: f64 = 1e15;

pub(super) fn limit_of_consensus(accountant: &dyn Accountant, case: &Case) -> Check {
    let request = &case.request;
    if request.mechanism.kind().data != DataKind::Votes || request.neighbor.is_some() {
        return Check::NotApplicable;
    }
    let Question::Order(order) = request.question else { return Check::NotApplicable };
    let classes = request.histogram.classes();
    let most = |role: Role| request.mechanism.numbers(role).into_iter().map(|(_, n)| n.abs()).fold(0.0, f64::max);
    let (largest, lead) = (most(Role::Noise), most(Role::Votes));
    let votes = lead + CONSENSUS * (largest + 1.0) * order.get();
    let held: u64 = request.histogram.counts().iter().fold(0, |sum, &count| sum.saturating_add(count));
    if !(votes <= MOST_VOTES) || classes < 2 {
        return Check::NotApplicable;
    }
    let mut counts = vec![0; classes];
    counts[0] = (votes.ceil() as u64).max(held);
    let Ok(histogram) = VoteHistogram::new(counts) else { return Check::NotApplicable };
    let limit = claim!(accountant, request);
    let claim = claim!(accountant, &Request { histogram, ..request.clone() });
    at_most(accountant, claim, limit.get(), || "claim with a consensus far beyond the noise, and for the votes".into())
}
