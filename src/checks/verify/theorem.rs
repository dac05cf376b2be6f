//! A theorem of this crate as an accountant under test.

use super::accountant::{Accountant, AccountantAnswer, ClaimScope};
use super::curve::ORDERS;
use super::request::{Question, Request};
use crate::accountant::{self, Statement, Theorem, WorstCases};
use crate::bound::{Direction, Directions};
use crate::divergence::{Conversion, delta_of_rdp};
use crate::mechanism::MechanismKind;
use crate::quantity::Order;
use std::sync::LazyLock;

/// The bound of a theorem for independent outputs, composed by sums and converted at the best order of a grid.
pub(super) struct TheoremAccountant {
    name: String,
    statement: &'static Statement,
    mechanisms: Vec<&'static MechanismKind>,
    conversion: Conversion,
    known: WorstCases,
}

/// Any orders give a valid bound; every third costs a third of the time if an order takes milliseconds.
static FEWER_ORDERS: LazyLock<Vec<Order>> = LazyLock::new(|| ORDERS.iter().copied().step_by(3).collect());

impl TheoremAccountant {
    pub(super) fn new(
        name: &str,
        statement: &'static Statement,
        mechanisms: Vec<&'static MechanismKind>,
        conversion: Conversion,
    ) -> Self {
        Self { name: name.into(), statement, mechanisms, conversion, known: WorstCases::default() }
    }

    /// The promise at each order, in all directions that the theorem covers.
    fn values(&self, theorem: &Theorem, orders: &[Order], repetitions: f64) -> Vec<f64> {
        let directions = Direction::BOTH.into_iter().filter_map(|direction| theorem.values(orders, direction));
        let largest = |a: Vec<f64>, b: Vec<f64>| a.into_iter().zip(b).map(|(a, b)| a.max(b)).collect();
        let values = directions.reduce(largest).unwrap_or_else(|| vec![f64::INFINITY; orders.len()]);
        values.into_iter().map(|value| repetitions * value).collect()
    }

    fn is_searched(&self) -> bool {
        self.statement.gap > 1e-6
    }
}

impl Accountant for TheoremAccountant {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn answer(&self, request: &Request) -> AccountantAnswer {
        let kind = request.mechanism.kind();
        if !self.mechanisms.contains(&kind) {
            return AccountantAnswer::Declined(format!("{} is not a mechanism of {}", kind, self.name));
        }
        let theorems = request.mechanism.theorems_for(&request.histogram, &self.known);
        let Some(theorem) = theorems.iter().find(|theorem| theorem.statement() == self.statement) else {
            return AccountantAnswer::Declined("no bound for this request".into());
        };
        let repetitions = f64::from(request.repetitions);
        let orders: &[Order] = if self.is_searched() { &FEWER_ORDERS } else { &ORDERS };
        let smallest = |convert: &dyn Fn(f64, Order) -> f64, from: f64| -> f64 {
            let values = self.values(theorem, orders, repetitions);
            values.iter().zip(orders).map(|(rdp, order)| convert(*rdp, *order)).fold(from, f64::min)
        };
        AccountantAnswer::Value(match request.question {
            Question::Order(order) => self.values(theorem, &[order], repetitions)[0],
            Question::Delta(delta) => {
                smallest(&|rdp, order| self.conversion.epsilon(rdp, order, delta).get(), f64::INFINITY)
            }
            Question::Epsilon(epsilon) => smallest(&|rdp, order| delta_of_rdp(rdp, order, epsilon), 1.0),
        })
    }

    fn mechanisms(&self) -> Vec<&'static MechanismKind> {
        self.mechanisms.clone()
    }

    fn scope(&self) -> ClaimScope {
        match (self.statement.scope, self.statement.directions) {
            (accountant::Scope::AnyData, _) => ClaimScope::DataIndependent,
            (accountant::Scope::TheseData, Directions::Both) => ClaimScope::DataDependent,
            (accountant::Scope::TheseData, Directions::Forward) => ClaimScope::DataDependentForward,
        }
    }

    fn precision(&self) -> f64 {
        self.statement.gap
    }
}
