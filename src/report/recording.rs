//! The document of the recipes that train models and record their answers.

use super::content::Content;
use super::document::Document;
use super::envelope::Envelope;
use super::figure::Drawing;
use super::records::Records;
use super::section::{Form, Section, Table};
use crate::error::one_line;
use crate::record::WrittenArray;
use crate::study::{Number, significant};
use serde::Serialize;

/// One number about the models.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrainingFact {
    /// Stable name, such as `mean-accuracy`.
    pub name: &'static str,
    /// Its value.
    pub value: Number,
}

/// What was trained and recorded.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordingDocument {
    /// The common part.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// Title line of the text.
    #[serde(skip)]
    pub title: String,
    /// Where the networks were trained.
    pub device: String,
    /// The file with the arrays.
    pub recording: String,
    /// The arrays in it.
    pub arrays: Vec<WrittenArray>,
    /// Networks trained.
    pub networks: u64,
    /// About the networks.
    pub facts: Vec<TrainingFact>,
    /// The figures of a page.
    #[serde(skip)]
    pub figures: Vec<Drawing>,
}

impl RecordingDocument {
    /// Facts, the parts specific to the recipe, and the recording.
    pub(super) fn content_with(&self, own: impl IntoIterator<Item = Section>) -> Content {
        let trained = ("trained".to_owned(), self.networks.to_string());
        let facts = self.facts.iter().map(|fact| (fact.name.replace('-', " "), significant(fact.value.0, 4)));
        let facts = Table::of([trained].into_iter().chain(facts))
            .exact("networks", |fact| fact.0.clone())
            .exact("", |fact| fact.1.clone());
        let arrays = Table::of(&self.arrays)
            .words("array", |array| &array.name)
            .words("dtype", |array| array.dtype)
            .words("shape", |array| format!("{:?}", array.shape));
        let facts = Section::new("Networks").heading("").table(facts);
        let arrays = Section::new(one_line(&self.recording)).table(arrays);
        let sections = [facts].into_iter().chain(own).chain([arrays]).collect();
        let content = Content::new(&self.envelope, format!("{}\n{}", self.title, self.device), sections);
        Content { figures: self.figures.clone(), ..content }
    }
}

impl Document for RecordingDocument {
    fn content(&self, _: Form) -> Content {
        self.content_with([])
    }

    fn records(&self) -> Records<'_> {
        Records::of(&self.facts).column("name", |fact| fact.name).column("value", |fact| fact.value).into()
    }
}
