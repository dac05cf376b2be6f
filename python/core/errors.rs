//! Errors of the library as exceptions: the sentence that the command would print.

use leakbound_cli::Rejection;
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};

create_exception!(leakbound, Error, PyValueError, "What the library rejected, in one sentence.");
create_exception!(leakbound, InputError, Error, "Data were rejected, or could not be read.");
create_exception!(leakbound, UsageError, Error, "An argument was rejected.");

/// A rejection as an exception.
pub fn raised(rejection: &Rejection) -> PyErr {
    match rejection {
        Rejection::Usage(sentence) => UsageError::new_err(sentence.clone()),
        Rejection::Failed(error) => InputError::new_err(error.to_string()),
        Rejection::Interrupted => PyKeyboardInterrupt::new_err(()),
    }
}

/// An argument outside of its domain as an exception.
pub fn rejected(error: leakbound::Error) -> PyErr {
    UsageError::new_err(error.to_string())
}
