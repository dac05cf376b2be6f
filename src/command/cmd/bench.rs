//! `leakbound bench`.

use crate::command::args::{BenchOptions, Common, Work};
use crate::command::output::{Output, envelope};
use crate::command::threads::pool;
use crate::counts::MAX_COUNT;
use crate::report::{BenchDocument, BenchRow};
use crate::simulate::{ArgmaxSampler, PartialCounts, Sampler, Simulation};
use crate::study::Warning;
use crate::{Error, Result};
use rayon::ThreadPool;
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub fn run(common: &Common, options: &BenchOptions) -> Result<bool> {
    let output = Output::open(common, &[])?;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let most = common.threads.unwrap_or(cores);
    let works = if options.work.is_empty() { Work::ALL.to_vec() } else { options.work.clone() };
    // The command line bounds the seconds.
    let time = Duration::try_from_secs_f64(options.seconds).unwrap_or_default();
    let mut rows = Vec::new();
    for threads in steps(most) {
        let (pool, fewer) = pool(threads)?;
        if let Some(fewer) = fewer {
            // Rates of fewer threads under the name of more would be wrong.
            return Err(Error::Unavailable { operation: "bench", reason: fewer.reason });
        }
        for &work in &works {
            let (samples, seconds) = measure(&pool, work, time)?;
            let rate = samples as f64 / seconds;
            rows.push(BenchRow { work: work.name(), unit: work.unit(), threads, samples, seconds, rate });
        }
    }
    let warnings = cfg!(debug_assertions).then(|| Warning {
        code: "debug-build",
        message: "this program was built with checks that cost speed".into(),
        hint: "cargo build --release".into(),
    });
    let document = BenchDocument {
        envelope: envelope("leakbound.bench/1", common, options, Vec::new(), warnings.into_iter().collect()),
        cores,
        machine: format!("{} {}", std::env::consts::ARCH, std::env::consts::OS),
        rows,
    };
    output.write(&document)?;
    Ok(false)
}

/// 1, 2, 4, .. and the last.
fn steps(most: usize) -> Vec<usize> {
    let mut steps: Vec<usize> =
        std::iter::successors(Some(1), |threads| Some(2 * threads)).take_while(|&t| t < most).collect();
    steps.push(most);
    steps
}

/// Samples, and the seconds that they took.
fn measure(pool: &ThreadPool, work: Work, time: Duration) -> Result<(u64, f64)> {
    if work == Work::ExactLawPair {
        return pairs(pool, work, time);
    }
    let mechanism = work.mechanism()?;
    pool.install(|| {
        // Caches and clocks settle first.
        outputs(&mechanism, time / 4)?;
        let start = Instant::now();
        let samples = outputs(&mechanism, time)?;
        Ok((samples, start.elapsed().as_secs_f64()))
    })
}

/// Outputs of both worlds drawn in this time; at least a block of each.
fn outputs(mechanism: &ArgmaxSampler, time: Duration) -> Result<u64> {
    let simulation = Simulation::new(MAX_COUNT)?;
    let mut part = PartialCounts::new(simulation, mechanism.outcomes())?;
    let start = Instant::now();
    part.advance(mechanism, 0..simulation.blocks(), |_| {
        if start.elapsed() < time { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(2 * part.samples())
}

/// Pairs of exact laws, on each thread one after the other.
fn pairs(pool: &ThreadPool, work: Work, time: Duration) -> Result<(u64, f64)> {
    let (model, noise) = (work.model()?, "gaussian:40".parse()?);
    let done = AtomicU64::new(0);
    let start = Instant::now();
    pool.install(|| {
        (0..pool.current_num_threads()).into_par_iter().with_max_len(1).try_for_each(|_| {
            while done.load(Ordering::Relaxed) == 0 || start.elapsed() < time {
                model.output_pair(noise)?;
                done.fetch_add(1, Ordering::Relaxed);
            }
            Ok::<_, Error>(())
        })
    })?;
    Ok((done.into_inner(), start.elapsed().as_secs_f64()))
}
