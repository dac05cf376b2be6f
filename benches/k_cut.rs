//! Bounds that use every outcome, 20 orders in both directions.

use criterion::{Criterion, criterion_group};
use leakbound::audit::{KCutBox, SimultaneousIntervals};
use leakbound::bound::{Direction, LowerBound};
use leakbound::counts::PairedCounts;
use leakbound::interval::{RectangleProbability, clopper_pearson_simultaneous, sison_glaz};
use leakbound::quantity::{FailureProbability, Order};
use std::hint::black_box;

/// Two worlds of C classes that differ by a few standard deviations everywhere.
fn counts(classes: u64) -> PairedCounts {
    let labels = (0..classes).map(|class| class.to_string()).collect();
    let counts: Vec<u64> = (0..classes).map(|class| 20_000 + 137 * class).collect();
    let neighbor = counts.iter().map(|count| count + (count * 7_919) % 1_500).collect();
    PairedCounts::new(labels, counts, neighbor).expect("counts")
}

fn all_orders(bound: impl Fn(Order, Direction) -> LowerBound) -> f64 {
    let orders = (2..22).map(|order| Order::new(f64::from(order)).expect("an order"));
    orders.flat_map(|order| Direction::BOTH.map(|direction| bound(order, direction).value)).sum()
}

fn bounds(criterion: &mut Criterion) {
    let failure = FailureProbability::new(0.05).expect("a probability");
    for classes in [10, 1000] {
        let counts = counts(classes);
        let mut group = criterion.benchmark_group(format!("k-cut, C = {classes}, 20 orders, both directions"));
        group.bench_function("limits of the box alone", |bencher| {
            bencher.iter(|| clopper_pearson_simultaneous(black_box(counts.counts()), failure));
        });
        group.bench_function("box", |bencher| {
            bencher.iter(|| {
                let limits = KCutBox::new(black_box(&counts), failure).expect("limits");
                all_orders(|order, direction| limits.bound(order, direction))
            });
        });
        group.bench_function("Goodman", |bencher| {
            bencher.iter(|| {
                let intervals = SimultaneousIntervals::goodman(black_box(&counts), failure).expect("intervals");
                all_orders(|order, direction| intervals.bound(order, direction))
            });
        });
        group.bench_function("Sison-Glaz, Edgeworth", |bencher| {
            bencher.iter(|| {
                let intervals =
                    SimultaneousIntervals::sison_glaz(black_box(&counts), failure, RectangleProbability::Edgeworth)
                        .expect("intervals");
                all_orders(|order, direction| intervals.bound(order, direction))
            });
        });
        group.finish();
    }
    let huge = vec![400_000_000_000, 350_000_000_000, 249_999_999_000, 1_000];
    criterion.bench_function("Sison-Glaz intervals, n = 1e12, C = 4", |bencher| {
        bencher.iter(|| sison_glaz(black_box(&huge), failure, RectangleProbability::Edgeworth));
    });
    let small: Vec<u64> = (1..=10).map(|class| 300 * class).collect();
    criterion.bench_function("Sison-Glaz intervals, exact, n = 16500, C = 10", |bencher| {
        bencher.iter(|| sison_glaz(black_box(&small), failure, RectangleProbability::Exact));
    });
}

criterion_group!(benches, bounds);
