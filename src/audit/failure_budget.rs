//! One failure probability for a whole answer, and the share that each event may use.

use super::Method;
use super::guide::Guide;
use super::method::Guarantee;
use super::output_set::{OutputSets, SetSource};
use crate::bound::Validity;
use crate::named::named;
use crate::quantity::FailureProbability;
use serde::{Deserialize, Serialize};

/// The scope of the stated failure probability.
///
/// Written as `answer` or `query`.
///
/// ```
/// # use leakbound::audit::FailurePer;
/// assert_eq!("answer".parse::<FailurePer>()?, FailurePer::default());
/// assert_eq!(FailurePer::Query.to_string(), "query");
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FailurePer {
    /// For all numbers of an answer with a finite-sample guarantee simultaneously, so that a reader may pick any of
    /// them.
    #[default]
    Answer,
    /// For the bounds of one method on one query, separately: among many such bounds, some may be wrong.
    Query,
}

named!(FailurePer, "reading of the failure probability", [Answer "answer", Query "query"]);

/// An event about one query from which bounds are read: if it does not occur, they all hold simultaneously, at every
/// order, δ and ε and in both directions.
///
/// Methods that use the same event pay for it once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BoundEvent {
    /// The limits of P(O) and Q(O) at the output sets ([`rectangles`](crate::audit::rectangles)).
    OutputSets,
    /// All four limits at sets with a declared direction.
    FourTails,
    /// The event of one method, such as the box of all classes ([`KCutBox`](crate::audit::KCutBox)).
    Of(Method),
    /// The limits at all thresholds ([`trade_off_band`](crate::audit::trade_off_band)).
    TradeOffBand,
    /// The limits of each outcome alone, for any list of other outcomes
    /// ([`outcome_rectangles`](crate::audit::outcome_rectangles)).
    SingleOutcomes,
}

impl Method {
    /// The event from which the bounds of this method are read; `None` for a method without a finite-sample guarantee,
    /// whose failure probability is nominal.
    ///
    /// ```
    /// # use leakbound::audit::{Guide, Method};
    /// let sets = Guide::fixed_list(3).sets;
    /// assert_eq!(Method::TwoCutCorner.event(&sets), Method::ClopperPearson.event(&sets));
    /// assert_eq!(Method::Jeffreys.event(&sets), None);
    /// ```
    #[must_use]
    pub fn event(self, sets: &OutputSets) -> Option<BoundEvent> {
        match self.row().guarantee {
            Guarantee::OwnEvent => Some(BoundEvent::Of(self)),
            Guarantee::Published if sets.directed => Some(BoundEvent::FourTails),
            Guarantee::Published | Guarantee::OutputSets => Some(BoundEvent::OutputSets),
            Guarantee::Nominal(_) => None,
        }
    }
}

impl Guide {
    /// The events used by these methods, each once; methods that need something missing from the guide use none.
    #[must_use]
    pub fn events(&self, methods: &[Method]) -> Vec<BoundEvent> {
        let applicable = methods.iter().filter(|&&method| self.lacks(method).is_none());
        let mut events: Vec<BoundEvent> = applicable.filter_map(|method| method.event(&self.sets)).collect();
        events.sort_unstable();
        events.dedup();
        events
    }

    /// The event from which bounds of μ and δ and the points of the trade-off are read.
    ///
    /// ```
    /// # use leakbound::audit::{BoundEvent, Guide};
    /// assert_eq!(Guide::fixed_list(3).trade_off_event(), BoundEvent::SingleOutcomes);
    /// ```
    #[must_use]
    pub fn trade_off_event(&self) -> BoundEvent {
        if self.score().is_some() {
            BoundEvent::TradeOffBand
        } else if self.sets.source == SetSource::FixedList {
            BoundEvent::SingleOutcomes
        } else {
            BoundEvent::OutputSets
        }
    }
}

/// How the failure probability f of an answer is divided among the events used by its numbers.
///
/// An answer about Q queries uses at most E events about each query ([`BoundEvent`]), and J events about all queries
/// together ([`joint_bound`](crate::audit::joint_bound)). With [`FailurePer::Answer`], each event about a query has the
/// failure probability f/(Q (E + J)) and each joint one f/(E + J). By the union bound some event fails with probability
/// at most Q E f/(Q (E + J)) + J f/(E + J) = f. If none fails, every number of the answer holds, so a reader may pick
/// any of them, including the largest. No assumption is made about the dependence between queries or methods.
///
/// The numbers of queries and events must not depend on the counts that are bounded.
///
/// With [`FailurePer::Query`], each event about a query has the whole f; statements about all queries simultaneously
/// (claims and composed bounds) still divide f among them.
///
/// # Example
/// ```
/// # use leakbound::audit::{FailureBudget, FailurePer};
/// # use leakbound::prelude::*;
/// let whole = FailureProbability::new(0.06)?;
/// let budget = FailureBudget::new(whole, FailurePer::Answer, 10).events(2).joint(1);
/// assert_eq!((budget.share().get(), budget.joint_share().get()), (0.06 / 30.0, 0.06 / 3.0));
/// // 10 queries with 2 events each, and one about all of them.
/// assert!(20.0 * budget.share().get() + budget.joint_share().get() <= 0.06 * (1.0 + 1e-15));
/// assert_eq!(FailureBudget::new(whole, FailurePer::Query, 10).events(2).share(), whole);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FailureBudget {
    stated: FailureProbability,
    per: FailurePer,
    queries: usize,
    whole: usize,
    events: usize,
    joint: usize,
}

