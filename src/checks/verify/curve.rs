//! An accountant made of an RDP curve, a way to compose it and a way to convert it.

use super::accountant::{Accountant, AccountantAnswer, ClaimScope};
use super::request::{Question, Request};
use crate::divergence::{delta_of_rdp, epsilon_of_rdp, order_grid};
use crate::histogram::VoteHistogram;
use crate::mechanism::{Mechanism, MechanismKind};
use crate::quantity::{Delta, Epsilon, Order};
use std::sync::LazyLock;

/// RDP of one output at an order; None for a mechanism it is not made for.
pub(super) type Rdp = fn(&dyn Mechanism, &VoteHistogram, Order) -> Option<f64>;
/// RDP of this many outputs, from that of one.
pub(super) type Compose = fn(f64, u32) -> f64;
/// ε at δ of an RDP value at an order.
pub(super) type ToEpsilon = fn(f64, Order, Delta) -> f64;
/// δ at ε of an RDP value at an order.
pub(super) type ToDelta = fn(f64, Order, Epsilon) -> f64;

/// The parts of an accountant; each can be replaced by a wrong one.
#[derive(Clone, Copy)]
pub(super) struct CurveAccountant {
    pub name: &'static str,
    pub mechanisms: &'static [&'static MechanismKind],
    pub scope: ClaimScope,
    pub rdp: Rdp,
    pub compose: Compose,
    pub to_epsilon: ToEpsilon,
    pub to_delta: ToDelta,
}

/// Every fourth order of the usual grid up to 1,000: any orders give a valid bound.
pub(super) static ORDERS: LazyLock<Vec<Order>> =
    LazyLock::new(|| order_grid().into_iter().step_by(4).take_while(|order| order.get() <= 1e3).collect());

impl CurveAccountant {
    /// The correct way to compose and to convert.
    pub(super) const fn new(
        name: &'static str,
        mechanisms: &'static [&'static MechanismKind],
        scope: ClaimScope,
        rdp: Rdp,
    ) -> Self {
        Self { name, mechanisms, scope, rdp, compose: add, to_epsilon: improved, to_delta: delta_of_rdp }
    }

    fn value(&self, request: &Request) -> Option<f64> {
        let at = |order: Order| {
            let one = (self.rdp)(&*request.mechanism, &request.histogram, order)?;
            Some((self.compose)(one, request.repetitions))
        };
        let smallest = |convert: &dyn Fn(f64, Order) -> f64, from: f64| -> Option<f64> {
            ORDERS.iter().try_fold(from, |least, &order| Some(convert(at(order)?, order).min(least)))
        };
        match request.question {
            Question::Order(order) => at(order),
            Question::Delta(delta) => smallest(&|rdp, order| (self.to_epsilon)(rdp, order, delta), f64::INFINITY),
            Question::Epsilon(epsilon) => smallest(&|rdp, order| (self.to_delta)(rdp, order, epsilon), 1.0),
        }
    }
}

impl Accountant for CurveAccountant {
    fn name(&self) -> String {
        self.name.into()
    }

    fn answer(&self, request: &Request) -> AccountantAnswer {
        if !self.mechanisms.contains(&request.mechanism.kind()) {
            return AccountantAnswer::Declined(format!(
                "{} is not a mechanism of {}",
                request.mechanism.kind(),
                self.name
            ));
        }
        self.value(request)
            .map_or_else(|| AccountantAnswer::Declined("no bound for this request".into()), AccountantAnswer::Value)
    }

    fn mechanisms(&self) -> Vec<&'static MechanismKind> {
        self.mechanisms.to_vec()
    }

    fn scope(&self) -> ClaimScope {
        self.scope
    }
}

/// Independent outputs add.
pub(super) fn add(rdp: f64, repetitions: u32) -> f64 {
    rdp * f64::from(repetitions)
}

fn improved(rdp: f64, order: Order, delta: Delta) -> f64 {
    epsilon_of_rdp(rdp, order, delta).get()
}
