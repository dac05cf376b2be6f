//! What a page of scores is made of.

use super::{Drawing, Page, meaning};
use crate::bound::Validity;
use crate::report::envelope::Envelope;
use crate::report::table::TextTable;
use crate::study::{Claim, FailureNote};

impl Page {
    /// A page with claims, ready for figures and tables.
    pub(in crate::report) fn of_scores(envelope: &Envelope, title: &str, claims: &[Claim]) -> Self {
        let mut page = Self::new(envelope, title);
        page.claims = claims.to_vec();
        page
    }

    pub(in crate::report) fn add_figure(&mut self, figure: Drawing) {
        self.figures.push(figure);
    }

    pub(in crate::report) fn add_table(&mut self, title: &str, table: TextTable, note: impl Into<String>) {
        self.table(title, table, note);
    }

    /// What lower bounds with these guarantees mean.
    pub(in crate::report) fn explain(&mut self, failure: Option<f64>, validities: impl Iterator<Item = Validity>) {
        let Some(failure) = failure else { return };
        self.meaning.extend(meaning::lower_bounds(&FailureNote::of_one_event(failure), validities, 1));
    }
}
