//! Errors of the library as exceptions of the package.

use leakbound_cli::Rejection;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::{PyErr, import_exception};

import_exception!(leakbound._errors, Error);
import_exception!(leakbound._errors, InputError);
import_exception!(leakbound._errors, UsageError);

/// A rejection as an exception, with the parameter that is to blame.
pub fn raised(rejection: Rejection) -> PyErr {
    match rejection {
        Rejection::Usage { parameter, sentence } => UsageError::new_err((sentence, parameter)),
        Rejection::Failed(error) => InputError::new_err(error.to_string()),
        Rejection::Interrupted => PyKeyboardInterrupt::new_err(()),
    }
}

/// An argument outside of its domain as an exception.
pub fn rejected(error: leakbound::Error) -> PyErr {
    UsageError::new_err(error.to_string())
}
