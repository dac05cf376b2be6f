//! Claims about answers, against what is known of them.

use super::answer::Contexts;
use super::position::is_above;
use super::sums::Sums;
use super::transcripts::TranscriptEvidence;
use crate::audit::Rectangle;
use crate::bound::Direction;
use crate::divergence::Bracket;
use crate::quantity::{Delta, FailureProbability, Order};
use crate::study::claim::{Claim, Claims, Quantity};
use crate::study::number::{Number, short};

/// A value, and the neighbor against which it was found.
type Found = (usize, f64);

/// What is known of all answers.
pub(super) struct Known<'a> {
    pub(super) contexts: Contexts,
    pub(super) delta: Delta,
    pub(super) failure: FailureProbability,
    pub(super) sums: &'a Sums,
    /// Those of the sums.
    pub(super) orders: &'a [Order],
    /// \[neighbor\]: by the tokens that were answered.
    pub(super) lower: Option<&'a [Rectangle]>,
    /// \[neighbor\]: ε at δ, where it is enclosed.
    pub(super) epsilons: &'a [Bracket],
    pub(super) transcripts: Option<&'a TranscriptEvidence>,
}

impl Known<'_> {
    /// Tests claims about all answers.
    pub(super) fn test(&self, claims: &Claims) -> Vec<Claim> {
        let test = |(claim, quantity, value): (String, Quantity, f64)| {
            let exact = self.exact(quantity);
            let refutes = exact.is_some_and(|(_, found)| is_above(found, value));
            let observed = match exact {
                None => larger(self.by_answers(quantity), self.by_transcripts(quantity)),
                // What is certain already needs no observation, which may be wrong.
                Some(_) if refutes => None,
                // Tokens of the recorded distributions prove nothing beyond these; tokens of a mechanism may.
                Some(_) => self.by_transcripts(quantity).filter(|_| self.are_recorded()),
            };
            let strongest = larger(exact, observed);
            let is_exact = exact.is_some() && strongest == exact;
            let (neighbor, lower) = strongest.unwrap_or_default();
            Claim {
                claim: format!("all answers: {claim}"),
                lower: Number(lower),
                query: if lower > 0.0 { self.sums.neighbors()[neighbor].to_string() } else { String::new() },
                refuted: if is_exact { refutes } else { lower > value },
                failure_probability: if is_exact { 0.0 } else { self.failure.get() },
            }
        };
        claims.all().into_iter().map(test).collect()
    }

    /// Tests claims about each single answer: D_α ≤ a value.
    pub(super) fn test_answers(&self, claims: &[(Order, f64)]) -> Vec<Claim> {
        let test = |&(order, value): &(Order, f64)| {
            let largest = self.sums.largest(self.place(order));
            Claim {
                claim: format!("each answer: D ≤ {} at α = {order}", short(value)),
                lower: Number(largest.value),
                query: format!("position {}, {}", largest.position, self.sums.neighbors()[largest.neighbor]),
                refuted: is_above(largest.value, value),
                failure_probability: 0.0,
            }
        };
        claims.iter().map(test).collect()
    }

    fn place(&self, order: Order) -> usize {
        self.orders.iter().position(|other| *other == order).unwrap_or_default()
    }

    /// What is known for certain, if the recorded distributions are right.
    fn exact(&self, quantity: Quantity) -> Option<Found> {
        match quantity {
            Quantity::Rdp(order) if self.contexts == Contexts::Fixed => Some(self.sums.worst(self.place(order))),
            Quantity::Epsilon(delta) if delta == self.delta => largest(self.epsilons.iter().map(|one| one.lower)),
            _ => None,
        }
    }

    fn by_answers(&self, quantity: Quantity) -> Option<Found> {
        let bound = |one: &Rectangle| match quantity {
            Quantity::Epsilon(delta) => one.epsilon(delta, Direction::Forward).value,
            Quantity::Rdp(order) => {
                Direction::BOTH.map(|direction| one.corner(order, direction).value).into_iter().fold(0.0, f64::max)
            }
            Quantity::Mu => one.gdp().value,
        };
        largest(self.lower?.iter().map(bound))
    }

    fn by_transcripts(&self, quantity: Quantity) -> Option<Found> {
        largest(self.transcripts?.evidence.iter().map(|one| one.strongest(quantity)))
    }

    fn are_recorded(&self) -> bool {
        self.transcripts.is_some_and(TranscriptEvidence::is_recorded)
    }
}

/// The larger one; the first of equal ones.
fn larger(first: Option<Found>, second: Option<Found>) -> Option<Found> {
    match (first, second) {
        (Some(first), Some(second)) => Some(if second.1 > first.1 { second } else { first }),
        (first, second) => first.or(second),
    }
}

/// The first of the largest numbers, with its place; None for no number.
fn largest(values: impl Iterator<Item = f64>) -> Option<Found> {
    values.enumerate().reduce(|best, next| if next.1 > best.1 { next } else { best })
}
