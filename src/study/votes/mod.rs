//! Leakage of private prediction from recorded votes: outputs are drawn, bounded from below, compared with their exact
//! distribution, and bounded from above.

mod consistency;
mod meaning;
mod together;
mod warnings;

pub use meaning::{AddedPoint, DistributionKind, ExactRow, SeriesCheck, SeriesNote, UpperRow, VotesQuery};

use super::bounds::Bounds;
use super::claim::Claim;
use super::composed::ComposedSection;
use super::counts::skipped;
use super::number::Number;
use super::progress::{Meter, Progress};
use super::rows::{FailureNote, RecommendationRow, bound_rows, epsilon_rows};
use super::spending::{Applied, Beside, Planned, Target, plan_all};
use super::{Study, Warning};
use crate::accountant::{Theorem, WorstCases};
use crate::audit::{FailureBudget, Guide, SetSource, Skipped};
use crate::bound::{Direction, Directions, UpperBound};
use crate::counts::PairedCounts;
use crate::distribution::{ExpandedDistribution, Noise, OutputPair};
use crate::error::{Error, Result};
use crate::mechanism::RandomVotes;
use crate::model::{Composition, VoteModel};
use crate::parallel;
use crate::quantity::{Order, Probability};
use crate::simulate::{ArgmaxSampler, PartialCounts, Sampler, Simulation, rao_blackwell, sample_distributions};
use serde::Serialize;

/// How outputs are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Sampling {
    /// Votes and noise of every output are simulated
    MonteCarlo,
    /// Counts are drawn directly from the distributions of the outputs: what a simulation would count, almost instantly
    ExactDistribution,
}

/// A recorded query with the model of its votes.
#[derive(Debug, Clone)]
pub struct ModeledQuery {
    /// Its position in the recording, which names it and its random stream.
    pub position: usize,
    /// Its true class, if recorded.
    pub label: Option<usize>,
    /// Which neighboring dataset its second world is: queries with the same number share one.
    pub neighbor: u64,
    /// The votes of both worlds.
    pub model: VoteModel,
}

impl ModeledQuery {
    /// Whether all of these queries are about one pair of datasets. Otherwise their leakage does not add up, because no
    /// two datasets differ in all of it.
    #[must_use]
    pub fn share_a_neighbor(queries: &[Self]) -> bool {
        queries.windows(2).all(|pair| pair[0].neighbor == pair[1].neighbor)
    }
}

/// What do the answers of an ensemble leak if its votes follow these models?
///
/// ```
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::model::{Composition, PromptPateModel};
/// # use leakbound::quantity::{Delta, FailureProbability, Order};
/// # use leakbound::study::{Bounds, ModeledQuery, Sampling, Study, VotesStudy, unwatched};
/// let model = PromptPateModel::new(VoteHistogram::new(vec![9, 3])?, VoteHistogram::new(vec![8, 4])?)?;
/// let study = VotesStudy {
///     queries: vec![ModeledQuery { position: 0, label: None, neighbor: 0, model: model.into() }],
///     noise: "gaussian:2".parse()?,
///     rate: None,
///     sampling: Sampling::MonteCarlo,
///     samples: 100_000,
///     composition: Composition::PerQuery,
///     repeated: None,
///     whole: None,
///     bounds: Bounds::new(vec![Order::new(2.0)?], Delta::new(1e-5)?, FailureProbability::new(0.05)?),
///     added_point: None,
///     seed: 0,
/// };
/// let answer = study.run(&unwatched)?;
/// let (lower, exact) = (answer.queries[0].lower[0].rdp_lower.0, answer.queries[0].exact[0].forward.0);
/// assert!(0.0 < lower && lower < exact && answer.queries[0].upper.iter().all(|upper| exact <= upper.rdp.0));
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct VotesStudy {
    /// At least one query.
    pub queries: Vec<ModeledQuery>,
    /// The noise on every count.
    pub noise: Noise,
    /// The probability that a training point is in the subsample of a query of Private-kNN, for its accountant.
    pub rate: Option<Probability>,
    /// How outputs are drawn.
    pub sampling: Sampling,
    /// Outputs per query and world.
    pub samples: u64,
    /// How the queries compose.
    pub composition: Composition,
    /// Number of answers to compose to the query that leaks most by its distribution, instead of one to each query.
    pub repeated: Option<u64>,
    /// Queries of the whole audit that this is a part of; its parts share the failure probability.
    pub whole: Option<u64>,
    /// What is bounded, and how.
    pub bounds: Bounds,
    /// The point that the adversary adds, if it was searched for; repeated in the answer.
    pub added_point: Option<AddedPoint>,
    /// The seed of the outputs, and of methods that draw.
    pub seed: u64,
}

