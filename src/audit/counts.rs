//! One audit of recorded counts: several methods, all orders, both directions.

use super::asymptotic_epsilon::{jeffreys_epsilon, katz_log_epsilon};
use super::bootstrap::{Bootstrap, BootstrapInterval};
use super::e_process::EProcess;
use super::gdp::gdp_bounds;
use super::guide::Guide;
use super::half_space::HalfSpace;
use super::joint_beta::joint_beta_epsilon;
use super::k_cut::SimultaneousIntervals;
use super::k_cut_box::KCutBox;
use super::method::Method;
use super::output_set::{OutputSet, OutputSets};
use super::plan::{AuditPlan, EpsilonBound, QueryAudit, RdpBound, Skipped};
use super::rectangle::Rectangle;
use super::reference_distributions::ReferenceDistributions;
use super::region::Region;
use super::tails::Tails;
use super::variational::Variational;
use crate::bound::{Direction, LowerBound, Validity};
use crate::counts::PairedCounts;
use crate::error::{Error, Result};
use crate::interval::{BinomialCounts, RectangleProbability};
use crate::parallel;
use crate::quantity::{FailureProbability, Order};

/// A bound of D_α as a function of the order and the direction.
type Renyi<'a> = Box<dyn Fn(Order, Direction) -> Result<LowerBound> + 'a>;

/// What a method computes.
enum Bounds<'a> {
    Renyi(Renyi<'a>),
    /// A bound of ε at the δ of the plan as a function of the direction.
    Epsilon(Box<dyn Fn(Direction) -> Result<LowerBound> + 'a>),
}

/// What a method needs that the guide lacks.
const NEEDS_DISTRIBUTIONS: &str = "a pilot or a distribution, for a score of the outcomes";
const NEEDS_DIRECTION: &str = "a pilot, a distribution or a declared set, to know which of P(O) and Q(O) is larger";

/// Why a posterior gives no limit.
const NO_ROOT: &str = "a limit of its posterior was not found for these counts";

/// Bounds the leakage of one query from the counts of both worlds.
///
/// The guide must not have been made by looking at `counts`. Every bound of a method holds at once except with the
/// failure probability of the plan: methods at output sets divide it among the sets; `k-cut-variational`, `e-process`,
/// `jeffreys`, `katz-log` and `joint-beta` divide it among the orders and directions that need events of their own; the
/// bootstrap, a heuristic, spends all of it on each; all others cover every order and direction with one event. A
/// method that needs what the guide lacks, or that reaches a limit of its own while another does not, is listed in
/// [`QueryAudit::skipped`].
///
/// # Errors
/// [`Error::Length`] when the guide does not fit the counts; as [`Rectangle::four_tails`].
///
/// # Example
/// ```
/// # use leakbound::audit::KCutBox;
/// # use leakbound::prelude::*;
/// let counts = PairedCounts::new(vec!["a".into(), "b".into()], vec![6_000, 4_000], vec![5_000, 5_000])?;
/// let plan = AuditPlan {
///     orders: vec![Order::new(2.0)?],
///     delta: Delta::new(0.0)?,
///     failure: FailureProbability::new(0.05)?,
///     methods: vec![Method::TwoCutCorner, Method::KCutBox, Method::ClopperPearson],
///     directions: Direction::BOTH.to_vec(),
///     seed: 0,
///     resamples: 10_000,
/// };
/// let audit = audit_counts(&counts, &Guide::fixed_list(2), &plan)?;
/// let corner = audit.rdp_bound(Method::TwoCutCorner, Direction::Forward, plan.orders[0]).unwrap();
/// assert!((corner.value - 0.0238).abs() < 1e-4);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn audit_counts(counts: &PairedCounts, guide: &Guide, plan: &AuditPlan) -> Result<QueryAudit> {
    Error::check_length(!guide.sets.sets.is_empty(), "output sets", 0, "at least 1 set")?;
    let task = Task { counts, guide, plan };
    // Results, and the first fault, stand in the order requested.
    let found = parallel::map(&plan.methods, |&method| task.run(method));
    QueryAudit::of_methods(&plan.methods, found)
}

