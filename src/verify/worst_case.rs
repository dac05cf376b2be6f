//! The tight worst case of GNMax as an accountant under test.

use super::accountant::{Accountant, Answer, Scope};
use super::curve::ORDERS;
use super::request::{Mechanism, MechanismKind, Question, Request};
use crate::accountant::{gnmax_worst_case, gnmax_worst_case_curve};
use crate::divergence::{delta_of_rdp, epsilon_of_rdp};
use crate::histogram::Adjacency;
use crate::quantity::{NoiseScale, Order};
use std::sync::LazyLock;

/// [`gnmax_worst_case`], which takes milliseconds for an order: the orders of a curve are searched together.
pub(super) struct WorstCaseAccountant;

impl WorstCaseAccountant {
    pub(super) const NAME: &'static str = "gnmax-worst-case";
}

/// Any orders give a valid bound; every third costs a third of the time.
static FEWER_ORDERS: LazyLock<Vec<Order>> = LazyLock::new(|| ORDERS.iter().copied().step_by(3).collect());

/// The smallest of a conversion over the orders, for so many outputs.
fn smallest(sigma: NoiseScale, repetitions: f64, from: f64, convert: impl Fn(f64, Order) -> f64) -> f64 {
    let curve = gnmax_worst_case_curve(&FEWER_ORDERS, sigma, Adjacency::Moved);
    curve.iter().map(|worst| convert(repetitions * worst.upper, worst.order)).fold(from, f64::min)
}

impl Accountant for WorstCaseAccountant {
    fn name(&self) -> String {
        Self::NAME.into()
    }

    fn answer(&self, request: &Request) -> Answer {
        let Mechanism::Gnmax { sigma } = request.mechanism else {
            let kind = request.mechanism.kind().name();
            return Answer::Declined(format!("{kind} is no mechanism of {}", Self::NAME));
        };
        let repetitions = f64::from(request.repetitions);
        Answer::Value(match request.question {
            Question::Order(order) => repetitions * gnmax_worst_case(order, sigma, Adjacency::Moved).upper,
            Question::Delta(delta) => {
                smallest(sigma, repetitions, f64::INFINITY, |rdp, order| epsilon_of_rdp(rdp, order, delta).get())
            }
            Question::Epsilon(epsilon) => {
                smallest(sigma, repetitions, 1.0, |rdp, order| delta_of_rdp(rdp, order, epsilon))
            }
        })
    }

    fn mechanisms(&self) -> Vec<MechanismKind> {
        vec![MechanismKind::Gnmax]
    }

    fn scope(&self) -> Scope {
        Scope::DataIndependent
    }

    /// The gap of the enclosure.
    fn precision(&self) -> f64 {
        2e-3
    }
}
