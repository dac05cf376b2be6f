//! The document of the recipes that train models and record what they answer.

use super::document::Document;
use super::envelope::Envelope;
use super::table::{TextTable, csv_text, warnings_text};
use crate::error::{Result, one_line};
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
}

impl RecordingDocument {
    /// Title and facts, what the recipe has to say of its own, the recording, and warnings.
    pub(super) fn text_with(&self, own: &str) -> String {
        let mut facts = TextTable::new(&["networks", ""], &[]);
        facts.row(vec!["trained".into(), self.networks.to_string()]);
        for fact in &self.facts {
            facts.row(vec![fact.name.replace('-', " "), significant(fact.value.0, 4)]);
        }
        let mut arrays = TextTable::new(&["array", "dtype", "shape"], &[0, 1, 2]);
        for array in &self.arrays {
            arrays.row(vec![array.name.clone(), array.dtype.into(), format!("{:?}", array.shape)]);
        }
        let Self { title, device, recording, .. } = self;
        let text = format!("{title}\n{device}\n\n{}\n{own}{}\n{}", facts.text(), one_line(recording), arrays.text());
        text + &warnings_text(&self.envelope.warnings)
    }
}

impl Document for RecordingDocument {
    fn text(&self) -> String {
        self.text_with("")
    }

    fn csv(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Row {
            name: &'static str,
            value: String,
        }
        csv_text(self.facts.iter().map(|fact| Row { name: fact.name, value: fact.value.text() }))
    }
}
