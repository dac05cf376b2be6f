//! Presentation of the answer of `leakbound label-dp memorization`.

use super::document::Render;
use super::meaning;
use super::records::{Records, fields};
use super::section::{Form, Section, Table};
use crate::study::{LabelAnswer, short};

impl Render for LabelAnswer {
    fn sections(&self, _: Form) -> Vec<Section> {
        let count = |count: Option<u64>| count.map_or_else(String::new, |count| count.to_string());
        let table = Table::of(&self.epsilon)
            .words("method", |row| row.method)
            .at_least("ε at least", 6, |row| row.epsilon_lower.0)
            .at_most("at most", 6, |row| row.epsilon_upper.map(|upper| upper.0))
            .short("δ", |row| row.delta)
            .exact("guess from", |row| {
                format!("{} ({})", row.threshold.map_or_else(|| "none".into(), short), row.selection)
            })
            .exact("guesses", |row| count(row.guesses))
            .exact("right", |row| count(row.right))
            .at_most("failure", 3, |row| row.failure_probability)
            .words("validity", |row| row.validity);
        vec![Section::new("ε of label privacy").heading("").table(table)]
    }

    fn meaning(&self) -> Vec<String> {
        let failure = self.epsilon.first().map(|row| row.failure_probability);
        meaning::of_one_event(failure, self.epsilon.iter().map(|row| row.validity))
    }

    fn records(&self) -> Records<'_> {
        Records::of(&self.epsilon)
            .columns(fields!(row =>
                method, selection, threshold, delta, canaries, guesses, right, epsilon_lower, epsilon_upper,
                failure_probability, validity
            ))
            .into()
    }
}