/// D_α never falls in α and the bounds hold at once, so each order has the largest bound of those that are not above
/// it.
fn raise(rows: &mut [RdpBound]) {
    let values: Vec<(Order, f64)> = rows.iter().map(|row| (row.order, row.bound.value)).collect();
    for row in rows {
        let below = values.iter().filter(|(order, _)| order.get() <= row.order.get());
        row.bound = row.bound.with_value(below.map(|(_, value)| *value).fold(0.0, f64::max));
    }
}

impl Guide {
    /// What a method needs that is not there.
    #[must_use]
    pub fn lacks(&self, method: Method) -> Option<&'static str> {
        match method {
            Method::KCutVariational | Method::KCutRegion => self.reference().is_none().then_some(NEEDS_DISTRIBUTIONS),
            Method::TwoCutHalfSpace => (!self.sets.directed).then_some(NEEDS_DIRECTION),
            Method::TwoCutPaper
            | Method::TwoCutCorner
            | Method::KCutGoodman
            | Method::KCutSisonGlaz
            | Method::KCutBox
            | Method::BootstrapTwoCut
            | Method::BootstrapKCut
            | Method::EProcess
            | Method::ClopperPearson
            | Method::Jeffreys
            | Method::JointBeta
            | Method::KatzLog
            | Method::Gdp => None,
        }
    }
}

/// One audit.
struct Task<'a> {
    counts: &'a PairedCounts,
    guide: &'a Guide,
    plan: &'a AuditPlan,
}

impl<'a> Task<'a> {
    /// All bounds of one method.
    fn run(&self, method: Method) -> Result<QueryAudit> {
        let plan = self.plan;
        let mut audit = QueryAudit::default();
        if let Some(needs) = self.guide.lacks(method) {
            audit.skipped.push(Skipped { method, reason: format!("it needs {needs}") });
            return Ok(audit);
        }
        match self.bounds(method)? {
            Bounds::Renyi(bound) => {
                for &direction in &plan.directions {
                    let row = |&order: &Order| {
                        let bound = self.of_method(method, bound(order, direction)?);
                        Ok(RdpBound { direction, order, bound })
                    };
                    let mut rows = plan.orders.iter().map(row).collect::<Result<Vec<_>>>()?;
                    if method.validity() == Validity::FiniteSample && method != Method::TwoCutPaper {
                        raise(&mut rows);
                    }
                    audit.rdp.extend(rows);
                }
            }
            Bounds::Epsilon(bound) => {
                let bounds = plan.directions.iter().map(|&direction| {
                    let bound = self.of_method(method, bound(direction)?);
                    Ok(EpsilonBound { direction, delta: plan.delta, bound })
                });
                match bounds.collect::<Result<Vec<_>>>() {
                    Err(Error::NoConvergence { .. }) => audit.skipped.push(Skipped { method, reason: NO_ROOT.into() }),
                    bounds => audit.epsilon.extend(bounds?),
                }
            }
        }
        Ok(audit)
    }

    /// The bound with the name of its method and the failure probability of all its bounds together.
    fn of_method(&self, method: Method, bound: LowerBound) -> LowerBound {
        bound.by(method.name()).failing(self.plan.failure)
    }

    /// The bound that always holds.
    fn nothing(&self, method: Method) -> LowerBound {
        LowerBound::new(0.0, self.plan.failure, method.name(), method.validity())
    }

    /// Orders and directions.
    fn goals(&self) -> usize {
        self.plan.orders.len() * self.plan.directions.len()
    }

    /// The share of one order and direction.
    fn share_of_goal(&self) -> FailureProbability {
        self.plan.failure.split(self.goals())
    }

    /// The share of one output set, and of one direction of it.
    fn share_of_set(&self, directions: usize) -> FailureProbability {
        self.plan.failure.split(self.guide.sets.sets.len() * directions)
    }

    /// Counts inside of every set.
    fn inside(&self) -> Result<Vec<[BinomialCounts; 2]>> {
        self.guide.sets.sets.iter().map(|set| set.inside(self.counts)).collect()
    }

