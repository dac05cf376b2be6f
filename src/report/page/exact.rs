//! The page of `leakbound exact`.

use super::{Page, meaning};
use crate::bound::Direction;
use crate::report::{Axis, Curves, Envelope, Row, RowSeries, Rows, Series, SeriesKind};
use crate::study::{DivergenceRow, ExactAnswer, HockeyStickRow, OutcomeRow};

impl ExactAnswer {
    pub(in crate::report) fn as_page(&self, envelope: &Envelope) -> Page {
        let mut page = Page::new(envelope, &self.title());
        page.claims.clone_from(&self.claims);
        page.figures.extend([self.renyi(), self.profile(), self.law()].into_iter().flatten());
        page.table("Output law", self.outcomes_table(), self.more_outcomes().unwrap_or_default());
        page.table(
            "Rényi divergence in nats",
            self.divergences_table(),
            "The accountants bound both directions from above, or the one they name.",
        );
        page.table("Privacy profile", self.profile_table(), "The smallest δ at each ε.");
        page.meaning.push(
            "Exact values are computed from the output laws of this pair of histograms by numerical integration, with no \
             sampling. They say nothing about other pairs, unless the worst neighbor was searched for."
                .into(),
        );
        if !self.accountants.is_empty() {
            page.meaning.push(meaning::UPPER.into());
        }
        page
    }

    fn renyi(&self) -> Option<super::Drawing> {
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
        let figure = Curves {
            title: format!("Rényi divergence, {} noise{searched}", self.noise),
            description: "The divergence itself in both directions, and what accountants promise.".into(),
            x: Axis::log("order α"),
            y: Axis::log("Rényi divergence in nats"),
            series,
        };
        (!self.divergences.is_empty()).then(|| figure.draw())
    }

    fn profile(&self) -> Option<super::Drawing> {
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

    fn law(&self) -> Option<super::Drawing> {
        let series = ["P", "Q"].map(|name| RowSeries { name: name.into(), kind: SeriesKind::Exact });
        let row = |row: &OutcomeRow| Row {
            label: format!("class {}", row.label),
            values: vec![Some(row.p.0), Some(row.q.0)],
            note: String::new(),
        };
        let figure = Rows {
            title: "Output law: probability of each class".into(),
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
