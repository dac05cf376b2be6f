//! Presentation of the answer of `leakbound exact`.

mod figures;
mod values;

use super::document::Render;
use super::figure::Drawing;
use super::meaning;
use super::records::{Records, cells};
use super::section::{Columns, Form, Section, Table};
use super::words::rest;
use crate::bound::Direction;
use crate::histogram::Neighbor;
use crate::report::exact::figures::ExactAnswerFigures;
use crate::report::exact::values::{ExactAnswerValues, MOST_OUTCOMES};
use crate::study::{
    DivergenceRow, ExactAnswer, HockeyStickRow, Number, OutcomeRow, ProfileEpsilonRow, TestPowerRow, certain_digits,
    short, significant, significant_below,
};
use easy_ext::ext;

/// Digits of exact values in text.
const DIGITS: usize = 15;

fn change_text(change: Option<Neighbor>) -> String {
    match change {
        None => String::new(),
        Some(Neighbor::Moved { from, to }) => format!("{from} → {to}"),
        Some(Neighbor::Added { class }) => format!("+{class}"),
        Some(Neighbor::Removed { class }) => format!("-{class}"),
        Some(Neighbor::Shifted { by }) => by.to_string(),
    }
}

/// The first classes of a histogram.
fn first_classes(histogram: &str) -> String {
    match histogram.match_indices(',').nth(MOST_OUTCOMES - 1) {
        None => histogram.to_owned(),
        Some((end, _)) => {
            format!("{}, ... ({} classes)", &histogram[..end], histogram.matches(',').count() + 1)
        }
    }
}

#[ext]
impl ExactAnswer {
    /// Where the other outputs are.
    fn left_out(&self) -> Option<String> {
        let several = self.outputs()[1];
        match self.outcomes_shown() {
            0 => {
                Some(format!("(The probabilities of the {} {several} are in the JSON document.)", self.outcomes.len()))
            }
            shown => rest(self.outcomes.len(), shown, several),
        }
    }

    /// A value; for bins, which give lower ends, the digits that are certain, rounded down.
    fn certain(&self, value: Number, at_most: Number) -> String {
        match self.binned {
            true => significant_below(value.0, certain_digits(value.0, at_most.0)),
            false => significant(value.0, DIGITS),
        }
    }

    /// A rate: six digits, or those that are certain.
    fn certain_rate(&self, value: Number, at_most: Number) -> String {
        if self.binned { self.certain(value, at_most) } else { significant(value.0, 6) }
    }

    fn outcomes_table(&self) -> Columns<&OutcomeRow> {
        Table::of(self.outcomes.iter().take(self.outcomes_shown()))
            .exact(self.outputs()[0], |row| &row.label)
            .number("P", DIGITS, |row| row.p.0)
            .number("Q", DIGITS, |row| row.q.0)
            .number("ln P", DIGITS, |row| row.log_p.0)
            .number("ln Q", DIGITS, |row| row.log_q.0)
    }

    fn divergences_table(&self) -> Columns<&DivergenceRow> {
        let accountants = self.accountant_names().into_iter().flat_map(|name| self.accountant_columns(name));
        Table::of(&self.divergences)
            .short("order α", |row| row.order)
            .exact("D(P‖Q)", |row| self.certain(row.forward, row.at_most[0]))
            .exact("D(Q‖P)", |row| self.certain(row.reverse, row.at_most[1]))
            .when(self.neighbors_searched.is_some(), |table| {
                table
                    .exact("worst P‖Q", |row| change_text(row.forward_change))
                    .exact("worst Q‖P", |row| change_text(row.reverse_change))
            })
            .each(accountants, |table, (name, direction, title)| {
                let direction = direction.unwrap_or(Direction::Forward);
                table.at_most(title, 6, |row| self.accountant(name, row.order, direction))
            })
    }

    fn profile_table(&self) -> Columns<&HockeyStickRow> {
        Table::of(&self.hockey_stick)
            .short("ε", |row| row.epsilon)
            .exact("δ, P over Q", |row| self.certain(row.delta_forward, row.at_most[0]))
            .exact("δ, Q over P", |row| self.certain(row.delta_reverse, row.at_most[1]))
    }

    fn epsilon_table(&self) -> Columns<&ProfileEpsilonRow> {
        Table::of(&self.epsilon)
            .short("δ", |row| row.delta)
            .exact("ε, P over Q", |row| self.certain(row.epsilon_forward, row.at_most[0]))
            .exact("ε, Q over P", |row| self.certain(row.epsilon_reverse, row.at_most[1]))
    }

