//! Composition by privacy-loss distributions.

use criterion::{Criterion, criterion_group};
use leakbound::distribution::{Noise, OutcomeDistribution, noisy_argmax_distribution};
use leakbound::divergence::{ComposedDirection, Conversion, PrivacyLoss};
use leakbound::histogram::{Neighbor, VoteHistogram};
use leakbound::quantity::{Delta, Order};
use leakbound::record::releases_from_bytes;
use leakbound::study::{AccountStudy, Answers, Study, unwatched};
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

/// So many releases, no two of which are the same, of four kinds.
fn different_releases(count: u32, privacy_losses: bool) -> AccountStudy {
    let release = |index: u32| {
        let sigma = 20.0 + 180.0 * (f64::from(index) * 0.618_033_988_749_895).fract();
        let mechanism = match index % 4 {
            0 => format!("gaussian:sigma={sigma}"),
            1 => format!("laplace:sigma={sigma}"),
            2 => format!("subsampled-gaussian:sigma={sigma},rate={}", 0.01 + 0.002 * f64::from(index % 200)),
            _ => format!("discrete-laplace:sigma={sigma}"),
        };
        format!("[[release]]\nmechanism = '{mechanism}'\n")
    };
    let text: String = (0..count).map(release).collect();
    AccountStudy {
        answers: Answers::Releases(releases_from_bytes("r.toml", text.as_bytes()).expect("releases").releases),
        delta: Delta::new(1e-5).expect("a delta"),
        conversion: Conversion::Improved,
        orders: vec![Order::new(2.0).expect("an order")],
        exact: true,
        privacy_losses,
        budgets: Vec::new(),
        seed: 0,
    }
}

fn account(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("account, different releases");
    group.sample_size(10);
    // With privacy losses fewer, so that a run of each bench stays short.
    for (name, count, privacy_losses) in
        [("10^4, Rényi divergences", 10_000, false), ("10^3, privacy losses as well", 1_000, true)]
    {
        let study = different_releases(count, privacy_losses);
        group.bench_function(name, |bencher| bencher.iter(|| study.run(&unwatched)));
    }
    group.finish();
}

fn benches(criterion: &mut Criterion) {
    let delta = Delta::new(1e-5).expect("a delta");
    let thousand = losses(1000);
    let mut group = criterion.benchmark_group("compose losses, C = 10, gap 1e-3");
    group.sample_size(10);
    group.bench_function("1000 different queries", |bencher| {
        bencher.iter(|| ComposedDirection::of_known(black_box(&thousand), delta, 1e-3));
    });
    let repeated = vec![(thousand[0].0.clone(), 1000)];
    group.bench_function("one query 1000 times", |bencher| {
        bencher.iter(|| ComposedDirection::of_known(black_box(&repeated), delta, 1e-3));
    });
    group.finish();
}

criterion_group!(all, benches, account);
