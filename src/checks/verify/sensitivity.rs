//! Claims of smooth sensitivity, against neighbors of neighbors.

use super::accountant::{Accountant, AccountantAnswer};
use super::check::{Check, Violation, claim};
use super::request::{Case, Question, Request};
use super::smooth_cost::{SMOOTH_SENSITIVITY, SmoothCost};
use crate::accountant::GnmaxSensitivity;
use crate::bound::AtLeast;
use crate::error::Result;
use crate::histogram::{VoteChange, VoteHistogram};
use crate::mechanism::MechanismKind;
use crate::quantity::Order;

/// More votes or classes than these are not tried.
const MOST_VOTES: u64 = 60;
const MOST_CLASSES: usize = 6;
/// Claims may be off by this share of the largest cost involved: costs are differences of logarithms.
const ROUNDING: f64 = 1e-9;

/// The smooth sensitivity of the data-dependent cost of GNMax; with the local one instead it is wrong.
pub(super) struct SensitivityAccountant {
    pub name: &'static str,
    pub smooth: bool,
}

impl SensitivityAccountant {
    pub(super) const NAME: &'static str = "gnmax-smooth-sensitivity";

    fn value(&self, request: &Request, order: Order) -> Result<Option<f64>> {
        let Some(&SmoothCost { sigma, beta }) = request.mechanism.downcast() else { return Ok(None) };
        let sensitivity = GnmaxSensitivity::new(order, sigma, request.histogram.classes())?;
        if self.smooth {
            return sensitivity.smooth(&request.histogram, beta).map(Some);
        }
        Ok(sensitivity.local(&request.histogram)?.first().copied())
    }
}

impl Default for SensitivityAccountant {
    fn default() -> Self {
        Self { name: Self::NAME, smooth: true }
    }
}

impl Accountant for SensitivityAccountant {
    fn name(&self) -> String {
        self.name.into()
    }

    fn answer(&self, request: &Request) -> AccountantAnswer {
        let Question::Order(order) = request.question else {
            return AccountantAnswer::Declined("a sensitivity is asked at an order".into());
        };
        match self.value(request, order) {
            Ok(Some(value)) => AccountantAnswer::Value(value),
            Ok(None) => AccountantAnswer::Declined(format!("{} is not a sensitivity", request.mechanism.kind())),
            Err(error) => AccountantAnswer::Declined(error.to_string()),
        }
    }

    fn mechanisms(&self) -> Vec<&'static MechanismKind> {
        vec![SMOOTH_SENSITIVITY]
    }
}

/// The votes after each move of one vote.
fn neighbors(histogram: &VoteHistogram) -> Vec<VoteHistogram> {
    let changes = histogram.neighbors(VoteChange::Moved);
    changes.into_iter().filter_map(|change| histogram.neighbor(change).ok()).collect()
}

pub(super) fn covers_neighbors(accountant: &dyn Accountant, case: &Case) -> Check {
    let request = &case.request;
    let (Some(&SmoothCost { sigma, beta }), Question::Order(order)) = (request.mechanism.downcast(), request.question)
    else {
        return Check::NotApplicable;
    };
    let counts = request.histogram.counts();
    let votes = counts.iter().fold(0u64, |sum, &count| sum.saturating_add(count));
    if votes > MOST_VOTES || counts.len() > MOST_CLASSES {
        return Check::NotApplicable;
    }
    let Ok(cost) = GnmaxSensitivity::new(order, sigma, counts.len()) else { return Check::NotApplicable };
    let claim = claim!(accountant, request);
    // The local sensitivity of some votes with the neighbor that has it, and the largest cost seen.
    let local = |votes: &VoteHistogram| {
        let here = cost.cost(votes);
        neighbors(votes).iter().fold((0.0f64, here), |(change, most), neighbor| {
            let there = cost.cost(neighbor);
            (change.max((there - here).abs()), most.max(there))
        })
    };
    let (mut limit, mut most) = local(&request.histogram);
    let mut neighbor = None;
    for votes in neighbors(&request.histogram) {
        let (change, largest) = local(&votes);
        most = most.max(largest);
        let value = libm::exp(-beta) * change;
        if value > limit {
            (limit, neighbor) = (value, Some(votes));
        }
    }
    let error = ROUNDING * most;
    let refuted = AtLeast::new(limit).refutes(claim.loosened(0.0, error));
    let claim = claim.get();
    if refuted {
        let words = "claimed smooth sensitivity, and what the neighbors of the votes need".into();
        return Check::Violated(Violation { claim, limit, error, words, neighbor, reverse: false });
    }
    Check::Holds { share: (claim > 0.0 && claim.is_finite() && limit > error).then(|| (limit - error) / claim) }
}
