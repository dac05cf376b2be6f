//! LiRA leave-one-out, RMIA and the bootstrap over victims from memory: 64 models, 50,000 samples, 18 views.

use criterion::{Criterion, Throughput, criterion_group};
use leakbound::membership::{
    LabelOnlyPlan, LiraPlan, MemoryScores, RmiaPlan, label_only, lira, rmia, victim_bootstrap,
};
use leakbound::prelude::*;
use ndarray::{Array2, Array3};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

fn recording(samples: usize, views: usize, recorded: impl Fn(f32) -> f32) -> MemoryScores {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(1);
    let members = Array2::from_shape_simple_fn((64, samples), || generator.random::<f32>() < 0.5);
    let scores = Array3::from_shape_fn((64, samples, views), |(model, sample, _)| {
        let noise: f32 = generator.sample(StandardNormal);
        recorded(noise + if members[[model, sample]] { 0.7 } else { 0.0 })
    });
    MemoryScores::single(scores, members).unwrap()
}

fn attacks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("membership");
    group.sample_size(10);
    // `cargo bench -- --test` runs everything once: a small recording is enough to know that it runs.
    let full = !std::env::args().any(|argument| argument == "--test");
    let samples = if full { 50_000 } else { 500 };
    let scores = recording(samples, 18, |score| score);
    let confidences = recording(samples, 18, |score| 1.0 / (1.0 + (-score).exp()));
    let bits = recording(500, 18, |score| f32::from(u8::from(score > 0.0)));
    let guesses = lira(&scores, &LiraPlan::default()).unwrap().scores;
    let fprs = [0.001, 0.01, 0.1].map(|fpr| Probability::new(fpr).unwrap());
    let failure = FailureProbability::new(0.05).unwrap();
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        group.throughput(Throughput::Elements(64 * samples as u64));
        group.bench_function(format!("lira, 64 x {samples} x 18, {threads} threads"), |bencher| {
            bencher.iter(|| pool.install(|| lira(&scores, &LiraPlan::default()).unwrap()));
        });
        group.bench_function(format!("rmia, 64 x {samples} x 18, {threads} threads"), |bencher| {
            bencher.iter(|| pool.install(|| rmia(&confidences, &RmiaPlan::default()).unwrap()));
        });
        group.throughput(Throughput::Elements(200 * 64 * samples as u64));
        group.bench_function(format!("200 resamples of 64 victims x {samples}, {threads} threads"), |bencher| {
            bencher.iter(|| pool.install(|| victim_bootstrap(&guesses, &fprs, 200, failure, 0).unwrap()));
        });
        group.throughput(Throughput::Elements(64 * 500));
        group.bench_function(format!("label-only, 64 x 500 x 18, {threads} threads"), |bencher| {
            bencher.iter(|| pool.install(|| label_only(&bits, &LabelOnlyPlan::default()).unwrap()));
        });
    }
    group.finish();
}

criterion_group!(benches, attacks);
