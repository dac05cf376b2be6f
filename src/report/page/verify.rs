//! The page of `leakbound verify`.

use super::Page;
use crate::report::Envelope;
use crate::report::table::TextTable;
use crate::study::{VerifyAnswer, significant};
use crate::verify::Problem;

/// Digits of claims and exact values.
const DIGITS: usize = 12;

impl VerifyAnswer {
    pub(in crate::report) fn as_page(&self, envelope: &Envelope, cases: &str) -> Page {
        let mut page = Page::new(envelope, &self.title(cases));
        let refuted = self.properties.iter().filter(|row| row.counterexample.is_some()).count();
        page.lead.push(format!("{refuted} of {} properties refuted", self.properties.len()));
        page.table("Properties", self.properties_table(), "");
        let found = self.properties.iter().filter_map(|row| Some((row, row.counterexample.as_ref()?)));
        for (row, counterexample) in found {
            let mut table = TextTable::new(&["what", "value"], &[0, 1]);
            let mut line = |what: &str, value: String| table.row(vec![what.to_owned(), value]);
            match &counterexample.found.problem {
                Problem::Violation(violation) => {
                    line("claim", significant(violation.claim, DIGITS));
                    line("exact", significant(violation.limit, DIGITS));
                    line("error of exact", significant(violation.error, 2));
                    line("margin", significant(violation.margin(), 4));
                    line("compared", violation.words.clone());
                    if let Some(neighbor) = &violation.neighbor {
                        let way = if violation.reverse { "neighbor against votes" } else { "votes against neighbor" };
                        line("pair", format!("neighbor {neighbor}, {way}"));
                    }
                }
                Problem::Fault(fault) => line("answer", format!("none: {}, {}", fault.kind, fault.message)),
            }
            line("case", counterexample.found.case.json());
            let steps = counterexample.found.shrink_steps;
            line("found", format!("in case {}, made smaller in {steps} steps", counterexample.found.index));
            for command in &counterexample.reproduce {
                line("again", command.clone());
            }
            page.table(format!("Counterexample of {}", row.property), table, row.theorem.to_owned());
        }
        let mut theorems = TextTable::new(&["property", "theorem"], &[0, 1]);
        for row in &self.properties {
            theorems.row(vec![row.property.to_owned(), row.theorem.to_owned()]);
        }
        page.table("What is tested", theorems, "");
        page.meaning.push(
            "Validity means that a claim is below what is leaked. Structure means that claims do not fit together, though \
             none is known to be too low. Not refuted means that no case was found, which is no proof."
                .into(),
        );
        page
    }
}
