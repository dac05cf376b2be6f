//! Faults that many plans and answers have in common.

use leakbound::error::{Error, Result};
use std::fmt::Display;

/// # Errors
/// [`Error::Domain`] for the first of these counts that is 0.
pub(super) fn check_counts(counts: impl IntoIterator<Item = (&'static str, usize)>) -> Result<()> {
    match counts.into_iter().find(|&(_, count)| count == 0) {
        Some((quantity, _)) => Err(Error::Domain { quantity, value: 0.0, domain: "[1, inf)" }),
        None => Ok(()),
    }
}

/// # Errors
/// [`Error::Domain`] for a number that is not inside its domain.
pub(super) fn check_range(quantity: &'static str, value: f64, inside: bool, domain: &'static str) -> Result<()> {
    if inside { Ok(()) } else { Err(Error::Domain { quantity, value, domain }) }
}

/// # Errors
/// [`Error::Domain`] for a number that is not positive, or is infinite.
pub(super) fn check_positive(quantity: &'static str, value: f64) -> Result<()> {
    check_range(quantity, value, value > 0.0 && value.is_finite(), "(0, inf)")
}

/// # Errors
/// [`Error::Rejected`], always.
pub(super) fn reject<T>(operation: &'static str, reason: impl Into<String>) -> Result<T> {
    Err(Error::Rejected { operation, reason: reason.into() })
}

/// The error for a failure of libtorch, or for an unexpected shape of its result.
pub(super) fn unavailable<E: Display>(operation: &'static str) -> impl Fn(E) -> Error {
    move |error| Error::Unavailable { operation, reason: error.to_string() }
}
