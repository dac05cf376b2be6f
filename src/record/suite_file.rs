//! Several studies in one file.

use super::fault::{fault, hinted, quoted};
use super::input_file::InputFile;
use super::study_options::{StudyOption, study_bytes, study_options};
use super::toml_keys::Keys;
use super::toml_text::TomlText;
use crate::error::{InputError, Result, echo};
use std::path::{Path, PathBuf};
use toml::de::DeTable;

/// Studies of one file, in their order.
#[derive(Debug, Clone)]
pub struct StudySuite {
    /// The file.
    pub input: InputFile,
    /// The studies.
    pub studies: Vec<SuiteStudy>,
}

/// One study of a file.
#[derive(Debug, Clone)]
pub struct SuiteStudy {
    /// Its name, unique in the file; without one, `COMMAND 2` for the second study.
    pub name: String,
    /// The command that answers it, such as `audit counts`.
    pub command: String,
    /// The options of the command.
    pub options: Vec<StudyOption>,
    /// Where the study begins in the file, counted from 1.
    pub line: usize,
}

const KIND: &str = "studies in TOML";
const HINT: &str = "a study is a table [[study]] with `command = \"audit counts\"` and the options of that command";
/// The keys that are not options.
const KEYS: [&str; 2] = ["name", "command"];

/// Reads a file of studies in TOML:
/// ```toml
/// [[study]]
/// name = "four teachers"
/// command = "exact"
/// histogram = [3, 1]
/// neighbor = [2, 2]
/// noise = "gaussian:2"
/// claim-epsilon = 1.5
/// ```
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when the file cannot be read; otherwise [`Error::Input`](crate::Error::Input), one
/// line that names file, place, what was found and what was expected. Options are checked by their command.
pub fn read_suite(path: impl AsRef<Path>) -> Result<StudySuite> {
    let file = path.as_ref();
    let (input, bytes) = study_bytes(file)?;
    let text = TomlText::of_bytes(file, &bytes, KIND)?;
    let table = DeTable::parse(text.text).map_err(|error| hinted(text.not_toml(&error, KIND), HINT))?;
    let keys = Keys::of(&text, table.get_ref())?;
    keys.check(&["study"])?;
    let mut studies: Vec<SuiteStudy> = Vec::new();
    for (line, keys) in keys.list("study")? {
        let study = study(&keys, line, studies.len() + 1)?;
        if let Some(first) = studies.iter().find(|first| first.name == study.name) {
            let found = format!("the name {} a second time, first in line {}", quoted(&study.name), first.line);
            return Err(keys.line_fault(line, found, "each name once").into());
        }
        studies.push(study);
    }
    if studies.is_empty() {
        return Err(hinted(fault(file, "whole file", "no study", "at least one table [[study]]"), HINT).into());
    }
    Ok(StudySuite { input, studies })
}

fn study(keys: &Keys<'_>, line: usize, number: usize) -> Result<SuiteStudy> {
    let Some((_, command)) = keys.text("command")? else {
        return Err(hinted(keys.line_fault(line, "a study without `command`", "the key `command`"), HINT).into());
    };
    let name = match keys.text("name")? {
        None => format!("{command} {number}"),
        Some((line, name)) if name.trim().is_empty() || name.contains(char::is_control) => {
            return Err(keys.fault(line, "name", quoted(&name), "a name on one line").into());
        }
        Some((_, name)) => name,
    };
    Ok(SuiteStudy { name, command, options: study_options(keys, &KEYS, &[])?, line })
}

impl SuiteStudy {
    /// What is wrong with this study of `file`.
    #[must_use]
    pub fn fault(&self, file: &Path, found: String) -> InputError {
        let command = echo(&self.command);
        InputError {
            file: PathBuf::from(file),
            place: format!("study `{}` from line {}", echo(&self.name), self.line),
            found,
            expected: format!("options of `{command}`"),
            hint: Some(format!("the help of `{command}` lists them")),
        }
    }
}