    fn power_table(&self) -> Columns<&TestPowerRow> {
        Table::of(&self.test_power)
            .short("FPR", |row| row.fpr)
            .exact("TPR, P over Q", |row| self.certain_rate(row.tpr_forward, row.at_most[0]))
            .exact("TPR, Q over P", |row| self.certain_rate(row.tpr_reverse, row.at_most[1]))
    }

    /// What bounds what.
    fn divergence_words(&self) -> String {
        let above = "; the accountants bound both directions from above, or the one they name";
        format!("Rényi divergence in nats{}", if self.accountants.is_empty() { "" } else { above })
    }

    /// What the values are not, and which theorems are missing.
    fn notes(&self) -> Vec<&'static str> {
        let binned = "The output is a number, which was cut into bins: all values here are lower ends, rounded down and at \
                      most those of the number itself.";
        let alone = "No accountant applies to these values: no theorem of the mechanism bounds this change of the \
                     data.";
        let is_alone = self.accountants.is_empty() && !self.divergences.is_empty();
        [(self.binned, binned), (is_alone, alone)].into_iter().filter(|note| note.0).map(|note| note.1).collect()
    }
}

impl Render for ExactAnswer {
    /// Noise, histogram and neighbor, a line each.
    fn title(&self, _: &str) -> String {
        let pair = match (&self.neighbor, self.neighbors_searched) {
            (_, Some(count)) => {
                format!(
                    "worst of {count} neighbor{}; distributions are those of the worst change, first order",
                    if count == 1 { "" } else { "s" }
                )
            }
            (Some(neighbor), _) => format!("neighbor {}", first_classes(neighbor)),
            _ => String::new(),
        };
        let what = match &self.noise {
            Some(noise) => {
                let test = self.threshold.as_ref().map_or_else(String::new, |test| format!(" after {test}"));
                format!("Noisy argmax with {noise} noise{test}")
            }
            None => format!("Exact leakage of {}", self.mechanism),
        };
        format!("{what}\nhistogram {}\n{pair}", first_classes(&self.histogram))
    }

    fn sections(&self, _: Form) -> Vec<Section> {
        let shown = self.outcomes_shown();
        let outputs = Section::new("Output distribution").heading("");
        let outputs = if shown > 0 { outputs.table(self.outcomes_table()) } else { outputs };
        let power = "Largest true-positive rate of any test at a false-positive rate";
        vec![
            outputs.notes(self.left_out()),
            Section::new("Rényi divergence in nats")
                .heading(self.divergence_words())
                .table(self.divergences_table())
                .notes(self.notes()),
            Section::new("Privacy profile: the smallest δ at each ε").table(self.profile_table()),
            Section::new("Privacy profile: the smallest ε at each δ").table(self.epsilon_table()),
            Section::new(power).table(self.power_table()),
        ]
    }

    fn figures(&self) -> Vec<Drawing> {
        [self.renyi(), self.profile(), self.trade_off(), self.distribution()].into_iter().flatten().collect()
    }

    fn meaning(&self) -> Vec<String> {
        let exact = "Exact values are computed from the output distributions of this pair of histograms by numerical integration, with \
                     no sampling. They say nothing about other pairs, unless the worst neighbor was searched for.";
        let binned = "Where the output is a number it is cut into bins. The values are exact for the bins, and lower ends for the \
                      number itself: a claim below them is wrong, and a claim above them is not confirmed.";
        let binned = self.binned.then_some(binned);
        let accountants = (!self.accountants.is_empty()).then_some(meaning::UPPER);
        [exact].into_iter().chain(binned).chain(accountants).map(str::to_owned).collect()
    }

    fn records(&self) -> Records<'_> {
        let outcomes = self.outcomes.iter().map(|row| cells!["probability", &row.label, row.p, row.q]);
        let divergences =
            self.divergences.iter().map(|row| cells!["renyi", short(row.order), row.forward, row.reverse]);
        let sticks = self
            .hockey_stick
            .iter()
            .map(|row| cells!["delta", short(row.epsilon), row.delta_forward, row.delta_reverse]);
        let forward = self.accountants.iter().filter(|row| row.direction == Direction::Forward);
        let uppers = forward.map(|row| {
            let reverse = self.accountant(row.name, row.order, Direction::Reverse).map(Number);
            cells![row.name, short(row.order), row.rdp, reverse]
        });
        let epsilons = self.epsilon.iter();
        let epsilons =
            epsilons.map(|row| cells!["epsilon", short(row.delta), row.epsilon_forward, row.epsilon_reverse]);
        let power = self.test_power.iter();
        let power = power.map(|row| cells!["tpr", short(row.fpr), row.tpr_forward, row.tpr_reverse]);
        let rows = outcomes.chain(divergences).chain(sticks).chain(uppers).chain(epsilons).chain(power);
        Records::with("kind,name,forward,reverse", rows)
    }
}
