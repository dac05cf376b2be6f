//! Rows of tables about the outputs of a mechanism on two neighboring datasets.

use super::Decimal;
use super::check::{Side, TableCheck};
use leakbound::accountant::Theorem;
use leakbound::bound::Direction;
use leakbound::distribution::{OutcomeDistribution, OutputPair};
use leakbound::quantity::{Epsilon, Order};
use serde::Deserialize;

/// The accuracy of divergences and of δ.
pub(super) const RELATIVE: f64 = 1e-12;
/// Error of a log-probability ratio: two distributions with 1e-15 (1 + |ln p|) each.
const RATIO: f64 = 2e-15;

/// Numbers of both directions; a single one is alike in both.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged)]
enum Directed {
    Each {
        #[serde(alias = "delta_forward")]
        forward: Decimal,
        #[serde(alias = "delta_reverse")]
        reverse: Decimal,
    },
    Alike {
        value: Decimal,
    },
}

impl Directed {
    fn both(self) -> [(Direction, Decimal); 2] {
        match self {
            Self::Each { forward, reverse } => [(Direction::Forward, forward), (Direction::Reverse, reverse)],
            Self::Alike { value } => Direction::BOTH.map(|direction| (direction, value)),
        }
    }
}

/// Rényi divergences of one order.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Divergence {
    pub(super) order: Order,
    #[serde(flatten)]
    expected: Directed,
}

impl Divergence {
    /// What is expected in each direction.
    pub(super) fn both(&self) -> [(Direction, Decimal); 2] {
        self.expected.both()
    }

    /// Compares what the outputs have.
    pub(super) fn compare(&self, check: &mut TableCheck, pair: &OutputPair, tolerance: f64) {
        for (direction, expected) in self.both() {
            check.relative("divergence", pair.renyi(direction, self.order), expected, tolerance);
        }
    }
}

/// Rényi divergences of one order, and what a theorem says of both directions.
#[derive(Debug, Deserialize)]
pub(super) struct Promised {
    #[serde(flatten)]
    pub(super) divergence: Divergence,
    pub(super) theorem: Decimal,
}

/// The smallest δ at one ε.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Delta {
    pub(super) epsilon: Epsilon,
    #[serde(flatten)]
    expected: Directed,
}

impl Delta {
    /// What is expected in each direction.
    pub(super) fn both(&self) -> [(Direction, Decimal); 2] {
        self.expected.both()
    }

    /// Compares what the outputs have, to the accuracy of their distributions.
    pub(super) fn compare(&self, check: &mut TableCheck, pair: &OutputPair) {
        for (direction, expected) in self.both() {
            self.compare_in(check, pair, (direction, expected), RELATIVE);
        }
    }

    /// The same in one direction, where this share of δ may be lost.
    pub(super) fn compare_in(
        &self,
        check: &mut TableCheck,
        pair: &OutputPair,
        (direction, expected): (Direction, Decimal),
        lost: f64,
    ) {
        let [p, q] = pair.in_direction(direction);
        let tolerance = lost * expected.value + condition(p, q, self.epsilon);
        let found = pair.delta(direction, self.epsilon);
        check.absolute("delta (absolute)", found, expected, tolerance.max(f64::MIN_POSITIVE));
    }

    /// Demands that bins or other outcomes have no larger δ than the outputs themselves.
    pub(super) fn is_not_exceeded(
        &self,
        check: &mut TableCheck,
        pair: &OutputPair,
        (direction, expected): (Direction, Decimal),
        claim: &str,
    ) {
        let [p, q] = pair.in_direction(direction);
        let most = expected.value * (1.0 + RELATIVE) + condition(p, q, self.epsilon);
        check.holds(pair.delta(direction, self.epsilon) <= most, claim);
    }
}

/// Compares the bound of a theorem, which is never below the expected value.
pub(super) fn compare_theorem(
    check: &mut TableCheck,
    theorem: &Theorem,
    (order, direction): (Order, Direction),
    expected: Decimal,
    (quantity, tolerance): (&'static str, f64),
) {
    let bound = theorem.at(order, direction).map_or(f64::NAN, |bound| bound.value);
    check.relative(quantity, bound, expected, tolerance);
    check.side("theorem", bound, expected, Side::Above);
}

/// How far δ moves when the log-ratio l of every class moves by its error: p - e^ε q = p (1 - e^{ε-l}), and the
/// derivative in l is e^ε q. It counts where l ≥ ε, or nearly.
pub(super) fn condition(p: &OutcomeDistribution, q: &OutcomeDistribution, epsilon: Epsilon) -> f64 {
    (0..p.outcomes())
        .map(|class| {
            let (ln_p, ln_q) = (p.ln_p()[class], q.ln_p()[class]);
            let error = RATIO * (1.0 + ln_p.abs());
            if ln_p - ln_q > epsilon.get() - error { (epsilon.get() + ln_q).exp() * error } else { 0.0 }
        })
        .sum()
}
