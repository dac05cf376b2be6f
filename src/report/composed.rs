//! What the sequence of all answers leaks together.

use super::figure::{Curves, Drawing, Series, SeriesKind};
use super::section::{Section, Table};
use crate::bound::Direction;
use crate::study::{
    ComposedSection, CurveKind, Meaning, Number, short, significant, significant_above, significant_below,
};
use easy_ext::ext;

/// A bound is rounded to its own side.
fn digits(kind: CurveKind, value: Number) -> String {
    match kind {
        CurveKind::Lower => significant_below(value.0, 4),
        CurveKind::Exact => significant(value.0, 4),
        CurveKind::Upper => significant_above(value.0, 4),
    }
}

#[ext(ComposedSectionText)]
impl ComposedSection {
    /// What the figures are of, and what the sum of the lower bounds is.
    pub(crate) fn words(&self) -> String {
        let meaning = match self.meaning {
            Meaning::Bound => "a bound",
            Meaning::Illustrative => "illustrative",
        };
        let Self { sequence, composition, reason, .. } = self;
        format!(
            "Composed: {sequence} ({composition}). The sum of the lower bounds is {meaning}: {reason}. Each ε is the larger \
             of both directions, as differential privacy demands."
        )
    }

    /// The curves of some directions at those of `orders` that they have.
    pub(crate) fn section(&self, directions: &[Direction], orders: &[f64]) -> Section {
        let shown = orders.iter().filter_map(|order| self.orders.iter().position(|other| other == order));
        let delta = self.curves.first().map_or(0.0, |curve| curve.epsilon.delta);
        let table = Table::of(self.curves.iter().filter(|curve| directions.contains(&curve.direction)))
            .words("curve", |curve| curve.name)
            .when(directions.len() > 1, |table| table.words("direction", |curve| curve.direction))
            .words("RDP is", |curve| curve.meaning)
            .each(shown, |table, index| {
                table.exact(format!("α = {}", short(self.orders[index])), |curve| {
                    digits(curve.kind, curve.values[index])
                })
            })
            .exact(format!("ε at δ = {}", short(delta)), |curve| digits(curve.kind, curve.epsilon.epsilon))
            .words("ε is", |curve| curve.epsilon.meaning);
        Section::new("All queries together").heading(self.words()).table(table)
    }

    /// The curves of one direction against the order.
    pub(crate) fn figure(&self, direction: Direction, letters: &str) -> Option<Drawing> {
        let curves = self.curves.iter().filter(|curve| curve.direction == direction);
        let series: Vec<Series> = curves
            .map(|curve| {
                let points = self.orders.iter().zip(&curve.values).map(|(order, value)| [*order, value.0]).collect();
                let kind = match (curve.kind, curve.meaning) {
                    (CurveKind::Exact, _) => SeriesKind::Exact,
                    (_, Meaning::Illustrative) => SeriesKind::Heuristic,
                    (CurveKind::Lower, Meaning::Bound) => SeriesKind::Lower,
                    (CurveKind::Upper, Meaning::Bound) => SeriesKind::Upper,
                };
                let suffix = if curve.meaning == Meaning::Illustrative { " (illustrative)" } else { "" };
                Series::new(format!("{}{suffix}", curve.name), kind, points)
            })
            .collect();
        let title = format!("Rényi divergence {letters} of the whole sequence: {}", self.sequence);
        (!series.is_empty()).then(|| Curves::of_orders(title, self.words(), series).draw())
    }
}
