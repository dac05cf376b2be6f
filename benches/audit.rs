//! The bounds from one linear functional: half-space, variational and region, for 20 orders in both directions.

use criterion::{Criterion, criterion_group};
use leakbound::audit::{HalfSpace, ReferenceDistributions, Region, Variational};
use leakbound::bound::Direction;
use leakbound::counts::PairedCounts;
use leakbound::distribution::OutcomeDistribution;
use leakbound::interval::BinomialCounts;
use leakbound::quantity::{FailureProbability, Order};
use std::hint::black_box;

const SAMPLES: f64 = 1e6;

fn failure() -> FailureProbability {
    FailureProbability::new(0.05).expect("a probability")
}

fn goals() -> Vec<(Order, Direction)> {
    let orders = (0..20).map(|step| Order::new(1.5 + 1.5 * f64::from(step)).expect("an order"));
    orders.flat_map(|order| Direction::BOTH.map(|direction| (order, direction))).collect()
}

/// Distributions of C outcomes whose logarithmic ratios are spread over ±0.1, and counts at their frequencies.
fn case(classes: usize) -> (ReferenceDistributions, PairedCounts) {
    let weight = |class: usize| 1.0 / (1.0 + class as f64).sqrt();
    let ratio = |class: usize| 0.1 * (1.7 * class as f64).sin();
    let distribution = |sign: f64| {
        let weights: Vec<f64> = (0..classes).map(|class| weight(class) * (sign * ratio(class)).exp()).collect();
        let total: f64 = weights.iter().sum();
        OutcomeDistribution::from_probabilities(&weights.iter().map(|weight| weight / total).collect::<Vec<_>>())
            .expect("a distribution")
    };
    let (p, q) = (distribution(0.5), distribution(-0.5));
    let counts = |distribution: &OutcomeDistribution| distribution.p().iter().map(|p| (p * SAMPLES) as u64).collect();
    let labels = (0..classes).map(|class| class.to_string()).collect();
    let counts = PairedCounts::new(labels, counts(&p), counts(&q)).expect("counts");
    (ReferenceDistributions::from_distributions(&p, &q).expect("distributions"), counts)
}

fn bounds(criterion: &mut Criterion) {
    let goals = goals();
    let inside = |successes| BinomialCounts::new(successes, 1_000_000).expect("counts");
    criterion.bench_function("two-cut-half-space, 40 bounds", |bencher| {
        bencher.iter(|| {
            let space = HalfSpace::new(black_box(inside(507_050)), inside(492_950), failure()).expect("limits");
            goals.iter().map(|&(order, direction)| space.bound(order, direction).value).sum::<f64>()
        });
    });
    for classes in [10, 1000] {
        let (reference, counts) = case(classes);
        criterion.bench_function(&format!("k-cut-variational, C = {classes}, 40 bounds"), |bencher| {
            bencher.iter(|| {
                let prepared =
                    Variational::new(black_box(&counts), &reference, failure(), goals.len()).expect("limits");
                goals.iter().map(|&(order, direction)| prepared.bound(order, direction).value).sum::<f64>()
            });
        });
        criterion.bench_function(&format!("k-cut-region, C = {classes}, 40 bounds"), |bencher| {
            bencher.iter(|| {
                let region = Region::new(black_box(&counts), &reference, failure()).expect("limits");
                goals.iter().map(|&(order, direction)| region.bound(order, direction).value).sum::<f64>()
            });
        });
    }
}

criterion_group!(benches, bounds);
