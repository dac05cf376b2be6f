//! Exact distributions: fixed histograms of several sizes, random votes.

use criterion::{Criterion, criterion_group};
use leakbound::distribution::{
    Displacement, Noise, displaced_argmax_distributions, marked_argmax_distribution, marked_argmax_distributions,
    multinomial_argmax_distribution, noisy_argmax_distribution,
};
use leakbound::histogram::VoteHistogram;
use std::hint::black_box;

/// Votes that fall off geometrically, all counts different where they can be.
fn histogram(classes: usize) -> VoteHistogram {
    let counts = (0..classes).map(|class| (250.0 * 0.8f64.powi(class as i32)) as u64 + (classes - class) as u64);
    VoteHistogram::new(counts.collect()).expect("a histogram")
}

fn noise(text: &str) -> Noise {
    text.parse().expect("a noise")
}

fn fixed(criterion: &mut Criterion) {
    for (name, classes, scale) in [
        ("C = 10, gaussian", 10, "gaussian:40"),
        ("C = 10, gaussian, small noise", 10, "gaussian:4"),
        ("C = 10, laplace", 10, "laplace:20"),
        ("C = 100, gaussian", 100, "gaussian:40"),
        ("C = 1000, gaussian", 1000, "gaussian:40"),
    ] {
        let (histogram, noise) = (histogram(classes), noise(scale));
        criterion.bench_function(&format!("fixed histogram, {name}"), |bencher| {
            bencher.iter(|| noisy_argmax_distribution(black_box(&histogram), noise));
        });
    }
}

/// Two likely classes and eight rare ones, all different, so that no class shares its value with another.
fn votes() -> Vec<f64> {
    let rare = (0..8).map(|class| 0.0125 + 1e-4 * (f64::from(class) - 3.5));
    [0.6, 0.3].into_iter().chain(rare).collect()
}

fn random(criterion: &mut Criterion) {
    let (p, gaussian) = (votes(), noise("gaussian:40"));
    let mut marked = p.clone();
    marked.swap(0, 1);
    criterion.bench_function("multinomial votes, C = 10, k = 250", |bencher| {
        bencher.iter(|| multinomial_argmax_distribution(250, black_box(&p), gaussian));
    });
    criterion.bench_function("marked votes, C = 10, k = 250", |bencher| {
        bencher.iter(|| marked_argmax_distribution(250, black_box(&p), &marked, gaussian));
    });
}

/// The distributions of both worlds.
fn pairs(criterion: &mut Criterion) {
    let gaussian = noise("gaussian:40");
    // A hundred classes that differ, two of them likely.
    let hundred: Vec<f64> =
        [0.3, 0.2].into_iter().chain((0..98).map(|c| (0.5 + 1e-3 * (f64::from(c) - 48.5)) / 98.0)).collect();
    for (name, p) in [("C = 10", votes()), ("C = 100", hundred)] {
        let mut marked = p.clone();
        marked.swap(0, 1);
        for m in [1, 4] {
            criterion.bench_function(&format!("pair of distributions, {m} changed, {name}, k = 250"), |bencher| {
                bencher.iter(|| marked_argmax_distributions(250, black_box(&p), &marked, m, gaussian));
            });
        }
        let displacement = Displacement { distribution: &marked, points: 1, inclusion: 0.2, label: 1 };
        criterion.bench_function(&format!("pair of distributions, nearest neighbors, {name}, k = 250"), |bencher| {
            bencher.iter(|| displaced_argmax_distributions(250, black_box(&p), &displacement, gaussian));
        });
    }
}

criterion_group!(benches, fixed, random, pairs);
