//! The privacy loss of one token, and the reason why it is invalid.

use crate::error::Error;

pub(super) const OPERATION: &str = "audit of tokens";

/// ln(p/q), of probabilities that are not both 0.
pub(super) fn privacy_loss(p: f64, q: f64) -> f64 {
    let change = (p - q) / q;
    if change.abs() < 0.5 { change.ln_1p() } else { p.ln() - q.ln() }
}

pub(super) fn rejected(why: &str) -> Error {
    Error::rejected(OPERATION, why)
}
