//! Rényi divergences and worst neighbors.

use criterion::{Criterion, criterion_group};
use leakbound::distribution::{Noise, noisy_argmax_distribution};
use leakbound::divergence::{renyi_divergence, worst_neighbors};
use leakbound::histogram::{VoteChange, VoteHistogram};
use leakbound::quantity::Order;
use std::hint::black_box;

fn benches(criterion: &mut Criterion) {
    let noise: Noise = "gaussian:40".parse().expect("a noise");
    let histogram = VoteHistogram::new(vec![120, 60, 30, 15, 10, 6, 4, 3, 2, 0]).expect("a histogram");
    let neighbor = VoteHistogram::new(vec![119, 61, 30, 15, 10, 6, 4, 3, 2, 0]).expect("a histogram");
    let distribution = |histogram| noisy_argmax_distribution(histogram, noise).expect("a distribution");
    let (p, q) = (distribution(&histogram), distribution(&neighbor));
    let order = Order::new(8.0).expect("an order");
    criterion.bench_function("Rényi divergence, C = 10", |bencher| {
        bencher.iter(|| renyi_divergence(black_box(&p), &q, order));
    });
    criterion.bench_function("worst neighbor, C = 10, 90 changes", |bencher| {
        bencher.iter(|| worst_neighbors(black_box(&histogram), VoteChange::Moved, noise, &[order], &[]));
    });
}

criterion_group!(all, benches);
