//! The document of `leakbound verify`.

use super::document::Document;
use super::envelope::Envelope;
use super::page::Page;
use super::table::{TextTable, csv_text, warnings_text};
use crate::error::{Result, one_line};
use crate::study::{Number, significant};
use crate::verify::{Case, ClaimScope, Counterexample, Finding, Problem, PropertyKind, Verdict};
use serde::Serialize;

/// Digits of claims and exact values in text.
const DIGITS: usize = 12;

/// The smallest case in which a property does not hold.
#[derive(Debug, Clone, Serialize)]
pub struct CounterexampleRow {
    /// What was found.
    #[serde(flatten)]
    pub found: Counterexample,
    /// How far the claim is beyond the exact value; absent where there is no claim.
    pub margin: Option<Number>,
    /// Commands that show it.
    pub reproduce: Vec<String>,
}

/// What was found about one property.
#[derive(Debug, Clone, Serialize)]
pub struct PropertyRow {
    /// Its name.
    pub property: &'static str,
    /// What it means when it does not hold.
    pub kind: PropertyKind,
    /// What is tested, and the theorem.
    pub theorem: &'static str,
    /// `refuted`, `not-refuted` or `not-tested`.
    pub verdict: &'static str,
    /// Cases to which it applied and which were answered.
    pub cases: u64,
    /// Cases that the accountant declined.
    pub declined: u64,
    /// One reason why.
    pub declined_reason: Option<String>,
    /// Cases about which it says nothing, or whose exact law could not be computed.
    pub not_applicable: u64,
    /// The largest exact value as a share of the claim, for validity.
    pub largest_share: Option<Number>,
    /// The case of it.
    pub closest: Option<Case>,
    /// Whether the time ran out before all cases were tried.
    pub out_of_time: bool,
    /// The counterexample.
    pub counterexample: Option<CounterexampleRow>,
}

impl PropertyRow {
    /// The row of a finding; `reproduce` makes the commands of a counterexample.
    #[must_use]
    pub fn new(finding: &Finding, reproduce: impl Fn(&Counterexample) -> Vec<String>) -> Self {
        let (verdict, counterexample) = match &finding.verdict {
            Verdict::Refuted(found) => {
                let margin = match &found.problem {
                    Problem::Violation(violation) => Some(Number(violation.margin())),
                    Problem::Fault(_) => None,
                };
                let row = CounterexampleRow { found: (**found).clone(), margin, reproduce: reproduce(found) };
                ("refuted", Some(row))
            }
            Verdict::NotRefuted => ("not-refuted", None),
            Verdict::NotTested => ("not-tested", None),
        };
        Self {
            property: finding.property.name,
            kind: finding.property.kind,
            theorem: finding.property.theorem,
            verdict,
            cases: finding.cases,
            declined: finding.declined,
            declined_reason: finding.reason.clone(),
            not_applicable: finding.not_applicable,
            largest_share: finding.largest_share.map(Number),
            closest: finding.closest.clone(),
            out_of_time: finding.out_of_time,
            counterexample,
        }
    }

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

/// The result of `leakbound verify`.
#[derive(Debug, Clone, Serialize)]
pub struct VerifyDocument {
    /// The common part.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// Title line of the text.
    #[serde(skip)]
    pub title: String,
    /// Name or command of the accountant.
    pub accountant: String,
    /// What its claims depend on.
    pub scope: ClaimScope,
    /// Whether any property was refuted.
    pub refuted: bool,
    /// Each property.
    pub properties: Vec<PropertyRow>,
}

impl VerifyDocument {
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

impl Document for VerifyDocument {
    fn text(&self) -> String {
        let mut text = format!("{}\n\n", one_line(&self.title)) + &self.properties_table().text();
        text.extend(self.properties.iter().map(PropertyRow::text));
        if !self.refuted {
            text += "not-refuted: no case was found; that is no proof\n\n";
        }
        text + &warnings_text(&self.envelope.warnings)
    }

    fn page(&self) -> Page {
        self.as_page()
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
