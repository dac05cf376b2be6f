//! The bootstrap: resampling, and the bounds of all orders and directions read from it.

use criterion::{Criterion, criterion_group};
use leakbound::audit::{Bootstrap, BootstrapInterval};
use leakbound::bound::Direction;
use leakbound::counts::PairedCounts;
use leakbound::quantity::{FailureProbability, Order};
use std::hint::black_box;

const RESAMPLES: usize = 10_000;

fn counts() -> PairedCounts {
    let labels = (0..10).map(|class| class.to_string()).collect();
    let counts: Vec<u64> = (0..10).map(|class| 1_000_000 >> class).collect();
    let neighbor: Vec<u64> =
        counts.iter().enumerate().map(|(class, count)| count + count / (10 + 3 * class as u64)).collect();
    PairedCounts::new(labels, counts, neighbor).expect("counts")
}

fn bootstrap(criterion: &mut Criterion) {
    let counts = counts();
    let failure = FailureProbability::new(0.05).expect("a probability");
    let orders: Vec<Order> = (2..22).map(|order| Order::new(f64::from(order)).expect("an order")).collect();
    // One core, as the figure is stated.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let mut group = criterion.benchmark_group("bootstrap, C = 10, 10^4 resamples, one core");
    group.sample_size(10);
    group.bench_function("resampling", |bencher| {
        bencher.iter(|| pool.install(|| Bootstrap::new(black_box(&counts), &[], RESAMPLES, 0)));
    });
    for interval in [BootstrapInterval::Percentile, BootstrapInterval::Bca] {
        group.bench_function(format!("resampling and k-cut of 20 orders in 2 directions, {interval:?}"), |bencher| {
            bencher.iter(|| {
                pool.install(|| {
                    let bootstrap = Bootstrap::new(black_box(&counts), &[], RESAMPLES, 0).expect("a bootstrap");
                    let bounds = orders.iter().flat_map(|&order| Direction::BOTH.map(|side| (order, side)));
                    bounds.map(|(order, side)| bootstrap.k_cut(order, side, failure, interval).value).sum::<f64>()
                })
            });
        });
    }
    group.finish();
}

criterion_group!(benches, bootstrap);
