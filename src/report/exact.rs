//! How the answer of `leakbound exact` reads.

mod figures;

use super::document::Render;
use super::figure::Drawing;
use super::meaning;
use super::records::{Records, cells};
use super::section::{Columns, Form, Section, Table};
use super::words::{distinct, rest};
use crate::bound::Direction;
use crate::histogram::Neighbor;
use crate::study::{AccountantRow, DivergenceRow, ExactAnswer, HockeyStickRow, Number, OutcomeRow, short};

/// Digits of exact values in text.
const DIGITS: usize = 15;

/// A direction in the letters of the table.
const fn letters(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "P‖Q",
        Direction::Reverse => "Q‖P",
    }
}

fn change_text(change: Option<Neighbor>) -> String {
    match change {
        None => String::new(),
        Some(Neighbor::Moved { from, to }) => format!("{from} → {to}"),
        Some(Neighbor::Added { class }) => format!("+{class}"),
        Some(Neighbor::Removed { class }) => format!("-{class}"),
    }
}

/// Rows of D in text: most classes of a large histogram are of no interest to a reader.
const MOST_OUTCOMES: usize = 40;

/// A histogram of as many classes.
fn first_classes(histogram: &str) -> String {
    match histogram.match_indices(',').nth(MOST_OUTCOMES - 1) {
        None => histogram.to_owned(),
        Some((end, _)) => {
            format!("{}, ... ({} classes)", &histogram[..end], histogram.matches(',').count() + 1)
        }
    }
}

impl ExactAnswer {
    /// Names of the accountants.
    fn accountant_names(&self) -> Vec<&'static str> {
        distinct(self.accountants.iter().map(|row| row.name))
    }

    /// What an accountant promises about one direction.
    fn accountant(&self, name: &str, order: f64, direction: Direction) -> Option<f64> {
        let wanted = |row: &&AccountantRow| row.name == name && row.order == order && row.direction == direction;
        self.accountants.iter().find(wanted).map(|row| row.rdp.0)
    }

    /// Whether an accountant promises the same of both directions.
    fn is_symmetric(&self, name: &str) -> bool {
        let at = |order, direction| self.accountant(name, order, direction);
        let mut orders = self.divergences.iter().map(|row| row.order);
        orders.all(|order| at(order, Direction::Forward) == at(order, Direction::Reverse))
    }

    /// One column for an accountant that promises the same of both directions, otherwise one for each.
    fn accountant_columns<'a>(&self, name: &'a str) -> Vec<(&'a str, Option<Direction>, String)> {
        if self.is_symmetric(name) {
            return vec![(name, None, name.to_owned())];
        }
        Direction::BOTH.map(|direction| (name, Some(direction), format!("{name} {}", letters(direction)))).to_vec()
    }

    fn outcomes_table(&self) -> Columns<&OutcomeRow> {
        Table::of(self.outcomes.iter().take(MOST_OUTCOMES))
            .exact("class", |row| &row.label)
            .number("P", DIGITS, |row| row.p.0)
            .number("Q", DIGITS, |row| row.q.0)
            .number("ln P", DIGITS, |row| row.log_p.0)
            .number("ln Q", DIGITS, |row| row.log_q.0)
    }

    fn divergences_table(&self) -> Columns<&DivergenceRow> {
        let accountants = self.accountant_names().into_iter().flat_map(|name| self.accountant_columns(name));
        Table::of(&self.divergences)
            .short("order α", |row| row.order)
            .number("D(P‖Q)", DIGITS, |row| row.forward.0)
            .number("D(Q‖P)", DIGITS, |row| row.reverse.0)
            .when(self.neighbors_searched.is_some(), |table| {
                table
                    .exact("worst P‖Q", |row| change_text(row.forward_change))
                    .exact("worst Q‖P", |row| change_text(row.reverse_change))
            })
            .each(accountants, |table, (name, direction, title)| {
                let direction = direction.unwrap_or(Direction::Forward);
                table.number(title, 6, |row| self.accountant(name, row.order, direction))
            })
    }

    fn profile_table(&self) -> Columns<&HockeyStickRow> {
        Table::of(&self.hockey_stick)
            .short("ε", |row| row.epsilon)
            .number("δ, P over Q", DIGITS, |row| row.delta_forward.0)
            .number("δ, Q over P", DIGITS, |row| row.delta_reverse.0)
    }
}

impl Render for ExactAnswer {
    /// Noise, histogram and neighbor, a line each.
    fn title(&self, _: &str) -> String {
        let pair = match (&self.neighbor, self.neighbors_searched) {
            (_, Some(count)) => {
                format!("worst of {count} neighbors; distributions are those of the worst change, first order")
            }
            (Some(neighbor), _) => format!("neighbor {}", first_classes(neighbor)),
            _ => String::new(),
        };
        let test = self.threshold.as_ref().map_or_else(String::new, |test| format!(" after {test}"));
        format!("Noisy argmax with {} noise{test}\nhistogram {}\n{pair}", self.noise, first_classes(&self.histogram))
    }

    fn sections(&self, _: Form) -> Vec<Section> {
        vec![
            Section::new("Output distribution").heading("").table(self.outcomes_table()).notes(rest(
                self.outcomes.len(),
                MOST_OUTCOMES,
                "classes",
            )),
            Section::new("Rényi divergence in nats")
                .heading(
                    "Rényi divergence in nats; the accountants bound both directions from above, or the one they name",
                )
                .table(self.divergences_table()),
            Section::new("Privacy profile: the smallest δ at each ε").table(self.profile_table()),
        ]
    }

    fn figures(&self) -> Vec<Drawing> {
        [self.renyi(), self.profile(), self.distribution()].into_iter().flatten().collect()
    }

    fn meaning(&self) -> Vec<String> {
        let exact = "Exact values are computed from the output distributions of this pair of histograms by numerical integration, with \
                     no sampling. They say nothing about other pairs, unless the worst neighbor was searched for.";
        let accountants = (!self.accountants.is_empty()).then_some(meaning::UPPER);
        [exact].into_iter().chain(accountants).map(str::to_owned).collect()
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
        let rows = outcomes.chain(divergences).chain(sticks).chain(uppers);
        Records::with("kind,name,forward,reverse", rows)
    }
}
