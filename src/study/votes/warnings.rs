//! What the reader of an audit of votes must know.

use super::{AuditedVotes, DistributionKind, Sampling, SeriesNote, VotesQuery, VotesStudy, worse};
use crate::audit::FailurePer;
use crate::bound::{Direction, Validity};
use crate::histogram::VoteChange;
use crate::model::{Composition, VoteModel};
use crate::study::Warning;
use crate::study::composed::{ComposedSection, Meaning};
use crate::study::number::{short, significant};
use crate::study::rows::BoundRow;

impl VotesStudy {
    /// All warnings, those about the model first.
    pub(super) fn all_warnings(
        &self,
        distribution: DistributionKind,
        audited: &[AuditedVotes],
        rows: &[VotesQuery],
        composed: Option<&ComposedSection>,
    ) -> Vec<Warning> {
        let mut warnings = Vec::new();
        warnings.extend(model(self, audited));
        let above: Vec<&str> = audited
            .iter()
            .filter(|query| {
                let mut bounds = query.upper_bounds(&self.bounds.orders).into_iter();
                bounds.any(|(order, direction, upper)| query.pair.renyi(direction, order) > upper.value * (1.0 + 1e-9))
            })
            .map(|query| query.name.as_str())
            .collect();
        if !above.is_empty() {
            warnings.push(Warning {
                code: "accountant-exceeded",
                message: format!(
                    "the {} divergence exceeds an accountant on queries {}",
                    distribution.column(),
                    above.join(", ")
                ),
                hint: "an accountant is wrong for these votes, or the neighbor differs by more than one vote".into(),
            });
        }
        let unequal = audited.iter().filter(|query| differs_by_more(&query.model)).count();
        if unequal > 0 {
            warnings.push(Warning {
                code: "votes-differ",
                message: format!(
                    "in {unequal} queries the votes of the worlds differ by more or less than one moved vote"
                ),
                hint: "their accountants use the real difference of the votes".into(),
            });
        }
        warnings.extend(chance(self, distribution, rows));
        warnings.extend(sum_above_cap(self, composed));
        let silent = audited.iter().all(|query| query.pair.largest_renyi(self.bounds.orders[0]) == 0.0);
        if silent {
            warnings.push(Warning {
                code: "no-difference",
                message: "the two worlds have the same distribution in every query".into(),
                hint: "check that the recorded neighbor differs".into(),
            });
        }
        warnings
    }
}

/// Whether recorded votes differ by anything but one moved vote.
fn differs_by_more(model: &VoteModel) -> bool {
    let VoteModel::PromptPate(model) = model else { return false };
    let (votes, neighbor) = (model.histogram(), model.histogram_neighbor());
    votes != neighbor && votes.change_to(neighbor) != Some(VoteChange::Moved)
}

/// What holds for the model and not for the mechanism behind it.
fn model(study: &VotesStudy, audited: &[AuditedVotes]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let first = audited.first().map(|query| &query.model);
    match first {
        Some(VoteModel::Pate(_) | VoteModel::Capc(_)) => warnings.push(Warning {
            code: "fitted-model",
            message: "bounds and exact values hold for the model fitted to the recorded votes, not for the training \
                      itself"
                .into(),
            hint: "record more instantiations to see how much the fit matters".into(),
        }),
        Some(VoteModel::PrivateKnn(_)) => warnings.push(Warning {
            code: "independent-labels",
            message: "bounds and exact values hold for the model, which draws the labels of the neighbors \
                      independently of each other and of the one displaced"
                .into(),
            hint: "accountants hold for the mechanism itself".into(),
        }),
        Some(VoteModel::PromptPate(_)) | None => {}
    }
    if matches!(first, Some(VoteModel::Pate(_) | VoteModel::Capc(_))) && study.composition == Composition::Independent {
        warnings.push(Warning {
            code: "fresh-training",
            message: "sums are bounds only if every answer comes from freshly trained teachers".into(),
            hint: "use the composition `shared-teachers` for teachers that are trained once".into(),
        });
    }
    if let Some(SeriesNote { degree, remainder }) = audited.iter().filter_map(|query| query.series).reduce(worse) {
        warnings.push(Warning {
            code: "series",
            message: format!(
                "the distribution of the parties' votes is a series, taken to degree {degree}; the omitted part of a \
                 probability is estimated at {remainder:.0e} of it, which is not proved"
            ),
            hint: "lower bounds from `monte-carlo` sampling hold whatever it leaves out".into(),
        });
    }
    if study.sampling == Sampling::ExactDistribution {
        warnings.push(Warning {
            code: "exact-distribution-sampling",
            message:
                "outputs were drawn from the distribution of the model: they contain no information beyond it and do \
                 not test an implementation"
                    .into(),
            hint: "`monte-carlo` sampling simulates votes and noise".into(),
        });
    }
    warnings
}

