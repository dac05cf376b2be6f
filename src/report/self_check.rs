//! The document of `leakbound self-check`.

use super::document::Render;
use super::table::{TextTable, csv_text};
use crate::error::Result;
use crate::self_check::CheckCase;
use crate::study::{CheckRow, SelfCheckAnswer, short, significant};
use serde::Serialize;

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
    fn text(&self, title: &str) -> String {
        let mut text = format!("{title}\n{}\n\n", self.failure.words());
        let with_query = self.checks.iter().any(|row| !row.query.is_empty());
        for case in CheckCase::ALL {
            text += match case {
                CheckCase::Null => "Null: the pooled frequencies in both worlds, every positive bound is wrong\n",
                CheckCase::Known => "Known: the frequencies of each world with half a count added to each outcome\n",
            };
            let mut header = if with_query { vec!["query"] } else { vec![] };
            header.extend(["method", "validity"]);
            let mut words: Vec<usize> = (0..header.len()).collect();
            header.extend(["wrong", "nominal", "accepted"]);
            if case == CheckCase::Known {
                header.push("mean bound/truth");
            }
            words.push(header.len());
            header.push("verdict");
            let mut table = TextTable::new(&header, &words);
            for row in self.checks.iter().chain(&self.together).filter(|row| row.case == case) {
                let mut cells = if with_query { vec![row.query.clone()] } else { vec![] };
                cells.extend([
                    row.method.to_owned(),
                    row.validity.to_string(),
                    significant(row.wrong_share, 3),
                    nominal(row.failure_probability),
                    significant(row.accepted_share, 3),
                ]);
                if case == CheckCase::Known {
                    cells.push(row.shares());
                }
                cells.push(row.verdict.name().to_owned());
                table.row(cells);
            }
            text += &table.text();
        }
        text += "wrong: share of audits in which any bound of the method was above the truth\n";
        if !self.together.is_empty() {
            text += "all together: in which any finite-sample bound of any query was\n";
        }
        text + "\n"
    }

    fn csv(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Row<'a> {
            query: &'a str,
            case: &'a str,
            method: &'a str,
            validity: &'a str,
            failure_probability: f64,
            repetitions: u64,
            wrong_audits: u64,
            accepted_share: f64,
            verdict: &'a str,
            quantity: &'a str,
            direction: &'a str,
            order: Option<f64>,
            delta: Option<f64>,
            truth: String,
            mean_bound: String,
            mean_share: Option<f64>,
            wrong: u64,
        }
        let any = self.together.iter().map(|check| Row {
            query: &check.query,
            case: check.case.name(),
            method: check.method,
            validity: check.validity.name(),
            failure_probability: check.failure_probability,
            repetitions: check.repetitions,
            wrong_audits: check.wrong,
            accepted_share: check.accepted_share,
            verdict: check.verdict.name(),
            quantity: "any",
            direction: "both",
            order: None,
            delta: None,
            truth: String::new(),
            mean_bound: String::new(),
            mean_share: None,
            wrong: check.wrong,
        });
        csv_text(
            self.checks
                .iter()
                .flat_map(|check| {
                    check.tightness.iter().map(|row| Row {
                        query: &check.query,
                        case: check.case.name(),
                        method: check.method,
                        validity: check.validity.name(),
                        failure_probability: check.failure_probability,
                        repetitions: check.repetitions,
                        wrong_audits: check.wrong,
                        accepted_share: check.accepted_share,
                        verdict: check.verdict.name(),
                        quantity: row.quantity,
                        direction: row.direction.name(),
                        order: row.order,
                        delta: row.delta,
                        truth: row.truth.text(),
                        mean_bound: row.mean_bound.text(),
                        mean_share: row.mean_share,
                        wrong: row.wrong,
                    })
                })
                .chain(any),
        )
    }
}

/// A share of a failure probability has more digits than anybody reads.
fn nominal(probability: f64) -> String {
    let text = short(probability);
    if text.len() > 8 { significant(probability, 3) } else { text }
}
