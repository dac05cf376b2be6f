//! Presentation of the answer of `leakbound audit scores`.

use super::document::Render;
use super::figure::{Axis, Curves, Drawing, Series, SeriesKind};
use super::meaning;
use super::records::{Records, fields};
use super::section::{Columns, Form, Section, Table};
use crate::audit::ThresholdSelection;
use crate::bound::{Direction, Validity};
use crate::error::one_line;
use crate::study::{RatePoint, ScoreBoundRow, ScoresAnswer, short};
use easy_ext::ext;

/// Thresholds in text and on a page; all are in JSON.
const SHOWN: usize = 12;
const SHOWN_ON_PAGE: usize = 200;

#[ext(ScoresAnswerText)]
impl ScoresAnswer {
    pub(crate) fn bounds(&self) -> Columns<(&'static str, &ScoreBoundRow)> {
        let quantity = |name: &str, row: &ScoreBoundRow| match (row.delta, row.epsilon) {
            _ if row.order.is_some() => format!("{name} of order {}", row.order.map_or_else(String::new, short)),
            (Some(delta), _) => format!("{name} at δ = {}", short(delta)),
            (_, Some(epsilon)) => format!("{name} at ε = {}", short(epsilon)),
            _ => name.to_owned(),
        };
        Table::of(self.rows())
            .words("quantity", |row| quantity(row.0, row.1))
            .words("direction", |row| row.1.direction.map_or_else(|| "both".into(), |direction| direction.to_string()))
            .number("at least", 6, |row| row.1.lower.0)
            .number("threshold", 5, |row| row.1.threshold.map(|threshold| threshold.0))
            .words("method", |row| row.1.method)
            .words("selection", |row| row.1.selection)
            .number("failure", 3, |row| row.1.failure_probability)
            .words("validity", |row| row.1.validity)
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = (&'static str, &ScoreBoundRow)> {
        let epsilon = self.epsilon.iter().map(|row| ("ε", row));
        let mu = self.mu.iter().map(|row| ("μ", row));
        let implied = self.epsilon_of_mu.iter().map(|row| ("ε of that μ", row));
        let renyi = self.renyi.iter().map(|row| ("Rényi divergence", row));
        epsilon.chain(mu).chain(implied).chain(self.delta.iter().map(|row| ("δ", row))).chain(renyi)
    }

    /// Limits at this many evenly spaced thresholds, the ends included.
    pub(crate) fn rates(&self, most: usize) -> Columns<&RatePoint> {
        let shown = self.rates.len().min(most);
        let place = |index| if shown < 2 { 0 } else { index * (self.rates.len() - 1) / (shown - 1) };
        Table::of((0..shown).map(|index| &self.rates[place(index)]))
            .number("threshold", 5, |point| point.threshold.0)
            .exact("members at or above", |point| point.true_positives)
            .number("TPR from", 5, |point| point.tpr_lower.0)
            .exact("others at or above", |point| point.false_positives)
            .number("FPR to", 5, |point| point.fpr_upper.0)
    }

    /// In how far the limits hold together, which is a matter of how the thresholds were chosen.
    pub(crate) fn rates_note(&self) -> &'static str {
        let by = |selection: ThresholdSelection| self.epsilon.iter().any(|row| row.selection == selection.name());
        if by(ThresholdSelection::MultiSplit) {
            "One threshold and its limits for each split; the bounds are medians over the splits."
        } else if by(ThresholdSelection::Naive) {
            "Limits at each vertex of the hull, without a correction for their number."
        } else {
            "All of these limits hold simultaneously."
        }
    }

    /// The outcome of the guesses; with the name of the scores if there are several sets.
    pub(crate) fn one_run_words(&self, name: Option<&str>) -> Option<String> {
        let row = self.one_run.as_ref()?;
        Some(format!(
            "One run{}: {} of {} guesses are right ({} canaries called members, {} called non-members, of {} that the bound \
             is about; {})",
            name.map_or_else(String::new, |name| format!(", {}", one_line(name))),
            row.right,
            row.guessed_members + row.guessed_non_members,
            row.guessed_members,
            row.guessed_non_members,
            row.canaries,
            row.selection
        ))
    }

    pub(crate) fn curve(&self) -> Curves {
        let limits: Vec<[f64; 2]> = self.rates.iter().map(|point| [point.fpr_upper.0, point.tpr_lower.0]).collect();
        let valid = self.epsilon.iter().all(|row| row.validity == Validity::FiniteSample);
        let kind = if valid { SeriesKind::Lower } else { SeriesKind::Heuristic };
        Curves {
            title: "ROC curve of the attack, and what is certain of it".into(),
            description:
                "True positive rate against false positive rate: as recorded, and the corner of the limits at \
                          each threshold looked at."
                    .into(),
            x: Axis::log("false positive rate"),
            y: Axis::log("true positive rate"),
            series: vec![
                Series::new("recorded", SeriesKind::Reference, self.roc.clone()),
                Series::new(if valid { "limits" } else { "limits (heuristic)" }, kind, limits),
            ],
        }
    }
}

impl Render for ScoresAnswer {
    fn sections(&self, form: Form) -> Vec<Section> {
        let most = if form == Form::Text { SHOWN } else { SHOWN_ON_PAGE };
        vec![
            Section::default().notes(self.one_run_words(None)),
            Section::new("Lower bounds").heading("").table(self.bounds()),
            Section::new("Limits of both rates").heading("").table(self.rates(most)).notes([self.rates_note()]),
        ]
    }

    fn figures(&self) -> Vec<Drawing> {
        if self.rates.is_empty() { Vec::new() } else { vec![self.curve().draw()] }
    }

    fn meaning(&self) -> Vec<String> {
        let failure = self.epsilon.first().map(|row| row.failure_probability);
        meaning::of_one_event(failure, self.rows().map(|(_, row)| row.validity))
    }

    fn records(&self) -> Records<'_> {
        let names = [&self.epsilon, &self.mu, &self.epsilon_of_mu, &self.delta, &self.renyi];
        let names = names.into_iter().zip(["epsilon", "mu", "epsilon-of-mu", "delta", "renyi"]);
        Records::of(names.flat_map(|(rows, quantity)| rows.iter().map(move |row| (quantity, row))))
            .column("quantity", |row| row.0)
            .columns(fields!(row.1 => method, selection))
            .column("direction", |row| row.1.direction.map_or("both", Direction::name))
            .columns(fields!(row.1 => order, delta, epsilon, threshold, lower, failure_probability, validity))
            .into()
    }
}
