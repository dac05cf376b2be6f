//! What an audit is asked, and what it answers.

use super::method::Method;
use crate::bound::{Direction, LowerBound};
use crate::quantity::{Delta, FailureProbability, Order};

/// What to bound, with which failure probability.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditPlan {
    /// Rényi orders.
    pub orders: Vec<Order>,
    /// δ of the ε bounds.
    pub delta: Delta,
    /// The probability with which any bound of one method on one query may be wrong: all orders, both directions and
    /// all output sets together.
    pub failure: FailureProbability,
    /// The methods.
    pub methods: Vec<Method>,
    /// The directions.
    pub directions: Vec<Direction>,
    /// The seed of the methods that draw random numbers: resamples, and the order of the outputs in an e-process.
    pub seed: u64,
    /// Resamples of the bootstrap; 10,000 are usual.
    pub resamples: usize,
}

/// A lower bound of a Rényi divergence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RdpBound {
    /// Which divergence.
    pub direction: Direction,
    /// Its order.
    pub order: Order,
    /// The bound.
    pub bound: LowerBound,
}

/// A lower bound of ε at δ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpsilonBound {
    /// Which inequality.
    pub direction: Direction,
    /// Its δ.
    pub delta: Delta,
    /// The bound.
    pub bound: LowerBound,
}

/// A method that was requested and does not apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skipped {
    /// The method.
    pub method: Method,
    /// What it needs.
    pub needs: &'static str,
}

/// The bounds of one query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QueryAudit {
    /// Rényi bounds: by method, direction and order.
    pub rdp: Vec<RdpBound>,
    /// ε bounds: by method and direction.
    pub epsilon: Vec<EpsilonBound>,
    /// Methods that need what the guide lacks.
    pub skipped: Vec<Skipped>,
}

impl QueryAudit {
    /// The Rényi bound of a method, direction and order.
    #[must_use]
    pub fn rdp_bound(&self, method: Method, direction: Direction, order: Order) -> Option<LowerBound> {
        self.rdp
            .iter()
            .find(|row| row.bound.method == method.name() && row.direction == direction && row.order == order)
            .map(|row| row.bound)
    }
}
