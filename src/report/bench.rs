//! The document of `leakbound bench`.

use super::document::Render;
use super::envelope::Envelope;
use super::page::Page;
use super::table::{TextTable, csv_text};
use crate::error::Result;
use crate::study::{BenchAnswer, BenchRow, significant};

impl BenchAnswer {
    /// Headline.
    pub(super) fn title(&self) -> String {
        format!("Samples per second on {} cores, {}", self.cores, self.machine)
    }

    pub(super) fn rates_table(&self) -> TextTable {
        let mut threads: Vec<usize> = self.rows.iter().map(|row| row.threads).collect();
        threads.sort_unstable();
        threads.dedup();
        let names = threads.iter().map(|count| format!("{count} thread{}", if *count == 1 { "" } else { "s" }));
        let header: Vec<String> = ["work".into()].into_iter().chain(names).chain(["of".into()]).collect();
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let mut table = TextTable::new(&header, &[0, header.len() - 1]);
        let mut works: Vec<&BenchRow> = Vec::new();
        for row in &self.rows {
            if works.iter().all(|known| known.work != row.work) {
                works.push(row);
            }
        }
        for work in works {
            let rate = |count: &usize| {
                let row = self.rows.iter().find(|row| row.work == work.work && row.threads == *count);
                row.map_or_else(String::new, |row| readable_rate(row.rate))
            };
            let cells = [work.work.to_owned()].into_iter().chain(threads.iter().map(rate));
            table.row(cells.chain([work.unit.to_owned()]).collect());
        }
        table
    }
}

impl Render for BenchAnswer {
    fn text(&self, _: &str) -> String {
        format!("{}\n\n", self.title()) + &self.rates_table().text()
    }

    fn page(&self, envelope: &Envelope, _: &str) -> Option<Page> {
        Some(self.as_page(envelope))
    }

    fn csv(&self) -> Result<String> {
        csv_text(&self.rows)
    }
}

fn readable_rate(rate: f64) -> String {
    if rate >= 1e6 { format!("{} M", significant(rate / 1e6, 4)) } else { significant(rate, 4) }
}
