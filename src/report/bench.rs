//! The document of `leakbound bench`.

use super::document::Document;
use super::envelope::Envelope;
use super::page::Page;
use super::table::{TextTable, csv_text, warnings_text};
use crate::error::Result;
use crate::study::significant;
use serde::Serialize;

/// One work on one number of threads.
#[derive(Debug, Clone, Serialize)]
pub struct BenchRow {
    /// Its name.
    pub work: &'static str,
    /// What a sample is.
    pub unit: &'static str,
    /// Threads.
    pub threads: usize,
    /// Samples drawn.
    pub samples: u64,
    /// Seconds they took.
    pub seconds: f64,
    /// Samples per second.
    pub rate: f64,
}

/// The result of `leakbound bench`.
#[derive(Debug, Clone, Serialize)]
pub struct BenchDocument {
    /// The common part.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// Cores that the system offers.
    pub cores: usize,
    /// Architecture and system.
    pub machine: String,
    /// All measurements.
    pub rows: Vec<BenchRow>,
}

impl BenchDocument {
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

impl Document for BenchDocument {
    fn text(&self) -> String {
        format!("{}\n\n", self.title()) + &self.rates_table().text() + &warnings_text(&self.envelope.warnings)
    }

    fn page(&self) -> Page {
        self.as_page()
    }

    fn csv(&self) -> Result<String> {
        csv_text(&self.rows)
    }
}

fn readable_rate(rate: f64) -> String {
    if rate >= 1e6 { format!("{} M", significant(rate / 1e6, 4)) } else { significant(rate, 4) }
}
