//! Presentation of the answer of `leakbound property meta-classifier`, and the document of its training recipe.

use super::content::Content;
use super::document::{Document, Render};
use super::recording::RecordingDocument;
use super::records::{Records, fields};
use super::section::{Form, Section, Table};
use crate::study::{Answer, MetaClassifierAnswer, Number, percent, significant};
use easy_ext::ext;
use serde::Serialize;

#[ext]
impl MetaClassifierAnswer {
    fn tables(&self) -> [Section; 2] {
        let attacks = Table::of(&self.attacks)
            .words("attack", |row| row.attack)
            .exact("networks", |row| row.networks)
            .exact("right", |row| row.right)
            .percent("accuracy", |row| row.accuracy)
            .percent("at least", |row| row.lower)
            .percent("at most", |row| row.upper)
            .number("p-value", 3, |row| row.p_value);
        let pairs = Table::of(&self.pairs)
            .words("attack", |row| row.first)
            .words("and", |row| row.second)
            .exact("only the first is right", |row| row.only_first)
            .exact("only the second", |row| row.only_second)
            .number("p-value", 3, |row| row.p_value);
        let heading = format!(
            "Inferred property values; a guess gets {} right (intervals hold together except with probability {})",
            percent(self.guessing),
            significant(self.failure_probability.0, 3)
        );
        [
            Section::new("Attacks").heading(heading).table(attacks),
            Section::new("Attacks on the same networks").table(pairs),
        ]
    }
}

impl Render for MetaClassifierAnswer {
    fn sections(&self, _: Form) -> Vec<Section> {
        self.tables().into()
    }

    fn meaning(&self) -> Vec<String> {
        vec![
            "Each attack was made on networks that took no part in its training. The accuracy is that of the attack as it \
             was trained, on networks that are trained as these were."
                .into(),
            "The p-value of an attack is the probability of at least as many right answers if the property had nothing \
             to do with them. That of a pair is the probability that, among the networks on which only one attack is \
             right, this many favor the same attack if both are equally accurate."
                .into(),
        ]
    }

    fn records(&self) -> Records<'_> {
        Records::of(&self.attacks)
            .column("attack", |row| row.attack.name())
            .columns(fields!(row => networks, right))
            .column("accuracy", |row| Number(row.accuracy))
            .column("lower", |row| Number(row.lower))
            .column("upper", |row| Number(row.upper))
            .column("p_value", |row| Number(row.p_value))
            .into()
    }
}

/// Networks that were trained and recorded, with what attacks infer from them.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetaClassifierDocument {
    /// The fields that every recipe has.
    #[serde(flatten)]
    pub recording: RecordingDocument,
    /// What was inferred.
    #[serde(flatten)]
    pub answer: MetaClassifierAnswer,
}

impl MetaClassifierDocument {
    /// Both together; the warnings of the answer become those of the document.
    #[must_use]
    pub fn new(mut recording: RecordingDocument, answer: MetaClassifierAnswer) -> Self {
        recording.envelope.warnings.extend_from_slice(answer.warnings());
        Self { recording, answer }
    }
}

impl Document for MetaClassifierDocument {
    fn content(&self, form: Form) -> Content {
        let mut content = self.recording.content_with(self.answer.tables());
        if form == Form::Page {
            content.meaning = self.answer.meaning();
        }
        content
    }

    fn records(&self) -> Records<'_> {
        self.answer.records()
    }
}
