//! What must hold of an accountant: each property with the theorem that says so.

use super::accountant::{Accountant, Answer, Fault, Scope};
use super::exact::{self, Exact};
use super::laws::{LawPair, composed_pair, pairs};
use super::request::{Case, Mechanism, Question, Request};
use crate::accountant::{
    gaussian_rdp, gnmax_data_independent, laplace_rdp, lnmax_data_independent, subsampled_gaussian_rdp,
};
use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::law::OutcomeLaw;
use crate::quantity::{Epsilon, Order};
use serde::Serialize;

/// What it means when a property does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PropertyKind {
    /// A claim is below what is leaked: it promises privacy that is not there.
    Validity,
    /// The claims lack a structure that theorems give them: some are looser than they need be, or the program does not
    /// compute what it means to.
    Structure,
}

/// Which of order, δ and ε a property asks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    Order,
    Delta,
    Epsilon,
}

/// Something that must hold of the answers of an accountant.
#[derive(Debug)]
pub struct Property {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it means when it does not hold.
    pub kind: PropertyKind,
    /// What is tested, and the theorem.
    pub theorem: &'static str,
    /// Whether the theorem is about claims that depend on the mechanism alone.
    pub data_independent_only: bool,
    pub(super) asks: Asks,
    pub(super) check: fn(&dyn Accountant, &Case) -> Check,
}

/// What became of one case.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Check {
    /// It holds; for validity with the exact value as a share of the claim.
    Holds { share: Option<f64> },
    /// It says nothing about this case, or the exact law could not be computed.
    NotApplicable,
    /// The accountant does not answer it.
    Declined(String),
    /// It does not hold.
    Violated(Violation),
    /// The accountant failed to answer.
    Fault(Fault),
}

/// How a property does not hold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Violation {
    /// The claim that is wrong.
    #[serde(serialize_with = "number")]
    pub claim: f64,
    /// What it must not be below; for structure, what it must not be above or differ from.
    #[serde(serialize_with = "number")]
    pub limit: f64,
    /// How far the limit may be off.
    #[serde(serialize_with = "number")]
    pub error: f64,
    /// What claim and limit are, in words.
    pub words: String,
    /// The neighbour with the largest exact value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbor: Option<VoteHistogram>,
    /// Whether the exact value is of the neighbour against the votes.
    pub reverse: bool,
}

impl Violation {
    /// How far the claim is beyond the limit.
    #[must_use]
    pub fn margin(&self) -> f64 {
        (self.claim - self.limit).abs()
    }
}

/// Infinity is the string `inf`, as in all documents.
fn number<S: serde::Serializer>(value: &f64, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    match *value {
        f64::INFINITY => serializer.serialize_str("inf"),
        f64::NEG_INFINITY => serializer.serialize_str("-inf"),
        value => serializer.serialize_f64(value),
    }
}

