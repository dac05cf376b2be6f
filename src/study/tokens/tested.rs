//! Claims about answers, tested against what is known about them.

use super::answer::Contexts;
use super::position::certain;
use super::request::TokensStudy;
use super::sums::Sums;
use super::transcripts::TranscriptEvidence;
use crate::audit::Rectangle;
use crate::bound::{AtLeast, Claimed, Direction};
use crate::divergence::Bracket;
use crate::quantity::Order;
use crate::study::claim::{Claim, Quantity, rdp_words};

/// A value, and the neighbor against which it was found.
type Found = (usize, AtLeast);

/// What is known about all answers.
pub(super) struct Known<'a> {
    pub(super) study: &'a TokensStudy,
    pub(super) sums: &'a Sums,
    /// Those of the sums.
    pub(super) orders: &'a [Order],
    /// \[neighbor\]: by the tokens that were answered.
    pub(super) lower: Option<&'a [Rectangle]>,
    /// \[neighbor\]: ε at δ, if it is enclosed.
    pub(super) epsilons: &'a [Bracket],
    pub(super) transcripts: Option<&'a TranscriptEvidence>,
}

impl Known<'_> {
    /// Tests claims about all answers, and those about each single one: D_α ≤ a value.
    pub(super) fn tested(&self) -> Vec<Claim> {
        let test = |(claim, quantity, claimed): (String, Quantity, Claimed)| {
            let exact = self.exact(quantity);
            let refutes = exact.is_some_and(|(_, found)| found.refutes(claimed));
            let observed = match exact {
                None => larger(self.by_answers(quantity), self.by_transcripts(quantity)),
                // What is certain already needs no observation, which may be wrong.
                Some(_) if refutes => None,
                // Tokens of the recorded distributions prove nothing beyond these; tokens of a mechanism may.
                Some(_) => self.by_transcripts(quantity).filter(|_| self.are_recorded()),
            };
            let strongest = larger(exact, observed);
            let is_exact = exact.is_some() && strongest == exact;
            let shown = strongest.filter(|(_, lower)| *lower > AtLeast::NOTHING);
            let query = shown.map_or_else(String::new, |(neighbor, _)| self.sums.neighbors()[neighbor].to_string());
            let lower = shown.map_or(AtLeast::NOTHING, |(_, lower)| lower);
            let failure = if is_exact { 0.0 } else { self.study.failure_probability.get() };
            Claim::tested((format!("all answers: {claim}"), claimed), (query, lower), failure)
        };
        let test_answer = |&(order, claimed): &(Order, Claimed)| {
            let largest = self.sums.largest(self.place(order));
            let query = format!("position {}, {}", largest.position, self.sums.neighbors()[largest.neighbor]);
            let claim = format!("each answer: {}", rdp_words(order, claimed));
            Claim::tested((claim, claimed), (query, certain(largest.value)), 0.0)
        };
        let answers = self.study.answer_claims.iter().map(test_answer);
        self.study.claims.all().into_iter().map(test).chain(answers).collect()
    }

    fn place(&self, order: Order) -> usize {
        self.orders.iter().position(|other| *other == order).unwrap_or_default()
    }

    /// What is certain if the recorded distributions are correct.
    fn exact(&self, quantity: Quantity) -> Option<Found> {
        match quantity {
            Quantity::Rdp(order) if self.study.contexts == Contexts::Fixed => {
                let (neighbor, value) = self.sums.worst(self.place(order));
                Some((neighbor, certain(value)))
            }
            Quantity::Epsilon(delta) if delta == self.study.delta => {
                largest(self.epsilons.iter().map(|one| certain(one.lower)))
            }
            Quantity::Rdp(_) | Quantity::Epsilon(_) | Quantity::Mu => None,
        }
    }

    fn by_answers(&self, quantity: Quantity) -> Option<Found> {
        let bound = |one: &Rectangle| match quantity {
            Quantity::Epsilon(delta) => one.epsilon(delta, Direction::Forward).at_least(),
            Quantity::Rdp(order) => {
                let [forward, reverse] = Direction::BOTH.map(|direction| one.corner(order, direction).at_least());
                forward.max(reverse)
            }
            Quantity::Mu => one.gdp().at_least(),
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
fn largest(values: impl Iterator<Item = AtLeast>) -> Option<Found> {
    values.enumerate().reduce(|best, next| if next.1 > best.1 { next } else { best })
}
