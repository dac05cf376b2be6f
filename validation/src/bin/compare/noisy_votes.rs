//! Our rates of noisy votes that `leakbound bench` does not name: outputs, and exact distributions of both worlds.

use super::Result;
use leakbound::distribution::Noise;
use leakbound::histogram::VoteHistogram;
use leakbound::model::{PateModel, PromptPateModel, VoteModel};
use leakbound::simulate::{ArgmaxSampler, PartialCounts, Sampler, Simulation};
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Outputs of fixed votes of a hundred classes per second: 482 votes by Zipf's law.
pub fn fixed_100_rate(_: &str, seconds: f64) -> Result<f64> {
    outputs_rate(&fixed((1..=100).map(|class| 100 / class).collect())?, "gaussian:40", seconds)
}

/// Pairs of exact distributions per second, of 250 teachers and a hundred classes, with vote probabilities by Zipf's
/// law; the changed teacher is nearly as sure of the last class as not.
pub fn pair_100_rate(_: &str, seconds: f64) -> Result<f64> {
    let weights: Vec<f64> = (1..=100).map(|class| f64::from(class).recip()).collect();
    let total: f64 = weights.iter().sum();
    let p: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
    let mut marked = vec![0.005; 100];
    marked[99] = 0.505;
    let model: VoteModel = PateModel::new(250, &p, &marked)?.into();
    let noise = "gaussian:40".parse()?;
    let done = AtomicU64::new(0);
    pool()?.install(|| {
        let start = Instant::now();
        (0..2).into_par_iter().with_max_len(1).try_for_each(|_| {
            while start.elapsed().as_secs_f64() < seconds {
                std::hint::black_box(model.output_pair(noise)?);
                done.fetch_add(1, Ordering::Relaxed);
            }
            Ok::<_, leakbound::Error>(())
        })?;
        Ok(done.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64())
    })
}

/// A model of fixed votes; in the other world one voter of the largest class votes for the smallest.
pub fn fixed(votes: Vec<u64>) -> Result<VoteModel> {
    let mut neighbor = votes.clone();
    let place = |key: fn(&(usize, &u64)) -> u64| votes.iter().enumerate().min_by_key(key).map_or(0, |(class, _)| class);
    let [largest, smallest] = [place(|(_, votes)| u64::MAX - **votes), place(|(_, votes)| **votes)];
    neighbor[largest] -= 1;
    neighbor[smallest] += 1;
    let [votes, neighbor] = [votes, neighbor].map(VoteHistogram::new);
    Ok(PromptPateModel::new(votes?, neighbor?)?.into())
}

/// Outputs per second of both worlds on two threads, after a quarter of the time for caches and clocks to settle.
pub fn outputs_rate(model: &VoteModel, noise: &str, seconds: f64) -> Result<f64> {
    let noise: Noise = noise.parse()?;
    let sampler = ArgmaxSampler::new(model, noise);
    pool()?.install(|| {
        outputs(&sampler, seconds / 4.0)?;
        let start = Instant::now();
        let drawn = outputs(&sampler, seconds)?;
        Ok(drawn as f64 / start.elapsed().as_secs_f64())
    })
}

/// Outputs drawn in this time.
fn outputs(sampler: &ArgmaxSampler, seconds: f64) -> Result<u64> {
    let simulation = Simulation::new(1 << 53)?;
    let mut part = PartialCounts::new(simulation, sampler.outcomes())?;
    let start = Instant::now();
    let watch =
        |_| if start.elapsed().as_secs_f64() < seconds { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
    part.advance(sampler, 0..simulation.blocks(), watch)?;
    Ok(2 * part.samples())
}

/// The two threads of all rates.
pub fn pool() -> Result<rayon::ThreadPool> {
    Ok(rayon::ThreadPoolBuilder::new().num_threads(2).build()?)
}
