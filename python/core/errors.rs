//! Errors of the library as exceptions: the sentence that the command would print.

use leakbound_cli::Refusal;
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};

create_exception!(leakbound, Error, PyValueError, "What the library refused, in one sentence.");
create_exception!(leakbound, InputError, Error, "Data were refused, or could not be read.");
create_exception!(leakbound, UsageError, Error, "An argument was refused.");

/// A refusal as an exception.
pub fn raised(refusal: &Refusal) -> PyErr {
    match refusal {
        Refusal::Usage(sentence) => UsageError::new_err(sentence.clone()),
        Refusal::Failed(error) => InputError::new_err(error.to_string()),
        Refusal::Interrupted => PyKeyboardInterrupt::new_err(()),
    }
}

/// An argument outside of its domain as an exception.
pub fn refused(error: leakbound::Error) -> PyErr {
    UsageError::new_err(error.to_string())
}
