//! Presentation of the answer of `leakbound self-check`.

use super::document::Render;
use super::records::{Records, fields};
use super::section::{Form, Section, Table};
use crate::report::failure::FailureNoteText;
use crate::self_check::CheckCase;
use crate::study::{CheckRow, SelfCheckAnswer, short, significant};
use easy_ext::ext;

#[ext]
impl CheckRow {
    /// The smallest and the largest mean share of the truth.
    fn shares(&self) -> String {
        let shares = || self.tightness.iter().filter_map(|row| row.mean_share);
        let (low, high) = (shares().fold(f64::INFINITY, f64::min), shares().fold(f64::NEG_INFINITY, f64::max));
        match (low.is_finite(), significant(low, 3), significant(high, 3)) {
            (false, ..) => String::new(),
            (true, low, high) if low == high => low,
            (true, low, high) => format!("{low} to {high}"),
        }
    }
}

impl Render for SelfCheckAnswer {
    fn title(&self, title: &str) -> String {
        format!("{title}\n{}", self.failure.words())
    }

    fn sections(&self, _: Form) -> Vec<Section> {
        let with_query = self.checks.iter().any(|row| !row.query.is_empty());
        let section = |case| {
            let table = Table::of(self.checks.iter().chain(&self.together).filter(|row| row.case == case))
                .when(with_query, |table| table.words("query", |row| &row.query))
                .words("method", |row| row.method)
                .words("validity", |row| row.validity)
                .number("wrong", 3, |row| row.wrong_share)
                .exact("nominal", |row| nominal(row.failure_probability))
                .number("accepted", 3, |row| row.accepted_share)
                .when(case == CheckCase::Known, |table| table.exact("mean bound/truth", |row| row.shares()))
                .words("verdict", |row| row.verdict.name());
            let title = match case {
                CheckCase::Null => "Null: the pooled frequencies in both worlds, every positive bound is wrong",
                CheckCase::Known => "Known: the frequencies of each world with half a count added to each outcome",
            };
            Section::new(title).table(table)
        };
        let wrong = "wrong: share of audits in which any bound of the method was above the truth";
        let together = "all together: in which any finite-sample bound of any query was";
        let together = (!self.together.is_empty()).then_some(together);
        let notes = [wrong].into_iter().chain(together);
        CheckCase::ALL.map(section).into_iter().chain([Section::default().notes(notes)]).collect()
    }

    fn records(&self) -> Records<'_> {
        let bounds = self.checks.iter().flat_map(|check| check.tightness.iter().map(move |row| (check, Some(row))));
        // The row for a check as a whole has no quantity.
        Records::of(bounds.chain(self.together.iter().map(|check| (check, None))))
            .column("query", |row| &row.0.query)
            .column("case", |row| row.0.case.name())
            .columns(fields!(row.0 => method, validity, failure_probability, repetitions))
            .column("wrong_audits", |row| row.0.wrong)
            .column("accepted_share", |row| row.0.accepted_share)
            .column("verdict", |row| row.0.verdict.name())
            .column("quantity", |row| row.1.map_or("any", |bound| bound.quantity))
            .column("direction", |row| row.1.map_or("both", |bound| bound.direction.name()))
            .column("order", |row| row.1.and_then(|bound| bound.order))
            .column("delta", |row| row.1.and_then(|bound| bound.delta))
            .column("truth", |row| row.1.map(|bound| bound.truth))
            .column("mean_bound", |row| row.1.map(|bound| bound.mean_bound))
            .column("mean_share", |row| row.1.and_then(|bound| bound.mean_share))
            .column("wrong", |row| row.1.map_or(row.0.wrong, |bound| bound.wrong))
            .into()
    }
}

/// A share of a failure probability has more digits than anybody reads.
fn nominal(probability: f64) -> String {
    let text = short(probability);
    if text.len() > 8 { significant(probability, 3) } else { text }
}
