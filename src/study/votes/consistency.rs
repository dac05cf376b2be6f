//! No two figures of an audit of votes may contradict each other.

use super::{AuditedVotes, DistributionKind, VotesQuery, VotesStudy};
use crate::audit::{AuditPlan, audit_counts};
use crate::bound::{Direction, Figures, Validity};
use crate::error::Result;
use crate::quantity::FailureProbability;
use crate::study::composed::{ComposedSection, CurveKind, Meaning};

/// A lower bound may exceed the exact value by chance with its failure probability; at this one it is a fault.
const BEYOND_CHANCE: f64 = 1e-9;

impl VotesStudy {
    /// Exact values against upper bounds, query by query and composed, and lower bounds against exact values beyond
    /// what chance explains. A series is an estimate, which may be above a bound: that is a warning.
    pub(super) fn consistent(
        &self,
        distribution: DistributionKind,
        audited: &[AuditedVotes],
        rows: &[VotesQuery],
        composed: Option<&ComposedSection>,
    ) -> Result<()> {
        if distribution == DistributionKind::Exact {
            for (query, row) in audited.iter().zip(rows) {
                of_query(row)?;
                self.lower_bounds(query, row)?;
            }
        }
        composed.map_or(Ok(()), of_sequence)
    }

    /// A bound above the exact value is computed again at a failure probability so small that chance cannot explain it.
    fn lower_bounds(&self, query: &AuditedVotes, row: &VotesQuery) -> Result<()> {
        let wrong = |direction, order, value: f64| exact(row, direction, order).is_some_and(|exact| value > exact);
        let guaranteed = |validity| validity == Validity::FiniteSample;
        let mut suspects = row.lower.iter().filter(|lower| guaranteed(lower.validity));
        if !suspects.any(|lower| wrong(lower.direction, lower.order, lower.rdp_lower.0)) {
            return Ok(());
        }
        let failure = FailureProbability::new(BEYOND_CHANCE)?;
        let (plan, _) = self.bounds.plan(&query.counts, &query.guide, failure, self.seed)?;
        let audit = audit_counts(&query.counts, &query.guide, &AuditPlan { failure, ..plan })?;
        for bound in audit.rdp.iter().filter(|bound| guaranteed(bound.bound.validity)) {
            let order = bound.order.get();
            let Some(exact) = exact(row, bound.direction, order) else { continue };
            let mut figures = Figures::of_order(words(&row.query, bound.direction, order), order);
            figures
                .at_least(format!("{} at failure probability {BEYOND_CHANCE}", bound.bound.method), bound.bound.value);
            figures.at_most("exact", exact);
            figures.check()?;
        }
        Ok(())
    }
}

fn words(query: &str, direction: Direction, order: f64) -> String {
    format!("query {query}, {direction} Rényi divergence of order {order}")
}

/// The exact value of a direction and order.
fn exact(row: &VotesQuery, direction: Direction, order: f64) -> Option<f64> {
    let found = row.exact.iter().find(|row| row.order == order)?;
    Some(if direction == Direction::Forward { found.forward.0 } else { found.reverse.0 })
}

fn of_query(row: &VotesQuery) -> Result<()> {
    for divergence in &row.exact {
        for (direction, exact) in [(Direction::Forward, divergence.forward), (Direction::Reverse, divergence.reverse)] {
            let mut figures = Figures::of_order(words(&row.query, direction, divergence.order), divergence.order);
            figures.at_least("exact", exact.0);
            let same = row.upper.iter().filter(|upper| upper.order == divergence.order);
            same.filter(|upper| upper.direction == direction)
                .for_each(|upper| figures.at_most(upper.name, upper.rdp.0));
            figures.check()?;
        }
    }
    Ok(())
}

/// The exact curves of the sequence against its upper bounds, order by order.
fn of_sequence(section: &ComposedSection) -> Result<()> {
    for direction in Direction::BOTH {
        let of = || section.curves.iter().filter(move |curve| curve.direction == direction);
        for (place, &order) in section.orders.iter().enumerate() {
            let words = format!("all answers together, {direction} Rényi divergence of order {order}");
            let mut figures = Figures::of_order(words, order);
            for curve in of().filter(|curve| curve.meaning == Meaning::Bound) {
                match curve.kind {
                    // A lower curve may be wrong with its failure probability.
                    CurveKind::Lower => {}
                    CurveKind::Exact => {
                        figures.at_least(curve.name, curve.values[place].0);
                        figures.at_most(curve.name, curve.values[place].0);
                    }
                    CurveKind::Upper => figures.at_most(curve.name, curve.values[place].0),
                }
            }
            figures.check()?;
        }
    }
    Ok(())
}
