//! The document of `leakbound exact`.

use super::counts::claims_text;
use super::document::Render;
use super::envelope::Envelope;
use super::page::Page;
use super::table::{TextTable, csv_text};
use crate::bound::Direction;
use crate::error::Result;
use crate::histogram::Neighbor;
use crate::study::{AccountantRow, ExactAnswer, Number, short, significant};
use serde::Serialize;

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
    /// Noise, histogram and neighbor, a line each.
    pub(super) fn title(&self) -> String {
        let pair = match (&self.neighbor, self.neighbors_searched) {
            (_, Some(count)) => format!("worst of {count} neighbors; laws are those of the worst change, first order"),
            (Some(neighbor), _) => format!("neighbor {}", first_classes(neighbor)),
            _ => String::new(),
        };
        let test = self.threshold.as_ref().map_or_else(String::new, |test| format!(" after {test}"));
        format!("Noisy argmax with {} noise{test}\nhistogram {}\n{pair}", self.noise, first_classes(&self.histogram))
    }

    /// Names of the accountants.
    pub(super) fn accountant_names(&self) -> Vec<&'static str> {
        self.accountants.iter().map(|row| row.name).fold(Vec::new(), |mut names, name| {
            if !names.contains(&name) {
                names.push(name);
            }
            names
        })
    }

    /// What an accountant promises about one direction.
    pub(super) fn accountant(&self, name: &str, order: f64, direction: Direction) -> Option<f64> {
        let wanted = |row: &&AccountantRow| row.name == name && row.order == order && row.direction == direction;
        self.accountants.iter().find(wanted).map(|row| row.rdp.0)
    }

    /// Whether an accountant promises the same of both directions.
    pub(super) fn is_symmetric(&self, name: &str) -> bool {
        let at = |order, direction| self.accountant(name, order, direction);
        let mut orders = self.divergences.iter().map(|row| row.order);
        orders.all(|order| at(order, Direction::Forward) == at(order, Direction::Reverse))
    }

    /// One column for an accountant that promises the same of both directions, otherwise one for each.
    pub(super) fn accountant_columns<'a>(&self, name: &'a str) -> Vec<(&'a str, Option<Direction>, String)> {
        if self.is_symmetric(name) {
            return vec![(name, None, name.to_owned())];
        }
        Direction::BOTH.map(|direction| (name, Some(direction), format!("{name} {}", letters(direction)))).to_vec()
    }

    pub(super) fn outcomes_table(&self) -> TextTable {
        let mut table = TextTable::new(&["class", "P", "Q", "ln P", "ln Q"], &[]);
        for row in self.outcomes.iter().take(MOST_OUTCOMES) {
            let numbers = [row.p, row.q, row.log_p, row.log_q];
            table.row(std::iter::once(row.label.clone()).chain(numbers.map(|n| significant(n.0, DIGITS))).collect());
        }
        table
    }

    /// What the table of outcomes leaves out.
    pub(super) fn more_outcomes(&self) -> Option<String> {
        let more = self.outcomes.len().checked_sub(MOST_OUTCOMES).filter(|more| *more > 0);
        more.map(|more| format!("({more} more classes in --format json)"))
    }

    pub(super) fn divergences_table(&self) -> TextTable {
        let (names, searched) = (self.accountant_names(), self.neighbors_searched.is_some());
        let mut header = vec!["order α", "D(P‖Q)", "D(Q‖P)"];
        if searched {
            header.extend(["worst P‖Q", "worst Q‖P"]);
        }
        let columns: Vec<(&str, Option<Direction>, String)> =
            names.iter().flat_map(|name| self.accountant_columns(name)).collect();
        header.extend(columns.iter().map(|column| column.2.as_str()));
        let mut table = TextTable::new(&header, &[]);
        for row in &self.divergences {
            let mut cells =
                vec![short(row.order), significant(row.forward.0, DIGITS), significant(row.reverse.0, DIGITS)];
            if searched {
                cells.extend([change_text(row.forward_change), change_text(row.reverse_change)]);
            }
            for (name, direction, _) in &columns {
                let value = self.accountant(name, row.order, direction.unwrap_or(Direction::Forward));
                cells.push(value.map_or_else(String::new, |value| significant(value, 6)));
            }
            table.row(cells);
        }
        table
    }

    pub(super) fn profile_table(&self) -> TextTable {
        let mut table = TextTable::new(&["ε", "δ, P over Q", "δ, Q over P"], &[]);
        for row in &self.hockey_stick {
            let numbers = [row.delta_forward, row.delta_reverse];
            table.row(std::iter::once(short(row.epsilon)).chain(numbers.map(|n| significant(n.0, DIGITS))).collect());
        }
        table
    }
}

impl Render for ExactAnswer {
    fn text(&self, _: &str) -> String {
        let mut text = format!("{}\n\n", self.title());
        text += &self.outcomes_table().text();
        if let Some(more) = self.more_outcomes() {
            text += &format!("  {more}\n\n");
        }
        if !self.divergences.is_empty() {
            text +=
                "Rényi divergence in nats; the accountants bound both directions from above, or the one they name\n";
            text += &self.divergences_table().text();
        }
        if !self.hockey_stick.is_empty() {
            text += "Privacy profile: the smallest δ at each ε\n";
            text += &self.profile_table().text();
        }
        text + &claims_text(&self.claims)
    }

    fn page(&self, envelope: &Envelope, _: &str) -> Option<Page> {
        Some(self.as_page(envelope))
    }

    fn csv(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Row<'a> {
            kind: &'a str,
            name: String,
            forward: String,
            reverse: String,
        }
        let row = |kind, name: String, forward: Number, reverse: Number| Row {
            kind,
            name,
            forward: forward.text(),
            reverse: reverse.text(),
        };
        let outcomes = self.outcomes.iter().map(|r| row("probability", r.label.clone(), r.p, r.q));
        let divergences = self.divergences.iter().map(|r| row("renyi", short(r.order), r.forward, r.reverse));
        let sticks = self.hockey_stick.iter().map(|r| row("delta", short(r.epsilon), r.delta_forward, r.delta_reverse));
        let forward = self.accountants.iter().filter(|r| r.direction == Direction::Forward);
        let uppers = forward.map(|r| Row {
            kind: r.name,
            name: short(r.order),
            forward: r.rdp.text(),
            reverse: self
                .accountant(r.name, r.order, Direction::Reverse)
                .map_or_else(String::new, |v| Number(v).text()),
        });
        csv_text(outcomes.chain(divergences).chain(sticks).chain(uppers))
    }
}
