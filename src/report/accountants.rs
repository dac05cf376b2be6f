//! The document of `leakbound verify --accountant list`.

use super::document::Document;
use super::envelope::Envelope;
use super::table::csv_text;
use crate::error::Result;
use serde::Serialize;

/// The names of all accountants that can be tested.
#[derive(Debug, Clone, Serialize)]
pub struct AccountantsDocument {
    /// The common part.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// The names, those that are wrong on purpose last.
    pub accountants: Vec<String>,
}

#[derive(Serialize)]
struct Row<'a> {
    accountant: &'a str,
}

impl Document for AccountantsDocument {
    fn text(&self) -> String {
        self.accountants.iter().map(|name| format!("{name}\n")).collect()
    }

    fn csv(&self) -> Result<String> {
        csv_text(self.accountants.iter().map(|accountant| Row { accountant }))
    }
}