    /// What a method computes.
    fn bounds(&self, method: Method) -> Result<Bounds<'_>> {
        let (counts, failure, nothing) = (self.counts, self.plan.failure, self.nothing(method));
        let (delta, tails) = (self.plan.delta, if self.guide.sets.directed { Tails::Two } else { Tails::Four });
        let directions = self.plan.directions.len();
        let renyi: Renyi<'_> = match method {
            Method::TwoCutPaper => self.two_cut_paper()?,
            Method::TwoCutCorner => {
                let rectangles = rectangles(counts, &self.guide.sets, failure)?;
                sure(move |order, direction| largest(nothing, rectangles.iter().map(|r| r.corner(order, direction))))
            }
            Method::TwoCutHalfSpace => {
                let share = self.share_of_set(1);
                let spaces = self.inside()?.into_iter().map(|[p, q]| HalfSpace::new(p, q, share));
                let spaces = spaces.collect::<Result<Vec<_>>>()?;
                sure(move |order, direction| largest(nothing, spaces.iter().map(|s| s.bound(order, direction))))
            }
            Method::KCutGoodman => {
                let intervals = SimultaneousIntervals::goodman(counts, failure)?;
                sure(move |order, direction| intervals.bound(order, direction))
            }
            Method::KCutSisonGlaz => {
                let intervals = SimultaneousIntervals::sison_glaz(counts, failure, RectangleProbability::Exact)?;
                sure(move |order, direction| intervals.bound(order, direction))
            }
            Method::KCutBox => {
                let cut = KCutBox::new(counts, failure)?;
                sure(move |order, direction| cut.bound(order, direction))
            }
            Method::KCutVariational => {
                let cut = Variational::new(counts, self.reference()?, failure, self.goals())?;
                sure(move |order, direction| cut.bound(order, direction))
            }
            Method::KCutRegion => {
                let region = Region::new(counts, self.reference()?, failure)?;
                sure(move |order, direction| region.bound(order, direction))
            }
            // Nominal for one order and direction alone, as its authors use it.
            Method::BootstrapTwoCut => {
                let bootstrap = self.bootstrap(&self.guide.sets.sets)?;
                sure(move |order, direction| {
                    bootstrap.two_cut(order, direction, failure, BootstrapInterval::Percentile)
                })
            }
            Method::BootstrapKCut => {
                let bootstrap = self.bootstrap(&[])?;
                sure(move |order, direction| bootstrap.k_cut(order, direction, failure, BootstrapInterval::Percentile))
            }
            Method::EProcess => self.e_process()?,
            Method::Jeffreys => {
                let share = self.share_of_set(1);
                return Ok(self.of_sets(nothing, move |[p, q], direction| {
                    jeffreys_epsilon(p, q, delta, direction, share, tails)
                }));
            }
            Method::KatzLog => {
                let share = self.share_of_set(directions);
                return Ok(self.of_sets(nothing, move |[p, q], direction| {
                    Ok(katz_log_epsilon(p, q, delta, direction, share, tails))
                }));
            }
            Method::JointBeta => {
                let share = self.share_of_set(directions);
                return Ok(self.of_sets(nothing, move |[p, q], direction| {
                    joint_beta_epsilon(p, q, delta, direction, share, tails)
                }));
            }
            Method::ClopperPearson => {
                return Ok(
                    self.of_rectangles(nothing, move |rectangle, direction| Ok(rectangle.epsilon(delta, direction)))
                );
            }
            Method::Gdp => {
                return Ok(self.of_rectangles(nothing, move |rectangle, _| {
                    gdp_bounds(rectangle, delta).map(|[_, epsilon]| epsilon)
                }));
            }
        };
        Ok(Bounds::Renyi(renyi))
    }

    fn two_cut_paper(&self) -> Result<Renyi<'_>> {
        // It needs all four limits whatever is declared.
        let undirected = OutputSets { directed: false, ..self.guide.sets.clone() };
        let rectangles = rectangles(self.counts, &undirected, self.plan.failure)?;
        let nothing = self.nothing(Method::TwoCutPaper);
        Ok(sure(move |order, direction| largest(nothing, rectangles.iter().map(|r| r.termwise(order, direction)))))
    }

    fn e_process(&self) -> Result<Renyi<'_>> {
        let counts = self.counts;
        let fewer = counts.trials().min(counts.trials_neighbor());
        let mut process = EProcess::new(counts.outcomes())?.with_fixed_length(fewer)?;
        if let Some((pair, outputs)) = self.guide.pair_with_outputs() {
            process = process.with_distributions(pair.dataset(), pair.neighbor(), outputs)?;
        }
        process.observe_counts(counts, self.plan.seed)?;
        let share = self.share_of_goal();
        Ok(sure(move |order, direction| process.lower_bound(order, direction, share)))
    }

    fn bootstrap(&self, sets: &[OutputSet]) -> Result<Bootstrap> {
        Bootstrap::new(self.counts, sets, self.plan.resamples, self.plan.seed)
    }

    /// The largest ε of all sets.
    fn of_sets<'t>(
        &'t self,
        nothing: LowerBound,
        bound: impl Fn([BinomialCounts; 2], Direction) -> Result<LowerBound> + 't,
    ) -> Bounds<'t> {
        Bounds::Epsilon(Box::new(move |direction| {
            let bounds = self.inside()?.into_iter().map(|counts| bound(counts, direction));
            Ok(largest(nothing, bounds.collect::<Result<Vec<_>>>()?.into_iter()))
        }))
    }

    /// The largest ε of all rectangles.
    fn of_rectangles<'t>(
        &'t self,
        nothing: LowerBound,
        bound: impl Fn(&Rectangle, Direction) -> Result<LowerBound> + 't,
    ) -> Bounds<'t> {
        Bounds::Epsilon(Box::new(move |direction| {
            let rectangles = rectangles(self.counts, &self.guide.sets, self.plan.failure)?;
            let bounds = rectangles.iter().map(|rectangle| bound(rectangle, direction));
            Ok(largest(nothing, bounds.collect::<Result<Vec<_>>>()?.into_iter()))
        }))
    }

    fn reference(&self) -> Result<&'a ReferenceDistributions> {
        self.guide.reference().ok_or(Error::rejected("k-cut", NEEDS_DISTRIBUTIONS))
    }
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

