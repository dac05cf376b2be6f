//! Simulated counts against the exact distributions: two evaluations of the same mechanism that share no code.
//!
//! Every p-value below is checked against 1e-6: over the seeds, this file fails by chance with probability 3e-5.

use leakbound::distribution::{Noise, noisy_argmax_distribution};
use leakbound::histogram::VoteHistogram;
use leakbound::model::{CapcModel, PateModel, PrivateKnnModel, PromptPateModel, VoteModel};
use leakbound::simulate::{ArgmaxSampler, Simulation, simulate};

#[path = "../../src/core/variate/goodness_of_fit.rs"]
mod goodness_of_fit;
use goodness_of_fit::p_value;

const LOWEST: f64 = 1e-6;

fn check(name: &str, model: &VoteModel, noise: &str, samples: u64, seed: u64) {
    let noise = noise.parse().unwrap();
    let simulation = Simulation::new(samples).unwrap().seed(seed);
    let counts = simulate(&ArgmaxSampler::new(model, noise), simulation, |_| ()).unwrap();
    assert_eq!((counts.trials(), counts.trials_neighbor()), (samples, samples));
    let distributions = model.output_pair(noise).unwrap().into_distributions();
    let fits =
        [p_value(counts.counts(), distributions[0].p()), p_value(counts.counts_neighbor(), distributions[1].p())];
    println!("{name}, {noise}: p-values {:.4} and {:.4}", fits[0], fits[1]);
    assert!(fits.iter().all(|&fit| fit > LOWEST), "{name}, {noise}: {fits:?}");
    // The power of the test: where the worlds differ by more than the noise of counting, it must tell them apart.
    let distance =
        distributions[0].p().iter().zip(distributions[1].p()).map(|(p, q)| (p - q).abs()).fold(0.0, f64::max);
    if distance > 8.0 / (samples as f64).sqrt() {
        let exchanged = p_value(counts.counts(), distributions[1].p());
        assert!(exchanged < LOWEST, "{name}, {noise}: worlds exchanged and not noticed, {exchanged}");
    }
}

fn pate(k: u64, p: &[f64], marked: &[f64]) -> VoteModel {
    PateModel::new(k, p, marked).unwrap().into()
}

fn prompts(votes: &[u64], changed: &[u64]) -> VoteModel {
    let histogram = |votes: &[u64]| VoteHistogram::new(votes.to_vec()).unwrap();
    PromptPateModel::new(histogram(votes), histogram(changed)).unwrap().into()
}

const SPREAD: [f64; 10] = [0.05, 0.22, 0.13, 0.10, 0.08, 0.06, 0.30, 0.03, 0.02, 0.01];
const MARKED: [f64; 10] = [0.5, 0.0, 0.3, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.1];

#[test]
fn ten_million_outputs_of_every_model() {
    check("250 teachers", &pate(250, &SPREAD, &MARKED), "gaussian:40", 10_000_000, 21);
    let votes = [75, 55, 33, 25, 20, 15, 12, 8, 5, 2];
    check("prompts", &prompts(&votes, &[74, 55, 33, 25, 20, 15, 12, 8, 5, 3]), "gaussian:40", 10_000_000, 22);
    check("prompts", &prompts(&votes, &[74, 55, 33, 25, 20, 15, 12, 8, 5, 3]), "laplace:20", 10_000_000, 23);
    let three = PateModel::new(250, &SPREAD, &MARKED).unwrap().with_changed_teachers(3).unwrap();
    check("three changed", &three.into(), "gaussian:40", 10_000_000, 24);
    let points = PrivateKnnModel::new(200, &SPREAD, &MARKED, 0.2, 9).unwrap();
    check("neighbors", &points.clone().into(), "gaussian:30", 10_000_000, 25);
    check("three points", &points.with_points(3).unwrap().into(), "gaussian:30", 10_000_000, 26);
    let rows: Vec<Vec<f64>> = (0..250)
        .map(|party| {
            let mut row = vec![0.0; 10];
            row[party % 3] += 0.75;
            row[party % 10] += 0.25;
            row
        })
        .collect();
    check("parties", &CapcModel::new(&rows, &MARKED).unwrap().into(), "gaussian:40", 10_000_000, 27);
}

