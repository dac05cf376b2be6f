//! Clopper-Pearson limits and the bounds made of them.

use criterion::{BatchSize, Criterion, Throughput, criterion_group};
use leakbound::audit::{AuditPlan, Guide, Method, audit_counts};
use leakbound::bound::Direction;
use leakbound::counts::PairedCounts;
use leakbound::interval::{BinomialCounts, clopper_pearson_lower};
use leakbound::quantity::{Delta, FailureProbability, Order};
use std::hint::black_box;

fn failure() -> FailureProbability {
    FailureProbability::new(0.025).expect("a probability")
}

fn limits(criterion: &mut Criterion) {
    const LIMITS: u64 = 1000;
    let mut group = criterion.benchmark_group("Clopper-Pearson");
    group.throughput(Throughput::Elements(LIMITS));
    for n in [1_000u64, 100_000_000, 1_000_000_000_000] {
        // Successes spread over the whole range in equal steps of the logarithm and near both ends.
        let counts: Vec<BinomialCounts> = (0..LIMITS)
            .map(|i| {
                let share = [1e-6, 1e-3, 0.1, 0.5, 0.9][i as usize % 5];
                BinomialCounts::new(((n as f64 * share) as u64 + i % 97).min(n), n).expect("counts")
            })
            .collect();
        group.bench_function(format!("{LIMITS} lower limits, n = {n:e}"), |bencher| {
            bencher.iter(|| {
                counts.iter().map(|&k| clopper_pearson_lower(k, failure()).expect("a limit").value).sum::<f64>()
            });
        });
    }
    group.finish();
}

fn audit(criterion: &mut Criterion) {
    let labels = (0..10).map(|class| class.to_string()).collect();
    let counts: Vec<u64> = (0..10).map(|class| 1_000_000 >> class).collect();
    let neighbor: Vec<u64> = counts.iter().rev().copied().collect();
    let counts = PairedCounts::new(labels, counts, neighbor).expect("counts");
    let plan = AuditPlan {
        orders: (2..22).map(|order| Order::new(f64::from(order)).expect("an order")).collect(),
        delta: Delta::new(1e-5).expect("a delta"),
        failure: failure(),
        methods: Method::ALL.to_vec(),
        directions: Direction::BOTH.to_vec(),
        seed: 0,
        resamples: 10_000,
    };
    criterion.bench_function("audit of counts, C = 10, 20 orders, all methods", |bencher| {
        bencher.iter_batched(
            || Guide::fixed_list(10),
            |guide| audit_counts(black_box(&counts), &guide, &plan),
            BatchSize::SmallInput,
        );
    });
}

criterion_group!(benches, limits, audit);
