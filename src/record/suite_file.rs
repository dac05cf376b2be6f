//! Several studies in one file.

use super::fault::{fault, hinted, unreadable};
use super::input_file::{Digested, InputFile, open};
use crate::error::{InputError, Result};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::io::Read;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// The largest file.
const MAX_BYTES: u64 = 1 << 20;

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
    /// Its name; `COMMAND 2` for the second study of a file if it has none.
    pub name: String,
    /// The command that answers it, such as `audit counts`.
    pub command: String,
    /// The options of the command.
    pub options: Map<String, Value>,
    /// Where the study begins in the file, counted from 1.
    pub line: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "tables [[study]]")]
struct Keys {
    study: Vec<Spanned<Study>>,
}

#[derive(Deserialize)]
#[serde(expecting = "a study with the key `command`")]
struct Study {
    name: Option<String>,
    command: String,
    #[serde(flatten)]
    options: Map<String, Value>,
}

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
    let (mut digested, mut bytes) = (Digested::new(open(file)?), Vec::new());
    (&mut digested).take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|source| unreadable(file, source))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(fault(file, "whole file", "more than 1 MiB", "studies in at most 1 MiB of TOML").into());
    }
    let input = digested.finish_unchanged(file)?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let line = line_of(&bytes, error.valid_up_to());
        hinted(fault(file, format!("line {line}"), "bytes that are no UTF-8", "studies in TOML"), "save it as UTF-8")
    })?;
    let keys: Keys = toml::from_str(text).map_err(|error| explain(file, &bytes, &error))?;
    if keys.study.is_empty() {
        return Err(fault(file, "whole file", "no study", "at least one table [[study]]").into());
    }
    let studies = keys.study.into_iter().enumerate().map(|(index, study)| {
        let line = line_of(&bytes, study.span().start);
        let Study { name, command, options } = study.into_inner();
        SuiteStudy { name: name.unwrap_or_else(|| format!("{command} {}", index + 1)), command, options, line }
    });
    Ok(StudySuite { input, studies: studies.collect() })
}

fn line_of(bytes: &[u8], end: usize) -> usize {
    1 + bytes[..end].iter().filter(|&&byte| byte == b'\n').count()
}

fn explain(file: &Path, bytes: &[u8], error: &toml::de::Error) -> InputError {
    let place =
        error.span().map_or_else(|| "whole file".to_owned(), |span| format!("line {}", line_of(bytes, span.start)));
    let message = error.message().lines().collect::<Vec<_>>().join(", ");
    let hint = "a study is a table [[study]] with `command = \"audit counts\"` and the options of that command";
    hinted(fault(file, place, message, "studies in TOML"), hint)
}

impl SuiteStudy {
    /// What is wrong with this study of `file`.
    #[must_use]
    pub fn fault(&self, file: &Path, found: String) -> InputError {
        InputError {
            file: PathBuf::from(file),
            place: format!("study `{}` from line {}", self.name, self.line),
            found,
            expected: format!("options of `leakbound {}`", self.command),
            hint: Some(format!("`leakbound {} --help` lists them", self.command)),
        }
    }
}
