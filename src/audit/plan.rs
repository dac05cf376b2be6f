//! The request and the result of an audit.

use super::Method;
use crate::bound::{Direction, LowerBound};
use crate::error::{Error, Result};
use crate::quantity::{Delta, FailureProbability, Order};

/// What to bound, and with which failure probability.
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
    /// Number of resamples of the bootstrap, usually 10,000.
    pub resamples: usize,
}

/// A lower bound of a Rényi divergence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RdpBound {
    /// The direction of the divergence.
    pub direction: Direction,
    /// Its order.
    pub order: Order,
    /// The bound.
    pub bound: LowerBound,
}

/// A lower bound of ε at δ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpsilonBound {
    /// The direction of the inequality.
    pub direction: Direction,
    /// Its δ.
    pub delta: Delta,
    /// The bound.
    pub bound: LowerBound,
}

/// A requested method that does not apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The method.
    pub method: Method,
    /// Why, such as a missing requirement.
    pub reason: String,
}

/// The bounds of one query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QueryAudit {
    /// Rényi bounds: by method, direction and order.
    pub rdp: Vec<RdpBound>,
    /// ε bounds: by method and direction.
    pub epsilon: Vec<EpsilonBound>,
    /// Methods that need something missing from the guide, or that do not reach this far.
    pub skipped: Vec<Skipped>,
}

impl QueryAudit {
    /// Combines the bounds of several methods into one audit, in their order.
    ///
    /// A method that reaches a limit is [skipped](Self::skipped), so the results of the others are not lost.
    ///
    /// # Errors
    /// The first error that is not such a limit, or the first error if no method is left.
    pub fn of_methods(methods: &[Method], found: Vec<Result<Self>>) -> Result<Self> {
        let mut audit = Self::default();
        let none_left = found.iter().all(Result::is_err);
        for (&method, one) in methods.iter().zip(found) {
            match one {
                Ok(one) => {
                    audit.rdp.extend(one.rdp);
                    audit.epsilon.extend(one.epsilon);
                    audit.skipped.extend(one.skipped);
                }
                Err(Error::Rejected { reason, .. }) if !none_left => audit.skipped.push(Skipped { method, reason }),
                Err(error) => return Err(error),
            }
        }
        Ok(audit)
    }

    /// The Rényi bound of a method, direction and order.
    #[must_use]
    pub fn rdp_bound(&self, method: Method, direction: Direction, order: Order) -> Option<LowerBound> {
        self.rdp
            .iter()
            .find(|row| row.bound.method == method.name() && row.direction == direction && row.order == order)
            .map(|row| row.bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_at_its_limit_is_skipped_where_another_is_not() {
        let limit = || Err(Error::rejected("bootstrap", "too many outcomes"));
        let methods = [Method::BootstrapKCut, Method::KCutBox];
        let audit = QueryAudit::of_methods(&methods, vec![limit(), Ok(QueryAudit::default())]).unwrap();
        assert_eq!(audit.skipped, [Skipped { method: Method::BootstrapKCut, reason: "too many outcomes".into() }]);
        let none = QueryAudit::of_methods(&methods, vec![limit(), limit()]).unwrap_err();
        assert_eq!(none.to_string(), "bootstrap: too many outcomes");
        // An error in the request is not a limit.
        let wrong = Err(Error::length("counts", 2, "3 outcomes"));
        assert!(QueryAudit::of_methods(&methods, vec![wrong, Ok(QueryAudit::default())]).is_err());
    }
}