/// All properties, validity first.
pub const PROPERTIES: [Property; 11] = [
    Property {
        name: "rdp-covers-exact",
        kind: PropertyKind::Validity,
        theorem: "the Rényi divergence of the exact output laws is at most the claim, for every neighbour (Mironov 2017, \
                  Definition 4; independent outputs add, Proposition 1)",
        data_independent_only: false,
        asks: Asks::Order,
        check: rdp_covers_exact,
    },
    Property {
        name: "epsilon-covers-exact",
        kind: PropertyKind::Validity,
        theorem: "the hockey-stick divergence of the exact laws of all repetitions together at the claimed epsilon is at \
                  most delta (Balle, Barthe and Gaboardi 2018, Theorem 1)",
        data_independent_only: false,
        asks: Asks::Delta,
        check: epsilon_covers_exact,
    },
    Property {
        name: "delta-covers-exact",
        kind: PropertyKind::Validity,
        theorem: "the hockey-stick divergence of the exact laws of all repetitions together at epsilon is at most the \
                  claimed delta (Balle, Barthe and Gaboardi 2018, Theorem 1)",
        data_independent_only: false,
        asks: Asks::Epsilon,
        check: delta_covers_exact,
    },
    Property {
        name: "below-data-independent",
        kind: PropertyKind::Structure,
        theorem: "a claim never exceeds the data-independent RDP of the mechanism, which holds always (Mironov 2017, \
                  Propositions 6 and 7; Papernot et al. 2018, Proposition 8; Mironov, Talwar and Zhang 2019)",
        data_independent_only: false,
        asks: Asks::Order,
        check: below_data_independent,
    },
    Property {
        name: "monotone-in-order",
        kind: PropertyKind::Structure,
        theorem: "claims do not fall with the order, as divergences do not (van Erven and Harremoës 2014, Theorem 3)",
        data_independent_only: false,
        asks: Asks::Order,
        check: monotone_in_order,
    },
    Property {
        name: "monotone-in-noise",
        kind: PropertyKind::Structure,
        theorem: "data-independent claims do not rise with the noise: more Gaussian noise is post-processing, and Laplace \
                  noise of a larger scale has the same law with a smaller sensitivity",
        data_independent_only: true,
        asks: Asks::Order,
        check: monotone_in_noise,
    },
    Property {
        name: "convex-in-order",
        kind: PropertyKind::Structure,
        theorem: "(order - 1) times the claim is convex in the order, as a supremum of cumulants is (van Erven and \
                  Harremoës 2014, Corollary 2)",
        data_independent_only: true,
        asks: Asks::Order,
        check: convex_in_order,
    },
    Property {
        name: "composition-adds",
        kind: PropertyKind::Structure,
        theorem: "the claim for repetitions is at most as many times the claim for one (Mironov 2017, Proposition 1)",
        data_independent_only: false,
        asks: Asks::Order,
        check: composition_adds,
    },
    Property {
        name: "invariant-under-permutation",
        kind: PropertyKind::Structure,
        theorem: "classes have no order: permuted votes have permuted output laws and the same neighbours",
        data_independent_only: false,
        asks: Asks::Order,
        check: invariant_under_permutation,
    },
    Property {
        name: "invariant-under-translation",
        kind: PropertyKind::Structure,
        theorem: "the noisy argmax sees differences of votes only: as many more for every class, and for the threshold, \
                  leave the law as it is",
        data_independent_only: false,
        asks: Asks::Order,
        check: invariant_under_translation,
    },
    Property {
        name: "limit-of-much-noise",
        kind: PropertyKind::Structure,
        theorem: "with a million times the noise nothing is left to claim: every one of these mechanisms has RDP at most \
                  2 order/scale^2",
        data_independent_only: false,
        asks: Asks::Order,
        check: limit_of_much_noise,
    },
];

impl Property {
    /// The property of a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<&'static Self> {
        static ALL: [Property; 11] = PROPERTIES;
        ALL.iter().find(|property| property.name == name)
    }

    /// All properties that apply to the claims of an accountant.
    #[must_use]
    pub fn applicable(scope: Scope) -> Vec<&'static Self> {
        let all = PROPERTIES.iter().filter_map(|property| Self::of_name(property.name));
        all.filter(|property| scope == Scope::DataIndependent || !property.data_independent_only).collect()
    }
}

/// The claim, or what the check ends with.
macro_rules! claim {
    ($accountant:expr, $request:expr) => {
        match $accountant.answer($request).claim() {
            Ok(value) => value,
            Err(Answer::Declined(reason)) => return Check::Declined(reason),
            Err(Answer::Fault(fault)) => return Check::Fault(fault),
            Err(Answer::Value(_)) => return Check::NotApplicable,
        }
    };
}

/// The value, or the end of the check: exact laws have a domain of their own.
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
    neighbor: VoteHistogram,
    reverse: bool,
}

