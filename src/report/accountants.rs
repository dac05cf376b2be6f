//! The document of `leakbound verify --accountant list`.

use super::content::Content;
use super::document::Document;
use super::envelope::Envelope;
use super::records::Records;
use super::section::{Form, Section, Table};
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

impl Document for AccountantsDocument {
    fn content(&self, form: Form) -> Content {
        let (title, names) = match form {
            // Names alone: a shell reads them.
            Form::Text => ("", Section::default().lines(self.accountants.join("\n") + "\n")),
            Form::Page => {
                ("Accountants", Section::default().table(Table::of(&self.accountants).words("name", |name| *name)))
            }
        };
        Content::new(&self.envelope, title, vec![names])
    }

    fn records(&self) -> Records<'_> {
        Records::of(&self.accountants).column("accountant", |name| *name).into()
    }
}
