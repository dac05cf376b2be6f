//! The certified worst case of GNMax over all votes.

use criterion::{Criterion, criterion_group};
use leakbound::accountant::{gnmax_worst_case, gnmax_worst_case_curve};
use leakbound::histogram::VoteChange;
use leakbound::quantity::{NoiseScale, Order};
use std::hint::black_box;

fn benches(criterion: &mut Criterion) {
    let sigma = NoiseScale::new(40.0).expect("a scale");
    let orders: Vec<Order> = (0..60).map(|i| Order::new(1.0 + 0.1 * 1.12f64.powi(i)).expect("an order")).collect();
    criterion.bench_function("worst case, one order", |bencher| {
        bencher.iter(|| gnmax_worst_case(black_box(orders[20]), sigma, VoteChange::Moved));
    });
    for sigma in [0.5, 1.0, 2.0, 5.0, 10.0, 40.0] {
        let scale = NoiseScale::new(sigma).expect("a scale");
        criterion.bench_function(&format!("worst case, 60 orders from 1.1 to 81, sigma {sigma}"), |bencher| {
            bencher.iter(|| gnmax_worst_case_curve(black_box(&orders), scale, VoteChange::Moved));
        });
    }
}

criterion_group!(all, benches);
