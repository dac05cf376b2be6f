//! What an audit bounds, and by which methods.

use super::claim::Claims;
use crate::audit::{AuditPlan, FailurePer, Guide, Method, Recommendation, recommend};
use crate::bound::Direction;
use crate::counts::PairedCounts;
use crate::error::{Error, Result};
use crate::quantity::{Delta, FailureProbability, Order};
use serde::Serialize;

/// The methods of an audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Methods {
    /// What is recommended for each query.
    Auto,
    /// All that apply.
    All,
    /// The named ones.
    Named(Vec<Method>),
}

impl Serialize for Methods {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::All => serializer.collect_seq(Method::ALL.map(Method::name)),
            Self::Named(methods) => serializer.collect_seq(methods.iter().map(|method| method.name())),
        }
    }
}

/// What an audit bounds.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// Rényi orders.
    pub orders: Vec<Order>,
    /// δ of the ε bounds.
    pub delta: Delta,
    /// Which divergences.
    pub directions: Vec<Direction>,
    /// The probability that any number with a finite-sample guarantee in the answer is wrong.
    pub failure_probability: FailureProbability,
    /// Whether it is for the whole answer, or for each method on each query.
    pub failure_per: FailurePer,
    /// The methods.
    pub methods: Methods,
    /// Resamples of the bootstrap methods.
    pub resamples: usize,
    /// Claims to test.
    pub claims: Claims,
}

/// The Rényi orders of an answer unless others are named.
pub(super) fn usual_orders() -> Vec<Order> {
    [2.0, 4.0, 8.0, 16.0, 32.0, 64.0].map(|order| Order::new(order).expect("an order")).to_vec()
}

/// δ unless another one is named: 1e-5.
pub(super) fn usual_delta() -> Delta {
    Delta::new(1e-5).expect("a δ")
}

/// The failure probability unless another one is named: 0.05.
pub(super) fn usual_failure() -> FailureProbability {
    FailureProbability::new(0.05).expect("a failure probability")
}

impl Default for Bounds {
    /// The orders 2, 4, 8, 16, 32 and 64, δ = 1e-5 and a failure probability of 0.05.
    fn default() -> Self {
        Self::new(usual_orders(), usual_delta(), usual_failure())
    }
}

impl Bounds {
    /// Bounds of both directions by the recommended methods, at one failure probability for the whole answer; no
    /// claims.
    #[must_use]
    pub fn new(orders: Vec<Order>, delta: Delta, failure_probability: FailureProbability) -> Self {
        Self {
            orders,
            delta,
            directions: Direction::BOTH.to_vec(),
            failure_probability,
            failure_per: FailurePer::Answer,
            methods: Methods::Auto,
            resamples: 10_000,
            claims: Claims::default(),
        }
    }

    /// The plan of one query: the numbers of samples of `counts` are looked at, never the counts.
    pub(crate) fn plan(
        &self,
        counts: &PairedCounts,
        guide: &Guide,
        failure: FailureProbability,
        seed: u64,
    ) -> Result<(AuditPlan, Option<Recommendation>)> {
        let plan = AuditPlan {
            orders: self.orders.clone(),
            delta: self.delta,
            failure,
            methods: Vec::new(),
            directions: self.directions.clone(),
            seed,
            resamples: self.resamples,
        };
        let (methods, recommendation) = match &self.methods {
            Methods::All => (Method::ALL.to_vec(), None),
            Methods::Named(methods) => {
                if let Some((method, needs)) = methods.iter().find_map(|&method| Some((method, guide.lacks(method)?))) {
                    let reason = format_args!("{method} needs {needs}; a pilot fraction of 0.1 sets a pilot aside");
                    return Err(Error::rejected("audit", reason));
                }
                (methods.clone(), None)
            }
            Methods::Auto => {
                let found = recommend(guide, [counts.trials(), counts.trials_neighbor()], &plan)?;
                (vec![found.renyi, found.epsilon], Some(found))
            }
        };
        Ok((AuditPlan { methods, ..plan }, recommendation))
    }
}
