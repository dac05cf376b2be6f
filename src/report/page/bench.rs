//! The page of `leakbound bench`.

use super::Page;
use crate::report::Envelope;
use crate::study::BenchAnswer;

impl BenchAnswer {
    pub(in crate::report) fn as_page(&self, envelope: &Envelope) -> Page {
        let mut page = Page::new(envelope, &self.title());
        page.table("Rates", self.rates_table(), "");
        page
    }
}
