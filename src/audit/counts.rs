//! One audit of recorded counts: several methods, all orders, both directions.

use super::output_set::OutputSets;
use super::rectangle::Rectangle;
use crate::bound::{Direction, LowerBound};
use crate::counts::PairedCounts;
use crate::error::{Error, Result};
use crate::quantity::{Delta, FailureProbability, Order};
use std::fmt;
use std::str::FromStr;

/// A method that turns counts into lower bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// Rényi: each term of the 2-cut at its own worst corner ([`Rectangle::termwise`]).
    TwoCutPaper,
    /// Rényi: the worst corner of the 2-cut ([`Rectangle::corner`]).
    TwoCutCorner,
    /// ε at δ from Clopper-Pearson limits ([`Rectangle::epsilon`]).
    ClopperPearson,
}

impl Method {
    /// All methods, in the order of tables.
    pub const ALL: [Self; 3] = [Self::TwoCutPaper, Self::TwoCutCorner, Self::ClopperPearson];

    /// The name used in tables, JSON and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TwoCutPaper => "two-cut-paper",
            Self::TwoCutCorner => "two-cut-corner",
            Self::ClopperPearson => "clopper-pearson",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|method| method.name() == text).ok_or_else(|| Error::Syntax {
            quantity: "method",
            value: text.to_owned(),
            expected: "two-cut-paper, two-cut-corner or clopper-pearson",
        })
    }
}

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

/// The bounds of one query.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryAudit {
    /// Rényi bounds: by method, direction and order.
    pub rdp: Vec<RdpBound>,
    /// ε bounds: by method and direction.
    pub epsilon: Vec<EpsilonBound>,
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

/// Bounds the leakage of one query from the counts of both worlds.
///
/// The output sets must not have been chosen by looking at `counts`. Each set gets an equal share of the failure
/// probability, and each bound is the largest over the sets. A set with a declared direction uses two tails, otherwise
/// four; `two-cut-paper` always needs four.
///
/// # Errors
/// [`Error::Length`] when a set does not fit the counts; as [`Rectangle::four_tails`].
///
/// # Example
/// ```
/// # use leakbound::*;
/// let counts = PairedCounts::new(vec!["a".into(), "b".into()], vec![6_000, 4_000], vec![5_000, 5_000])?;
/// let plan = AuditPlan {
///     orders: vec![Order::new(2.0)?],
///     delta: Delta::new(0.0)?,
///     failure: FailureProbability::new(0.05)?,
///     methods: Method::ALL.to_vec(),
///     directions: Direction::BOTH.to_vec(),
/// };
/// let audit = audit_counts(&counts, &OutputSets::fixed_list(2), &plan)?;
/// let corner = audit.rdp_bound(Method::TwoCutCorner, Direction::Forward, plan.orders[0]).unwrap();
/// assert!((corner.value - 0.0238).abs() < 1e-4);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn audit_counts(counts: &PairedCounts, sets: &OutputSets, plan: &AuditPlan) -> Result<QueryAudit> {
    let sharp = rectangles(counts, sets, plan.failure)?;
    let four = if plan.methods.contains(&Method::TwoCutPaper) && sets.directed {
        rectangles(counts, &OutputSets { directed: false, ..sets.clone() }, plan.failure)?
    } else {
        sharp.clone()
    };
    let mut audit = QueryAudit { rdp: Vec::new(), epsilon: Vec::new() };
    for &method in &plan.methods {
        for &direction in &plan.directions {
            if method == Method::ClopperPearson {
                let bound = best(&sharp, plan.failure, |rectangle| rectangle.epsilon(plan.delta, direction));
                audit.epsilon.extend(bound.map(|bound| EpsilonBound { direction, delta: plan.delta, bound }));
                continue;
            }
            for &order in &plan.orders {
                let bound = match method {
                    Method::TwoCutPaper => best(&four, plan.failure, |rectangle| rectangle.termwise(order, direction)),
                    _ => best(&sharp, plan.failure, |rectangle| rectangle.corner(order, direction)),
                };
                audit.rdp.extend(bound.map(|bound| RdpBound { direction, order, bound }));
            }
        }
    }
    Ok(audit)
}

/// The confidence rectangles of the sets, all of which hold at once except with the failure probability: two tails
/// where the direction was declared, otherwise four.
///
/// Any number of quantities may be bounded from them without paying again.
///
/// # Errors
/// As [`audit_counts`].
pub fn rectangles(counts: &PairedCounts, sets: &OutputSets, failure: FailureProbability) -> Result<Vec<Rectangle>> {
    let share = failure.split(sets.sets.len());
    let rectangle = if sets.directed { Rectangle::two_tails } else { Rectangle::four_tails };
    sets.sets.iter().map(|set| set.inside(counts).and_then(|[p, q]| rectangle(p, q, share))).collect()
}

/// The largest bound over the rectangles, which all hold at once with the whole failure probability.
fn best(
    rectangles: &[Rectangle],
    failure: FailureProbability,
    bound: impl Fn(&Rectangle) -> LowerBound,
) -> Option<LowerBound> {
    rectangles
        .iter()
        .map(bound)
        .reduce(|best, next| if next.value > best.value { next } else { best })
        .map(|bound| LowerBound { failure_probability: failure, ..bound })
}
