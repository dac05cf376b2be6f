//! The figures of `leakbound exact`.

use crate::bound::Direction;
use crate::report::{Axis, Curves, Drawing, Row, RowSeries, Rows, Series, SeriesKind};
use crate::study::{DivergenceRow, ExactAnswer, HockeyStickRow, OutcomeRow};

impl ExactAnswer {
    pub(super) fn renyi(&self) -> Option<Drawing> {
        let searched = if self.neighbors_searched.is_some() { ", worst neighbor" } else { "" };
        let exact = |name: &str, value: &dyn Fn(&DivergenceRow) -> f64| {
            Series::new(name, SeriesKind::Exact, self.divergences.iter().map(|row| [row.order, value(row)]).collect())
        };
        let mut series = vec![exact("D(P‖Q)", &|row| row.forward.0), exact("D(Q‖P)", &|row| row.reverse.0)];
        for name in self.accountant_names() {
            for (name, direction, title) in self.accountant_columns(name) {
                let direction = direction.unwrap_or(Direction::Forward);
                let rows = self.accountants.iter().filter(|row| row.name == name && row.direction == direction);
                series.push(Series::new(title, SeriesKind::Upper, rows.map(|row| [row.order, row.rdp.0]).collect()));
            }
        }
        let title = format!("Rényi divergence, {} noise{searched}", self.noise);
        let words = "The divergence itself in both directions, and what accountants promise.";
        (!self.divergences.is_empty()).then(|| Curves::of_orders(title, words, series).draw())
    }

    pub(super) fn profile(&self) -> Option<Drawing> {
        let curve = |name: &str, value: &dyn Fn(&HockeyStickRow) -> f64| {
            Series::new(
                name,
                SeriesKind::Exact,
                self.hockey_stick.iter().map(|row| [row.epsilon, value(row)]).collect(),
            )
        };
        let figure = Curves {
            title: "Privacy profile: the smallest δ at each ε".into(),
            description: "δ in both directions.".into(),
            x: Axis::linear("ε"),
            y: Axis::log("δ"),
            series: vec![curve("P over Q", &|row| row.delta_forward.0), curve("Q over P", &|row| row.delta_reverse.0)],
        };
        (self.hockey_stick.len() > 1).then(|| figure.draw())
    }

    pub(super) fn distribution(&self) -> Option<Drawing> {
        let series = ["P", "Q"].map(|name| RowSeries { name: name.into(), kind: SeriesKind::Exact });
        let row = |row: &OutcomeRow| Row {
            label: format!("class {}", row.label),
            values: vec![Some(row.p.0), Some(row.q.0)],
            note: String::new(),
        };
        let figure = Rows {
            title: "Output distribution: probability of each class".into(),
            description: "Under the histogram (P) and under the neighbor (Q).".into(),
            x: Axis::log("probability"),
            series: series.to_vec(),
            bar: None,
            rows: self.outcomes.iter().map(row).collect(),
            sorted_by: (self.outcomes.len() > Rows::MOST).then_some(0),
        };
        (!self.outcomes.is_empty()).then(|| figure.draw())
    }
}
