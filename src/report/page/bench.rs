//! The page of `leakbound bench`.

use super::Page;
use crate::report::BenchDocument;

impl BenchDocument {
    pub(in crate::report) fn as_page(&self) -> Page {
        let mut page = Page::new(&self.envelope, &self.title());
        page.table("Rates", self.rates_table(), "");
        page
    }
}
