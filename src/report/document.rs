//! What all documents share.

use super::page::Page;
use crate::error::Result;
use crate::record::InputFile;
use serde::Serialize;
use serde_json::Value;
use std::io::{self, Write};

/// Something the reader must know: an enum of cases would hide the measured number, so the message carries it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// Stable name of the kind of warning.
    pub code: &'static str,
    /// What was found, with its number.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// The part of a document that does not depend on the command.
#[derive(Debug, Clone, Serialize)]
pub struct Envelope {
    /// `leakbound.<command>/1`.
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// Every input file with its size and SHA-256.
    pub inputs: Vec<InputFile>,
    /// Every option, defaults included.
    pub options: Value,
    /// The seed, where random numbers were drawn.
    pub seed: u64,
    /// Warnings.
    pub warnings: Vec<Warning>,
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
        let mut text = serde_json::to_string_pretty(self).unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}"));
        text.push('\n');
        text
    }

    /// Writes the documented JSON piece by piece: that of many queries is larger than everything it is made from.
    ///
    /// # Errors
    /// Those of the writer.
    fn write_json(&self, writer: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *writer, self)?;
        writer.write_all(b"\n")
    }
}