/// `value` of every pair in the directions in which the claim must hold, the largest. None where there is no pair.
fn worst(
    accountant: &dyn Accountant,
    request: &Request,
    pairs: &[LawPair],
    value: impl Fn(&LawPair, bool) -> Result<Option<Exact>>,
) -> Result<Option<Worst>> {
    let both = accountant.scope() == Scope::DataIndependent || request.mechanism.kind().prints_a_count();
    let mut worst: Option<Worst> = None;
    for pair in pairs {
        for reverse in if both { &[false, true][..] } else { &[false][..] } {
            let Some(exact) = value(pair, *reverse)? else { continue };
            if worst.as_ref().is_none_or(|worst| exact.value > worst.exact.value) {
                worst = Some(Worst { exact, neighbor: pair.neighbor.clone(), reverse: *reverse });
            }
        }
    }
    Ok(worst)
}

const fn turned<'a>(p: &'a OutcomeLaw, q: &'a OutcomeLaw, reverse: bool) -> (&'a OutcomeLaw, &'a OutcomeLaw) {
    if reverse { (q, p) } else { (p, q) }
}

/// The verdict on a claim below which the exact value must stay.
fn covered(worst: Option<Worst>, claim: f64, least: f64, words: impl Fn() -> String) -> Check {
    let Some(worst) = worst else { return Check::NotApplicable };
    if worst.exact.refutes(claim, least) {
        return Check::Violated(Violation {
            claim,
            limit: worst.exact.value,
            error: worst.exact.error,
            words: words(),
            neighbor: Some(worst.neighbor),
            reverse: worst.reverse,
        });
    }
    Check::Holds { share: (claim > 0.0 && claim.is_finite()).then(|| worst.exact.value / claim) }
}

fn rdp_covers_exact(accountant: &dyn Accountant, case: &Case) -> Check {
    let request = &case.request;
    let Question::Order(order) = request.question else { return Check::NotApplicable };
    let claim = claim!(accountant, request);
    let pairs = computed!(pairs(request, Some(order)));
    let repetitions = f64::from(request.repetitions);
    let found = computed!(worst(accountant, request, &pairs, |pair, reverse| {
        let (p, q) = turned(&pair.p, &pair.q, reverse);
        let exact = exact::renyi(p, q, order)?;
        Ok(Some(Exact { value: repetitions * exact.value, error: repetitions * exact.error }))
    }));
    covered(found, claim, 1e-15, || format!("claimed Rényi divergence of order {order}, and the exact one"))
}

fn epsilon_covers_exact(accountant: &dyn Accountant, case: &Case) -> Check {
    let request = &case.request;
    let Question::Delta(delta) = request.question else { return Check::NotApplicable };
    let claim = claim!(accountant, request);
    // No ε is below 0; a negative claim is read as 0.
    let Ok(claimed) = Epsilon::new(claim.max(0.0)) else { return Check::NotApplicable };
    if claim == f64::INFINITY {
        return Check::Holds { share: None };
    }
    let pairs = computed!(pairs(request, None));
    let found = computed!(worst(accountant, request, &pairs, |pair, reverse| {
        let Some([p, q]) = composed_pair(pair, request)? else { return Ok(None) };
        let (p, q) = turned(&p, &q, reverse);
        exact::delta(p, q, claimed).map(Some)
    }));
    let Some(found) = found else { return Check::NotApplicable };
    if found.exact.refutes(delta.get(), 0.0) {
        let neighbor = found.neighbor;
        let limit = smallest_epsilon(request, &pairs, &neighbor, found.reverse, delta).unwrap_or(f64::NAN);
        return Check::Violated(Violation {
            claim,
            limit: if limit.is_nan() { claim } else { limit },
            error: 1e-12 * limit.abs().min(1e300),
            words: format!(
                "claimed epsilon at delta {delta}, and the exact one; at the claimed one delta is {:e}",
                found.exact.value
            ),
            neighbor: Some(neighbor),
            reverse: found.reverse,
        });
    }
    let share = delta.get() > 0.0;
    Check::Holds { share: share.then(|| found.exact.value / delta.get()) }
}

