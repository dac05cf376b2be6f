//! Errors of the library as exceptions of the package.

use leakbound::record::MemoryFiles;
use leakbound_cli::Rejection;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::{PyErr, import_exception};

import_exception!(leakbound._errors, Error);
import_exception!(leakbound._errors, InputError);
import_exception!(leakbound._errors, UsageError);

/// A rejection as an exception, with the parameter that is to blame: of a file in memory, the argument that it was.
pub fn raised(rejection: Rejection, files: &MemoryFiles) -> PyErr {
    match rejection {
        Rejection::Usage { parameter, sentence } => UsageError::new_err((sentence, parameter)),
        Rejection::Failed(leakbound::Error::Input(input)) if files.contains(&input.file) => {
            let (name, text) = (input.file.with_extension(""), input.to_string());
            let sentence = text.split_once(": ").map_or(&*text, |(_file, sentence)| sentence);
            InputError::new_err((sentence.to_owned(), name.to_string_lossy().trim_start_matches('_').to_owned()))
        }
        Rejection::Failed(error) => InputError::new_err(error.to_string()),
        Rejection::Interrupted => PyKeyboardInterrupt::new_err(()),
    }
}

/// An argument outside of its domain as an exception.
pub fn rejected(error: leakbound::Error) -> PyErr {
    UsageError::new_err(error.to_string())
}