/// A bound that is computed without an error.
fn sure<'a>(bound: impl Fn(Order, Direction) -> LowerBound + 'a) -> Renyi<'a> {
    Box::new(move |order, direction| Ok(bound(order, direction)))
}

/// The largest of bounds that hold at once, or nothing.
fn largest(nothing: LowerBound, bounds: impl Iterator<Item = LowerBound>) -> LowerBound {
    bounds.fold(nothing, |best, next| if next.value > best.value { next } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{SetSource, expected_counts, variational_bound};
    use crate::distribution::OutcomeDistribution;
    use crate::quantity::Delta;

    #[test]
    fn a_single_goal_has_the_whole_failure_probability() {
        let distribution = |p: &[f64]| OutcomeDistribution::from_probabilities(p).unwrap();
        let (p, q) = (distribution(&[0.5, 0.3, 0.2]), distribution(&[0.4, 0.3, 0.3]));
        let (order, failure) = (Order::new(2.0).unwrap(), FailureProbability::new(0.05).unwrap());
        let plan = AuditPlan {
            orders: vec![order],
            delta: Delta::new(0.0).unwrap(),
            failure,
            methods: vec![Method::KCutVariational],
            directions: vec![Direction::Forward],
            seed: 0,
            resamples: 1,
        };
        let guide =
            Guide::from_distributions(&p, &q, &plan.orders, &plan.directions, SetSource::ExactDistribution).unwrap();
        let counts = expected_counts(&p, &q, 100_000).unwrap();
        let audit = audit_counts(&counts, &guide, &plan).unwrap();
        let found = audit.rdp_bound(Method::KCutVariational, Direction::Forward, order).unwrap().value;
        let reference = ReferenceDistributions::from_distributions(&p, &q).unwrap();
        let alone = variational_bound(&counts, &reference, order, Direction::Forward, failure).unwrap().value;
        assert!(alone > 0.0 && (found / alone - 1.0).abs() < 1e-12, "{found} {alone}");
    }
}
