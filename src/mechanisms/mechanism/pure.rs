//! The guarantees of ε alone.

use crate::accountant::{Statement, Theorem, k_ary_randomized_response_rdp};
use crate::quantity::{Epsilon, Order};

/// ε if it is finite and thus a guarantee.
pub(super) fn finite(epsilon: f64) -> Option<Epsilon> {
    Epsilon::new(epsilon).ok().filter(|epsilon| *epsilon != Epsilon::INFINITE)
}

/// The largest divergence at a pure ε, attained by binary randomized response.
pub(super) fn pure_rdp(order: Order, epsilon: Epsilon) -> f64 {
    k_ary_randomized_response_rdp(order, epsilon, 2).unwrap_or(f64::INFINITY)
}

/// The theorem of a mechanism with this pure ε; `None` if ε overflows: an infinite ε is not a guarantee.
pub(super) fn pure_theorem(statement: &'static Statement, epsilon: f64) -> Option<Theorem> {
    let epsilon = finite(epsilon)?;
    Some(Theorem::alike(statement, move |order| pure_rdp(order, epsilon)))
}
