//! Which events the numbers of an answer are read from, decided before the counts are seen, and what each of them costs.

use super::audit_counts::plan;
use super::lower_curves::meaning;
use crate::command::args::BoundOptions;
use crate::report::Meaning;
use crate::study::Wanted;
use crate::{
    AuditPlan, BoundEvent, Composition, FailureBudget, Guide, Method, PairedCounts, QueryAudit, Recommendation, Result,
    Validity, audit_counts,
};
use rayon::prelude::*;

/// What an answer says beside the bounds of its methods.
#[derive(Clone, Copy)]
pub struct Beside {
    /// How its queries are composed.
    pub composition: Composition,
    /// How many of them are composed.
    pub composed: usize,
    /// Whether it has bounds of δ and μ.
    pub trade_off: bool,
    /// Queries of the whole answer of which it is a part.
    pub whole: usize,
}

impl Beside {
    /// The events of one query beside those of its methods.
    fn events(self, guide: &Guide, options: &BoundOptions) -> Vec<BoundEvent> {
        let mut events = Vec::new();
        if !options.claims.claims().is_empty() {
            events.extend(options.claims.claims().wanted().events(guide));
        }
        if meaning(self.composition).is_some() {
            events.extend(Wanted::Renyi.events(guide));
        }
        if self.trade_off {
            events.push(guide.trade_off_event());
        }
        events
    }

    /// Events about all queries together: the joint bound, where there is one.
    fn joint(self, queries: &[Target<'_>]) -> usize {
        let bound = meaning(self.composition).is_some_and(|(meaning, _)| meaning == Meaning::Bound);
        usize::from(bound && self.composed > 1 && queries.iter().all(|query| query.guide.pair().is_some()))
    }
}

/// A query to be audited.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    pub counts: &'a PairedCounts,
    pub guide: &'a Guide,
}

/// What to bound of one query, and by which methods.
pub struct Planned {
    pub plan: AuditPlan,
    pub recommendation: Option<Recommendation>,
    budget: FailureBudget,
}

/// The plans of all queries and the shares of their events.
///
/// Methods, events and their numbers depend on the guides and on the numbers of outputs, never on the counts.
pub fn plan_all(
    queries: &[Target<'_>],
    options: &BoundOptions,
    beside: Beside,
    seed: u64,
) -> Result<(Vec<Planned>, FailureBudget)> {
    let budget = FailureBudget::new(options.failure_probability, options.failure_per, queries.len());
    let budget = budget.part_of(beside.whole).joint(beside.joint(queries));
    let most = |methods: &dyn Fn(usize) -> Vec<Method>| {
        let count = |(place, query): (usize, &Target<'_>)| {
            let mut events = query.guide.events(&methods(place));
            events.extend(beside.events(query.guide, options));
            events.sort_unstable();
            events.dedup();
            events.len()
        };
        queries.iter().enumerate().map(count).max().unwrap_or(1)
    };
    // Methods are recommended for the share that they would have if the region were one of them.
    let likely = budget.events(most(&|_| vec![Method::ClopperPearson, Method::KCutRegion]));
    let plans: Vec<(AuditPlan, Option<Recommendation>)> = queries
        .par_iter()
        .map(|query| plan(query.counts, query.guide, options, likely.share(), seed))
        .collect::<Result<_>>()?;
    let budget = budget.events(most(&|place| plans[place].0.methods.clone()));
    let planned = plans.into_iter().map(|(plan, recommendation)| {
        let plan = AuditPlan { failure: budget.share(), ..plan };
        Planned { plan, recommendation, budget }
    });
    Ok((planned.collect(), budget))
}

impl Planned {
    /// The bounds of all methods, each at the failure probability that it has.
    pub fn audit(&self, counts: &PairedCounts, guide: &Guide) -> Result<QueryAudit> {
        let plan = &self.plan;
        if plan.methods.iter().all(|&method| self.budget.of(method) == plan.failure) {
            return audit_counts(counts, guide, plan);
        }
        let one = |&method: &Method| {
            let plan = AuditPlan { methods: vec![method], failure: self.budget.of(method), ..plan.clone() };
            audit_counts(counts, guide, &plan)
        };
        // Results, and the first fault, stand in the order asked for.
        let found: Vec<Result<QueryAudit>> = plan.methods.par_iter().map(one).collect();
        let mut audit = QueryAudit::default();
        for one in found {
            let one = one?;
            audit.rdp.extend(one.rdp);
            audit.epsilon.extend(one.epsilon);
            audit.skipped.extend(one.skipped);
        }
        Ok(audit)
    }

    /// Whether some method comes without a guarantee.
    pub fn has_nominal(&self) -> bool {
        self.plan.methods.iter().any(|method| method.validity() != Validity::FiniteSample)
    }
}
