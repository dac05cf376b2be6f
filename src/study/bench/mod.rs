//! How many outputs are drawn in a second.

mod grid;
mod growth;
mod machine;
mod sweep;
mod works;

pub use grid::{SweepPoint, Varied};
pub use sweep::{CostModel, CostTerm, GrowthRow, SweepAnswer, SweepRow, SweepStudy};
pub use works::BenchWork;

use machine::{cores, debug_build, name, pool, steps};

use super::progress::{Meter, Progress};
use super::{Study, Warning};
use crate::counts::MAX_COUNT;
use crate::error::{Error, Result};
use crate::simulate::{ArgmaxSampler, PartialCounts, Sampler, Simulation};
use rayon::ThreadPool;
use rayon::prelude::*;
use serde::Serialize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How fast is this machine?
#[derive(Debug, Clone)]
pub struct BenchStudy {
    /// What is measured.
    pub works: Vec<BenchWork>,
    /// The most threads: every work is measured on 1, 2, 4, and so on up to these.
    pub threads: usize,
    /// The time for each work and number of threads.
    pub time: Duration,
}

/// One work on one number of threads.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BenchRow {
    /// Its name.
    pub work: &'static str,
    /// What a sample is.
    pub unit: &'static str,
    /// Threads.
    pub threads: usize,
    /// Samples drawn.
    pub samples: u64,
    /// Seconds they took.
    pub seconds: f64,
    /// Samples per second.
    pub rate: f64,
}

/// The answer of a [`BenchStudy`].
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BenchAnswer {
    /// Cores that the system offers.
    pub cores: usize,
    /// Architecture and system.
    pub machine: String,
    /// All measurements.
    pub rows: Vec<BenchRow>,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

answer!(BenchAnswer, "leakbound.bench/1", warnings);

impl Study for BenchStudy {
    type Answer = BenchAnswer;

    /// # Errors
    /// [`Error::Unavailable`] if the system starts fewer threads, because rates would be attributed to the wrong
    /// number.
    fn run(&self, progress: &Progress<'_>) -> Result<BenchAnswer> {
        let steps = steps(self.threads);
        let meter = Meter::new(progress, (steps.len() * self.works.len()) as u64, "rates");
        let mut rows = Vec::new();
        for threads in steps {
            let pool = pool(threads)?;
            for &work in &self.works {
                let (samples, seconds) = self.measure(&pool, work, &meter)?;
                let rate = samples as f64 / seconds;
                rows.push(BenchRow { work: work.name(), unit: work.unit(), threads, samples, seconds, rate });
                meter.add(1)?;
            }
        }
        let warnings = debug_build().into_iter().collect();
        Ok(BenchAnswer { cores: cores(), machine: name(), rows, warnings })
    }
}

impl BenchStudy {
    /// Samples, and the seconds that they took.
    fn measure(&self, pool: &ThreadPool, work: BenchWork, meter: &Meter<'_>) -> Result<(u64, f64)> {
        if work == BenchWork::ExactDistributionPair {
            return self.pairs(pool, work, meter);
        }
        let sampler = work.sampler()?;
        pool.install(|| {
            // Caches and clocks settle first.
            outputs(&sampler, self.time / 4, meter)?;
            let start = Instant::now();
            let samples = outputs(&sampler, self.time, meter)?;
            Ok((samples, start.elapsed().as_secs_f64()))
        })
    }

    /// Pairs of exact distributions, on each thread one after the other.
    fn pairs(&self, pool: &ThreadPool, work: BenchWork, meter: &Meter<'_>) -> Result<(u64, f64)> {
        let (model, noise) = (work.model()?, "gaussian:40".parse()?);
        let done = AtomicU64::new(0);
        let start = Instant::now();
        pool.install(|| {
            (0..pool.current_num_threads()).into_par_iter().with_max_len(1).try_for_each(|_| {
                while done.load(Ordering::Relaxed) == 0 || start.elapsed() < self.time {
                    model.output_pair(noise)?;
                    done.fetch_add(1, Ordering::Relaxed);
                    if meter.poll().is_break() {
                        return Err(Error::Interrupted);
                    }
                }
                Ok(())
            })
        })?;
        Ok((done.into_inner(), start.elapsed().as_secs_f64()))
    }
}

impl Default for BenchStudy {
    /// All works, on up to one thread per core, in 0.4 s each.
    fn default() -> Self {
        Self { works: BenchWork::ALL.to_vec(), threads: cores(), time: Duration::from_millis(400) }
    }
}

/// Outputs of both worlds drawn in this time; at least a block of each.
fn outputs(sampler: &ArgmaxSampler, time: Duration, meter: &Meter<'_>) -> Result<u64> {
    let simulation = Simulation::new(MAX_COUNT)?;
    let mut part = PartialCounts::new(simulation, sampler.outcomes())?;
    let start = Instant::now();
    part.advance(sampler, 0..simulation.blocks(), |_| {
        if start.elapsed() < time { meter.poll() } else { ControlFlow::Break(()) }
    })?;
    if meter.is_over() { Err(Error::Interrupted) } else { Ok(2 * part.samples()) }
}
