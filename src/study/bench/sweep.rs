//! How the cost of a sample grows with classes, voters, noise and threads.

use super::super::progress::{Meter, Progress};
use super::super::{Study, Warning};
use super::grid::{SweepPoint, Varied, no_samples};
use super::growth::{Term, fit};
use super::machine::{cores, debug_build, name, pool};
use super::works::BenchWork;
use crate::error::{Error, Result};
use crate::order;
use crate::simulate::{ArgmaxSampler, BLOCK_SAMPLES, Sampler, Stream, StreamId, World};
use rayon::ThreadPool;
use serde::Serialize;
use std::time::{Duration, Instant};

/// How does the cost of a sample grow?
///
/// One quantity at a time changes around [`SweepPoint::BASE`].
///
/// ```
/// # use leakbound::study::{BenchWork, Study, SweepStudy, Varied, unwatched};
/// # use std::time::Duration;
/// let study = SweepStudy {
///     works: vec![BenchWork::Fixed],
///     varied: vec![Varied::Sigma],
///     threads: 1,
///     time: Duration::from_millis(4),
/// };
/// let answer = study.run(&unwatched)?;
/// assert_eq!(answer.rows.len(), 6);
/// assert!(answer.rows.iter().all(|row| row.nanoseconds > 0.0));
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SweepStudy {
    /// What is measured; [`BenchWork::ExactDistributionPair`] cannot be.
    pub works: Vec<BenchWork>,
    /// What changes.
    pub varied: Vec<Varied>,
    /// The most threads: 1, 2, 4, and so on up to these.
    pub threads: usize,
    /// The time for each point, in [`SweepStudy::ROUNDS`] rounds of equal length. A quarter more goes before it.
    pub time: Duration,
}

/// One work at one point of the sweep.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepRow {
    /// Its name.
    pub work: &'static str,
    /// What changes in this series. The base case is a row of each series, measured once.
    pub varied: Varied,
    /// Where it was measured.
    #[serde(flatten)]
    pub point: SweepPoint,
    /// Seconds to make the tables of the sampler, once for a query.
    pub setup_seconds: f64,
    /// Samples drawn in the fastest round.
    pub samples: u64,
    /// Seconds they took.
    pub seconds: f64,
    /// Samples per second.
    pub rate: f64,
    /// Nanoseconds of a thread for each sample.
    pub nanoseconds: f64,
    /// Nanoseconds of a thread for each sample by the cost model of the work, on one thread only.
    pub modeled: Option<f64>,
    /// Measured nanoseconds divided by those of the model.
    pub ratio: Option<f64>,
    /// The rate divided by that of one thread times the number of threads, if threads change.
    pub efficiency: Option<f64>,
}

/// A term of a cost model.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostTerm {
    /// What the term is proportional to, as a formula in C and k.
    pub term: &'static str,
    /// Nanoseconds for each unit of it, at least 0.
    pub nanoseconds: f64,
}

/// The cost model of a work, fitted to all its points on one thread.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostModel {
    /// The name of the work.
    pub work: &'static str,
    /// The terms, whose sum is the cost of a sample.
    pub terms: Vec<CostTerm>,
    /// The largest ratio of a measured cost to the model's.
    pub largest_ratio: f64,
    /// The point of this ratio.
    pub at: SweepPoint,
}

/// How the cost of a sample grows from the base case to the last point of a series.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GrowthRow {
    /// The name of the work.
    pub work: &'static str,
    /// What changes.
    pub varied: Varied,
    /// Its value in the base case.
    pub from: f64,
    /// Its last value.
    pub to: f64,
    /// The cost at the last point divided by that of the base case, as measured.
    pub measured: f64,
    /// The same ratio by the model.
    pub modeled: f64,
}

