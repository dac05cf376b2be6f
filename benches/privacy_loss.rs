//! Composition by privacy-loss distributions.

use criterion::{Criterion, criterion_group, criterion_main};
use leakbound::distribution::{Noise, OutcomeDistribution, noisy_argmax_distribution};
use leakbound::divergence::{PrivacyLoss, compose_losses};
use leakbound::histogram::{Neighbor, VoteHistogram};
use leakbound::quantity::Delta;
use std::hint::black_box;

/// Queries of ten classes, all different, each with a vote moved from the first class to the second.
fn losses(queries: u64) -> Vec<(PrivacyLoss, u64)> {
    let noise: Noise = "gaussian:40".parse().expect("a noise");
    let distribution = |histogram: &VoteHistogram| -> OutcomeDistribution {
        noisy_argmax_distribution(histogram, noise).expect("a distribution")
    };
    (0..queries)
        .map(|query| {
            let mut counts = vec![130 - query % 77, 40 + query % 77, 20, 15, 12, 10, 8, 7, 5, 3];
            counts[(query % 7 + 2) as usize] += query % 13;
            let histogram = VoteHistogram::new(counts).expect("a histogram");
            let neighbor = histogram.neighbor(Neighbor::Moved { from: 0, to: 1 }).expect("a neighbor");
            (
                PrivacyLoss::of_distributions(&distribution(&histogram), &distribution(&neighbor))
                    .expect("same classes"),
                1,
            )
        })
        .collect()
}

fn benches(criterion: &mut Criterion) {
    let delta = Delta::new(1e-5).expect("a delta");
    let thousand = losses(1000);
    let mut group = criterion.benchmark_group("compose losses, C = 10, gap 1e-3");
    group.sample_size(10);
    group.bench_function("1000 different queries", |bencher| {
        bencher.iter(|| compose_losses(black_box(&thousand), delta, 1e-3));
    });
    let repeated = vec![(thousand[0].0.clone(), 1000)];
    group.bench_function("one query 1000 times", |bencher| {
        bencher.iter(|| compose_losses(black_box(&repeated), delta, 1e-3));
    });
    group.finish();
}

criterion_group!(all, benches);
criterion_main!(all);
