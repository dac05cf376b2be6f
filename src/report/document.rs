//! What all documents share.

use super::envelope::Envelope;
use super::page::Page;
use super::table::warnings_text;
use crate::error::{Result, breaks_line};
use crate::study::Answer;
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter};
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

/// A result in its forms.
pub trait Document: Serialize {
    /// Tables for a person.
    fn text(&self) -> String;

    /// One flat table for other programs.
    ///
    /// # Errors
    /// When the table cannot be written as CSV.
    fn csv(&self) -> Result<String>;

    /// A page with figures; without a page of its own a document shows its text there.
    fn page(&self) -> Page {
        Page::of_text(&self.text())
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
        let formatter = Escaped(PrettyFormatter::new());
        self.serialize(&mut serde_json::Serializer::with_formatter(&mut *writer, formatter))?;
        writer.write_all(b"\n")
    }
}

/// How an answer reads; with its envelope it is a [`Document`].
pub trait Render: Answer {
    /// Title and tables for a person, without the warnings.
    fn text(&self, title: &str) -> String;

    /// One flat table for other programs.
    ///
    /// # Errors
    /// When the table cannot be written as CSV.
    fn csv(&self) -> Result<String>;

    /// The page with figures, if it has one of its own.
    fn page(&self, _envelope: &Envelope, _title: &str) -> Option<Page> {
        None
    }
}

impl<A: Render> Document for Answered<A> {
    fn text(&self) -> String {
        self.answer.text(&self.title) + &warnings_text(&self.envelope.warnings)
    }

    fn csv(&self) -> Result<String> {
        self.answer.csv()
    }

    fn page(&self) -> Page {
        self.answer.page(&self.envelope, &self.title).unwrap_or_else(|| Page::of_text(&self.text()))
    }
}

/// Pretty JSON without characters that rewrite a terminal or cannot stand in a page: as `\u009b`, which reads back the
/// same.
struct Escaped(PrettyFormatter<'static>);

impl Formatter for Escaped {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        if !fragment.contains(breaks_line) {
            return writer.write_all(fragment.as_bytes());
        }
        for character in fragment.chars() {
            let mut bytes = [0; 4];
            let mut units = [0; 2];
            if !breaks_line(character) {
                writer.write_all(character.encode_utf8(&mut bytes).as_bytes())?;
                continue;
            }
            for unit in character.encode_utf16(&mut units) {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Named(Vec<&'static str>);

    impl Document for Named {
        fn text(&self) -> String {
            String::new()
        }

        fn csv(&self) -> Result<String> {
            Ok(String::new())
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
