//! The document of `leakbound self-check audit scores`.

use super::document::Render;
use super::table::{TextTable, csv_text};
use crate::error::Result;
use crate::self_check::CheckCase;
use crate::study::{Number, ScoreCheckAnswer, short, significant};
use serde::Serialize;

impl Render for ScoreCheckAnswer {
    fn text(&self, title: &str) -> String {
        let mut text = format!("{title}\n\n");
        for case in CheckCase::ALL {
            text += match case {
                CheckCase::Null => "Null: all scores are N(0, 1), every positive bound is wrong\n",
                CheckCase::Known => "Known: scores of members are N(1, 1), μ = 1\n",
            };
            let header = ["selection", "validity", "wrong", "nominal", "accepted", "mean ε, forward", "verdict"];
            let mut table = TextTable::new(&header, &[0, 1, 6]);
            for row in self.checks.iter().filter(|row| row.case == case) {
                table.row(vec![
                    row.method.to_owned(),
                    row.validity.to_string(),
                    significant(row.wrong_share, 3),
                    short(row.failure_probability),
                    significant(row.accepted_share, 3),
                    row.tightness.first().map_or_else(String::new, |row| significant(row.mean_bound.0, 3)),
                    row.verdict.name().to_owned(),
                ]);
            }
            text += &table.text();
        }
        text + "wrong: share of audits in which a bound of ε or of μ was above the truth\n\n"
    }

    fn csv(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Row<'a> {
            case: &'a str,
            selection: &'a str,
            validity: &'a str,
            failure_probability: f64,
            repetitions: u64,
            wrong: u64,
            accepted_share: f64,
            verdict: &'a str,
            mean_epsilon_forward: Option<String>,
        }
        csv_text(self.checks.iter().map(|row| Row {
            case: row.case.name(),
            selection: row.method,
            validity: row.validity.name(),
            failure_probability: row.failure_probability,
            repetitions: row.repetitions,
            wrong: row.wrong,
            accepted_share: row.accepted_share,
            verdict: row.verdict.name(),
            mean_epsilon_forward: row.tightness.first().map(|row| Number::text(row.mean_bound)),
        }))
    }
}
