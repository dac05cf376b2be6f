//! What the sequence of all answers leaks together.

use super::figure::{Axis, Curves, Drawing, Series, SeriesKind};
use super::table::TextTable;
use crate::bound::Direction;
use crate::study::{ComposedSection, CurveKind, Meaning, short, significant};

impl ComposedSection {
    /// What the figures are of, and what the sum of the lower bounds is.
    pub(super) fn words(&self) -> String {
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
    pub(super) fn table(&self, directions: &[Direction], orders: &[f64]) -> TextTable {
        let shown: Vec<usize> =
            orders.iter().filter_map(|order| self.orders.iter().position(|other| other == order)).collect();
        let names: Vec<String> = shown.iter().map(|&index| format!("α = {}", short(self.orders[index]))).collect();
        let delta = self.curves.first().map_or(0.0, |curve| curve.epsilon.delta);
        let epsilon_name = format!("ε at δ = {}", short(delta));
        let with_direction = directions.len() > 1;
        let mut header = vec!["curve"];
        header.extend(with_direction.then_some("direction"));
        header.push("RDP is");
        let mut words: Vec<usize> = (0..header.len()).collect();
        header.extend(names.iter().map(String::as_str));
        header.extend([epsilon_name.as_str(), "ε is"]);
        words.push(header.len() - 1);
        let mut table = TextTable::new(&header, &words);
        for curve in self.curves.iter().filter(|curve| directions.contains(&curve.direction)) {
            let mut cells = vec![curve.name.to_owned()];
            cells.extend(with_direction.then(|| curve.direction.to_string()));
            cells.push(curve.meaning.to_string());
            cells.extend(shown.iter().map(|&index| significant(curve.values[index].0, 4)));
            cells.extend([significant(curve.epsilon.epsilon.0, 4), curve.epsilon.meaning.to_string()]);
            table.row(cells);
        }
        table
    }

    /// Words and table.
    pub(super) fn text(&self, directions: &[Direction], orders: &[f64]) -> String {
        format!("{}\n{}", self.words(), self.table(directions, orders).text())
    }

    /// The curves of one direction against the order.
    pub(super) fn figure(&self, direction: Direction, letters: &str) -> Option<Drawing> {
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
        let figure = Curves {
            title: format!("Rényi divergence {letters} of the whole sequence: {}", self.sequence),
            description: self.words(),
            x: Axis::log("order α"),
            y: Axis::log("Rényi divergence in nats"),
            series,
        };
        (!figure.series.is_empty()).then(|| figure.draw())
    }
}
