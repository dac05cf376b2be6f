//! Presentation of the answer of `leakbound self-check audit scores`.

use super::document::Render;
use super::records::{Records, fields};
use super::section::{Form, Section, Table};
use crate::self_check::CheckCase;
use crate::study::ScoreCheckAnswer;

impl Render for ScoreCheckAnswer {
    fn sections(&self, _: Form) -> Vec<Section> {
        let section = |case| {
            let table = Table::of(self.checks.iter().filter(|row| row.case == case))
                .words("selection", |row| row.method)
                .words("validity", |row| row.validity)
                .number("wrong", 3, |row| row.wrong_share)
                .short("nominal", |row| row.failure_probability)
                .number("accepted", 3, |row| row.accepted_share)
                .number("mean ε, forward", 3, |row| row.tightness.first().map(|row| row.mean_bound.0))
                .words("verdict", |row| row.verdict.name());
            let title = match case {
                CheckCase::Null => "Null: all scores are N(0, 1), every positive bound is wrong",
                CheckCase::Known => "Known: scores of members are N(1, 1), μ = 1",
            };
            Section::new(title).table(table)
        };
        let wrong = "wrong: share of audits in which a bound of ε or of μ was above the truth";
        CheckCase::ALL.map(section).into_iter().chain([Section::default().notes([wrong])]).collect()
    }

    fn records(&self) -> Records<'_> {
        Records::of(&self.checks)
            .column("case", |row| row.case.name())
            .column("selection", |row| row.method)
            .columns(fields!(row => validity, failure_probability, repetitions, wrong, accepted_share))
            .column("verdict", |row| row.verdict.name())
            .column("mean_epsilon_forward", |row| row.tightness.first().map(|row| row.mean_bound))
            .into()
    }
}