impl VotesStudy {
    /// A million outputs per query and world with the usual bounds.
    #[must_use]
    pub fn new(queries: Vec<ModeledQuery>, noise: Noise) -> Self {
        Self {
            queries,
            noise,
            rate: None,
            sampling: Sampling::MonteCarlo,
            samples: 1_000_000,
            composition: Composition::PerQuery,
            repeated: None,
            whole: None,
            bounds: Bounds::default(),
            added_point: None,
            seed: 0,
        }
    }
}

/// The answer of a [`VotesStudy`].
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VotesAnswer {
    /// What the failure probability is for.
    pub failure: FailureNote,
    /// Orders of the rows, as requested.
    #[serde(skip)]
    pub orders: Vec<f64>,
    /// The direction that the text shows.
    #[serde(skip)]
    pub shown: Direction,
    /// What the divergences of the fitted model are.
    pub distribution: DistributionKind,
    /// How far the series was taken, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesNote>,
    /// The series against an estimate without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series_check: Option<SeriesCheck>,
    /// The point that the adversary adds, if it was searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_point: Option<AddedPoint>,
    /// The queries.
    pub queries: Vec<VotesQuery>,
    /// The whole sequence; none if queries are not composed.
    pub composed: Option<ComposedSection>,
    /// Claims tested.
    pub claims: Vec<Claim>,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

answer!(VotesAnswer, "leakbound.audit-votes/1", claims, warnings);

/// One query with everything that is known about it.
pub(super) struct AuditedVotes {
    pub(super) name: String,
    label: Option<usize>,
    pub(super) model: VoteModel,
    pub(super) pair: OutputPair,
    /// How far the series for it was taken, if it is one.
    pub(super) series: Option<SeriesNote>,
    pub(super) counts: PairedCounts,
    pub(super) guide: Guide,
    /// Those that hold in both directions.
    pub(super) theorems: Vec<Theorem>,
}

impl AuditedVotes {
    /// Every upper bound at these orders, theorem by theorem, in the directions in which it holds.
    pub(super) fn upper_bounds(&self, orders: &[Order]) -> Vec<(Order, Direction, UpperBound)> {
        let mut bounds = Vec::new();
        for theorem in &self.theorems {
            for &order in orders {
                let at = |direction| Some((order, direction, theorem.at(order, direction)?));
                bounds.extend(Direction::BOTH.into_iter().filter_map(at));
            }
        }
        bounds
    }
}

impl Study for VotesStudy {
    type Answer = VotesAnswer;

    /// # Errors
    /// [`Error::Length`] without queries, [`Error::Rejected`] for independent answers to several queries that do not
    /// [share a neighbor](ModeledQuery::share_a_neighbor), those of the models and methods, and
    /// [`Error::Contradiction`] if figures contradict each other.
    fn run(&self, progress: &Progress<'_>) -> Result<VotesAnswer> {
        Error::check_length(!self.queries.is_empty(), "queries", 0, "at least 1")?;
        let is_sum = self.composition.divergences_add() && self.repeated.is_none();
        let reason = "each query has its own neighboring dataset, and their leakage does not add up: repeat the worst \
                      (`n-queries`), or take them one by one (composition `per-query`)";
        Error::check_possible(!is_sum || ModeledQuery::share_a_neighbor(&self.queries), "composition", reason)?;
        let meter = Meter::new(progress, self.queries.len() as u64, "queries");
        let audited = self.audit(progress, &meter)?;
        let distribution = distribution_kind(&audited);
        let targets: Vec<Target> =
            audited.iter().map(|query| Target { counts: &query.counts, guide: &query.guide }).collect();
        let composed = if self.repeated.is_some() { 1 } else { audited.len() };
        let whole = self.whole.map_or(audited.len(), |queries| queries as usize);
        let beside = Beside { composition: self.composition, composed, trade_off: false, whole };
        let (planned, budget) = plan_all(&targets, &self.bounds, beside, self.seed, &meter)?;
        let failure = FailureNote::new(&budget, planned.iter().any(Planned::has_nominal));
        let (queries, left_out): (Vec<VotesQuery>, Vec<Vec<Skipped>>) =
            rows(distribution, &audited, planned, &meter)?.into_iter().unzip();
        let composed = self.together(&audited, distribution, &budget)?;
        self.consistent(distribution, &audited, &queries, composed.as_ref())?;
        Ok(VotesAnswer {
            failure,
            orders: self.bounds.orders.iter().map(|order| order.get()).collect(),
            shown: self.bounds.directions.first().copied().unwrap_or(Direction::Forward),
            distribution,
            series: audited.iter().filter_map(|query| query.series).reduce(worse),
            series_check: self.series_check(&audited)?,
            added_point: self.added_point.clone(),
            warnings: self
                .all_warnings(distribution, &audited, &queries, composed.as_ref())
                .into_iter()
                .chain(skipped(left_out.iter().flatten()))
                .collect(),
            queries,
            composed,
            claims: self.tested(&audited, &budget)?,
        })
    }
}

/// Exact if no distribution is a series.
fn distribution_kind(audited: &[AuditedVotes]) -> DistributionKind {
    if audited.iter().any(|query| query.series.is_some()) { DistributionKind::Series } else { DistributionKind::Exact }
}

/// The note that holds for both of two.
fn worse(a: SeriesNote, b: SeriesNote) -> SeriesNote {
    SeriesNote { degree: a.degree.max(b.degree), remainder: a.remainder.max(b.remainder) }
}

impl VotesStudy {
    /// The output distributions of a query, and how far a series for them was taken.
    fn output_pair(&self, model: &VoteModel) -> Result<(OutputPair, Option<SeriesNote>)> {
        let VoteModel::Capc(model) = model else {
            return Ok((model.output_pair(self.noise)?, None));
        };
        let expanded = model.expanded_distributions(self.noise)?;
        let note = |found: &ExpandedDistribution| {
            found.degree().map(|degree| SeriesNote { degree, remainder: found.remainder })
        };
        let series = expanded.iter().filter_map(note).reduce(worse);
        let [dataset, neighbor] = expanded.map(|distribution| distribution.distribution);
        Ok((OutputPair::new(dataset, neighbor)?, series))
    }

    /// Distributions on all threads, then the outputs query by query; a simulation is itself on all threads.
    fn audit(&self, progress: &Progress<'_>, queries: &Meter<'_>) -> Result<Vec<AuditedVotes>> {
        let pair = |query: &ModeledQuery| {
            queries.add_in_passes(1)?;
            self.output_pair(&query.model)
        };
        let pairs = parallel::try_map(&self.queries, pair)?;
        let known = WorstCases::default();
        let outputs = Meter::new(progress, (2 * self.samples).saturating_mul(self.queries.len() as u64), "outputs");
        self.queries
            .iter()
            .zip(pairs)
            .map(|(query, (pair, series))| {
                let simulation = Simulation::new(self.samples)?.seed(self.seed).query(query.position as u64);
                let counts = match self.sampling {
                    Sampling::MonteCarlo => self.simulated(query, simulation, &outputs)?,
                    Sampling::ExactDistribution => {
                        queries.add_in_passes(1)?;
                        sample_distributions(pair.dataset(), pair.neighbor(), simulation)?
                    }
                };
                let (dataset, neighbor) = (pair.dataset(), pair.neighbor());
                let Bounds { orders, directions, .. } = &self.bounds;
                let guide =
                    Guide::from_distributions(dataset, neighbor, orders, directions, SetSource::ExactDistribution)?;
                let mechanism = RandomVotes { model: &query.model, noise: self.noise, rate: self.rate };
                let mut theorems = mechanism.theorems(&pair, &known);
                theorems.retain(|theorem| theorem.statement().directions == Directions::Both);
                let name = query.position.to_string();
                let (label, model) = (query.label, query.model.clone());
                Ok(AuditedVotes { name, label, model, pair, series, counts, guide, theorems })
            })
            .collect()
    }

    /// Simulated outputs of one query; an error if the work must end.
    fn simulated(&self, query: &ModeledQuery, simulation: Simulation, meter: &Meter<'_>) -> Result<PairedCounts> {
        let sampler = ArgmaxSampler::new(&query.model, self.noise);
        let mut part = PartialCounts::new(simulation, sampler.outcomes())?;
        let before = meter.done();
        if part.advance(&sampler, 0..simulation.blocks(), |done| meter.reach(before + done))? {
            return Err(Error::Interrupted);
        }
        part.counts()
    }

    /// The series for the query that leaks most against a Monte Carlo estimate of the same distribution.
    fn series_check(&self, audited: &[AuditedVotes]) -> Result<Option<SeriesCheck>> {
        let order = self.bounds.orders[0];
        let mut worst: Option<(&AuditedVotes, f64)> = None;
        for query in audited.iter().filter(|query| query.series.is_some()) {
            let divergence = query.pair.renyi(Direction::Forward, order);
            if worst.is_none_or(|worst| divergence > worst.1) {
                worst = Some((query, divergence));
            }
        }
        let Some((query, series)) = worst else { return Ok(None) };
        let estimates = match rao_blackwell(&query.model, self.noise, Simulation::new(CHECK_DRAWS)?.seed(self.seed)) {
            // Noise for which it is not offered.
            Err(Error::Rejected { .. }) => return Ok(None),
            estimates => estimates?,
        };
        let forward = estimates.renyi(Direction::Forward, order);
        Ok(Some(SeriesCheck {
            query: query.name.clone(),
            order: order.get(),
            series,
            estimate: forward.value,
            standard_error: forward.standard_error,
            draws: CHECK_DRAWS,
        }))
    }

    fn tested(&self, audited: &[AuditedVotes], budget: &FailureBudget) -> Result<Vec<Claim>> {
        let queries = audited.iter().map(|query| (query.name.as_str(), &query.counts, &query.guide));
        self.bounds.claims.test_queries(queries, budget, self.bounds.failure_probability)
    }
}

/// Draws of the check of a series: a fraction of a second.
const CHECK_DRAWS: u64 = 20_000;

/// The rows of each query, and the methods that did not apply to it.
fn rows(
    distribution: DistributionKind,
    audited: &[AuditedVotes],
    planned: Vec<Planned>,
    meter: &Meter<'_>,
) -> Result<Vec<(VotesQuery, Vec<Skipped>)>> {
    let row = |(query, planned): (&AuditedVotes, Planned)| {
        meter.add_in_passes(1)?;
        let Applied { plan, audit, recommendation } = planned.apply(&query.counts, &query.guide)?;
        let divergences = plan.orders.iter().map(|&order| ExactRow {
            order: order.get(),
            forward: Number(query.pair.renyi(Direction::Forward, order)),
            reverse: Number(query.pair.renyi(Direction::Reverse, order)),
        });
        let upper = query.upper_bounds(&plan.orders).into_iter().map(|(order, direction, bound)| UpperRow {
            name: bound.name,
            order: order.get(),
            direction,
            rdp: Number(bound.value),
            validity: bound.validity,
        });
        let divergences: Vec<ExactRow> = divergences.collect();
        let (exact, approximate) =
            if distribution == DistributionKind::Exact { (divergences, Vec::new()) } else { (Vec::new(), divergences) };
        let row = VotesQuery {
            query: query.name.clone(),
            label: query.label,
            counts: query.counts.counts().to_vec(),
            counts_neighbor: query.counts.counts_neighbor().to_vec(),
            lower: bound_rows(&query.name, &audit),
            epsilon: epsilon_rows(&query.name, &audit),
            recommendation: recommendation.map(|found| RecommendationRow::new(&query.name, found)),
            exact,
            approximate,
            upper: upper.collect(),
        };
        Ok((row, audit.skipped))
    };
    parallel::try_map(audited.iter().zip(planned), row)
}