impl FailureBudget {
    /// The stated failure probability for an answer about this many queries, with one event about each.
    #[must_use]
    pub const fn new(stated: FailureProbability, per: FailurePer, queries: usize) -> Self {
        Self { stated, per, queries, whole: queries, events: 1, joint: 0 }
    }

    /// Makes the answer part of a larger one about this many queries in total, whose parts together have the stated
    /// failure probability.
    #[must_use]
    pub fn part_of(self, whole: usize) -> Self {
        Self { whole: whole.max(self.queries), ..self }
    }

    /// At most this many events about each query.
    #[must_use]
    pub fn events(self, events: usize) -> Self {
        Self { events: events.max(1), ..self }
    }

    /// This many events about all queries together.
    #[must_use]
    pub const fn joint(self, joint: usize) -> Self {
        Self { joint, ..self }
    }

    /// The failure probability of the whole answer, or of each event about a query.
    #[must_use]
    pub const fn stated(&self) -> FailureProbability {
        self.stated
    }

    /// The scope of the stated failure probability.
    #[must_use]
    pub const fn per(&self) -> FailurePer {
        self.per
    }

    /// Number of queries of the answer.
    #[must_use]
    pub const fn queries(&self) -> usize {
        self.queries
    }

    /// Number of queries of the larger answer, or of this one if it is not a part.
    #[must_use]
    pub const fn whole(&self) -> usize {
        self.whole
    }

    /// Whether some event is about all queries together.
    #[must_use]
    pub const fn has_joint(&self) -> bool {
        self.joint > 0
    }

    /// The share of one event about one query.
    #[must_use]
    pub fn share(&self) -> FailureProbability {
        match self.per {
            FailurePer::Answer => self.stated.split(self.whole.saturating_mul(self.events + self.joint)),
            FailurePer::Query => self.stated,
        }
    }

    /// The share of one of `events` events about each of `queries` queries, which hold simultaneously: for claims and
    /// composed bounds. With [`FailurePer::Answer`], these are the events of the answer.
    #[must_use]
    pub fn share_of_all(&self, queries: usize, events: usize) -> FailureProbability {
        match self.per {
            FailurePer::Answer => self.share(),
            FailurePer::Query => self.stated.split(queries).split(events),
        }
    }

    /// The share of one event about all queries together.
    #[must_use]
    pub fn joint_share(&self) -> FailureProbability {
        match self.per {
            FailurePer::Answer => {
                // At most this many parts are as large as this one.
                let parts = self.whole.div_ceil(self.queries.max(1));
                self.stated.split(parts.saturating_mul(self.events + self.joint.max(1)))
            }
            FailurePer::Query => self.stated,
        }
    }

    /// The failure probability of a method: its share, or, as a nominal level, the stated one for a method without a
    /// finite-sample guarantee, which uses no part of the whole.
    #[must_use]
    pub fn of(&self, method: Method) -> FailureProbability {
        if method.validity() == Validity::FiniteSample { self.share() } else { self.stated }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::output_set::OutputSet;
    use proptest::prelude::*;

    proptest! {
        /// For any numbers of queries and events, all shares together equal the stated failure probability.
        #[test]
        fn the_whole_is_spent_once(f in 1e-12f64..0.999, queries in 1usize..5_000, events in 1usize..9, joint in 0usize..3) {
            let stated = FailureProbability::new(f).unwrap();
            let budget = FailureBudget::new(stated, FailurePer::Answer, queries).events(events).joint(joint);
            let spent = (queries * events) as f64 * budget.share().get() + joint as f64 * budget.joint_share().get();
            prop_assert!((spent / f - 1.0).abs() < 1e-12, "{spent} of {f}");
            prop_assert_eq!(budget.share(), budget.share_of_all(7, 3));
            // Three parts of a whole of 3 Q queries spend no more than the whole.
            let part = budget.part_of(3 * queries);
            let of_part = (queries * events) as f64 * part.share().get() + joint as f64 * part.joint_share().get();
            prop_assert!((3.0 * of_part / f - 1.0).abs() < 1e-12, "{of_part} of {f}");
            let each = FailureBudget::new(stated, FailurePer::Query, queries).events(events).joint(joint);
            prop_assert_eq!((each.share(), each.joint_share()), (stated, stated));
            prop_assert_eq!(each.share_of_all(queries, 2), stated.split(queries).split(2));
        }
    }

    #[test]
    fn methods_of_one_event_pay_once() {
        let free = Guide::fixed_list(3);
        assert_eq!(free.events(&[Method::TwoCutPaper, Method::TwoCutCorner, Method::ClopperPearson]).len(), 1);
        // Without a distribution or a declared direction, and methods without a guarantee.
        let skipped = [Method::KCutRegion, Method::TwoCutHalfSpace, Method::Gdp, Method::BootstrapKCut];
        assert_eq!(free.events(&skipped), []);
        let declared = Guide::declared(OutputSet::new(vec![true, false]));
        assert_eq!(declared.trade_off_event(), BoundEvent::OutputSets);
        let events = declared.events(&[Method::TwoCutPaper, Method::TwoCutCorner, Method::TwoCutHalfSpace]);
        assert_eq!(events, [BoundEvent::OutputSets, BoundEvent::FourTails, BoundEvent::Of(Method::TwoCutHalfSpace)]);
        // Exactly the methods with a guarantee have an event.
        for method in Method::ALL {
            assert_eq!(method.event(&free.sets).is_some(), method.validity() == Validity::FiniteSample, "{method}");
        }
    }
}
