//! The events that the numbers of an answer are read from, decided before the counts are seen, and the failure
//! probability of each.

use super::bounds::Bounds;
use super::composed::{Meaning, meaning};
use super::evidence::Wanted;
use super::progress::Meter;
use crate::audit::{AuditPlan, BoundEvent, FailureBudget, Guide, Method, QueryAudit, Recommendation, audit_counts};
use crate::bound::Validity;
use crate::counts::PairedCounts;
use crate::error::Result;
use crate::model::Composition;
use crate::parallel;

/// What an answer reports besides the bounds of its methods.
#[derive(Clone, Copy)]
pub(crate) struct Beside {
    /// How its queries are composed.
    pub composition: Composition,
    /// Number of queries that are composed.
    pub composed: usize,
    /// Whether it has bounds of δ and μ.
    pub trade_off: bool,
    /// Queries of the whole answer that it is a part of.
    pub whole: usize,
}

impl Beside {
    /// The events of one query besides those of its methods.
    fn events(self, guide: &Guide, bounds: &Bounds) -> Vec<BoundEvent> {
        let mut events = Vec::new();
        if !bounds.claims.is_empty() {
            events.extend(bounds.claims.wanted().events(guide));
        }
        if meaning(self.composition).is_some() {
            events.extend(Wanted::Renyi.events(guide));
        }
        if self.trade_off {
            events.push(guide.trade_off_event());
        }
        events
    }

    /// Events about all queries together: the joint bound, if there is one.
    fn joint(self, queries: &[Target<'_>]) -> usize {
        let bound = meaning(self.composition).is_some_and(|(meaning, _)| meaning == Meaning::Bound);
        usize::from(bound && self.composed > 1 && queries.iter().all(|query| query.guide.pair().is_some()))
    }
}

/// A query to be audited.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub counts: &'a PairedCounts,
    pub guide: &'a Guide,
}

/// What to bound of one query, and by which methods.
pub(crate) struct Planned {
    pub plan: AuditPlan,
    pub recommendation: Option<Recommendation>,
    budget: FailureBudget,
}

/// The plans of all queries and the shares of their events.
///
/// Methods, events and their numbers depend on the guides and on the numbers of outputs, never on the counts.
pub(super) fn plan_all(
    queries: &[Target<'_>],
    bounds: &Bounds,
    beside: Beside,
    seed: u64,
    meter: &Meter<'_>,
) -> Result<(Vec<Planned>, FailureBudget)> {
    let budget = FailureBudget::new(bounds.failure_probability, bounds.failure_per, queries.len());
    let budget = budget.part_of(beside.whole).joint(beside.joint(queries));
    let most = |methods: &dyn Fn(usize) -> Vec<Method>| {
        let count = |(place, query): (usize, &Target<'_>)| {
            let mut events = query.guide.events(&methods(place));
            events.extend(beside.events(query.guide, bounds));
            events.sort_unstable();
            events.dedup();
            events.len()
        };
        queries.iter().enumerate().map(count).max().unwrap_or(1)
    };
    // Methods are recommended for the share that they would have if the region were one of them.
    let likely = budget.events(most(&|_| vec![Method::ClopperPearson, Method::KCutRegion]));
    let plans = parallel::try_map(queries, |query| {
        meter.add_in_passes(1)?;
        bounds.plan(query.counts, query.guide, likely.share(), seed)
    })?;
    let budget = budget.events(most(&|place| plans[place].0.methods.clone()));
    let planned = plans.into_iter().map(|(plan, recommendation)| {
        let plan = AuditPlan { failure: budget.share(), ..plan };
        Planned { plan, recommendation, budget }
    });
    Ok((planned.collect(), budget))
}

/// What was found for one query, and how.
pub(crate) struct Applied {
    pub plan: AuditPlan,
    pub audit: QueryAudit,
    pub recommendation: Option<Recommendation>,
}

impl Planned {
    /// Audits one query.
    pub(crate) fn apply(self, counts: &PairedCounts, guide: &Guide) -> Result<Applied> {
        let audit = self.audit(counts, guide)?;
        Ok(Applied { plan: self.plan, audit, recommendation: self.recommendation })
    }

    /// The bounds of all methods, each at the failure probability that it has.
    pub(crate) fn audit(&self, counts: &PairedCounts, guide: &Guide) -> Result<QueryAudit> {
        let plan = &self.plan;
        if plan.methods.iter().all(|&method| self.budget.of(method) == plan.failure) {
            return audit_counts(counts, guide, plan);
        }
        let one = |&method: &Method| {
            let plan = AuditPlan { methods: vec![method], failure: self.budget.of(method), ..plan.clone() };
            audit_counts(counts, guide, &plan)
        };
        // Results, and the first fault, are in the requested order.
        let found = parallel::map(&plan.methods, one);
        QueryAudit::of_methods(&plan.methods, found)
    }

    /// Whether some method comes without a guarantee.
    pub(crate) fn has_nominal(&self) -> bool {
        self.plan.methods.iter().any(|method| method.validity() != Validity::FiniteSample)
    }
}
