//! Where something is in a file.

use super::fault::fault;
use crate::error::InputError;
use std::path::Path;

/// A place in a file, for messages.
pub(super) struct Place<'a> {
    pub(super) file: &'a Path,
    pub(super) name: String,
}

impl Place<'_> {
    /// The error of something found here.
    pub(super) fn fault(&self, found: impl Into<String>, expected: impl Into<String>) -> InputError {
        fault(self.file, self.name.clone(), found, expected)
    }

    /// A place inside this one.
    pub(super) fn member(&self, name: &str) -> Self {
        Self { file: self.file, name: format!("{}.{name}", self.name) }
    }
}