/// A sum over answers of the same teachers that exceeds what all of them can leak together.
fn sum_above_cap(study: &VotesStudy, composed: Option<&ComposedSection>) -> Option<Warning> {
    let composed = composed.filter(|composed| !matches!(composed.meaning, Meaning::Bound))?;
    let order = study.bounds.orders[0].get();
    let place = composed.orders.iter().position(|other| *other == order)?;
    let value = |direction: Direction, names: &[&str]| {
        let curve = composed.curves.iter().find(|curve| curve.direction == direction && names.contains(&curve.name));
        curve.map(|curve| curve.values[place].0)
    };
    // A cap is often infinite in one direction: a rare class that the changed teacher never votes for.
    let pair = |direction| {
        let sum = value(direction, &["exact-sum", "series-sum"])?;
        Some((direction, sum, value(direction, &["joint-exact", "shared-teachers-cap"])?))
    };
    let pairs = study.bounds.directions.iter().copied().filter_map(pair);
    let (direction, sum, cap) = pairs.reduce(|a, b| if b.1 / b.2 > a.1 / a.2 { b } else { a })?;
    (sum > cap).then(|| Warning {
        code: "sum-above-joint",
        message: format!(
            "at order {}, {direction}, the sum over {} answers, {}, is {} times the most that they leak together, {}",
            short(order),
            short(composed.queries as f64),
            significant(sum, 3),
            significant(sum / cap, 3),
            significant(cap, 3)
        ),
        hint: "the teachers are trained once; the sum is illustrative".into(),
    })
}

/// Whether a row is above the divergence of the model, which is the truth here.
fn exceeds(query: &VotesQuery, lower: &BoundRow) -> bool {
    query.divergences().iter().find(|exact| exact.order == lower.order).is_some_and(|exact| {
        lower.rdp_lower.0 > if lower.direction == Direction::Forward { exact.forward.0 } else { exact.reverse.0 }
    })
}

/// Here the truth is known: how many bounds exceed it, and whether chance explains that.
fn chance(study: &VotesStudy, distribution: DistributionKind, rows: &[VotesQuery]) -> Vec<Warning> {
    match study.bounds.failure_per {
        FailurePer::Answer => above_in_answer(study, distribution, rows),
        FailurePer::Query => above_per_query(study, distribution, rows).into_iter().collect(),
    }
}

/// All bounds with a guarantee share one failure probability, so one of them above the truth is a rare event; the
/// others guarantee nothing and get a separate warning.
fn above_in_answer(study: &VotesStudy, distribution: DistributionKind, rows: &[VotesQuery]) -> Vec<Warning> {
    let names = |guaranteed: bool| -> Vec<&str> {
        let wrong = |query: &&VotesQuery| {
            let rows = query.lower.iter().filter(|row| (row.validity == Validity::FiniteSample) == guaranteed);
            rows.into_iter().any(|row| exceeds(query, row))
        };
        rows.iter().filter(wrong).map(|query| query.query.as_str()).collect()
    };
    let (wrong, column, count) = (names(true), distribution.column(), rows.len());
    let mut warnings = Vec::new();
    if !wrong.is_empty() {
        let failure = study.bounds.failure_probability.get();
        warnings.push(Warning {
            code: "bound-above-exact",
            message: format!(
                "in {} of {count} queries a lower bound exceeds the {column} value (query {}); chance does this in at most \
                 a share of {} of all answers",
                wrong.len(),
                wrong.join(", "),
                short(failure)
            ),
            hint: "repeat with another seed: if it happens again, the outputs and their distribution disagree".into(),
        });
    }
    let nominal = names(false);
    if !nominal.is_empty() {
        warnings.push(Warning {
            code: "nominal-above-exact",
            message: format!(
                "in {} of {count} queries a bound without a finite-sample guarantee exceeds the {column} value",
                nominal.len()
            ),
            hint: "trust a method labeled finite-sample".into(),
        });
    }
    warnings
}

/// Each method of a query has the failure probability for itself, so that a few bounds above the truth are expected.
fn above_per_query(study: &VotesStudy, distribution: DistributionKind, rows: &[VotesQuery]) -> Option<Warning> {
    let wrong = |query: &&VotesQuery| query.lower.iter().any(|lower| exceeds(query, lower));
    let names: Vec<&str> = rows.iter().filter(wrong).map(|query| query.query.as_str()).collect();
    if names.is_empty() {
        return None;
    }
    let (count, failure) = (rows.len() as f64, study.bounds.failure_probability.get());
    // Each method of a query has the failure probability for itself.
    let mut methods: Vec<&str> = rows.iter().flat_map(|query| &query.lower).map(|row| row.method).collect();
    methods.sort_unstable();
    methods.dedup();
    let expected = count * failure * methods.len() as f64;
    let most = expected + 4.0 * expected.sqrt() + 1.0;
    Some(Warning {
        code: "bound-above-exact",
        message: format!(
            "in {} of {} queries a lower bound exceeds the {} value (query {}); each may be wrong with probability \
             {failure}",
            names.len(),
            rows.len(),
            distribution.column(),
            names.join(", ")
        ),
        hint: if names.len() as f64 > most {
            "chance does not explain this: the outputs and their distribution disagree".into()
        } else {
            "chance explains this; composed bounds and claims divide the failure probability among the queries".into()
        },
    })
}