/// The exact ε of the pair that refuted.
fn smallest_epsilon(
    request: &Request,
    pairs: &[LawPair],
    neighbor: &VoteHistogram,
    reverse: bool,
    delta: crate::quantity::Delta,
) -> Option<f64> {
    let pair = pairs.iter().find(|pair| pair.neighbor == *neighbor)?;
    let [p, q] = composed_pair(pair, request).ok()??;
    let (p, q) = turned(&p, &q, reverse);
    crate::divergence::epsilon_at_delta(p, q, delta).ok().map(Epsilon::get)
}

fn delta_covers_exact(accountant: &dyn Accountant, case: &Case) -> Check {
    let request = &case.request;
    let Question::Epsilon(epsilon) = request.question else { return Check::NotApplicable };
    let claim = claim!(accountant, request);
    let pairs = computed!(pairs(request, None));
    let found = computed!(worst(accountant, request, &pairs, |pair, reverse| {
        let Some([p, q]) = composed_pair(pair, request)? else { return Ok(None) };
        let (p, q) = turned(&p, &q, reverse);
        exact::delta(p, q, epsilon).map(Some)
    }));
    covered(found, claim, 0.0, || format!("claimed delta at epsilon {epsilon}, and the exact one"))
}

/// What two claims may differ by because they are computed in double precision.
fn rounding(a: f64, b: f64) -> f64 {
    1e-9 * a.abs().max(b.abs()).min(1e300) + 1e-14
}

/// A claim that must not be above a limit.
fn at_most(claim: f64, limit: f64, words: impl Fn() -> String) -> Check {
    if claim > limit + rounding(limit, 0.0) {
        let error = rounding(limit, 0.0);
        return Check::Violated(Violation { claim, limit, error, words: words(), neighbor: None, reverse: false });
    }
    Check::Holds { share: None }
}

/// Two claims that must be equal.
fn equal(claim: f64, other: f64, words: impl Fn() -> String) -> Check {
    if claim == other {
        return Check::Holds { share: None };
    }
    let error = rounding(claim, other);
    if !((claim - other).abs() <= error) {
        return Check::Violated(Violation {
            claim,
            limit: other,
            error,
            words: words(),
            neighbor: None,
            reverse: false,
        });
    }
    Check::Holds { share: None }
}

/// RDP that holds whatever the votes. For a threshold test with a noise on every count the vote's move is the worst
/// √2 steps, although one suffices ([`broken`](super::broken)).
fn data_independent(mechanism: &Mechanism, order: Order) -> f64 {
    use super::request::ThresholdForm;
    match *mechanism {
        Mechanism::Gnmax { sigma } => gnmax_data_independent(order, sigma),
        Mechanism::Lnmax { sigma } => lnmax_data_independent(order, sigma),
        Mechanism::Gaussian { sigma } => gaussian_rdp(order, sigma, 1.0),
        Mechanism::Laplace { sigma } => laplace_rdp(order, sigma),
        Mechanism::SubsampledGaussian { sigma, rate } => subsampled_gaussian_rdp(order, rate, sigma, 1.0),
        Mechanism::ConfidentGnmax { sigma, threshold_sigma, threshold_form, .. } => {
            let test = match threshold_form {
                ThresholdForm::Max => gaussian_rdp(order, threshold_sigma, 1.0),
                ThresholdForm::PerClass => gnmax_data_independent(order, threshold_sigma),
            };
            test + gnmax_data_independent(order, sigma)
        }
    }
}

fn below_data_independent(accountant: &dyn Accountant, case: &Case) -> Check {
    let request = &case.request;
    let Question::Order(order) = request.question else { return Check::NotApplicable };
    let claim = claim!(accountant, request);
    let limit = f64::from(request.repetitions) * data_independent(&request.mechanism, order);
    at_most(claim, limit, || "claim, and the data-independent one".into())
}

/// The order times the factor, if it is one that accountants are asked for.
fn raised(order: Order, factor: f64) -> Option<Order> {
    Order::new(1.0 + (order.get() - 1.0) * factor).ok().filter(|raised| raised.get() > order.get())
}

