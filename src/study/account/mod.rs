//! What all answers together leak at most, by every applicable accountant.

mod curves;
mod filter;
mod labeling;
mod losses;
mod meaning;
mod releases;
mod request;
mod voter_moves;

pub use meaning::{
    BudgetRow, ComposedEpsilonAt, CostCurve, CostMeaning, EpsilonAtDelta, FilterRow, LossComposition, Summed,
};
pub use request::{AccountStudy, Answers};

pub(super) use curves::all_orders;
pub(super) use losses::Losses;
pub(super) use releases::{least_theorem, of_release};

use super::number::{Number, significant};
use super::progress::{Meter, Progress};
use super::{Study, Warning};
use crate::accountant::WorstCases;
use crate::divergence::Conversion;
use crate::error::{Error, Result};
use crate::mechanism::NoisyArgmax;
use crate::model;
use crate::order;
use crate::quantity::{Delta, Order};
use crate::record::{ComposedReleases, RecordedQuery, ScenarioQuery};
use curves::NamedCurve;
use labeling::conversion_words;
use losses::BY_LOSSES;
use serde::Serialize;

/// The answer of an [`AccountStudy`].
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccountAnswer {
    /// Number of answers, or of releases.
    pub queries: usize,
    /// Whether these are answers or releases.
    #[serde(skip)]
    pub summed: Summed,
    /// δ.
    pub delta: f64,
    /// How RDP became ε.
    pub conversion: Conversion,
    /// Its source.
    #[serde(skip)]
    pub conversion_words: &'static str,
    /// The orders of `rdp`.
    pub orders: Vec<f64>,
    /// The accountants.
    pub curves: Vec<CostCurve>,
    /// Composition by privacy-loss distributions, if it was requested.
    pub losses: Option<LossComposition>,
    /// The labeling campaigns.
    pub budgets: Vec<BudgetRow>,
    /// How many releases a privacy filter lets pass.
    pub filters: Vec<FilterRow>,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

answer!(AccountAnswer, "leakbound.account/1", warnings);

impl Study for AccountStudy {
    type Answer = AccountAnswer;

    /// # Errors
    /// Those of the output distributions, and [`Error::Contradiction`] if an exact cost is above a bound.
    fn run(&self, progress: &Progress<'_>) -> Result<AccountAnswer> {
        match &self.answers {
            Answers::Recorded { mechanism, queries } => self.recorded(*mechanism, queries, progress),
            Answers::Scenario { queries, composition } => self.scenario(queries, *composition),
            Answers::Releases(releases) => self.releases(releases, progress),
        }
    }
}

impl AccountStudy {
    fn recorded(
        &self,
        mechanism: NoisyArgmax,
        queries: &[RecordedQuery],
        progress: &Progress<'_>,
    ) -> Result<AccountAnswer> {
        let mut curves = curves::recorded(mechanism, queries, &self.orders, &WorstCases::default())?;
        let mut left_out = None;
        if self.exact {
            let meter = Meter::new(progress, queries.len() as u64, "queries");
            let orders = curves::exact_orders(&self.orders, &curves, &deltas(self.delta), self.conversion);
            match curves::exact(mechanism, queries, &orders, &meter) {
                Ok(exact) => curves.extend(exact),
                // The other figures hold without it.
                Err(Error::Rejected { reason, .. }) => left_out = Some(reason),
                Err(error) => return Err(error),
            }
        }
        curves::consistent(&curves, &deltas(self.delta), self.conversion)?;
        let losses = self.privacy_losses.then(|| {
            let meter = Meter::new(progress, queries.len() as u64, "queries");
            let (order, deltas) = (self.best_order(&curves)?, deltas(self.delta));
            let mut losses = losses::recorded(mechanism, queries, order, (&deltas, self.delta), &meter)?;
            losses.one_voter = losses::one_voter(mechanism, queries, order, (&deltas, self.delta), &meter)?;
            curves::consistent_losses(&curves, &losses, self.conversion)?;
            Ok::<_, Error>(losses)
        });
        let losses = losses.transpose()?;
        let budgets = self.labeled(mechanism, queries)?;
        let mut warnings = warnings(&curves, &budgets, queries.len());
        warnings.extend(left_out.map(|reason| Warning {
            code: "exact-left-out",
            message: format!("no exact cost per answer: {reason}"),
            hint: "merge classes with few votes, which is post-processing".into(),
        }));
        Ok(AccountAnswer { losses, budgets, warnings, ..self.answer(&curves) })
    }

    fn scenario(&self, queries: &[ScenarioQuery], composition: model::Composition) -> Result<AccountAnswer> {
        let adds = composition.divergences_add();
        let shared = !adds || queries.iter().all(|query| query.model.may_share_datasets(&queries[0].model));
        let reason =
            "queries that add different points have different neighboring datasets, and their costs do not add up";
        Error::check_possible(shared, "composition of a scenario", reason)?;
        let reason = format_args!(
            "the queries of this scenario are {composition}, and privacy losses are composed only where answers are \
             independent under the same two datasets; choose one query, or compose by Rényi divergences (`rdp`)"
        );
        Error::check_possible(!self.privacy_losses || adds || queries.len() < 2, BY_LOSSES, reason)?;
        let curves = curves::scenario(queries, adds, &self.orders)?;
        curves::consistent(&curves, &deltas(self.delta), self.conversion)?;
        let losses = self.privacy_losses.then(|| losses::scenario(queries, &deltas(self.delta), self.delta));
        let losses = losses.transpose()?;
        if let Some(losses) = &losses {
            curves::consistent_losses(&curves, losses, self.conversion)?;
        }
        Ok(AccountAnswer { losses, warnings: warnings(&curves, &[], 0), ..self.answer(&curves) })
    }

    fn releases(&self, composition: &ComposedReleases, progress: &Progress<'_>) -> Result<AccountAnswer> {
        releases::have_common_neighbors(composition)?;
        let costs = releases::Costs::new(composition, &self.orders, progress)?;
        let releases = releases::Merged::new(&composition.parts, composition.group);
        let curve = releases.curve(&costs)?;
        let losses = self.privacy_losses.then(|| {
            let meter = Meter::new(progress, releases.different() as u64, "releases");
            let order = Order::new(curve.epsilon(self.delta, self.conversion).1)?;
            let losses = releases.losses(order, (&deltas(self.delta), self.delta), &meter)?;
            curves::consistent_losses(std::slice::from_ref(&curve), &losses, self.conversion)?;
            Ok::<_, Error>(losses)
        });
        let filters = self.filtered(composition, &costs)?;
        Ok(AccountAnswer { losses: losses.transpose()?, filters, summed: Summed::Releases, ..self.answer(&[curve]) })
    }

    /// The order at which the exact cost per answer, or the last curve without one, gives ε: where large divergences
    /// matter.
    fn best_order(&self, curves: &[NamedCurve]) -> Result<Order> {
        let exact = curves.iter().find(|curve| curve.meaning == CostMeaning::ExactGivenVotes).or(curves.last());
        Order::new(exact.map_or(2.0, |curve| curve.epsilon(self.delta, self.conversion).1))
    }

    /// The curves at the requested orders and their ε.
    fn answer(&self, curves: &[NamedCurve]) -> AccountAnswer {
        let row = |curve: &NamedCurve| {
            let (epsilon, order) = curve.epsilon(self.delta, self.conversion);
            let at = |order| {
                // Every requested order is on every curve.
                let index = curve.curve.orders().iter().position(|on| *on == order);
                Number(index.map_or(f64::INFINITY, |index| curve.curve.values()[index]))
            };
            let profile = |delta: Delta| EpsilonAtDelta {
                delta: delta.get(),
                epsilon: Number(curve.epsilon(delta, self.conversion).0),
            };
            CostCurve {
                name: curve.name,
                meaning: curve.meaning,
                directions: curve.directions,
                validity: curve.validity,
                rdp: self.orders.iter().map(|&order| at(order)).collect(),
                epsilon: Number(epsilon),
                order,
                profile: deltas(self.delta).into_iter().map(profile).collect(),
            }
        };
        AccountAnswer {
            queries: self.answers.len(),
            summed: Summed::Answers,
            delta: self.delta.get(),
            conversion: self.conversion,
            conversion_words: conversion_words(self.conversion),
            orders: self.orders.iter().map(|order| order.get()).collect(),
            curves: curves.iter().map(row).collect(),
            losses: None,
            budgets: Vec::new(),
            filters: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// The δ of the figure.
fn deltas(requested: Delta) -> Vec<Delta> {
    let mut deltas: Vec<f64> = (4..=24).map(|half| 10f64.powf(-0.5 * f64::from(half))).collect();
    if requested.get() > 0.0 {
        deltas.push(requested.get());
    }
    order::falling(&mut deltas);
    deltas.dedup();
    deltas.into_iter().filter_map(|delta| Delta::new(delta).ok()).collect()
}

fn warnings(curves: &[NamedCurve], budgets: &[BudgetRow], queries: usize) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let dependent =
        [CostMeaning::DataDependent, CostMeaning::Expected, CostMeaning::ExactGivenVotes, CostMeaning::ExactOfOneVoter];
    let names: Vec<&str> =
        curves.iter().filter(|curve| dependent.contains(&curve.meaning)).map(|curve| curve.name).collect();
    if !names.is_empty() {
        warnings.push(Warning {
            code: "data-dependent-costs",
            message: format!("{} depend on the votes and are not private themselves", names.join(", ")),
            hint:
                "publish the data-independent figure, or release a data-dependent one with noise in proportion to its \
                   smooth sensitivity"
                    .into(),
        });
    }
    if let Some(row) = budgets.iter().find(|row| !row.exhausted) {
        warnings.push(Warning {
            code: "budget-left",
            message: format!(
                "the {queries} queries ran out before the budget of {}: {} was spent",
                row.budget,
                significant(row.epsilon.0, 4)
            ),
            hint: "record more queries".into(),
        });
    }
    warnings
}
