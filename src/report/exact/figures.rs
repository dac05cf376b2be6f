//! The figures of `leakbound exact`.

use super::values::ExactAnswerValues;
use crate::bound::Direction;
use crate::divergence::TestPower;
use crate::error::Result;
use crate::quantity::Probability;
use crate::report::{Axis, Curves, Drawing, Row, RowSeries, Rows, Series, SeriesKind};
use crate::study::{DivergenceRow, ExactAnswer, HockeyStickRow, OutcomeRow};
use easy_ext::ext;

#[ext(ExactAnswerFigures)]
impl ExactAnswer {
    pub(crate) fn renyi(&self) -> Option<Drawing> {
        let searched = if self.neighbors_searched.is_some() { ", worst neighbor" } else { "" };
        let exact = |name: &str, value: &dyn Fn(&DivergenceRow) -> f64| {
            Series::new(name, self.kind(), self.divergences.iter().map(|row| [row.order, value(row)]).collect())
        };
        let mut series = vec![exact("D(P‖Q)", &|row| row.forward.0), exact("D(Q‖P)", &|row| row.reverse.0)];
        for name in self.accountant_names() {
            for (name, direction, title) in self.accountant_columns(name) {
                let direction = direction.unwrap_or(Direction::Forward);
                let rows = self.accountants.iter().filter(|row| row.name == name && row.direction == direction);
                series.push(Series::new(title, SeriesKind::Upper, rows.map(|row| [row.order, row.rdp.0]).collect()));
            }
        }
        let what = self.noise.as_ref().map_or_else(|| self.mechanism.clone(), |noise| format!("{noise} noise"));
        let title = format!("Rényi divergence, {what}{searched}");
        let words = match self.binned {
            true => "The divergence of the bins in both directions, a lower end, and what accountants promise.",
            false => "The divergence itself in both directions, and what accountants promise.",
        };
        (!self.divergences.is_empty()).then(|| Curves::of_orders(title, words, series).draw())
    }

    pub(crate) fn profile(&self) -> Option<Drawing> {
        let curve = |name: &str, value: &dyn Fn(&HockeyStickRow) -> f64| {
            Series::new(name, self.kind(), self.hockey_stick.iter().map(|row| [row.epsilon, value(row)]).collect())
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

    /// The trade-off curve of the distributions that are shown.
    pub(crate) fn trade_off(&self) -> Option<Drawing> {
        let rates: Vec<Probability> = (0..=POINTS).filter_map(|point| rate(f64::from(point)).ok()).collect();
        let curve = |name: &str, swapped: bool| {
            let outcomes = self.outcomes.iter().map(|row| ([row.p.0, row.q.0], [row.log_p.0, row.log_q.0]));
            let turned = outcomes.map(|(p, ln)| if swapped { ([p[1], p[0]], [ln[1], ln[0]]) } else { (p, ln) });
            let power = TestPower::of_outcomes(turned);
            Series::new(name, self.kind(), rates.iter().map(|rate| [rate.get(), power.at(*rate)]).collect())
        };
        let chance = rates.iter().map(|rate| [rate.get(); 2]).collect();
        let pair = if self.neighbors_searched.is_some() { " of the worst change of the first order" } else { "" };
        let figure = Curves {
            title: format!("Trade-off{pair}: the best test that tells the datasets apart"),
            description: "The largest true-positive rate of any test at each false-positive rate.".into(),
            x: Axis::log("false-positive rate"),
            y: Axis::log("true-positive rate"),
            series: vec![
                curve("P over Q", false),
                curve("Q over P", true),
                Series::new("guessing", SeriesKind::Reference, chance),
            ],
        };
        (!self.outcomes.is_empty()).then(|| figure.draw())
    }

    /// Of its values.
    pub(crate) fn kind(&self) -> SeriesKind {
        if self.binned { SeriesKind::Lower } else { SeriesKind::Exact }
    }

    pub(crate) fn distribution(&self) -> Option<Drawing> {
        let series = ["P", "Q"].map(|name| RowSeries { name: name.into(), kind: SeriesKind::Exact });
        let row = |row: &OutcomeRow| Row {
            label: format!("{} {}", self.outputs()[0], row.label),
            values: vec![Some(row.p.0), Some(row.q.0)],
            bands: Vec::new(),
            note: String::new(),
        };
        let figure = Rows {
            title: format!("Output distribution: probability of each {}", self.outputs()[0]),
            description: "Under the histogram (P) and under the neighbor (Q).".into(),
            x: Axis::log("probability"),
            series: series.to_vec(),
            bar: None,
            rows: self.outcomes.iter().map(row).collect(),
            sorted_by: (self.outcomes.len() > Rows::MOST).then_some(0),
        };
        (self.outcomes_shown() > 0 && !self.outcomes.is_empty()).then(|| figure.draw())
    }
}

/// Points of the trade-off curve after the first, and powers of ten that they cover.
const POINTS: u32 = 100;
const DECADES: f64 = 5.0;

/// False-positive rates from 10^-5 to 1.
fn rate(point: f64) -> Result<Probability> {
    Probability::new(10f64.powf(DECADES * (point / f64::from(POINTS) - 1.0)))
}
