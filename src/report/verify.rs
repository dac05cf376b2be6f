//! The document of `leakbound verify`.

use super::document::Render;
use super::envelope::Envelope;
use super::page::Page;
use super::table::{TextTable, csv_text};
use crate::error::{Result, one_line};
use crate::study::{Number, PropertyRow, VerifyAnswer, significant};
use crate::verify::{Problem, PropertyKind};
use serde::Serialize;

/// Digits of claims and exact values in text.
const DIGITS: usize = 12;

impl PropertyRow {
    fn text(&self) -> String {
        let Some(row) = &self.counterexample else { return String::new() };
        let kind = match (&row.found.problem, self.kind) {
            (Problem::Fault(_), _) => "there is no claim to test",
            (_, PropertyKind::Validity) => "validity: a claim is below what is leaked",
            (_, PropertyKind::Structure) => "structure: claims that do not fit together, none known to be too low",
        };
        let mut text = format!("Refuted: {} ({kind})\n  theorem  {}\n", self.property, self.theorem);
        match &row.found.problem {
            Problem::Violation(violation) => {
                text += &format!(
                    "  claim    {}\n  exact    {} ± {} ({})\n  margin   {}\n",
                    significant(violation.claim, DIGITS),
                    significant(violation.limit, DIGITS),
                    significant(violation.error, 2),
                    violation.words,
                    significant(violation.margin(), 4),
                );
                if let Some(neighbor) = &violation.neighbor {
                    let way = if violation.reverse { "the neighbor against the votes" } else { "against the votes" };
                    text += &format!("  pair     neighbor {neighbor}, {way}\n");
                }
            }
            Problem::Fault(fault) => {
                text += &format!("  answer   none: {}, {}\n", fault.kind, one_line(&fault.message));
            }
        }
        text += &format!(
            "  case     {}\n  found    in case {}, made smaller in {} steps\n",
            row.found.case.json(),
            row.found.index,
            row.found.shrink_steps
        );
        for command in &row.reproduce {
            text += &format!("  again    {}\n", one_line(command));
        }
        text.push('\n');
        text
    }
}

impl VerifyAnswer {
    /// Headline; `cases` says which cases were tried.
    pub(super) fn title(&self, cases: &str) -> String {
        format!("Verification of {}: {cases}", one_line(&self.accountant))
    }

    /// A line for each property.
    pub(super) fn properties_table(&self) -> TextTable {
        let mut table =
            TextTable::new(&["property", "kind", "verdict", "cases", "declined", "largest exact/claim"], &[0, 1, 2]);
        for row in &self.properties {
            let kind = match row.kind {
                PropertyKind::Validity => "validity",
                PropertyKind::Structure => "structure",
            };
            table.row(vec![
                row.property.to_owned(),
                kind.to_owned(),
                row.verdict.to_owned(),
                row.cases.to_string(),
                row.declined.to_string(),
                row.largest_share.map_or_else(String::new, |share| significant(share.0, 6)),
            ]);
        }
        table
    }
}

impl Render for VerifyAnswer {
    fn text(&self, title: &str) -> String {
        let mut text = format!("{}\n\n", self.title(title)) + &self.properties_table().text();
        text.extend(self.properties.iter().map(PropertyRow::text));
        if !self.refuted {
            text += "not-refuted: no case was found; that is no proof\n\n";
        }
        text
    }

    fn page(&self, envelope: &Envelope, title: &str) -> Option<Page> {
        Some(self.as_page(envelope, title))
    }

    fn csv(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Row<'a> {
            accountant: &'a str,
            property: &'a str,
            kind: PropertyKind,
            verdict: &'a str,
            cases: u64,
            declined: u64,
            not_applicable: u64,
            largest_share: Option<String>,
            case: String,
            claim: Option<String>,
            exact: Option<String>,
            fault: Option<&'a str>,
        }
        csv_text(self.properties.iter().map(|row| {
            let problem = row.counterexample.as_ref().map(|row| &row.found.problem);
            let violation = match problem {
                Some(Problem::Violation(violation)) => Some(violation),
                _ => None,
            };
            Row {
                accountant: &self.accountant,
                property: row.property,
                kind: row.kind,
                verdict: row.verdict,
                cases: row.cases,
                declined: row.declined,
                not_applicable: row.not_applicable,
                largest_share: row.largest_share.map(Number::text),
                case: row.counterexample.as_ref().map_or_else(String::new, |row| row.found.case.json()),
                claim: violation.map(|violation| Number(violation.claim).text()),
                exact: violation.map(|violation| Number(violation.limit).text()),
                fault: match problem {
                    Some(Problem::Fault(fault)) => Some(fault.kind.name()),
                    _ => None,
                },
            }
        }))
    }
}
