//! One voter who answers at random.

use crate::accountant::{Statement, Theorem, k_ary_randomized_response_rdp, randomized_response_rdp};
use crate::error::{Error, Result};
use crate::law::{OutcomeLaw, OutputPair};
use crate::quadrature::LogIntegral;
use crate::quantity::{Epsilon, Probability};

/// The truth is e^ε times as likely as each other answer. Neighbors differ in the truth.
///
/// ```
/// # use leakbound::{Direction, Epsilon, Order, RandomizedResponse};
/// let mechanism = RandomizedResponse::new(Epsilon::new(1.0)?, 3)?;
/// let order = Order::new(2.0)?;
/// let exact = mechanism.output_pair(0, 1)?.renyi(Direction::Forward, order);
/// for theorem in mechanism.theorems() {
///     let bound = theorem.at(order, Direction::Forward).unwrap().value;
///     assert!(exact <= bound && bound < exact * (1.0 + 1e-12));
/// }
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Warner (1965); Kairouz, Oh and Viswanath (2016), "Extremal mechanisms for local differential privacy".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomizedResponse {
    epsilon: Epsilon,
    answers: usize,
}

static K_ARY: Statement =
    Statement::for_any_data("k-ary-randomized-response", "Mironov (2017), Proposition 5, for any number of answers");
static BINARY: Statement = Statement::for_any_data("randomized-response", "Mironov (2017), Proposition 5");

impl RandomizedResponse {
    /// With ε and a number of answers.
    ///
    /// # Errors
    /// [`Error::Domain`] for an infinite ε, [`Error::Length`] for no answer.
    pub fn new(epsilon: Epsilon, answers: usize) -> Result<Self> {
        if epsilon == Epsilon::INFINITE {
            return Err(Error::Domain { quantity: "epsilon", value: epsilon.get(), domain: "[0, inf)" });
        }
        if answers == 0 {
            return Err(Error::Length { quantity: "list of answers", found: 0, expected: "at least 1".into() });
        }
        Ok(Self { epsilon, answers })
    }

    /// The theorem for any number of answers, and that of two.
    #[must_use]
    pub fn theorems(&self) -> Vec<Theorem> {
        let Self { epsilon, answers } = *self;
        let mut theorems = Vec::new();
        if answers >= 2 {
            theorems.push(Theorem::new(&K_ARY, move |order, _| {
                k_ary_randomized_response_rdp(order, epsilon, answers as u64).unwrap_or(f64::INFINITY)
            }));
        }
        // The rare answer: its digits are those of ε. It is 0 in doubles from ε = 745 on.
        let rare = libm::exp(-epsilon.get());
        if let (2, Ok(rare)) = (answers, Probability::new(rare / (1.0 + rare))) {
            theorems.push(Theorem::new(&BINARY, move |order, _| randomized_response_rdp(order, rare)));
        }
        theorems
    }

    /// The distribution of the answer for a truth, counted from 0.
    ///
    /// # Errors
    /// [`Error::Domain`] for a truth that is no answer.
    pub fn distribution(&self, truth: usize) -> Result<OutcomeLaw> {
        if truth >= self.answers {
            return Err(Error::Domain { quantity: "truth", value: truth as f64, domain: "[0, number of answers)" });
        }
        let ln_truth = -libm::log1p((self.answers as f64 - 1.0) * libm::exp(-self.epsilon.get()));
        let row = |answer: usize| {
            let ln_value = if answer == truth { ln_truth } else { ln_truth - self.epsilon.get() };
            LogIntegral { ln_value, error: 4.0 * f64::EPSILON * (1.0 + ln_value.abs()) }
        };
        OutcomeLaw::from_integrals(&(0..self.answers).map(row).collect::<Vec<_>>())
    }

    /// The distributions of the answer for two truths.
    ///
    /// # Errors
    /// Those of [`Self::distribution`].
    pub fn output_pair(&self, truth: usize, neighbor: usize) -> Result<OutputPair> {
        OutputPair::new(self.distribution(truth)?, self.distribution(neighbor)?)
    }
}
