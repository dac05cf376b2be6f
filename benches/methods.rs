//! One audit of counts: every method alone and all but the bootstrap together, 20 orders in one direction, ten and a
//! thousand outcomes.

use criterion::{Criterion, criterion_group};
use leakbound::audit::{AuditPlan, Guide, Method, SetSource, audit_counts};
use leakbound::bound::Direction;
use leakbound::counts::PairedCounts;
use leakbound::distribution::OutcomeDistribution;
use leakbound::quantity::{Delta, FailureProbability, Order};
use std::hint::black_box;

const SAMPLES: f64 = 1e6;

/// Distributions of C outcomes whose logarithmic ratios are spread over ±0.1.
fn distributions(classes: usize) -> [OutcomeDistribution; 2] {
    [0.5, -0.5].map(|sign| {
        let weight = |class: usize| (sign * 0.1 * (1.7 * class as f64).sin()).exp() / (1.0 + class as f64).sqrt();
        let weights: Vec<f64> = (0..classes).map(weight).collect();
        let total: f64 = weights.iter().sum();
        OutcomeDistribution::from_probabilities(&weights.iter().map(|weight| weight / total).collect::<Vec<_>>())
            .expect("a distribution")
    })
}

fn methods(criterion: &mut Criterion) {
    for classes in [10, 1000] {
        let [p, q] = distributions(classes);
        let counts =
            |distribution: &OutcomeDistribution| distribution.p().iter().map(|p| (p * SAMPLES) as u64).collect();
        let labels = (0..classes).map(|class| class.to_string()).collect();
        let counts = PairedCounts::new(labels, counts(&p), counts(&q)).expect("counts");
        let plan = |methods: &[Method]| AuditPlan {
            orders: (0..20).map(|step| Order::new(1.5 + 1.5 * f64::from(step)).expect("an order")).collect(),
            delta: Delta::new(1e-5).expect("a delta"),
            failure: FailureProbability::new(0.05).expect("a probability"),
            methods: methods.to_vec(),
            directions: vec![Direction::Forward],
            seed: 0,
            resamples: 10_000,
        };
        let orders = plan(&[]).orders;
        let guide = Guide::from_distributions(&p, &q, &orders, &[Direction::Forward], SetSource::ExactDistribution)
            .expect("a guide");
        let mut group = criterion.benchmark_group(format!("audit, C = {classes}"));
        group.sample_size(10);
        for method in Method::ALL {
            let plan = plan(&[method]);
            group.bench_function(method.name(), |bencher| {
                bencher.iter(|| audit_counts(black_box(&counts), &guide, &plan).expect("bounds"));
            });
        }
        let valid: Vec<Method> = Method::ALL.into_iter().filter(|method| !method.is_bootstrap()).collect();
        let plan = plan(&valid);
        group.bench_function("all but the bootstrap", |bencher| {
            bencher.iter(|| audit_counts(black_box(&counts), &guide, &plan).expect("bounds"));
        });
        group.finish();
    }
}

criterion_group!(benches, methods);
