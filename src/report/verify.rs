//! Presentation of the answer of `leakbound verify`.

use super::document::Render;
use super::records::{Records, fields};
use super::section::{Form, Section, Table};
use crate::error::one_line;
use crate::study::{Number, PropertyRow, VerifyAnswer, significant};
use crate::verify::{Problem, PropertyKind, Violation};
use easy_ext::ext;

/// Digits of claims and exact values.
const DIGITS: usize = 12;

const fn kind(kind: PropertyKind) -> &'static str {
    match kind {
        PropertyKind::Validity => "validity",
        PropertyKind::Structure => "structure",
    }
}

#[ext]
impl PropertyRow {
    fn problem(&self) -> Option<&Problem> {
        self.counterexample.as_ref().map(|row| &row.found.problem)
    }

    fn violation(&self) -> Option<&Violation> {
        match self.problem() {
            Some(Problem::Violation(violation)) => Some(violation),
            _ => None,
        }
    }

    /// The smallest case that was found.
    fn section(&self) -> Option<Section> {
        let row = self.counterexample.as_ref()?;
        let kind = match (&row.found.problem, self.kind) {
            (Problem::Fault(_), _) => "there is no claim to test",
            (_, PropertyKind::Validity) => "validity: a claim is below what is leaked",
            (_, PropertyKind::Structure) => "structure: claims that do not fit together, none known to be too low",
        };
        let mut facts = vec![("theorem", self.theorem.to_owned())];
        match &row.found.problem {
            Problem::Violation(violation) => {
                let (limit, error) = (significant(violation.limit, DIGITS), significant(violation.error, 2));
                facts.extend([
                    ("claim", significant(violation.claim, DIGITS)),
                    ("exact", format!("{limit} ± {error} ({})", violation.words)),
                    ("margin", significant(violation.margin(), 4)),
                ]);
                if let Some(neighbor) = &violation.neighbor {
                    let way = if violation.reverse { "the neighbor against the votes" } else { "against the votes" };
                    facts.push(("pair", format!("neighbor {neighbor}, {way}")));
                }
            }
            Problem::Fault(fault) => {
                facts.push(("answer", format!("none: {}, {}", fault.kind, one_line(&fault.message))));
            }
        }
        let (index, steps) = (row.found.index, row.found.shrink_steps);
        facts.push(("case", row.found.case.json()));
        facts.push(("found", format!("in case {index}, shrunk in {steps} steps")));
        facts.extend(row.reproduce.iter().map(|command| ("again", one_line(command))));
        let facts = facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Some(Section::new(format!("Refuted: {} ({kind})", self.property)).facts(facts))
    }
}

impl Render for VerifyAnswer {
    /// `title` names the cases that were tried.
    fn title(&self, title: &str) -> String {
        format!("Verification of {}: {title}", one_line(&self.accountant))
    }

    fn sections(&self, form: Form) -> Vec<Section> {
        let table = Table::of(&self.properties)
            .words("property", |row| row.property)
            .words("kind", |row| kind(row.kind))
            .words("verdict", |row| row.verdict)
            .exact("cases", |row| row.cases)
            .exact("declined", |row| row.declined)
            .number("largest exact/claim", 6, |row| row.largest_share.map(|share| share.0));
        let mut sections = vec![Section::new("Properties").heading("").table(table)];
        sections.extend(self.properties.iter().filter_map(PropertyRow::section));
        if form == Form::Page {
            let theorems =
                Table::of(&self.properties).words("property", |row| row.property).words("theorem", |row| row.theorem);
            sections.push(Section::new("What is tested").table(theorems));
        }
        let none = "not-refuted: no case was found; that is not a proof";
        sections.push(Section::default().notes((!self.refuted).then_some(none)));
        sections
    }

    fn meaning(&self) -> Vec<String> {
        vec![
            "Validity means that a claim is below what is leaked. Structure means that claims do not fit together, \
             though none is known to be too low. Not refuted means that no case was found, which is not a proof."
                .into(),
        ]
    }

    fn records(&self) -> Records<'_> {
        let fault = |row: &PropertyRow| match row.problem() {
            Some(Problem::Fault(fault)) => Some(fault.kind.name()),
            _ => None,
        };
        Records::of(&self.properties)
            .column("accountant", |_| &self.accountant)
            .column("property", |row| row.property)
            .column("kind", |row| kind(row.kind))
            .columns(fields!(row => verdict, cases, declined, not_applicable, largest_share))
            .column("case", |row| row.counterexample.as_ref().map(|row| row.found.case.json()))
            .column("claim", |row| row.violation().map(|violation| Number(violation.claim)))
            .column("exact", |row| row.violation().map(|violation| Number(violation.limit)))
            .column("fault", move |row| fault(row))
            .into()
    }
}
