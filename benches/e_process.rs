//! The e-process: a stream of 10^7 pairs, and recorded counts.

use criterion::{Criterion, Throughput, criterion_group};
use leakbound::audit::EProcess;
use leakbound::bound::Direction;
use leakbound::counts::PairedCounts;
use leakbound::quantity::{FailureProbability, Order};
use std::hint::black_box;

const PAIRS: usize = 10_000_000;

fn e_process(criterion: &mut Criterion) {
    let failure = FailureProbability::new(0.05).expect("a probability");
    let order = Order::new(2.0).expect("an order");
    // Pairs of ten outcomes without a pattern that could be predicted; the other world has a little less of outcome 0.
    let pairs: Vec<(usize, usize)> = (0..65_536u64)
        .map(|at| {
            let bits = (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            ((bits % 11 % 10) as usize, (bits / 11 % 10) as usize)
        })
        .collect();
    let mut group = criterion.benchmark_group("e-process, C = 10");
    group.sample_size(10);
    group.throughput(Throughput::Elements(PAIRS as u64));
    group.bench_function("10^7 pairs one by one, and the bound", |bencher| {
        bencher.iter(|| {
            let mut process = EProcess::new(10).expect("a process");
            for at in 0..PAIRS {
                let (x, y) = pairs[at & 65_535];
                process.observe(x, y).expect("outcomes");
            }
            process.lower_bound(black_box(order), Direction::Forward, failure).value
        });
    });
    let labels = (0..10).map(|class| class.to_string()).collect();
    let counts: Vec<u64> = (0..10).map(|class| 1_000_000 >> class).collect();
    let neighbor: Vec<u64> =
        counts.iter().enumerate().map(|(class, count)| count + count / (10 + 3 * class as u64)).collect();
    let counts = PairedCounts::new(labels, counts, neighbor).expect("counts");
    group.throughput(Throughput::Elements(1));
    group.bench_function("recorded counts, 2 10^6 a side", |bencher| {
        bencher.iter(|| {
            let mut process = EProcess::new(10).expect("a process");
            process.observe_counts(black_box(&counts), 0)
        });
    });
    let mut process = EProcess::new(10).expect("a process");
    process.observe_counts(&counts, 0).expect("pairs");
    group.bench_function("one bound of them", |bencher| {
        bencher.iter(|| process.lower_bound(black_box(order), Direction::Forward, failure).value);
    });
    group.finish();
}

criterion_group!(benches, e_process);