fn monotone_in_order(accountant: &dyn Accountant, case: &Case) -> Check {
    let Question::Order(order) = case.request.question else { return Check::NotApplicable };
    let Some(higher) = raised(order, case.factor) else { return Check::NotApplicable };
    let claim = claim!(accountant, &case.request);
    let limit = claim!(accountant, &case.asking(Question::Order(higher)));
    at_most(claim, limit, || format!("claim at order {order}, and at the larger order {higher}"))
}

fn monotone_in_noise(accountant: &dyn Accountant, case: &Case) -> Check {
    let Some(mechanism) = case.request.mechanism.with_noise_times(case.factor) else { return Check::NotApplicable };
    let limit = claim!(accountant, &case.request);
    let claim = claim!(accountant, &Request { mechanism, ..case.request.clone() });
    at_most(claim, limit, || format!("claim with {} times the noise, and without", case.factor))
}

fn convex_in_order(accountant: &dyn Accountant, case: &Case) -> Check {
    let Question::Order(low) = case.request.question else { return Check::NotApplicable };
    let Some(high) = raised(low, case.factor) else { return Check::NotApplicable };
    let Ok(middle) = Order::new(0.5 * (low.get() + high.get())) else { return Check::NotApplicable };
    let mut at = [0.0; 3];
    for (value, order) in at.iter_mut().zip([low, middle, high]) {
        *value = (order.get() - 1.0) * claim!(accountant, &case.asking(Question::Order(order)));
    }
    at_most(at[1], 0.5 * (at[0] + at[2]), || {
        format!("(order - 1) times the claim at order {middle}, and the mean of those at {low} and {high}")
    })
}

fn composition_adds(accountant: &dyn Accountant, case: &Case) -> Check {
    let claim = claim!(accountant, &case.request);
    let one = claim!(accountant, &Request { repetitions: 1, ..case.request.clone() });
    let repetitions = case.request.repetitions;
    at_most(claim, f64::from(repetitions) * one, || {
        format!("claim for {repetitions} outputs, and {repetitions} times that for one")
    })
}

fn invariant_under_permutation(accountant: &dyn Accountant, case: &Case) -> Check {
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
    equal(claim, other, || words.clone())
}

fn invariant_under_translation(accountant: &dyn Accountant, case: &Case) -> Check {
    let request = &case.request;
    if request.mechanism.kind().prints_a_count() || request.neighbor.is_some() {
        return Check::NotApplicable;
    }
    // Neighbours take votes away, so that an empty class has fewer of them.
    let more = case.factor.ceil().min(1e6);
    if request.histogram.counts().contains(&0) {
        return Check::NotApplicable;
    }
    let counts = request.histogram.counts().iter().map(|count| count.saturating_add(more as u64)).collect();
    let Ok(histogram) = VoteHistogram::new(counts) else { return Check::NotApplicable };
    let mut mechanism = request.mechanism;
    if let Mechanism::ConfidentGnmax { threshold, .. } = &mut mechanism {
        *threshold += more;
    }
    let claim = claim!(accountant, request);
    let other = claim!(accountant, &Request { mechanism, histogram, ..request.clone() });
    equal(claim, other, || format!("claim, and with {more} votes more for every class"))
}

/// How much more noise the limit has.
const MUCH: f64 = 1e6;

fn limit_of_much_noise(accountant: &dyn Accountant, case: &Case) -> Check {
    let Question::Order(order) = case.request.question else { return Check::NotApplicable };
    let Some(mechanism) = case.request.mechanism.with_noise_times(MUCH) else { return Check::NotApplicable };
    let smallest = match mechanism {
        Mechanism::ConfidentGnmax { sigma, threshold_sigma, .. } => sigma.get().min(threshold_sigma.get()),
        _ => mechanism.sigma().get(),
    };
    let limit = f64::from(case.request.repetitions) * 2.0 * order.get() / (smallest * smallest);
    let claim = claim!(accountant, &Request { mechanism, ..case.request.clone() });
    // Programs that sum in doubles lose about 1e-12 beside 1.
    at_most(claim, limit + 1e-9, || "claim with a million times the noise, and 2 order/scale^2".into())
}