/// The answer of a [`SweepStudy`].
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepAnswer {
    /// Cores that the system offers.
    pub cores: usize,
    /// Architecture and system.
    pub machine: String,
    /// All measurements, work by work.
    pub rows: Vec<SweepRow>,
    /// The cost model of each work.
    pub models: Vec<CostModel>,
    /// How costs grow.
    pub growth: Vec<GrowthRow>,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

answer!(SweepAnswer, "leakbound.bench-sweep/1", warnings);

/// A measured cost above the model's by more than this factor is a warning.
const TOLERATED: f64 = 2.0;
/// Samples that are drawn between two looks at the clock, at least: twice the largest batch, because the last batch is
/// drawn in full even beyond a block.
const LEAST_SAMPLES: u64 = 16_384;

/// What a point of the sweep took.
struct Measured {
    point: SweepPoint,
    setup: f64,
    samples: u64,
    seconds: f64,
}

impl Measured {
    fn nanoseconds(&self) -> f64 {
        1e9 * self.seconds * self.point.threads as f64 / self.samples as f64
    }
}

impl Study for SweepStudy {
    type Answer = SweepAnswer;

    /// # Errors
    /// [`Error::Rejected`] for a work that draws no samples; [`Error::Unavailable`] if the system starts fewer threads.
    fn run(&self, progress: &Progress<'_>) -> Result<SweepAnswer> {
        if self.works.contains(&BenchWork::ExactDistributionPair) {
            return Err(no_samples());
        }
        let points = self.points();
        let meter = Meter::new(progress, (points.len() * self.works.len()) as u64, "points");
        let (mut rows, mut models, mut growth) = (Vec::new(), Vec::new(), Vec::new());
        for &work in &self.works {
            let mut measured = Vec::with_capacity(points.len());
            for &point in &points {
                measured.push(self.measure(work, point, &meter)?);
                meter.add(1)?;
            }
            let model = Model::of(work, &measured);
            let series: Vec<SweepRow> = self.varied.iter().flat_map(|&varied| model.rows(varied, &measured)).collect();
            growth.extend(self.varied.iter().filter_map(|&varied| model.growth(varied, &series)));
            models.extend(model.summary(&series));
            rows.extend(series);
        }
        let warnings = debug_build().into_iter().chain(models.iter().filter_map(above)).collect();
        Ok(SweepAnswer { cores: cores(), machine: name(), rows, models, growth, warnings })
    }
}

impl Default for SweepStudy {
    /// All works that draw samples and all quantities, on up to one thread per core, in 0.4 s each.
    fn default() -> Self {
        let works = BenchWork::ALL.into_iter().filter(|work| *work != BenchWork::ExactDistributionPair).collect();
        Self { works, varied: Varied::ALL.to_vec(), threads: cores(), time: Duration::from_millis(400) }
    }
}

impl SweepStudy {
    /// Number of rounds; the fastest counts, since other work on the machine can only slow a round down.
    pub const ROUNDS: u32 = 4;

    /// All points, each once.
    fn points(&self) -> Vec<SweepPoint> {
        let mut points = vec![SweepPoint::BASE];
        for point in self.varied.iter().flat_map(|&varied| SweepPoint::points(varied, self.threads)) {
            if !points.contains(&point) {
                points.push(point);
            }
        }
        points
    }

    fn measure(&self, work: BenchWork, point: SweepPoint, meter: &Meter<'_>) -> Result<Measured> {
        let pool = pool(point.threads)?;
        let start = Instant::now();
        let sampler = point.sampler(work)?;
        let setup = start.elapsed().as_secs_f64();
        let time = self.time / Self::ROUNDS;
        // Caches and clocks settle first, and show how many samples can be drawn between two looks at the clock.
        let (samples, seconds) = round(&pool, &sampler, LEAST_SAMPLES, time, meter)?;
        let share = samples as f64 / seconds * time.as_secs_f64() / (16.0 * point.threads as f64);
        let block = (share as u64 / LEAST_SAMPLES * LEAST_SAMPLES).clamp(LEAST_SAMPLES, BLOCK_SAMPLES);
        let mut best = Measured { point, setup, samples: 0, seconds: f64::INFINITY };
        for _ in 0..Self::ROUNDS {
            let (samples, seconds) = round(&pool, &sampler, block, time, meter)?;
            if samples as f64 / seconds > best.samples as f64 / best.seconds {
                (best.samples, best.seconds) = (samples, seconds);
            }
        }
        Ok(best)
    }
}

/// Samples of both worlds that all threads draw in this time, at least a block of each world, and the seconds that they
/// took.
fn round(
    pool: &ThreadPool,
    sampler: &ArgmaxSampler,
    block: u64,
    time: Duration,
    meter: &Meter<'_>,
) -> Result<(u64, f64)> {
    let start = Instant::now();
    let drawn = pool.broadcast(|thread| {
        let (mut counts, mut blocks) = (vec![0; sampler.outcomes()], 0);
        while blocks == 0 || start.elapsed() < time {
            for world in World::ALL {
                let id = StreamId { seed: 0, query: thread.index() as u64, world, block: blocks };
                sampler.sample_block(world, &mut Stream::new(id), block, &mut counts);
            }
            blocks += 1;
            if meter.poll().is_break() {
                break;
            }
        }
        counts.iter().sum::<u64>()
    });
    let seconds = start.elapsed().as_secs_f64();
    if meter.is_over() { Err(Error::Interrupted) } else { Ok((drawn.iter().sum(), seconds)) }
}

/// The fitted cost model of a work.
struct Model {
    work: BenchWork,
    costs: Vec<f64>,
}

impl Model {
    fn of(work: BenchWork, measured: &[Measured]) -> Self {
        let alone: Vec<&Measured> = measured.iter().filter(|one| one.point.threads == 1).collect();
        let sizes: Vec<Vec<f64>> =
            alone.iter().map(|one| Term::of(work).iter().map(|term| term.size(&one.point)).collect()).collect();
        let costs: Vec<f64> = alone.iter().map(|one| one.nanoseconds()).collect();
        Self { work, costs: fit(&sizes, &costs) }
    }

    fn cost(&self, point: &SweepPoint) -> f64 {
        Term::of(self.work).iter().zip(&self.costs).map(|(term, cost)| cost * term.size(point)).sum()
    }

    /// The series in which one quantity changes.
    fn rows(&self, varied: Varied, measured: &[Measured]) -> Vec<SweepRow> {
        let fixed = |one: &&Measured| {
            Varied::ALL.iter().all(|&other| other == varied || one.point.value(other) == SweepPoint::BASE.value(other))
        };
        let mut series: Vec<&Measured> = measured.iter().filter(fixed).collect();
        order::sort(&mut series, |a, b| a.point.value(varied).total_cmp(&b.point.value(varied)));
        let one_thread = series.iter().find(|one| one.point == SweepPoint::BASE).map(|one| one.nanoseconds());
        let row = |one: &&Measured| {
            let modeled = (one.point.threads == 1).then(|| self.cost(&one.point));
            SweepRow {
                work: self.work.name(),
                varied,
                point: one.point,
                setup_seconds: one.setup,
                samples: one.samples,
                seconds: one.seconds,
                rate: one.samples as f64 / one.seconds,
                nanoseconds: one.nanoseconds(),
                modeled,
                ratio: modeled.map(|modeled| one.nanoseconds() / modeled),
                efficiency: one_thread.filter(|_| varied == Varied::Threads).map(|alone| alone / one.nanoseconds()),
            }
        };
        series.iter().map(row).collect()
    }

    /// The growth over a series, where it is a matter of the model.
    fn growth(&self, varied: Varied, series: &[SweepRow]) -> Option<GrowthRow> {
        let of = |row: &&SweepRow| row.varied == varied && row.point.threads == 1;
        let base = series.iter().find(|row| of(row) && row.point == SweepPoint::BASE)?;
        let last = series.iter().rfind(of)?;
        (varied != Varied::Threads).then(|| GrowthRow {
            work: self.work.name(),
            varied,
            from: base.point.value(varied),
            to: last.point.value(varied),
            measured: last.nanoseconds / base.nanoseconds,
            modeled: self.cost(&last.point) / self.cost(&base.point),
        })
    }

    fn summary(&self, series: &[SweepRow]) -> Option<CostModel> {
        let ratios = series.iter().filter_map(|row| Some((row.ratio?, row.point)));
        let (largest_ratio, at) = ratios.max_by(|a, b| a.0.total_cmp(&b.0))?;
        let terms = Term::of(self.work).iter().zip(&self.costs);
        let terms = terms.map(|(term, &nanoseconds)| CostTerm { term: term.symbol(), nanoseconds }).collect();
        Some(CostModel { work: self.work.name(), terms, largest_ratio, at })
    }
}

/// A cost that the model does not explain.
fn above(model: &CostModel) -> Option<Warning> {
    let SweepPoint { classes, voters, sigma, .. } = model.at;
    (model.largest_ratio > TOLERATED).then(|| Warning {
        code: "cost-above-model",
        message: format!(
            "{}: a sample takes {:.1} times what the cost model predicts at C = {classes}, k = {voters}, σ = {sigma}",
            model.work, model.largest_ratio
        ),
        hint: "repeat it with more seconds while the machine is otherwise idle".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(point: SweepPoint, nanoseconds: f64) -> Measured {
        // A thousand samples of a thread.
        Measured { point, setup: 0.5, samples: 1000 * point.threads as u64, seconds: 1e-6 * nanoseconds }
    }

    fn study(threads: usize) -> SweepStudy {
        SweepStudy { threads, time: Duration::ZERO, ..SweepStudy::default() }
    }

    #[test]
    fn every_point_is_measured_once() {
        let points = study(4).points();
        assert_eq!(points.len(), 9 + 7 + 6 + 3 - 3);
        assert!((1..points.len()).all(|index| !points[..index].contains(&points[index])));
        assert!(!SweepStudy::default().works.contains(&BenchWork::ExactDistributionPair));
    }

    /// Costs of 2 + 0.5 C nanoseconds on one thread; two threads take a quarter more each.
    #[test]
    fn rows_compare_costs_with_the_model() {
        let cost =
            |point: &SweepPoint| (2.0 + 0.5 * point.classes as f64) * if point.threads == 2 { 1.25 } else { 1.0 };
        let measured: Vec<Measured> = study(2).points().iter().map(|&point| measured(point, cost(&point))).collect();
        let model = Model::of(BenchWork::Fixed, &measured);
        let classes = model.rows(Varied::Classes, &measured);
        assert_eq!(
            classes.iter().map(|row| row.point.classes).collect::<Vec<_>>(),
            [2, 5, 10, 20, 50, 100, 200, 500, 1000]
        );
        let near = |value: f64, expected: f64| (value / expected - 1.0).abs() < 1e-9;
        assert!(classes.iter().all(|row| near(row.ratio.unwrap(), 1.0) && row.efficiency.is_none()));
        assert!(near(classes[8].nanoseconds, 502.0) && near(classes[8].rate, 1e9 / 502.0));
        let threads = model.rows(Varied::Threads, &measured);
        assert_eq!(threads.iter().map(|row| row.point.threads).collect::<Vec<_>>(), [1, 2]);
        assert!(near(threads[0].efficiency.unwrap(), 1.0) && near(threads[1].efficiency.unwrap(), 0.8));
        assert!(near(threads[1].rate, 2e9 / 8.75) && threads[1].ratio.is_none());
        let growth = model.growth(Varied::Classes, &classes).unwrap();
        assert!(near(growth.measured, 502.0 / 7.0) && near(growth.modeled, 502.0 / 7.0));
        assert_eq!([growth.from, growth.to], [10.0, 1000.0]);
        assert!(model.growth(Varied::Threads, &threads).is_none());
    }

    #[test]
    fn a_cost_above_the_model_is_a_warning() {
        let cost = |point: &SweepPoint| if point.sigma == 1.0 { 35.0 } else { 2.0 + 0.5 * point.classes as f64 };
        let measured: Vec<Measured> = study(1).points().iter().map(|&point| measured(point, cost(&point))).collect();
        let model = Model::of(BenchWork::Fixed, &measured);
        let summary = model.summary(&model.rows(Varied::Sigma, &measured)).unwrap();
        assert!(summary.largest_ratio > 2.0 && summary.at.sigma == 1.0, "{summary:?}");
        assert_eq!(above(&summary).unwrap().code, "cost-above-model");
        assert!(above(&CostModel { largest_ratio: 1.2, ..summary }).is_none());
    }
}
