//! What tables and figures of `leakbound exact` both show.

use crate::bound::Direction;
use crate::report::words::distinct;
use crate::study::{AccountantRow, ExactAnswer};
use easy_ext::ext;

/// Rows of D in text: most classes of a large histogram are of no interest to a reader.
pub(super) const MOST_OUTCOMES: usize = 40;

/// A direction in the letters of the table.
const fn letters(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "P‖Q",
        Direction::Reverse => "Q‖P",
    }
}

#[ext(ExactAnswerValues)]
impl ExactAnswer {
    /// Names of the accountants.
    pub(crate) fn accountant_names(&self) -> Vec<&'static str> {
        distinct(self.accountants.iter().map(|row| row.name))
    }

    /// What an accountant promises about one direction.
    pub(crate) fn accountant(&self, name: &str, order: f64, direction: Direction) -> Option<f64> {
        let wanted = |row: &&AccountantRow| row.name == name && row.order == order && row.direction == direction;
        self.accountants.iter().find(wanted).map(|row| row.rdp.0)
    }

    /// Whether an accountant promises the same of both directions.
    pub(crate) fn is_symmetric(&self, name: &str) -> bool {
        let at = |order, direction| self.accountant(name, order, direction);
        let mut orders = self.divergences.iter().map(|row| row.order);
        orders.all(|order| at(order, Direction::Forward) == at(order, Direction::Reverse))
    }

    /// One column for an accountant that promises the same of both directions, otherwise one for each.
    pub(crate) fn accountant_columns<'a>(&self, name: &'a str) -> Vec<(&'a str, Option<Direction>, String)> {
        if self.is_symmetric(name) {
            return vec![(name, None, name.to_owned())];
        }
        Direction::BOTH.map(|direction| (name, Some(direction), format!("{name} {}", letters(direction)))).to_vec()
    }

    /// Whether each output is a class of the histogram; a noisy argmax may also abstain.
    pub(crate) fn outputs_are_classes(&self) -> bool {
        self.noise.is_some() || self.outcomes.len() == self.histogram.split(',').count()
    }

    /// What an output is called, one of them and several.
    pub(crate) fn outputs(&self) -> [&'static str; 2] {
        match (self.binned, self.outputs_are_classes()) {
            (true, _) => ["bin", "bins"],
            (false, true) => ["class", "classes"],
            (false, false) => ["output", "outputs"],
        }
    }

    /// Bins mean nothing to a reader, who does not see their ends.
    pub(crate) fn outcomes_shown(&self) -> usize {
        if self.binned { 0 } else { MOST_OUTCOMES }
    }
}
