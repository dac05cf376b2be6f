//! Presentation of the answer of `leakbound bench`.

use super::document::Render;
use super::records::{Records, fields};
use super::section::{Form, Section, Table};
use super::words::distinct;
use crate::study::{BenchAnswer, significant};

impl Render for BenchAnswer {
    fn title(&self, _: &str) -> String {
        format!("Samples per second on {} cores, {}", self.cores, self.machine)
    }

    fn sections(&self, _: Form) -> Vec<Section> {
        let mut threads = distinct(self.rows.iter().map(|row| row.threads));
        threads.sort_unstable();
        let rate = |work: &str, threads: usize| {
            let row = self.rows.iter().find(|row| row.work == work && row.threads == threads);
            row.map_or_else(String::new, |row| readable_rate(row.rate))
        };
        let table = Table::of(distinct(self.rows.iter().map(|row| row.work)))
            .words("work", |work| *work)
            .each(threads, |table, count| {
                let name = format!("{count} thread{}", if count == 1 { "" } else { "s" });
                table.exact(name, |work| rate(work, count))
            })
            .words("of", |work| self.rows.iter().find(|row| row.work == *work).map_or("", |row| row.unit));
        vec![Section::new("Rates").heading("").table(table)]
    }

    fn records(&self) -> Records<'_> {
        Records::of(&self.rows).columns(fields!(row => work, unit, threads, samples, seconds, rate)).into()
    }
}

/// A rate with four digits, in millions if it is that large.
pub(super) fn readable_rate(rate: f64) -> String {
    if rate >= 1e6 { format!("{} M", significant(rate / 1e6, 4)) } else { significant(rate, 4) }
}