#[test]
fn pate_with_spread_votes() {
    check("250 voters", &pate(250, &SPREAD, &MARKED), "gaussian:40", 4_000_000, 1);
    check("250 voters", &pate(250, &SPREAD, &MARKED), "gaussian:5", 2_000_000, 2);
    check("12 voters", &pate(12, &SPREAD, &MARKED), "gaussian:2", 2_000_000, 3);
}

#[test]
fn pate_with_concentrated_votes() {
    let p = [0.0, 0.004, 0.0, 0.99, 0.006, 0.0];
    check("concentrated, mark elsewhere", &pate(100, &p, &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]), "gaussian:30", 2_000_000, 4);
    check("concentrated, k = 1", &pate(1, &p, &[0.0, 0.0, 0.5, 0.0, 0.5, 0.0]), "gaussian:1", 2_000_000, 5);
    check("all on one class", &pate(20, &[0.0, 1.0], &[1.0, 0.0]), "gaussian:10", 2_000_000, 6);
}

#[test]
fn pate_with_two_classes() {
    check("two classes", &pate(250, &[0.52, 0.48], &[0.22, 0.78]), "gaussian:40", 4_000_000, 7);
    check("two classes", &pate(30, &[0.6, 0.4], &[0.0, 1.0]), "gaussian:1", 2_000_000, 8);
}

/// Too many voters for tables: the binomial sampler of `rand_distr`.
#[test]
fn pate_without_tables() {
    check("1100 voters", &pate(1100, &SPREAD, &MARKED), "gaussian:20", 1_000_000, 9);
}

#[test]
fn prompt_pate() {
    let (votes, changed) = ([14, 12, 10, 8, 6], [13, 13, 10, 8, 6]);
    check("prompts", &prompts(&votes, &changed), "gaussian:2", 4_000_000, 10);
    check("prompts", &prompts(&votes, &changed), "laplace:2", 4_000_000, 11);
    check("prompts, strong noise", &prompts(&votes, &changed), "laplace:50", 2_000_000, 12);
    check("prompts, tie", &prompts(&[4, 4, 0], &[5, 3, 0]), "gaussian:0.5", 2_000_000, 13);
}

/// Every histogram of 4 votes among 3 classes with its probability, and the exact distribution of its noisy argmax: the
/// distribution of random votes for Laplace noise too, where no faster evaluation exists.
#[test]
fn pate_by_enumeration() {
    let (k, p, marked) = (4, [0.2, 0.5, 0.3], [0.7, 0.1, 0.2]);
    // All sequences of the votes of the k teachers; under the neighbor the last of them is the changed one.
    let distribution = |noise: Noise, last: &[f64; 3]| {
        let mut distribution = vec![0.0; 3];
        for votes in 0..3usize.pow(k) {
            let (mut histogram, mut probability) = (vec![0; 3], 1.0);
            for teacher in 0..k {
                let vote = votes / 3usize.pow(teacher) % 3;
                histogram[vote] += 1;
                probability *= if teacher + 1 < k { p[vote] } else { last[vote] };
            }
            let given = noisy_argmax_distribution(&VoteHistogram::new(histogram).unwrap(), noise).unwrap();
            distribution.iter_mut().zip(given.p()).for_each(|(sum, given)| *sum += probability * given);
        }
        distribution
    };
    let model = pate(u64::from(k), &p, &marked);
    for (noise, seed) in [("laplace:1", 14), ("laplace:10", 15), ("gaussian:1", 16)] {
        let noise = noise.parse().unwrap();
        let simulation = Simulation::new(2_000_000).unwrap().seed(seed);
        let counts = simulate(&ArgmaxSampler::new(&model, noise), simulation, |_| ()).unwrap();
        let fits = [
            p_value(counts.counts(), &distribution(noise, &p)),
            p_value(counts.counts_neighbor(), &distribution(noise, &marked)),
        ];
        println!("enumerated, {noise}: p-values {:.4} and {:.4}", fits[0], fits[1]);
        assert!(fits.iter().all(|&fit| fit > LOWEST), "{noise}: {fits:?}");
    }
}
