//! What all documents share.

use super::content::Content;
use super::envelope::Envelope;
use super::figure::Drawing;
use super::page::Page;
use super::records::Records;
use super::section::{Form, Section};
use super::text::text;
use crate::error::{Result, breaks_line};
use crate::study::{Answer, Claim};
use serde::Serialize;
use std::io::{self, Write};

/// The answer of a study with the part that does not depend on it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answered<A> {
    /// The common part.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// What was studied, in words: the first lines of the text, unless the answer has its own.
    #[serde(skip)]
    pub title: String,
    /// The answer.
    #[serde(flatten)]
    pub answer: A,
}

/// A result in its forms. Each form is written once, from the parts of the result.
pub trait Document: Serialize {
    /// What a reader sees. Figures and meaning are for pages only.
    fn content(&self, form: Form) -> Content;

    /// One flat table for other programs.
    fn records(&self) -> Records<'_>;

    /// Tables for a person.
    fn text(&self) -> String {
        text(&self.content(Form::Text))
    }

    /// The flat table as CSV.
    ///
    /// # Errors
    /// When the table cannot be written as CSV.
    fn csv(&self) -> Result<String> {
        self.records().csv()
    }

    /// A page with tables and figures.
    fn page(&self) -> Page {
        Page::new(self.content(Form::Page))
    }

    /// The documented JSON.
    fn json(&self) -> String {
        let mut text = Vec::new();
        let written = self.write_json(&mut text).map_err(|error| error.to_string());
        let text = written.and_then(|()| String::from_utf8(text).map_err(|error| error.to_string()));
        text.unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}\n"))
    }

    /// Writes the documented JSON piece by piece: that of many queries is larger than everything it is made from.
    ///
    /// # Errors
    /// Those of the writer.
    fn write_json(&self, writer: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(Escaped(&mut *writer), self)?;
        writer.write_all(b"\n")
    }
}

/// Presentation of an answer; with its envelope it is a [`Document`].
pub trait Render: Answer {
    /// Headline, and lines below it; `title` names what was studied.
    fn title(&self, title: &str) -> String {
        title.to_owned()
    }

    /// The parts of the answer, without claims and warnings.
    fn sections(&self, form: Form) -> Vec<Section>;

    /// What refutes a claim, if its number does not show it.
    fn refuted_by(&self, _claim: &Claim) -> Option<&'static str> {
        None
    }

    /// The figures of the page.
    fn figures(&self) -> Vec<Drawing> {
        Vec::new()
    }

    /// What the numbers mean, a paragraph each.
    fn meaning(&self) -> Vec<String> {
        Vec::new()
    }

    /// One flat table for other programs.
    fn records(&self) -> Records<'_>;
}

impl<A: Render> Document for Answered<A> {
    fn content(&self, form: Form) -> Content {
        let Self { envelope, title, answer } = self;
        let mut content = Content::new(envelope, answer.title(title), answer.sections(form));
        let refuted_by = |claim: &Claim| answer.refuted_by(claim).filter(|_| claim.refuted);
        content.claims = answer.claims().iter().map(|claim| (claim.clone(), refuted_by(claim))).collect();
        // They take longer than all the rest.
        if form == Form::Page {
            content.figures = answer.figures();
            content.meaning = answer.meaning();
        }
        content
    }

    fn records(&self) -> Records<'_> {
        self.answer.records()
    }
}

/// Writes JSON with escapes such as `\u009b`, which reads back the same, for characters that rewrite a terminal or that
/// a page cannot hold. The writer of JSON passes whole strings, and breaks lines only outside of them.
struct Escaped<'a>(&'a mut dyn Write);

impl Write for Escaped<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let escaped = |character| breaks_line(character) && character != '\n';
        // Looking at bytes is fast, and hardly any need more.
        let plain = bytes.iter().all(|byte| matches!(byte, b'\n' | b' '..=b'~'));
        let text = if plain { None } else { std::str::from_utf8(bytes).ok().filter(|text| text.contains(escaped)) };
        let Some(text) = text else {
            self.0.write_all(bytes)?;
            return Ok(bytes.len());
        };
        for character in text.chars() {
            if escaped(character) {
                let mut units = [0; 2];
                character.encode_utf16(&mut units).iter().try_for_each(|unit| write!(self.0, "\\u{unit:04x}"))?;
            } else {
                write!(self.0, "{character}")?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Named(Vec<&'static str>);

    impl Document for Named {
        fn content(&self, _: Form) -> Content {
            unreachable!("only JSON is written")
        }

        fn records(&self) -> Records<'_> {
            unreachable!("only JSON is written")
        }
    }

    #[test]
    fn json_shows_no_character_that_rewrites_a_terminal() {
        let name = "a\u{7f}\u{9b}2J\u{202e}\u{ffff}\u{1fffe}é\n";
        let escaped = Named(vec![name]).json();
        assert_eq!(escaped, "[\n  \"a\\u007f\\u009b2J\\u202e\\uffff\\ud83f\\udffeé\\n\"\n]\n");
        assert_eq!(serde_json::from_str::<Vec<String>>(&escaped).unwrap(), [name]);
    }
}
